"""Weighted absolute distances and their gradients as compiled loops, for large blocks of rows.

Names, arguments and results are those of `reference.py`, for float64 and float32. A tile of rows and features
is copied to a buffer that stays in a core's first-level cache, features as its rows, so that the innermost
loop runs over consecutive numbers of one feature and becomes vector instructions. Two units at a time share
what is loaded. Padding with zeros takes the place of remainder loops: a padded feature or unit has shape 0, a
padded row weight 0.

Squared distances and projections are matrix products: BLAS does them, called from `reference.py`.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from sleek._typing import AnyArray

TILE_ROWS = 128
TILE_FEATURES = 32


def _jit(function: Callable[..., Any]) -> Any:
    """Compile on first call, once for all processes if there is a folder to keep the result in.

    Sums may be reordered and multiplications fused with additions; NaN and infinity keep their meaning.
    """
    options: Any = {"nogil": True, "fastmath": {"reassoc", "nsz", "contract"}}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder can be written to
        return numba.njit(**options)(function)


def absolute_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji |x_ni - c_ji|, in O(n·m·d) time and O(n·m) memory.

    >>> absolute_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[2.]])
    """
    Z: AnyArray = _distance(*_contiguous(X, centers, shapes))
    return Z


def absolute_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d), summed over tiles in float64."""
    X, centers, dZ = _contiguous(X, centers, dZ)
    signs, distances = _distance_vjp(X, centers, dZ)
    return -shapes * signs, distances


def _contiguous(*arrays: AnyArray) -> tuple[AnyArray, ...]:
    """The arrays in C order and of the first one's precision: a loop is compiled once for each precision."""
    return tuple(np.ascontiguousarray(array, dtype=arrays[0].dtype) for array in arrays)


@_jit
def _distance(X, centers, shapes):  # type: ignore[no-untyped-def]
    n, d = X.shape
    m = len(centers)
    Z = np.empty((n, m), X.dtype)
    tile = np.zeros((TILE_FEATURES, TILE_ROWS), X.dtype)
    c, mu = np.zeros((m + 1, TILE_FEATURES), X.dtype), np.zeros((m + 1, TILE_FEATURES), X.dtype)
    z0, z1 = np.empty(TILE_ROWS, X.dtype), np.empty(TILE_ROWS, X.dtype)
    for first in range(0, d, TILE_FEATURES):
        width = min(TILE_FEATURES, d - first)
        tile[:] = 0
        c[:] = 0
        mu[:] = 0
        c[:m, :width] = centers[:, first : first + width]
        mu[:m, :width] = shapes[:, first : first + width]
        for start in range(0, n, TILE_ROWS):
            rows, out = X[start : start + TILE_ROWS, first : first + width], Z[start : start + TILE_ROWS]
            height = len(rows)
            for r in range(height):
                for i in range(width):
                    tile[i, r] = rows[r, i]
            for j in range(0, m, 2):
                c0, c1, mu0, mu1 = c[j], c[j + 1], mu[j], mu[j + 1]
                z0[:] = 0
                z1[:] = 0
                for i in range(0, width, 2):
                    x0, x1 = tile[i], tile[i + 1]
                    a0, a1, b0, b1 = c0[i], c0[i + 1], c1[i], c1[i + 1]
                    p0, p1, q0, q1 = mu0[i], mu0[i + 1], mu1[i], mu1[i + 1]
                    for r in range(TILE_ROWS):
                        u, v = x0[r], x1[r]
                        z0[r] = z0[r] + p0 * abs(u - a0) + p1 * abs(v - a1)
                        z1[r] = z1[r] + q0 * abs(u - b0) + q1 * abs(v - b1)
                if first > 0:  # what earlier features add up to
                    for r in range(height):
                        z0[r] += out[r, j]
                        z1[r] += out[r, min(j + 1, m - 1)]
                if j + 1 < m:
                    for r in range(height):
                        out[r, j] = z0[r]
                        out[r, j + 1] = z1[r]
                else:
                    for r in range(height):
                        out[r, j] = z0[r]
    return Z


@_jit
def _distance_vjp(X, centers, dZ):  # type: ignore[no-untyped-def]
    """Σ_n dZ_nj sign(x_ni - c_ji) and Σ_n dZ_nj |x_ni - c_ji|."""
    n, d = X.shape
    m = len(centers)
    zero = X.dtype.type(0)
    signs, distances = np.zeros((m + 1, d)), np.zeros((m + 1, d))
    tile = np.zeros((TILE_FEATURES, TILE_ROWS), X.dtype)
    c = np.zeros((m + 1, d), X.dtype)
    c[:m] = centers
    g0, g1 = np.zeros(TILE_ROWS, X.dtype), np.zeros(TILE_ROWS, X.dtype)
    for start in range(0, n, TILE_ROWS):
        weights = dZ[start : start + TILE_ROWS]
        height = len(weights)
        g0[:] = 0
        g1[:] = 0
        for first in range(0, d, TILE_FEATURES):
            rows = X[start : start + TILE_ROWS, first : first + TILE_FEATURES]
            width = rows.shape[1]
            for r in range(height):
                for i in range(width):
                    tile[i, r] = rows[r, i]
            for j in range(0, m, 2):
                if j + 1 < m:
                    for r in range(height):
                        g0[r] = weights[r, j]
                        g1[r] = weights[r, j + 1]
                else:
                    for r in range(height):
                        g0[r] = weights[r, j]
                        g1[r] = 0
                c0, c1 = c[j, first : first + width], c[j + 1, first : first + width]
                for i in range(width):
                    x, a, b = tile[i], c0[i], c1[i]
                    s0 = s1 = t0 = t1 = zero
                    for r in range(TILE_ROWS):
                        u = x[r] - a
                        h = g0[r] if u > 0 else (-g0[r] if u < 0 else zero)
                        s0 += h
                        t0 += h * u
                        v = x[r] - b
                        h = g1[r] if v > 0 else (-g1[r] if v < 0 else zero)
                        s1 += h
                        t1 += h * v
                    signs[j, first + i] += s0
                    distances[j, first + i] += t0
                    signs[j + 1, first + i] += s1
                    distances[j + 1, first + i] += t1
    return signs[:m], distances[:m]
