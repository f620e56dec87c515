"""Variable projection: units minimise the least squares objective with theta and b always at their optimum.

The reduced objective, for the coordinates u of `Basis.coordinates`,

    E(u) = min over θ, b of  ½‖θ‖²/C + ½ Σ s (t - Φ(u)θ - b)² + ½·prior·‖u‖²

has by the envelope theorem the gradient of the full objective at the optimal θ, b: one `vjp` with dΦ =
-s·r·θᵀ. Its value comes from the moments alone: ½(Σ s(t-t̄)² - θ∘R) + ½·prior·‖u‖². Without the prior,
which pulls u to 0, units overfit small data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from sleek._runtime.checks import check_count, check_positive
from sleek._runtime.types import FloatArray
from sleek.bases.expansion import Expansion, ExpansionCoordinates, Gradient
from sleek.closed_form.least_squares import unit_moments
from sleek.closed_form.moments import Moments
from sleek.closed_form.penalty import Penalty
from sleek.closed_form.solve import Solution, solve
from sleek.kernels import output_gradient
from sleek.rows.source import Block, Source
from sleek.trainers.base import Problem, Reached, Trainer, Training
from sleek.trainers.joint import Joint

KEEP_PHI = 2**23  # numbers of Phi, 64 MB, up to which it is kept between the two passes of an evaluation

STOPPED = "Stopped after {} iterations: more would not pay."


class VariableProjection(Trainer):
    """Minimise the reduced least squares objective over the units by L-BFGS-B.

    Any basis, source, number of outputs and weights. Two passes over the rows for each evaluation,
    O(rows·n_units·(features + n_units + outputs)) time.

    Parameters
    ----------
    pull : float or "loo", default="loo"
        How strongly, per row, each coordinate u of a unit is drawn to 0 (its start, for bases of a distance):
        the objective has the term ½·pull·Σs·‖u‖². A u of 1 is a centre moved by one standard deviation, or a
        shape doubled. "loo" chooses it by whole-model leave-one-out.
    max_iter : int, default=200
        Iterations at most; 0 leaves the units at their start.
    tol : float, default=1e-5
        Stop when an iteration improves the objective by less than this share of the targets' variance, or by
        ten times as much on a sample.

    Examples
    --------
    >>> from sleek import LowRankLSSVC, VariableProjection
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> trainer = VariableProjection(pull=1e-3)
    >>> model = LowRankLSSVC(4, basis="robust_rbf", C=10.0, trainer=trainer, random_state=0).fit(X, y)
    >>> model.history_["objective"][-1] < 0.15  # of the targets' variation
    True
    >>> model.status_
    'Converged: the last iteration improved the objective by less than tol.'
    """

    def __init__(self, pull: float | str = "loo", max_iter: int = 200, tol: float = 1e-5) -> None:
        self.pull = pull
        self.max_iter = max_iter
        self.tol = tol

    def train(self, problem: Problem) -> Training:
        max_iter, given = check_count("max_iter", self.max_iter, least=0), problem.max_iter
        max_iter = max_iter if given is None else min(max_iter, given)
        tol = min(1.0, problem.slack * check_positive("tol", self.tol))  # 1 is all there is to gain
        coordinates = problem.start.coordinates()
        joint = not problem.source.outputs.loss.quadratic
        begin = Reached(problem.start) if problem.begin is None else problem.begin
        objective = (Joint if joint else _Reduced)(problem.source, coordinates, problem.penalty, begin)
        history: dict[str, list[float]] = {"objective": []}

        def record(intermediate_result: Any) -> None:
            history["objective"].append(float(intermediate_result.fun) / objective.unit)
            line = f"iteration {len(history['objective'])}: objective {history['objective'][-1]:.6g}"
            problem.report(line)

        u = objective.first
        status, converged = "Not trained: max_iter is 0.", True
        if len(u) == 0:
            status = "A linear model: the features have weights, and there are no units to learn."
        if max_iter > 0 and len(u) > 0:
            result = minimize(
                objective,
                u,
                jac=True,
                method="L-BFGS-B",
                bounds=objective.bounds(),
                callback=record,
                options={"maxiter": max_iter, "maxfun": 4 * max_iter + 20, "ftol": tol, "gtol": 1e-9},
            )
            u, enough = result.x, result.status == 1 and max_iter == given
            converged = enough or result.status == 0
            status = STOPPED.format(max_iter) if enough else _sentence(result, max_iter)
        expansion, solution = objective.end(u)
        n_iter = len(history["objective"])
        return Training(expansion, solution, n_iter, history, status, converged, coordinates)


def _sentence(result: Any, max_iter: int) -> str:
    if result.status == 0:
        return "Converged: the last iteration improved the objective by less than tol."
    if result.status == 1:
        return (
            f"Not converged: max_iter={max_iter} iterations were not enough. Give the trainer more, "
            f"trainer=VariableProjection(max_iter={2 * max_iter}), or a larger tol."
        )
    return "Not converged: no further decrease could be found along the last search direction."


class _Reduced:
    """The reduced objective and its gradient by u, both divided by the targets' total variation.

    Divided so, the objective is 1 for a model that knows nothing, and `tol` means the same for any data.
    """

    unit = 1.0

    def __init__(
        self, source: Source, coordinates: ExpansionCoordinates, penalty: Penalty, begin: Reached
    ) -> None:
        self.source, self.coordinates, self.penalty = source, coordinates, penalty
        self.first = coordinates.vector(begin.expansion)
        self.keeps = source.here and source.n_rows * len(coordinates.start) <= KEEP_PHI

    def bounds(self) -> Bounds:
        """The bounds of all coordinates."""
        return self.coordinates.bounds()

    def end(self, u: FloatArray) -> tuple[Expansion, Solution]:
        """Units, and theta and b in closed form."""
        expansion = self.coordinates.expansion(u)
        return expansion, solve(unit_moments(self.source, expansion), self.penalty.C)

    def __call__(self, u: FloatArray) -> tuple[float, FloatArray]:
        expansion = self.coordinates.expansion(u)
        kept: dict[int, FloatArray] = {}

        def sums(block: Block) -> Moments:
            Phi = expansion.features(block.X)
            if self.keeps:
                kept[block.start] = Phi
            return Moments.of(Phi, block.T, block.s)

        moments = self.source.map_reduce(sums)
        total = float(moments.tt.sum()) or 1.0
        theta, b = solve(moments, self.penalty.C)

        def slope(block: Block) -> Gradient:
            Phi = kept[block.start] if self.keeps else expansion.features(block.X)
            return expansion.vjp(block.X, Phi, output_gradient(Phi, block.T, block.s, theta, b))

        prior = self.penalty.prior
        value = 0.5 * float(moments.tt.sum() - np.sum(theta * moments.R)) + 0.5 * prior * float(u @ u)
        by_u = self.coordinates.by_u(self.source.map_reduce(slope)) + prior * u
        return value / total, by_u / total
