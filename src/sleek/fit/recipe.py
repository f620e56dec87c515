"""A fit from beginning to end: look, scale, place the units, choose the settings, learn, solve, judge.

All of it is done in training units (standardised features, encoded targets); the result is in the user's.

Large data are gone over a bounded number of times: once for the features' means and spreads and a first
sample (twice if a feature has absurd values), once for every growth of the sample, once for the closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np

from sleek._runtime.checks import check_magnitude
from sleek._runtime.machine import keep_freed_memory
from sleek._runtime.threads import Workers
from sleek._runtime.types import FloatArray, IntArray
from sleek._runtime.warn import warn
from sleek.bases.expansion import Expansion
from sleek.closed_form.least_squares import solve_on_all_rows
from sleek.closed_form.leave_one_out import LeaveOneOut, Trained, solved_rows_loo, whole_model_loo
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Penalty, Solution
from sleek.closed_form.touching import Touching
from sleek.fit import policy
from sleek.fit.growth import Learnt, grow, learn
from sleek.fit.judge import (
    HELD_OUT,
    LEAVE_ONE_OUT,
    REFITTED,
    Split,
    Verdict,
    folds_for,
    judging_of,
    mean_and_error,
    n_folds_needed,
    pool,
)
from sleek.fit.ladder import Climb, Climbed, climb, place
from sleek.fit.plan import ANY_ROWS, Judging, Plan, Request
from sleek.fit.rounding import round_units
from sleek.fit.standing import Standing
from sleek.fit.start import (
    Family,
    Look,
    families,
    scaling_of,
    warn_of_lost_features,
    warn_of_pasted_rows,
    without_outliers,
)
from sleek.fit.trials import Candidate, Draft, Report, Trials, train_to_the_end
from sleek.kernels.column_statistics import ColumnMoments
from sleek.outputs.base import Outputs, Targets
from sleek.outputs.loss import SQUARED
from sleek.rows.repeats import PastedSource, different_rows, pasted_times, warn_of_groups
from sleek.rows.rows import Rows, Run, Survey
from sleek.rows.sample import Sample
from sleek.rows.scaling import ScaledSource
from sleek.rows.source import Block, Source
from sleek.tables.inputs import Inputs
from sleek.trainers.base import Training

SAME = 1e-6  # relative difference of two errors that is rounding
SURE = 3.0  # standard errors that are no chance


@dataclass(frozen=True, eq=False)
class Fitted:
    """The outcome of a fit: units and solution in the user's units, moments of encoded targets."""

    outputs: Outputs
    expansion: Expansion
    solution: Solution
    moments: Moments
    touching: Touching | None  # the quadratic of the rows' loss; None where the moments say everything
    C: float
    pull: float
    training: Training
    selection: dict[str, list[object]]
    path: dict[str, list[object]]
    judged_rows: IntArray
    judged: LeaveOneOut
    judged_by: str
    judged_x: FloatArray  # the features of these rows, as they are
    judged_phi: FloatArray  # the units' values at these rows
    columns: ColumnMoments  # of the features as they are
    some_rows: FloatArray  # a few of them
    sampled_x: FloatArray  # more of them, all different
    standing: Standing  # for a fit that goes on from here
    pasted: int  # how many rows of the table make one observation
    optimism: float  # the error to expect, as a multiple of that of the judged rows


@dataclass(frozen=True, eq=False)
class FittedRows:
    """A fit, and the rows that it was made on."""

    fitted: Fitted
    rows: Rows  # sorted and merged, if they are few
    n_rows: int  # of positive weight, as they were given
    scale: float  # the weight of one observation, as the user gave it
    feature_names: tuple[str, ...] | None
    inputs: Inputs | None
    as_new: Callable[[FloatArray], FloatArray]  # `Rows.as_new`


