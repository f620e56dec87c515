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
from sklearn.base import BaseEstimator

from sleek._typing import FloatArray


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
class Scaling:
    """The affine map x ↦ (x - mean)·factor of each feature.

    A constant feature has factor 0: it is ignored in training, and by the fitted model ever after.
    """

    mean: FloatArray
    factor: FloatArray

    def apply(self, X: FloatArray) -> FloatArray:
        """Raw rows in training units."""
        scaled: FloatArray = (X - self.mean) * self.factor
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

    @abstractmethod
    def start(self, centers: FloatArray, shape: float) -> Units:
        """Units located at `centers` (m, d), with one common initial sharpness `shape` > 0."""

    @abstractmethod
    def features(self, X: FloatArray, units: Units) -> FloatArray:
        """Phi (n, m): the value of every unit at every row."""

    @abstractmethod
    def vjp(self, X: FloatArray, units: Units, Phi: FloatArray, dPhi: FloatArray) -> Units:
        """Σ_n dPhi_nj ∂φ_j(x_n)/∂λ_j for every unit, given ``Phi = features(X, units)``."""

    @abstractmethod
    def unscale(self, units: Units, scaling: Scaling) -> Units:
        """Units that give at raw rows what `units` give at scaled rows."""

    def project(self, units: Units) -> Units:
        """The nearest units that satisfy every parameter's constraint."""
        lower = {parameter.name: parameter.lower for parameter in self.parameters}
        return units.map(lambda name, array: np.maximum(array, lower[name]))
