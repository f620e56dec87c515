"""The loops that touch every row, feature and unit: which implementation does them.

`reference.py` defines them in NumPy. Absolute distances of large blocks go to the loops of `compiled.py`,
which is imported when the first such block arrives: small problems never wait for a compiler. The choice
depends on the block alone, so that a fit does not depend on what the process has done before.
"""

from sleek._typing import AnyArray
from sleek.kernels.reference import (
    absolute_distance as _absolute_distance,
)
from sleek.kernels.reference import (
    absolute_distance_vjp as _absolute_distance_vjp,
)
from sleek.kernels.reference import (
    squared_distance,
    squared_distance_vjp,
)

__all__ = ["absolute_distance", "absolute_distance_vjp", "squared_distance", "squared_distance_vjp"]

# Numbers n·m·d from which the compiled loop is worth its import: NumPy takes about a millisecond for them,
# and training comes back hundreds of times.
COMPILED_FROM = 2**18


def _is_large(X: AnyArray, centers: AnyArray) -> bool:
    return X.size * len(centers) >= COMPILED_FROM


def absolute_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """`reference.absolute_distance`, compiled for large blocks."""
    if _is_large(X, centers):
        from sleek.kernels import compiled

        return compiled.absolute_distance(X, centers, shapes)
    return _absolute_distance(X, centers, shapes)


def absolute_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """`reference.absolute_distance_vjp`, compiled for large blocks."""
    if _is_large(X, centers):
        from sleek.kernels import compiled

        return compiled.absolute_distance_vjp(X, centers, shapes, dZ)
    return _absolute_distance_vjp(X, centers, shapes, dZ)
