"""Sigmoidal units: soft steps across learnt directions."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from sleek import kernels
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.base import Basis
from sleek.bases.formula import Formula, names, tanh
from sleek.bases.units import Coordinates, Parameter, Units, round_places
from sleek.rows.scaling import Scaling

_x, _z, _slopes, _offsets = names("x z slopes offsets")


class Sigmoidal(Basis):
    """φ_j(x) = tanh(w_j·x + v_j): for classes that are separated along rotated directions.

    Each unit starts as a random direction of length `shape`·features, 0 at its start centre. Training pulls
    slopes and offsets towards 0, as weight decay does in a neural network: a random start is not worth
    holding on to.

    Examples
    --------
    >>> from sleek import Sigmoidal, Units
    >>> units = Units({"slopes": np.array([[2.0, 0.0]]), "offsets": np.array([-2.0])})
    >>> Sigmoidal().features(np.array([[1.0, 5.0], [2.0, 5.0]]), units).round(3)
    array([[0.   ], [0.964]])
    """

    name: ClassVar[str] = "sigmoidal"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("slopes", switch=True),
        Parameter("offsets", axes=("unit",)),
    )
    draft_iterations: ClassVar[int] = 40
    kind: ClassVar[str] = "step"
    formula: ClassVar[Formula] = Formula(term=_slopes * _x, start=_offsets, profile=tanh(_z))

    def start(self, centers: FloatArray, shape: float, rng: np.random.Generator) -> Units:
        slopes = rng.normal(size=centers.shape)
        slopes *= shape * centers.shape[1] / np.linalg.norm(slopes, axis=1, keepdims=True)
        return Units({"slopes": slopes, "offsets": -np.einsum("md,md->m", slopes, centers)})

    def coordinates(self, start: Units) -> Coordinates:
        """Slopes in units of 1/√features, and offsets, pulled to 0."""
        slopes, offsets = start["slopes"], start["offsets"]
        anchor = Units({"slopes": np.zeros_like(slopes), "offsets": np.zeros_like(offsets)})
        scale = Units(
            {"slopes": np.full_like(slopes, slopes.shape[1] ** -0.5), "offsets": np.ones_like(offsets)}
        )
        return Coordinates(anchor, scale, self.lower_bounds())

    def directions(self, units: Units) -> IntArray:
        return np.sign(units["slopes"]).astype(np.int64)

    def restrict(self, units: Units, on: AnyArray) -> Units:
        """Directions of the same length in the features that are left."""
        slopes = np.where(on, units["slopes"], 0.0)
        before, after = (np.linalg.norm(one, axis=1, keepdims=True) for one in (units["slopes"], slopes))
        slopes *= np.divide(before, after, out=np.ones_like(after), where=after > 0)
        return Units({"slopes": slopes, "offsets": units["offsets"]})

    def restrict_monotone(self, units: Units, signs: IntArray, rising: AnyArray) -> Units:
        slopes = units["slopes"]
        turned = np.where(rising[:, None], signs, -signs) * np.abs(slopes)
        return Units({"slopes": np.where(signs != 0, turned, slopes), "offsets": units["offsets"]})

    def bounded(self, coordinates: Coordinates, start: Units, signs: IntArray) -> Coordinates:
        """Slopes keep their signs: with a negative scale λ = scale·u has the bound of -λ."""
        scale, signed = coordinates.scale["slopes"], np.broadcast_to(signs != 0, start["slopes"].shape)
        falls = signed & (start["slopes"] < 0)
        turned = Units(dict(coordinates.scale.arrays) | {"slopes": np.where(falls, -scale, scale)})
        lower = dict(coordinates.lower) | {"slopes": np.where(signed, 0.0, -np.inf)}
        return replace(coordinates, scale=turned, lower=lower)

    def features(self, X: FloatArray, units: Units) -> FloatArray:
        Z = kernels.projection(X, units["slopes"], units["offsets"])
        Phi: FloatArray = np.tanh(Z, out=Z)
        return Phi

    def features_without(
        self, X: FloatArray, units: Units, switch: str, unit: IntArray, feature: IntArray
    ) -> FloatArray:
        Z = kernels.projection(X, units["slopes"], units["offsets"])[:, unit]
        Z -= units["slopes"][unit, feature] * X[:, feature]
        Phi: FloatArray = np.tanh(Z, out=Z)
        return Phi

    def vjp(self, X: FloatArray, units: Units, Phi: FloatArray, dPhi: FloatArray) -> Units:
        dZ = 1.0 - Phi * Phi
        dZ *= dPhi
        d_slopes, d_offsets = kernels.projection_vjp(X, dZ)
        return Units({"slopes": d_slopes, "offsets": d_offsets})

    def jacobian(self, X: FloatArray, units: Units, Phi: FloatArray) -> Units:
        slope = 1.0 - Phi**2
        return Units({"slopes": slope[:, :, None] * X[:, None, :], "offsets": slope})

    def round(self, units: Units, mean: FloatArray, spread: FloatArray, digits: int) -> Units:
        """Slopes to digits of the unit's steepest, by spread; offsets so that the middle stays."""
        slopes, steep = units["slopes"], np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        largest = np.max(np.abs(slopes) * spread, axis=1, keepdims=True)
        rounded = round_places(slopes, largest * steep, digits)
        offsets = units["offsets"] + (slopes - rounded) @ mean
        return Units({"slopes": rounded, "offsets": round_places(offsets, np.ones(1), digits)})

    def unscale(self, units: Units, scaling: Scaling) -> Units:
        slopes = units["slopes"] * scaling.factor
        return Units({"slopes": slopes, "offsets": units["offsets"] - slopes @ scaling.mean})
