"""Levels rated by rows of other folds: what a grouping of the rows says of targets it has not seen.

With W and S the weight and the sum of the (centred) targets of a level's rows, the mean of a level for the
rows of fold f is m = (S - S_f) / (W - W_f + strength): it is drawn towards the overall mean, 0. The share of
the targets' variance that it explains in rows left out is

    gain = Σ_f Σ_l (2 m·S_fl - W_fl |m|²) / Σ s |t|²

which is negative for what only looks like a difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.tables import rules


@dataclass(frozen=True, eq=False)
class Judges:
    """Targets T (n, k), of mean 0 and variance 1, with weights s, and the fold of each row.

    Sums are made in the order `order`; None: as rows are.
    """

    T: FloatArray
    s: FloatArray
    folds: IntArray
    order: IntArray | None

    @classmethod
    def of(cls, T: FloatArray, s: FloatArray, settled: Iterable[AnyArray]) -> Judges:
        """For rows with these columns, one number per row each."""
        order = hashed_order(settled, T) if len(T) <= rules.SORTED_ROWS else None
        rows = slice(None) if order is None else order
        mean = np.average(T[rows], axis=0, weights=s[rows])
        spread = np.sqrt(np.average((T[rows] - mean) ** 2, axis=0, weights=s[rows]))
        scaled = np.divide(T - mean, spread, out=np.zeros_like(T), where=spread > 0)
        folds = np.empty(len(T), dtype=np.int64)
        folds[rows] = folds_of(np.arange(len(T))) if order is None else np.arange(len(T)) % rules.FOLDS
        return cls(scaled, s, folds, order)

    def sums(self, codes: IntArray, n_levels: int) -> LevelSums:
        """Of a grouping of the rows."""
        rows = slice(None) if self.order is None else self.order
        cell, s, T = (self.folds * n_levels + codes)[rows], self.s[rows], self.T[rows]
        size = rules.FOLDS * n_levels
        weight = np.bincount(cell, s, size).astype(np.float64).reshape(rules.FOLDS, n_levels)
        total = np.stack([np.bincount(cell, s * t, size).astype(np.float64) for t in T.T], axis=-1)
        squares = float(s @ (T**2).sum(axis=1))
        return LevelSums(weight, total.reshape(rules.FOLDS, n_levels, -1), squares, len(s))


@dataclass(frozen=True, eq=False)
class LevelSums:
    """Weight (folds, levels) and sum of targets (folds, levels, k) of a grouping."""

    weight: FloatArray
    total: FloatArray
    squares: float
    n_rows: int

    def means(self, strength: float) -> tuple[FloatArray, FloatArray]:
        """The level's means by the rows of other folds, (folds, levels, k), and by all rows, (levels, k)."""
        W, S = self.weight.sum(axis=0), self.total.sum(axis=0)
        others = (S - self.total) / (W - self.weight + strength)[..., None]
        return others, S / (W + strength)[:, None]

    def gain(self, strength: float) -> float:
        """The share of the targets' variance that means by other folds explain."""
        means, _ = self.means(strength)
        explained = 2.0 * means * self.total - self.weight[..., None] * means**2
        return float(explained.sum() / self.squares) if self.squares > 0 else 0.0

    def best(self) -> tuple[float, float]:
        """The strength with the largest gain, and that gain."""
        gains = {strength: self.gain(strength) for strength in rules.STRENGTHS}
        strength = max(gains, key=lambda key: gains[key])
        return strength, gains[strength]

    def merged(self, group: IntArray, size: int) -> LevelSums:
        """The sums of levels that are put together: `group` says where each goes."""
        into = (group[:, None] == np.arange(size)).astype(np.float64)  # (levels, size)
        total = np.einsum("flk,lg->fgk", self.total, into)
        return LevelSums(self.weight @ into, total, self.squares, self.n_rows)

    @property
    def noise(self) -> float:
        """A gain that a grouping of no use has now and then: two of its standard deviations."""
        used = int((self.weight.sum(axis=0) > 0).sum())
        return 2.0 * float(np.sqrt(2.0 * used) / self.n_rows)


def hashed(numbers: IntArray, seed: int) -> AnyArray:
    """A random number below 2⁶⁴ for each row of these numbers."""
    return _mixed(_mixed(numbers.astype(np.uint64)) + np.uint64(seed % 2**32))


def folds_of(numbers: IntArray) -> IntArray:
    """The folds of rows of these numbers."""
    return (_mixed(numbers.astype(np.uint64)) % np.uint64(rules.FOLDS)).astype(np.int64)


def hashed_order(settled: Iterable[AnyArray], T: FloatArray) -> IntArray:
    """Rows in the order of a hash of their values: a random one that depends on nothing else."""
    values, targets = (np.zeros(len(T), dtype=np.uint64) for _ in range(2))
    for column in settled:
        values = _mixed(values ^ _bits(column))
    for t in T.T:
        targets = _mixed(targets ^ _bits(t))
    return np.lexsort((targets, values))


def _mixed(bits: AnyArray) -> AnyArray:
    """The finaliser of the SplitMix64 generator."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def _bits(numbers: AnyArray) -> AnyArray:
    numbers = numbers.astype(np.float64)
    return np.where(np.isnan(numbers), 0.5, numbers + 0.0).view(np.uint64)  # + 0: no minus in front of 0
