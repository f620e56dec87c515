"""What a basis is: learnable functions φ_j(x; λ_j), their gradients, and how they scale.

A new basis is one file in this room: a final subclass of `Basis` with a `name`. It is then known by that
name to every estimator (``basis="name"``) and, in the tests, to the contract suite of `sleek.testing`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.formula import Formula
from sleek.bases.units import Coordinates, Parameter, Units
from sleek.rows.scaling import Scaling


class Basis(BaseEstimator, ABC):
    """A family of learnable functions φ_j(x; λ_j), stateless: the numbers live in `Units`."""

    name: ClassVar[str]
    noun: ClassVar[str] = "unit"  # what one of them is called
    parameters: ClassVar[tuple[Parameter, ...]]
    auto_shapes: ClassVar[tuple[float, ...]] = (1.0,)  # tried by shape="auto", in units of 1/features
    leaf_shapes: ClassVar[tuple[float, ...]] = ()  # sharpness at leaves of trees; none: it starts at rows
    per_feature: ClassVar[bool] = False  # a unit for every feature, not as many as are asked for
    draft_iterations: ClassVar[int] = 20  # enough training to compare settings
    formula: ClassVar[Formula | None] = (
        None  # for export and local slopes; None if it cannot be written as one
    )

    @abstractmethod
    def start(self, centers: FloatArray, shape: float, rng: np.random.Generator) -> Units:
        """Units located at `centers` (m, d), with one common initial sharpness `shape` > 0 for a feature."""

    def start_at_leaves(
        self, lows: FloatArray, highs: FloatArray, shape: FloatArray, middle: FloatArray
    ) -> Units:
        """Units at leaves of trees, for bases that declare `leaf_shapes`.

        Leaves have sides `lows` and `highs` (m, d), infinite where they are open; `shape` (d,) is the
        sharpness of sides, and `middle` (d,) the middle of the data.
        """
        raise TypeError(f"{type(self).__name__} declares no `leaf_shapes`: it starts at rows.")

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

    @property
    def learns(self) -> bool:
        """Whether its units have numbers to be learnt."""
        return any(parameter.learnt for parameter in self.parameters)

    @property
    def has_shared(self) -> bool:
        """Whether units share learnt numbers."""
        return any(parameter.shared and parameter.learnt for parameter in self.parameters)

    def take(self, units: Units, kept: AnyArray) -> Units:
        """Some of the units, with all that they share."""
        shared = {parameter.name for parameter in self.parameters if parameter.shared}
        return units.map(lambda name, array: array if name in shared else array[kept])

    def join(self, units: Units, more: Units) -> Units:
        """Both units' arrays one after the other; what units share is that of the first."""
        shared = {parameter.name for parameter in self.parameters if parameter.shared}
        return units.map(lambda name, array: array if name in shared else np.concatenate([array, more[name]]))

    def lower_bounds(self) -> dict[str, float]:
        """The least value of every parameter."""
        return {parameter.name: parameter.lower for parameter in self.parameters}
