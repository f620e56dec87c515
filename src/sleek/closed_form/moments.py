"""Sums over rows that can be merged: all that the closed form needs to know of the data.

Blocks are merged by the pairwise rule of Chan, Golub and LeVeque: with S = S₁ + S₂ and δ = mean₂ - mean₁,

    mean = mean₁ + δ·S₂/S,    Σ s(x - mean)(x - mean)ᵀ = (sum of block 1) + (sum of block 2) + δδᵀ·S₁S₂/S.

Merging never subtracts anything large. Raw sums would cancel: with the paper's μ = 0.0001 every φ is almost
1. Taking rows out again is the same rule read backwards: with S₁ = S - S₂ and a = mean₂ - mean,

    mean₁ = mean - a·S₂/S₁,    (sum of block 1) = (sum of all) - (sum of block 2) - aaᵀ·S·S₂/S₁.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek.kernels import centred_products
from sleek.outputs.loss import Loss


def has_sums(loss: Loss) -> bool:
    """Whether theta and b follow from sums over rows alone, so that updates and edits are exact."""
    return loss.quadratic


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
        weight, mean, products, tt = centred_products(Phi, T, s)
        return cls(weight, mean[:m], mean[m:], products[:, :m], products[:, m:], tt)

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

    def __sub__(self, other: Moments) -> Moments:
        """The moments of the rows that are left when those of `other` are taken out.

        >>> Phi, T, s = np.array([[0.0], [1.0], [5.0]]), np.array([[-1.0], [1.0], [1.0]]), np.ones(3)
        >>> left = Moments.of(Phi, T, s) - Moments.of(Phi[2:], T[2:], s[2:])
        >>> left.weight, left.mean_phi, left.G
        (2.0, array([0.5]), array([[0.5]]))
        """
        weight = self.weight - other.weight
        if not weight > 0:
            raise ValueError(
                f"Rows of weight {other.weight:g} cannot be taken out of rows of weight {self.weight:g}: "
                "something must be left."
            )
        share = other.weight / weight
        a, b = other.mean_phi - self.mean_phi, other.mean_t - self.mean_t
        return Moments(
            weight,
            self.mean_phi - a * share,
            self.mean_t - b * share,
            self.G - other.G - np.outer(a, a * (self.weight * share)),
            self.R - other.R - np.outer(a, b * (self.weight * share)),
            self.tt - other.tt - b**2 * (self.weight * share),
        )

    def units(self, kept: IntArray) -> Moments:
        """The moments of some of the units alone."""
        return Moments(
            self.weight, self.mean_phi[kept], self.mean_t, self.G[np.ix_(kept, kept)], self.R[kept], self.tt
        )
