"""The loss of rows as a quadratic that touches it, and Newton's method for rows that join such a quadratic.

A loss ℓ of outputs y = φθ + b is, near outputs y₀, for each output by itself

    ½ w (t' - y)² + constant,    w = ∂²ℓ/∂y²,    t' = y₀ - (∂ℓ/∂y)/w,

which is a squared error with a weight and a target of its own (`Loss.touching`). So all that rows say about θ
and b near a solution are running sums Σ s w·[1, φ, t'][1, φ, t']ᵀ, one matrix for each output, that add up, fade
and are taken out as those of squared errors do, for which w = 1, t' = t, and the quadratic is the loss.

Rows that come in are minimised as they are, old rows by their quadratic:

    E(θ, b) = ½‖θ‖²/C + Q(θ, b) + Σ_new s ℓ(t, φθ + b).

Of several outputs of a row the curvatures ∂²ℓ/∂y_i∂y_j of two are left away: k matrices instead of k².
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sleek._runtime.sums import total
from sleek._runtime.types import FloatArray, IntArray
from sleek.closed_form.moments import Moments
from sleek.closed_form.running_sums import RunningSums
from sleek.closed_form.solve import Solution, solve

ROUNDS = 50  # passes over new rows at most; Newton's method takes four to six
CLOSE = 1e-12  # of the square of the first step: rounds end where theirs is smaller
HALVINGS = 20  # of a step that overshoots
LEAST_LEFT = 1e-6  # of the curvature there was, in every direction: what is left at least when rows leave


@dataclass(frozen=True, eq=False)
class Touching:
    """Running sums of the least squares problems that touch a loss, one for each output.

    A constant, Σ s w t'², is left away: no formula needs it.

    >>> Phi, T, s = np.array([[0.0], [1.0], [5.0]]), np.array([[-1.0], [1.0], [1.0]]), np.ones(3)
    >>> found = Touching.of(Phi, T, np.ones((3, 1)), s, [np.zeros(2)])  # squared errors
    >>> solution, expected = found.solve(10.0), solve(Moments.of(Phi, T, s), 10.0)
    >>> bool(np.allclose(solution.theta, expected.theta)), bool(np.allclose(solution.b, expected.b))
    (True, True)
    """

    sums: tuple[RunningSums, ...]

    @classmethod
    def zero(cls, origin: FloatArray, n_outputs: int) -> Self:
        """Of no row; `origin` (m,) is near the means of the units."""
        m = len(origin)
        about = np.append(origin, 0.0)
        return cls(tuple(RunningSums.zero(about, m) for _ in range(n_outputs)))

    @classmethod
    def of(
        cls,
        Phi: FloatArray,
        targets: FloatArray,
        w: FloatArray,
        s: FloatArray | None,
        origins: Iterable[FloatArray],
    ) -> Self:
        """Of rows with unit values Phi (n, m), targets t' (n, k), curvatures w (n, k) and weights s (n,)."""
        weights = w if s is None else s[:, None] * w
        return cls(
            tuple(
                _without_constant(RunningSums.of(Phi, targets[:, j : j + 1], origin, weights[:, j]))
                for j, origin in enumerate(origins)
            )
        )

    @classmethod
    def around(cls, curvatures: Iterable[Moments], solution: Solution, C: float) -> Self:
        """Those of these curvatures whose solution with the penalty C is a given one.

        A fit may end before the weights are the very best for their units. Its solution counts as the best:
        so that a model stays what it is until other rows move it.
        """
        sums = []
        for j, found in enumerate(curvatures):
            theta, b = solution.theta[:, j : j + 1], solution.b[j : j + 1]
            R = found.G @ theta + theta / C
            mean_t = b + found.mean_phi @ theta
            exact = Moments(found.weight, found.mean_phi, mean_t, found.G, R, np.zeros(1))
            sums.append(RunningSums.from_moments(exact))
        return cls(tuple(sums))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(tuple(a - b for a, b in zip(self.sums, other.sums, strict=True)))

    def fade(self, factor: float) -> Self:
        """All weights multiplied by a factor."""
        return type(self)(tuple(one.fade(factor) for one in self.sums))

    @classmethod
    def merge(cls, several: Sequence[Self]) -> Self:
        """The sum of several, to the bit the same in whatever order they are."""
        found = []
        for same in zip(*(one.sums for one in several), strict=True):
            about = min((sums.origin for sums in same), key=lambda origin: origin.tobytes())
            moved = [_without_constant(sums.move(about)) for sums in same]
            moved.sort(key=lambda sums: (sums.high.tobytes(), sums.low.tobytes()))
            found.append(total(moved))
        return cls(tuple(found))

    @property
    def origins(self) -> list[FloatArray]:
        """About which sums are kept, (m + 1,) for each output."""
        return [one.origin for one in self.sums]

    def solve(self, C: float, signs: IntArray | None = None) -> Solution:
        """The theta and b of least ½‖θ‖²/C + Q: the closed form for each output, O(k m³)."""
        found = [solve(one.moments, C, signs) for one in self.sums]
        return Solution(np.hstack([one.theta for one in found]), np.concatenate([one.b for one in found]))

    def value(self, at: Solution) -> float:
        """Q at a solution, but for a constant."""
        values = []
        for j, one in enumerate(self.sums):
            Z, c = one.products, _coordinates(one, at, j)
            values.append(0.5 * float(c @ Z[:-1, :-1] @ c) - float(c @ Z[:-1, -1]))
        return float(sum(values))

    def distance(self, one: Solution, other: Solution) -> float:
        """Σ s w (y - y')² over the rows: the square of a step in what it does."""
        found = 0.0
        for j, sums in enumerate(self.sums):
            c = _coordinates(sums, one, j) - _coordinates(sums, other, j)
            found += float(c @ sums.products[:-1, :-1] @ c)
        return found

    def without(self, gone: Self, at: Solution) -> Self:
        """What is left when rows leave whose quadratics are those at the solution now, `at`.

        Those that were added may have been others, of weights that the model had then, so that more curvature
        may leave than there is. Then what is left has at least a little in every direction, and the
        slope at the solution that the rows leave behind, which is exact.
        """
        left = []
        for j, (before, one) in enumerate(zip(self.sums, (self - gone).sums, strict=True)):
            left.append(_with_curvature(one, before, _coordinates(one, at, j)))
        return type(self)(tuple(left))

    def to_json(self) -> list[dict[str, Any]]:
        """All of it as plain values."""
        return [one.to_json() for one in self.sums]


