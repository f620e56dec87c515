"""The robust radial basis function, the paper's main example."""

from typing import ClassVar

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.bases.distance import DistanceBasis
from sleek.bases.formula import Formula, exp, names

_x, _z, _centers, _shapes = names("x z centers shapes")


class RobustRBF(DistanceBasis):
    """φ_j(x) = exp(-Σ_i μ_ji |x_i - c_ji|): peaked at its centre, with longer tails than a Gaussian.

    Examples
    --------
    >>> from sleek import RobustRBF, Units
    >>> basis = RobustRBF()
    >>> units = Units({"centers": np.zeros((1, 2)), "shapes": np.full((1, 2), 0.5)})
    >>> basis.features(np.array([[0.0, 0.0], [2.0, 0.0]]), units).round(3)
    array([[1.   ], [0.368]])
    """

    name: ClassVar[str] = "robust_rbf"
    auto_shapes: ClassVar[tuple[float, ...]] = (0.5, 2.0)
    power: ClassVar[int] = 1
    kind: ClassVar[str] = "absolute"
    formula: ClassVar[Formula] = Formula(term=_shapes * abs(_x - _centers), profile=exp(-_z))

    def profile(self, Z: FloatArray) -> FloatArray:
        Phi: FloatArray = np.exp(np.negative(Z, out=Z), out=Z)
        return Phi

    def slope(self, Phi: FloatArray) -> FloatArray:
        return -Phi
