"""`Source`, the data of a fit: blocks of encoded rows, read by ``source.map_reduce(task)`` alone.

A task maps a block of rows to something that can be added up. Blocks are cut by row number alone and their
results are added in one order (`sleek._runtime.sums`), whatever the number of threads, so a fit is
bit-for-bit the same for any `n_jobs`. Inside a task BLAS runs on one thread: the parallel layer is here and
nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.sums import Sum, total
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import FloatArray, IntArray
from sleek.kernels import LARGE_BLOCK
from sleek.outputs.base import Outputs

SMALL_BLOCK = 2048
RUNS = 32  # at least, of blocks that threads take at a time, if there are so many


def rows_per_block(n_rows: int) -> int:
    """How many of the rows go into a block.

    NumPy works best on 2048: a temporary of 20 units takes 320 KB and stays in a core's second-level cache.
    Compiled loops cut rows into tiles of their own, and larger blocks leave Python less to do between them.

    >>> rows_per_block(1000), rows_per_block(10**6)
    (2048, 4096)
    """
    return SMALL_BLOCK if n_rows < LARGE_BLOCK else LARGE_BLOCK


def run_length(n_blocks: int) -> int:
    """How many consecutive blocks a thread takes at a time: a power of two, so that it can add them up.

    >>> run_length(5), run_length(245), run_length(5000)
    (1, 4, 128)
    """
    return 1 << max(0, (n_blocks // RUNS).bit_length() - 1)


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive rows: features X (n, d), targets T (n, k), weights s and copies (n,), all float64.

    A row of `copies` 3 stands for three equal observations; what each of them weighs is s/copies. Sums over
    rows need s alone. Leaving out always means a whole observation, never a part of one; a row of `copies`
    ½ is left out together with another. Rows of the same group are held out, or dealt to folds, together.
    """

    start: int  # number of the first row in the whole source
    X: FloatArray
    T: FloatArray
    s: FloatArray
    copies: FloatArray
    groups: IntArray | None = None  # (n,); None: each row is by itself

    def __len__(self) -> int:
        return len(self.X)

    def take(self, start: int, rows: Any) -> Block:
        """Some of the rows, as a block that begins at number `start`."""
        groups = None if self.groups is None else self.groups[rows]
        return Block(start, self.X[rows], self.T[rows], self.s[rows], self.copies[rows], groups)

    def among(self, numbers: IntArray) -> Block:
        """Those of the rows whose numbers in the whole source are among these, which are sorted."""
        first, last = np.searchsorted(numbers, (self.start, self.start + len(self)))
        return self.take(0, numbers[first:last] - self.start)

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> Block:
        """The rows of all blocks."""
        names = ("X", "T", "s", "copies") if blocks[0].groups is None else ("X", "T", "s", "copies", "groups")
        return cls(0, *(np.concatenate([getattr(block, name) for block in blocks]) for name in names))


class Source(ABC):
    """Rows with encoded targets and weights, handed out in blocks."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def outputs(self) -> Outputs:
        """How the targets were encoded."""

    @abstractmethod
    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        """task(block₁) + task(block₂) + …, added up in pairs, and pairs of pairs (`sleek._runtime.sums`)."""

    @property
    def here(self) -> bool:
        """Whether tasks run in this process, and can leave something behind for the next pass."""
        return True

    def strata(self) -> IntArray | None:
        """The class of every row (n,), if it is known without a pass over the rows."""
        return np.zeros(self.n_rows, dtype=np.int8) if self.outputs.counts is None else None

    def with_outputs(self, outputs: Outputs) -> Source:
        """The same rows and targets; `outputs` differ in their loss alone."""
        return _WithOutputs(self, outputs)

    def rows_at(self, numbers: IntArray) -> Block:
        """The rows of these numbers, which are sorted: one pass."""
        return Block.joined(self.map_reduce(lambda block: [block.among(numbers)]))


@dataclass(frozen=True, eq=False)
class MappedSource(Source):
    """Another source's rows, of which every block is transformed when it is handed out.

    A subclass says how in `transform`, a method of its own settings alone: tasks are sent to other machines
    together with it, and the rows are not.
    """

    source: Source

    @abstractmethod
    def transform(self) -> Callable[[Block], Block]:
        """The function that is applied to every block; it must not refer to `self`."""

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def outputs(self) -> Outputs:
        return self.source.outputs

    @property
    def here(self) -> bool:
        return self.source.here

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        transform = self.transform()
        return self.source.map_reduce(lambda block: task(transform(block)))


@dataclass(frozen=True, eq=False)
class _WithOutputs(MappedSource):
    """Another source's rows with outputs of another loss."""

    coding: Outputs

    @property
    def outputs(self) -> Outputs:
        return self.coding

    def transform(self) -> Callable[[Block], Block]:
        return lambda block: block


@dataclass(frozen=True, eq=False)
class OneBlock(Source):
    """Few rows, taken once: a task is run on them and that is all.

    Training comes back hundreds of times, and cutting, scaling and adding up took a third of an evaluation.
    Whoever comes back holds BLAS to one thread meanwhile.
    """

    rows: Block
    coding: Outputs

    @classmethod
    def of(cls, source: Source) -> Source:
        """The same rows in one block, if that is how the source hands them out; the source itself if not."""
        if not source.here or source.n_rows > SMALL_BLOCK:
            return source
        blocks = source.map_reduce(lambda block: [block])
        return cls(blocks[0], source.outputs) if len(blocks) == 1 else source

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def outputs(self) -> Outputs:
        return self.coding

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        return task(self.rows)


class RandomAccess(Source):
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
            return total(task(self.block(start, size)) for start in starts[first : first + length])

        with single_threaded_blas():
            return total(self.workers.map_list(run, range(0, len(starts), length)))
