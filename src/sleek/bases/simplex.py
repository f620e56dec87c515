"""The simplex basis function (SBF): with it the low rank LS-SVM is the earlier LSSVM-SBF."""

from typing import ClassVar

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.bases.distance import DistanceBasis
from sleek.bases.formula import Formula, maximum, names

_x, _z, _centers, _shapes = names("x z centers shapes")


class Simplex(DistanceBasis):
    """φ_j(x) = max(0, 1 - Σ_i μ_ji |x_i - c_ji|): a pyramid, so that the model is piecewise linear.

    At the pyramid's foot, where the function has a kink, the gradient is taken as 0.

    Examples
    --------
    >>> from sleek import Simplex, Units
    >>> basis = Simplex()
    >>> units = Units({"centers": np.zeros((1, 2)), "shapes": np.full((1, 2), 0.5)})
    >>> basis.features(np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]]), units)
    array([[1. ], [0.5], [0. ]])
    """

    name: ClassVar[str] = "simplex"
    auto_shapes: ClassVar[tuple[float, ...]] = (0.25, 0.5)
    power: ClassVar[int] = 1
    formula: ClassVar[Formula] = Formula(term=_shapes * abs(_x - _centers), profile=maximum(0.0, 1.0 - _z))

    def profile(self, Z: FloatArray) -> FloatArray:
        Phi: FloatArray = np.maximum(np.subtract(1.0, Z, out=Z), 0.0, out=Z)
        return Phi

    def slope(self, Phi: FloatArray) -> FloatArray:
        return -(Phi > 0).astype(np.float64)
