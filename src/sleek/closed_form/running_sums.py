"""Sums over rows that can be added, taken out again and faded, in any order and for as long as one likes.

With w = [1, φ - o, t - o] for a row, o being an origin near the means, all that the closed form needs is the
one matrix Z = Σ s wwᵀ. It only ever grows by addition, so rows may come one at a time, in batches, from
several sites, and leave again. A hundred thousand additions in float64 would lose digits, so every number of
Z is kept as an unevaluated sum of two, high + low: what rounding takes from high goes to low. Additions are
then exact to some 30 digits; what is added are products in float64, with the rounding of one pass over rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from sleek._runtime.sums import total
from sleek._runtime.types import FloatArray
from sleek.closed_form.moments import Moments

BLOCK = 1024  # rows whose products are added up by BLAS
ONE = np.ones(1)


@dataclass(frozen=True, eq=False)
class RunningSums:
    """Z = Σ s wwᵀ as high + low, both (1 + m + k, 1 + m + k); products of two different targets are not kept.

    >>> Phi, T, origin = np.array([[0.0], [1.0], [5.0]]), np.array([[-1.0], [1.0], [1.0]]), np.zeros(2)
    >>> whole = RunningSums.of(Phi, T, origin)
    >>> parts = [RunningSums.of(Phi[i : i + 1], T[i : i + 1], origin) for i in (2, 0, 1)]
    >>> bool((total(parts).products == whole.products).all()), whole.moments.G, (whole - parts[0]).moments.G
    (True, array([[14.]]), array([[0.5]]))
    """

    high: FloatArray
    low: FloatArray
    origin: FloatArray  # (m + k,)
    n_units: int

    @classmethod
    def zero(cls, origin: FloatArray, n_units: int) -> Self:
        """Of no row."""
        size = 1 + len(origin)
        return cls(np.zeros((size, size)), np.zeros((size, size)), origin, n_units)

    @classmethod
    def of(cls, Phi: FloatArray, T: FloatArray, origin: FloatArray, s: FloatArray | None = None) -> Self:
        """Of rows with unit values Phi (n, m), targets T (n, k) and weights s, all 1 without them."""
        n, m = Phi.shape
        if n > BLOCK:
            parts = [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]
            return total(cls.of(Phi[p], T[p], origin, None if s is None else s[p]) for p in parts)
        if n == 1 and s is None:  # as fast as may be
            w = np.concatenate((ONE, Phi[0], T[0]))
            w[1:] -= origin
            return cls._of_products(w[:, None] * w, origin, m)
        W = np.column_stack([np.ones(n), np.hstack([Phi, T]) - origin])
        if s is None or (s == 1.0).all():  # the same bits
            return cls._of_products(W.T @ W, origin, m)
        Z = W.T @ (s[:, None] * W)
        return cls._of_products(np.tril(Z) + np.tril(Z, -1).T, origin, m)  # the same on both sides

    @classmethod
    def _of_products(cls, Z: FloatArray, origin: FloatArray, m: int) -> Self:
        """Without products of two different targets, which no formula needs and a fit does not compute."""
        k = len(Z) - 1 - m
        if k > 1:
            Z[1 + m :, 1 + m :][~np.eye(k, dtype=bool)] = 0.0
        return cls(Z, np.zeros_like(Z), origin, m)

    @classmethod
    def from_moments(cls, moments: Moments, scale: float = 1.0) -> Self:
        """Those that have these centred moments, times `scale`, about the means."""
        m, k = moments.R.shape
        high = np.zeros((1 + m + k, 1 + m + k))
        high[0, 0] = moments.weight
        high[1 : 1 + m, 1 : 1 + m] = moments.G
        high[1 : 1 + m, 1 + m :], high[1 + m :, 1 : 1 + m] = moments.R, moments.R.T
        high[np.arange(1 + m, 1 + m + k), np.arange(1 + m, 1 + m + k)] = moments.tt
        return cls(scale * high, np.zeros_like(high), np.concatenate([moments.mean_phi, moments.mean_t]), m)

    def __add__(self, other: Self) -> Self:
        return self._with(*add_exactly(self.high, self.low, other.high, other.low))

    def __sub__(self, other: Self) -> Self:
        return self._with(*add_exactly(self.high, self.low, -other.high, -other.low))

    def fade(self, factor: float) -> Self:
        """All weights multiplied by a factor."""
        return self._with(factor * self.high, factor * self.low)

    def move(self, origin: FloatArray) -> Self:
        """The same sums about another origin.

        With δ = o - o' and z = Σ s·[φ - o, t - o]: z' = z + S·δ and Z'_ij = Z_ij + δ_i z'_j + z_i δ_j.
        """
        if np.array_equal(origin, self.origin):
            return self
        Z, delta = self.products, self.origin - origin
        z = Z[0, 1:].copy()
        Z[0, 1:] = Z[1:, 0] = z + Z[0, 0] * delta
        Z[1:, 1:] += delta[:, None] * Z[0, 1:] + z[:, None] * delta
        return self._of_products(np.tril(Z) + np.tril(Z, -1).T, origin, self.n_units)

    def _with(self, high: FloatArray, low: FloatArray) -> Self:
        return type(self)(high, low, self.origin, self.n_units)

    @property
    def weight(self) -> float:
        """Σ s."""
        return float(self.high[0, 0] + self.low[0, 0])

    @property
    def products(self) -> FloatArray:
        """Z in float64."""
        return self.high + self.low

    @cached_property
    def moments(self) -> Moments:
        """The centred moments."""
        m, Z = self.n_units, self.products
        S, z = float(Z[0, 0]), Z[0, 1:]
        shift = z / S
        C, mean = Z[1:, 1:] - z[:, None] * shift, shift + self.origin
        return Moments(S, mean[:m], mean[m:], C[:m, :m], C[:m, m:], C.diagonal()[m:])

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values: lower triangles, row by row."""
        parts = {"high": self.high, "low": self.low}
        size = range(len(self.high))
        return {
            "origin": self.origin.tolist(),
            **{name: [array[i, : i + 1].tolist() for i in size] for name, array in parts.items()},
        }


def add_exactly(
    a: FloatArray, a_low: FloatArray, b: FloatArray, b_low: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(a + a_low) + (b + b_low) as high + low: Knuth's error of a sum goes into what is low."""
    high = a + b
    v = high - a
    error = high - v
    np.subtract(a, error, out=error)  # in place: memory takes as long as arithmetic here
    np.subtract(b, v, out=v)
    error += v  # (a - (high - v)) + (b - v)
    error += a_low
    error += b_low
    return high, error
