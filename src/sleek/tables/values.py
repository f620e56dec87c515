"""One column's values, whatever kept them: numbers, dates, or codes of a few different values.

Everything that is text, a truth value or a mixture is kept as codes, so that work is done on the different
values alone and a row costs four bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.gaps import is_missing

SECONDS = 86_400.0  # of a day


@dataclass(frozen=True, eq=False)
class Values:
    """One value for each row; `array` is what there is of it in memory."""

    array: AnyArray

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: Any) -> Self:
        """Those of some rows: a slice, without a copy, or places."""
        return replace(self, array=self.array[rows])


@dataclass(frozen=True, eq=False)
class Numbers(Values):
    """Numbers of any float or integer type, NaN where one is missing."""


@dataclass(frozen=True, eq=False)
class Dates(Values):
    """Days since 1970-01-01, with fractions, NaN where one is missing."""


@dataclass(frozen=True, eq=False)
class Coded(Values):
    """Places in a list of different values, -1 where one is missing.

    >>> coded = factorized(["red", None, "blue", "red"])
    >>> coded.array, coded.values
    (array([ 0, -1,  1,  0], dtype=int32), ['red', 'blue'])
    """

    values: list[Any]

    @property
    def used(self) -> list[bool]:
        """Which of the values some row has."""
        seen = np.zeros(len(self.values) + 1, dtype=bool)
        seen[self.array] = True  # -1 is the last
        found: list[bool] = seen[:-1].tolist()
        return found

    def spread(self, by_value: AnyArray, missing: Any) -> AnyArray:
        """For each row what is given for its value, or `missing`."""
        return np.concatenate([by_value, np.asarray([missing], dtype=by_value.dtype)])[self.array]


def factorized(values: Any) -> Coded:
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
    """A value that is of no use, by how it is written."""

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
