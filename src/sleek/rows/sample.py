"""Random samples of a source's rows that do not depend on blocks, and grow by adding rows.

A row's key u in [0, 1) is a hash of its number and the seed. A sample consists of the rows with the
smallest keys, so a larger one with the same seed contains the smaller one; rows held out to judge by are
those with the largest.

Where a class is so rare that a sample would have a handful of its rows, they are drawn more often: the key
of a row is divided by its class's boost f ≥ 1 (sequential Poisson sampling). A row is then drawn with a
probability of min(1, f·t), t being the largest divided key in the sample, and weighs the inverse of that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.sums import Sums
from sleek._runtime.threads import Workers
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.kernels import LARGE_BLOCK
from sleek.outputs.base import Outputs
from sleek.rows.keys import chosen_rows, keys_of, uniform
from sleek.rows.scaling import Scaling
from sleek.rows.source import Block, RandomAccess, Source


@dataclass(frozen=True, eq=False)
class Sample(RandomAccess):
    """Some rows of another source, in order, held in memory."""

    seed: int
    workers: Workers
    coding: Outputs
    numbers: IntArray  # (n,) of the rows in the original source
    rows: Block
    boosts: FloatArray | None = None  # (n,) by which rows were drawn more often; None: none was
    reach: float = 1.0  # t
    block_rows: int | None = None

    @classmethod
    def draw(
        cls, source: Source, size: int, seed: int, workers: Workers, held: int = 0, least_share: float = 0.0
    ) -> Sample:
        """A random sample without replacement of the rows that are not held out; all of them if they are few.

        Every class makes up at least `least_share` of it, as far as there are rows. One pass over the rows,
        in O(size) memory.
        """
        draw = Draw(source, size, held, seed, least_share)
        if draw.numbers is not None:
            return cls(seed, workers, source.outputs, draw.numbers, source.rows_at(draw.numbers))
        return draw.sample(source.map_reduce(draw.of), workers)

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def outputs(self) -> Outputs:
        return self.coding

    def with_outputs(self, outputs: Outputs) -> Sample:
        return replace(self, coding=outputs)

    def block(self, start: int, n_rows: int) -> Block:
        return self.rows.take(start, slice(start, start + n_rows))

    def take(self, rows: AnyArray, copies: FloatArray | None = None) -> Sample:
        """Some of the sample's rows, or as many copies of each as are given."""
        block = self.rows.take(0, rows)
        if copies is not None:
            block = replace(block, s=block.s / block.copies * copies, copies=copies)
        boosts = None if self.boosts is None else self.boosts[rows]
        return replace(self, numbers=self.numbers[rows], rows=block, boosts=boosts)

    def smallest(self, size: int, seed: int | None = None) -> Sample:
        """The sample of `size` rows that a draw would have given; with another seed, some of these rows."""
        if size >= self.n_rows:
            return self
        if self.boosts is None or seed is not None:
            keys = keys_of(self.numbers, self.seed if seed is None else seed)
            return self.take(np.sort(np.argpartition(keys, size)[:size]))
        keys = uniform(keys_of(self.numbers, self.seed)) / self.boosts
        chosen = np.sort(np.argpartition(keys, size)[:size])
        smaller = replace(self.take(chosen), reach=float(keys[chosen].max()))
        return smaller.reweighted(self.reach)

    def reweighted(self, before: float | None = None) -> Sample:
        """Rows weigh the inverse of how often they are drawn, and an observation 1 on average.

        `before` is the reach for which they weigh that already.
        """
        if self.boosts is None:
            return self
        now = np.minimum(1.0, self.boosts * self.reach)
        old = 1.0 if before is None else np.minimum(1.0, self.boosts * before)
        s = self.rows.s * (old / now)
        return replace(self, rows=replace(self.rows, s=s * (self.rows.copies.sum() / s.sum())))

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


@dataclass(frozen=True, eq=False)
class Drawn(Sums):
    """Rows of some blocks that are drawn, or may be: the keys decide when all blocks have been seen."""

    numbers: list[IntArray]
    blocks: list[Block]


class Draw:
    """A draw of rows from a source, made in a pass over its blocks.

    Without rare classes it is known beforehand which rows these are: then `numbers` says so.
    """

    def __init__(self, source: Source, size: int, held: int, seed: int, least_share: float) -> None:
        n_rows, self.outputs, self.seed = source.n_rows, source.outputs, seed
        self.size = min(size, n_rows - held)
        self.numbers: IntArray | None = None
        counts = source.outputs.counts
        boosts = None if counts is None or self.size == n_rows else class_boosts(counts, least_share)
        if counts is None or boosts is None:
            self.numbers, self.held = chosen_rows(n_rows, self.size, held, seed)
            return
        _, self.held = chosen_rows(n_rows, 0, held, seed)
        self.boosts = boosts
        self.free = 1.0 if held == 0 else float(uniform(keys_of(self.held, seed)).min())
        self.bound = _reach(counts, boosts, self.size + 10 * self.size**0.5 + 100, self.free)

    def of(self, block: Block) -> Drawn:
        """The rows of a block that are drawn, or may be."""
        if self.numbers is not None:
            own = block.among(self.numbers)
            return Drawn([np.empty(0, dtype=np.int64)], [own])
        numbers = np.arange(block.start, block.start + len(block))
        u = uniform(keys_of(numbers, self.seed))
        near = np.flatnonzero((u < self.free) & (u <= self.bound * self.boosts[self.outputs.strata(block.T)]))
        return Drawn([numbers[near]], [block.take(0, near)])

    def sample(self, drawn: Drawn, workers: Workers) -> Sample:
        """The sample, from what all blocks gave."""
        rows = Block.joined(drawn.blocks)
        if self.numbers is not None:
            return Sample(self.seed, workers, self.outputs, self.numbers, rows)
        numbers = np.concatenate(drawn.numbers)
        boosts = self.boosts[self.outputs.strata(rows.T)]
        everything = Sample(self.seed, workers, self.outputs, numbers, rows, boosts, np.inf)
        if self.size < len(numbers):
            return everything.smallest(self.size)
        return everything


def class_boosts(counts: IntArray, least_share: float) -> FloatArray | None:
    """How much more often rows of each class are drawn to make up a share of a sample; None: no more.

    >>> class_boosts(np.array([5_000, 5_000]), 0.05), class_boosts(np.array([59_940, 60]), 0.05).round(1)
    (None, array([ 1., 50.]))
    """
    boosts = np.maximum(1.0, least_share * counts.sum() / np.maximum(counts, 1))
    return None if boosts.max() == boosts.min() else boosts


def _reach(counts: IntArray, boosts: FloatArray, size: float, free: float) -> float:
    """The divided key up to which about `size` of the rows with keys below `free` lie, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if float(np.sum(counts * np.minimum(free, middle * boosts))) < size:
            low = middle
        else:
            high = middle
    return high
