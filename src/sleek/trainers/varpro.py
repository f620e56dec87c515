"""Variable projection: units minimise the least squares objective with theta and b always at their optimum.

The reduced objective, for the coordinates u of `Basis.coordinates`,

    E(u) = min over θ, b of  ½‖θ‖²/C + ½ Σ s (t - Φ(u)θ - b)² + ½·prior·‖u‖²

has by the envelope theorem the gradient of the full objective at the optimal θ, b: one `vjp` with dΦ =
-s·r·θᵀ. Its value comes from the moments alone: ½(Σ s(t-t̄)² - θ∘R) + ½·prior·‖u‖². Without the prior,
which pulls u to 0, units overfit small data. Both hold under bounds on θ too: what is held at 0 adds nothing
to θ∘R, and what is not held has slope 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sleek._runtime.checks import check_count, check_positive
from sleek._runtime.threads import single_threaded_blas
from sleek._runtime.types import FloatArray
from sleek.bases.constraints import unit_signs
from sleek.bases.expansion import Expansion, ExpansionCoordinates
from sleek.closed_form.least_squares import unit_moments
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Penalty, Solution, solve
from sleek.kernels import output_gradient
from sleek.rows.source import Block, Source
from sleek.trainers.base import NO_UNITS, Problem, Reached, Trainer, Training, silent
from sleek.trainers.descent import Minimum, minimise, minimise_compiled
from sleek.trainers.joint import Joint
from sleek.trainers.moving_units import MovingUnits
from sleek.trainers.training_rows import training_rows

KEEP_PHI = 2**23  # numbers of Phi, 64 MB, up to which it is kept between the two passes of an evaluation

# Shares of the objective that the first iteration gains where units start, and where they go on (medians of
# default fits: 0.04 and 0.002).
FIRST_GAIN, NEXT_GAIN = 0.04, 0.002

STOPPED = "Stopped after {} iterations: more would not pay."


class VariableProjection(Trainer):
    """Minimise the reduced least squares objective over the units by L-BFGS.

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
        joint = not problem.source.outputs.loss.quadratic
        max_iter = check_count("max_iter", self.max_iter, least=0)
        given = problem.limit.joint if joint else problem.limit.closed
        max_iter = max_iter if given is None else min(max_iter, given)
        tol = min(1.0, problem.slack * check_positive("tol", self.tol))  # 1 is all there is to gain
        coordinates = problem.start.coordinates(problem.penalty.signs)
        begin = Reached(problem.start) if problem.begin is None else problem.begin
        objective = (Joint if joint else _Reduced)(problem.source, coordinates, problem.penalty, begin)
        history: dict[str, list[float]] = {"objective": []}

        def record(value: float) -> None:
            history["objective"].append(value / objective.unit)
            if problem.report is not silent:
                line = f"iteration {len(history['objective'])}: objective {history['objective'][-1]:.6g}"
                problem.report(line)

        u = objective.first
        status, converged = "Not trained: max_iter is 0.", True
        if len(u) == 0:
            status = NO_UNITS
        if max_iter > 0 and len(u) > 0:
            gain = FIRST_GAIN if problem.begin is None else NEXT_GAIN
            with single_threaded_blas():
                found = objective.minimise(max_iter, tol, record, gain)
            u, enough = found.x, found.end == "max_iter" and max_iter == given
            converged = enough or found.end == "converged"
            status = STOPPED.format(max_iter) if enough else _sentence(found, max_iter)
        expansion, solution = objective.end(u)
        n_iter = len(history["objective"])
        return Training(expansion, solution, n_iter, history, status, converged, coordinates)


def _sentence(found: Minimum, max_iter: int) -> str:
    if found.end == "converged":
        return "Converged: the last iteration improved the objective by less than tol."
    if found.end == "max_iter":
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
        self.rows = training_rows(source, len(coordinates.start))
        self.units = MovingUnits(coordinates, source.n_rows)
        self.compiled = self.units.reduced(self.rows, penalty.C) if penalty.signs is None else None
        self.first = coordinates.vector(begin.expansion)
        self.signs = unit_signs(coordinates.start, penalty.signs)
        self.keeps = source.here and source.n_rows * len(coordinates.start) <= KEEP_PHI

    def lower_bounds(self) -> FloatArray:
        """The least value of every coordinate."""
        return self.coordinates.lower_bounds()

    def minimise(
        self, max_iter: int, tol: float, report: Callable[[float], None], first_gain: float
    ) -> Minimum:
        """Descend from the first point; in one compiled call where that is possible."""
        steps = max_iter, tol, report, first_gain
        lower = self.lower_bounds()
        found = None
        if self.compiled is not None:
            prior, flat = self.penalty.prior, self.coordinates.flat
            found = minimise_compiled(self.compiled, flat, prior, self.first, lower, *steps)
        return minimise(self, self.first, lower, *steps) if found is None else found

    def end(self, u: FloatArray) -> tuple[Expansion, Solution]:
        """Units, and theta and b in closed form."""
        expansion = self.coordinates.expansion(u)
        return expansion, solve(unit_moments(self.source, expansion), self.penalty.C, self.signs)

    def __call__(self, u: FloatArray) -> tuple[float, FloatArray]:
        units = self.units.at(u)
        if self.compiled is not None and (found := self.compiled(units.numbers)) is not None:
            total, gain, by_numbers = found
            by_u = self.coordinates.flat.by_u_of_numbers(by_numbers)
            return self._with_prior(0.5 * (total - gain), by_u, u, total)
        kept: dict[int, FloatArray] = {}

        def sums(block: Block) -> Moments:
            Phi = units.features(block.X)
            if self.keeps:
                kept[block.start] = Phi
            return Moments.of(Phi, block.T, block.s)

        moments = self.rows.map_reduce(sums)
        variation = float(moments.tt.sum())
        theta, b = solve(moments, self.penalty.C, self.signs)

        def slope(block: Block) -> FloatArray:
            Phi = kept[block.start] if self.keeps else units.features(block.X)
            return units.gradient(block.X, Phi, output_gradient(Phi, block.T, block.s, theta, b))

        value = 0.5 * (variation - float(np.vdot(theta, moments.R)))
        return self._with_prior(value, self.rows.map_reduce(slope), u, variation)

    def _with_prior(
        self, value: float, by_u: FloatArray, u: FloatArray, variation: float
    ) -> tuple[float, FloatArray]:
        """Value and gradient with those of the prior, in units of the targets' variation."""
        prior, total = self.penalty.prior, variation or 1.0
        by_u += prior * u
        by_u /= total
        return (value + 0.5 * prior * float(u @ u)) / total, by_u
