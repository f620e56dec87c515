"""The closed form of the least squares support vector machine, from moments alone.

The paper solves, with Ω = diag(t) Φ Φᵀ diag(t),

    [ 0      tᵀ    ] [b]   [0]
    [ t   Ω + I/C  ] [a] = [1]

by the matrix inversion lemma. Writing the same optimum in the primal, min ½‖θ‖²/C + ½ Σ s (t - Φθ - b)²,
and eliminating b gives b = t̄ - θᵀφ̄ and (G + I/C) θ = R with the centred moments G, R. Both are the same
solution (θ = Φᵀ(a∘t), a∘t = C·s·(t - y)), but this one needs only sums over rows and an m×m system.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.closed_form.moments import Moments


@dataclass(frozen=True)
class Penalty:
    """How strongly learnt numbers are held: 1/C for theta, `prior` for the units' coordinates.

    The objective is ½‖θ‖²/C + ½ Σ s r² + ½·prior·‖u‖². A prior that suits 1,000 rows suits 100,000 of the
    same kind; a `pull` is the same thing per row, prior = pull·Σs.
    """

    C: float
    prior: float


class Solution(NamedTuple):
    """The sparse model y(x) = φ(x) theta + b."""

    theta: FloatArray  # (m, k)
    b: FloatArray  # (k,)


def no_finite_numbers() -> ValueError:
    """What is raised where sums over rows are infinite or NaN."""
    return ValueError(
        "Units have values that are no finite numbers: training has diverged, or they start too sharp or "
        "too far away. Use a smaller `learning_rate` or `shape`, another `init`, or standardize=True."
    )


@lru_cache(maxsize=16)
def _ridge(size: int, C: float) -> FloatArray:
    """I/C, which one row at a time asks for again and again."""
    return np.eye(size) / C


def solve(moments: Moments, C: float) -> Solution:
    """The optimal theta and b for fixed units, in O(m³) time.

    G + I/C is positive definite by construction. Where rounding hides that (C of 1e16 with units that
    coincide), the eigenvalues lost in it are left out: the smallest solution that fits.

    >>> Phi, t, s = np.array([[0.0], [1.0]]), np.array([[-1.0], [1.0]]), np.ones(2)
    >>> solve(Moments.of(Phi, t, s), C=1e6).theta.round(3)
    array([[2.]])
    """
    from scipy.linalg.lapack import dposv  # a model that is only read does not wait for SciPy

    A = moments.G + _ridge(len(moments.G), C)
    # SciPy's own functions take four times as long around it; the transpose, which is the same, is not copied
    _, theta, failed = dposv(A.T, moments.R, lower=1, overwrite_a=1)
    if not failed and np.isfinite(theta).all():
        return Solution(theta, moments.mean_t - moments.mean_phi @ theta)
    A = moments.G + _ridge(len(moments.G), C)
    if not (np.isfinite(A).all() and np.isfinite(moments.R).all()):
        raise no_finite_numbers()
    values, vectors = np.linalg.eigh(A)
    kept = values > len(A) * np.finfo(float).eps * values[-1]
    theta = (vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ moments.R)
    return Solution(theta, moments.mean_t - moments.mean_phi @ theta)
