"""Learning units on a sample that grows only as long as growing pays.

A stage trains the units, from where the stage before has left them, on `GROWTH` times as many rows, and
looks at rows held out of all stages. There the mean loss has fallen by g, with a standard error e (of the
paired difference). What a model has not yet learnt from n rows of its kind falls like 1/n, so the next
stage can be expected to bring g/GROWTH. Growing stops as soon as even (g + e)/GROWTH is less than `PAYS`,
two per cent, of the loss, or when the plan has no further stage. Where every row counts, units are then
learnt on all rows, those held out too.

Each stage draws its sample in one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.bases.expansion import Expansion
from sleek.closed_form.solve import Penalty
from sleek.fit import policy
from sleek.fit.judge import Split, mean_and_error
from sleek.fit.plan import Plan, Request
from sleek.fit.trials import Draft, Report, refining
from sleek.rows.sample import Sample
from sleek.rows.source import Source
from sleek.trainers.base import Limit, Problem, Reached, Training


@dataclass(frozen=True, eq=False)
class Learnt:
    """Units learnt on as many rows as it took."""

    training: Training
    penalty: Penalty
    weight: float  # of the rows that they were learnt on
    n_rows: int  # how many these are
    unaware: Training | None = None  # the last training that has not seen the rows held out


def grow(
    held: Sample,
    draft: Draft,
    n_rows: int,
    request: Request,
    plan: Plan,
    draw: Callable[[int], Source],
    report: Report,
) -> Learnt:
    """Train units on larger and larger samples, as planned, judged by the rows held out.

    They come from a draft on so many rows.
    """
    start, penalty, begin = draft.start, draft.penalty, draft.training.reached
    losses = _losses(held, draft.training)
    learnt = Learnt(draft.training, penalty, float("nan"), n_rows, draft.training)
    stage = Limit(last_iterations(request), refining(request, start))
    for size in plan.stages:
        learnt = learn(draw(size), start, penalty, request, report, begin, policy.STAGE_SLACK, stage)
        fresh = _losses(held, learnt.training)
        rows = held.rows
        gain, error = mean_and_error(losses - fresh, rows.s, rows.copies, rows.groups)
        losses, begin = fresh, learnt.training.reached
        loss = float(np.average(losses, weights=held.rows.s))
        report(f"learnt on {size} rows: held-out loss {loss:.5f}, {gain:.5f} ± {error:.5f} less than before")
        if (gain + error) / policy.GROWTH < policy.PAYS * loss:
            break
    unaware = learnt.training
    if plan.everything:
        report(f"learning the units on all {plan.n_rows} rows")
        learnt = learn(draw(plan.n_rows), start, penalty, request, report, begin, limit=stage)
    return replace(learnt, unaware=unaware)


def _losses(held: Sample, training: Training) -> FloatArray:
    """The loss of every row that was held out."""
    judged = Split(held, held).residuals(training)
    return held.outputs.losses(judged.T, judged.outputs)


def last_iterations(request: Request) -> int | None:
    """Those of the last training after a race, unless the user has left nothing to choose."""
    return None if request.fixes_everything else policy.LAST_ITERATIONS


def learn(
    rows: Source,
    start: Expansion,
    penalty: Penalty,
    request: Request,
    report: Report,
    begin: Reached | None,
    slack: float = 1.0,
    limit: Limit | None = None,
) -> Learnt:
    """Train on these rows, at most so many iterations; by default to the end, or `refining` joint ones.

    A pull that the user has fixed is per row, a chosen prior stays what it is.
    """
    weight = float(rows.map_reduce(lambda block: block.s.sum()))
    if request.pull is not None:
        penalty = replace(penalty, prior=request.pull * weight)
    limit = Limit(None, refining(request, start)) if limit is None else limit
    training = request.trainer.train(Problem(rows, start, penalty, begin, limit, slack, report))
    return Learnt(training, penalty, weight, rows.n_rows)
