"""Weighted distances of rows to units, and their gradients, in NumPy: the definition.

Letters: X (n, d) rows, centers and shapes (m, d) units, Z (n, m) distances, dZ (n, m) a weight per row
and unit. Results have the precision of X, float64 or float32.
"""

import numpy as np

from sleek._runtime.types import AnyArray

SMALL = 2**14  # numbers n·m·d up to which one broadcast beats a loop over features
NEAR = 1e3  # Σ shapes·c² up to which centres are near 0: rounding in float64 is then below 1e-12
FAR = 1e6  # Σ shapes·c² from which a centre is too far from the others for squares to be expanded


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


def box_distance(X: AnyArray, lows: AnyArray, highs: AnyArray, below: AnyArray, above: AnyArray) -> AnyArray:
    """Z_nj = Σ_i above_ji (x_ni - high_ji)₊ + below_ji (low_ji - x_ni)₊, in O(n·m·d) time and O(n·m) memory.

    >>> lows, highs, below, above = np.array([[[0.0, 5.0]], [[0.5, 5.0]], [[9.0, 1.0]], [[4.0, 9.0]]])
    >>> box_distance(np.array([[1.0, 2.0]]), lows, highs, below, above)
    array([[5.]])
    """
    low, high, q, p = (array.astype(X.dtype, copy=False) for array in (lows, highs, below, above))
    if X.size * len(low) <= SMALL:
        under, over = low - X[:, None, :], X[:, None, :] - high  # (n, m, d)
        small: AnyArray = np.einsum("nmd,md->nm", np.maximum(under, 0, out=under), q)
        small += np.einsum("nmd,md->nm", np.maximum(over, 0, out=over), p)
        return small
    Z = np.zeros((len(X), len(low)), X.dtype)
    for i, x in enumerate(X.T[:, :, None]):
        for outside, sharpness in ((low[:, i] - x, q[:, i]), (x - high[:, i], p[:, i])):  # (n, m)
            np.maximum(outside, 0, out=outside)
            outside *= sharpness
            Z += outside
    return Z


def box_distance_vjp(
    X: AnyArray, lows: AnyArray, highs: AnyArray, below: AnyArray, above: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂λ_j for λ = lows, highs, below and above, each (m, d).

    ∂Z/∂low = below·[x < low], ∂Z/∂high = -above·[x > high], ∂Z/∂below = (low - x)₊, ∂Z/∂above = (x - high)₊.
    """
    low, high = lows.astype(X.dtype, copy=False), highs.astype(X.dtype, copy=False)
    d_lows, d_highs, d_below, d_above = (np.empty(lows.shape) for _ in range(4))
    for i, x in enumerate(X.T[:, :, None]):
        under, over = np.maximum(low[:, i] - x, 0), np.maximum(x - high[:, i], 0)  # (n, m)
        d_lows[:, i] = np.einsum("nm,nm->m", dZ, np.sign(under))
        d_highs[:, i] = np.einsum("nm,nm->m", dZ, np.sign(over))
        d_below[:, i] = np.einsum("nm,nm->m", dZ, under)
        d_above[:, i] = np.einsum("nm,nm->m", dZ, over)
    d_lows *= below
    d_highs *= -above
    return d_lows, d_highs, d_below, d_above


def squared_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji (x_ni - c_ji)², as two matrix products, in O(n·m·d) time and O(n·(m + d)) memory.

    The expanded square, Σ shapes·x² - 2·shapes·c·x + shapes·c², is exact to a few roundings of its largest
    term; see `_shifted` for how that is kept small.

    >>> squared_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[3.]])
    """
    if X.size * len(centers) <= SMALL:
        difference = X[:, None, :] - centers.astype(X.dtype, copy=False)  # (n, m, d)
        difference *= difference
        small: AnyArray = np.einsum("nmd,md->nm", difference, shapes.astype(X.dtype, copy=False))
        return small
    X, centers = _shifted(X, centers, shapes)
    weighted = shapes * centers
    Z: AnyArray = (X * X) @ shapes.T.astype(X.dtype, copy=False)
    Z -= X @ (2.0 * weighted).T.astype(X.dtype, copy=False)
    constant = np.einsum("md,md->m", weighted, centers)
    Z += constant.astype(X.dtype, copy=False)
    np.abs(Z, out=Z)  # rounding may turn a distance of 0, or one of huge terms, negative
    far = constant > FAR
    if far.any():
        Z[:, far] = far_distance(X, centers[far], shapes[far])
    return Z


def squared_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d), as two matrix products.

    ∂Z/∂c = -2·shapes·(x - c) and ∂Z/∂shapes = (x - c)² = x² - 2cx + c².
    """
    X, c = _shifted(X, centers, shapes)
    w0, w1, w2 = dZ.sum(axis=0)[:, None], dZ.T @ X, dZ.T @ (X * X)
    d_centers, d_shapes = -2.0 * shapes * (w1 - c * w0), w2 - 2.0 * c * w1 + c * c * w0
    far = np.einsum("md,md,md->m", shapes, c, c) > FAR
    if far.any():
        d_centers[far], d_shapes[far] = far_distance_vjp(X, c[far], shapes[far], dZ[:, far])
    return d_centers, d_shapes


def far_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """`squared_distance` without expanding squares, for the few units far from all others.

    A unit that starts at a row with an absurd value of 1e12 has terms of 1e24, and rounding of 1e8 in them.
    """
    Z = np.zeros((len(X), len(centers)), X.dtype)
    for x, c, mu in zip(X.T, centers.T, shapes.T, strict=True):
        Z += (mu * np.subtract.outer(x, c) ** 2).astype(X.dtype, copy=False)
    return Z


def far_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """`squared_distance_vjp` for the same units."""
    d_centers, d_shapes = np.empty(centers.shape), np.empty(shapes.shape)
    for i, (x, c) in enumerate(zip(X.T, centers.T, strict=True)):
        difference = np.subtract.outer(x, c)  # (n, m)
        d_centers[:, i] = np.einsum("nm,nm->m", dZ, difference)
        d_shapes[:, i] = np.einsum("nm,nm->m", dZ, difference**2)
    d_centers *= -2.0 * shapes
    return d_centers, d_shapes


def projection(X: AnyArray, slopes: AnyArray, offsets: AnyArray) -> AnyArray:
    """Z_nj = Σ_i slopes_ji x_ni + offsets_j.

    >>> projection(np.array([[1.0, 2.0]]), np.array([[1.0, 0.5]]), np.array([3.0]))
    array([[5.]])
    """
    Z: AnyArray = X @ slopes.T.astype(X.dtype, copy=False)
    Z += offsets.astype(X.dtype, copy=False)
    return Z


def projection_vjp(X: AnyArray, dZ: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂slopes_j (m, d) and Σ_n dZ_nj (m,)."""
    return dZ.T @ X, dZ.sum(axis=0)


