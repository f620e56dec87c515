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

from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.base import BOTH
from sleek.bases.constraints import breaks
from sleek.closed_form.moments import Moments

MOST_TRIES = 3  # exchanges of many weights that may fail to leave fewer wrong ones
PIVOTS_PER_WEIGHT = 10  # exchanges at most; a handful in all is usual


@dataclass(frozen=True)
class Penalty:
    """How strongly learnt numbers are held: 1/C for theta, `prior` for the units' coordinates.

    The objective is ½‖θ‖²/C + ½ Σ s r² + ½·prior·‖u‖². A prior that suits 1,000 rows suits 100,000 of the
    same kind; a `pull` is the same thing per row, prior = pull·Σs.

    Outputs never fall in features where `signs` is 1, and never rise where it is -1 (None: anywhere they
    may), which is a bound on the weights of units (`unit_signs`).
    """

    C: float
    prior: float
    signs: tuple[int, ...] | None = None


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


def solve(moments: Moments, C: float, signs: IntArray | None = None) -> Solution:
    """The optimal theta and b for fixed units, in O(m³) time.

    G + I/C is positive definite by construction. Where rounding hides that (C of 1e16 with units that
    coincide), the eigenvalues lost in it are left out: the smallest solution that fits. With `signs` (m,) it
    is the optimum among weights of one output that have these signs; see `solve_signed`.

    >>> Phi, t, s = np.array([[0.0], [1.0]]), np.array([[-1.0], [1.0]]), np.ones(2)
    >>> solve(Moments.of(Phi, t, s), C=1e6).theta.round(3)
    array([[2.]])
    """
    from scipy.linalg.lapack import dposv  # a model that is only read does not wait for SciPy

    A = moments.G + _ridge(len(moments.G), C)
    # SciPy's own functions take four times as long around it; the transpose, which is the same, is not copied
    _, theta, failed = dposv(A.T, moments.R, lower=1, overwrite_a=1)
    if not failed and np.isfinite(theta).all():
        return _with_signs(moments, C, theta, signs)
    A = moments.G + _ridge(len(moments.G), C)
    if not (np.isfinite(A).all() and np.isfinite(moments.R).all()):
        raise no_finite_numbers()
    values, vectors = np.linalg.eigh(A)
    kept = values > len(A) * np.finfo(float).eps * values[-1]
    theta = (vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ moments.R)
    return _with_signs(moments, C, theta, signs)


def _with_signs(moments: Moments, C: float, theta: FloatArray, signs: IntArray | None) -> Solution:
    """The free optimum if it has the signs, else that which has them."""
    if signs is not None and breaks(theta[:, 0], signs).any():
        theta = solve_signed(moments.G + _ridge(len(moments.G), C), moments.R[:, 0], signs)[:, None]
    return Solution(theta, moments.mean_t - moments.mean_phi @ theta)


def solve_signed(A: FloatArray, r: FloatArray, signs: IntArray) -> FloatArray:
    """The θ that minimises ½θᵀAθ - rᵀθ subject to signs_j·θ_j ≥ 0, and θ_j = 0 where signs_j is `BOTH`.

    Non-negative least squares with some free weights, by block principal pivoting (Kim and Park 2011): the
    weights that are not held at 0 are solved for; those of the wrong sign are held, those that are held and
    would gain are let go, all at once as long as there are fewer and fewer of them, else the last one alone,
    which ends for certain. A handful of O(m³) solutions as a rule.

    >>> A, r = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    >>> solve_signed(A, r, np.array([0, 0])), solve_signed(A, r, np.array([0, 1]))
    (array([ 1., -1.]), array([0.5, 0. ]))
    """
    m = len(r)
    unit = np.sqrt(A.diagonal())
    A, r = A / np.outer(unit, unit), r / unit
    slack = 1e-12 * max(float(np.abs(r).max(initial=0.0)), np.finfo(float).tiny)
    signed, never = np.abs(signs) == 1, signs == BOTH
    held, fewest, tries = never.copy(), m + 1, MOST_TRIES
    theta = np.zeros(m)
    for _ in range(PIVOTS_PER_WEIGHT * m + MOST_TRIES):
        at = np.flatnonzero(~held)
        theta = np.zeros(m)
        theta[at] = _solve_some(A, r, at)
        gain = signs * (r - A @ theta)
        wrong = np.flatnonzero(signed & np.where(held, gain > slack, signs * theta < -slack))
        if not len(wrong):
            break
        if len(wrong) < fewest:
            fewest, tries = len(wrong), MOST_TRIES
        elif tries > 0:
            tries -= 1
        else:
            wrong = wrong[-1:]
        held[wrong] = ~held[wrong]
    theta[breaks(theta, signs)] = 0.0  # what is left of rounding
    return theta / unit


def _solve_some(A: FloatArray, r: FloatArray, at: IntArray) -> FloatArray:
    """A⁻¹r of some weights, the others being 0; the smallest solution where rounding hides that A has one."""
    from scipy.linalg.lapack import dposv

    if not len(at):
        return np.empty(0)
    own = A[np.ix_(at, at)]
    _, theta, failed = dposv(own, r[at], lower=1)
    if failed or not np.isfinite(theta).all():
        theta = np.linalg.lstsq(own, r[at], rcond=len(A) * np.finfo(float).eps)[0]
    return np.asarray(theta)
