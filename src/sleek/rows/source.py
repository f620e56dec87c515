"""Where rows come from, and the one way to touch them: ``source.map_reduce(task)``.

A task maps a block of rows to something that can be added up. Blocks are cut by row number alone and their
results are added in one order, whatever the number of threads, so a fit is bit-for-bit the same for any
`n_jobs`. Inside a task BLAS runs on one thread: the parallel layer is here and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.base import Scaling
from sleek.kernels import LARGE_BLOCK
from sleek.outputs.outputs import Targets

SMALL_BLOCK = 2048
RUNS = 32


def rows_per_block(n_rows: int) -> int:
    """How many of the rows go into a block.

    NumPy works best on 2048: a temporary of 20 units takes 320 KB and stays in a core's second-level cache.
    Compiled loops cut rows into tiles of their own, and larger blocks leave Python less to do between them.

    >>> rows_per_block(1000), rows_per_block(10**6)
    (2048, 4096)
    """
    return SMALL_BLOCK if n_rows < LARGE_BLOCK else LARGE_BLOCK


def run_length(n_blocks: int) -> int:
    """How many consecutive blocks are added up before their sum is added to the total.

    A thread takes a run at a time. Runs do not depend on the number of threads, so neither does the result.

    >>> run_length(5), run_length(245), run_length(5000)
    (1, 7, 156)
    """
    return max(1, n_blocks // RUNS)


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive rows: features X (n, d), targets T (n, k), weights s (n,), all float64."""

    start: int  # number of the first row in the whole source
    X: FloatArray
    T: FloatArray
    s: FloatArray

    def __len__(self) -> int:
        return len(self.X)

    def take(self, start: int, rows: Any) -> Block:
        """Some of the rows, as a block that begins at number `start`."""
        return Block(start, self.X[rows], self.T[rows], self.s[rows])

    def among(self, numbers: IntArray) -> Block:
        """Those of the rows whose numbers in the whole source are among these, which are sorted."""
        first, last = np.searchsorted(numbers, (self.start, self.start + len(self)))
        return self.take(0, numbers[first:last] - self.start)

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> Block:
        """The rows of all blocks."""
        X, T, s = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("X", "T", "s"))
        return cls(0, X, T, s)


class Summable(Protocol):
    """Anything whose values add up."""

    def __add__(self, other: Self, /) -> Self: ...


Sum = TypeVar("Sum", bound=Summable)


class Source(ABC):
    """Rows with targets and weights, handed out in blocks."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def coding(self) -> Targets:
        """How the targets were encoded."""

    @abstractmethod
    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        """task(block₁) + task(block₂) + …, added up in runs of `run_length` blocks, and then run by run."""

    def rows_at(self, numbers: IntArray) -> Block:
        """The rows of these numbers, which are sorted: one pass."""
        return Block.joined(self.map_reduce(lambda block: [block.among(numbers)]))


class RowsAtHand(Source):
    """Rows that a fit begins with, which small data are better copied from."""

    @abstractmethod
    def in_memory(self) -> ArraySource:
        """The same rows as arrays."""


class ReducibleBlocks(Source):
    """A source whose blocks can be had one by one, in any order, from several threads."""

    workers: Workers
    block_rows: int | None  # None for the usual number

    @abstractmethod
    def block(self, start: int, n_rows: int) -> Block:
        """The block of at most `n_rows` rows that begins at row `start`."""

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        size = self.block_rows or rows_per_block(self.n_rows)

        starts = range(0, self.n_rows, size)
        length = run_length(len(starts))

        def run(first: int) -> Sum:
            return reduce(add, (task(self.block(start, size)) for start in starts[first : first + length]))

        with single_threaded_blas():
            return reduce(add, self.workers.spread(run, range(0, len(starts), length)))


@dataclass(frozen=True, eq=False)
class ArraySource(ReducibleBlocks, RowsAtHand):
    """Rows of arrays in memory: X (n, d) of any float type, y as `targets` encodes it, weights s > 0.

    Targets are encoded and rows brought to float64, one after the other in memory, block by block: so memory
    beyond the data does not grow with the number of rows, and sums do not depend on the layout of the data.
    """

    X: AnyArray
    y: AnyArray
    s: FloatArray
    targets: Targets
    workers: Workers = field(default_factory=Workers)
    block_rows: int | None = None

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def coding(self) -> Targets:
        return self.targets

    def block(self, start: int, n_rows: int) -> Block:
        rows = slice(start, start + n_rows)
        X = np.ascontiguousarray(self.X[rows], dtype=np.float64)
        return Block(start, X, self.targets.encode(np.ascontiguousarray(self.y[rows])), self.s[rows])

    def rows_at(self, numbers: IntArray) -> Block:
        X = np.empty((len(numbers), self.X.shape[1]))

        def fill(start: int) -> None:
            X[start : start + LARGE_BLOCK] = self.X[numbers[start : start + LARGE_BLOCK]]

        self.workers.spread(fill, range(0, len(numbers), LARGE_BLOCK))
        return Block(0, X, self.targets.encode(self.y[numbers]), self.s[numbers])

    def in_memory(self) -> ArraySource:
        return self


def canonical(data: ArraySource) -> tuple[ArraySource, IntArray]:
    """The same rows sorted, those that are written down more than once merged into one of their total weight.

    A fit on them is bit-for-bit the same in whatever order rows arrive, and whether a row has weight 2 or
    stands there twice. (Sums in another order differ in the last digit, and hundreds of training steps can
    make that visible.) Weights below 1 are no counts: then rows are only sorted. O(n·log n·columns) time.

    The second result says where each original row has gone.

    >>> from sleek.outputs.outputs import ClassTargets
    >>> X, y = np.array([[2.0], [1.0], [2.0]]), np.array([0, 1, 0])
    >>> rows, inverse = canonical(ArraySource(X, y, np.ones(3), ClassTargets(2)))
    >>> rows.X.ravel(), rows.y, rows.s, inverse
    (array([1., 2.]), array([1, 0]), array([1., 2.]), array([1, 0, 1]))
    """
    X, y, s = data.X, data.y, data.s
    columns = [*X.T, *(y.T if y.ndim == 2 else [y])]
    order = np.lexsort((s, *columns[::-1]))
    fresh = np.ones(len(s), dtype=bool)
    if s.min() >= 1:
        fresh[1:] = np.any([column[order[1:]] != column[order[:-1]] for column in columns], axis=0)
    group = np.cumsum(fresh) - 1
    inverse = np.empty(len(s), dtype=np.int64)
    inverse[order] = group
    first, weights = order[fresh], np.zeros(int(fresh.sum()))
    np.add.at(weights, group, s[order])
    return replace(data, X=X[first], y=y[first], s=weights), inverse


@dataclass(frozen=True, eq=False)
class ScaledSource(Source):
    """Another source's rows, each block scaled when it is handed out: no copy of the data is made."""

    source: Source
    scaling: Scaling

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def coding(self) -> Targets:
        return self.source.coding

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        def scaled(block: Block) -> Sum:
            return task(Block(block.start, self.scaling.apply(block.X), block.T, block.s))

        return self.source.map_reduce(scaled)