def fit_rows(
    rows: Rows,
    kind: Targets,
    learn_outputs: Callable[[Rows, Survey], Outputs],
    request: Request,
    rng: np.random.Generator,
    run: Run,
    report: Report,
    standing: Standing | None = None,
) -> FittedRows:
    """Survey targets and weights, sort and merge few rows, and fit; or go on from where a fit got to.

    `learn_outputs` makes the outputs from the survey, which the `kind` of targets has made.
    """
    names, inputs, as_new = rows.feature_names, rows.inputs, rows.as_new
    survey = rows.survey(kind, run)
    n_rows = survey.weights.n_rows
    judging = judging_of(request, rows, survey, kind, run)
    if n_rows <= policy.CANONICAL_ROWS:
        rows = rows.in_memory(kind.reads, n_rows, run)
        rows = rows if judging.ordered else rows.canonical(merge=survey.counts)
        survey = rows.survey(kind, run, survey)
    if not survey.weights.n_rows > 1:
        raise ValueError(
            f"A fit needs at least 2 rows of positive weight that are not the same, got {n_rows} of one kind."
        )
    outputs = learn_outputs(rows, survey)
    weighting = survey.weighting(outputs)
    request = request.scaled(weighting.scale)
    plan = Plan.of(survey.weights.n_rows, rows.n_features, request, judging)
    source = rows.source(outputs, weighting, run)
    fitted = fit(source, request, plan, rng, run.workers, names, report, standing, judging)
    if judging.open and fitted.pasted == 1:
        columns = np.arange(rows.n_features)
        if inputs is not None:
            columns = np.repeat(np.arange(len(inputs.places)), [p.stop - p.start for p in inputs.places])
        warn_of_groups(as_new(fitted.sampled_x), names, columns)
    return FittedRows(fitted, rows, n_rows, weighting.scale * fitted.pasted, names, inputs, as_new)


def fit(
    data: Source,
    request: Request,
    plan: Plan,
    rng: np.random.Generator,
    workers: Workers,
    names: Sequence[str] | None,
    report: Report,
    standing: Standing | None = None,
    judging: Judging = ANY_ROWS,
) -> Fitted:
    """Fit the model that is requested to all rows of `data`, as planned, or go on from where a fit got to."""
    keep_freed_memory()
    seed = int(rng.integers(2**63))
    drawing = judging
    raw = Look.at(data, plan, seed, workers, drawing)
    pasted = pasted_times(raw.repeats, raw.sample.rows, data.outputs.counts is None)
    if pasted > 1:
        warn_of_pasted_rows(pasted)
        data, request = PastedSource(data, pasted), request.scaled(pasted)
        drawing = replace(judging, together=max(pasted, judging.together))
        raw = Look.at(data, plan, seed, workers, drawing)
    check_magnitude(raw.columns.spread(), names)
    columns = without_outliers(data, raw)
    warn_of_lost_features(raw.columns, names)
    scaling = scaling_of(columns, request.standardize) if standing is None else standing.scaling
    look, as_given = raw.scaled(scaling), raw.columns
    some_rows = raw.sample.smallest(policy.INFLUENCE_ROWS).rows.X
    sampled_x = different_rows(raw.sample.smallest(policy.EFFORTS["normal"].heats[-1]).rows)
    del raw  # a sample can take as much memory as the limit allows: one of them is enough
    report(str(plan))
    if standing is None:
        starts = families(look.sample, plan, scaling, request, columns, rng)
        choice = _choose(look, plan, request, starts, report, judging)
    else:
        standing.check(request)
        choice = _Choice(standing.outputs(data.outputs), standing.start, standing.penalty_for(request))
    outputs = choice.outputs
    look = look.with_outputs(outputs)

    @cache  # what is learnt after all on as many rows has the same
    def draw(size: int) -> Source:
        if size == look.sample.n_rows or (plan.canonical and size < data.n_rows):
            return look.smallest(size, plan)
        if size == data.n_rows and not plan.stages:
            everything = ScaledSource(data, scaling).with_outputs(outputs)
            return Sample.draw(everything, size, seed, workers) if plan.canonical else everything  # no copy
        held, share = plan.n_held if size < data.n_rows else 0, policy.LEAST_CLASS_SHARE
        drawn = Sample.draw(data, size, seed, workers, held, share, drawing.together, drawing.last)
        return drawn.scaled(scaling).with_outputs(outputs)  # scale a few rows, not all

    if standing is not None:
        learnt = standing.go_on(request, plan, draw, report)
        if not plan.races and (choice.start.has_shared or not judging.open):
            sample = look.sample.smallest(plan.n_tried)
            folds = folds_for(sample, judging)
            left_out = [fold.residuals(standing.on(fold.rest, request, plan, report)) for fold in folds]
            choice = replace(choice, judged=pool(sample, left_out, folds))
    else:
        if plan.races:

            def learn_on_all(choice: _Choice) -> Learnt:
                assert choice.draft is not None
                return grow(look.held, choice.draft, choice.n_rows, request, plan, draw, report)

            choice, learnt = _grown(choice, learn_on_all)
        elif choice.draft is not None and plan.n_tried == plan.n_rows and not plan.stages:
            weight = float(look.sample.rows.s.sum())
            learnt = Learnt(choice.draft.training, choice.penalty, weight, plan.n_rows)
        else:
            assert choice.draft is not None
            rows = draw(plan.stages[0] if plan.stages else plan.n_rows)
            begin = choice.draft.training.reached
            learnt = learn(rows, choice.start, choice.penalty, request, report, begin)
    expansion = learnt.training.expansion.unscale(scaling)
    if request.is_open and standing is None:
        few = look.sample.smallest(policy.CUT_ROWS).rows
        few = replace(few, X=scaling.invert(few.X))
        expansion = round_units(expansion, learnt.training.solution, few, as_given)
    solved = solve_on_all_rows(
        data.with_outputs(outputs),
        expansion,
        learnt.training.solution,
        learnt.penalty,
        plan.everything,
        as_given.mean,
    )
    solution, moments = solved.solution, solved.moments
    _warn_if_worse_than_a_constant(
        data.with_outputs(outputs) if plan.canonical else look.sample,
        plan.canonical,
        expansion if plan.canonical else learnt.training.expansion,
        solution,
        moments.mean_t,
    )
    judged, residuals, how = _judge(look, plan, choice, learnt, solution, moments, judging)
    theta, b = outputs.decode(*solution)
    return Fitted(
        outputs=outputs,
        expansion=expansion,
        solution=Solution(theta, b),
        moments=moments,
        touching=solved.touching,
        C=learnt.penalty.C,
        pull=learnt.penalty.prior / learnt.weight if request.fits_units else np.nan,
        training=learnt.training,
        selection=choice.trials,
        path=choice.path,
        judged_rows=judged.numbers,
        judged=residuals,
        judged_by=how,
        judged_x=scaling.invert(judged.rows.X),
        judged_phi=learnt.training.expansion.features(judged.rows.X),
        columns=as_given,
        some_rows=some_rows,
        sampled_x=sampled_x,
        standing=Standing(
            scaling,
            choice.start,
            learnt.penalty,
            learnt.training.reached,
            outputs.loss,
            learnt.n_rows,
        ),
        pasted=pasted,
        optimism=choice.optimism,
    )


