"""Linear units: the features themselves."""

from typing import ClassVar

import numpy as np

from sleek import kernels
from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.base import Basis
from sleek.bases.formula import Formula, names
from sleek.bases.units import Coordinates, Parameter, Units, round_places, round_to_digits
from sleek.rows.scaling import Scaling

_x, _z, _slopes, _offsets = names("x z slopes offsets")

FAR = 1e150  # what is further off counts as this: products of two such numbers are finite


class Linear(Basis):
    """φ_j(x) = w_j·x + v_j with w_j and v_j that are not learnt: a linear part of a model.

    Units start as one feature each, and stay it: what a feature counts is theta's business alone.

    Examples
    --------
    >>> from sleek import Linear
    >>> units = Linear().start(np.zeros((2, 2)), 1.0, np.random.default_rng(0))
    >>> Linear().features(np.array([[3.0, 5.0]]), units)
    array([[3., 5.]])
    """

    name: ClassVar[str] = "linear"
    noun: ClassVar[str] = "feature"
    per_feature: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("slopes", learnt=False),
        Parameter("offsets", axes=("unit",), learnt=False),
    )
    draft_iterations: ClassVar[int] = 1
    formula: ClassVar[Formula] = Formula(term=_slopes * _x, start=_offsets, profile=_z)

    def start(self, centers: FloatArray, shape: float, rng: np.random.Generator) -> Units:
        """As many units as centres, one feature each, in turn."""
        m, d = centers.shape
        return Units({"slopes": np.eye(d)[np.arange(m) % d], "offsets": np.zeros(m)})

    def start_per_feature(self, X: FloatArray, s: FloatArray, most: int) -> Units:
        varied = np.flatnonzero(np.ptp(X, axis=0) > 0)
        varied = varied if len(varied) else np.arange(X.shape[1])[:1]
        slopes = np.zeros((len(varied), X.shape[1]))
        slopes[np.arange(len(varied)), varied] = 1.0
        return Units({"slopes": slopes, "offsets": np.zeros(len(varied))})

    def count_numbers(self, units: Units) -> IntArray:
        """None: a feature has a weight, and that is all."""
        return np.zeros(len(units), dtype=np.int64)

    def coordinates(self, start: Units) -> Coordinates:
        return Coordinates(start, Units({}), self.lower_bounds())

    def directions(self, units: Units) -> IntArray:
        return np.sign(units["slopes"]).astype(np.int64)

    def features(self, X: FloatArray, units: Units) -> FloatArray:
        Z = kernels.projection(X, units["slopes"], units["offsets"])
        return np.clip(Z, -FAR, FAR, out=Z)

    def vjp(self, X: FloatArray, units: Units, Phi: FloatArray, dPhi: FloatArray) -> Units:
        d_slopes, d_offsets = kernels.projection_vjp(X, dPhi)
        return Units({"slopes": d_slopes, "offsets": d_offsets})

    def jacobian(self, X: FloatArray, units: Units, Phi: FloatArray) -> Units:
        one = np.ones_like(Phi)
        return Units({"slopes": one[:, :, None] * X[:, None, :], "offsets": one})

    def round(self, units: Units, mean: FloatArray, spread: FloatArray, digits: int) -> Units:
        """Slopes to significant digits, offsets so that the mean stays where it is."""
        slopes = round_to_digits(units["slopes"], digits)
        offsets = units["offsets"] + (units["slopes"] - slopes) @ mean
        return Units({"slopes": slopes, "offsets": round_places(offsets, np.ones(1), digits)})

    def unscale(self, units: Units, scaling: Scaling) -> Units:
        slopes = units["slopes"] * scaling.factor
        return Units({"slopes": slopes, "offsets": units["offsets"] - slopes @ scaling.mean})
