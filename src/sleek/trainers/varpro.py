"""Variable projection: units minimise the least squares objective with theta and b always at their optimum.

The reduced objective, for the coordinates u of `Basis.coordinates`,

    E(u) = min over θ, b of  ½‖θ‖²/C + ½ Σ s (t - Φ(u)θ - b)² + ½·prior·‖u‖²

has by the envelope theorem the gradient of the full objective at the optimal θ, b: one `vjp` with dΦ =
-s·r·θᵀ. Its value comes from the moments alone: ½(Σ s(t-t̄)² - θ∘R) + ½·prior·‖u‖². Without the prior,
which pulls u to 0, units overfit small data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from sleek._runtime.checks import check_count, check_growth, check_positive
from sleek._runtime.types import FloatArray
from sleek.bases.base import Basis, Coordinates, Units, flat
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import solve
from sleek.kernels import output_gradient
from sleek.rows.source import Block, Source
from sleek.trainers.base import Penalty, Trainer, Training, fit_output

GOING_ON = 15  # iterations of a draft that goes on from where another has got to
STAGE_TOL = 10  # times `tol` is exact enough on a sample: its own error is larger
KEEP_PHI = 2**23  # numbers of Phi, 64 MB, up to which it is kept between the two passes of an evaluation


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
    growth : float or None, default=4.0
        Learn the units of large data on a random sample that grows by this factor as long as growing pays
        (`sleek.fit.growth` states the rule); theta and b are always solved on all rows. None learns the units
        on all rows too.

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

    pulls: ClassVar[bool] = True

    def __init__(
        self,
        pull: float | str = "loo",
        max_iter: int = 200,
        tol: float = 1e-5,
        growth: float | None = 4.0,
    ) -> None:
        self.pull = pull
        self.max_iter = max_iter
        self.tol = tol
        self.growth = growth

    def train(
        self,
        source: Source,
        basis: Basis,
        start: Units,
        penalty: Penalty,
        report: Callable[[str], None],
        begin: Units | None = None,
    ) -> Training:
        max_iter = check_count("max_iter", self.max_iter, least=0)
        tol = check_positive("tol", self.tol)
        coordinates = basis.coordinates(start)
        objective = _Reduced(source, basis, coordinates, penalty)
        history: dict[str, list[float]] = {"objective": []}

        def record(intermediate_result: Any) -> None:
            history["objective"].append(float(intermediate_result.fun))
            report(f"iteration {len(history['objective'])}: objective {intermediate_result.fun:.6g}")

        u = coordinates.vector(start if begin is None else begin)
        status, converged = "Not trained: max_iter is 0.", True
        if max_iter > 0:
            result = minimize(
                objective,
                u,
                jac=True,
                method="L-BFGS-B",
                bounds=coordinates.bounds(),
                callback=record,
                options={"maxiter": max_iter, "maxfun": 4 * max_iter + 20, "ftol": tol, "gtol": 1e-9},
            )
            u, converged = result.x, result.status == 0
            status = _sentence(result, max_iter)
        units = coordinates.units(u)
        solution = fit_output(source, basis, units, penalty.C)
        return Training(units, solution, len(history["objective"]), history, status, converged, coordinates)

    def draft(self, basis: Basis, goes_on: bool = False) -> Trainer:
        enough = GOING_ON if goes_on else basis.draft_iterations
        max_iter = min(check_count("max_iter", self.max_iter, least=0), enough)
        return VariableProjection(self.pull, max_iter, self.tol, self.growth)

    def stage(self) -> Trainer:
        return VariableProjection(self.pull, self.max_iter, STAGE_TOL * self.tol, self.growth)

    def fixed_pull(self) -> float | None:
        if isinstance(self.pull, str) and self.pull == "loo":
            return None
        return check_positive("pull", self.pull, word="loo")

    def growth_factor(self) -> float | None:
        return None if self.growth is None else check_growth(self.growth)


def _sentence(result: Any, max_iter: int) -> str:
    if result.status == 0:
        return "Converged: the last iteration improved the objective by less than tol."
    if result.status == 1:
        return f"Not converged: max_iter={max_iter} iterations were not enough; increase it or tol."
    return "Not converged: no further decrease could be found along the last search direction."


class _Reduced:
    """The reduced objective and its gradient by u, both divided by the targets' total variation.

    Divided so, the objective is 1 for a model that knows nothing, and `tol` means the same for any data.
    """

    def __init__(self, source: Source, basis: Basis, coordinates: Coordinates, penalty: Penalty) -> None:
        self.source, self.basis, self.coordinates, self.penalty = source, basis, coordinates, penalty
        self.keeps = source.n_rows * len(coordinates.anchor) <= KEEP_PHI

    def __call__(self, u: FloatArray) -> tuple[float, FloatArray]:
        units = self.coordinates.units(u)
        kept: dict[int, FloatArray] = {}

        def sums(block: Block) -> Moments:
            Phi = self.basis.features(block.X, units)
            if self.keeps:
                kept[block.start] = Phi
            return Moments.of(Phi, block.T, block.s)

        moments = self.source.map_reduce(sums)
        solution = solve(moments, self.penalty.C)

        def gradient(block: Block) -> Units:
            Phi = kept[block.start] if self.keeps else self.basis.features(block.X, units)
            dPhi = output_gradient(Phi, block.T, block.s, solution.theta, solution.b)
            return self.basis.vjp(block.X, units, Phi, dPhi)

        scale = self.coordinates.scale
        by_u = flat(self.source.map_reduce(gradient).map(lambda name, array: array * scale[name]))
        total = float(moments.tt.sum()) or 1.0
        value = 0.5 * (moments.tt.sum() - np.sum(solution.theta * moments.R) + self.penalty.prior * (u @ u))
        return float(value) / total, (by_u + self.penalty.prior * u) / total
