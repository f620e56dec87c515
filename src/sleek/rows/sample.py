"""Random samples of a source's rows that do not depend on blocks, and grow by adding rows.

A row's key u in [0, 1) is a hash of its number, or of that of its group, and the seed. A sample consists of
the rows with the smallest keys, so a larger one with the same seed contains the smaller one; rows held out
for validation are those of each class with the largest.

Where a class is so rare that a sample would have a handful of its rows, they are drawn more often: the key
of a row is divided by its class's boost f ≥ 1 (sequential Poisson sampling). A row is then drawn with a
probability of min(1, f·t), t being the largest divided key in the sample, and weighs the inverse of that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sleek._runtime.sums import Sums
from sleek._runtime.threads import Workers
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.kernels import LARGE_BLOCK
from sleek.outputs.base import Outputs
from sleek.rows.dealing import apportion
from sleek.rows.keys import CHUNK, keys_of, uniform
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
        cls,
        source: Source,
        size: int,
        seed: int,
        workers: Workers,
        held: int = 0,
        least_share: float = 0.0,
        together: int = 1,
        last: bool = False,
    ) -> Sample:
        """A random sample without replacement of the rows that are not held out; all of them if they are few.

        Every class makes up at least `least_share` of it, as far as there are rows. One pass over the rows,
        in O(size) memory. `Draw` has the parameters.
        """
        draw = Draw(source, size, held, seed, least_share, together, last)
        if draw.numbers is not None:
            rows = source.rows_at(draw.numbers)
            return draw.sample(cls(seed, workers, source.outputs, draw.numbers, rows))
        return draw.samples(source.map_reduce(draw.of), workers)[0]

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
        keys = keys_of(_ids(self.rows, self.numbers), self.seed if seed is None else seed)
        if self.boosts is None or seed is not None:
            return self.take(np.sort(np.argpartition(keys, size)[:size]))
        keys = uniform(keys) / self.boosts
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

        self.workers.map_list(fill, range(0, len(X), LARGE_BLOCK))
        return replace(self, rows=replace(self.rows, X=scaled))

    def with_weight(self, total: float) -> Sample:
        """The same rows, weighing as much as the rows they stand for."""
        factor = total / self.rows.s.sum()
        rows = replace(self.rows, s=self.rows.s * factor, copies=self.rows.copies * factor)
        return replace(self, rows=rows)


@dataclass(frozen=True, eq=False)
class Drawn(Sums):
    """Rows of some blocks that are drawn or held out, or may be: keys decide when all blocks were seen."""

    numbers: list[IntArray]
    blocks: list[Block]


class Draw:
    """A draw of rows from a source, and rows held out of it, made in one pass over its blocks.

    Of each class the same share is held out: the rows with the largest keys. Rows of a group have one key, so
    that they are held out together, whatever their classes; or the last rows are held out, in order. Keys are
    uniform: those that matter lie, but for one case in 10²⁰, below or above bounds that are known beforehand,
    and memory is O(size + held).

    Parameters
    ----------
    source : Source
    size : int
        The rows to draw.
    held : int
        The rows to hold out: as many, but for groups.
    seed : int
    least_share : float
        The share of the drawn rows that every class makes up, as far as it has rows.
    together : int, default=1
        How many rows the largest group has; 1: there are no groups.
    last : bool, default=False
        Whether the last rows are held out.
    """

    def __init__(
        self,
        source: Source,
        size: int,
        held: int,
        seed: int,
        least_share: float,
        together: int = 1,
        last: bool = False,
    ) -> None:
        self.outputs, self.seed = source.outputs, seed
        self.size = min(size, source.n_rows - held)
        counts, self.boosts = source.outputs.counts, None
        if counts is None or last:
            counts = np.array([source.n_rows])
        elif self.size < source.n_rows:
            self.boosts = class_boosts(counts, least_share)
        boosts = np.ones(len(counts)) if self.boosts is None else self.boosts
        self.by_class = together == 1 and not last  # whether each class has its share of what is held out
        self.held_counts = apportion(held, counts) if self.by_class else np.array([held])
        of = counts if self.by_class else np.array([source.n_rows])
        free = np.broadcast_to(1.0 - self.held_counts / np.maximum(of, 1), len(counts))
        spare = 10 * (together * self.size) ** 0.5 + 100 * together
        if last:  # keys of rows that are not held out may be any
            counts, free = counts - held, np.ones(1)
        self.low = _reach(counts, boosts, self.size + spare, free) * boosts
        near = self.held_counts + 10 * (together * self.held_counts) ** 0.5 + 100 * together
        self.high = np.where(self.held_counts > 0, 1.0 - near / np.maximum(of, 1), 1.0)
        self.first_held = source.n_rows - held if last else None
        strata = source.strata() if together == 1 else None
        self.known = None if strata is None else self._known(strata)

    @property
    def numbers(self) -> IntArray | None:
        """The rows drawn, if their numbers are known before the pass: classes are known, and no groups."""
        return None if self.known is None else self.known.drawn

    def _known(self, strata: IntArray) -> _Chosen:
        near = [
            start + self._near(numbers, numbers, some)
            for start in range(0, len(strata), CHUNK)
            for some in [strata[start : start + CHUNK]]
            for numbers in [np.arange(start, start + len(some))]
        ]
        numbers = np.concatenate(near)
        chosen = self._choose(numbers, numbers, strata[numbers])
        return _Chosen(numbers[chosen.drawn], numbers[chosen.held], chosen.reach)

    def _near(self, numbers: IntArray, ids: IntArray, strata: IntArray) -> IntArray:
        """The places of those that are drawn or held out, or may be."""
        u = uniform(keys_of(ids, self.seed))
        if self.first_held is not None:
            return np.flatnonzero((u <= self.low[0]) | (numbers >= self.first_held))
        high = self.high[strata] if self.by_class else self.high[0]
        return np.flatnonzero((u <= self.low[strata]) | (u >= high))

    def _choose(self, numbers: IntArray, ids: IntArray, strata: IntArray) -> _Chosen:
        """The places of those that are drawn and held out."""
        u = uniform(keys_of(ids, self.seed))
        held = np.zeros(len(u), dtype=bool)
        if self.first_held is not None:
            held = numbers >= self.first_held
        else:
            own_strata = strata if self.by_class else np.zeros_like(strata)
            for stratum, count in enumerate(self.held_counts.tolist()):
                own = np.flatnonzero(own_strata == stratum) if count else np.empty(0, dtype=np.int64)
                if len(own):
                    held[own] = u[own] >= np.sort(u[own])[-count]  # all rows of a group have its key
        free = np.flatnonzero(~held)
        if self.size >= len(free):
            return _Chosen(free, np.flatnonzero(held), np.inf)
        keys = u[free] if self.boosts is None else u[free] / self.boosts[strata[free]]
        drawn = np.argpartition(keys, self.size)[: self.size]
        return _Chosen(np.sort(free[drawn]), np.flatnonzero(held), float(keys[drawn].max(initial=0.0)))

    def of(self, block: Block) -> Drawn:
        """The rows of a block that are drawn or held out, or may be."""
        numbers = np.arange(block.start, block.start + len(block))
        if self.known is None:
            near = self._near(numbers, _ids(block, numbers), self.outputs.strata(block.T))
        else:
            ends = (block.start, block.start + len(block))
            parts = [part[slice(*np.searchsorted(part, ends))] for part in self.known[:2]]
            near = np.sort(np.concatenate(parts)) - block.start
        return Drawn([numbers[near]], [block.take(0, near)])

    def samples(self, drawn: Drawn, workers: Workers) -> tuple[Sample, Sample]:
        """The rows drawn and those held out, from what all blocks gave."""
        numbers, rows = np.concatenate(drawn.numbers), Block.joined(drawn.blocks)
        drawn.blocks.clear()  # else all rows would be there twice
        everything = Sample(self.seed, workers, self.outputs, numbers, rows)
        if self.known is None:
            chosen = self._choose(numbers, _ids(rows, numbers), self.outputs.strata(rows.T))
        else:
            drawn_at, held_at = (np.searchsorted(numbers, part) for part in self.known[:2])
            chosen = _Chosen(drawn_at, held_at, self.known.reach)
        return self.sample(everything.take(chosen.drawn), chosen.reach), everything.take(chosen.held)

    def sample(self, rows: Sample, reach: float | None = None) -> Sample:
        """The rows drawn, weighing the inverse of how often rows of their class are."""
        if self.boosts is None:
            return rows
        reach = self.known.reach if reach is None and self.known is not None else reach
        boosts = self.boosts[self.outputs.strata(rows.rows.T)]
        boosted = replace(rows, boosts=boosts, reach=np.inf if reach is None else reach)
        return boosted if boosted.reach == np.inf else boosted.reweighted()


class _Chosen(NamedTuple):
    drawn: IntArray
    held: IntArray
    reach: float  # the largest divided key among those drawn


def _ids(rows: Block, numbers: IntArray) -> IntArray:
    """What the key of a row is made of: its group, or its number."""
    return numbers if rows.groups is None else rows.groups


def class_boosts(counts: IntArray, least_share: float) -> FloatArray | None:
    """How much more often rows of each class are drawn to make up a share of a sample; None: no more.

    >>> class_boosts(np.array([5_000, 5_000]), 0.05), class_boosts(np.array([59_940, 60]), 0.05).round(1)
    (None, array([ 1., 50.]))
    """
    boosts = np.maximum(1.0, least_share * counts.sum() / np.maximum(counts, 1))
    return None if boosts.max() == boosts.min() else boosts


def _reach(counts: IntArray, boosts: FloatArray, size: float, free: FloatArray) -> float:
    """The divided key up to which about `size` of the rows with keys below `free` lie, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if float(np.sum(counts * np.minimum(free, middle * boosts))) < size:
            low = middle
        else:
            high = middle
    return high
