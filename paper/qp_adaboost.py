"""QP_Reg-AdaBoost of Rätsch, Onoda and Müller (2001): AdaBoost's nets, voted anew by a quadratic programme.

With the hypotheses h_r that AdaBoost has found, the votes b are those of a linear support vector machine
whose weights may not be negative:

    min over b, ξ of   ½ ‖b‖² + C Σ_n s_n ξ_n
    such that   t_n Σ_r b_r h_r(x_n) ≥ 1 - ξ_n,   ξ ≥ 0,   b ≥ 0

(s = weights of sum 1). The programme is solved by Clarabel's interior point method.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from paper.lp_adaboost import RevotedAdaBoost
from sleek._runtime.checks import check_positive
from sleek._runtime.types import FloatArray
from studies.errors import need


class QPRegAdaBoost(RevotedAdaBoost):
    """AdaBoost's nets with the votes of a soft margin support vector machine.

    Parameters
    ----------
    C : float, default=2.0
        The price of slack: smaller means smaller votes and more rows below the margin.
    n_rounds, n_centers, ridge, iterations, random_state : see `AdaBoostRBF`

    Attributes
    ----------
    nets_, votes_, margins_, classes_ : see `LPRegAdaBoost`; the votes' sum is free

    Examples
    --------
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = QPRegAdaBoost(1.0, n_rounds=20, n_centers=4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.85), bool(model.votes_.min() >= 0)
    (True, True)
    """

    def _votes(self, H: FloatArray, s: FloatArray) -> FloatArray:
        return smallest_votes(H, s, check_positive("C", self.C))


def smallest_votes(H: FloatArray, s: FloatArray, C: float) -> FloatArray:
    """The votes b (n_nets,) of the quadratic programme; H (n, n_nets) is 1 where a net is right.

    >>> H = np.array([[1.0, -1.0], [1.0, 1.0]])  # the first net is right about both rows
    >>> smallest_votes(H, np.full(2, 0.5), 100.0).round(4)
    array([1., 0.])
    """
    clarabel = need("clarabel", "Quadratic programmes")
    n, m = H.shape
    identity = sparse.identity(n, format="csc")
    curvature = sparse.block_diag([sparse.identity(m), sparse.csc_matrix((n, n))], format="csc")
    costs = np.concatenate([np.zeros(m), C * s])
    # Clarabel's form: A z + slack = right side, slack ≥ 0, for z = (b, ξ).
    margins = sparse.hstack([sparse.csc_matrix(-H), -identity])
    signs = -sparse.identity(m + n)
    constraints = sparse.vstack([margins, signs], format="csc")
    right = np.concatenate([-np.ones(n), np.zeros(m + n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(len(right))]
    found = clarabel.DefaultSolver(curvature, costs, constraints, right, cones, settings).solve()
    if "Solved" not in str(found.status):
        raise RuntimeError(f"The quadratic programme was not solved: {found.status}.")
    votes: FloatArray = np.maximum(np.array(found.x[:m], dtype=np.float64), 0.0)
    return votes
