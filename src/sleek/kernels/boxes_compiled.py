"""Distances of rows to boxes, and their gradients, compiled, for large blocks of rows.

Names, arguments and results are those of `reference.py`, for float64 and float32, and the technique is that
of absolute distances in `compiled.py`: tiles of rows, turned so that the innermost loop runs over consecutive
rows of one feature. A box has two sides on each feature, but most of them have sharpness 0 when units start
at the leaves of trees, and about half when they are trained: of every unit only the features are visited on
which it has a side.
"""

import numpy as np

from sleek._runtime.types import AnyArray
from sleek.kernels.compiled import TILE_ROWS, _alike, _jit

TILE_UNITS = 16  # whose distances are written together: whole lines of the cache in each row of Z


def box_distance(X: AnyArray, lows: AnyArray, highs: AnyArray, below: AnyArray, above: AnyArray) -> AnyArray:
    """Z_nj = Σ_i above_ji (x_ni - high_ji)₊ + below_ji (low_ji - x_ni)₊, in O(n·m·d) time and O(n·m) memory.

    >>> lows, highs, below, above = np.array([[[0.0, 5.0]], [[0.5, 5.0]], [[9.0, 1.0]], [[4.0, 9.0]]])
    >>> box_distance(np.array([[1.0, 2.0]]), lows, highs, below, above)
    array([[5.]])
    """
    Z: AnyArray = _box_distance(*_alike(X, lows, highs, below, above))
    return Z


def box_distance_vjp(
    X: AnyArray, lows: AnyArray, highs: AnyArray, below: AnyArray, above: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂λ_j for λ = lows, highs, below and above, each (m, d), summed over tiles in float64.

    All sides are visited: those of sharpness 0 have a derivative by their sharpness.
    """
    w_under, w_over, d_below, d_above = _box_distance_vjp(*_alike(X, lows, highs, dZ))
    return below * w_under, -above * w_over, d_below, d_above


@_jit
def _box_distance(X, lows, highs, below, above):  # type: ignore[no-untyped-def]
    n, d = X.shape
    m = len(lows)
    zero = X.dtype.type(0)
    # the features of every unit that have a side, and one more of sharpness 0: they are visited in pairs
    places, counts = np.zeros((m, d + 1), np.int64), np.zeros(m, np.int64)
    boxes = np.zeros((m, d + 1, 4), X.dtype)
    for j in range(m):
        for i in range(d):
            if below[j, i] > 0 or above[j, i] > 0:
                places[j, counts[j]] = i
                boxes[j, counts[j]] = lows[j, i], highs[j, i], below[j, i], above[j, i]
                counts[j] += 1
    Z = np.empty((n, m), X.dtype)
    tile, sums = np.zeros((d, TILE_ROWS), X.dtype), np.empty((TILE_UNITS, TILE_ROWS), X.dtype)
    for start in range(0, n, TILE_ROWS):
        _turn(X[start : start + TILE_ROWS], tile)
        for first in range(0, m, TILE_UNITS):
            for j in range(first, min(first + TILE_UNITS, m)):
                z = sums[j - first]
                z[:] = 0
                for k in range(0, counts[j], 2):
                    x, y = tile[places[j, k]], tile[places[j, k + 1]]
                    l0, h0, q0, p0 = boxes[j, k, 0], boxes[j, k, 1], boxes[j, k, 2], boxes[j, k, 3]
                    k += 1
                    l1, h1, q1, p1 = boxes[j, k, 0], boxes[j, k, 1], boxes[j, k, 2], boxes[j, k, 3]
                    for r in range(TILE_ROWS):
                        a, b = l0 - x[r], x[r] - h0
                        z[r] = z[r] + q0 * (zero if zero > a else a) + p0 * (zero if zero > b else b)
                        a, b = l1 - y[r], y[r] - h1
                        z[r] = z[r] + q1 * (zero if zero > a else a) + p1 * (zero if zero > b else b)
            _turn(sums, Z[start : start + TILE_ROWS, first : first + TILE_UNITS])
    return Z


@_jit
def _box_distance_vjp(X, lows, highs, dZ):  # type: ignore[no-untyped-def]
    """Σ_n dZ_nj times [x < low], [x > high], (low - x)₊ and (x - high)₊."""
    n, d = X.shape
    m = len(lows)
    zero = X.dtype.type(0)
    totals = np.zeros((4, m, d))
    tile, g = np.zeros((d, TILE_ROWS), X.dtype), np.zeros(TILE_ROWS, X.dtype)
    for start in range(0, n, TILE_ROWS):
        weights = dZ[start : start + TILE_ROWS]
        _turn(X[start : start + TILE_ROWS], tile)
        g[len(weights) :] = 0
        for j in range(m):
            for r in range(len(weights)):
                g[r] = weights[r, j]
            for i in range(d):
                x, low, high = tile[i], lows[j, i], highs[j, i]
                w_under = w_over = under = over = zero
                for r in range(TILE_ROWS):
                    u = low - x[r]
                    w = g[r] if u > 0 else zero
                    w_under += w
                    under += w * u
                    u = x[r] - high
                    w = g[r] if u > 0 else zero
                    w_over += w
                    over += w * u
                totals[0, j, i] += w_under
                totals[1, j, i] += w_over
                totals[2, j, i] += under
                totals[3, j, i] += over
    return totals[0], totals[1], totals[2], totals[3]


@_jit
def _turn(A, B):  # type: ignore[no-untyped-def]
    """The transpose of A into B, as far as both go; writing in order is twice as fast as reading in order."""
    for i in range(min(A.shape[1], len(B))):
        for r in range(min(len(A), B.shape[1])):
            B[i, r] = A[r, i]
