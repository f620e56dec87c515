"""Weighted distances of rows to units, and their gradients, in NumPy: the definition.

Letters: X (n, d) rows, centers and shapes (m, d) units, Z (n, m) distances, dZ (n, m) a weight per row
and unit. Results have the precision of X, float64 or float32.
"""

import numpy as np

from sleek._typing import AnyArray

SMALL = 2**14  # numbers n·m·d up to which one broadcast beats a loop over features
NEAR = 1e3  # Σ shapes·c² up to which centres are near 0: rounding in float64 is then below 1e-12


def absolute_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji |x_ni - c_ji|, in O(n·m·d) time and O(n·m) memory.

    >>> absolute_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[2.]])
    """
    centers, shapes = centers.astype(X.dtype, copy=False), shapes.astype(X.dtype, copy=False)
    if X.size * len(centers) <= SMALL:
        difference = X[:, None, :] - centers  # (n, m, d)
        small: AnyArray = np.einsum("nmd,md->nm", np.abs(difference, out=difference), shapes)
        return small
    Z = np.zeros((len(X), len(centers)), X.dtype)
    for x, c, mu in zip(X.T, centers.T, shapes.T, strict=True):
        difference = np.subtract.outer(x, c)  # (n, m)
        np.abs(difference, out=difference)
        difference *= mu
        Z += difference
    return Z


def absolute_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d).

    ∂Z/∂c = -shapes·sign(x - c) with sign(0) = 0, and ∂Z/∂shapes = |x - c|.
    """
    d_centers, d_shapes = np.empty(centers.shape), np.empty(shapes.shape)
    for i, (x, c) in enumerate(zip(X.T, centers.astype(X.dtype, copy=False).T, strict=True)):
        difference = np.subtract.outer(x, c)  # (n, m)
        d_centers[:, i] = np.einsum("nm,nm->m", dZ, np.sign(difference))
        d_shapes[:, i] = np.einsum("nm,nm->m", dZ, np.abs(difference, out=difference))
    d_centers *= -shapes
    return d_centers, d_shapes


def squared_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji (x_ni - c_ji)², as two matrix products, in O(n·m·d) time and O(n·(m + d)) memory.

    The expanded square, Σ shapes·x² - 2·shapes·c·x + shapes·c², is exact to a few roundings of its largest
    term; see `_shifted` for how that is kept small.

    >>> squared_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[3.]])
    """
    X, centers = _shifted(X, centers, shapes)
    weighted = shapes * centers
    Z: AnyArray = (X * X) @ shapes.T.astype(X.dtype, copy=False)
    Z -= X @ (2.0 * weighted).T.astype(X.dtype, copy=False)
    Z += np.einsum("md,md->m", weighted, centers).astype(X.dtype, copy=False)
    return np.abs(Z, out=Z)  # rounding may turn a distance of 0, or one of huge terms, negative


def squared_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d), as two matrix products.

    ∂Z/∂c = -2·shapes·(x - c) and ∂Z/∂shapes = (x - c)² = x² - 2cx + c².
    """
    X, c = _shifted(X, centers, shapes)
    w0, w1, w2 = dZ.sum(axis=0)[:, None], dZ.T @ X, dZ.T @ (X * X)
    return -2.0 * shapes * (w1 - c * w0), w2 - 2.0 * c * w1 + c * c * w0


def _shifted(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Rows and centres about the mean of the centres, if these lie far enough from 0 to matter.

    Features with a mean far from zero would cancel digits; standardised ones need no shift, which
    costs a fifth of what the matrix products do.
    """
    near = np.max(np.einsum("md,md,md->m", shapes, centers, centers)) <= NEAR
    if near and X.dtype == np.float64:
        return X, centers
    origin = centers.mean(axis=0)
    return X - origin.astype(X.dtype, copy=False), centers - origin
