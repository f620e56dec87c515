"""Where a fit has got to, and how another goes on from there (``warm_start``).

The scale of the features, the units' start, penalties and outputs' loss stay what they were, so that nothing
has to be chosen again: units are trained on from where they are, which with a few more rows takes a few
iterations. Rows held out judge units that went on without them; but what units learnt in the fit before they
may have learnt from these very rows, so that the error to expect is somewhat rosier than that of a fit from
the beginning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sleek.bases.expansion import Expansion
from sleek.closed_form.solve import Penalty
from sleek.fit import policy
from sleek.fit.growth import Learnt, last_iterations, learn
from sleek.fit.plan import Plan, Request
from sleek.fit.trials import Report
from sleek.outputs.base import Outputs
from sleek.outputs.loss import Loss
from sleek.rows.scaling import Scaling
from sleek.rows.source import Source
from sleek.trainers.base import Limit, Reached, Training


@dataclass(frozen=True, eq=False)
class Standing:
    """What a fit leaves behind for the next."""

    scaling: Scaling
    start: Expansion
    penalty: Penalty
    reached: Reached  # in training units
    loss: Loss
    n_rows: int  # on which units were learnt last

    def check(self, request: Request) -> None:
        """That no setting asks for other units or outputs than there are."""
        start, wanted = self.start, None
        if request.n_units is not None and request.n_units != start.n_learnt:
            wanted = f"n_units={request.n_units}, and there are {start.n_learnt}"
        names = {part.basis.name for part in start.parts}
        if len(request.bases) == 1 and request.bases[0].name not in names:
            wanted = f"basis={request.bases[0].name!r}, and there are {start!r}"
        elif len(request.bases) == 1 and repr(request.bases[0]) not in {repr(p.basis) for p in start.parts}:
            there = next(part.basis for part in start.parts if part.basis.name == request.bases[0].name)
            wanted = f"basis={request.bases[0]!r}, and there are units of {there!r}"
        if request.loss not in (None, self.loss.name):
            wanted = f"loss={request.loss!r}, and outputs have the other loss"
        if wanted is not None:
            raise ValueError(
                f"warm_start=True goes on from the model there is, but you ask for {wanted}: set it to False."
            )

    def outputs(self, outputs: Outputs) -> Outputs:
        """The outputs of the rows with the loss that there was."""
        return outputs.with_loss(self.loss)

    def penalty_for(self, request: Request) -> Penalty:
        """The penalties, that of the user if there is one."""
        return self.penalty if request.C is None else replace(self.penalty, C=request.C)

    def on(self, rows: Source, request: Request, plan: Plan, report: Report) -> Training:
        """Units trained on, from where they are, on these rows alone."""
        return self.go_on(request, plan, lambda _: rows, report).training

    def go_on(self, request: Request, plan: Plan, draw: Callable[[int], Source], report: Report) -> Learnt:
        """Train the units on, in a race first without the rows held out."""
        start, penalty = self.start, self.penalty_for(request)
        begin: Reached | None = self.reached
        if not request.fits_units:
            start, begin = self.reached.expansion, None
        limit = Limit(last_iterations(request) if plan.races else None, policy.GOING_ON)
        if not plan.races:
            return learn(
                draw(plan.stages[0] if plan.stages else plan.n_rows),
                start,
                penalty,
                request,
                report,
                begin,
                limit=limit,
            )
        enough = [size for size in plan.stages if size >= self.n_rows]
        size = enough[0] if enough else plan.stages[-1] if plan.stages else plan.n_rows - plan.n_held
        report(f"going on from {start} on {size} rows")
        learnt = learn(draw(size), start, penalty, request, report, begin, policy.STAGE_SLACK, limit)
        unaware = learnt.training
        if plan.everything:
            learnt = learn(draw(plan.n_rows), start, penalty, request, report, unaware.reached, limit=limit)
        return replace(learnt, unaware=unaware)
