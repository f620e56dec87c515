"""The loops that touch every row, feature and unit: which implementation does them.

`reference.py` defines them in NumPy. Large blocks go to `compiled.py`, which is imported when the first such
block arrives: small problems never wait for a compiler. The choice depends on the block alone, so that a fit
does not depend on what the process has done before.
"""

from typing import Any

from sleek._runtime.interrupts import interruptible
from sleek._runtime.types import AnyArray
from sleek.kernels import reference

# Numbers n·m·d from which compiled absolute distances are worth their import: NumPy takes about a millisecond
# for them, and training comes back hundreds of times.
COMPILED_FROM = 2**18
# Numbers from which distances to boxes are: there NumPy takes 30 times as long, about a millisecond, and
# training comes back a thousand times, where the import and the first calls take 0.7 s.
BOXES_COMPILED_FROM = 2**16
# Rows from which matrix products are: with fewer there is nothing to do side by side. `sources.block_rows`
# cuts large data into blocks of this size.
LARGE_BLOCK = 4096


def _implementation(large: bool) -> Any:
    if not large:
        return reference
    from sleek.kernels import compiled

    return compiled


def _for_loops(X: AnyArray, centers: AnyArray) -> Any:
    return _implementation(X.size * len(centers) >= COMPILED_FROM)


def _for_boxes(X: AnyArray, lows: AnyArray) -> Any:
    if X.size * len(lows) < BOXES_COMPILED_FROM:
        return reference
    from sleek.kernels import boxes_compiled

    return boxes_compiled


def _for_products(X: AnyArray) -> Any:
    return _implementation(len(X) >= LARGE_BLOCK)


@interruptible
def absolute_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji |x_ni - c_ji|."""
    Z: AnyArray = _for_loops(X, centers).absolute_distance(X, centers, shapes)
    return Z


@interruptible
def absolute_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j of absolute distances."""
    d_centers, d_shapes = _for_loops(X, centers).absolute_distance_vjp(X, centers, shapes, dZ)
    return d_centers, d_shapes


@interruptible
def box_distance(X: AnyArray, lows: AnyArray, highs: AnyArray, below: AnyArray, above: AnyArray) -> AnyArray:
    """Z_nj = Σ_i above_ji (x_ni - high_ji)₊ + below_ji (low_ji - x_ni)₊."""
    Z: AnyArray = _for_boxes(X, lows).box_distance(X, lows, highs, below, above)
    return Z


@interruptible
def box_distance_vjp(
    X: AnyArray, lows: AnyArray, highs: AnyArray, below: AnyArray, above: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂λ_j of distances to boxes for λ = lows, highs, below and above."""
    d_lows, d_highs, d_below, d_above = _for_boxes(X, lows).box_distance_vjp(X, lows, highs, below, above, dZ)
    return d_lows, d_highs, d_below, d_above


@interruptible
def squared_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji (x_ni - c_ji)²."""
    Z: AnyArray = _for_products(X).squared_distance(X, centers, shapes)
    return Z


@interruptible
def squared_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j of squared distances."""
    d_centers, d_shapes = _for_products(X).squared_distance_vjp(X, centers, shapes, dZ)
    return d_centers, d_shapes


@interruptible
def projection(X: AnyArray, slopes: AnyArray, offsets: AnyArray) -> AnyArray:
    """Z_nj = Σ_i slopes_ji x_ni + offsets_j."""
    Z: AnyArray = _for_products(X).projection(X, slopes, offsets)
    return Z


@interruptible
def projection_vjp(X: AnyArray, dZ: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂slopes_j and Σ_n dZ_nj."""
    d_slopes, d_offsets = _for_products(X).projection_vjp(X, dZ)
    return d_slopes, d_offsets


@interruptible
def centred_products(A: AnyArray, B: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray]:
    """Σs, the weighted mean of the rows of [A, B], and Σ s·(row - mean)(row - mean)ᵀ."""
    weight, mean, products = _for_products(A).centred_products(A, B, s)
    return weight, mean, products


@interruptible
def output_gradient(Phi: AnyArray, T: AnyArray, s: AnyArray, theta: AnyArray, b: AnyArray) -> AnyArray:
    """dΦ = -s·(t - Φθ - b)·θᵀ, the derivative of ½ Σ s r² by every unit value."""
    dPhi: AnyArray = _for_products(Phi).output_gradient(Phi, T, s, theta, b)
    return dPhi


@interruptible
def column_moments(X: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σs, and the weighted mean, Σ s·(x - mean)², least and largest value of every column."""
    weight, mean, squares, low, high = _for_products(X).column_moments(X, s)
    return weight, mean, squares, low, high
