"""L-BFGS with lower bounds: the optimiser of all learnt parameters.

Coordinates at their bound whose gradient holds them there leave the problem for one iteration. For the others
the direction is -H·g with the limited-memory inverse Hessian of the last pairs s = Δx, y = Δg,

    H = γI + [S γY] [[R⁻ᵀ(D + γYᵀY)R⁻¹, -R⁻ᵀ], [-R⁻¹, 0]] [Sᵀ; γYᵀ],    γ = sᵀy/yᵀy of the last pair,

R the upper triangle of SᵀY and D its diagonal (Byrd, Nocedal and Schnabel 1994): three products with a matrix
of all pairs instead of the usual recursion over them. Steps bend at the bounds, x(t) = max(x + t·d, lower)
(Bertsekas' two-metric projection). The step size t satisfies the weak Wolfe conditions and is found by
interpolation inside a bracket, which works at the kinks of boxes too (Lewis and Overton 2013).

An iteration takes O(PAIRS·p) time beside its evaluations, one of them as a rule, and as much memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtrs

from sleek._runtime.types import FloatArray
from sleek.bases.expansion import FlatCoordinates

if TYPE_CHECKING:
    from sleek.kernels.compiled_units import ReducedObjective

PAIRS = 10
DECREASE = 1e-4  # share of what the slope promises that a step must gain
FLATTER = 0.9  # share of the slope that may be left where a step ends
MOST_TRIES = 20  # evaluations along one direction
MOST_STRETCH = 10.0  # by which a step is lengthened at a time
LEAST_SLOPE = 1e-9  # length of a gradient that counts as 0
LONGEST_FIRST = 2.0  # length of the first step, at most

Objective = Callable[[FloatArray], tuple[float, FloatArray]]


class Minimum(NamedTuple):
    """Where a descent has ended, and why."""

    x: FloatArray
    value: float
    n_iter: int
    n_evaluations: int
    end: Literal["converged", "max_iter", "stuck"]


def minimise(
    objective: Objective,
    x: FloatArray,
    lower: FloatArray,
    max_iter: int,
    tol: float,
    report: Callable[[float], None] | None = None,
    first_gain: float = 0.04,
) -> Minimum:
    """Minimise a function, given as its value and gradient, over x ≥ lower.

    Parameters
    ----------
    objective : callable
        Returns the value and the gradient (p,) at x (p,).
    x : array of shape (p,)
        Where to begin.
    lower : array of shape (p,)
        The bounds; -inf where there is none.
    max_iter : int
        Iterations at most; evaluations are at most 4·max_iter + 20.
    tol : float
        Converged is an iteration that lowers the value by at most tol·max(1, |value|).
    report : callable or None
        Takes the value after every iteration.
    first_gain : float
        The share of the value that the first step, which nothing is known of, is made to gain.

    Examples
    --------
    >>> centre, lower = np.array([3.0, -1.0]), np.array([-np.inf, 0.0])
    >>> def bowl(x):
    ...     return np.sum((x - centre) ** 2), 2 * (x - centre)
    >>> found = minimise(bowl, np.ones(2), lower, 50, 1e-12)
    >>> found.x.round(6), found.end
    (array([3., 0.]), 'converged')
    """
    here = _Point.at(objective, np.maximum(x, lower))
    pairs, n_iter, left = _Pairs(len(x)), 0, 4 * max_iter + 19
    most = left + 1
    while n_iter < max_iter and left > 0:
        x, g = here.x, here.gradient
        bound = np.flatnonzero(x <= lower)
        held = bound[g[bound] > 0]
        free = g
        if len(held):
            free = g.copy()
            free[held] = 0.0
        steep = float(free @ free)
        if not steep > LEAST_SLOPE**2:
            return Minimum(x, here.value, n_iter, most - left, "converged")
        d = pairs.direction(free)
        if len(bound):
            d[held] = 0.0
            d[bound] = np.maximum(d[bound], 0.0)
        if not g @ d < 0:  # rounding, or coordinates that had to stay
            pairs.clear()
            d = -free
        t = 1.0 if len(pairs) else _first_step(first_gain * abs(here.value), steep)
        there, tries = _search(objective, here, d, lower, t, min(left, MOST_TRIES))
        left -= tries
        if there is None:
            if not len(pairs):
                return Minimum(x, here.value, n_iter, most - left, "stuck")
            pairs.clear()  # and try along the gradient
            continue
        y = there.gradient - g
        if len(held):
            y[held] = 0.0
        pairs.add(there.x - x, y)
        gain, here, n_iter = here.value - there.value, there, n_iter + 1
        if report is not None:
            report(here.value)
        if n_iter > 1 and gain <= tol * max(abs(here.value + gain), abs(here.value), 1.0):
            return Minimum(here.x, here.value, n_iter, most - left, "converged")
    return Minimum(here.x, here.value, n_iter, most - left, "max_iter")


def minimise_compiled(
    objective: ReducedObjective,
    flat: FlatCoordinates,
    prior: float,
    x: FloatArray,
    lower: FloatArray,
    max_iter: int,
    tol: float,
    report: Callable[[float], None],
    first_gain: float,
) -> Minimum | None:
    """The same for a reduced objective and a prior on its coordinates, in one compiled call.

    None where that does not work: coordinates whose steps are negative, or sums that rounding spoils.
    """
    if flat.turned:
        return None
    from sleek.kernels.compiled_descent import CONVERGED, FAILED, LIMIT, Moving, Rules, descend

    moving = np.arange(len(flat.anchor)) if isinstance(flat.moving, slice) else flat.moving
    follows = Moving(flat.anchor, moving, flat.step, flat.least, float(prior))
    rules = Rules(PAIRS, DECREASE, FLATTER, MOST_TRIES, MOST_STRETCH, LEAST_SLOPE, LONGEST_FIRST)
    found, values, n_evaluations, end = descend(
        objective, follows, x, lower, max_iter, tol, first_gain, rules
    )
    if end == FAILED:
        return None
    for value in values:
        report(float(value))
    last = float(values[-1]) if len(values) else math.nan
    word: Literal["converged", "max_iter", "stuck"] = "stuck"
    if end in (CONVERGED, LIMIT):
        word = "converged" if end == CONVERGED else "max_iter"
    return Minimum(found, last, len(values), n_evaluations, word)


def _first_step(gain: float, steep: float) -> float:
    """How far to go along -g for a gain, if the slope g, of which `steep` is the square, stays as it is."""
    return min(gain / steep or math.inf, LONGEST_FIRST / math.sqrt(steep))


class _Point(NamedTuple):
    """A point with the value and the gradient there."""

    x: FloatArray
    value: float
    gradient: FloatArray

    @classmethod
    def at(cls, objective: Objective, x: FloatArray) -> _Point:
        return cls(x, *objective(x))


def _search(
    objective: Objective, here: _Point, d: FloatArray, lower: FloatArray, t: float, most: int
) -> tuple[_Point | None, int]:
    """A point along max(x + t·d, lower) that meets the weak Wolfe conditions, and how many were tried.

    The slopes are taken along the way from `here`, moved = x(t) - x: with gᵀ(t)·moved > 0.9·gᵀ·moved the pair
    has the positive curvature that H needs. Without such a point the best that is lower enough, or None.
    """
    best: _Point | None = None
    low, low_value, low_slope, high = 0.0, here.value, float(here.gradient @ d), math.inf
    for tries in range(1, most + 1):
        there = _Point.at(objective, np.maximum(here.x + t * d, lower))
        moved = there.x - here.x
        promise = float(here.gradient @ moved)
        if not there.value <= here.value + DECREASE * promise:  # NaN too
            high, width = t, t - low
            bend = there.value - low_value - low_slope * width
            share = -0.5 * low_slope * width / bend if math.isfinite(bend) and bend > 0 else 0.5
            t = low + min(max(share, 0.1), 0.5) * width
        else:
            slope = float(there.gradient @ moved)
            if slope >= FLATTER * promise:
                return there, tries
            best, slope = there, slope / t
            if high < math.inf:
                low, low_value, low_slope, t = t, there.value, slope, 0.5 * (t + high)
            else:
                change = slope - low_slope
                share = -slope / change if change > 0 else math.inf  # of the step, to where the slope ends
                stretch = min(max(share, 1.0), MOST_STRETCH - 1.0) * (t - low)
                low, low_value, low_slope, t = t, there.value, slope, t + stretch
        if not high - low > 1e-12 * high and high < math.inf:
            break
    return best, tries


class _Pairs:
    """The last pairs s, y and the product of H with a vector.

    They lie in turn in the rows of one matrix, [s₁, y₁, s₂, y₂, …], and new ones behind them: only where the
    matrix ends is anything moved.
    """

    def __init__(self, size: int) -> None:
        self.rows = np.empty((4 * PAIRS, size))
        self.SY, self.YY = np.zeros((2, 2 * PAIRS, 2 * PAIRS))
        self.clear()

    def clear(self) -> None:
        self.first = self.last = 0
        self.gamma = 1.0

    def __len__(self) -> int:
        return self.last - self.first

    def add(self, s: FloatArray, y: FloatArray) -> None:
        """One pair more, unless it shows no curvature."""
        if self.last == 2 * PAIRS:  # and first is PAIRS
            self.rows[: 2 * PAIRS] = self.rows[2 * PAIRS :]
            for products in (self.SY, self.YY):
                products[:PAIRS, :PAIRS] = products[PAIRS:, PAIRS:]
            self.first, self.last = 0, PAIRS
        first, last = max(self.first, self.last + 1 - PAIRS), self.last
        self.rows[2 * last], self.rows[2 * last + 1] = s, y
        new = self.rows[2 * first : 2 * last + 2] @ y
        sy, yy = float(new[-2]), float(new[-1])
        if sy > np.finfo(float).eps * yy:
            self.SY[first : last + 1, last] = new[::2]
            self.YY[first : last + 1, last] = self.YY[last, first : last + 1] = new[1::2]
            self.first, self.last, self.gamma = first, last + 1, sy / yy

    def direction(self, g: FloatArray) -> FloatArray:
        """-H·g."""
        if not len(self):
            return -g
        own, gamma = slice(self.first, self.last), self.gamma
        rows, R = self.rows[2 * own.start : 2 * own.stop], self.SY[own, own]
        products = rows @ g
        w, _ = dtrtrs(R, products[::2])
        v = self.YY[own, own] @ w
        v -= products[1::2]
        v *= gamma
        v += R.diagonal() * w
        weights = np.empty(len(products))
        weights[::2], _ = dtrtrs(R, v, trans=1)
        weights[1::2] = -gamma * w
        d: FloatArray = weights @ rows
        d += gamma * g
        return np.negative(d, out=d)
