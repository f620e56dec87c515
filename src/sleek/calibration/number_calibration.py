"""Intervals, quantiles and standard deviations of numbers, from residuals of held-out rows.

A new row's residual is taken to be σ(x)·√(1 + h(x)) times a number u with the distribution that it has in
held-out rows: σ is the size of residuals there (`noise`), h the leverage (`leverage`). Then

    interval   ŷ ± σ√(1 + h)·q,     q the quantile of |u| that the level asks for,
    quantile   ŷ + σ√(1 + h)·Q,     Q the quantile of u,
    std        σ√(1 + h)·√(mean u²).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration.base import Calibration
from sleek.calibration.groups import Grouped
from sleek.calibration.leverage import Leverage
from sleek.calibration.noise import Noise
from sleek.calibration.quantiles import BOTH_ENDS, ROUNDING, Quantiles, check_level, too_few

LEAST_LEVERAGE = 0.02  # on average: less makes intervals wider by less than a per cent, and is left out


@dataclass(frozen=True, eq=False)
class Spread:
    """Predictions of k outputs for n rows, and how large their residuals are expected to be."""

    values: FloatArray  # (n, k, 2)

    @classmethod
    def of(cls, predictions: FloatArray, sizes: FloatArray) -> Self:
        """Of two arrays (n, k)."""
        return cls(np.stack([predictions, sizes], axis=2))

    @property
    def predictions(self) -> FloatArray:
        """ŷ, (n, k)."""
        return self.values[:, :, 0]

    @property
    def sizes(self) -> FloatArray:
        """σ√(1 + h), (n, k)."""
        return self.values[:, :, 1]


@dataclass(frozen=True, eq=False)
class NumberCalibration(Calibration):
    """Intervals for the k outputs of a regression with m units."""

    noise: tuple[Noise, ...]  # one for each output
    leverage: Leverage | None
    sizes: tuple[Grouped, ...]  # of |u|, one for each output
    signed: tuple[Quantiles, ...]  # of u
    deviations: FloatArray  # (k,) √ mean u²

    kind: ClassVar[str] = "numbers"
    reads: ClassVar[str] = "numbers"
    says: ClassVar[str] = "Intervals and quantiles are for numbers"

    @classmethod
    def learn(
        cls,
        residuals: FloatArray,
        Phi: FloatArray,
        theta: FloatArray,
        weights: FloatArray,
        X: FloatArray,
        leverage: Leverage | None = None,
    ) -> Self:
        """From residuals (n, k) of held-out rows, each as many observations as it weighs.

        Parameters
        ----------
        residuals : in the target's own units
        Phi : array of shape (n, m)
            The units' values at the rows.
        theta : array of shape (m, k)
            The weights of the units.
        X : array of shape (n, d)
            The features of the rows.
        leverage : of the fit, if it is known
        """
        known = np.isfinite(residuals).all(axis=1)
        if not known.any():
            residuals, known = np.zeros_like(residuals), np.ones_like(known)
        residuals, Phi, weights, X = residuals[known], Phi[known], weights[known], X[known]
        if leverage is not None and not np.average(leverage.at(Phi), weights=weights) > LEAST_LEVERAGE:
            leverage = None
        outputs = range(residuals.shape[1])
        learnt = [Noise.learn(residuals[:, k], Phi, theta[:, k], weights, X) for k in outputs]
        sizes = np.column_stack([found for _, found in learnt])
        if leverage is not None:
            sizes *= np.sqrt(1.0 + leverage.at(Phi))[:, None]
        plain = cls(tuple(noise for noise, _ in learnt), leverage, (), (), np.empty(0))
        return plain.with_residuals(residuals, sizes, weights)

    def with_residuals(
        self, residuals: FloatArray, sizes: FloatArray, weights: FloatArray, groups: AnyArray | None = None
    ) -> Self:
        """The same noise, and distributions of u from residuals and sizes (n, k) of these rows."""
        u = residuals / sizes
        largest = np.maximum(np.abs(u).max(axis=0), np.finfo(float).tiny)  # squares may be beyond float64
        return replace(
            self,
            sizes=tuple(Grouped.of(np.abs(column), weights, groups) for column in u.T),
            signed=tuple(Quantiles.of(column, weights, BOTH_ENDS) for column in u.T),
            deviations=largest * np.sqrt(np.average(np.square(u / largest), axis=0, weights=weights)),
        )

    def evidence(self, Y: FloatArray, Phi: FloatArray, X: FloatArray) -> FloatArray:
        return self.spread(Y, Phi, X).values

    def with_targets(
        self, evidence: FloatArray, targets: Any, weights: FloatArray, groups: AnyArray | None = None
    ) -> Self:
        spread = Spread(evidence)
        return self.with_residuals(targets - spread.predictions, spread.sizes, weights, groups)

    def with_moments(
        self, G: FloatArray, mean: FloatArray, weight: float, C: float, observation: float
    ) -> Self:
        """The same noise and quantiles, with the leverage of other rows; see `Leverage.of`.

        On average over these rows h is observation·(1 + tr (G + I/C)⁻¹G)/weight, and tr (G + I/C)⁻¹G is
        m - tr (G + I/C)⁻¹/C.
        """
        m = len(G)
        if self.leverage is None and observation * (1 + m) <= LEAST_LEVERAGE * weight:
            return self
        leverage = Leverage.of(G, mean, weight, C, observation)
        if leverage is not None:
            trace = float(np.sum(leverage.factor**2)) / observation
            if not observation * (1.0 + m - trace / C) > LEAST_LEVERAGE * weight:
                leverage = None
        return replace(self, leverage=leverage)

    def spread(self, predictions: FloatArray, Phi: FloatArray, X: FloatArray) -> Spread:
        """For predictions (n, k) at rows X (n, d) with units' values Phi (n, m)."""
        sizes = np.column_stack([noise.at(Phi, X) for noise in self.noise])
        if self.leverage is not None:
            sizes = sizes * np.sqrt(1.0 + self.leverage.at(Phi))[:, None]
        return Spread.of(predictions, sizes)

    def intervals(self, spread: Spread, confidence_level: Any, groups: AnyArray | None = None) -> FloatArray:
        """Lower and upper ends, (n, k, 2), or (n, k, 2, levels) for several levels."""
        several = np.ndim(confidence_level) > 0
        levels = [check_level(level) for level in (confidence_level if several else [confidence_level])]
        if not levels:
            raise ValueError("`confidence_level` must be a number between 0 and 1, or several, got none.")
        Y = spread.predictions
        ends = np.empty((*Y.shape, 2, len(levels)))
        for k, sizes in enumerate(self.sizes):
            for i, level in enumerate(levels):
                half = spread.sizes[:, k] * sizes.at_least(level, groups, len(Y))
                ends[:, k, 0, i], ends[:, k, 1, i] = Y[:, k] - half, Y[:, k] + half
        return ends if several else ends[..., 0]

    def quantiles(self, spread: Spread, quantiles: Any) -> FloatArray:
        """The quantiles of every row and output, (n, k, quantiles)."""
        wanted = [_check_quantile(level) for level in np.atleast_1d(np.asarray(quantiles, dtype=object))]
        found = np.empty((*spread.predictions.shape, len(wanted)))
        for k, signed in enumerate(self.signed):
            for i, level in enumerate(wanted):
                if max(level, 1.0 - level) > signed.n / (signed.n + 1.0) + ROUNDING:
                    raise ValueError(too_few(max(level, 1.0 - level), signed.n))
                found[:, k, i] = spread.predictions[:, k] + spread.sizes[:, k] * signed.between(level)
        return found

    def standard_deviations(self, spread: Spread) -> FloatArray:
        """The standard deviation of the error at every row and output, (n, k)."""
        return np.asarray(spread.sizes * self.deviations)

    def to_json(self) -> dict[str, Any]:
        return {
            "noise": [noise.to_json() for noise in self.noise],
            "leverage": None if self.leverage is None else self.leverage.to_json(),
            "sizes": [sizes.to_json() for sizes in self.sizes],
            "signed": [signed.to_json() for signed in self.signed],
            "deviations": self.deviations.tolist(),
        }

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_units: int, n_outputs: int, n_features: int) -> Self:
        found = fields.read(
            block,
            {
                "noise": fields.several(
                    fields.result_of(lambda item, where: Noise.from_json(item, n_units, n_features, where)),
                    "output",
                ),
                "leverage": fields.nullable(
                    fields.result_of(lambda item, where: Leverage.from_json(item, n_units, where))
                ),
                "sizes": fields.several(fields.result_of(Grouped.from_json), "output"),
                "signed": fields.several(fields.result_of(Quantiles.from_json), "output"),
                "deviations": fields.array("output", least=0),
            },
            "calibration",
            output=n_outputs,
        )
        return cls(**found)


def _check_quantile(level: Any) -> float:
    number = isinstance(level, int | float | np.integer | np.floating) and not isinstance(level, bool)
    if not number or not 0.0 < level < 1.0:
        raise ValueError(
            f"`quantiles` must be numbers between 0 and 1, such as 0.05 and 0.95, got {level!r:.80}."
        )
    return float(level)
