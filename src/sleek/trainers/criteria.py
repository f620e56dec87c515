"""The paper's three criteria for training the units: each rewards outputs far from the decision boundary.

Each is a sum over rows and outputs of ``value(Y, T)`` with derivative ``slope(Y, T)`` by the output.
"""

from abc import ABC, abstractmethod

import numpy as np

from sleek._runtime.types import FloatArray


class Objective(ABC):
    """A criterion to maximise, for outputs Y and targets T of the same shape (n, k)."""

    @abstractmethod
    def value(self, Y: FloatArray, T: FloatArray) -> FloatArray:
        """The criterion's summand for every row and output."""

    @abstractmethod
    def slope(self, Y: FloatArray, T: FloatArray) -> FloatArray:
        """Its derivative by the output."""


class Absolute(Objective):
    """J = Σ |y|."""

    def value(self, Y: FloatArray, T: FloatArray) -> FloatArray:
        return np.abs(Y)

    def slope(self, Y: FloatArray, T: FloatArray) -> FloatArray:
        return np.sign(Y)


class Target(Objective):
    """J = Σ t·y."""

    def value(self, Y: FloatArray, T: FloatArray) -> FloatArray:
        product: FloatArray = T * Y
        return product

    def slope(self, Y: FloatArray, T: FloatArray) -> FloatArray:
        return T


class Squared(Objective):
    """F = Σ y²."""

    def value(self, Y: FloatArray, T: FloatArray) -> FloatArray:
        return np.square(Y)

    def slope(self, Y: FloatArray, T: FloatArray) -> FloatArray:
        return 2.0 * Y


OBJECTIVES: dict[str, Objective] = {"absolute": Absolute(), "target": Target(), "squared": Squared()}
