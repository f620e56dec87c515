"""theta and b for fixed units: one pass over the rows for the squared loss, a few rounds for any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sleek._runtime.sums import Sums
from sleek._runtime.types import FloatArray
from sleek.bases.constraints import unit_signs
from sleek.bases.expansion import Expansion
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Penalty, Solution, solve
from sleek.rows.source import Block, Source

ROUNDS = 25  # Newton's method has converged long before
CONSTANT_STEPS = 4  # of Newton's method for constants alone
CLOSE = 1e-8  # change of theta, relative to its size, at which rounds end


class Solved(NamedTuple):
    """The closed form and the sums it comes from."""

    solution: Solution
    moments: Moments


def unit_moments(source: Source, expansion: Expansion) -> Moments:
    """The moments of the unit values and the targets: one pass over the rows."""

    def task(block: Block) -> Moments:
        return Moments.of(expansion.features(block.X), block.T, block.s)

    return source.map_reduce(task)


def touching_moments(source: Source, expansion: Expansion, at: Solution) -> Moments:
    """The moments of the least squares problem that touches the loss at the outputs of a solution."""
    if source.outputs.loss.quadratic:
        return unit_moments(source, expansion)
    return both_moments(source, expansion, at).touching


@dataclass(frozen=True, eq=False)
class BothMoments(Sums):
    """The moments of the targets, and those of the problem that touches the loss."""

    moments: Moments
    touching: Moments

    def __iter__(self) -> Iterator[Moments]:
        return iter((self.moments, self.touching))


def both_moments(source: Source, expansion: Expansion, at: Solution) -> BothMoments:
    """The moments of the targets and of the problem that touches the loss at a solution: one pass."""
    loss = source.outputs.loss

    def task(block: Block) -> BothMoments:
        Phi = expansion.features(block.X)
        T, w = loss.working(block.T, Phi @ at.theta + at.b)
        return BothMoments(Moments.of(Phi, block.T, block.s), Moments.of(Phi, T, block.s * w))

    return source.map_reduce(task)


def solve_on_all_rows(
    source: Source, expansion: Expansion, learnt: Solution, penalty: Penalty, complete: bool
) -> Solved:
    """theta and b for units that were learnt, and the moments of all rows.

    Where theta and b have no closed form they were learnt with the units. They stay, if that was on all rows
    (`complete`); else they have one round more on all rows.
    """
    C, signs = penalty.C, unit_signs(expansion, penalty.signs)
    if source.outputs.loss.quadratic:
        moments = unit_moments(source, expansion)
        return Solved(solve(moments, C, signs), moments)
    if complete:
        solution, moments = learnt, unit_moments(source, expansion)
    else:
        moments, touching = both_moments(source, expansion, learnt)
        solution = solve(touching, C, signs)
    if source.outputs.loss.chooses:  # units may have been rounded
        solution = fit_constants(source, expansion, solution)
    return Solved(solution, moments)


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
