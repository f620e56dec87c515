"""Weighted distances of rows to units, and their gradients, in NumPy: the definition.

Letters: X (n, d) rows, centers and shapes (m, d) units, Z (n, m) distances, dZ (n, m) a weight per row
and unit. `on` (m, d) says by which features of units derivatives are wanted, None: by all; the others are 0.
Results have the precision of X, float64 or float32, and what has a number for each row and unit is
turned, Fortran-ordered, where X or Phi is: see `compiled.py`.
"""

import numpy as np

from sleek._runtime.types import AnyArray

SMALL = 2**14  # numbers n·m·d up to which one broadcast beats a loop over features,
SMALL_SQUARES = 2**12  # and up to which it beats matrix products
PIECE = 2**13  # numbers n·m·d of boxes held at a time: 64 KB, which stay in a core's cache
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
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray, on: AnyArray | None = None
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
    d_centers, d_shapes = _only(on, d_centers, d_shapes)
    return d_centers, d_shapes


def box_distance(X: AnyArray, lows: AnyArray, highs: AnyArray, below: AnyArray, above: AnyArray) -> AnyArray:
    """Z_nj = Σ_i above_ji (x_ni - high_ji)₊ + below_ji (low_ji - x_ni)₊, in O(n·m·d) time and O(n·m) memory.

    >>> lows, highs, below, above = np.array([[[0.0, 5.0]], [[0.5, 5.0]], [[9.0, 1.0]], [[4.0, 9.0]]])
    >>> box_distance(np.array([[1.0, 2.0]]), lows, highs, below, above)
    array([[5.]])
    """
    low, high, q, p = (array.astype(X.dtype, copy=False) for array in (lows, highs, below, above))
    x, Z = np.ascontiguousarray(X.T), np.empty((len(low), len(X)), X.dtype)
    for j in _pieces(X, len(low)):
        outside = low[j, :, None] - x  # (units, d, n)
        z = q[j, None, :] @ np.maximum(outside, 0, out=outside)
        np.subtract(x, high[j, :, None], out=outside)
        z += p[j, None, :] @ np.maximum(outside, 0, out=outside)
        Z[j] = z[:, 0]
    return Z.T


def box_distance_vjp(
    X: AnyArray,
    lows: AnyArray,
    highs: AnyArray,
    below: AnyArray,
    above: AnyArray,
    dZ: AnyArray,
    on: AnyArray | None = None,
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂λ_j for λ = lows, highs, below and above, each (m, d).

    ∂Z/∂low = below·[x < low], ∂Z/∂high = -above·[x > high], ∂Z/∂below = (low - x)₊, ∂Z/∂above = (x - high)₊.
    """
    low, high = lows.astype(X.dtype, copy=False), highs.astype(X.dtype, copy=False)
    x, g = np.ascontiguousarray(X.T), np.ascontiguousarray(dZ.T)[:, :, None]
    d_lows, d_highs, d_below, d_above = (np.empty((*lows.shape, 1)) for _ in range(4))
    for j in _pieces(X, len(low)):
        outside = low[j, :, None] - x  # (units, d, n)
        side = (outside > 0).astype(X.dtype)
        d_lows[j] = side @ g[j]
        d_below[j] = np.multiply(outside, side, out=outside) @ g[j]
        np.subtract(x, high[j, :, None], out=outside)
        np.greater(outside, 0, out=side)
        d_highs[j] = side @ g[j]
        d_above[j] = np.multiply(outside, side, out=outside) @ g[j]
    d_lows[:, :, 0] *= below
    d_highs[:, :, 0] *= -above
    wanted = _only(on, d_lows[:, :, 0], d_highs[:, :, 0], d_below[:, :, 0], d_above[:, :, 0])
    return wanted[0], wanted[1], wanted[2], wanted[3]


def _only(on: AnyArray | None, *gradients: AnyArray) -> tuple[AnyArray, ...]:
    """Derivatives by the features that are on, 0 for the others."""
    return gradients if on is None else tuple(np.where(on, gradient, 0.0) for gradient in gradients)


def _pieces(X: AnyArray, n_units: int) -> list[slice]:
    """Units taken together, so that their numbers for all features and rows are not too many."""
    size = max(1, PIECE // max(1, X.size))
    return [slice(j, j + size) for j in range(0, n_units, size)]


def squared_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji (x_ni - c_ji)², as two matrix products, in O(n·m·d) time and O(n·(m + d)) memory.

    The expanded square, Σ shapes·x² - 2·shapes·c·x + shapes·c², is exact to a few roundings of its largest
    term; see `_shift` for how that is kept small.

    >>> squared_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[3.]])
    """
    if X.size * len(centers) <= SMALL_SQUARES:
        difference = X[:, None, :] - centers.astype(X.dtype, copy=False)  # (n, m, d)
        difference *= difference
        small: AnyArray = np.einsum("nmd,md->nm", difference, shapes.astype(X.dtype, copy=False))
        return small
    X, c, squares, has_far = _shift(X, centers, shapes)
    Z: AnyArray = (X * X) @ shapes.T.astype(X.dtype, copy=False)
    Z -= X @ (2.0 * shapes * c).T.astype(X.dtype, copy=False)
    Z += squares.astype(X.dtype, copy=False)
    np.abs(Z, out=Z)  # rounding may turn a distance of 0, or one of huge terms, negative
    if has_far:
        far = squares > FAR
        Z[:, far] = far_distance(X, c[far], shapes[far])
    return Z


def squared_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray, on: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d), as two matrix products.

    ∂Z/∂c = -2·shapes·(x - c) and ∂Z/∂shapes = (x - c)² = x² - 2cx + c².
    """
    X, c, squares, has_far = _shift(X, centers, shapes)
    w0, w1, w2 = dZ.sum(axis=0)[:, None], dZ.T @ X, dZ.T @ (X * X)
    d_centers, d_shapes = -2.0 * shapes * (w1 - c * w0), w2 - 2.0 * c * w1 + c * c * w0
    if has_far:
        far = squares > FAR
        d_centers[far], d_shapes[far] = far_distance_vjp(X, c[far], shapes[far], dZ[:, far])
    d_centers, d_shapes = _only(on, d_centers, d_shapes)
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
    slopes, offsets = slopes.astype(X.dtype, copy=False), offsets.astype(X.dtype, copy=False)
    Z: AnyArray = (slopes @ X.T).T if is_turned(X) else X @ slopes.T
    Z += offsets
    return Z


def projection_vjp(X: AnyArray, dZ: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂slopes_j (m, d) and Σ_n dZ_nj (m,)."""
    return dZ.T @ X, dZ.sum(axis=0)


