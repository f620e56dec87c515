"""A model of the noise: how large residuals are at a row, σ(x) = exp(clip(f(x)·w + c)).

Three models of growing size are compared by cross-validation on held-out residuals, with the loss of `sizes`:

1. one size everywhere;
2. f are the values of the model's own units, in the direction of the prediction and in the `MOST_DIRECTIONS`
   directions along which units vary most, each of unit variance, with a pull chosen among `PULLS`;
3. f are curves of single columns (`noise_curves`), which follow noise that the mean knows nothing of. They
   need `LEAST_CURVE_ROWS` rows.

The simpler one stays unless the other lowers the loss by more than `Z_ERRORS` standard errors of the paired
differences. New rows have no sizes beyond the range that 98 % of the rows have, with curves 99.8 %.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime import fields
from sleek._runtime.json_values import ModelFileError
from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.expansion import Expansion
from sleek.bases.saved_parts import parts_from_json, parts_to_json
from sleek.calibration.noise_curves import MOST_CURVES, Bins, Search
from sleek.calibration.sizes import fit_sizes

MOST_DIRECTIONS = 20
PULLS = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
FOLDS = 5
LEAST_ROWS = 30  # with fewer, nothing can be learnt about sizes,
LEAST_CURVE_ROWS = 200  # and with fewer nothing about curves
Z_ERRORS = 1.0
PATIENCE = 2  # curves in a row that do not lower the cross-validated loss end the search
ENDS = 0.01  # of the rows have sizes below or above the range,
CURVE_ENDS = 0.001  # and with curves, of which all but lines end by themselves
MOST_LOG = 700.0  # of a size that float64 can hold


FIELDS = {
    "weights": fields.nullable(fields.array("weight")),
    "constant": fields.number(),
    "low": fields.number(),
    "high": fields.number(),
    "parts": fields.optional(fields.anything()),
}


@dataclass(frozen=True, eq=False)
class Noise:
    """The size of residuals of one output: log σ(x) = f(x)·weights + constant, within low … high.

    f are the values of `parts`, or those of the model's units if it has no parts of its own.
    """

    weights: FloatArray | None  # None: the same size everywhere
    constant: float
    low: float
    high: float
    parts: Expansion | None = None

    @classmethod
    def learn(
        cls, residuals: FloatArray, Phi: FloatArray, own: FloatArray, s: FloatArray, X: FloatArray
    ) -> tuple[Noise, FloatArray]:
        """From residuals (n,) of held-out rows X (n, d), with units' values Phi (n, m).

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
        sizes, level = np.abs(residuals) / unit, float(np.log(unit))
        flat = cls(None, level, level, level)
        folds: IntArray = np.random.default_rng(0).permutation(len(s)) % FOLDS
        best = _constant(sizes, s, folds)
        if s.sum() >= LEAST_ROWS and best is not None:
            candidates: list[SizeModel | None] = []
            if np.isfinite(Phi).all():
                candidates.append(_of_units(Phi, own, sizes, s, folds))
            if s.sum() >= LEAST_CURVE_ROWS and np.isfinite(X).all():
                candidates.append(_of_curves(X, sizes, s, folds))
            for candidate in candidates:
                if candidate is not None and gains(best.losses, candidate.losses, s):
                    best = candidate
        if best is None or best.fit is None:
            return flat, np.full(len(s), np.exp(level))
        weights, constant, parts = best.fit()
        constant += level
        values = Phi if parts is None else parts.features(X)
        ends = ENDS if parts is None else CURVE_ENDS
        low, high = np.clip(np.quantile(values @ weights + constant, [ends, 1.0 - ends]), -MOST_LOG, MOST_LOG)
        noise = cls(weights, constant, float(low), float(high), parts)
        return noise, np.exp(np.clip(best.log_sizes + level, low, high))

    def at(self, Phi: FloatArray, X: FloatArray) -> FloatArray:
        """σ for rows X (n, d) with units' values Phi (n, m)."""
        if self.weights is None:
            return np.full(len(Phi), np.exp(self.low))
        values = Phi if self.parts is None else self.parts.features(X.astype(np.float64, copy=False))
        return np.asarray(np.exp(np.clip(values @ self.weights + self.constant, self.low, self.high)))

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        weights = None if self.weights is None else self.weights.tolist()
        plain = {"weights": weights, "constant": self.constant, "low": self.low, "high": self.high}
        return plain if self.parts is None else {**plain, "parts": parts_to_json(self.parts)}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_units: int, n_features: int, where: str) -> Noise:
        """What `to_json` wrote, for a model of so many units and features, checked."""
        found = fields.read(block, FIELDS, where)
        weights, low, high = found["weights"], found["low"], found["high"]
        parts = parts_from_json(block["parts"], n_features, f"{where}.parts") if "parts" in block else None
        if not -MOST_LOG <= low <= high <= MOST_LOG or (weights is None and low != high):
            raise ModelFileError(
                f"`{where}` must have sizes within float64, the lowest not above the highest."
            )
        wanted = n_units if parts is None else len(parts)
        if (weights is None and parts is not None) or (weights is not None and len(weights) != wanted):
            raise ModelFileError(f"`{where}` must have a weight for each of {wanted} units.")
        return cls(weights, found["constant"], low, high, parts)


