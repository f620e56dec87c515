"""How large residuals are at a row: one size everywhere, or a second small model where residuals show it.

The size is σ(x) = exp(clip(φ(x)·w + c)), on the units that the model has already. Residuals r of rows that
took no part are taken as exponentially distributed in size, |r| ~ Exp(1/σ): the loss

    Σ s [|r|/σ + log σ] + ½·pull·‖w‖²

is convex in w and c, and σ is the mean of |r|, whatever its distribution. The directions of φ that are looked
at are the prediction itself and the `MOST_DIRECTIONS` along which units vary most, each of unit variance; the
pull is chosen by cross-validation, and one size everywhere stays unless the loss falls by more than its
standard error. Between rows sizes do not leave the range that 98 % of the rows have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from sleek._runtime.json_values import ModelFileError, array_of, check_keys, number_of
from sleek._runtime.types import FloatArray, IntArray

MOST_DIRECTIONS = 20
PULLS = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
FOLDS = 5
LEAST_ROWS = 30  # with fewer, nothing can be told about sizes
ENDS = 0.01  # of the rows have sizes below or above the range
MOST_STEPS = 30
MOST_LOG = 700.0  # of a size that float64 can hold


@dataclass(frozen=True, eq=False)
class Noise:
    """The size of residuals of one output: log σ(x) = φ(x)·weights + constant, within low … high."""

    weights: FloatArray | None  # (m,); None: the same everywhere
    constant: float
    low: float
    high: float

    @classmethod
    def learn(
        cls, residuals: FloatArray, Phi: FloatArray, own: FloatArray, s: FloatArray
    ) -> tuple[Noise, FloatArray]:
        """From residuals (n,) of rows that took no part, with units' values Phi (n, m).

        Returned are also the sizes (n,) at these rows, each by a model that has not seen the row's residual.

        Parameters
        ----------
        own : array of shape (m,)
            The direction of the prediction itself.
        s : array of shape (n,)
            As how many observations each row counts.
        """
        largest = float(np.abs(residuals).max()) or 1.0  # sums may be beyond float64
        unit = largest * float(np.average(np.abs(residuals) / largest, weights=s))
        if not 0 < unit < np.inf:  # everything is exact, or lost
            return cls(None, 0.0, 0.0, 0.0), np.ones(len(residuals))
        sizes, flat = np.abs(residuals) / unit, cls(None, *[float(np.log(unit))] * 3)
        if s.sum() < LEAST_ROWS or not np.isfinite(Phi).all():
            return flat, flat.at(Phi)
        mean = s @ Phi / s.sum()
        directions = _directions(Phi - mean, own, s)
        Z = (Phi - mean) @ directions
        pull, unseen = _cross_validated(Z, sizes, s)
        if pull is None:
            return flat, flat.at(Phi)
        found = fit_sizes(Z, sizes, s, pull)
        weights = directions @ found[1:]
        constant = float(found[0] + np.log(unit) - mean @ weights)
        low, high = np.quantile(Phi @ weights + constant, [ENDS, 1.0 - ENDS])
        noise = cls(weights, constant, float(low), float(high))
        return noise, np.exp(np.clip(unseen + np.log(unit), low, high))

    def at(self, Phi: FloatArray) -> FloatArray:
        """σ for units' values Phi (n, m)."""
        if self.weights is None:
            return np.full(len(Phi), np.exp(self.low))
        return np.asarray(np.exp(np.clip(Phi @ self.weights + self.constant, self.low, self.high)))

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        weights = None if self.weights is None else self.weights.tolist()
        return {"weights": weights, "constant": self.constant, "low": self.low, "high": self.high}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], where: str) -> Noise:
        """What `to_json` wrote, checked."""
        check_keys(block, {"weights", "constant", "low", "high"}, f"`{where}`")
        weights = None if block["weights"] is None else array_of(block["weights"], f"{where}.weights", 1)
        constant, low, high = (number_of(block[key], f"{where}.{key}") for key in ("constant", "low", "high"))
        if not -MOST_LOG <= low <= high <= MOST_LOG or (weights is None and low != high):
            raise ModelFileError(
                f"`{where}` must have sizes within float64, the lowest not above the highest."
            )
        return cls(weights, constant, low, high)


