"""Summary of a column that adds up over chunks: its kind, missing values, counts of levels, median."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.tables import rules
from sleek.tables.columns import CategoryColumn, Column, DateColumn, LevelColumn, NumberColumn
from sleek.tables.dates import date_order, days_of_texts, have_zone
from sleek.tables.errors import TableError, UselessColumnError
from sleek.tables.reading import as_numbers, as_words, is_number
from sleek.tables.values import TRUTHS, Coded, Dates, Numbers, Values

MOST_WORDS = (
    200_000  # different words of a column that are counted over many blocks: with more it is free text
)


def stride(n_rows: int) -> int:
    """The power of two such that every so manieth row is enough for a median.

    >>> stride(1000), stride(20_001), stride(1_000_000)
    (1, 2, 64)
    """
    step = 1
    while -(-n_rows // step) > rules.MEDIAN_ROWS:
        step *= 2
    return step


@dataclass(frozen=True, eq=False)
class Summary:
    """What some consecutive rows of a column hold; `+` adds those of the rows that follow.

    Attributes
    ----------
    n_rows, gaps : int
        Rows, and those without a value.
    first : int
        The number of the first row.
    kinds : dict
        The kinds of values there are ("number", "date", "words", "truth", "strange"), and the first of each.
    counts : dict
        How many rows have each word.
    some : array
        Numbers, or days, of every `step`th row, for their median.
    zoned : bool
        Whether dates have a time zone.
    levels : tuple of str
        All levels of an ordered category, in their order.
    cut : bool
        Whether there are so many different words that they are no longer counted.
    ends : tuple of two numbers, or None
        The first and the last number if each is one more than the one before.

    >>> both = Summary.of("a", Numbers(np.array([1.0, np.nan]))) + Summary.of("a", Numbers(np.array([4])), 2)
    >>> both.column("a")
    NumberColumn(name='a', fill=2.5, indicator=False, gaps=True)
    """

    n_rows: int
    first: int = 0
    gaps: int = 0
    kinds: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    some: FloatArray = field(default_factory=lambda: np.empty(0))
    step: int = 1
    zoned: bool = False
    levels: tuple[str, ...] = ()
    cut: bool = False
    ends: tuple[float, float] | None = None

    @classmethod
    def of(cls, name: str, values: Values, first: int = 0, words: bool = False) -> Summary:
        """Of rows from number `first` on; with `words` numbers are what they are written as."""
        nothing = cls(len(values), first, len(values), step=stride(first + len(values)))
        match values:
            case Dates(days, zoned) if not words:
                return replace(nothing._with_numbers(days, "date"), zoned=zoned)
            case Numbers() if not words:
                return nothing._with_numbers(np.asarray(as_numbers(name, values), dtype=np.float64), "number")
            case Coded() as coded if not words and not coded.typed:
                used = [value for value, is_used in zip(coded.values, coded.used, strict=True) if is_used]
                if used and all(map(is_number, used)):
                    numbers = np.asarray(as_numbers(name, coded), dtype=np.float64)
                    return nothing._with_numbers(numbers, "number")
                kinds: dict[str, Any] = {}
                for value in used:
                    kinds.setdefault(_kind_of(value), value)
                return nothing._with_words(as_words(coded), kinds)
        coded = as_words(values)
        kinds = {"words": next(iter(coded.values), "")} if (coded.array >= 0).any() else {}
        return nothing._with_words(coded, kinds)

    def _with_numbers(self, numbers: FloatArray, kind: str) -> Summary:
        gaps = np.isnan(numbers)
        kinds = {} if gaps.all() else {kind: numbers[np.argmin(gaps)].item()}
        some, ends = np.array(numbers[-self.first % self.step :: self.step]), None
        if len(numbers) and kind == "number" and bool(np.all(np.diff(numbers) == 1.0)):
            ends = float(numbers[0]), float(numbers[-1])
        return replace(self, gaps=int(gaps.sum()), kinds=kinds, some=some, ends=ends)

    def _with_words(self, words: Coded, kinds: dict[str, Any]) -> Summary:
        rows = np.bincount(words.array + 1, minlength=len(words.values) + 1).tolist()
        counts: dict[str, int] = {}
        for word, count in zip(words.values, rows[1:], strict=True):
            if count:
                counts[word] = counts.get(word, 0) + count
        levels = tuple(words.values) if words.ordered else ()
        return replace(self, gaps=rows[0], kinds=kinds, counts=counts, levels=levels)

    def __add__(self, later: Summary) -> Summary:
        step = max(stride(self.first + self.n_rows + later.n_rows), self.step, later.step)
        counts = dict(self.counts) if later.counts else self.counts
        for word, count in later.counts.items():
            counts[word] = counts.get(word, 0) + count
        cut = self.cut or later.cut or len(counts) > MOST_WORDS
        ends = None
        if self.ends is not None and later.ends is not None and later.ends[0] == self.ends[1] + 1.0:
            ends = self.ends[0], later.ends[1]
        return Summary(
            self.n_rows + later.n_rows,
            self.first,
            self.gaps + later.gaps,
            later.kinds | self.kinds,
            {} if cut else counts,
            np.concatenate([self._thin(step), later._thin(step)]),
            step,
            self.zoned or later.zoned,
            tuple(dict.fromkeys((*self.levels, *later.levels))),
            cut,
            ends,
        )

    def _thin(self, step: int) -> FloatArray:
        """Of every `step`th row alone."""
        kept = -(-self.first // self.step)  # in units of its own step, the first row of those kept
        return self.some[-kept % (step // self.step) :: step // self.step]

    # -- what it is

    @property
    def is_plain(self) -> bool:
        """Whether all values are numbers, or truth values, and none is missing."""
        if self.gaps or self.levels:
            return False
        return set(self.kinds) == {"number"} or (
            set(self.kinds) <= {"truth", "words"} and set(self.counts) <= set(TRUTHS)
        )

    @property
    def counts_rows(self) -> bool:
        """Whether the numbers only count the rows: in a sorted table they give the answer away."""
        return self.ends is not None and self.n_rows > 2

    def column(self, name: str, dates: str | None = None) -> Column:
        """What the column is; `dates` is the order of dates as text that could be read in two."""
        kinds, gaps = set(self.kinds), self.gaps > 0
        if not kinds:
            raise UselessColumnError(f"Column {name!r} has no value in any row.")
        if kinds <= {"words", "truth"}:
            return self._of_words(name, dates, kinds == {"words"})
        if kinds == {"number"}:
            return NumberColumn(name, self._median(), gaps=gaps)
        if kinds == {"date"}:
            return DateColumn(name, ("days",), self._median(), gaps=gaps, zoned=self.zoned)
        order = sorted(self.kinds, key=("strange", "words", "truth", "date", "number").index)
        first, *others = (self.kinds[kind] for kind in order)
        got = f"{first!r} and {others[0]!r}" if others else f"{first!r}"
        raise TableError(f"Column {name!r} must hold either numbers or text, got {got}.")

    def _of_words(self, name: str, dates: str | None, may_be_dates: bool) -> Column:
        if self.cut:
            raise UselessColumnError(
                f"Column {name!r} has more than {MOST_WORDS:,} different texts: an id, or free text."
            )
        if self.levels:
            return rank_levels(
                name, {level: self.counts.get(level, 0) for level in self.levels}, self.gaps > 0
            )
        words = list(self.counts)
        order = date_order(words, dates) if may_be_dates else None
        if order is None:
            return category_of(name, self.counts, self.n_rows)
        fill, zoned = (
            weighted_median(days_of_texts(words, order), list(self.counts.values())),
            have_zone(words),
        )
        return DateColumn(name, ("days",), fill, gaps=self.gaps > 0, order=order, zoned=zoned)

    def _median(self) -> float:
        """The median of the numbers kept; the first number of all if these are missing."""
        some = self.some[~np.isnan(self.some)]
        return float(np.median(some)) if len(some) else float(next(iter(self.kinds.values())))


def _kind_of(value: Any) -> str:
    if isinstance(value, str):
        return "words"
    if isinstance(value, bool | np.bool_):
        return "truth"
    return "number" if is_number(value) else "strange"


def weighted_median(values: FloatArray, counts: list[int]) -> float:
    """The median of values that stand there so many times.

    >>> weighted_median(np.array([5.0, 1.0, 2.0]), [1, 2, 1])
    1.5
    """
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(np.asarray(counts)[order])
    low, high = np.searchsorted(ends, [(ends[-1] - 1) // 2, ends[-1] // 2], side="right")
    return float(0.5 * (values[order[low]] + values[order[high]]))


def rank_levels(name: str, counts: Mapping[str, int], gaps: bool) -> Column:
    """An ordered category as the ranks of its levels, which have these counts, in their order.

    A rank is one feature that keeps the order; a step for each level had the same errors (1.01 to 0.99 of
    them on six synthetic tables) and needs a feature each. Gaps are told apart, at the median rank.

    >>> rank_levels("size", {"S": 3, "M": 1, "L": 0}, gaps=False)
    LevelColumn(name='size', levels=('S', 'M', 'L'), numbers=((0.0,), (1.0,), (2.0,)), other=(0.0,), \
missing=(0.0,), ordered=True)
    """
    if len(counts) <= 2:
        return category_of(name, {word: n for word, n in counts.items() if n}, sum(counts.values()) + gaps)
    below = np.cumsum(list(counts.values()))
    middle = float(np.searchsorted(below, below[-1] / 2))
    flag = (0.0,) if gaps else ()
    numbers = tuple((float(rank), *flag) for rank in range(len(counts)))
    missing = (middle, *((1.0,) if gaps else ()))
    return LevelColumn(name, tuple(counts), numbers, (middle, *flag), missing, ordered=True)


def category_of(name: str, counts: Mapping[str, int], n_rows: int) -> CategoryColumn:
    """The category whose words have these counts, of so many rows; an id is refused."""
    present = sum(counts.values())
    levels = sorted({word.lower() for word in counts} if set(counts) <= set(TRUTHS) else counts)
    every = len(levels) == present >= rules.LEAST_IDS
    if every or (len(levels) > rules.FREE_LEVELS and len(levels) > rules.LEVEL_SHARE * present):
        raise UselessColumnError(
            f"Column {name!r} has {len(levels)} different texts in {present} rows "
            f"({levels[0]!r}, {levels[1]!r}, …), too many for a category: an id, or free text."
        )
    if len(levels) > rules.MOST_LEVELS:
        levels = sorted(sorted(levels, key=lambda level: -counts[level])[: rules.MOST_LEVELS])
    return CategoryColumn(name, tuple(levels), gap=present < n_rows, other=len(counts) > rules.MOST_LEVELS)
