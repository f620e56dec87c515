"""Sums over rows that can be merged: all that the closed form needs to know of the data.

Blocks are merged by the pairwise rule of Chan, Golub and LeVeque: with S = S₁ + S₂ and δ = mean₂ - mean₁,

    mean = mean₁ + δ·S₂/S,    Σ s(x - mean)(x - mean)ᵀ = (sum of block 1) + (sum of block 2) + δδᵀ·S₁S₂/S.

Nothing large is ever subtracted. Raw sums would cancel: with the paper's μ = 0.0001 every φ is almost 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.kernels import centred_products, column_moments

TARGET_BLOCK = 2048  # rows of targets that are worked on at a time


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted first and second moments of the unit values Phi (n, m) and the targets T (n, k).

    >>> Phi, T, s = np.array([[0.0], [1.0], [5.0]]), np.array([[-1.0], [1.0], [1.0]]), np.ones(3)
    >>> both = Moments.of(Phi[:1], T[:1], s[:1]) + Moments.of(Phi[1:], T[1:], s[1:])
    >>> both.weight, both.mean_phi, both.G
    (3.0, array([2.]), array([[14.]]))
    """

    weight: float  # S = Σ s
    mean_phi: FloatArray  # (m,)
    mean_t: FloatArray  # (k,)
    G: FloatArray  # (m, m) Σ s (φ-φ̄)(φ-φ̄)ᵀ
    R: FloatArray  # (m, k) Σ s (φ-φ̄)(t-t̄)ᵀ
    tt: FloatArray  # (k,) Σ s (t-t̄)²

    @classmethod
    def of(cls, Phi: FloatArray, T: FloatArray, s: FloatArray) -> Moments:
        """The moments of one block of rows with weights s > 0."""
        m = Phi.shape[1]
        weight, mean, products = centred_products(Phi, T, s)
        G, R, tt = products[:m, :m], products[:m, m:], np.diag(products[m:, m:]).copy()
        return cls(weight, mean[:m], mean[m:], G, R, tt)

    def __add__(self, other: Moments) -> Moments:
        weight = self.weight + other.weight
        share = other.weight / weight
        a, b = other.mean_phi - self.mean_phi, other.mean_t - self.mean_t
        return Moments(
            weight,
            self.mean_phi + a * share,
            self.mean_t + b * share,
            self.G + other.G + np.outer(a, a * (self.weight * share)),
            self.R + other.R + np.outer(a, b * (self.weight * share)),
            self.tt + other.tt + b**2 * (self.weight * share),
        )


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Weighted mean, sum of squared deviations and range of every column.

    >>> X = np.array([[1.0], [2.0], [6.0]])
    >>> both = ColumnMoments.of(X[:2], np.ones(2)) + ColumnMoments.of(X[2:], np.ones(1))
    >>> both.mean, both.squares
    (array([3.]), array([14.]))
    """

    weight: float
    mean: FloatArray
    squares: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, X: FloatArray, s: FloatArray) -> ColumnMoments:
        """The moments of one block of rows with weights s > 0."""
        with np.errstate(over="ignore"):  # an infinite spread is the caller's to report
            return cls(*column_moments(X, s))

    @classmethod
    def of_blocks(cls, X: FloatArray, s: FloatArray) -> ColumnMoments:
        """The moments of any number of rows, merged block by block: the same as those of rows in a file."""
        blocks = (slice(start, start + TARGET_BLOCK) for start in range(0, len(X), TARGET_BLOCK))
        return reduce(add, (cls.of(np.ascontiguousarray(X[rows]), s[rows]) for rows in blocks))

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        weight = self.weight + other.weight
        share = other.weight / weight
        delta = other.mean - self.mean
        return ColumnMoments(
            weight,
            self.mean + delta * share,
            self.squares + other.squares + delta**2 * (self.weight * share),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def spread(self) -> FloatArray:
        """The standard deviation, and exactly 0 where nothing but rounding is left of it."""
        deviation = np.sqrt(self.squares / self.weight)
        return np.where(deviation > 8 * np.finfo(float).eps * np.abs(self.mean), deviation, 0.0)
