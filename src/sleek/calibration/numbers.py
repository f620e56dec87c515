"""Intervals, quantiles and standard deviations of numbers, from residuals of rows that took no part in a fit.

A new row's residual is taken to be σ(x)·√(1 + h(x)) times a number u that is distributed as it was in those
rows: σ is the size of residuals there (`noise`), h the leverage (`leverage`). Then

    interval   ŷ ± σ√(1 + h)·q,     q the quantile of |u| that the level asks for,
    quantile   ŷ + σ√(1 + h)·Q,     Q the quantile of u,
    std        σ√(1 + h)·√(mean u²).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sleek._runtime.json_values import ModelFileError, array_of, check_keys, list_of, object_of
from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration.base import Calibration
from sleek.calibration.groups import Grouped
from sleek.calibration.leverage import Leverage
from sleek.calibration.noise import Noise
from sleek.calibration.quantiles import BOTH_ENDS, ROUNDING, Quantiles, check_level, too_few

LEAST_LEVERAGE = 0.02  # on average: less makes intervals wider by less than a per cent, and is left out


@dataclass(frozen=True, eq=False)
class NumberCalibration(Calibration):
    """Intervals for the k outputs of a regression with m units."""

    noise: tuple[Noise, ...]  # one for each output
    leverage: Leverage | None
    sizes: tuple[Grouped, ...]  # of |u|, one for each output
    signed: tuple[Quantiles, ...]  # of u
    deviations: FloatArray  # (k,) √ mean u²

    kind: ClassVar[str] = "numbers"

    @classmethod
    def learn(
        cls,
        residuals: FloatArray,
        Phi: FloatArray,
        theta: FloatArray,
        weights: FloatArray,
        leverage: Leverage | None = None,
    ) -> Self:
        """From residuals (n, k) of rows that took no part, each as many observations as it weighs.

        Parameters
        ----------
        residuals : in the target's own units
        Phi : array of shape (n, m)
            The units' values at the rows.
        theta : array of shape (m, k)
            The weights of the units.
        leverage : of the fit, if it is known
        """
        known = np.isfinite(residuals).all(axis=1)
        if not known.any():
            residuals, known = np.zeros_like(residuals), np.ones_like(known)
        residuals, Phi, weights = residuals[known], Phi[known], weights[known]
        if leverage is not None and not np.average(leverage.at(Phi), weights=weights) > LEAST_LEVERAGE:
            leverage = None
        learnt = [Noise.learn(residuals[:, k], Phi, theta[:, k], weights) for k in range(residuals.shape[1])]
        spreads = np.column_stack([sizes for _, sizes in learnt])
        if leverage is not None:
            spreads *= np.sqrt(1.0 + leverage.at(Phi))[:, None]
        plain = cls(tuple(noise for noise, _ in learnt), leverage, (), (), np.empty(0))
        return plain.with_residuals(residuals, spreads, weights)

    def with_residuals(
        self, residuals: FloatArray, spreads: FloatArray, weights: FloatArray, groups: AnyArray | None = None
    ) -> Self:
        """The same spreads, and distributions of u from these rows."""
        u = residuals / spreads
        largest = np.maximum(np.abs(u).max(axis=0), np.finfo(float).tiny)  # squares may be beyond float64
        return replace(
            self,
            sizes=tuple(Grouped.of(np.abs(column), weights, groups) for column in u.T),
            signed=tuple(Quantiles.of(column, weights, BOTH_ENDS) for column in u.T),
            deviations=largest * np.sqrt(np.average(np.square(u / largest), axis=0, weights=weights)),
        )

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

    def spreads(self, Phi: FloatArray) -> FloatArray:
        """σ√(1 + h) for every row and output, (n, k)."""
        S = np.column_stack([noise.at(Phi) for noise in self.noise])
        return S if self.leverage is None else np.asarray(S * np.sqrt(1.0 + self.leverage.at(Phi))[:, None])

    def intervals(
        self, Y: FloatArray, spreads: FloatArray, confidence_level: Any, groups: AnyArray | None = None
    ) -> FloatArray:
        """Lower and upper ends, (n, k, 2), or (n, k, 2, levels) for several levels."""
        several = np.ndim(confidence_level) > 0
        levels = [check_level(level) for level in (confidence_level if several else [confidence_level])]
        if not levels:
            raise ValueError("`confidence_level` must be a number between 0 and 1, or several, got none.")
        ends = np.empty((*Y.shape, 2, len(levels)))
        for k, sizes in enumerate(self.sizes):
            for i, level in enumerate(levels):
                half = spreads[:, k] * sizes.at_least(level, groups, len(Y))
                ends[:, k, 0, i], ends[:, k, 1, i] = Y[:, k] - half, Y[:, k] + half
        return ends if several else ends[..., 0]

    def quantiles(self, Y: FloatArray, spreads: FloatArray, quantiles: Any) -> FloatArray:
        """The quantiles of every row and output, (n, k, quantiles)."""
        wanted = [_check_quantile(level) for level in np.atleast_1d(np.asarray(quantiles, dtype=object))]
        found = np.empty((*Y.shape, len(wanted)))
        for k, signed in enumerate(self.signed):
            for i, level in enumerate(wanted):
                if max(level, 1.0 - level) > signed.n / (signed.n + 1.0) + ROUNDING:
                    raise ValueError(too_few(max(level, 1.0 - level), signed.n))
                found[:, k, i] = Y[:, k] + spreads[:, k] * signed.between(level)
        return found

    def standard_deviations(self, spreads: FloatArray) -> FloatArray:
        """The standard deviation of the error at every row and output, (n, k)."""
        return np.asarray(spreads * self.deviations)

    def to_json(self) -> dict[str, Any]:
        return {
            "noise": [noise.to_json() for noise in self.noise],
            "leverage": None if self.leverage is None else self.leverage.to_json(),
            "sizes": [sizes.to_json() for sizes in self.sizes],
            "signed": [signed.to_json() for signed in self.signed],
            "deviations": self.deviations.tolist(),
        }

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_units: int, n_outputs: int) -> Self:
        check_keys(block, {"noise", "leverage", "sizes", "signed", "deviations"}, "`calibration`")
        parts: dict[str, list[Any]] = {}
        for key, read in (("noise", Noise), ("sizes", Grouped), ("signed", Quantiles)):
            where = f"calibration.{key}"
            parts[key] = [
                read.from_json(object_of(item, where), where) for item in list_of(block[key], where)
            ]
        deviations = array_of(block["deviations"], "calibration.deviations", 1)
        if {len(deviations), *map(len, parts.values())} != {n_outputs} or not (deviations >= 0).all():
            raise ModelFileError(
                f"`calibration` must speak of {n_outputs} outputs, and no deviation be negative."
            )
        if any(noise.weights is not None and len(noise.weights) != n_units for noise in parts["noise"]):
            raise ModelFileError(f"`calibration.noise` must have a weight for each of {n_units} units.")
        leverage = None
        if block["leverage"] is not None:
            where = "calibration.leverage"
            leverage = Leverage.from_json(object_of(block["leverage"], where), n_units, where)
        return cls(tuple(parts["noise"]), leverage, tuple(parts["sizes"]), tuple(parts["signed"]), deviations)


def _check_quantile(level: Any) -> float:
    number = isinstance(level, int | float | np.integer | np.floating) and not isinstance(level, bool)
    if not number or not 0.0 < level < 1.0:
        raise ValueError(
            f"`quantiles` must be numbers between 0 and 1, such as 0.05 and 0.95, got {level!r:.80}."
        )
    return float(level)