def _coordinates(sums: RunningSums, at: Solution, output: int) -> FloatArray:
    """[b + oθ - o_t, θ] (1 + m,), with which y - t' = [1, φ - o, t' - o_t]·[…, -1]."""
    theta = at.theta[:, output]
    constant = at.b[output] + sums.origin[:-1] @ theta - sums.origin[-1]
    return np.concatenate([[constant], theta])


def _without_constant(sums: RunningSums) -> RunningSums:
    """Without the sum of squared targets."""
    sums.high[-1, -1] = sums.low[-1, -1] = 0.0
    return sums


def _with_curvature(left: RunningSums, before: RunningSums, at: FloatArray) -> RunningSums:
    """Sums with a little of the curvature before in every direction, and the slope that they have at a point.

    The slope at c is Zc - z, so that with another Z' it stays what it is with z' = z + (Z' - Z)c.
    """
    unit = np.sqrt(np.maximum(before.products.diagonal()[:-1], np.finfo(float).tiny))
    Z = left.products
    scaled = Z[:-1, :-1] / np.outer(unit, unit)
    values, vectors = np.linalg.eigh(scaled)
    if values[0] >= -LEAST_LEFT * 1e-3 and Z[0, 0] > 0.0:
        return left
    mended = (vectors * np.maximum(values, LEAST_LEFT)) @ vectors.T * np.outer(unit, unit)
    high = Z.copy()
    high[:-1, :-1] = np.tril(mended) + np.tril(mended, -1).T
    high[:-1, -1] = high[-1, :-1] = Z[:-1, -1] + (high[:-1, :-1] - Z[:-1, :-1]) @ at
    return RunningSums(high, np.zeros_like(high), left.origin, left.n_units)


def join(
    before: Touching,
    first: tuple[Touching, float],
    at: Solution,
    rows: Callable[[Solution], tuple[Touching, float]],
    C: float,
    signs: IntArray | None = None,
) -> Touching:
    """The quadratic of new rows where E is least: Newton's method, one pass over them for each round.

    A step that overshoots, after which E is larger, is halved.

    Parameters
    ----------
    before : Touching
        The quadratic Q of the rows that are in.
    first : their quadratic and loss at `at`
    at : Solution
        From where to begin.
    rows : callable
        The new rows' quadratic and loss at a solution.

    Returns
    -------
    Touching
        That of the new rows, so that the solution of `before` and it has the least E.
    """
    touching, loss = first
    value = _objective(before, loss, at, C)
    enough = None
    for _ in range(ROUNDS):
        whole = before + touching
        goal = whole.solve(C, signs)
        step = whole.distance(goal, at) + float(np.sum((goal.theta - at.theta) ** 2)) / C
        enough = CLOSE * step if enough is None else enough
        if step <= enough or step == 0.0:
            break
        for _ in range(HALVINGS):
            found, loss = rows(goal)
            reached = _objective(before, loss, goal, C)
            if reached <= value + 1e-12 * abs(value):
                break
            goal = Solution(0.5 * (goal.theta + at.theta), 0.5 * (goal.b + at.b))
        else:
            break  # rounding alone is left
        at, touching, value = goal, found, reached
    return touching


def _objective(before: Touching, loss: float, at: Solution, C: float) -> float:
    return before.value(at) + loss + 0.5 * float(np.sum(at.theta**2)) / C
