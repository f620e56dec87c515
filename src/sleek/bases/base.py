"""What a basis is: learnable functions φ_j(x; λ_j), their gradients, and how they scale.

A new basis is one file in this folder: a final subclass of `Basis` with a `name`. It is then known by that
name to every estimator (``basis="name"``) and, in the tests, to the contract suite of `contract.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import Bounds
from sklearn.base import BaseEstimator

from sleek._runtime.types import FloatArray
from sleek.bases.formula import Formula


@dataclass(frozen=True)
class Parameter:
    """One learnable array of a unit, and the constraint it lives under."""

    name: str
    lower: float = -np.inf


@dataclass(frozen=True, eq=False)
class Units:
    """The learnable numbers λ of all units: named arrays whose first axis runs over the units.

    Gradients have the same form, and `+` adds them up over blocks of rows.

    >>> units = Units({"centers": np.zeros((3, 2)), "shapes": np.ones((3, 2))})
    >>> len(units), (units + units)["shapes"][0]
    (3, array([2., 2.]))
    """

    arrays: Mapping[str, FloatArray]

    def __getitem__(self, name: str) -> FloatArray:
        return self.arrays[name]

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def __add__(self, other: Units) -> Units:
        return Units({name: array + other[name] for name, array in self.arrays.items()})

    def map(self, function: Callable[[str, FloatArray], FloatArray]) -> Units:
        """Units with every array replaced by ``function(name, array)``."""
        return Units({name: function(name, array) for name, array in self.arrays.items()})


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The numbers u that training moves, and how units follow: λ = anchor + scale·u. A pull draws u to 0.

    >>> start = Units({"centers": np.zeros((1, 2)), "shapes": np.full((1, 2), 0.5)})
    >>> scale = Units({"centers": np.ones((1, 2)), "shapes": start["shapes"]})
    >>> coordinates = Coordinates(start, scale, lower={"centers": -np.inf, "shapes": 0.0})
    >>> coordinates.units(np.array([3.0, 0.0, 1.0, 0.0])).arrays
    {'centers': array([[3., 0.]]), 'shapes': array([[1. , 0.5]])}
    >>> coordinates.bounds().lb
    array([-inf, -inf,  -1.,  -1.])
    """

    anchor: Units
    scale: Units
    lower: Mapping[str, float]

    def units(self, u: FloatArray) -> Units:
        """The units at coordinates u, a flat vector."""
        parts, begin = {}, 0
        for name, anchor in self.anchor.arrays.items():
            part = u[begin : begin + anchor.size].reshape(anchor.shape)
            # rounding must not carry a number over its bound
            parts[name] = np.maximum(anchor + self.scale[name] * part, self.lower[name])
            begin += anchor.size
        return Units(parts)

    def vector(self, units: Units) -> FloatArray:
        """The coordinates of units: the inverse of `units`."""
        return flat(units.map(lambda name, array: (array - self.anchor[name]) / self.scale[name]))

    def bounds(self) -> Bounds:
        """The lower bounds of all coordinates."""
        lower = self.anchor.map(lambda name, array: (self.lower[name] - array) / self.scale[name])
        return Bounds(flat(lower), np.inf)


def flat(units: Units) -> FloatArray:
    """All numbers of units, or of a gradient, as one vector."""
    return np.concatenate([array.ravel() for array in units.arrays.values()])


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map x ↦ (x - mean)·factor of each feature.

    A constant feature has factor 0: it is ignored in training, and by the fitted model ever after.
    """

    mean: FloatArray
    factor: FloatArray

    def apply(self, X: FloatArray) -> FloatArray:
        """Raw rows in training units."""
        scaled: FloatArray = X - self.mean
        scaled *= self.factor
        return scaled

    def invert(self, X: FloatArray) -> FloatArray:
        """Points in training units as raw rows; ignored features come back at their mean."""
        used = np.broadcast_to(self.factor > 0, X.shape)
        raw: FloatArray = self.mean + np.divide(X, self.factor, out=np.zeros_like(X), where=used)
        return raw


class Basis(BaseEstimator, ABC):
    """A family of learnable functions φ_j(x; λ_j), stateless: the numbers live in `Units`."""

    name: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]
    auto_shapes: ClassVar[tuple[float, ...]] = (1.0,)  # tried by shape="auto", in units of 1/features
    draft_iterations: ClassVar[int] = 30  # enough training to compare settings
    formula: ClassVar[Formula | None] = (
        None  # for export and local slopes; None if it cannot be written as one
    )

    @abstractmethod
    def start(self, centers: FloatArray, shape: float, rng: np.random.Generator) -> Units:
        """Units located at `centers` (m, d), with one common initial sharpness `shape` > 0 for a feature."""

    @abstractmethod
    def coordinates(self, start: Units) -> Coordinates:
        """The numbers that training moves when units start at `start`."""

    @abstractmethod
    def features(self, X: FloatArray, units: Units) -> FloatArray:
        """Phi (n, m): the value of every unit at every row."""

    @abstractmethod
    def vjp(self, X: FloatArray, units: Units, Phi: FloatArray, dPhi: FloatArray) -> Units:
        """Σ_n dPhi_nj ∂φ_j(x_n)/∂λ_j for every unit, given ``Phi = features(X, units)``."""

    @abstractmethod
    def jacobian(self, X: FloatArray, units: Units, Phi: FloatArray) -> Units:
        """∂φ_j(x_n)/∂λ_j row by row: each array is (n, m, …), given ``Phi = features(X, units)``.

        It is as large as rows × learnt numbers: callers cut the rows.
        """

    @abstractmethod
    def unscale(self, units: Units, scaling: Scaling) -> Units:
        """Units that give at raw rows what `units` give at scaled rows."""

    def project(self, units: Units) -> Units:
        """The nearest units that satisfy every parameter's constraint."""
        lower = self.lower_bounds()
        return units.map(lambda name, array: np.maximum(array, lower[name]))

    def lower_bounds(self) -> dict[str, float]:
        """The least value of every parameter."""
        return {parameter.name: parameter.lower for parameter in self.parameters}
