"""The paper's Algorithm 1: closed form for theta and b, then one normalised gradient step for the units.

With the dual variables held, the outputs are y(x) = Σ_j φ_j(x) Σ_n φ_j(x_n) (a∘t)_n + b: each unit enters
twice. A criterion with slope v = ∂J/∂y therefore has the gradient, for unit j,

    ∂J/∂λ_j = Σ_n [θ_j v_n + p_j (a∘t)_n] ∂φ_j(x_n)/∂λ_j,    p_j = Σ_n v_n φ_j(x_n),

(summed over the outputs where there are several), which is what the paper's vᵀ(∂K/∂λ)(a∘t) comes to without
any N×N matrix. The dual variables are never solved for: a∘t = C·s·(t - y).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from sleek._runtime.checks import check_choice, check_count, check_positive
from sleek._runtime.sums import Sums
from sleek._runtime.types import FloatArray
from sleek.bases.expansion import Expansion, Gradient
from sleek.closed_form.least_squares import fit_outputs
from sleek.closed_form.solve import Solution
from sleek.outputs.base import Outputs
from sleek.rows.source import Block
from sleek.trainers.base import Problem, Trainer, Training
from sleek.trainers.criteria import OBJECTIVES, Objective


class Alternating(Trainer):
    """Algorithm 1 of the paper, with a fixed number of iterations.

    Each iteration solves for theta and b, then moves every unit's centre and shape by `learning_rate` times
    the unit vector along the criterion's gradient, and sets negative shapes to zero. All units are moved
    together: the result does not depend on their order. theta and b are solved once more at the end, so
    that they belong to the final units.

    Three passes over the rows for each iteration, O(rows·n_units·(features + n_units)) time.

    Parameters
    ----------
    objective : {"absolute", "target", "squared"}, default="absolute"
        The criterion to increase: Σ|y|, Σ t·y or Σ y².
    learning_rate : float, default=1e-3
        The length η of a step, in standardised units if the estimator standardises.
    max_iter : int, default=100
        The number of iterations T; 0 leaves the units at their start.

    Examples
    --------
    >>> from sleek import Alternating, LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> trainer = Alternating(objective="squared", learning_rate=5e-4)
    >>> model = LowRankLSSVC(3, basis="robust_rbf", C=150.0, trainer=trainer, random_state=0).fit(X, y)
    >>> sorted(model.history_), len(model.history_["objective"])
    (['error', 'objective'], 100)
    """

    def __init__(self, objective: str = "absolute", learning_rate: float = 1e-3, max_iter: int = 100) -> None:
        self.objective = objective
        self.learning_rate = learning_rate
        self.max_iter = max_iter

    def train(self, problem: Problem) -> Training:
        source, expansion, C = problem.source, problem.start, problem.penalty.C
        objective = OBJECTIVES[check_choice("objective", self.objective, OBJECTIVES)]
        learning_rate = check_positive("learning_rate", self.learning_rate)
        max_iter = check_count("max_iter", self.max_iter, least=0)
        if not source.outputs.loss.quadratic:
            raise ValueError(
                "Alternating reads the dual variables off squared errors: use VariableProjection."
            )
        history: dict[str, list[float]] = {"objective": [], "error": []}
        for iteration in range(1, max_iter + 1):
            solution = fit_outputs(source, expansion, C).solution
            step = _Step(expansion, solution, objective, C, source.outputs)
            sums = source.map_reduce(step.sums)
            history["objective"].append(sums.objective)
            history["error"].append(sums.errors / sums.weight)
            gradient = source.map_reduce(partial(step.gradient, sums.p))
            expansion = expansion.with_units(
                [
                    part.units + own.map(lambda _, g: learning_rate * _unit_length(g))
                    for part, own in zip(expansion.parts, gradient.parts, strict=True)
                ]
            ).project()
            problem.report(
                f"iteration {iteration}/{max_iter}: {self.objective} objective "
                f"{history['objective'][-1]:.6g}, training error {history['error'][-1]:.4g}"
            )
        status = f"Finished the fixed number of {max_iter} iterations."
        solution = fit_outputs(source, expansion, C).solution
        return Training(expansion, solution, max_iter, history, status, converged=True, coordinates=None)


@dataclass(frozen=True, eq=False)
class _Sums(Sums):
    """Sums over rows of what the current model puts out."""

    weight: float
    objective: float
    errors: float
    p: FloatArray  # (m, k) Σ_n v_nk φ_nj


@dataclass(frozen=True, eq=False)
class _Step:
    """One iteration's fixed quantities, and its two passes over the rows."""

    expansion: Expansion
    solution: Solution
    objective: Objective
    C: float
    outputs: Outputs

    def sums(self, block: Block) -> _Sums:
        Phi, Y = self._evaluate(block)
        v = self.objective.slope(Y, block.T) * block.s[:, None]  # (n, k)
        value = block.s @ self.objective.value(Y, block.T)
        errors = float(block.s @ self.outputs.row_errors(block.T, Y))
        return _Sums(float(block.s.sum()), float(value.sum()), errors, Phi.T @ v)

    def gradient(self, p: FloatArray, block: Block) -> Gradient:
        Phi, Y = self._evaluate(block)
        s = block.s[:, None]
        v = self.objective.slope(Y, block.T) * s
        a = self.C * s * (block.T - Y)  # (n, k) the dual variables times labels
        return self.expansion.vjp(block.X, Phi, v @ self.solution.theta.T + a @ p.T)

    def _evaluate(self, block: Block) -> tuple[FloatArray, FloatArray]:
        Phi = self.expansion.features(block.X)
        return Phi, Phi @ self.solution.theta + self.solution.b


def _unit_length(gradient: FloatArray) -> FloatArray:
    """Every unit's gradient divided by its norm; a zero gradient stays zero."""
    axes = tuple(range(1, gradient.ndim))
    # by a power of 2 first: with weights of 1e200 squares overflow
    gradient = np.ldexp(gradient, -np.frexp(np.abs(gradient).max(axis=axes, keepdims=True))[1])
    norm = np.sqrt(np.sum(gradient**2, axis=axes, keepdims=True))
    direction: FloatArray = np.divide(gradient, norm, out=np.zeros_like(gradient), where=norm > 0)
    return direction