def centred_products(A: AnyArray, B: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray, AnyArray]:
    """Σs, the weighted mean of the rows [a, b], Σ s·(a - mean)([a, b] - mean)ᵀ and Σ s·(b - mean)².

    O(n·m·(m + k)) time: products of b with b, which nobody needs, are computed where they come for less.

    >>> centred_products(np.array([[0.0], [4.0]]), np.array([[1.0], [3.0]]), np.ones(2))
    (2.0, array([2., 2.]), array([[8., 4.]]), array([2.]))
    """
    m, k = A.shape[1], B.shape[1]
    weight = float(s.sum())
    V = np.concatenate([A, B], axis=1)
    mean = s @ V / weight
    V -= mean
    if not (s == 1.0).all():
        V *= np.sqrt(s)[:, None]
    if k > m:
        return weight, mean, V[:, :m].T @ V, np.einsum("nk,nk->k", V[:, m:], V[:, m:])
    both = V.T @ V  # written as a product with itself it costs half: BLAS computes one triangle
    return weight, mean, both[:m], both.diagonal()[m:].copy()


def output_gradient(Phi: AnyArray, T: AnyArray, s: AnyArray, theta: AnyArray, b: AnyArray) -> AnyArray:
    """dΦ = -s·(t - Φθ - b)·θᵀ, the derivative of ½ Σ s r² by every unit value.

    >>> output_gradient(np.ones((1, 1)), np.ones((1, 1)), np.ones(1), np.full((1, 1), 3.0), np.zeros(1))
    array([[6.]])
    """
    m, k = theta.shape
    weights, scale = theta.astype(Phi.dtype, copy=False), s[:, None].astype(Phi.dtype, copy=False)
    if k > m:  # Φ(θθᵀ) + (b - t)θᵀ: no array of rows × outputs
        dPhi: AnyArray = Phi @ (theta @ theta.T).astype(Phi.dtype, copy=False)
        dPhi -= ((T - b) @ theta.T).astype(Phi.dtype, copy=False)
        dPhi *= scale
        return dPhi
    r = T - Phi @ weights
    r -= b
    r *= -s[:, None]
    return outer(r.astype(Phi.dtype, copy=False), weights, is_turned(Phi))


def outer(g: AnyArray, theta: AnyArray, turn: bool) -> AnyArray:
    """g θᵀ (n, m), turned or not.

    >>> outer(np.array([[2.0], [3.0]]), np.array([[1.0], [5.0]]), turn=True)
    array([[ 2., 10.], [ 3., 15.]])
    """
    if g.shape[1] > 1:
        return (theta @ g.T).T if turn else g @ theta.T
    return (theta * g[:, 0]).T if turn else g * theta[:, 0]  # ten times as fast as a matrix product


def is_turned(array: AnyArray) -> bool:
    """Whether the numbers of consecutive rows lie side by side."""
    return bool(array.strides[0] == array.itemsize < array.strides[-1])


def column_moments(X: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σs, and the weighted mean, Σ s·(x - mean)², least and largest value of every column.

    >>> column_moments(np.array([[1.0], [2.0], [6.0]]), np.ones(3))
    (3.0, array([3.]), array([14.]), array([1.]), array([6.]))
    """
    weight = float(s.sum())
    mean = s @ X / weight
    return weight, mean, s @ (X - mean) ** 2, X.min(axis=0), X.max(axis=0)


def _shift(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray, bool]:
    """Rows and centres about the midst of the centres, if these lie far enough from 0 to matter.

    Features with a mean far from zero would cancel digits; standardised ones need no shift, which
    costs a fifth of what the matrix products do. Beside them Σ shapes·c², and whether it is large anywhere.
    """
    squares = _squares(centers, shapes)
    largest = squares.max()
    if not (largest <= NEAR and X.dtype == np.float64):
        origin = midst_of(centers, shapes)
        X, centers = X - origin.astype(X.dtype, copy=False), centers - origin
        squares = _squares(centers, shapes)
        largest = squares.max()
    return X, centers, squares, bool(largest > FAR)


def midst_of(centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """The mean of the centres, or their median if one of them is far from the mean: it would draw it away."""
    origin = centers.mean(axis=0)
    c = centers - origin
    far = _squares(c, shapes).max() > FAR
    midst: AnyArray = np.median(centers, axis=0) if far else origin
    return midst


def _squares(centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Σ_i shapes_ji c_ji² of every unit."""
    squares: AnyArray = np.einsum("md,md->m", shapes * centers, centers)
    return squares
