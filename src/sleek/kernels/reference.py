"""Weighted distances of rows to units, and their gradients, in NumPy: the definition.

Letters: X (n, d) rows, centers and shapes (m, d) units, Z (n, m) distances, dZ (n, m) a weight per row
and unit. No temporary is larger than (n, m) or (n, d).
"""

import numpy as np

from sleek._typing import FloatArray


def absolute_distance(X: FloatArray, centers: FloatArray, shapes: FloatArray) -> FloatArray:
    """Z_nj = Σ_i shapes_ji |x_ni - c_ji|, in O(n·m·d) time and O(n·m) memory.

    >>> absolute_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[2.]])
    """
    Z = np.zeros((len(X), len(centers)))
    for x, c, mu in zip(X.T, centers.T, shapes.T, strict=True):
        difference = np.subtract.outer(x, c)  # (n, m)
        np.abs(difference, out=difference)
        difference *= mu
        Z += difference
    return Z


def absolute_distance_vjp(
    X: FloatArray, centers: FloatArray, shapes: FloatArray, dZ: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d).

    ∂Z/∂c = -shapes·sign(x - c) with sign(0) = 0, and ∂Z/∂shapes = |x - c|.
    """
    d_centers, d_shapes = np.empty_like(centers), np.empty_like(shapes)
    for i, (x, c) in enumerate(zip(X.T, centers.T, strict=True)):
        difference = np.subtract.outer(x, c)  # (n, m)
        d_centers[:, i] = np.einsum("nm,nm->m", dZ, np.sign(difference))
        d_shapes[:, i] = np.einsum("nm,nm->m", dZ, np.abs(difference, out=difference))
    d_centers *= -shapes
    return d_centers, d_shapes


def squared_distance(X: FloatArray, centers: FloatArray, shapes: FloatArray) -> FloatArray:
    """Z_nj = Σ_i shapes_ji (x_ni - c_ji)², as two matrix products, in O(n·m·d) time and O(n·(m + d)) memory.

    The square is expanded about the mean of the centres, not about 0: features with a mean far from zero
    would otherwise cancel digits.

    >>> squared_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[3.]])
    """
    origin = centers.mean(axis=0)
    X, c = X - origin, centers - origin
    weighted = shapes * c
    Z: FloatArray = np.square(X) @ shapes.T
    Z -= X @ (2.0 * weighted).T
    Z += np.einsum("md,md->m", weighted, c)
    return np.maximum(Z, 0.0, out=Z)


def squared_distance_vjp(
    X: FloatArray, centers: FloatArray, shapes: FloatArray, dZ: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d), as two matrix products.

    ∂Z/∂c = -2·shapes·(x - c) and ∂Z/∂shapes = (x - c)² = x² - 2cx + c².
    """
    origin = centers.mean(axis=0)
    X, c = X - origin, centers - origin
    w0, w1, w2 = dZ.sum(axis=0)[:, None], dZ.T @ X, dZ.T @ np.square(X)
    return -2.0 * shapes * (w1 - c * w0), w2 - 2.0 * c * w1 + c * c * w0