def centred_products(A: AnyArray, B: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray]:
    """Σs, the weighted mean of the rows of [A, B], and Σ s·(row - mean)(row - mean)ᵀ.

    >>> centred_products(np.array([[0.0], [4.0]]), np.array([[1.0], [3.0]]), np.ones(2))
    (2.0, array([2., 2.]), array([[8., 4.], [4., 2.]]))
    """
    weight = float(s.sum())
    V = np.concatenate([A, B], axis=1)
    mean = s @ V / weight
    V -= mean
    if not (s == 1.0).all():
        V *= np.sqrt(s)[:, None]
    return weight, mean, V.T @ V  # written as a product with itself it costs half: BLAS computes one triangle


def output_gradient(Phi: AnyArray, T: AnyArray, s: AnyArray, theta: AnyArray, b: AnyArray) -> AnyArray:
    """dΦ = -s·(t - Φθ - b)·θᵀ, the derivative of ½ Σ s r² by every unit value.

    >>> output_gradient(np.ones((1, 1)), np.ones((1, 1)), np.ones(1), np.full((1, 1), 3.0), np.zeros(1))
    array([[6.]])
    """
    r = T - Phi @ theta - b
    r *= -s[:, None]
    dPhi: AnyArray = r @ theta.T if theta.shape[1] > 1 else r * theta[:, 0]
    return dPhi


def column_moments(X: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σs, and the weighted mean, Σ s·(x - mean)², least and largest value of every column.

    >>> column_moments(np.array([[1.0], [2.0], [6.0]]), np.ones(3))
    (3.0, array([3.]), array([14.]), array([1.]), array([6.]))
    """
    weight = float(s.sum())
    mean = s @ X / weight
    return weight, mean, s @ (X - mean) ** 2, X.min(axis=0), X.max(axis=0)


def _shifted(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Rows and centres about the midst of the centres, if these lie far enough from 0 to matter.

    Features with a mean far from zero would cancel digits; standardised ones need no shift, which
    costs a fifth of what the matrix products do.
    """
    near = np.max(np.einsum("md,md,md->m", shapes, centers, centers)) <= NEAR
    if near and X.dtype == np.float64:
        return X, centers
    origin = midst_of(centers, shapes)
    return X - origin.astype(X.dtype, copy=False), centers - origin


def midst_of(centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """The mean of the centres, or their median if one of them is far from the mean: it would draw it away."""
    origin = centers.mean(axis=0)
    c = centers - origin
    far = np.max(np.einsum("md,md,md->m", shapes, c, c)) > FAR
    midst: AnyArray = np.median(centers, axis=0) if far else origin
    return midst
