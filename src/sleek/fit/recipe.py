"""A fit from beginning to end: look, scale, place the units, choose the settings, learn, solve, judge.

All of it is done in training units (standardised features, encoded targets); the result is in the user's.

Large data are gone over a bounded number of times: once for the features' means and spreads and a first
sample (twice if a feature has absurd values), once for every growth of the sample, once for the closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sleek._runtime.checks import check_magnitude
from sleek._runtime.memory import keep_freed_memory
from sleek._runtime.threads import Workers
from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.expansion import Expansion
from sleek.closed_form.least_squares import Solved, both_moments, unit_moments
from sleek.closed_form.leave_one_out import LeaveOneOut
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Solution, solve
from sleek.fit import policy
from sleek.fit.enlarge import enlarge
from sleek.fit.growth import Learnt, grow, learn
from sleek.fit.judge import Choice, judge
from sleek.fit.plan import Plan, Request
from sleek.fit.prune import prune
from sleek.fit.race import race
from sleek.fit.refine import refine
from sleek.fit.search import search
from sleek.fit.standing import Standing
from sleek.fit.start import (
    Family,
    Look,
    families,
    scaling_of,
    warn_of_lost_features,
    without_outliers,
)
from sleek.fit.straighten import straighten
from sleek.fit.trials import Report, Trials, path, table
from sleek.kernels.columns import ColumnMoments
from sleek.outputs.base import Outputs
from sleek.rows.sample import Sample
from sleek.rows.scaling import ScaledSource
from sleek.rows.source import Source
from sleek.trainers.base import Training


@dataclass(frozen=True, eq=False)
class Fitted:
    """The outcome of a fit: units and solution in the user's units, moments of encoded targets."""

    outputs: Outputs
    expansion: Expansion
    solution: Solution
    moments: Moments
    C: float
    pull: float
    training: Training
    selection: dict[str, list[object]]
    path: dict[str, list[object]]
    judged_rows: IntArray
    judged: LeaveOneOut
    judged_by: str
    judged_phi: FloatArray  # the units' values at these rows
    columns: ColumnMoments  # of the features as they are
    some_rows: FloatArray  # a few of them
    standing: Standing  # for a fit that goes on from here


def fit(
    data: Source,
    request: Request,
    plan: Plan,
    rng: np.random.Generator,
    workers: Workers,
    names: Sequence[str] | None,
    report: Report,
    standing: Standing | None = None,
) -> Fitted:
    """Fit the model that is requested to all rows of `data`, as planned, or go on from where a fit got to."""
    keep_freed_memory()
    seed = int(rng.integers(2**63))
    raw = Look.at(data, plan, seed, workers)
    check_magnitude(raw.columns.spread(), names)
    columns = without_outliers(data, raw)
    warn_of_lost_features(raw.columns, names)
    scaling = scaling_of(columns, request.standardize) if standing is None else standing.scaling
    look, as_given = raw.scaled(scaling), raw.columns
    some_rows = raw.sample.smallest(policy.INFLUENCE_ROWS).rows.X
    del raw  # a sample can take as much memory as the limit allows: one of them is enough
    report(str(plan))
    if standing is None:
        starts = families(look.sample, plan, scaling, request, columns, rng)
        choice, tried = _choose(look, plan, request, starts, report)
    else:
        standing.check(request)
        outputs, penalty = standing.outputs(data.outputs), standing.settled(request)
        choice, tried = Choice(outputs, standing.family, standing.family, penalty, None, {}), {}
    outputs = choice.outputs
    look = look.with_outputs(outputs)

    def draw(size: int) -> Source:
        if size == look.sample.n_rows:
            return look.sample.with_outputs(outputs)
        if size == data.n_rows and not plan.stages:
            return ScaledSource(data, scaling).with_outputs(outputs)  # however many there are: no copy
        held, share = plan.n_held if size < data.n_rows else 0, policy.LEAST_CLASS_SHARE
        drawn = Sample.draw(data, size, seed, workers, held, share)
        return drawn.scaled(scaling).with_outputs(outputs)  # scale a few rows, not all

    if standing is not None:
        learnt = standing.go_on(request, plan, draw, report)
    elif plan.races and choice.trial is not None:
        learnt = grow(look.held, choice.trial, request, plan, draw, report)
    else:
        rows = look.sample.smallest(plan.stages[0]) if plan.stages else draw(plan.n_rows)
        begin = None if choice.trial is None else choice.trial.training.reached
        learnt = learn(rows, choice.family, choice.penalty, request, report, begin)
    expansion = learnt.training.expansion.unscale(scaling)
    solution, moments = _solved(data.with_outputs(outputs), expansion, learnt, plan)
    judged, residuals, how = judge(look, plan, request, choice, learnt, solution, moments)
    theta, b = outputs.decode(*solution)
    return Fitted(
        outputs=outputs,
        expansion=expansion,
        solution=Solution(theta, b),
        moments=moments,
        C=learnt.penalty.C,
        pull=learnt.penalty.prior / learnt.weight if request.fits_units else np.nan,
        training=learnt.training,
        selection=tried,
        path=choice.path,
        judged_rows=judged.numbers,
        judged=residuals,
        judged_by=how,
        judged_phi=learnt.training.expansion.features(judged.rows.X),
        columns=as_given,
        some_rows=some_rows,
        standing=Standing(
            scaling,
            choice.family,
            learnt.penalty,
            learnt.training.reached,
            outputs.loss.quadratic,
            learnt.n_rows,
        ),
    )


