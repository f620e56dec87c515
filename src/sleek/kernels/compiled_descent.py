"""`trainers.descent.minimise` for the reduced objective of `compiled_units`, whole in compiled code.

On a few hundred rows an evaluation takes 50 µs, and as many lines of Python around it took three times as
long. The steps are those of `minimise`, where they are explained; -H·g comes from the usual recursion over
pairs, which is the same product. Lengths, shares and limits are given to it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sleek._runtime.interrupts import interruptible
from sleek._runtime.types import FloatArray, IntArray
from sleek.kernels.compiled import _jit
from sleek.kernels.compiled_units import ReducedObjective, _reduced

CONVERGED, LIMIT, STUCK, FAILED = range(4)


class Moving(NamedTuple):
    """How numbers of units follow u: numbers[moving] = max(anchor[moving] + step·u, least)."""

    anchor: FloatArray  # (q,)
    moving: IntArray  # (p,)
    step: FloatArray  # (p,)
    least: FloatArray  # (p,)
    prior: float


class Rules(NamedTuple):
    """The constants of `trainers.descent`."""

    pairs: int
    decrease: float
    flatter: float
    tries: int
    stretch: float
    slope: float
    longest: float


@interruptible
def descend(
    objective: ReducedObjective,
    moving: Moving,
    x: FloatArray,
    lower: FloatArray,
    max_iter: int,
    tol: float,
    first_gain: float,
    rules: Rules,
) -> tuple[FloatArray, FloatArray, int, int]:
    """Where it ends, the value after every iteration, how many evaluations it took, and why it ended.

    FAILED where the objective is not to be had in this way: see `ReducedObjective`.
    """
    points = np.empty((9, len(x)))
    points[0] = np.maximum(x, lower)
    history, numbers = np.empty(max_iter), moving.anchor.copy()
    numbers[moving.moving] = np.maximum(numbers[moving.moving] + moving.step * points[0], moving.least)
    first = objective(numbers)
    if first is None:
        return points[0], history[:0], 1, FAILED
    total, gain, found = first
    unit, prior, u = total or 1.0, moving.prior, points[0]
    value = (0.5 * (total - gain) + 0.5 * prior * float(u @ u)) / unit
    points[1] = (moving.step * found[moving.moving] + prior * u) / unit
    n_iter, n_evaluations, end = _descend(
        *objective.calls, value, objective.rows, objective.work, moving, numbers, found, points,
        np.empty((2, rules.pairs, len(x))), np.empty((2, rules.pairs)), lower, max_iter, tol, first_gain,
        rules, history,
    )  # fmt: skip
    return points[0].copy(), history[:n_iter], n_evaluations, end


@_jit
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@_jit
def _copy(a, b):  # type: ignore[no-untyped-def]
    """b = a, without the check of shapes that takes as long to compile as all the rest."""
    for i in range(len(a)):
        b[i] = a[i]


@_jit
def _direction(pairs, products, first, n_pairs, g, d):  # type: ignore[no-untyped-def]
    """d = -H·g, of pairs that lie in turn from `first` on; products are sᵀy and yᵀy of each."""
    most = pairs.shape[1]
    weights = np.empty(most)
    for i in range(len(g)):
        d[i] = -g[i]
    for back in range(n_pairs - 1, -1, -1):
        at = (first + back) % most
        weights[at] = _dot(pairs[0, at], d) / products[0, at]
        for i in range(len(g)):
            d[i] -= weights[at] * pairs[1, at, i]
    if n_pairs:
        last = (first + n_pairs - 1) % most
        gamma = products[0, last] / products[1, last]
        for i in range(len(g)):
            d[i] *= gamma
    for forth in range(n_pairs):
        at = (first + forth) % most
        change = weights[at] - _dot(pairs[1, at], d) / products[0, at]
        for i in range(len(g)):
            d[i] += change * pairs[0, at, i]


@_jit
def _descend(values, products_of, add_weighted, spread_back, gradient, value, rows, work, moving, numbers, found, points, pairs, products, lower, max_iter, tol, first_gain, rules, history):  # type: ignore[no-untyped-def]  # fmt: skip  # noqa: E501
    x, g, free, d, there = points[0], points[1], points[2], points[3], points[4]
    there_g, best, best_g, y = points[5], points[6], points[7], points[8]
    p, most_pairs = len(x), pairs.shape[1]
    X, T, s, roots, parts, wanted, Phi, dPhi, ridge = rows
    V, sums, mean, L, theta, left, some, powers = work
    n_iter, evaluations, most, first, n_pairs = 0, 1, 4 * max_iter + 20, 0, 0
    while n_iter < max_iter and evaluations < most:
        for i in range(p):
            free[i] = 0.0 if x[i] <= lower[i] and g[i] > 0 else g[i]
        steep = _dot(free, free)
        if not steep > rules.slope**2:
            return n_iter, evaluations, CONVERGED
        _direction(pairs, products, first, n_pairs, free, d)
        for i in range(p):
            if x[i] <= lower[i] and (g[i] > 0 or d[i] < 0):
                d[i] = 0.0
        slope = _dot(g, d)
        if not slope < 0:
            n_pairs = 0
            for i in range(p):
                d[i] = -free[i]
            slope = _dot(g, d)
        t = 1.0
        if n_pairs == 0:
            gain = first_gain * abs(value)
            t = min(gain / steep if gain > 0 else math.inf, rules.longest / math.sqrt(steep))
        low, low_value, low_slope, high = 0.0, value, slope, math.inf
        have, accepted, best_value = False, False, value
        for _ in range(min(most - evaluations, rules.tries)):
            squares = 0.0
            for i in range(p):
                at, u = moving.moving[i], max(x[i] + t * d[i], lower[i])
                there[i] = u
                numbers[at] = max(moving.anchor[at] + moving.step[i] * u, moving.least[i])
                squares += u * u
            for i in range(len(found)):
                found[i] = 0.0
            total, gained = _reduced(
                values, products_of, add_weighted, spread_back, gradient, X, T, s, roots, parts,
                wanted, Phi, dPhi, ridge, numbers, V, sums, mean, L, theta, left, some, powers, found,
            )  # fmt: skip
            unit = total if total != 0.0 else 1.0
            new = (0.5 * (total - gained) + 0.5 * moving.prior * squares) / unit
            for i in range(p):
                there_g[i] = (moving.step[i] * found[moving.moving[i]] + moving.prior * there[i]) / unit
            evaluations += 1
            if not math.isfinite(new):
                return n_iter, evaluations, FAILED
            promise = after = 0.0
            for i in range(p):
                promise += g[i] * (there[i] - x[i])
                after += there_g[i] * (there[i] - x[i])
            if not new <= value + rules.decrease * promise:
                high, width = t, t - low
                bend = new - low_value - low_slope * width
                share = -0.5 * low_slope * width / bend if bend > 0 else 0.5
                t = low + min(max(share, 0.1), 0.5) * width
            else:
                _copy(there, best)
                _copy(there_g, best_g)
                best_value, have = new, True
                if after >= rules.flatter * promise:
                    accepted = True
                    break
                after /= t
                if high < math.inf:
                    low, low_value, low_slope, t = t, new, after, 0.5 * (t + high)
                else:
                    change = after - low_slope
                    share = -after / change if change > 0 else math.inf
                    stretch = min(max(share, 1.0), rules.stretch - 1.0) * (t - low)
                    low, low_value, low_slope, t = t, new, after, t + stretch
            if not high - low > 1e-12 * high and high < math.inf:
                break
        if not (have or accepted):
            if n_pairs == 0:
                return n_iter, evaluations, STUCK
            n_pairs = 0
            continue
        for i in range(p):
            y[i] = 0.0 if x[i] <= lower[i] and g[i] > 0 else best_g[i] - g[i]
            d[i] = best[i] - x[i]
        sy, yy = _dot(d, y), _dot(y, y)
        if sy > 2.220446049250313e-16 * yy:
            if n_pairs == most_pairs:
                first, n_pairs = (first + 1) % most_pairs, n_pairs - 1
            at = (first + n_pairs) % most_pairs
            _copy(d, pairs[0, at])
            _copy(y, pairs[1, at])
            products[0, at], products[1, at] = sy, yy
            n_pairs += 1
        gain = value - best_value
        _copy(best, x)
        _copy(best_g, g)
        value = best_value
        history[n_iter] = value
        n_iter += 1
        if n_iter > 1 and gain <= tol * max(abs(value + gain), abs(value), 1.0):
            return n_iter, evaluations, CONVERGED
    return n_iter, evaluations, LIMIT
