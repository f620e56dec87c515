"""Columns of a table as the numbers that a model sees."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.errors import TableError, suggestion
from sleek.tables.frames import column_names, column_of
from sleek.tables.gaps import is_missing

Frame = Mapping[str, "AnyArray | Sequence[Any]"]  # column name → one value per row

FREE_LEVELS = 50  # a category may always have this many levels,
LEVEL_SHARE = 0.1  # and more if they are at most this share of the values,
MAX_LEVELS = 500  # but never more: each level is a feature
_DATE = re.compile(r"\d{4}([-/.])\d{1,2}\1\d{1,2}([T ].*)?|\d{1,2}([-/.])\d{1,2}\3\d{4}([T ].*)?")


class Column(ABC):
    """One column of the table and the features it becomes."""

    name: str

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The names of its features."""

    @abstractmethod
    def encode(self, values: AnyArray | Sequence[Any]) -> FloatArray:
        """The features (n, n_features) of n values."""


@dataclass(frozen=True)
class NumberColumn(Column):
    """A number, used as it is; a missing one becomes `fill`, or is refused if `fill` is None.

    >>> NumberColumn("age", fill=40.0).encode([31, None, float("nan")])
    array([[31.], [40.], [40.]])
    """

    name: str
    fill: float | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (self.name,)

    def encode(self, values: AnyArray | Sequence[Any]) -> FloatArray:
        numbers = _numbers(self.name, values)
        gaps = np.isnan(numbers)
        if gaps.any() and self.fill is None:
            raise TableError(
                f"Column {self.name!r} must not have missing values, but has {gaps.sum()}, "
                f"the first in row {np.argmax(gaps)}."
            )
        return np.where(gaps, np.nan if self.fill is None else self.fill, numbers)[:, None]


@dataclass(frozen=True)
class CategoryColumn(Column):
    """A word out of a few: one feature per level, 1 where the value is that level and else 0.

    A missing value, and one that is no level, is 0 everywhere, which is different from every level.

    >>> CategoryColumn("colour", levels=("blue", "red")).encode(["red", "green", None])
    array([[0., 1.], [0., 0.], [0., 0.]])
    """

    name: str
    levels: tuple[str, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, values: AnyArray | Sequence[Any]) -> FloatArray:
        place = {level: code for code, level in enumerate(self.levels)}
        codes = np.array([-1 if text is None else place.get(text, -1) for text in texts(values)], dtype=int)
        X: FloatArray = (codes[:, None] == np.arange(len(self.levels))).astype(np.float64)
        return X


