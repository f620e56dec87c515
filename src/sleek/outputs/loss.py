"""Loss functions, which training minimises as a sequence of weighted least squares problems.

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

from sleek._runtime.exponentials import expit, logsumexp, softmax
from sleek._runtime.types import FloatArray

LEAST_CURVATURE = 1e-6  # of a row that is certain: its weight must not be 0


class Loss(ABC):
    """A loss ℓ of outputs Y (n, k) for targets T (n, k), summed over the outputs of a row.

    A new loss is one subclass. It says everything that a fit has to know: its values and slopes, the least
    squares problem that touches it, its value for a model without any information (`unit`), its curvature
    there (`curvature`), from where to minimise it (`start`), and what outputs mean (`expectation`).
    """

    name: ClassVar[str]  # in settings and model files
    quadratic: ClassVar[bool] = False  # whether `working` is always (T, 1): one round then solves it
    log_odds: ClassVar[bool] = False  # whether outputs are logarithms of odds
    # Whether least squares are but a beginning: constants come first, strength and size are chosen again.
    chooses: ClassVar[bool] = False
    # Whether the loss of rows is near a solution the quadratic that touches it, so that rows can come in and
    # leave later. (Those of a kink have no curvature that says how the solution moves.)
    smooth: ClassVar[bool] = True

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

    def values_and_slopes(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both, where what they share need not be computed twice."""
        return self.values(T, Y), self.slopes(T, Y)

    def curvatures(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """∂²ℓ/∂y∂y' (n, k, k), positive definite: how rows count that came before others.

        The weights of `working` are for training: they may be larger, so that steps are safe, and have to be
        the same for all outputs.
        """
        _, w = self.working(T, Y)
        found: FloatArray = w[:, None, None] * np.eye(T.shape[1])
        return found

    @property
    def reach(self) -> float:
        """By how much outputs may move until curvatures are no longer those there were, about."""
        return np.inf

    @abstractmethod
    def unit(self, n_outputs: int) -> float:
        """The loss of a row in a model without any information: tolerances are shares of it."""

    @abstractmethod
    def curvature(self, n_outputs: int) -> float:
        """∂²ℓ/∂y² in a model without any information."""

    def start(self, theta: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights and constants to begin with, from those of least squares for the same targets."""
        return theta, b

    def expectation(self, Y: FloatArray) -> FloatArray:
        """The targets (n, k) to expect where outputs are Y: the inverse of the link."""
        return Y


class SquaredLoss(Loss):
    """ℓ = ½ Σ (t - y)².

    >>> SquaredLoss().values(np.array([[1.0]]), np.array([[3.0]]))
    array([2.])
    """

    name: ClassVar[str] = "squared_error"
    quadratic: ClassVar[bool] = True

    def values(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        values: FloatArray = 0.5 * np.sum((T - Y) ** 2, axis=1)
        return values

    def working(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return T, np.ones(len(T))

    def unit(self, n_outputs: int) -> float:
        """Half the variance of targets that are encoded."""
        return 0.5 * n_outputs

    def curvature(self, n_outputs: int) -> float:
        return 1.0


SQUARED = SquaredLoss()


class LogisticLoss(Loss):
    """ℓ = -log p(t), for classes coded as T = ±1: outputs are log-odds.

    One column says log p(+1)/p(-1); of several, p(k) = exp(y_k)/Σ exp(y). There the quadratic has the
    curvature ½, which no direction exceeds (Böhning's bound), so that all outputs share one matrix.

    >>> loss, T = LogisticLoss(), np.array([[1.0], [-1.0]])
    >>> loss.values(T, np.array([[0.0], [0.0]])).round(3), loss.slopes(T, np.array([[0.0], [0.0]]))[:, 0]
    (array([0.693, 0.693]), array([-0.5,  0.5]))
    """

    name: ClassVar[str] = "log_loss"
    log_odds: ClassVar[bool] = True

    def values(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        if T.shape[1] == 1:
            values: FloatArray = np.logaddexp(0.0, -T[:, 0] * Y[:, 0])
            return values
        return np.asarray(logsumexp(Y) - np.sum(np.where(T > 0, Y, 0.0), axis=1))

    def probabilities(self, Y: FloatArray) -> FloatArray:
        """p (n, k) of +1 in every column."""
        return expit(Y) if Y.shape[1] == 1 else softmax(Y)

    def unit(self, n_outputs: int) -> float:
        return float(np.log(max(2, n_outputs)))

    def curvature(self, n_outputs: int) -> float:
        """p(1 - p) of classes that are all as frequent."""
        k = max(2, n_outputs)
        return (1.0 - 1.0 / k) / k

    def start(self, theta: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least squares expect 2p - 1, which is half the log-odds near 0."""
        return 2.0 * theta, 2.0 * b

    def expectation(self, Y: FloatArray) -> FloatArray:
        """2p - 1."""
        return 2.0 * self.probabilities(Y) - 1.0

    def working(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = self.probabilities(Y)
        w = np.maximum(p * (1.0 - p), LEAST_CURVATURE)[:, 0] if T.shape[1] == 1 else np.full(len(T), 0.5)
        return Y - (p - (T > 0)) / w[:, None], w

    def curvatures(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """p(1 - p) of one column; diag p - ppᵀ of several."""
        p = self.probabilities(Y)
        if T.shape[1] == 1:
            return np.maximum(p * (1.0 - p), LEAST_CURVATURE)[:, :, None]
        return (p[:, :, None] + LEAST_CURVATURE) * np.eye(T.shape[1]) - p[:, :, None] * p[:, None, :]

    @property
    def reach(self) -> float:
        """No probability becomes another then, but for a factor of 2.7."""
        return 1.0

    def slopes(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        return self.probabilities(Y) - (T > 0)

    def values_and_slopes(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both from one exponential of each output."""
        if T.shape[1] == 1:
            margins = T * Y
            small = np.exp(-np.abs(margins))  # σ(-|margin|)·(1 + small)
            values = np.log1p(small) - np.minimum(margins, 0.0)
            return values[:, 0], np.where(margins > 0, small, 1.0) / (1.0 + small) * -T
        rows, own = np.arange(len(T)), T.argmax(axis=1)  # the class of each row
        most = Y.max(axis=1)
        values = most - Y[rows, own]
        slopes = Y - most[:, None]
        np.exp(slopes, out=slopes)
        total = slopes.sum(axis=1)
        values += np.log(total)
        slopes /= total[:, None]
        slopes[rows, own] -= 1.0
        return values, slopes


LOGISTIC = LogisticLoss()
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (SQUARED, LOGISTIC)}
