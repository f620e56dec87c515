"""The Gaussian radial basis function with one width per feature."""

from typing import ClassVar

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.bases.distance import DistanceBasis
from sleek.bases.formula import Formula, exp, names

_x, _z, _centers, _shapes = names("x z centers shapes")


class GaussianRBF(DistanceBasis):
    """φ_j(x) = exp(-Σ_i μ_ji (x_i - c_ji)²): smooth everywhere.

    Examples
    --------
    >>> from sleek import GaussianRBF, Units
    >>> basis = GaussianRBF()
    >>> units = Units({"centers": np.zeros((1, 2)), "shapes": np.full((1, 2), 0.5)})
    >>> basis.features(np.array([[0.0, 0.0], [2.0, 0.0]]), units).round(3)
    array([[1.   ], [0.135]])
    """

    name: ClassVar[str] = "gaussian_rbf"
    auto_shapes: ClassVar[tuple[float, ...]] = (0.25, 1.0, 2.0)
    power: ClassVar[int] = 2
    kind: ClassVar[str] = "squared"
    formula: ClassVar[Formula] = Formula(term=_shapes * ((_x - _centers) * (_x - _centers)), profile=exp(-_z))

    def profile(self, Z: FloatArray) -> FloatArray:
        Phi: FloatArray = np.exp(np.negative(Z, out=Z), out=Z)
        return Phi

    def slope(self, Phi: FloatArray) -> FloatArray:
        return -Phi
