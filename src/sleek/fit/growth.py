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

from sleek.closed_form.penalty import Penalty
from sleek.fit import policy
from sleek.fit.folds import mean_and_error
from sleek.fit.plan import Plan, Request
from sleek.fit.start import Family
from sleek.fit.trials import Report, Trial, held_out_losses
from sleek.rows.sample import Sample
from sleek.rows.source import Source
from sleek.trainers.base import Problem, Reached, Training


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
    trial: Trial,
    request: Request,
    plan: Plan,
    draw: Callable[[int], Source],
    report: Report,
) -> Learnt:
    """Train a trial's units on larger and larger samples, as planned, judged by the rows held out."""
    family, losses, begin = trial.family, trial.losses, trial.training.reached
    learnt = Learnt(trial.training, trial.penalty, float("nan"), trial.n_rows, trial.training)
    for size in plan.stages:
        learnt = learn(draw(size), family, trial.penalty, request, report, begin, policy.STAGE_SLACK)
        fresh = held_out_losses(held, learnt.training)
        gain, error = mean_and_error(losses - fresh, held.rows.s, held.rows.copies)
        losses, begin = fresh, learnt.training.reached
        loss = float(np.average(losses, weights=held.rows.s))
        report(f"learnt on {size} rows: held-out loss {loss:.5f}, {gain:.5f} ± {error:.5f} less than before")
        if (gain + error) / policy.GROWTH < policy.PAYS * loss:
            break
    unaware = learnt.training
    if plan.everything:
        report(f"learning the units on all {plan.n_rows} rows")
        most = last_iterations(request) if held.outputs.loss.quadratic else None
        learnt = learn(draw(plan.n_rows), family, trial.penalty, request, report, begin, most=most)
    return replace(learnt, unaware=unaware)


def last_iterations(request: Request) -> int | None:
    """Those of the last training after a race, unless the user has left nothing to choose."""
    return None if request.settled else policy.LAST_ITERATIONS


def learn(
    rows: Source,
    family: Family,
    penalty: Penalty,
    request: Request,
    report: Report,
    begin: Reached | None,
    slack: float = 1.0,
    most: int | None = None,
) -> Learnt:
    """Train on these rows, at most so many iterations.

    A pull that the user has fixed is per row, a chosen prior stays what it is.
    """
    weight = float(rows.map_reduce(lambda block: block.s.sum()))
    if request.pull is not None:
        penalty = replace(penalty, prior=request.pull * weight)
    if most is None and not rows.outputs.loss.quadratic:
        most = request.effort.refining
    training = request.trainer.train(Problem(rows, family.start, penalty, begin, most, slack, report))
    return Learnt(training, penalty, weight, rows.n_rows)
