"""What training minimises, as a sequence of weighted least squares problems.

A loss ℓ(t, y) touches, at outputs Y, the quadratic ½ w (t' - y)² that has its slope and curvature there:

    w = ∂²ℓ/∂y²,    t' = y - (∂ℓ/∂y)/w.

The closed form solves that problem exactly, so a loss is minimised by solving, reading off new outputs, and
solving again; the squared loss is its own quadratic and needs one round. (Logistic regression by such
rounds is Newton's method, known as iteratively reweighted least squares.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from sleek._runtime.types import FloatArray


class Loss(ABC):
    """The loss of outputs Y (n, k) for targets T (n, k), summed over the outputs of a row."""

    quadratic: ClassVar[bool] = False  # whether `working` is always (T, 1): one round then solves it

    @abstractmethod
    def values(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """ℓ of every row, (n,)."""

    @abstractmethod
    def working(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Targets t' (n, k) and weights w (n,) > 0 of the least squares problem that touches the loss at Y.

        One weight for all outputs of a row: they share the matrix that is factored.
        """


class SquaredLoss(Loss):
    """ℓ = ½ Σ (t - y)².

    >>> SquaredLoss().values(np.array([[1.0]]), np.array([[3.0]]))
    array([2.])
    """

    quadratic: ClassVar[bool] = True

    def values(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        values: FloatArray = 0.5 * np.sum((T - Y) ** 2, axis=1)
        return values

    def working(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return T, np.ones(len(T))
