"""Random samples of a source's rows that do not depend on blocks, and grow by adding rows.

A row's key is a hash of its number and the seed. A sample consists of the rows with the smallest keys, so a
larger one with the same seed contains the smaller one; rows held out to judge by are those with the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sleek._typing import AnyArray, FloatArray, IntArray
from sleek.bases.base import Scaling
from sleek.sources import Block, ReducibleBlocks, Source
from sleek.targets import Targets
from sleek.workers import Workers

CHUNK = 2**20  # row numbers whose keys are computed at a time


@dataclass(frozen=True, eq=False)
class Sample(ReducibleBlocks):
    """Some rows of another source, in order, held in memory."""

    seed: int
    workers: Workers
    targets: Targets
    numbers: IntArray  # (n,) of the rows in the original source
    rows: Block
    block_rows: int | None = None

    @classmethod
    def draw(cls, source: Source, size: int, seed: int, workers: Workers) -> Sample:
        """A simple random sample without replacement; all rows if there are no more than `size`.

        One pass over the rows, in O(size) memory.
        """
        chosen = Draw.plan(source.n_rows, size, 0, seed)
        pieces = source.map_reduce(lambda block: [chosen.of(block)])
        return chosen.gather(pieces, source.coding, workers)[0]

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def coding(self) -> Targets:
        return self.targets

    def block(self, start: int, n_rows: int) -> Block:
        return self.rows.take(start, slice(start, start + n_rows))

    def take(self, rows: AnyArray, s: FloatArray | None = None) -> Sample:
        """Some of the sample's rows, with other weights if given."""
        block = self.rows.take(0, rows)
        if s is not None:
            block = replace(block, s=s)
        return replace(self, numbers=self.numbers[rows], rows=block)

    def smallest(self, size: int, seed: int | None = None) -> Sample:
        """The sample of `size` rows that a draw would have given, with the same seed or another."""
        if size >= self.n_rows:
            return self
        keys = _keys(self.numbers, self.seed if seed is None else seed)
        return self.take(np.sort(np.argpartition(keys, size)[:size]))

    def scaled(self, scaling: Scaling) -> Sample:
        """The same rows in training units."""
        return replace(self, rows=replace(self.rows, X=scaling.apply(self.rows.X)))

    def with_weight(self, total: float) -> Sample:
        """The same rows, weighing as much as the rows they stand for."""
        s = self.rows.s * (total / self.rows.s.sum())
        return replace(self, rows=replace(self.rows, s=s))


@dataclass(frozen=True, eq=False)
class Draw:
    """Which rows of a source are drawn, and which held out, decided by the number of rows alone."""

    seed: int
    low: np.uint64 | None  # rows up to this key are drawn; None: no row
    high: np.uint64 | None  # rows from this key on are held out

    @classmethod
    def plan(cls, n_rows: int, size: int, held: int, seed: int) -> Draw:
        """Draw `size` rows of `n_rows` and hold out `held` others, in O(size + held) memory."""
        held = min(held, n_rows)
        size = min(size, n_rows - held)
        largest = _smallest_key(n_rows, held, seed, inverted=True)
        return cls(
            seed,
            _smallest_key(n_rows, size, seed, inverted=False),
            None if largest is None else ~largest,
        )

    def of(self, block: Block) -> Piece:
        """What this block contributes."""
        numbers = np.arange(block.start, block.start + len(block))
        keys = _keys(numbers, self.seed)
        drawn = np.zeros(len(block), bool) if self.low is None else keys <= self.low
        held = np.zeros(len(block), bool) if self.high is None else keys >= self.high
        return Piece(
            (numbers[drawn], block.take(0, drawn)),
            (numbers[held], block.take(0, held)),
        )

    def gather(self, pieces: Sequence[Piece], targets: Targets, workers: Workers) -> tuple[Sample, Sample]:
        """The sample and the rows held out."""

        def joined(parts: list[tuple[IntArray, Block]]) -> Sample:
            blocks = [block for _, block in parts]
            rows = Block(
                0,
                np.concatenate([block.X for block in blocks]),
                np.concatenate([block.T for block in blocks]),
                np.concatenate([block.s for block in blocks]),
            )
            numbers = np.concatenate([numbers for numbers, _ in parts])
            return Sample(self.seed, workers, targets, numbers, rows)

        return joined([piece.drawn for piece in pieces]), joined([piece.held for piece in pieces])


@dataclass(frozen=True, eq=False)
class Piece:
    """The rows of one block that were drawn, and those held out, each with their numbers."""

    drawn: tuple[IntArray, Block]
    held: tuple[IntArray, Block]


def _keys(numbers: IntArray, seed: int) -> AnyArray:
    """Pseudo-random 64-bit keys of row numbers (the finaliser of the SplitMix64 generator)."""
    z = (numbers + 1).astype(np.uint64)
    z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _smallest_key(n_rows: int, size: int, seed: int, inverted: bool) -> np.uint64 | None:
    """The key of rank `size` among the rows' keys (or their complements); None for rank 0.

    Keys are uniform, so all that can matter lie below a bound that is almost surely high enough.
    """
    if size == 0:
        return None
    share = 1.0
    if n_rows > CHUNK:
        share = min(1.0, (size + 10 * size**0.5 + 100) / n_rows)
    bound = np.uint64(min(share * 2.0**64, 2.0**64 - 2049))
    found = []
    for start in range(0, n_rows, CHUNK):
        keys = _keys(np.arange(start, min(start + CHUNK, n_rows)), seed)
        keys = ~keys if inverted else keys
        found.append(keys if share == 1.0 else keys[keys <= bound])
    candidates = np.concatenate(found)
    if len(candidates) < size:  # one case in 10²⁰
        candidates = np.concatenate(
            [_keys(np.arange(a, min(a + CHUNK, n_rows)), seed) for a in range(0, n_rows, CHUNK)]
        )
        candidates = ~candidates if inverted else candidates
    rank: np.uint64 = np.partition(candidates, size - 1)[size - 1]
    return rank
