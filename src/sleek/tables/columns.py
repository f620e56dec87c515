"""Kinds of columns (number, category, learnt levels, date), and how each is encoded as features.

Encoding has two steps: `settle` turns values into one number each (itself, a code of its level, days), and
`features` turns these into the features of a model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.tables.dates import calendar_part
from sleek.tables.errors import TableError
from sleek.tables.frames import values_of
from sleek.tables.reading import as_days, as_numbers, as_words, has_zone
from sleek.tables.unusual import NOTHING, Unusual
from sleek.tables.values import TRUTHS, Values

GAP = "Fill in a number, or leave the row or the column out."
PARTS = ("days", "season", "weekday", "hour")


class Column(ABC):
    """One column of the table and the features it becomes.

    Values are settled once, as one number per row (a number, a level's place, days), and become features when
    a block of rows is worked on.
    """

    name: str

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The names of its features."""

    @abstractmethod
    def settle(self, values: Values) -> AnyArray:
        """Encode n values as one number each; a value of another kind is refused."""

    @abstractmethod
    def features(self, settled: AnyArray) -> FloatArray:
        """The features (n, n_features) of settled values."""

    @property
    def fill_in_words(self) -> str | None:
        """What a missing value is taken as; None if it is a word of its own."""
        return None

    def unusual(self, settled: AnyArray, values: Values) -> Unusual:
        """Count the values to predict that training did not have: missing ones and unseen levels."""
        return Unusual()

    def encode(self, values: Any) -> FloatArray:
        """The features (n, n_features) of n values."""
        return self.features(self.settle(values_of(self.name, values)))


@dataclass(frozen=True)
class NumberColumn(Column):
    """A number, used as it is; a missing one becomes `fill`, or is refused if `fill` is None.

    With an `indicator` there is a second feature, 1 where the number is missing and else 0; `gaps` is
    false if there were none in training.

    >>> NumberColumn("age", fill=40.0).encode([31, None, float("nan")])
    array([[31.], [40.], [40.]])
    """

    name: str
    fill: float | None = None
    indicator: bool = False
    gaps: bool = True

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (self.name, *([f"{self.name} is missing"] if self.indicator else []))

    def settle(self, values: Values) -> AnyArray:
        numbers = as_numbers(self.name, values)
        if self.fill is None and numbers.dtype.kind == "f":
            gaps = np.isnan(numbers)
            if gaps.any():
                raise TableError.of(self.name, "hold finite numbers", None, int(np.argmax(gaps)), GAP)
        return numbers

    def features(self, settled: AnyArray) -> FloatArray:
        if settled.dtype.kind != "f" or self.fill is None:
            numbers = settled.astype(np.float64, copy=False)[:, None]
            return np.concatenate([numbers, np.zeros_like(numbers)], axis=1) if self.indicator else numbers
        return _fill_gaps(settled.astype(np.float64), self.fill, self.indicator)[0]

    @property
    def fill_in_words(self) -> str | None:
        return None if self.fill is None else f"{self.fill:.6g}"

    def unusual(self, settled: AnyArray, values: Values) -> Unusual:
        gaps = 0 if self.fill is None else gaps_in(settled)
        if not gaps:
            return NOTHING
        return Unusual(filled=gaps) if self.gaps else Unusual(gaps)


class WordColumn(Column):
    """A category: a table has a line of features for each level, for unseen levels and for missing values."""

    levels: tuple[str, ...]

    @property
    @abstractmethod
    def table(self) -> FloatArray:
        """(n_levels + 2, n_features): the levels, any other word, a missing value."""

    @cached_property
    def _places(self) -> dict[str, int]:
        places = {level: place for place, level in enumerate(self.levels)}
        if set(places) <= {"false", "true"}:  # however they are written
            places |= {word: places[word.lower()] for word in TRUTHS if word.lower() in places}
        return places

    def settle(self, values: Values) -> IntArray:
        """The lines of the table."""
        coded, other = as_words(values), len(self.levels)
        places = [self._places.get(word, other) for word in coded.values]
        return np.asarray(coded.spread(np.array(places, dtype=np.int32), other + 1))

    def features(self, settled: AnyArray) -> FloatArray:
        return np.asarray(self.table[settled])

    @property
    @abstractmethod
    def knows_others(self) -> bool:
        """Whether words that are no level were there in training."""

    @property
    @abstractmethod
    def knows_gaps(self) -> bool:
        """Whether there were missing values in training."""

    def unusual(self, settled: AnyArray, values: Values) -> Unusual:
        if settled.max(initial=0) < len(self.levels):
            return NOTHING
        strange, gaps = settled == len(self.levels), int((settled == len(self.levels) + 1).sum())
        known = self.knows_others or not strange.any()
        words: Counter[str] = Counter()
        if not known:
            coded = as_words(values)
            counts = np.bincount(coded.array[strange], minlength=len(coded.values)).tolist()
            words.update({word: n for word, n in zip(coded.values, counts, strict=True) if n})
        return Unusual(0 if self.knows_gaps else gaps, 0 if known else int(strange.sum()), words)


@dataclass(frozen=True)
class CategoryColumn(WordColumn):
    """A category of few levels, one-hot encoded: a feature per level, 1 where the value is that level.

    A missing value is a level of its own if there was one in training (`gap`), and so are all words that are
    no level (`other`), as rare ones are; else they are 0 everywhere, which is different from every level.

    >>> CategoryColumn("colour", levels=("blue", "red")).encode(["red", "green", None])
    array([[0., 1.], [0., 0.], [0., 0.]])
    >>> CategoryColumn("colour", levels=("blue", "red"), gap=True).encode(["red", "green", None])
    array([[0., 1., 0.], [0., 0., 0.], [0., 0., 1.]])
    """

    name: str
    levels: tuple[str, ...]
    gap: bool = False
    other: bool = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (
            *(f"{self.name}={level}" for level in self.levels),
            *([f"{self.name} is another"] if self.other else []),
            *([f"{self.name} is missing"] if self.gap else []),
        )

    @property
    def words(self) -> tuple[str, ...]:
        """What each of its features stands for."""
        return (*self.levels, *(["(another)"] * self.other), *(["(missing)"] * self.gap))

    @cached_property
    def table(self) -> FloatArray:
        count = len(self.levels)
        kept = [*range(count), *([count] if self.other else []), *([count + 1] if self.gap else [])]
        return np.eye(count + 2)[:, kept]

    @property
    def knows_others(self) -> bool:
        return self.other

    @property
    def knows_gaps(self) -> bool:
        return self.gap


@dataclass(frozen=True)
class LevelColumn(WordColumn):
    """A category of many levels, target encoded: a level is one number per output, learnt from the targets.

    Those of an `ordered` category are ranks instead, and if there were gaps in training a second number tells
    them apart.

    >>> LevelColumn("zip", ("10115", "80331"), ((0.5,), (-0.2,)), other=(0.1,), missing=(0.0,)).encode(
    ...     ["80331", "99999", None]
    ... )
    array([[-0.2], [ 0.1], [ 0. ]])
    """

    name: str
    levels: tuple[str, ...]
    numbers: tuple[tuple[float, ...], ...]
    other: tuple[float, ...]
    missing: tuple[float, ...]
    ordered: bool = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        if self.ordered:
            return (f"rank of {self.name}", f"{self.name} is missing")[: len(self.other)]
        if len(self.other) == 1:
            return (f"level of {self.name}",)
        return tuple(f"level of {self.name} for output {k}" for k in range(len(self.other)))

    @cached_property
    def table(self) -> FloatArray:
        return np.array([*self.numbers, self.other, self.missing], dtype=np.float64)

    @property
    def knows_others(self) -> bool:
        return False

    @property
    def knows_gaps(self) -> bool:
        return not self.ordered or len(self.other) == 2


@dataclass(frozen=True)
class DateColumn(Column):
    """A date, with or without a time: days since 1970-01-01 and parts of the calendar.

    The parts are `days` themselves, the `season` (days since about New Year, 0 to 365.24), the `weekday`
    (0 is Monday) and the `hour` (with fractions). A missing date counts as the day `fill`. Text is read with
    the year first, or in the `order` "dmy" or "mdy". Times with a time zone (`zoned`) are UTC.

    >>> column = DateColumn("when", ("days", "weekday", "hour"), fill=0.0)
    >>> column.encode(["1970-01-05 06:00", None])
    array([[4.25, 0. , 6. ], [0. , 3. , 0. ]])
    """

    name: str
    parts: tuple[str, ...]
    fill: float
    indicator: bool = False
    gaps: bool = True
    order: str = "ymd"
    zoned: bool = False  # whether times had a time zone in training

    @property
    def feature_names(self) -> tuple[str, ...]:
        words = {"days": "days since 1970", "season": "day of the year"}
        parts = [f"{self.name}: {words.get(part, part)}" for part in self.parts]
        return (*parts, *([f"{self.name} is missing"] if self.indicator else []))

    def settle(self, values: Values) -> AnyArray:
        return as_days(self.name, values, self.order)

    def features(self, settled: AnyArray) -> FloatArray:
        filled, gaps = _fill_gaps(settled.astype(np.float64), self.fill, False)
        days = filled[:, 0]
        columns = [calendar_part(part, days) for part in self.parts]
        return np.stack([*columns, *([gaps.astype(np.float64)] if self.indicator else [])], axis=1)

    @property
    def fill_in_words(self) -> str | None:
        return str(np.datetime64(int(np.floor(self.fill)), "D"))

    def unusual(self, settled: AnyArray, values: Values) -> Unusual:
        gaps = gaps_in(settled)
        found, there = Unusual(filled=gaps) if self.gaps else Unusual(gaps), len(settled) - gaps
        zoned = has_zone(values)
        if zoned is self.zoned or not there:
            return found
        return replace(found, zoned=there) if zoned else replace(found, unzoned=there)


def _fill_gaps(numbers: FloatArray, fill: float | None, indicator: bool) -> tuple[FloatArray, AnyArray]:
    """Numbers as a feature, filled, perhaps where they were missing as a second one; and where that is."""
    gaps = np.isnan(numbers)
    if fill is not None:
        numbers = np.where(gaps, fill, numbers)
    if indicator:
        return np.stack([numbers, gaps.astype(np.float64)], axis=1), gaps
    return numbers[:, None], gaps


def gaps_in(settled: AnyArray) -> int:
    """How many of settled numbers are missing."""
    return int(np.isnan(settled).sum()) if settled.dtype.kind == "f" else 0