@dataclass(frozen=True, eq=False)
class SizeModel:
    """A candidate for the model of residual sizes, with its cross-validated losses."""

    losses: FloatArray  # (n,) of each row, by a model that has not seen it
    log_sizes: FloatArray  # (n,) by the same models
    fit: Callable[[], tuple[FloatArray, float, Expansion | None]] | None  # on all rows; None: one size


def gains(simpler: FloatArray, other: FloatArray, s: FloatArray) -> bool:
    """Whether the losses of the other are lower by more than `Z_ERRORS` paired standard errors."""
    gain = simpler - other
    mean = float(np.average(gain, weights=s))
    error = float(np.sqrt(np.sum(s * (gain - mean) ** 2)) / s.sum())
    return mean > Z_ERRORS * error


def _losses(sizes: FloatArray, log_sizes: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.asarray(sizes * np.exp(-log_sizes) + log_sizes)


def _constant(sizes: FloatArray, s: FloatArray, folds: IntArray) -> SizeModel | None:
    """One size everywhere; None if all other rows of a fold are exact."""
    log_sizes = np.zeros(len(s))
    for fold in range(FOLDS):
        rest = folds != fold
        mean = np.average(sizes[rest], weights=s[rest]) if rest.any() else 0.0
        if not mean > 0:
            return None
        log_sizes[~rest] = np.log(mean)
    return SizeModel(_losses(sizes, log_sizes), log_sizes, None)


def _of_units(
    Phi: FloatArray, own: FloatArray, sizes: FloatArray, s: FloatArray, folds: IntArray
) -> SizeModel:
    """On directions of the model's units, with the pull of least cross-validated loss."""
    mean = s @ Phi / s.sum()
    directions = _directions(Phi - mean, own, s)
    Z, log_sizes = (Phi - mean) @ directions, np.zeros((len(PULLS), len(s)))
    for fold in range(FOLDS):
        rest, found = folds != fold, None
        for i, pull in enumerate(PULLS):
            found = fit_sizes(Z[rest], sizes[rest], s[rest], pull, found)
            log_sizes[i, ~rest] = found[0] + Z[~rest] @ found[1:]
    losses = _losses(sizes, log_sizes)
    best = int(np.argmin(losses @ s))

    def fit() -> tuple[FloatArray, float, None]:
        found = fit_sizes(Z, sizes, s, PULLS[best])
        weights = directions @ found[1:]
        return weights, float(found[0] - mean @ weights), None

    return SizeModel(losses[best], log_sizes[best], fit)


def _of_curves(X: FloatArray, sizes: FloatArray, s: FloatArray, folds: IntArray) -> SizeModel | None:
    """On as many curves of single columns as cross-validation allows; None if it allows none."""
    bins = Bins.of(X)
    if not (bins.scale > 0).any():
        return None
    searches = [Search(X, bins, sizes, s, folds != fold) for fold in range(FOLDS)]
    log_sizes = np.zeros((MOST_CURVES + 1, len(s)))
    losses, chosen, least = np.zeros_like(log_sizes), 0, 0
    for count in range(MOST_CURVES + 1):
        if count and not all(search.extend() for search in searches):
            break
        for fold, search in enumerate(searches):
            log_sizes[count, folds == fold] = search.log_sizes(X[folds == fold])
        losses[count] = _losses(sizes, log_sizes[count])
        if losses[count] @ s < losses[least] @ s:
            least = count
        if count and gains(losses[chosen], losses[count], s):
            chosen = count
        if count - least >= PATIENCE:
            break
    if not chosen:
        return None

    def fit() -> tuple[FloatArray, float, Expansion]:
        search = Search(X, bins, sizes, s, np.ones(len(s), dtype=bool))
        for _ in range(chosen):
            search.extend()
        parts, weights, constant = search.parts()
        return weights, constant, parts

    return SizeModel(losses[chosen], log_sizes[chosen], fit)


def _directions(centred: FloatArray, own: FloatArray, s: FloatArray) -> FloatArray:
    """(m, p): the prediction, and the principal axes of the units' values, each of unit variance."""
    unit = float(np.abs(centred).max()) or 1.0  # squares may be beyond float64
    scaled = centred / unit
    covariance = scaled.T @ (s[:, None] * scaled) / s.sum()
    values, vectors = np.linalg.eigh(covariance)
    kept = np.flatnonzero(values > max(1e-8 * values[-1], np.finfo(float).tiny))[::-1][:MOST_DIRECTIONS]
    axes = vectors[:, kept] / np.sqrt(values[kept])
    own = own / (float(np.abs(own).max()) or 1.0)
    spread = float(own @ covariance @ own)
    return (np.column_stack([own / np.sqrt(spread), axes]) if spread > 0 else axes) / unit
