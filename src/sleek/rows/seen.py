"""Columns of rows that need not fit into memory: what a pass over them tells, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek._runtime.warn import warn
from sleek.kernels.columns import ColumnMoments
from sleek.rows.raw import RawBlock
from sleek.tables import rules
from sleek.tables.columns import TRUTHS, Column, DateColumn, NumberColumn, WordColumn
from sleek.tables.crossfit import LevelSums, RawSums, folds_of
from sleek.tables.errors import TableError, UselessColumnError
from sleek.tables.inputs import Inputs
from sleek.tables.learning import Learnt, category_of, chosen, groupings, has_choices, no_value
from sleek.tables.reading import as_days, as_numbers, as_words, date_order, is_number
from sleek.tables.values import Coded, Dates, Numbers, Values

MOST_WORDS = 200_000  # different words of a column that are counted: with more it is free text


@dataclass
class Seen:
    """What has been seen of a column; numbers of every `step`th row are kept for their median.

    Of a stretch of rows in the middle, `first` is the number of its first row; `then` adds the next stretch.
    """

    kind: str = ""  # "number", "date", "words", "mixed"
    counts: dict[str, int] = field(default_factory=dict)
    some: list[float] = field(default_factory=list)
    step: int = 1
    n_rows: int = 0
    gaps: int = 0
    first: int = 0

    def add(self, name: str, values: Values) -> None:
        """More rows."""
        kind, found = self._kind(name, values)
        if not self.kind and self.gaps == self.n_rows:
            self.kind = kind
        elif kind and kind != self.kind:
            self.kind = "mixed"
        if kind == "words":
            self._count(as_words(values))
        elif found is not None:
            self.gaps += int(np.isnan(found).sum())
            self._keep(found)
        else:
            self.gaps += len(values)
        self.n_rows += len(values)

    def _kind(self, name: str, values: Values) -> tuple[str, FloatArray | None]:
        match values:
            case Numbers():
                numbers = np.asarray(as_numbers(name, values), dtype=np.float64)
                return ("" if np.isnan(numbers).all() else "number"), numbers
            case Dates(days):
                return "date", days
            case Coded() as coded if coded.values and all(map(is_number, coded.values)):
                return "number", np.asarray(as_numbers(name, coded), dtype=np.float64)
            case Coded() as coded if not coded.values:
                return "", None
        return "words", None

    def _keep(self, numbers: FloatArray) -> None:
        first = -(self.first + self.n_rows) % self.step
        self.some += numbers[first :: self.step].tolist()
        while len(self.some) > rules.MEDIAN_ROWS:
            self.some, self.step = self.some[::2], 2 * self.step

    def _count(self, words: Coded) -> None:
        rows = np.bincount(words.array + 1, minlength=len(words.values) + 1)
        self.gaps += int(rows[0])
        if len(self.counts) <= MOST_WORDS:
            for word, count in zip(words.values, rows[1:].tolist(), strict=True):
                if count:
                    self.counts[word] = self.counts.get(word, 0) + count

    def then(self, other: Seen) -> Seen:
        """What has been seen of this stretch of rows and the next; both keep every so manieth row."""
        kind = self.kind
        if not kind and self.gaps == self.n_rows:
            kind = other.kind
        elif other.kind and other.kind != kind:
            kind = "mixed"
        counts = dict(self.counts)
        for word, count in other.counts.items():
            counts[word] = counts.get(word, 0) + count
        n_rows, gaps = self.n_rows + other.n_rows, self.gaps + other.gaps
        return Seen(kind, counts, self.some + other.some, self.step, n_rows, gaps, self.first)

    def column(self, name: str, as_category: bool) -> Column:
        """What the column is."""
        if self.kind == "mixed":
            raise TableError(f"Column {name!r} must hold one kind of values in all rows.")
        if self.kind == "words":
            if len(self.counts) > MOST_WORDS:
                raise UselessColumnError(
                    f"Column {name!r} has more than {MOST_WORDS:,} different texts: an id, or free text."
                )
            words = list(self.counts)
            order = None if as_category else date_order(words)
            if order is None:
                return category_of(name, self.counts, self.n_rows)
            days = [as_days(name, Coded(np.zeros(1, np.int32), [word]), order)[0] for word in words]
            place = np.argsort(days)
            middle = np.cumsum(np.array(list(self.counts.values()))[place])
            fill = float(np.array(days)[place][np.searchsorted(middle, middle[-1] / 2)])
            return DateColumn(name, ("days",), fill, gaps=self.gaps > 0, order=order)
        some = np.array(self.some)
        some = some[~np.isnan(some)]
        if len(some) == 0:
            raise UselessColumnError(no_value(name))
        if self.kind == "date":
            return DateColumn(name, ("days",), float(np.median(some)), gaps=self.gaps > 0)
        return NumberColumn(name, float(np.median(some)), gaps=self.gaps > 0)


def is_plain(columns: dict[str, Seen]) -> bool:
    """Whether all columns are numbers or truth values without a gap."""
    return all(
        not seen.gaps
        and (seen.kind == "number" or (seen.kind == "words" and set(seen.counts) <= set(TRUTHS)))
        for seen in columns.values()
    )


@dataclass(frozen=True, eq=False)
class Rated:
    """Mean and variance of the targets of some rows, and their sums for every grouping of a column."""

    moments: ColumnMoments
    groups: dict[tuple[str, str], RawSums]

    @classmethod
    def of(cls, columns: Sequence[Column], labels: AnyArray | None, block: RawBlock) -> Rated:
        """Of a block whose features are the settled values of these columns: codes, numbers and days."""
        if labels is None:
            T = np.ascontiguousarray(block.y, dtype=np.float64)
        else:
            codes = np.searchsorted(labels, block.y.values)[block.y.codes]
            first = 1 if len(labels) == 2 else 0
            T = (codes[:, None] == np.arange(first, len(labels))).astype(np.float64)
        folds = folds_of(np.arange(block.start, block.start + len(block)))
        groups = {}
        for column, settled in zip(columns, block.X.T, strict=True):
            values = settled.astype(np.int64) if isinstance(column, WordColumn) else settled
            for key, (codes, size) in groupings(column, values).items():
                groups[column.name, key] = RawSums.of(folds, codes, size, T, block.s)
        return cls(ColumnMoments.of(T, block.s), groups)

    def __add__(self, other: Rated) -> Rated:
        groups = {key: sums + other.groups[key] for key, sums in self.groups.items()}
        return Rated(self.moments + other.moments, groups)

    def of_column(self, name: str, n_rows: int) -> dict[str, LevelSums]:
        """What the groupings of a column tell."""
        return {
            key: sums.centred(self.moments, n_rows)
            for (owner, key), sums in self.groups.items()
            if owner == name
        }


def learn_seen(
    seen: dict[str, Seen],
    categories: Collection[str],
    rated: Callable[[dict[str, Column]], Rated],
    n_rows: int,
) -> Learnt:
    """What the columns become; `rated` makes the pass that is needed where targets have a say in it."""
    columns: dict[str, Column] = {}
    left_out: dict[str, str] = {}
    for name, found in seen.items():
        try:
            columns[name] = found.column(name, name in categories)
        except UselessColumnError as reason:
            left_out[name] = str(reason)
    by_fold: dict[str, FloatArray] = {}
    open_ones = {name: column for name, column in columns.items() if has_choices(column)}
    if open_ones:
        sums = rated(open_ones)
        for name, column in open_ones.items():
            try:
                columns[name] = chosen(column, sums.of_column(name, n_rows), by_fold)
            except UselessColumnError as reason:
                left_out[name] = str(reason)
                del columns[name]
    notes = [f"column {name!r}: {found.gaps:,} missing values" for name, found in seen.items() if found.gaps]
    return Learnt(Inputs(tuple(columns.values())), left_out, notes, by_fold)


def tell(estimator: Any, learnt: Learnt, notes: Sequence[str] = ()) -> None:
    """Columns of no use are left out with a warning, or refused if there is no other."""
    if not learnt.inputs.columns:
        raise TableError("\n".join(["There is no column to learn from.", *learnt.left_out.values()]))
    left_out = [f"{sentence} It is left out." for sentence in learnt.left_out.values()]
    if left_out:
        warn("\n".join(left_out))
    estimator.column_notes_ = [*notes, *learnt.notes, *left_out]


def joined_values(parts: list[Values]) -> Values:
    """One column of several stretches of rows."""
    if all(isinstance(part, Numbers) for part in parts):
        return Numbers(np.concatenate([part.array for part in parts]))
    if all(isinstance(part, Dates) for part in parts):
        return Dates(np.concatenate([part.array for part in parts]))
    place: dict[Any, int] = {}
    codes = []
    for part in parts:
        if not isinstance(part, Coded):  # nothing but gaps
            codes.append(np.full(len(part), -1, dtype=np.int32))
            continue
        lookup = [place.setdefault(value, len(place)) for value in part.values]
        codes.append(part.spread(np.array(lookup, dtype=np.int32), -1))
    return Coded(np.concatenate(codes), list(place))
