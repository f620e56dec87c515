"""The exact LS-SVM of the paper's background section, in which every row is a support vector.

With labels or targets t, weights s and kernel matrix K, the optimum of ½‖w‖² + C/2 Σ s (t - y)² is

    [ 0          1ᵀ        ] [b]   [0]
    [ 1   K + diag(1/(C s)) ] [α] = [t],      y(x) = Σ_n α_n k(x, x_n) + b

(α = a∘t turns it into the paper's system). With A = K + diag(1/(C s)) = L Lᵀ this is solved by Cholesky:
η = A⁻¹1, ν = A⁻¹t, b = 1ᵀν / 1ᵀη, α = ν - b η. O(n³) time and O(n²) memory: for a few thousand rows.

Leaving row n out, all of it, changes its residual to α_n / (A⁻¹_nn - η_n²/1ᵀη), exactly: the denominator is
what stands at its place in the inverse of the whole matrix (Cawley and Talbot, 2004); A⁻¹_nn = Σ_m (L⁻¹)_mn².
With r_n = α_n/(C s_n), that is r_n/(1 - h_n), and one of several copies that a row stands for has its share
of the leverage h_n.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dtrtri

from sleek._runtime.types import FloatArray
from sleek.closed_form.leave_one_out import MAX_LEVERAGE

COLUMNS = 256  # of an inverse whose squares are added up at a time


class DenseSolution(NamedTuple):
    """Dual coefficients and intercepts, and the outputs that each row has if it is left out."""

    alpha: FloatArray  # (n, k)
    b: FloatArray  # (k,)
    left_out: FloatArray  # (n, k)


def solve_dense(A: FloatArray, T: FloatArray, strength: FloatArray, copies: FloatArray) -> DenseSolution:
    """Solve the dense system; `scipy.linalg.LinAlgError` if A is not positive definite in float64.

    Parameters
    ----------
    A : array of shape (n, n)
        K + diag(1/strength), which is overwritten.
    T : array of shape (n, k)
        The encoded targets.
    strength : array of shape (n,)
        C·s of every row.
    copies : array of shape (n,)
        How many observations each row stands for: one of them is left out.

    >>> solution = solve_dense(np.eye(3), np.array([[1.0], [2.0], [6.0]]), np.full(3, 2.0), np.ones(3))
    >>> solution.b.round(6), solution.alpha[:, 0].round(6)
    (array([3.]), array([-2., -1.,  3.]))
    """
    L, lower = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
    eta_nu = cho_solve((L, lower), np.column_stack([np.ones(len(T)), T]), check_finite=False)
    eta, nu = eta_nu[:, 0], eta_nu[:, 1:]
    b = nu.sum(axis=0) / eta.sum()
    alpha = nu - np.outer(eta, b)
    leverage = 1.0 - (_inverse_diagonal(L) - eta**2 / eta.sum()) / strength
    leverage = np.minimum(leverage, MAX_LEVERAGE) / copies
    return DenseSolution(alpha, b, T - alpha / (strength * (1.0 - leverage))[:, None])


def _inverse_diagonal(L: FloatArray) -> FloatArray:
    """The diagonal of A⁻¹ for A = LLᵀ; the upper triangle of L may hold anything, and L is overwritten."""
    inverse, _ = dtrtri(L, lower=1, overwrite_c=1)
    starts = range(0, len(inverse), COLUMNS)
    parts = [np.square(np.tril(inverse[i:, i : i + COLUMNS])).sum(axis=0) for i in starts]
    return np.concatenate(parts)
