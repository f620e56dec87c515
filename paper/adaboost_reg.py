"""AdaBoost_Reg of Rätsch, Onoda and Müller (2001): boosting of a soft margin.

A row that AdaBoost weights heavily round after round is hard to learn, perhaps because its label is wrong.
Its influence is the mean weight it was given, each round counted by its vote,

    μ(z_n) = Σ_r b_r s_n^(r) / Σ_r b_r,

and the soft margin forgives it in proportion: with |b| = Σ_r b_r and first weights s⁰ (1/rows if none given)

    ρ̃(z_n) = t_n Σ_r b_r h_r(x_n) + C |b| (μ(z_n)/s⁰_n)².

Votes minimise Σ_n exp(-½ ρ̃(z_n)) by a line search, and rows are weighted by exp(-½ ρ̃(z_n)). C = 0 is
AdaBoost. Dividing by s⁰ makes an average row's influence 1, so that C means the same for any number of rows.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar

from paper.adaboost import Boosting, SoftEnsemble
from sleek._runtime.checks import check_number
from sleek._runtime.types import FloatArray


class AdaBoostRegRBF(SoftEnsemble):
    """AdaBoost with a soft margin: rows that stay hard lose their say.

    Parameters
    ----------
    C : float, default=2.0
        How much influence is forgiven; 0 is AdaBoost.
    n_rounds, n_centers, ridge, iterations, random_state : see `AdaBoostRBF`

    Attributes
    ----------
    nets_, votes_, margins_, classes_ : see `AdaBoostRBF`

    Examples
    --------
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> bool(AdaBoostRegRBF(0.1, n_rounds=20, n_centers=4, random_state=0).fit(X, y).score(X, y) > 0.85)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost nets on rows `X` with two kinds of labels `y`."""
        X, t, s = self._validated(X, y, sample_weight)
        if check_number("C", self.C) < 0:
            raise ValueError(f"`C` must be a number of at least 0, got {self.C!r}.")
        return self._boost(X, t, SoftBoosting(s, float(self.C)))


class SoftBoosting(Boosting):
    """The state of AdaBoost_Reg: AdaBoost's, and what weight every row was given so far."""

    def __init__(self, s: FloatArray, C: float) -> None:
        super().__init__(s)
        self.C = C
        self.given = np.zeros(len(s))  # Σ_r b_r s^(r)

    def restarted(self) -> SoftBoosting:
        return SoftBoosting(self.first, self.C)

    def vote(self, agreement: FloatArray, error: float) -> float:
        """The b ≥ 0 that minimises Σ exp(-½ ρ̃), AdaBoost's own b being the longest step."""
        longest = super().vote(agreement, error)
        if self.C == 0.0:
            return longest

        def loss(b: float) -> float:
            exponent = -0.5 * self.soft_margins(agreement, b)
            top = exponent[self.first > 0].max()
            return float(top + np.log(self.first @ np.exp(exponent - top)))

        best = minimize_scalar(loss, bounds=(0.0, longest), method="bounded", options={"xatol": 1e-6}).x
        return float(best) if loss(float(best)) < loss(0.0) else 0.0

    def soft_margins(self, agreement: FloatArray, b: float) -> FloatArray:
        """ρ̃ after a further net with vote `b`."""
        total = sum(self.votes) + b
        given = self.given + b * self.weights
        influence = np.divide(given, self.first, out=np.zeros(len(given)), where=self.first > 0)  # times |b|
        forgiven = influence**2 / total if total > 0.0 else influence
        soft: FloatArray = self.margins + b * agreement + self.C * forgiven
        return soft

    def add(self, agreement: FloatArray, vote: float) -> None:
        soft = self.soft_margins(agreement, vote)
        self.given = self.given + vote * self.weights
        super().add(agreement, vote)
        self.weights = self._normalized(soft)