def _warn_if_worse_than_a_constant(
    rows: Source, everything: bool, expansion: Expansion, solution: Solution, constant: FloatArray
) -> None:
    """A note if the model has larger errors on its own training rows than the best constant has.

    On a sample, larger by more than chance.
    """
    outputs = rows.outputs

    def errors(block: Block) -> list[FloatArray]:
        Y = expansion.features(block.X) @ solution.theta + solution.b
        both = (outputs.row_errors(block.T, y) for y in (Y, np.broadcast_to(constant, Y.shape)))
        return [np.column_stack([*both, block.s, block.copies])]

    of_model, of_constant, s, copies = np.concatenate(rows.map_reduce(errors)).T
    worse, error = mean_and_error(of_model - of_constant, s, copies)
    model, best = (float(np.average(errors, weights=s)) for errors in (of_model, of_constant))
    if best > 0 and worse > (SAME * best if everything else SURE * error):
        warn(
            f"On the rows it was fitted to the model has a mean error of {model:.3g}, and a constant answer "
            f"has {best:.3g}: nothing was learnt that its answers could be trusted for.",
        )


@dataclass(frozen=True, eq=False)
class _Choice:
    """What was chosen: units at their start, trained or not, and all trials."""

    outputs: Outputs
    start: Expansion
    penalty: Penalty
    draft: Draft | None = None
    judged: tuple[Sample, LeaveOneOut] | None = None  # residuals of folds
    n_rows: int = 0  # that the draft has seen
    path: dict[str, list[object]] = field(default_factory=dict)
    trials: dict[str, list[object]] = field(default_factory=dict)
    optimism: float = 1.0
    longer: Callable[[], _Choice] | None = None  # the best one with more numbers
    outgrows: Callable[[Learnt, Learnt], bool] = lambda new, simpler: False  # on more rows, by the same rule


