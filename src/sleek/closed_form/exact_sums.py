"""Sums over rows to 30 digits, which can be added, taken out again and faded, in any order.

With w = [1, φ - o, t - o] for a row, o being an origin near the means, all that the closed form needs is the
one matrix Z = Σ s wwᵀ. It only ever grows by addition, so rows may come one at a time, in batches, from
several sites, and leave again. In float64 that would not do: a hundred thousand additions lose digits. So
every number of Z is kept as an unevaluated sum of two, high + low: what rounding takes from high goes to low.

Products are made by BLAS without error as well (after Ozaki): each column is cut into its first 20 bits, H,
and the rest, L. Products of H are whole multiples of one power of 2, and 4,096 of them add up within 53 bits:
HᵀH is exact. What is left, HᵀL + LᵀH + LᵀL, is a millionth of it, and so are its roundings. (Of a row that
comes alone, products are rounded once; that is far below what its φ are rounded by.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh

from sleek._runtime.json_values import ModelFileError, array_of, check_keys, list_of
from sleek._runtime.sums import total
from sleek._runtime.types import FloatArray
from sleek.closed_form.moments import Moments

BITS = 20  # of a number that go into H
MOST_ROWS = 2 ** (53 - 2 * BITS - 1)  # whose products add up without error
SPLIT = 2.0**27 + 1.0  # cuts 53 bits into two halves
ONE = np.ones(1)
MOST_SHARE = 0.9  # of Z that may be due to means: then centred sums lose less than a digit in float64


@dataclass(frozen=True, eq=False)
class ExactSums:
    """Z = Σ s wwᵀ as high + low, both (1 + m + k, 1 + m + k); products of two different targets are not kept.

    >>> Phi, T, origin = np.array([[0.0], [1.0], [5.0]]), np.array([[-1.0], [1.0], [1.0]]), np.zeros(2)
    >>> whole = ExactSums.of(Phi, T, origin)
    >>> parts = [ExactSums.of(Phi[i : i + 1], T[i : i + 1], origin) for i in (2, 0, 1)]
    >>> bool((total(parts).rounded == whole.rounded).all()), whole.moments.G, (whole - parts[0]).moments.G
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
        if n == 1 and s is None:  # rounded once, and as fast as may be
            w = np.concatenate((ONE, Phi[0], T[0]))
            w[1:] -= origin
            high = w[:, None] * w
            return cls(*_without_pairs(high, np.zeros_like(high), m), origin, m)
        W = np.empty((n, 1 + len(origin)))
        W[:, 0] = 1.0
        W[:, 1 : 1 + m] = Phi
        W[:, 1 + m :] = T
        W[:, 1:] -= origin
        if s is not None and (s == 1.0).all():
            s = None
        some = [slice(start, start + MOST_ROWS) for start in range(0, n, MOST_ROWS)]
        return total(cls(*_products(W[rows], None if s is None else s[rows], m), origin, m) for rows in some)

    @classmethod
    def from_moments(cls, moments: Moments, scale: float = 1.0) -> Self:
        """Those that have these centred moments, times `scale`, about the means."""
        m, k = moments.R.shape
        high = np.zeros((1 + m + k, 1 + m + k))
        high[0, 0] = moments.weight
        high[1 : 1 + m, 1 : 1 + m] = moments.G
        high[1 : 1 + m, 1 + m :], high[1 + m :, 1 : 1 + m] = moments.R, moments.R.T
        high[np.arange(1 + m, 1 + m + k), np.arange(1 + m, 1 + m + k)] = moments.tt
        found = cls(high, np.zeros_like(high), np.concatenate([moments.mean_phi, moments.mean_t]), m)
        return found if scale == 1.0 else found.faded(scale)

    def __add__(self, other: Self) -> Self:
        return self._with(_added(self.high, self.low, other.high, other.low))

    def __sub__(self, other: Self) -> Self:
        return self._with(_added(self.high, self.low, -other.high, -other.low))

    def faded(self, factor: float) -> Self:
        """All weights multiplied by a factor."""
        high, rest = _two_product(factor, self.high)
        return self._with(_renewed(high, rest + factor * self.low))

    def moved(self, origin: FloatArray) -> Self:
        """The same sums about another origin.

        With δ = o - o' and z = Σ s·[φ - o, t - o]: z' = z + S·δ and Z'_ij = Z_ij + δ_i z'_j + z_i δ_j.
        """
        if np.array_equal(origin, self.origin):
            return self
        delta = _added(self.origin, np.zeros_like(origin), -origin, np.zeros_like(origin))
        high, low = _renewed(self.high, self.low)
        S, z = (high[0, 0], low[0, 0]), (high[0, 1:].copy(), low[0, 1:].copy())
        there = _renewed(*_added(*z, *_multiplied(delta, S)))
        one = _multiplied(_column(delta), there)
        both = _added(*one, *_multiplied(_column(z), delta))
        high[1:, 1:], low[1:, 1:] = _added(high[1:, 1:], low[1:, 1:], *both)
        for array, moved in zip((high, low), there, strict=True):
            array[0, 1:] = array[1:, 0] = moved
            array[:] = np.tril(array) + np.tril(array, -1).T
        return type(self)(*_without_pairs(high, low, self.n_units), origin, self.n_units)

    def mended(self) -> Self:
        """The nearest sums that rows can have, where more was taken out than was in: G without negative
        eigenvalues, in float64.
        """
        moments, m = self.moments, self.n_units
        values, vectors = eigh(moments.G)
        high = self.rounded
        z = high[0, 1 : 1 + m]
        high[1 : 1 + m, 1 : 1 + m] = (vectors * np.maximum(values, 0.0)) @ vectors.T + np.outer(
            z, z
        ) / self.weight
        return type(self)(high, np.zeros_like(high), self.origin, m)

    def _with(self, parts: tuple[FloatArray, FloatArray]) -> Self:
        return type(self)(*parts, self.origin, self.n_units)

    @property
    def weight(self) -> float:
        """Σ s."""
        return float(self.high[0, 0] + self.low[0, 0])

    @property
    def rounded(self) -> FloatArray:
        """Z in float64."""
        return self.high + self.low

    @cached_property
    def moments(self) -> Moments:
        """The centred moments in float64."""
        m, Z = self.n_units, self.rounded
        S, z = float(Z[0, 0]), Z[0, 1:]
        shift = z / S
        if (z * shift > MOST_SHARE * Z.diagonal()[1:]).any():
            shift, C = self._far_from_origin()
        else:
            C = Z[1:, 1:] - z[:, None] * shift
        mean = shift + self.origin
        return Moments(S, mean[:m], mean[m:], C[:m, :m], C[:m, m:], C.diagonal()[m:])

    def _far_from_origin(self) -> tuple[FloatArray, FloatArray]:
        """Means and centred sums where these are small differences of large ones: all in two parts."""
        Z, Z_low = _renewed(self.high, self.low)
        S, S_low, z, z_low = float(Z[0, 0]), float(Z_low[0, 0]), Z[0, 1:], Z_low[0, 1:]
        mean = z / S
        product, error = _two_product(S, mean)
        mean_low = ((z - product) - error + (z_low - mean * S_low)) / S
        product, error = _two_product(mean[:, None], z)
        error = error + mean[:, None] * z_low + mean_low[:, None] * z
        return mean, (Z[1:, 1:] - product) + (Z_low[1:, 1:] - error)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values: lower triangles, row by row."""
        parts = {"high": self.high, "low": self.low}
        size = range(len(self.high))
        return {
            "origin": self.origin.tolist(),
            **{name: [array[i, : i + 1].tolist() for i in size] for name, array in parts.items()},
        }

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_units: int, n_outputs: int, where: str) -> Self:
        """What `to_json` wrote, checked."""
        check_keys(block, {"origin", "high", "low"}, f"`{where}`")
        origin = array_of(block["origin"], f"{where}.origin", 1)
        size, found = 1 + n_units + n_outputs, []
        if len(origin) != size - 1:
            raise ModelFileError(f"`{where}.origin` must have {size - 1} numbers, got {len(origin)}.")
        for name in ("high", "low"):
            rows = [array_of(row, f"{where}.{name}", 1) for row in list_of(block[name], f"{where}.{name}")]
            if [len(row) for row in rows] != list(range(1, size + 1)):
                raise ModelFileError(f"`{where}.{name}` must be a triangle of {size} rows.")
            array = np.zeros((size, size))
            for i, row in enumerate(rows):
                array[i, : i + 1] = array[: i + 1, i] = row
            found.append(array)
        if (np.diag(found[0]) < 0).any():
            raise ModelFileError(f"`{where}.high` must not have negative sums of squares.")
        return cls(found[0], found[1], origin, n_units)


def _products(W: FloatArray, s: FloatArray | None, m: int) -> tuple[FloatArray, FloatArray]:
    """Σ s wwᵀ of at most `MOST_ROWS` rows as high + low."""
    H = _first_bits(W)
    L = W - H
    if s is None:
        cross = H.T @ L
        high, low = H.T @ H, cross + cross.T + L.T @ L
    else:
        P, error = _two_product(s[:, None], W)
        first = _first_bits(P)
        high, low = H.T @ first, H.T @ (P - first + error) + L.T @ P
        for array in (high, low):  # which are symmetric together only
            array[:] = np.tril(array) + np.tril(array, -1).T
    return _renewed(*_without_pairs(high, low, m))


def _without_pairs(high: FloatArray, low: FloatArray, m: int) -> tuple[FloatArray, FloatArray]:
    """Products of two different targets, which nobody needs and a fit does not know, are 0."""
    k = len(high) - 1 - m
    if k > 1:
        for array in (high, low):
            array[1 + m :, 1 + m :][~np.eye(k, dtype=bool)] = 0.0
    return high, low


def _first_bits(W: FloatArray) -> FloatArray:
    """Every column rounded to `BITS` bits of its largest number."""
    exponent = np.frexp(np.abs(W).max(axis=0))[1]
    step = np.ldexp(1.5, exponent + (52 - BITS))
    return np.asarray((W + step) - step)


def _two_product(a: Any, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """fl(a·b), and its rounding error (Dekker): their sum is the product."""
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def _halves(a: Any) -> tuple[Any, Any]:
    """The first 26 bits of numbers, and the rest."""
    c = SPLIT * a
    first = c - (c - a)
    return first, a - first


def _column(a: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    return a[0][:, None], a[1][:, None]


def _multiplied(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[FloatArray, FloatArray]:
    """(a + a_low)·(b + b_low) as high + low."""
    product, error = _two_product(a[0], b[0])
    return _renewed(product, error + (a[0] * b[1] + a[1] * b[0]))


def _added(
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


def _renewed(high: FloatArray, low: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same sum with a high part that is the whole, rounded."""
    s = high + low
    return s, low - (s - high)