def _choose(
    look: Look, plan: Plan, request: Request, starts: list[Family], report: Report
) -> tuple[Choice, dict[str, list[object]]]:
    """What the user has fixed, completed by selection where anything is open."""
    heats = plan.heats or (plan.n_tried,)
    held = look.held if plan.races else None
    rounds = [Trials(look.sample.smallest(size), request, report, held) for size in heats]
    last = rounds[-1]
    if request.settled and not plan.races and request.loss != "logistic":
        return Choice(look.sample.outputs, starts[0], starts[0], last.penalty(0), None, {}), {}
    if plan.races:
        final = (
            Trials(look.sample.smallest(plan.stages[0]), request, report, held) if plan.has_final else None
        )
        best = race(rounds[0], last, starts, final)
        rounds += [] if final is None else [final]
        grown = [family.start.parts[0].basis for family in starts if family.regrow is not None]
        if grown and not request.sized:
            enough = round(look.columns.weight) // request.effort.rows_per_added_unit
            best = enlarge(last, best, grown[0], min(request.most_units, enough))
    else:
        best = search(last, starts)
    if request.refines(plan.races):
        refined, best = refine(last, best, request.loss is not None)
        if refined is not last:
            rounds.append(refined)
        last = refined
    if len(request.bases) > 1 and not request.sized and request.shape is None:
        best = straighten(last, best)
    whole = best.family
    if not request.sized:
        best = prune(last, best)
    tried = {} if request.settled else table([trial for trials in rounds for trial in trials.all], best)
    frontier = {} if request.sized else path(last.all, best)
    return Choice(last.sample.outputs, best.family, whole, best.penalty, best, frontier), tried


def _solved(data: Source, expansion: Expansion, learnt: Learnt, plan: Plan) -> Solved:
    """theta and b, and the sums over all rows.

    Where they have no closed form, they were learnt with the units; on more rows than that, one round more.
    """
    solution, C = learnt.training.solution, learnt.penalty.C
    if data.outputs.loss.quadratic or plan.everything:
        moments = unit_moments(data, expansion)
        return Solved(solve(moments, C) if data.outputs.loss.quadratic else solution, moments)
    moments, touching = both_moments(data, expansion, solution)
    return Solved(solve(touching, C), moments)
