"""Random samples of a source's rows that do not depend on blocks, and grow by adding rows.

A row's key is a hash of its number and the seed. A sample consists of the rows with the smallest keys, so a
larger one with the same seed contains the smaller one; rows held out to judge by are those with the largest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.threads import Workers
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.kernels import LARGE_BLOCK
from sleek.outputs.base import Outputs
from sleek.rows.scaling import Scaling
from sleek.rows.source import Block, RandomAccess, Source

CHUNK = 2**20  # row numbers whose keys are computed at a time


@dataclass(frozen=True, eq=False)
class Sample(RandomAccess):
    """Some rows of another source, in order, held in memory."""

    seed: int
    workers: Workers
    coding: Outputs
    numbers: IntArray  # (n,) of the rows in the original source
    rows: Block
    block_rows: int | None = None

    @classmethod
    def draw(cls, source: Source, size: int, seed: int, workers: Workers) -> Sample:
        """A simple random sample without replacement; all rows if there are no more than `size`.

        One pass over the rows, in O(size) memory.
        """
        numbers, _ = chosen_rows(source.n_rows, size, 0, seed)
        return cls(seed, workers, source.outputs, numbers, source.rows_at(numbers))

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def outputs(self) -> Outputs:
        return self.coding

    def block(self, start: int, n_rows: int) -> Block:
        return self.rows.take(start, slice(start, start + n_rows))

    def take(self, rows: AnyArray, copies: FloatArray | None = None) -> Sample:
        """Some of the sample's rows, or as many copies of each as are given."""
        block = self.rows.take(0, rows)
        if copies is not None:
            block = replace(block, s=block.s / block.copies * copies, copies=copies)
        return replace(self, numbers=self.numbers[rows], rows=block)

    def smallest(self, size: int, seed: int | None = None) -> Sample:
        """The sample of `size` rows that a draw would have given, with the same seed or another."""
        if size >= self.n_rows:
            return self
        keys = _keys(self.numbers, self.seed if seed is None else seed)
        return self.take(np.sort(np.argpartition(keys, size)[:size]))

    def scaled(self, scaling: Scaling) -> Sample:
        """The same rows in training units."""
        X, scaled = self.rows.X, np.empty_like(self.rows.X)

        def fill(start: int) -> None:
            scaled[start : start + LARGE_BLOCK] = scaling.apply(X[start : start + LARGE_BLOCK])

        self.workers.spread(fill, range(0, len(X), LARGE_BLOCK))
        return replace(self, rows=replace(self.rows, X=scaled))

    def with_weight(self, total: float) -> Sample:
        """The same rows, weighing as much as the rows they stand for."""
        factor = total / self.rows.s.sum()
        rows = replace(self.rows, s=self.rows.s * factor, copies=self.rows.copies * factor)
        return replace(self, rows=rows)


def chosen_rows(n_rows: int, size: int, held: int, seed: int) -> tuple[IntArray, IntArray]:
    """The sorted numbers of the rows with the `size` smallest keys, and of those with the `held` largest.

    No row is in both. O(size + held) memory: keys are uniform, so those that matter lie, almost surely, below
    or above a bound that is known beforehand.

    >>> chosen_rows(10, 3, 2, seed=0)
    (array([2, 4, 6]), array([3, 9]))
    """
    held = min(held, n_rows)
    size = min(size, n_rows - held)
    if size + held == n_rows and held == 0:
        return np.arange(n_rows), np.arange(0)
    low: list[tuple[AnyArray, IntArray]] = []
    high: list[tuple[AnyArray, IntArray]] = []
    for start in range(0, n_rows, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, n_rows))
        keys = _keys(numbers, seed)
        for found, count, order in ((low, size, keys), (high, held, ~keys)):
            near = order <= _bound(n_rows, count)
            found.append((order[near], numbers[near]))
    return _first(low, size), _first(high, held)


def _bound(n_rows: int, count: int) -> np.uint64:
    """A key below which `count` of the rows' keys lie, but for one case in 10²⁰."""
    share = (count + 10 * count**0.5 + 100) / n_rows if count else 0.0
    return np.uint64(min(share, 1.0) * (2.0**64 - 2048))


def _first(found: list[tuple[AnyArray, IntArray]], count: int) -> IntArray:
    """The sorted numbers that belong to the `count` smallest keys."""
    keys, numbers = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if count < len(keys):
        numbers = numbers[np.argpartition(keys, count)[:count]]
    return np.sort(numbers)


def _keys(numbers: IntArray, seed: int) -> AnyArray:
    """Pseudo-random 64-bit keys of row numbers (the finaliser of the SplitMix64 generator)."""
    z = (numbers + 1).astype(np.uint64)
    z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