def fit_sizes(
    Z: FloatArray, sizes: FloatArray, s: FloatArray, pull: float, start: FloatArray | None = None
) -> FloatArray:
    """The constant and the weights (1 + p,) of log σ = c + Z·w with least loss, by Newton's method.

    >>> Z = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> fit_sizes(Z, np.exp(2 + 3 * Z[:, 0]), np.ones(4), 0.0).round(6)
    array([2., 3.])
    """
    B = np.column_stack([np.ones(len(Z)), Z])
    ridge = np.append(0.0, np.full(Z.shape[1], pull))
    if start is None:
        start = np.zeros(B.shape[1])
        start[0] = np.log(np.average(sizes, weights=s))
    x = start

    def loss(x: FloatArray) -> float:
        log_size = B @ x
        with np.errstate(over="ignore"):
            return float(s @ (sizes * np.exp(-log_size) + log_size) + 0.5 * ridge @ x**2)

    value = loss(x)
    for _ in range(MOST_STEPS):
        ratio = s * sizes * np.exp(-(B @ x))
        hessian = B.T @ (ratio[:, None] * B) + np.diag(ridge)
        hessian += 1e-12 * np.trace(hessian) * np.eye(len(x))
        step = np.linalg.solve(hessian, B.T @ (s - ratio) + ridge * x)
        length, before = 1.0, value
        while not (value := loss(x - length * step)) <= before and length > 1e-9:
            length /= 2.0
        if not value <= before:
            break
        x = x - length * step
        if before - value <= 1e-10 * abs(value):
            break
    return x


def _directions(centred: FloatArray, own: FloatArray, s: FloatArray) -> FloatArray:
    """(m, p): the prediction, and the principal axes of the units' values, each of unit variance."""
    unit = float(np.abs(centred).max()) or 1.0  # squares may be beyond float64
    scaled = centred / unit
    covariance = scaled.T @ (s[:, None] * scaled) / s.sum()
    values, vectors = eigh(covariance)
    kept = np.flatnonzero(values > max(1e-8 * values[-1], np.finfo(float).tiny))[::-1][:MOST_DIRECTIONS]
    axes = vectors[:, kept] / np.sqrt(values[kept])
    own = own / (float(np.abs(own).max()) or 1.0)
    spread = float(own @ covariance @ own)
    return (np.column_stack([own / np.sqrt(spread), axes]) if spread > 0 else axes) / unit


def _cross_validated(Z: FloatArray, sizes: FloatArray, s: FloatArray) -> tuple[float | None, FloatArray]:
    """The pull of least cross-validated loss, and with it log σ (n,) by models that have not seen the row.

    No pull if the loss is not below that of one size everywhere by more than its standard error.
    """
    fold: IntArray = np.random.default_rng(0).permutation(len(Z)) % FOLDS
    flat, log_sizes = np.zeros(len(Z)), np.zeros((len(PULLS), len(Z)))
    for number in range(FOLDS):
        rest, out = fold != number, fold == number
        mean = np.average(sizes[rest], weights=s[rest])
        if not mean > 0:
            return None, flat
        flat[out] = sizes[out] / mean + np.log(mean)
        found = None
        for i, pull in enumerate(PULLS):
            found = fit_sizes(Z[rest], sizes[rest], s[rest], pull, found)
            log_sizes[i, out] = found[0] + Z[out] @ found[1:]
    with np.errstate(over="ignore"):
        losses = sizes * np.exp(-log_sizes) + log_sizes
    best = int(np.argmin(losses @ s))
    gain = flat - losses[best]
    mean = float(np.average(gain, weights=s))
    error = float(np.sqrt(np.sum(s * (gain - mean) ** 2)) / s.sum())
    return (PULLS[best] if mean > error else None), log_sizes[best]
