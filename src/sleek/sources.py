"""Where rows come from, and the one way to touch them: ``source.map_reduce(task)``.

A task maps a block of rows to something that can be added up. Blocks are cut by row number alone and their
results are added in row order, whatever the number of threads, so a fit is bit-for-bit the same for any
`n_jobs`. Inside a task BLAS runs on one thread: the parallel layer is here and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from sleek._typing import AnyArray, FloatArray, IntArray
from sleek.bases.base import Scaling
from sleek.kernels import LARGE_BLOCK
from sleek.targets import Targets
from sleek.workers import Workers, single_threaded_blas

SMALL_BLOCK = 2048


def rows_per_block(n_rows: int) -> int:
    """How many of the rows go into a block.

    NumPy works best on 2048: a temporary of 20 units takes 320 KB and stays in a core's second-level cache.
    Compiled loops cut rows into tiles of their own, and larger blocks leave Python less to do between them.

    >>> rows_per_block(1000), rows_per_block(10**6)
    (2048, 4096)
    """
    return SMALL_BLOCK if n_rows < LARGE_BLOCK else LARGE_BLOCK


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
        """task(block₁) + task(block₂) + …, in this order."""


class ReducibleBlocks(Source):
    """A source whose blocks can be had one by one, in any order, from several threads."""

    workers: Workers
    block_rows: int | None  # None for the usual number

    @abstractmethod
    def block(self, start: int, n_rows: int) -> Block:
        """The block of at most `n_rows` rows that begins at row `start`."""

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        size = self.block_rows or rows_per_block(self.n_rows)

        def run(start: int) -> Sum:
            return task(self.block(start, size))

        with single_threaded_blas():
            return reduce(add, self.workers.map(run, range(0, self.n_rows, size)))


@dataclass(frozen=True, eq=False)
class ArraySource(ReducibleBlocks):
    """Rows of arrays in memory: X (n, d) of any float type, y as `targets` encodes it, weights s > 0.

    Targets are encoded and rows brought to float64 block by block, so that memory beyond the data does
    not grow with the number of rows.
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
        X = self.X[rows].astype(np.float64, copy=False)
        return Block(start, X, self.targets.encode(self.y[rows]), self.s[rows])


class Canonical(NamedTuple):
    """Rows in an order of their own, and where each original row has gone."""

    X: AnyArray
    y: AnyArray
    s: FloatArray
    inverse: IntArray


def canonical(X: AnyArray, y: AnyArray, s: FloatArray) -> Canonical:
    """The same rows sorted, those that are written down more than once merged into one of their total weight.

    A fit on them is bit-for-bit the same in whatever order rows arrive, and whether a row has weight 2 or
    stands there twice. (Sums in another order differ in the last digit, and hundreds of training steps can
    make that visible.) Weights below 1 are no counts: then rows are only sorted. O(n·log n·columns) time.

    >>> canonical(np.array([[2.0], [1.0], [2.0]]), np.array([0, 1, 0]), np.ones(3))
    Canonical(X=array([[1.], [2.]]), y=array([1, 0]), s=array([1., 2.]), inverse=array([1, 0, 1]))
    """
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
    return Canonical(X[first], y[first], weights, inverse)


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
