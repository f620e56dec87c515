"""LP_Reg-AdaBoost of Rätsch, Onoda and Müller (2001): AdaBoost's nets, voted anew by a linear programme.

With the hypotheses h_r that AdaBoost has found, the votes c maximise the least margin, up to slack ξ:

    max over c, ξ, ϱ of   ϱ - C Σ_n s_n ξ_n
    such that   t_n Σ_r c_r h_r(x_n) ≥ ϱ - ξ_n,   ξ ≥ 0,   c ≥ 0,   Σ_r c_r = 1

(s = weights of sum 1, so that C is free of the number of rows; C ≤ 1 leaves ϱ unbounded).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.optimize import linprog

from paper.adaboost import AdaBoostRBF, SoftEnsemble
from sleek._runtime.types import FloatArray


class RevotedAdaBoost(SoftEnsemble):
    """What LP_Reg and QP_Reg share: AdaBoost's nets, whose votes a programme decides again.

    A subclass says how by `_votes`. Nets without a vote are dropped.
    """

    def base(self) -> AdaBoostRBF:
        """The AdaBoost, not yet fitted, whose nets are voted anew."""
        return AdaBoostRBF(**{name: value for name, value in self.get_params().items() if name != "C"})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost nets on rows `X` with two kinds of labels `y`, then decide their votes."""
        return self.revote(self.base().fit(X, y, sample_weight), X, y, sample_weight)

    def revote(self, base: AdaBoostRBF, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Decide the votes of the nets of an AdaBoost that was fitted to the same rows.

        `fit` is AdaBoost and then this; several C can share one AdaBoost.
        """
        X, t, s = self._validated(X, y, sample_weight)
        H = t[:, None] * base.hypotheses(X)  # (n, n_nets): 1 where a net is right
        votes = self._votes(*merged(H, s))
        kept = np.flatnonzero(votes > 1e-9 * votes.max())
        self.nets_ = [base.nets_[j] for j in kept]
        self.votes_ = votes[kept]
        self.margins_ = H[:, kept] @ self.votes_ / self.votes_.sum()
        return self

    @abstractmethod
    def _votes(self, H: FloatArray, s: FloatArray) -> FloatArray:
        """The vote of every net, given where each net is right (1) or wrong (-1), and the rows' weights."""


def merged(H: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows about which the nets agree with each other made one row of their total weight; none of weight 0.

    >>> merged(np.array([[1.0, -1.0], [1.0, 1.0], [1.0, -1.0]]), np.array([0.5, 0.0, 0.25]))
    (array([[ 1., -1.]]), array([0.75]))
    """
    rows, first = np.unique(H[s > 0], axis=0, return_inverse=True)
    weights: FloatArray = np.bincount(first.ravel(), weights=s[s > 0]).astype(np.float64)
    return rows, weights


class LPRegAdaBoost(RevotedAdaBoost):
    """AdaBoost's nets with the votes of the largest soft margin: few of them keep a vote.

    Parameters
    ----------
    C : float, default=2.0
        The price of slack, above 1: about 1/C of the rows may lie below the margin.
    n_rounds, n_centers, ridge, iterations, random_state : see `AdaBoostRBF`

    Attributes
    ----------
    nets_ : list of Net
        The nets that have a vote.
    votes_ : array of shape (n_nets,)
        Of sum 1.
    margins_ : array of shape (n_samples,)
    classes_ : array of two labels

    Examples
    --------
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = LPRegAdaBoost(3.0, n_rounds=20, n_centers=4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.85), round(float(model.votes_.sum()), 6)
    (True, 1.0)
    """

    def _votes(self, H: FloatArray, s: FloatArray) -> FloatArray:
        return largest_soft_margin(H, s, self.C)[0]


def largest_soft_margin(H: FloatArray, s: FloatArray, C: float) -> tuple[FloatArray, float]:
    """The votes c (n_nets,) of sum 1 and the value ϱ - C Σ s ξ of the linear programme.

    H (n, n_nets) is 1 where a net is right about a row and -1 where it is wrong.

    >>> H = np.ones((3, 3)) - 2 * np.eye(3)  # each net is wrong about one row
    >>> votes, value = largest_soft_margin(H, np.full(3, 1 / 3), 100.0)
    >>> votes.round(3), round(value, 3)
    (array([0.333, 0.333, 0.333]), 0.333)
    """
    if not C > 1:
        raise ValueError(f"`C` must be above 1, or the margin has no bound, got {C!r}.")
    n, m = H.shape
    costs = np.concatenate([np.zeros(m), C * s, [-1.0]])  # c, ξ, ϱ
    rows = np.hstack([-H, -np.eye(n), np.ones((n, 1))])
    total = np.concatenate([np.ones(m), np.zeros(n + 1)])[None, :]
    bounds = [(0, None)] * (m + n) + [(None, None)]
    found = linprog(costs, A_ub=rows, b_ub=np.zeros(n), A_eq=total, b_eq=[1.0], bounds=bounds)
    if found.status != 0:
        raise RuntimeError(f"The linear programme was not solved: {found.message}")
    return np.maximum(found.x[:m], 0.0), float(-found.fun)
