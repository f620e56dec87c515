"""The loss of rows as the quadratic that touches it, and Newton's method for rows that join such a quadratic.

Outputs are y = Wc, where a row of W is [1, φ - o], o an origin near the means, and c = [b + oθ, θ]. Near a
solution the loss of rows is, but for a constant,

    Q(c) = ½ cᵀHc - rᵀc,    H = Σ s WᵀhW,    r = Σ s Wᵀ(hy - g),

with the slopes g = ∂ℓ/∂y and curvatures h = ∂²ℓ/∂y² of a row at the outputs y that it has there. H and r are
sums over rows: they add up, fade and are taken out again as those of squared errors are, for which h is 1 and
Q is the loss itself, everywhere. Rows that come in are minimised as they are, and those that are in by Q:

    E(c) = ½‖θ‖²/C + Q(c) + Σ_new s ℓ(t, Wc).

All outputs have one H as long as it is small; beyond, each has its own, without curvatures between outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sleek._runtime.sums import total
from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.constraints import breaks
from sleek.closed_form.running_sums import RunningSums, add_exactly
from sleek.closed_form.solve import Solution, no_finite_numbers, solve_signed

TOGETHER = 512  # numbers θ and b that share one H: high and low have 4 MB then
ROUNDS = 50  # passes over new rows at most; Newton's method takes four to eight
CLOSE = 1e-12  # of the square of the first step: rounds end where theirs is smaller
HALVINGS = 20  # of a step that overshoots
LEAST_LEFT = 1e-9  # of the curvature there was, in every direction: what is left at least when rows leave
DOUBLINGS = 40  # of the curvature that holds a step back


@dataclass(frozen=True, eq=False)
class Touching:
    """H and r of rows as [[H, r], [rᵀ, 0]], for all outputs together or for each by itself, as high + low.

    >>> Phi, T, s = np.array([[0.0], [1.0], [5.0]]), np.array([[-1.0], [1.0], [1.0]]), np.ones(3)
    >>> Y, h = np.zeros((3, 1)), np.ones((3, 1, 1))  # squared errors: slopes are y - t
    >>> found = Touching.zero(np.zeros(1), 1).like(Phi, Y, Y - T, h, s).solve(10.0)
    >>> found.theta.round(3), found.b.round(3)  # (14 + 1/10)θ = 4
    (array([[0.284]]), array([-0.234]))
    """

    origin: FloatArray  # (m,)
    high: tuple[FloatArray, ...]
    low: tuple[FloatArray, ...]

    @classmethod
    def zero(cls, origin: FloatArray, n_outputs: int) -> Self:
        """Of no row; `origin` (m,) is near the means of the units' values."""
        size = 1 + len(origin)
        blocks = [size * n_outputs] if size * n_outputs <= TOGETHER else [size] * n_outputs
        high, low = (tuple(np.zeros((1 + block, 1 + block)) for block in blocks) for _ in range(2))
        return cls(origin, high, low)

    def like(
        self, Phi: FloatArray, Y: FloatArray, g: FloatArray, h: FloatArray, s: FloatArray | None
    ) -> Self:
        """Of rows with unit values Phi (n, m), outputs Y and slopes g (n, k), curvatures h (n, k, k)."""
        W = np.column_stack([np.ones(len(Phi)), Phi - self.origin])
        size, per_block = W.shape[1], Y.shape[1] // len(self.high)
        if s is not None:
            g, h = s[:, None] * g, s[:, None, None] * h
        high = []
        for block in range(len(self.high)):
            outputs = range(block * per_block, (block + 1) * per_block)
            Z = np.zeros((1 + size * per_block, 1 + size * per_block))
            for i, row in enumerate(outputs):
                own = slice(i * size, (i + 1) * size)
                right = -g[:, row]
                for j, column in enumerate(outputs):
                    right = right + h[:, row, column] * Y[:, column]
                    if j > i:
                        continue
                    products = W.T @ (h[:, row, column, None] * W)
                    products = np.tril(products) + np.tril(products, -1).T  # the same on both sides
                    Z[own, j * size : (j + 1) * size] = products
                    Z[j * size : (j + 1) * size, own] = products
                Z[own, -1] = Z[-1, own] = W.T @ right
            high.append(Z)
        return replace(self, high=tuple(high), low=tuple(np.zeros_like(Z) for Z in high))

    def around(self, solution: Solution, C: float) -> Self:
        """The same curvatures, with slopes such that a given solution is that of the penalty C.

        A fit may end before weights are the very best for their units. Its solution counts as the best, so
        that a model stays what it is until other rows move it.
        """
        high = []
        for Z, c in zip(self.products, self._coordinates(solution), strict=True):
            fresh = Z.copy()
            fresh[:-1, -1] = fresh[-1, :-1] = self._with_penalty(Z, C) @ c
            high.append(fresh)
        return replace(self, high=tuple(high), low=tuple(np.zeros_like(Z) for Z in high))

    # -- sums

    def __add__(self, other: Self) -> Self:
        return self._added(other.high, other.low)

    def __sub__(self, other: Self) -> Self:
        return self._added(tuple(-Z for Z in other.high), tuple(-Z for Z in other.low))

    def _added(self, high: tuple[FloatArray, ...], low: tuple[FloatArray, ...]) -> Self:
        found = [add_exactly(*four) for four in zip(self.high, self.low, high, low, strict=True)]
        return replace(self, high=tuple(one for one, _ in found), low=tuple(one for _, one in found))

    def fade(self, factor: float) -> Self:
        """All weights multiplied by a factor."""
        return replace(
            self, high=tuple(factor * Z for Z in self.high), low=tuple(factor * Z for Z in self.low)
        )

    def move(self, origin: FloatArray) -> Self:
        """The same about another origin: [1, φ - o'] = L[1, φ - o], so that Z' = LZLᵀ."""
        if np.array_equal(origin, self.origin):
            return self
        size = 1 + len(origin)
        L = np.eye(size)
        L[1:, 0] = self.origin - origin
        high = []
        for Z in self.products:
            whole = np.eye(len(Z))
            whole[:-1, :-1] = np.kron(np.eye((len(Z) - 1) // size), L)
            moved = whole @ Z @ whole.T
            high.append(np.tril(moved) + np.tril(moved, -1).T)
        return type(self)(origin, tuple(high), tuple(np.zeros_like(Z) for Z in high))

    @classmethod
    def merge(cls, several: Sequence[Self]) -> Self:
        """The sum of several, to the bit the same in whatever order they are."""
        about = min((one.origin for one in several), key=lambda origin: origin.tobytes())
        moved = [one.move(about) for one in several]
        moved.sort(key=lambda one: b"".join(Z.tobytes() for Z in (*one.high, *one.low)))
        return total(moved)

    @property
    def products(self) -> list[FloatArray]:
        """[[H, r], [rᵀ, 0]] in float64."""
        return [high + low for high, low in zip(self.high, self.low, strict=True)]

    # -- solutions

    def solve(self, C: float, signs: IntArray | None = None) -> Solution:
        """The theta and b of least ½‖θ‖²/C + Q, in O(numbers³) time for each block.

        `signs` (m,) are those that the weights of one output must have.
        """
        size = 1 + len(self.origin)
        columns = []
        for Z in self.products:
            c = _solved(self._with_penalty(Z, C), Z[:-1, -1])
            if signs is not None and breaks(c[1:], signs).any():
                c = solve_signed(self._with_penalty(Z, C), Z[:-1, -1], np.append(0, signs))
            columns.append(c.reshape(-1, size))
        found = np.concatenate(columns)
        return Solution(found[:, 1:].T.copy(), found[:, 0] - found[:, 1:] @ self.origin)

    def _with_penalty(self, Z: FloatArray, C: float) -> FloatArray:
        """H + I/C, but for the constants."""
        penalty = np.full(len(Z) - 1, 1.0 / C)
        penalty[:: 1 + len(self.origin)] = 0.0
        found: FloatArray = Z[:-1, :-1] + np.diag(penalty)
        return found

    def _coordinates(self, at: Solution) -> list[FloatArray]:
        """The c of every block."""
        whole = np.column_stack([at.b + self.origin @ at.theta, at.theta.T])  # (k, 1 + m)
        found: list[FloatArray] = np.split(whole.ravel(), len(self.high))
        return found

    def value(self, at: Solution) -> float:
        """Q at a solution."""
        blocks = zip(self.products, self._coordinates(at), strict=True)
        return sum(float(0.5 * (c @ Z[:-1, :-1] @ c) - c @ Z[:-1, -1]) for Z, c in blocks)

    def distance(self, one: Solution, other: Solution, C: float) -> float:
        """ΔᵀHΔ + ‖Δθ‖²/C of a step Δ."""
        step = Solution(one.theta - other.theta, one.b - other.b)
        blocks = zip(self.products, self._coordinates(step), strict=True)
        return sum(float(c @ self._with_penalty(Z, C) @ c) for Z, c in blocks)

    # -- rows leave

    def without(
        self, gone: Self, at: Solution, left: RunningSums, reach: float, C: float, signs: IntArray | None
    ) -> Self:
        """What is left when rows leave, `gone` being their quadratic at the solution there is, `at`.

        That is the quadratic with which they came in if nothing has come in since. Else more curvature may
        leave than there is; then what is left has a little in every direction, and the slope at the solution.

        The solution goes on by one Newton step, which the rows that are left cannot check. A curvature is
        good for outputs that move by the `reach` of the loss. If they would move by more, in the root mean
        square over the rows that are left, whose sums are `left`, these count with more curvature.
        """
        found = (self - gone)._with_curvature(self, at)
        if not np.isfinite(reach):
            return found
        m = len(self.origin)
        Z = left.move(np.concatenate([self.origin, left.origin[m:]])).products[: 1 + m, : 1 + m]
        Z /= left.weight
        more = 1e-3 * max(float(one[0, 0]) for one in found.products)
        held = found
        for _ in range(DOUBLINGS):
            goal = held.solve(C, signs)
            step = Solution(goal.theta - at.theta, goal.b - at.b)
            c = np.concatenate(self._coordinates(step)).reshape(-1, 1 + m)
            if np.sum((c @ Z) * c) <= reach**2:
                break
            held = found._curved(Z, more, at)
            more *= 2.0
        return held

    def _curved(self, Z: FloatArray, more: float, at: Solution) -> Self:
        """With more curvature for each output, and the same slope at a solution."""
        high = []
        for one, c in zip(self.products, self._coordinates(at), strict=True):
            H = np.kron(np.eye((len(one) - 1) // len(Z)), more * Z)
            high.append(_with_slope(one, one[:-1, :-1] + H, c))
        return replace(self, high=tuple(high), low=tuple(np.zeros_like(one) for one in high))

    def _with_curvature(self, before: Self, at: Solution) -> Self:
        """With a little of the curvature before in every direction, and the same slope at a solution."""
        high, low = list(self.high), list(self.low)
        blocks = zip(self.products, before.products, self._coordinates(at), strict=True)
        for number, (Z, old, c) in enumerate(blocks):
            unit = np.sqrt(np.maximum(old.diagonal()[:-1], np.finfo(float).tiny))
            values, vectors = np.linalg.eigh(Z[:-1, :-1] / np.outer(unit, unit))
            if values[0] < 0.5 * LEAST_LEFT:
                H = (vectors * np.maximum(values, LEAST_LEFT)) @ vectors.T * np.outer(unit, unit)
                high[number], low[number] = _with_slope(Z, H, c), np.zeros_like(Z)
        return replace(self, high=tuple(high), low=tuple(low))

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values: lower triangles, row by row."""
        return {
            "origin": self.origin.tolist(),
            **{
                name: [[Z[i, : i + 1].tolist() for i in range(len(Z))] for Z in blocks]
                for name, blocks in (("high", self.high), ("low", self.low))
            },
        }


def _with_slope(Z: FloatArray, H: FloatArray, at: FloatArray) -> FloatArray:
    """[[H, r], [rᵀ, 0]] with another H and the r that leaves the slope Hc - r at c what it was."""
    fresh = Z.copy()
    fresh[:-1, :-1] = np.tril(H) + np.tril(H, -1).T
    fresh[:-1, -1] = fresh[-1, :-1] = Z[:-1, -1] + (fresh[:-1, :-1] - Z[:-1, :-1]) @ at
    return fresh


def _solved(A: FloatArray, r: FloatArray) -> FloatArray:
    """A⁻¹r; the smallest solution where rounding hides that A is positive definite."""
    from scipy.linalg.lapack import dposv

    _, c, failed = dposv(A, r, lower=1)
    if not failed and np.isfinite(c).all():
        return np.asarray(c)
    if not (np.isfinite(A).all() and np.isfinite(r).all()):
        raise no_finite_numbers()
    return np.asarray(np.linalg.lstsq(A, r, rcond=len(A) * np.finfo(float).eps)[0], dtype=np.float64)


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
        The quadratic of the rows that are in.
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

    def objective(loss: float, at: Solution) -> float:
        return before.value(at) + loss + 0.5 * float(np.sum(at.theta**2)) / C

    touching, loss = first
    value, enough = objective(loss, at), np.inf
    for number in range(ROUNDS):
        whole = before + touching
        goal = whole.solve(C, signs)
        step = whole.distance(goal, at, C)
        enough = CLOSE * step if number == 0 else enough
        if step <= enough:
            break
        for _ in range(HALVINGS):
            found, loss = rows(goal)
            reached = objective(loss, goal)
            if reached <= value + 1e-12 * abs(value):
                break
            goal = Solution(0.5 * (goal.theta + at.theta), 0.5 * (goal.b + at.b))
        else:
            break  # rounding alone is left
        at, touching, value = goal, found, reached
    return touching
