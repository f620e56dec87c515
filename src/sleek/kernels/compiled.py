"""The loops over rows, features and units, compiled, for large blocks of rows.

Names, arguments and results are those of `reference.py`, for float64 and float32. All of them work on tiles
of rows that stay in a core's cache, and none holds Python's lock: a few calls for each block, long enough for
threads to run side by side, where NumPy would take and leave the lock dozens of times.

Absolute distances are loops: a tile is turned so that the innermost loop runs over consecutive rows of one
feature and becomes vector instructions, two units at a time share what is loaded, and padding with zeros
takes the place of remainder loops (a padded feature or unit has shape 0, a padded row weight 0). Squared
distances, projections and moments are matrix products, done by BLAS tile by tile.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from sleek._runtime.types import AnyArray
from sleek.kernels import reference
from sleek.kernels.reference import FAR, far_distance, far_distance_vjp, midst_of

TILE_ROWS = 128  # of absolute distances
TILE_FEATURES = 32
LOOPED_OUTPUTS = 8  # of more, matrix products of whole blocks are faster: 18 in 0.4 of the time
GEMM_ROWS = 512  # of a matrix product: with 30 units and 28 features 0.4 MB, half a core's second-level cache


def _jit(function: Callable[..., Any]) -> Any:
    """Compile on first call, once for all processes if there is a folder to keep the result in.

    Sums may be reordered and multiplications fused with additions; NaN and infinity keep their meaning.
    """
    options: Any = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "nsz", "contract"}}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder can be written to
        return numba.njit(**options)(function)


def absolute_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji |x_ni - c_ji|, in O(n·m·d) time and O(n·m) memory.

    >>> absolute_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[2.]])
    """
    Z: AnyArray = _absolute_distance(*_alike(X, centers, shapes))
    return Z


def absolute_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d), summed over tiles in float64."""
    signs, distances = _absolute_distance_vjp(*_alike(X, centers, dZ))
    return -shapes * signs, distances


def squared_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji (x_ni - c_ji)² = E·[shapes, -2·shapes·c, Σ shapes·c²]ᵀ with E = [x², x, 1].

    x and c are taken about the midst of the centres: features far from zero would cancel digits.

    >>> squared_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[3.]])
    """
    origin = midst_of(centers, shapes)
    c = centers - origin
    weighted = shapes * c
    constant = np.einsum("md,md->m", weighted, c)
    W = np.concatenate([shapes.T, -2.0 * weighted.T, constant[None]])  # (2d + 1, m)
    Z: AnyArray = _squared_distance(*_alike(X, origin, W))
    far = constant > FAR
    if far.any():
        Z[:, far] = far_distance(X, centers[far], shapes[far])
    return Z


def squared_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d), both from dZᵀE."""
    d = X.shape[1]
    origin = midst_of(centers, shapes)
    c = centers - origin
    W = _squared_distance_vjp(*_alike(X, origin, dZ))
    w2, w1, w0 = W[:, :d], W[:, d:-1], W[:, -1:]
    d_centers, d_shapes = -2.0 * shapes * (w1 - c * w0), w2 - 2.0 * c * w1 + c * c * w0
    far = np.einsum("md,md,md->m", shapes, c, c) > FAR
    if far.any():
        d_centers[far], d_shapes[far] = far_distance_vjp(X, centers[far], shapes[far], dZ[:, far])
    return d_centers, d_shapes


def projection(X: AnyArray, slopes: AnyArray, offsets: AnyArray) -> AnyArray:
    """Z_nj = Σ_i slopes_ji x_ni + offsets_j.

    >>> projection(np.array([[1.0, 2.0]]), np.array([[1.0, 0.5]]), np.array([3.0]))
    array([[5.]])
    """
    Z: AnyArray = _projection(*_alike(X, slopes.T, offsets))
    return Z


def projection_vjp(X: AnyArray, dZ: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂slopes_j (m, d) and Σ_n dZ_nj (m,)."""
    d_slopes, d_offsets = _projection_vjp(*_alike(X, dZ))
    return d_slopes, d_offsets


def centred_products(A: AnyArray, B: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray]:
    """Σs, the weighted mean of the rows of [A, B], and Σ s·(row - mean)(row - mean)ᵀ."""
    weight, mean, products = _centred_products(*_alike(A, B, s))
    return weight, mean, products


def output_gradient(Phi: AnyArray, T: AnyArray, s: AnyArray, theta: AnyArray, b: AnyArray) -> AnyArray:
    """dΦ = -s·(t - Φθ - b)·θᵀ, the derivative of ½ Σ s r² by every unit value.

    >>> output_gradient(np.ones((1, 1)), np.ones((1, 1)), np.ones(1), np.full((1, 1), 3.0), np.zeros(1))
    array([[6.]])
    """
    if len(b) > LOOPED_OUTPUTS:
        return reference.output_gradient(*_alike(Phi, T, s, theta, b))
    dPhi: AnyArray = _output_gradient(*_alike(Phi, T, s, theta, b))
    return dPhi