@dataclass(frozen=True)
class Inputs:
    """The columns that a model reads, in the order of its features.

    Attributes
    ----------
    columns : tuple of NumberColumn or CategoryColumn

    Examples
    --------
    >>> table = {"age": [31, None, 52], "colour": ["red", "blue", None]}
    >>> inputs = Inputs.learn(table)
    >>> inputs.feature_names
    ('age', 'colour=blue', 'colour=red')
    >>> inputs.transform(table)
    array([[31. ,  0. ,  1. ], [41.5,  1. ,  0. ], [52. ,  0. ,  0. ]])
    """

    columns: tuple[Column, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """A number's own name; ``column=level`` for each level of a category."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @property
    def places(self) -> list[slice]:
        """Which features each column becomes."""
        ends = np.cumsum([len(column.feature_names) for column in self.columns]).tolist()
        return [
            slice(end - len(column.feature_names), end)
            for column, end in zip(self.columns, ends, strict=True)
        ]

    @classmethod
    def learn(cls, table: Frame, *, categories: Collection[str] = ()) -> Inputs:
        """Decide for each column whether it is a number or a category, and learn medians and levels.

        Numbers are numbers, whose missing values become the column's median; text and truth values are
        categories. Dates, columns without a single value, and text that is different in almost every row are
        refused, all of them in one sentence each.

        Parameters
        ----------
        table : mapping from column name to 1D array or list
            A pandas data frame will do. Missing values are None or NaN.
        categories : names of columns
            Taken as categories even if they hold numbers, such as codes.
        """
        columns, refusals = [], []
        for name in column_names(table) or []:
            try:
                columns.append(_learn_column(name, column_of(table, name), name in categories))
            except TableError as refusal:
                refusals.append(str(refusal))
        if refusals:
            raise TableError("\n".join(refusals))
        return cls(tuple(columns))

    def transform(self, table: Frame) -> FloatArray:
        """X (n, n_features): the features of the rows; columns that the model does not read are ignored."""
        names = column_names(table) or []
        there = set(names)
        absent = [column.name for column in self.columns if column.name not in there]
        if absent:
            hint = suggestion(absent[0], names)
            raise TableError(f"The table has no column {', '.join(map(repr, absent))}.{hint}")
        values = {column.name: column_of(table, column.name) for column in self.columns}
        lengths = {name: len(array) for name, array in values.items()}
        if len(set(lengths.values())) > 1:
            raise TableError(f"All columns must be of one length, got {lengths}.")
        X = np.empty((next(iter(lengths.values()), 0), len(self.feature_names)))
        for column, place in zip(self.columns, self.places, strict=True):
            X[:, place] = column.encode(values[column.name])
        return X


def texts(values: AnyArray | Sequence[Any]) -> list[str | None]:
    """Values as levels: None for missing ones, whole numbers without a decimal point, true and false.

    >>> texts(["red", None, 1.0, 2.5, True, Decimal("1.00")])
    ['red', None, '1', '2.5', 'true', '1']
    """
    return [None if is_missing(value) else _text(value) for value in _array(values).tolist()]


def are_dates(words: Sequence[str]) -> bool:
    """Whether all words, at least one, are written like a date, with or without a time.

    >>> are_dates(["2024-01-31", "31.1.2024 12:00"]), are_dates(["1.2.3"])
    (True, False)
    """
    return bool(words) and all(_DATE.fullmatch(word) for word in words)


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, Decimal):  # 1.00 is 1 whatever the scale of its column
        digits = format(value, "f")
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    return str(value)


def _learn_column(name: str, values: AnyArray | Sequence[Any], as_category: bool) -> Column:
    array = _array(values)
    if array.ndim != 1:
        raise TableError(f"Column {name!r} must be one value per row, got {array.ndim} dimensions.")
    if array.dtype.kind in "Mm":
        raise TableError(_dates(name, array[0]))
    if array.dtype.kind in "iuf" and not as_category:
        return _learn_number(name, array)
    present = [value for value in array.tolist() if not is_missing(value)]
    if not present:
        raise TableError(_no_value(name))
    if isinstance(present[0], date):
        raise TableError(_dates(name, present[0]))
    if as_category or all(isinstance(value, str | bool | np.bool_) for value in present):
        return _learn_category(name, [_text(value) for value in present])
    strange = [value for value in present if not _is_number(value)]
    if not strange:
        return _learn_number(name, array)
    numbers = [value for value in present if _is_number(value)]
    got = f"{strange[0]!r} and {numbers[0]!r}" if numbers else f"{strange[0]!r}"
    raise TableError(f"Column {name!r} must hold either numbers or text, got {got}.")


def _learn_number(name: str, values: AnyArray) -> NumberColumn:
    numbers = _numbers(name, values)
    if np.isnan(numbers).all():
        raise TableError(_no_value(name))
    return NumberColumn(name, float(np.nanmedian(numbers)))


def _learn_category(name: str, present: list[str]) -> CategoryColumn:
    levels = sorted(set(present))
    if are_dates(levels):
        raise TableError(_dates(name, levels[0]))
    if len(levels) > FREE_LEVELS and (len(levels) > LEVEL_SHARE * len(present) or len(levels) > MAX_LEVELS):
        raise TableError(
            f"Column {name!r} has {len(levels)} different texts in {len(present)} rows "
            f"({levels[0]!r}, {levels[1]!r}, …), too many for a category: leave it out or group them."
        )
    return CategoryColumn(name, tuple(levels))


def _numbers(name: str, values: AnyArray | Sequence[Any]) -> FloatArray:
    """Values as float64 with NaN where one is missing; refused if one is text or infinite."""
    array = _array(values)
    if array.dtype.kind in "iuf":
        numbers: FloatArray = array.astype(np.float64)
    else:
        items = enumerate(array.tolist())
        numbers = np.array([_number(name, row, value) for row, value in items], dtype=np.float64)
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise TableError(f"Column {name!r} must hold finite numbers, got {numbers[row]} in row {row}.")
    return numbers


def _number(name: str, row: int, value: Any) -> float:
    if is_missing(value):
        return np.nan
    if not _is_number(value):
        raise TableError(f"Column {name!r} must hold numbers, got {value!r} in row {row}.")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_)


def _array(values: AnyArray | Sequence[Any]) -> AnyArray:
    """Values as an array, without the common type that NumPy would find for a list of mixed ones."""
    return np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)


def _no_value(name: str) -> str:
    return f"Column {name!r} has no value in any row: leave it out."


def _dates(name: str, value: Any) -> str:
    return (
        f"Column {name!r} holds dates ({str(value)!r}): leave it out, or turn it into numbers such as "
        "days since an event, month or hour."
    )
