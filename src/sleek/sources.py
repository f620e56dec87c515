"""Where rows come from, and the one way to touch them: ``source.map_reduce(task)``.

A task maps a block of rows to something that can be added up. Blocks are cut by row number alone and their
results are added in row order, whatever the number of threads, so a fit is bit-for-bit the same for any
`n_jobs`. Inside a task BLAS runs on one thread: the parallel layer is here and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, islice
from operator import add
from threading import Lock
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from sleek._typing import AnyArray, FloatArray, IntArray
from sleek.bases.base import Scaling
from sleek.moments import BLOCK_ROWS as BLOCK_ROWS
from sleek.targets import Targets


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


@dataclass(frozen=True, eq=False)
class ArraySource(Source):
    """Rows of arrays in memory: X (n, d) of any float type, y as `targets` encodes it, weights s > 0.

    Targets are encoded and rows brought to float64, one after the other in memory, block by block: so memory
    beyond the data does not grow with the number of rows, and sums do not depend on the layout of the data.
    """

    X: AnyArray
    y: AnyArray
    s: FloatArray
    targets: Targets
    n_jobs: int = 1
    block_rows: int = BLOCK_ROWS

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def coding(self) -> Targets:
        return self.targets

    def block(self, start: int) -> Block:
        """The block that begins at row `start`."""
        rows = slice(start, start + self.block_rows)
        X = np.ascontiguousarray(self.X[rows], dtype=np.float64)
        return Block(start, X, self.targets.encode(np.ascontiguousarray(self.y[rows])), self.s[rows])

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        def run(start: int) -> Sum:
            return task(self.block(start))

        with single_threaded_blas():
            return reduce(add, ordered_map(run, range(0, self.n_rows, self.block_rows), self.n_jobs))


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


@dataclass(frozen=True, eq=False)
class Sample(Source):
    """A simple random sample of another source's rows without replacement, held in memory.

    It consists of the rows with the `size` smallest keys. A row's key is a hash of its number and the seed,
    so the same rows are drawn whatever the blocks, and a larger sample with the same seed contains the
    smaller one. Rows stay in order; a sample at least as large as the source is all of it.
    """

    size: int
    seed: int
    n_jobs: int
    coding_: Targets
    numbers: IntArray  # (n,) of the rows in the original source
    keys: AnyArray
    rows: Block

    @classmethod
    def draw(cls, source: Source, size: int, seed: int, n_jobs: int = 1) -> Sample:
        """One pass over the rows, in O(size) memory."""

        def task(block: Block) -> Sample:
            numbers = np.arange(block.start, block.start + len(block))
            keys = _keys(numbers, seed)
            return cls(size, seed, n_jobs, source.coding, numbers, keys, block)._smallest()

        return source.map_reduce(task)

    def __add__(self, other: Sample) -> Sample:
        def both(one: AnyArray, two: AnyArray) -> AnyArray:
            return np.concatenate([one, two])

        a, b = self.rows, other.rows
        return replace(
            self,
            numbers=both(self.numbers, other.numbers),
            keys=both(self.keys, other.keys),
            rows=Block(0, both(a.X, b.X), both(a.T, b.T), both(a.s, b.s)),
        )._smallest()

    def _smallest(self) -> Sample:
        if len(self.keys) <= self.size:
            return self
        kept = np.sort(np.argpartition(self.keys, self.size)[: self.size])
        return self.take(kept)

    def take(self, rows: IntArray, s: FloatArray | None = None) -> Sample:
        """Some of the sample's rows, with other weights if given."""
        block = self.rows.take(0, rows)
        if s is not None:
            block = replace(block, s=s)
        return replace(self, numbers=self.numbers[rows], keys=self.keys[rows], rows=block)

    def split(self, share: float) -> tuple[Sample, Block]:
        """The sample without a share of its rows, and those rows.

        Held out are the largest keys: smaller samples with the same seed do not contain them.
        """
        held = np.zeros(self.n_rows, dtype=bool)
        held[np.argsort(self.keys)[self.n_rows - round(share * self.n_rows) :]] = True
        return self.take(np.flatnonzero(~held)), self.rows.take(0, held)

    def with_weight(self, total: float) -> Sample:
        """The same rows, weighing as much as the rows they stand for."""
        s = self.rows.s * (total / self.rows.s.sum())
        return replace(self, rows=replace(self.rows, s=s))

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def coding(self) -> Targets:
        return self.coding_

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        def run(start: int) -> Sum:
            return task(self.rows.take(start, slice(start, start + BLOCK_ROWS)))

        with single_threaded_blas():
            return reduce(add, ordered_map(run, range(0, self.n_rows, BLOCK_ROWS), self.n_jobs))


def _keys(numbers: IntArray, seed: int) -> AnyArray:
    """Pseudo-random 64-bit keys of row numbers (the finaliser of the SplitMix64 generator)."""
    z = (numbers + 1).astype(np.uint64)
    z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int
) -> Generator[Result, None, None]:
    """``map`` on `n_jobs` threads, results in order, never more than a few of them waiting.

    Items are taken in the caller's thread, a few ahead of the results. An error or an interrupt, there or in
    a thread, cancels what has not begun and leaves no thread behind.
    """
    todo = iter(items)
    first = list(islice(todo, 2))
    if n_jobs == 1 or len(first) < 2:
        yield from map(function, chain(first, todo))
        return
    pool = ThreadPoolExecutor(n_jobs)
    try:
        begin = islice(chain(first, todo), 4 * n_jobs)
        waiting: deque[Future[Result]] = deque(pool.submit(function, item) for item in begin)
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(function, item) for item in islice(todo, 1))
    finally:
        pool.shutdown(cancel_futures=True)


class _BlasGuard:
    """Counts who asked for single-threaded BLAS: the first switches it on, the last restores what was.

    The setting belongs to the process. Without the count, two fits in two Python threads could end in
    the order in which the second restores the first one's limit, for good.
    """

    def __init__(self) -> None:
        self.lock, self.users, self.limits = Lock(), 0, None

    def enter(self) -> None:
        with self.lock:
            if self.users == 0:
                self.limits = threadpool_limits(1, user_api="blas")
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0 and self.limits is not None:
                self.limits.restore_original_limits()
                self.limits = None


_blas_guard = _BlasGuard()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread inside; may be nested and entered from several threads at once."""
    _blas_guard.enter()
    try:
        yield
    finally:
        _blas_guard.leave()
