"""Numerical kernels over rows, features and units: NumPy for small blocks, compiled loops for large ones.

`reference.py` defines them in NumPy. Large blocks go to `compiled.py`, which is imported when the first such
block arrives: small problems never wait for a compiler. The choice depends on the block alone, so that a fit
does not depend on what the process has done before. Without numba, as in a browser, NumPy does it all.
"""

from functools import cache
from importlib.util import find_spec
from typing import Any

from sleek._runtime.interrupts import interruptible
from sleek._runtime.types import AnyArray
from sleek.kernels import reference
from sleek.kernels.reference import output_gradient, projection_vjp

__all__ = [
    "COMPILED_KINDS",
    "LARGE_BLOCK",
    "MANY_ROWS",
    "UNITS_COMPILED_FROM",
    "absolute_distance",
    "absolute_distance_vjp",
    "box_distance",
    "box_distance_vjp",
    "can_compile",
    "centred_products",
    "column_moments",
    "may_compile",
    "output_gradient",
    "projection",
    "projection_vjp",
    "squared_distance",
    "squared_distance_vjp",
]

# Numbers n·m·d from which compiled distances are worth their import, which takes 0.4 s with the first calls:
# training comes back hundreds of times. NumPy takes 0.1 to 1 ms for so many, and 4 ms for the fewest boxes.
COMPILED_FROM = 2**18
BOXES_COMPILED_FROM = 2**12
# Kinds of units that `compiled_units` knows, how many numbers for each feature their units have at most, and
# rows times learnt numbers from which training uses it.
COMPILED_KINDS = ("squared", "absolute", "box", "step")
MOST_NUMBERS = 4
UNITS_COMPILED_FROM = 2**13
# Rows from which sums over rows are: `sources.block_rows` cuts large data into blocks of this size.
LARGE_BLOCK = 4096


# Rows from which a fit without compiled loops says so: it then takes up to three times as long.
MANY_ROWS = 50_000


@cache
def can_compile() -> bool:
    """Whether numba is installed; it is not imported for that."""
    return find_spec("numba") is not None


def may_compile(size: int) -> bool:
    """Whether training uses compiled loops for some units, of so many rows times units times features."""
    return MOST_NUMBERS * size >= UNITS_COMPILED_FROM and can_compile()


def _implementation(large: bool) -> Any:
    if not large or not can_compile():
        return reference
    from sleek.kernels import compiled

    return compiled


def _for_loops(X: AnyArray, centers: AnyArray) -> Any:
    return _implementation(X.size * len(centers) >= COMPILED_FROM)


def _for_boxes(X: AnyArray, lows: AnyArray) -> Any:
    return _implementation(X.size * len(lows) >= BOXES_COMPILED_FROM)


def _for_sums(A: AnyArray) -> Any:
    """Where values of units are turned, and many, they come from compiled loops: the import is paid for."""
    many = A.size * A.shape[1] >= UNITS_COMPILED_FROM and reference.is_turned(A)
    return _implementation(len(A) >= LARGE_BLOCK or many)


@interruptible
def absolute_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji |x_ni - c_ji|."""
    Z: AnyArray = _for_loops(X, centers).absolute_distance(X, centers, shapes)
    return Z


@interruptible
def absolute_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray, on: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j of absolute distances."""
    d_centers, d_shapes = _for_loops(X, centers).absolute_distance_vjp(X, centers, shapes, dZ, on)
    return d_centers, d_shapes


@interruptible
def box_distance(X: AnyArray, lows: AnyArray, highs: AnyArray, below: AnyArray, above: AnyArray) -> AnyArray:
    """Z_nj = Σ_i above_ji (x_ni - high_ji)₊ + below_ji (low_ji - x_ni)₊."""
    Z: AnyArray = _for_boxes(X, lows).box_distance(X, lows, highs, below, above)
    return Z


@interruptible
def box_distance_vjp(
    X: AnyArray,
    lows: AnyArray,
    highs: AnyArray,
    below: AnyArray,
    above: AnyArray,
    dZ: AnyArray,
    on: AnyArray | None = None,
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂λ_j of distances to boxes for λ = lows, highs, below and above."""
    vjp = _for_boxes(X, lows).box_distance_vjp
    d_lows, d_highs, d_below, d_above = vjp(X, lows, highs, below, above, dZ, on)
    return d_lows, d_highs, d_below, d_above


@interruptible
def squared_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji (x_ni - c_ji)²."""
    Z: AnyArray = _for_loops(X, centers).squared_distance(X, centers, shapes)
    return Z


@interruptible
def squared_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray, on: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j of squared distances."""
    d_centers, d_shapes = _for_loops(X, centers).squared_distance_vjp(X, centers, shapes, dZ, on)
    return d_centers, d_shapes


@interruptible
def projection(X: AnyArray, slopes: AnyArray, offsets: AnyArray) -> AnyArray:
    """Z_nj = Σ_i slopes_ji x_ni + offsets_j."""
    many = len(X) >= LARGE_BLOCK and not reference.is_turned(X)
    Z: AnyArray = _implementation(many).projection(X, slopes, offsets)
    return Z


@interruptible
def centred_products(A: AnyArray, B: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray, AnyArray]:
    """Σs, the weighted mean of the rows [a, b], Σ s·(a - mean)([a, b] - mean)ᵀ and Σ s·(b - mean)²."""
    weight, mean, products, squares = _for_sums(A).centred_products(A, B, s)
    return weight, mean, products, squares


@interruptible
def column_moments(X: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σs, and the weighted mean, Σ s·(x - mean)², least and largest value of every column."""
    weight, mean, squares, low, high = _implementation(len(X) >= LARGE_BLOCK).column_moments(X, s)
    return weight, mean, squares, low, high
