"""The leverage h(x) of ridge regression: where training rows say little, errors are larger, by √(1 + h(x)).

For fixed units, weights θ and b of ridge regression have the covariance σ²(ΦᵀSΦ + I/C)⁻¹, so that the error
at x, of which one observation has the weight o, has the variance σ²(1 + h) with

    h(x) = o·(1/Σs + ‖L⁻¹(φ(x) - φ̄)‖²),    LLᵀ = G + I/C    (letters as in `sleek.closed_form`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.types import FloatArray

FIELDS = {
    "least": fields.number(least=0),
    "factor": fields.triangle("unit"),
    "center": fields.array("unit"),
}


@dataclass(frozen=True, eq=False)
class Leverage:
    """h(x) = least + ‖factor·φ(x) - center‖²: with m units, m(m + 3)/2 + 1 numbers.

    >>> found = Leverage.of(np.array([[4.0]]), np.array([0.5]), weight=10.0, C=np.inf)
    >>> found.at(np.array([[0.5], [2.5]]))
    array([0.1, 1.1])
    """

    least: float
    factor: FloatArray  # (m, m), lower triangular
    center: FloatArray  # (m,)

    @classmethod
    def of(
        cls, G: FloatArray, mean: FloatArray, weight: float, C: float, observation: float = 1.0
    ) -> Self | None:
        """From the moments of the units' values; None where they are lost in rounding.

        Parameters
        ----------
        G, mean, weight : Σs(φ-φ̄)(φ-φ̄)ᵀ, φ̄ and Σs
        C : the penalty
        observation : what one observation weighs
        """
        from scipy.linalg import cholesky, solve_triangular

        A = G + np.eye(len(G)) / C
        try:
            L = cholesky(A, lower=True)
            factor = np.sqrt(observation) * np.tril(solve_triangular(L, np.eye(len(G)), lower=True))
        except (np.linalg.LinAlgError, ValueError):
            return None
        factor = np.ascontiguousarray(factor)  # bits of products depend on where numbers lie
        return cls(observation / weight, factor, factor @ mean) if np.isfinite(factor).all() else None

    def at(self, Phi: FloatArray) -> FloatArray:
        """h for units' values Phi (n, m)."""
        return np.asarray(self.least + np.square(Phi @ self.factor.T - self.center).sum(axis=1))

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values; the factor without its zeros."""
        rows = [self.factor[j, : j + 1].tolist() for j in range(len(self.factor))]
        return {"least": self.least, "factor": rows, "center": self.center.tolist()}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_units: int, where: str) -> Self:
        """What `to_json` wrote, checked."""
        return cls(**fields.read(block, FIELDS, where, unit=n_units))