def column_moments(X: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σs, and the weighted mean, Σ s·(x - mean)², least and largest value of every column."""
    weight, mean, squares, low, high = _column_moments(*_alike(X, s))
    return weight, mean, squares, low, high


def _alike(*arrays: AnyArray) -> tuple[AnyArray, ...]:
    """The arrays in C order and of the first one's precision: a loop is compiled once for each precision."""
    return tuple(np.ascontiguousarray(array, dtype=arrays[0].dtype) for array in arrays)


@_jit
def _squared_distance(X, origin, W):  # type: ignore[no-untyped-def]
    n, d = X.shape
    m = W.shape[1]
    Z = np.empty((n, m), X.dtype)
    E = np.ones((GEMM_ROWS, 2 * d + 1), X.dtype)
    for start in range(0, n, GEMM_ROWS):
        rows, z = X[start : start + GEMM_ROWS], Z[start : start + GEMM_ROWS]
        e = E[: len(rows)]
        _expand(rows, origin, e)
        np.dot(e, W, z)
        for r in range(len(rows)):
            for j in range(m):
                z[r, j] = abs(z[r, j])  # rounding may turn a distance of 0, or one of huge terms, negative
    return Z


@_jit
def _squared_distance_vjp(X, origin, dZ):  # type: ignore[no-untyped-def]
    n, d = X.shape
    m = dZ.shape[1]
    total = np.zeros((m, 2 * d + 1))
    part = np.empty((m, 2 * d + 1), X.dtype)
    E = np.ones((GEMM_ROWS, 2 * d + 1), X.dtype)
    for start in range(0, n, GEMM_ROWS):
        rows, weights = X[start : start + GEMM_ROWS], dZ[start : start + GEMM_ROWS]
        e = E[: len(rows)]
        _expand(rows, origin, e)
        np.dot(weights.T, e, part)
        for j in range(m):
            for i in range(2 * d + 1):
                total[j, i] += part[j, i]
    return total


@_jit
def _expand(rows, origin, e):  # type: ignore[no-untyped-def]
    """[x², x] about the origin, into the first 2d columns of e."""
    d = rows.shape[1]
    for r in range(len(rows)):
        for i in range(d):
            x = rows[r, i] - origin[i]
            e[r, i] = x * x
            e[r, d + i] = x


@_jit
def _projection(X, slopes, offsets):  # type: ignore[no-untyped-def]
    n, m = len(X), len(offsets)
    Z = np.empty((n, m), X.dtype)
    for start in range(0, n, GEMM_ROWS):
        z = Z[start : start + GEMM_ROWS]
        np.dot(X[start : start + GEMM_ROWS], slopes, z)
        for r in range(len(z)):
            for j in range(m):
                z[r, j] += offsets[j]
    return Z


@_jit
def _projection_vjp(X, dZ):  # type: ignore[no-untyped-def]
    n, d = X.shape
    m = dZ.shape[1]
    d_slopes, d_offsets = np.zeros((m, d)), np.zeros(m)
    part = np.empty((m, d), X.dtype)
    for start in range(0, n, GEMM_ROWS):
        weights = dZ[start : start + GEMM_ROWS]
        np.dot(weights.T, X[start : start + GEMM_ROWS], part)
        for j in range(m):
            for i in range(d):
                d_slopes[j, i] += part[j, i]
        for r in range(len(weights)):
            for j in range(m):
                d_offsets[j] += weights[r, j]
    return d_slopes, d_offsets


@_jit
def _output_gradient(Phi, T, s, theta, b):  # type: ignore[no-untyped-def]
    n, m = Phi.shape
    k = len(b)
    dPhi = np.empty((n, m), Phi.dtype)
    transposed = np.ascontiguousarray(theta.T)
    for r in range(n):
        for q in range(k):
            error = b[q] - T[r, q]
            for j in range(m):
                error += Phi[r, j] * transposed[q, j]
            error *= s[r]
            if q == 0:
                for j in range(m):
                    dPhi[r, j] = error * transposed[0, j]
            else:
                for j in range(m):
                    dPhi[r, j] += error * transposed[q, j]
    return dPhi


@_jit
def _column_moments(X, s):  # type: ignore[no-untyped-def]
    n, d = X.shape
    weight, mean, squares = 0.0, np.zeros(d), np.zeros(d)
    low, high = X[0].copy(), X[0].copy()
    for r in range(n):
        weight += s[r]
        for i in range(d):
            x = X[r, i]
            mean[i] += s[r] * x
            low[i] = min(low[i], x)
            high[i] = max(high[i], x)
    for i in range(d):
        mean[i] /= weight
    for r in range(n):
        for i in range(d):
            difference = X[r, i] - mean[i]
            squares[i] += s[r] * difference * difference
    return weight, mean, squares, low, high


@_jit
def _centred_products(A, B, s):  # type: ignore[no-untyped-def]
    n, m = A.shape
    k = B.shape[1]
    weight, mean = 0.0, np.zeros(m + k)
    for r in range(n):
        weight += s[r]
        for j in range(m):
            mean[j] += s[r] * A[r, j]
        for j in range(k):
            mean[m + j] += s[r] * B[r, j]
    for j in range(m + k):
        mean[j] /= weight
    products = np.zeros((m + k, m + k))
    part, V = np.empty((m + k, m + k)), np.empty((GEMM_ROWS, m + k))
    for start in range(0, n, GEMM_ROWS):
        v = V[: min(GEMM_ROWS, n - start)]
        for r in range(len(v)):
            root = np.sqrt(s[start + r])
            for j in range(m):
                v[r, j] = root * (A[start + r, j] - mean[j])
            for j in range(k):
                v[r, m + j] = root * (B[start + r, j] - mean[m + j])
        np.dot(v.T, v, part)
        products += part
    return weight, mean, products


@_jit
def _absolute_distance(X, centers, shapes):  # type: ignore[no-untyped-def]
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
def _absolute_distance_vjp(X, centers, dZ):  # type: ignore[no-untyped-def]
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
