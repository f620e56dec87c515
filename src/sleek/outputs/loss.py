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
from scipy.special import expit, logsumexp, softmax

from sleek._runtime.types import FloatArray

LEAST_CURVATURE = 1e-6  # of a row that is beyond doubt: its weight must not be 0


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

    def slopes(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """∂ℓ/∂y, (n, k)."""
        targets, w = self.working(T, Y)
        slopes: FloatArray = w[:, None] * (Y - targets)
        return slopes


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


SQUARED = SquaredLoss()


class LogisticLoss(Loss):
    """ℓ = -log p(t), for classes coded as T = ±1: outputs are log-odds.

    One column says log p(+1)/p(-1); of several, p(k) = exp(y_k)/Σ exp(y). There the quadratic has the
    curvature ½, which no direction exceeds (Böhning's bound), so that all outputs share one matrix.

    >>> loss, T = LogisticLoss(), np.array([[1.0], [-1.0]])
    >>> loss.values(T, np.array([[0.0], [0.0]])).round(3), loss.slopes(T, np.array([[0.0], [0.0]]))[:, 0]
    (array([0.693, 0.693]), array([-0.5,  0.5]))
    """

    def values(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        if T.shape[1] == 1:
            values: FloatArray = np.logaddexp(0.0, -T[:, 0] * Y[:, 0])
            return values
        return np.asarray(logsumexp(Y, axis=1) - np.sum(np.where(T > 0, Y, 0.0), axis=1))

    def probabilities(self, Y: FloatArray) -> FloatArray:
        """p (n, k) of +1 in every column."""
        return np.asarray(expit(Y) if Y.shape[1] == 1 else softmax(Y, axis=1))

    def working(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = self.probabilities(Y)
        w = np.maximum(p * (1.0 - p), LEAST_CURVATURE)[:, 0] if T.shape[1] == 1 else np.full(len(T), 0.5)
        return Y - (p - (T > 0)) / w[:, None], w

    def slopes(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        return self.probabilities(Y) - (T > 0)


LOGISTIC = LogisticLoss()
