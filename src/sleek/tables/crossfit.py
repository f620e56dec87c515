"""Cross-fitted target encoding: the mean target of a category level, by the rows of other folds.

With W and S the weight and the sum of the (centred) targets of a level's rows, the mean of a level for the
rows of fold f is m = (S - S_f) / (W - W_f + strength): it is drawn towards the overall mean, 0. The share of
the targets' variance that it explains in held-out folds is

    gain = Σ_f Σ_l (2 m·S_fl - W_fl |m|²) / Σ s |t|²

which is negative for what only looks like a difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sleek._runtime.mixing import GOLDEN, mix
from sleek._runtime.sums import Sums, total
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.kernels.column_statistics import ColumnMoments
from sleek.tables import rules

BLOCK_ROWS = 2048  # of sums over many rows


@dataclass(frozen=True, eq=False)
class Judges:
    """Targets T (n, k) with weights s, and the fold of each row.

    Few rows are taken in the order `order`, their targets of mean 0 and variance 1. Many are taken as they
    are, in blocks cut by row number, as rows of files and clusters are: then `moments` say mean and variance.
    """

    T: FloatArray
    s: FloatArray
    folds: IntArray
    order: IntArray | None
    moments: ColumnMoments | None = None

    @classmethod
    def of(
        cls, T: FloatArray, s: FloatArray, settled: Iterable[AnyArray], groups: IntArray | None = None
    ) -> Judges:
        """For rows with these columns, one number per row each; rows of a group are in one fold."""
        if len(T) > rules.SORTED_ROWS:
            moments = total(
                ColumnMoments.of(np.ascontiguousarray(T[rows]), s[rows]) for rows in _blocks(len(T))
            )
            return cls(T, s, folds_of(np.arange(len(T)) if groups is None else groups), None, moments)
        order = hashed_order(settled, T)
        mean = np.average(T[order], axis=0, weights=s[order])
        spread = np.sqrt(np.average((T[order] - mean) ** 2, axis=0, weights=s[order]))
        scaled = np.divide(T - mean, spread, out=np.zeros_like(T), where=spread > 0)
        folds = np.empty(len(T), dtype=np.int64)
        folds[order] = np.arange(len(T)) % rules.FOLDS
        return cls(scaled, s, folds if groups is None else folds_of(groups), order)

    def sums(self, codes: IntArray, n_levels: int) -> LevelSums:
        """Of a grouping of the rows."""
        folds, s, T = self.folds, self.s, self.T
        if self.moments is not None:
            raw = total(
                RawSums.of(folds[rows], codes[rows], n_levels, T[rows], s[rows]) for rows in _blocks(len(T))
            )
            return raw.centred(self.moments, len(T))
        rows = self.order
        raw = RawSums.of(folds[rows], codes[rows], n_levels, T[rows], s[rows])
        return LevelSums(raw.weight, raw.total, float(s[rows] @ (T[rows] ** 2).sum(axis=1)), len(s))


@dataclass(frozen=True, eq=False)
class RawSums(Sums):
    """Weight (folds, levels) and sum of targets (folds, levels, k) of some rows, targets as they are."""

    weight: FloatArray
    total: FloatArray

    @classmethod
    def of(cls, folds: IntArray, codes: IntArray, n_levels: int, T: FloatArray, s: FloatArray) -> RawSums:
        """Of rows in these folds, and groups."""
        cell, size = folds * n_levels + codes, rules.FOLDS * n_levels
        weight = np.bincount(cell, s, size).astype(np.float64)
        sums = np.stack([np.bincount(cell, s * t, size).astype(np.float64) for t in T.T], axis=-1)
        return cls(weight.reshape(rules.FOLDS, n_levels), sums.reshape(rules.FOLDS, n_levels, -1))

    def centred(self, moments: ColumnMoments, n_rows: int) -> LevelSums:
        """The same for targets of mean 0 and variance 1."""
        spread = np.sqrt(moments.squares / moments.weight)
        scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        centred = (self.total - self.weight[..., None] * moments.mean) * scale
        return LevelSums(self.weight, centred, float(moments.weight * (scale > 0).sum()), n_rows)


def _blocks(n_rows: int) -> list[slice]:
    return [slice(start, start + BLOCK_ROWS) for start in range(0, n_rows, BLOCK_ROWS)]


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
        """The gain that a useless grouping has by chance: two of its standard deviations."""
        used = int((self.weight.sum(axis=0) > 0).sum())
        return 2.0 * float(np.sqrt(2.0 * used) / self.n_rows)


def folds_of(numbers: IntArray) -> IntArray:
    """The folds of rows of these numbers."""
    return (mix(numbers.astype(np.uint64) + GOLDEN) % np.uint64(rules.FOLDS)).astype(np.int64)


def hashed_order(settled: Iterable[AnyArray], T: FloatArray) -> IntArray:
    """Rows in the order of a hash of their values: a random one that depends on nothing else."""
    values, targets = (np.zeros(len(T), dtype=np.uint64) for _ in range(2))
    for column in settled:
        values = mix((values ^ _bits(column)) + GOLDEN)
    for t in T.T:
        targets = mix((targets ^ _bits(t)) + GOLDEN)
    return np.lexsort((targets, values))


def _bits(numbers: AnyArray) -> AnyArray:
    numbers = numbers.astype(np.float64)
    return np.where(np.isnan(numbers), 0.5, numbers + 0.0).view(np.uint64)  # + 0: no minus in front of 0
