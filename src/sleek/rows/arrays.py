"""Rows of arrays in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sleek._runtime.sums import Sum, total
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.kernels import LARGE_BLOCK
from sleek.outputs.base import Outputs
from sleek.outputs.labels import Labels
from sleek.rows.cutting import TARGETS, Cutting
from sleek.rows.encoding import Encoding, Strangers
from sleek.rows.raw import RawBlock, words_for
from sleek.rows.rows import Rows, Run
from sleek.rows.source import Block, RandomAccess, Source, run_length
from sleek.rows.weights import Weighting, WeightSurvey
from sleek.tables.encoded import EncodedTable, as_new
from sleek.tables.inputs import Inputs


@dataclass(frozen=True, eq=False)
class ArrayRows(Rows):
    """Checked arrays: X (n, d) of any float type, y `Labels` or floats (n, k), weights s > 0.

    X may be a table that becomes features block by block.

    Targets are encoded and rows brought to float64, one after the other in memory, block by block: so memory
    beyond the data does not grow with the number of rows, and sums do not depend on the layout of the data.
    """

    X: AnyArray | EncodedTable
    y: Any = None
    s: FloatArray = field(default_factory=lambda: np.empty(0))  # none at all for rows to predict
    names: tuple[str, ...] | None = None
    flat: bool = True
    where: Callable[[int], str] | None = None  # None: by its number
    numbers: IntArray | None = None  # of the rows in what the user gave; None: all of them, in order
    inverse: IntArray | None = None  # for each of those, where it has gone when rows were sorted
    groups: IntArray | None = None  # rows of the same number belong together; None: each is by itself

    @classmethod
    def that_count(
        cls,
        X: AnyArray | EncodedTable,
        y: Any,
        s: FloatArray,
        names: tuple[str, ...] | None,
        flat: bool,
        groups: IntArray | None = None,
    ) -> ArrayRows:
        """The rows of positive weight, without a copy if that is all of them."""
        counts = s > 0
        if counts.all():
            return cls(X, y, s, names, flat, groups=groups)
        kept = np.flatnonzero(counts)
        some = X.take(kept) if isinstance(X, EncodedTable) else X[kept]
        groups = None if groups is None else groups[kept]
        return cls(some, y[kept], s[kept], names, flat, numbers=kept, groups=groups)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.names

    @property
    def inputs(self) -> Inputs | None:
        return self.X.inputs if isinstance(self.X, EncodedTable) else None

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def as_new(self, X: FloatArray) -> FloatArray:
        return as_new(X, self.X.inputs, self.X.by_fold) if isinstance(self.X, EncodedTable) else X

    @property
    def flat_targets(self) -> bool:
        return self.flat

    def chunks(self, reads: str | None, features: bool) -> Iterable[RawBlock]:
        size = TARGETS.block_rows
        return (self._chunk(start, size, features) for start in range(0, len(self.X), size))

    def _chunk(self, start: int, size: int, features: bool) -> RawBlock:
        rows = slice(start, start + size)
        X = np.ascontiguousarray(self.X[rows], dtype=np.float64) if features else None
        y = None if self.y is None else self.y[rows]
        if y is not None and not isinstance(y, Labels):
            y = np.ascontiguousarray(y)
        s, words = self.s[rows] if len(self.s) else None, words_for(self.where, self.numbers, "of y")
        groups = None if self.groups is None else self.groups[rows]
        return RawBlock(X, y, s, lambda row: words(start + row), start=start, groups=groups)

    def map_reduce(
        self,
        task: Callable[[RawBlock], Sum],
        run: Run,
        *,
        reads: str | None,
        features: bool,
        cutting: Cutting = TARGETS,
        encoding: Encoding | None = None,
        strangers: Strangers | None = None,
    ) -> Sum:
        starts = range(0, len(self.X), size := cutting.block_rows)
        length = run_length(len(starts))

        def some(first: int) -> Sum:
            return total(task(self._chunk(i, size, features)) for i in starts[first : first + length])

        with single_threaded_blas():
            return total(run.workers.map_list(some, range(0, len(starts), length)))

    def evaluate(
        self, function: Callable[..., AnyArray], run: Run, encoding: Encoding | None = None
    ) -> AnyArray:
        return function(self.X, run.workers.n_jobs)

    def source(
        self, outputs: Outputs, weighting: Weighting, run: Run, encoding: Encoding | None = None
    ) -> ArraySource:
        s, copies = weighting.ready(self.s, outputs.importance(self.y))
        return ArraySource(self.X, self.y, s, copies, outputs, run.workers, groups=self.groups)

    def in_memory(self, reads: str, n_rows: int, run: Run) -> ArrayRows:
        return replace(self, X=self.X[:]) if isinstance(self.X, EncodedTable) else self

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        if self.inverse is None:
            rows, places = numbers, np.arange(len(numbers))
        else:
            position = np.full(int(self.inverse.max()) + 1, -1)
            position[numbers] = np.arange(len(numbers))
            rows = np.flatnonzero(position[self.inverse] >= 0)
            places = position[self.inverse[rows]]
        return (rows if self.numbers is None else self.numbers[rows]), places

    def canonical(self, merge: bool = True) -> ArrayRows:
        """The same rows sorted; equal ones merged into one of their total weight, if weights are counts.

        Rows of different groups are never merged.

        A fit on them is bit-for-bit the same in whatever order rows arrive, and whether a row has weight 2
        or stands there twice. (Sums in another order differ in the last digit, and hundreds of training
        steps can make that visible.) O(n·log n·columns) time.

        >>> X, y = np.array([[2.0], [1.0], [2.0]]), Labels.of(np.array([0, 1, 0]))
        >>> rows = ArrayRows(X, y, np.ones(3)).canonical()
        >>> rows.X.ravel(), rows.y.codes, rows.s, rows.inverse
        (array([1., 2.]), array([1, 0]), array([1., 2.]), array([1, 0, 1]))
        """
        X, y, s = self.X[:], self.y, self.s
        columns = [*X.T, *([y.codes] if isinstance(y, Labels) else list(y.T))]
        columns += [] if self.groups is None else [self.groups]
        order, fresh = sorted_rows(columns if merge else [*columns, s])
        if not merge:
            fresh = np.ones(len(s), dtype=bool)
        group = np.cumsum(fresh) - 1
        inverse = np.empty(len(s), dtype=np.int64)
        inverse[order] = group
        first, weights = order[fresh], np.bincount(group, s[order]).astype(np.float64, copy=False)
        words = words_for(self.where, self.numbers, "of y")

        def where(row: int) -> str:
            return words(int(first[row]))

        groups = None if self.groups is None else self.groups[first]
        rows = replace(self, X=X[first], y=y[first], s=weights, groups=groups)
        return replace(rows, where=where, inverse=inverse)


@dataclass(frozen=True, eq=False)
class ArraySource(RandomAccess):
    """Arrays with weights made ready, of which any block can be had at any time."""

    X: AnyArray | EncodedTable
    y: Any
    s: FloatArray
    copies: FloatArray
    coding: Outputs
    workers: Workers = field(default_factory=Workers)
    block_rows: int | None = None
    groups: IntArray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def outputs(self) -> Outputs:
        return self.coding

    def strata(self) -> IntArray | None:
        return super().strata() if self.coding.counts is None else self.coding.strata_of(self.y)

    def block(self, start: int, n_rows: int) -> Block:
        rows = slice(start, start + n_rows)
        X, y = np.ascontiguousarray(self.X[rows], dtype=np.float64), self.y[rows]
        T = self.coding.encode(y if isinstance(y, Labels) else np.ascontiguousarray(y))
        return Block(start, X, T, self.s[rows], self.copies[rows], self._groups_of(rows))

    def rows_at(self, numbers: IntArray) -> Block:
        X = np.empty((len(numbers), self.X.shape[1]))

        def fill(start: int) -> None:
            X[start : start + LARGE_BLOCK] = self.X[numbers[start : start + LARGE_BLOCK]]

        self.workers.map_list(fill, range(0, len(numbers), LARGE_BLOCK))
        T = self.coding.encode(self.y[numbers])
        return Block(0, X, T, self.s[numbers], self.copies[numbers], self._groups_of(numbers))

    def _groups_of(self, rows: Any) -> IntArray | None:
        return None if self.groups is None else self.groups[rows]


def array_source(
    X: AnyArray,
    y: Any,
    s: FloatArray | None = None,
    *,
    outputs: Outputs,
    n_jobs: int = 1,
    block_rows: int | None = None,
) -> Source:
    """Arrays as a source for a trainer used by hand: `Labels` or floats (n, k), weights as users give them.

    >>> from sleek.outputs import ClassOutputs
    >>> y = np.array([0, 1])
    >>> source = array_source(np.zeros((2, 1)), Labels.of(y), outputs=ClassOutputs(np.unique(y)))
    >>> source.n_rows
    2
    """
    s = np.ones(len(X)) if s is None else s
    survey = WeightSurvey.of(s)
    weighting = Weighting(survey, 1.0, survey.unit is not None, 1.0)
    source = ArrayRows(X, y, s).source(outputs, weighting, Run(Workers(n_jobs)))
    return replace(source, block_rows=block_rows)


def sorted_rows(columns: Sequence[AnyArray]) -> tuple[IntArray, AnyArray]:
    """The order of rows by the first column, ties by the next, and whether each differs from the one before.

    It is ``np.lexsort(columns[::-1])``, but a column is looked at only in rows that are equal in all columns
    before it: with measured numbers the first tells almost all rows apart. O(n·log n) time for these, and at
    most that of `lexsort`, O(n·log n·columns), for rows that are written down twice.

    >>> order, fresh = sorted_rows([np.array([2, 1, 2, 2]), np.array([5, 9, 3, 5])])
    >>> order, fresh
    (array([1, 2, 0, 3]), array([ True,  True,  True, False]))
    """
    n = len(columns[0])
    order, fresh = np.arange(n), np.zeros(n, dtype=bool)
    fresh[:1] = True
    start, size = 0, 1
    while start < len(columns):
        tied = ~fresh
        tied[:-1] |= ~fresh[1:]
        places = np.flatnonzero(tied)
        if len(places) == 0:
            break
        rows, group = order[places], np.cumsum(fresh)[places]
        keys = [column[rows] for column in columns[start : start + size]]
        within = np.lexsort((*keys[::-1], group))
        order[places] = rows[within]
        for key in keys:
            values = key[within]
            fresh[places[1:]] |= values[1:] != values[:-1]
        start, size = start + size, 2 * size  # few columns while many rows are tied, many when few are
    return order, fresh