def _grown(choice: _Choice, learn_on_all: Callable[[_Choice], Learnt]) -> tuple[_Choice, Learnt]:
    """What was chosen on few rows, learnt on many; or the best one with more numbers, if it gains by that.

    On 8,192 of a million rows 365 numbers were as good as 990. On 150,000 they had 11.4 instead of 7.7 % of
    mistakes.
    """
    learnt = learn_on_all(choice)
    if choice.longer is not None:
        longer = choice.longer()
        other = learn_on_all(longer)
        if choice.outgrows(other, learnt):
            return longer, other
    return choice, learnt


def _choose(
    look: Look, plan: Plan, request: Request, starts: list[Family], report: Report, judging: Judging
) -> _Choice:
    """What the user has fixed, completed by the ladder where anything is open."""
    outputs = look.sample.outputs
    if plan.races:
        splits = [Split(look.smallest(size, plan), look.held) for size in plan.heats]
        trials = Trials(splits, [[at] for at in range(len(splits))], True, request, report)
    else:
        sample = look.sample.smallest(plan.n_tried)
        folds = folds_for(sample, judging)
        if judging.open:
            folds = folds[: n_folds_needed(plan.n_tried, request.effort)]
        levels = [range(1), range(len(folds))] if judging.splits is None else [range(len(folds))]  # not alike
        trials = Trials([*folds, Split(sample, None)], levels, False, request, report)

    def completed(chosen: Candidate, climbed: Climbed | None) -> _Choice:
        sized = climbed is not None and not request.fixes_size
        to_the_end = climbed is not None and not plan.races and not request.is_open and request.fits_units
        last = train_to_the_end(chosen) if to_the_end else chosen
        draft, judged = trials.whole(last), None
        if not plan.races and (request.fits_units or not judging.open):
            judged = pool(sample, trials.residuals(last), folds)
        return _Choice(
            last.outputs,
            draft.start,
            draft.penalty,
            draft,
            judged,
            trials.n_rows(),
            trials.path(climbed.line, chosen) if sized and climbed else {},
            {} if request.fixes_everything else trials.table(last),
            trials.optimism(climbed.short, chosen) if sized and climbed else 1.0,
        )

    if request.fixes_everything and request.loss in (None, SQUARED.name):
        change = partial(place, starts[0], None)
        shape, to_the_end = starts[0].shape, not plan.races
        return completed(Candidate(change, 0, outputs, shape=shape, to_the_end=to_the_end), None)
    climbed = climb(Climb(trials, starts, outputs, look.columns.weight))
    choice, longer = completed(climbed.chosen, climbed), climbed.longer(trials)
    if longer is None or not plan.stages:
        return choice

    def outgrows(new: Learnt, simpler: Learnt) -> bool:
        held = look.with_outputs(choice.outputs).held
        verdicts = (
            Verdict.of(choice.outputs, [Split(held, held).residuals(learnt.unaware)])
            for learnt in (new, simpler)
            if learnt.unaware is not None
        )
        return trials.prefers_grown(longer, climbed.chosen, *verdicts)

    return replace(choice, longer=lambda: completed(longer, climbed), outgrows=outgrows)


def _judge(
    look: Look,
    plan: Plan,
    choice: _Choice,
    learnt: Learnt,
    solution: Solution,
    moments: Moments,
    judging: Judging,
) -> tuple[Sample, LeaveOneOut, str]:
    """Rows of the sample, their residuals as if they had taken no part in the fit, and how that was found."""
    training, penalty = learnt.training, learnt.penalty
    if plan.races and learnt.unaware is not None:
        trained = Trained(training.expansion, solution, penalty, None)
        alone = judging.open and not plan.everything  # the others of a group have a say in theta, too
        found = solved_rows_loo(look.held, trained, moments) if alone else None
        if found is None:  # the model before the last rows came in
            found = Split(look.held, look.held).residuals(learnt.unaware)
        return look.held, found, HELD_OUT
    if choice.judged is not None:
        return *choice.judged, REFITTED
    judged = look.sample.smallest(policy.SELECTION_ROWS)
    trained = Trained(training.expansion, training.solution, penalty, training.coordinates)
    return judged, whole_model_loo(judged.with_weight(learnt.weight), trained), LEAVE_ONE_OUT
