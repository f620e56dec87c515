"""The values of one column: numbers, dates, or codes of a few different values.

Everything that is text, a truth value or a mixture is kept as codes, so that work is done on the different
values alone and a row costs four bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sleek._runtime.checks import is_missing
from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.errors import TableError

SECONDS = 86_400.0  # of a day
TRUTHS = ("true", "True", "TRUE", "false", "False", "FALSE")  # as text


@dataclass(frozen=True, eq=False)
class Values:
    """One value for each row; `array` is what there is of it in memory."""

    array: AnyArray

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: Any) -> Self:
        """Those of some rows: a slice, without a copy, or places."""
        return replace(self, array=self.array[rows])

    @property
    def has_values(self) -> bool:
        """Whether not all of them are missing."""
        return self.array.dtype.kind != "f" or not bool(np.isnan(self.array).all())


@dataclass(frozen=True, eq=False)
class Numbers(Values):
    """Numbers of any float or integer type, NaN where one is missing."""


@dataclass(frozen=True, eq=False)
class Dates(Values):
    """Days since 1970-01-01, with fractions, NaN where one is missing; those with a time zone are UTC."""

    zoned: bool = False


@dataclass(frozen=True, eq=False)
class Coded(Values):
    """Places in a list of different values, -1 where one is missing.

    >>> coded = factorize(["red", None, "blue", "red"])
    >>> coded.array, coded.values
    (array([ 0, -1,  1,  0], dtype=int32), ['red', 'blue'])
    """

    values: list[Any]
    typed: bool = False  # a type of categories: they are no numbers or dates, whatever they look like
    ordered: bool = False  # categories whose order, that of the values, means something

    @property
    def has_values(self) -> bool:
        return self.typed or bool((self.array >= 0).any())

    @property
    def used(self) -> list[bool]:
        """Which of the values some row has."""
        seen = np.zeros(len(self.values) + 1, dtype=bool)
        seen[self.array] = True  # -1 is the last
        found: list[bool] = seen[:-1].tolist()
        return found

    def without_unused(self) -> Coded:
        """The same without values that no row has."""
        used = np.array(self.used, dtype=bool)
        if used.all():
            return self
        place = np.append(np.where(used, np.cumsum(used) - 1, -1), -1).astype(np.int32)
        values = [value for value, is_used in zip(self.values, used.tolist(), strict=True) if is_used]
        return replace(self, array=place[self.array], values=values)

    def spread(self, by_value: AnyArray, missing: Any) -> AnyArray:
        """For each row what is given for its value, or `missing`."""
        return np.concatenate([by_value, np.asarray([missing], dtype=by_value.dtype)])[self.array]


def join_values(name: str, parts: Sequence[Values]) -> Values:
    """One column of several stretches of rows; a stretch of gaps alone may be of any kind."""
    if len(parts) == 1:
        return parts[0]
    there = [part for part in parts if part.has_values]
    for kind in (Numbers, Dates):
        if all(isinstance(part, kind) for part in there or parts):
            arrays = [part.array if isinstance(part, kind) else np.full(len(part), np.nan) for part in parts]
            zoned = {"zoned": any(getattr(part, "zoned", False) for part in parts)} if kind is Dates else {}
            return kind(np.concatenate(arrays), **zoned)
    if any(isinstance(part, Dates) for part in there):
        raise TableError(f"Column {name!r} must hold one kind of values in all rows.")
    place: dict[Any, int] = {}
    codes = []
    for part in parts:
        if not part.has_values:
            codes.append(np.full(len(part), -1, dtype=np.int32))
            continue
        coded = part if isinstance(part, Coded) else factorize(part.array.tolist())
        keys = [value if type(value) is str else (type(value), value) for value in coded.values]
        lookup = [place.setdefault(key, len(place)) for key in keys]
        codes.append(coded.spread(np.array(lookup, dtype=np.int32), -1))
    typed, ordered = (any(getattr(part, name, False) for part in parts) for name in ("typed", "ordered"))
    values = [key if isinstance(key, str) else key[1] for key in place]
    return Coded(np.concatenate(codes), values, typed, ordered)


@dataclass(frozen=True, eq=False)
class Columns:
    """Some rows of a table as columns, by name.

    >>> columns = Columns.of({"age": [31, 40], "town": ["Bonn", None]}, 2)
    >>> len(columns), columns.take(slice(1, 2))["town"].array
    (2, array([-1], dtype=int32))
    """

    values: Mapping[str, Values]
    n_rows: int

    @classmethod
    def of(cls, columns: Mapping[str, Any], n_rows: int | None = None) -> Columns:
        """Columns of whatever kind; `n_rows` is needed if there may be none."""
        from sleek.tables.frames import values_of

        found = {name: values_of(name, column) for name, column in columns.items()}
        return cls(found, len(next(iter(found.values()), ())) if n_rows is None else n_rows)

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, name: str) -> Values:
        return self.values[name]

    def take(self, rows: Any) -> Columns:
        """Some of the rows: a slice, without a copy, or places."""
        n_rows = len(range(self.n_rows)[rows]) if isinstance(rows, slice) else len(rows)
        return Columns({name: values.take(rows) for name, values in self.values.items()}, n_rows)

    @classmethod
    def joined(cls, parts: Sequence[Columns]) -> Columns:
        """The rows of all parts."""
        values = {name: join_values(name, [part[name] for part in parts]) for name in parts[0].values}
        return cls(values, sum(map(len, parts)))


def factorize(values: Any) -> Coded:
    """Python objects as codes, in the order in which they appear."""
    place: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    for row, value in enumerate(values):
        key = value if type(value) is str else (type(value), value)  # True is not 1
        try:
            code = place.get(key)
        except TypeError:  # not hashable: a list, a dictionary
            key = (type(value), _Strange(repr(value)))
            code = None
        if code is None:
            code = -1 if is_missing(value) else place.setdefault(key, len(place))
        codes[row] = code
    return Coded(codes, [key if isinstance(key, str) else key[1] for key in place])


class _Strange:
    """A value that cannot be used, by how it is written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def days_of(instants: AnyArray) -> FloatArray:
    """datetime64 of any unit as days since 1970-01-01, NaN for NaT.

    >>> days_of(np.array(["1970-01-02T12", "NaT"], dtype="datetime64[h]"))
    array([1.5, nan])
    """
    unit = np.datetime_data(instants.dtype)[0]
    if unit in ("Y", "M", "W", "D"):
        instants = instants.astype("datetime64[D]")
        days = instants.astype(np.int64).astype(np.float64)
    else:
        whole = instants.astype("datetime64[D]")
        rest = (instants - whole).astype("timedelta64[us]").astype(np.int64)
        days = whole.astype(np.int64) + rest / (SECONDS * 1e6)
    days[np.isnat(instants)] = np.nan
    return np.asarray(days, dtype=np.float64)
