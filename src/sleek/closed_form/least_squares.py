"""theta and b for fixed units: one pass over the rows for the squared loss, a few rounds for any other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.bases.constraints import unit_signs
from sleek.bases.expansion import Expansion
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Penalty, Solution, solve
from sleek.closed_form.touching import Touching
from sleek.rows.source import Block, Source

ROUNDS = 25  # Newton's method has converged long before
BEGINNING_ROUNDS = 10  # before units move, too,
LEAST_FALL = 0.01  # if each takes such a share off the loss
CONSTANT_STEPS = 4  # of Newton's method for constants alone
CLOSE = 1e-8  # change of theta, relative to its size, at which rounds end


class Solved(NamedTuple):
    """The closed form and the sums it comes from."""

    solution: Solution
    moments: Moments
    touching: Touching | None = None  # the quadratic of the loss; None where the moments say everything


def unit_moments(source: Source, expansion: Expansion) -> Moments:
    """The moments of the unit values and the targets: one pass over the rows."""

    def task(block: Block) -> Moments:
        return Moments.of(expansion.features(block.X), block.T, block.s)

    return source.map_reduce(task)


def touching_moments(source: Source, expansion: Expansion, at: Solution) -> Moments:
    """The moments of the least squares problem that touches the loss at the outputs of a solution."""
    loss = source.outputs.loss

    def task(block: Block) -> Moments:
        Phi = expansion.features(block.X)
        T, w = loss.working(block.T, Phi @ at.theta + at.b)
        return Moments.of(Phi, T, block.s * w)

    return source.map_reduce(task)


@dataclass(frozen=True, eq=False)
class CurvedMoments:
    """The moments of the targets, of the problem that touches the loss, and the curvature of the loss."""

    moments: Moments
    touching: Moments | None
    curvature: Touching | None

    def __add__(self, other: CurvedMoments) -> CurvedMoments:
        touching, curvature = other.touching, other.curvature  # None for all blocks, or for none
        if self.touching is not None and touching is not None:
            touching = self.touching + touching
        if self.curvature is not None and curvature is not None:
            curvature = self.curvature + curvature
        return CurvedMoments(self.moments + other.moments, touching, curvature)


def curved_moments(
    source: Source, expansion: Expansion, at: Solution, complete: bool, middle: FloatArray
) -> CurvedMoments:
    """All that the end of a fit needs to know of the rows of a loss without a closed form: one pass.

    The curvature is for updates; the problem that touches the loss is left away if weights are `complete`.
    """
    loss, k = source.outputs.loss, source.outputs.n_outputs
    none = Touching.zero(expansion.features(middle[None])[0].astype(np.float64), k) if loss.smooth else None

    def task(block: Block) -> CurvedMoments:
        Phi = expansion.features(block.X)
        Y, touching, curvature = Phi @ at.theta + at.b, None, None
        if not complete:
            T, w = loss.working(block.T, Y)
            touching = Moments.of(Phi, T, block.s * w)
        if none is not None:
            curvature = none.like(Phi, Y, np.zeros_like(Y), loss.curvatures(block.T, Y), block.s)
        return CurvedMoments(Moments.of(Phi, block.T, block.s), touching, curvature)

    return source.map_reduce(task)


def solve_on_all_rows(
    source: Source,
    expansion: Expansion,
    learnt: Solution,
    penalty: Penalty,
    complete: bool,
    middle: FloatArray,
) -> Solved:
    """theta and b for units that were learnt, and the moments of all rows; `middle` (d,) is among them.

    Where theta and b have no closed form they were learnt with the units. They stay, if that was on all rows
    (`complete`); else they have one round more on all rows.
    """
    C, signs = penalty.C, unit_signs(expansion, penalty.signs)
    if source.outputs.loss.quadratic:
        moments = unit_moments(source, expansion)
        return Solved(solve(moments, C, signs), moments)
    found = curved_moments(source, expansion, learnt, complete, middle)
    solution = learnt if found.touching is None else solve(found.touching, C, signs)
    if source.outputs.loss.chooses:  # units may have been rounded
        solution = fit_constants(source, expansion, solution)
    touching = None if found.curvature is None else found.curvature.around(solution, C)
    return Solved(solution, found.moments, touching)


def fit_constants(source: Source, expansion: Expansion, solution: Solution) -> Solution:
    """The constants b that minimise the loss for these weights: a few Newton steps of one pass each."""
    loss, (theta, b) = source.outputs.loss, solution
    for _ in range(CONSTANT_STEPS):

        def task(block: Block, b: FloatArray = b) -> FloatArray:
            Y = expansion.features(block.X) @ theta + b
            _, w = loss.working(block.T, Y)
            return np.stack([block.s @ loss.slopes(block.T, Y), np.full(len(b), block.s @ w)])

        slope, curvature = source.map_reduce(task)
        b = b - slope / curvature
    return Solution(theta, b)


def fit_weights(source: Source, expansion: Expansion, solution: Solution, penalty: Penalty) -> Solution:
    """theta and b after a few rounds of least squares that touch the loss, as long as each lowers it."""
    loss, signs = source.outputs.loss, unit_signs(expansion, penalty.signs)

    def objective(at: Solution) -> float:
        def task(block: Block) -> float:
            return float(block.s @ loss.values(block.T, expansion.features(block.X) @ at.theta + at.b))

        return float(source.map_reduce(task)) + 0.5 * float(np.sum(at.theta**2)) / penalty.C

    value = objective(solution)
    for _ in range(BEGINNING_ROUNDS):
        following = solve(touching_moments(source, expansion, solution), penalty.C, signs)
        lower = objective(following)
        if not lower < (1.0 - LEAST_FALL) * value:
            break
        solution, value = following, lower
    return solution


def fit_outputs(source: Source, expansion: Expansion, C: float) -> Solved:
    """Minimise ½‖θ‖²/C + Σ s ℓ(t, Φθ + b) over theta and b, for the loss ℓ of the source's outputs."""
    moments = unit_moments(source, expansion)
    solution = solve(moments, C)
    if source.outputs.loss.quadratic:
        return Solved(solution, moments)
    for _ in range(ROUNDS):
        before, moments = solution.theta, touching_moments(source, expansion, solution)
        solution = solve(moments, C)
        if np.linalg.norm(solution.theta - before) <= CLOSE * np.linalg.norm(solution.theta):
            break
    return Solved(solution, moments)
