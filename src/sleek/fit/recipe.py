"""A fit from beginning to end: scale, place the units, choose the settings, train, solve, judge.

All of it is done in training units (standardised features, coded targets); the result is in the user's.

Large data are gone over a bounded number of times: once for the features' means and spreads and a first
sample (twice if a feature has absurd values), once for every growth of the sample, once for the closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.checks import check_enough_rows, check_magnitude
from sleek._runtime.threads import Workers
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.base import Basis, Scaling, Units
from sleek.closed_form.leave_one_out import LeaveOneOut, TrainedUnits, fresh_rows, leave_one_out
from sleek.closed_form.moments import ColumnMoments
from sleek.closed_form.solve import Solution, solve
from sleek.fit.growth import MOST_HELD, Grown, grow, learn, most_stages
from sleek.fit.k_medoids import SAMPLE_ROWS, distinct_rows, k_medoids
from sleek.fit.selection import Family, Report, Selection, Trial, table
from sleek.rows.sample import Sample, chosen_rows
from sleek.rows.source import Block, ScaledSource, Source
from sleek.trainers.base import Penalty, Trainer, Training, unit_moments

# The size from which n_units="auto" prunes.
AUTO_UNITS = 30
UNITS_PER_OUTPUT = 6
MOST_UNITS = 60
ROWS_PER_UNIT = 5  # rows there must be for each of them
OUTLIER_WIDTHS = 5
SELECTION_ROWS = 2000  # rows on which settings are tried, and leave-one-out errors are computed
# From RACE_ROWS on, settings are chosen by a race in two heats, judged by a fifth of the rows.
RACE_ROWS = 5000
HEATS = (4096, 8192)
RACE_MEDOID_ROWS = 500  # among which units are placed: thousands of rows will move them anyway
HELD_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Request:
    """What the user has fixed; None is to be chosen."""

    bases: tuple[Basis, ...]  # more than one: to be chosen from
    trainer: Trainer
    n_units: int | None
    C: float | None
    shape: float | None
    centers: FloatArray | None  # raw units
    standardize: bool


@dataclass(frozen=True, eq=False)
class Fitted:
    """The outcome of a fit, in the user's units."""

    basis: Basis
    units: Units
    solution: Solution
    C: float
    pull: float
    training: Training
    selection: dict[str, list[object]]
    loo_rows: IntArray
    loo: LeaveOneOut


def fit(
    data: Source,
    request: Request,
    rng: np.random.Generator,
    workers: Workers,
    names: AnyArray | None,
    report: Report,
) -> Fitted:
    """Fit the model that is requested to all rows of `data`."""
    seed = int(rng.integers(2**63))
    survey = Survey.of(data, seed, workers)
    check_magnitude(survey.columns.spread(), names)
    columns = _without_outliers(data, survey)
    scaling = _scaling(columns, request.standardize)
    source, sample, held = (
        ScaledSource(data, scaling),
        survey.sample.scaled(scaling),
        survey.held.scaled(scaling),
    )
    families = _families(sample, survey, scaling, request, columns.spread(), rng)
    report(_plan(data.n_rows, len(scaling.mean), request.trainer))
    choice, tried = _choose(sample, held, request, families, report)
    basis, start = choice.family.basis, choice.family.start

    def draw(size: int) -> Sample:
        return Sample.draw(data, size, seed, workers).scaled(scaling)  # scale a few rows, not all

    grown = _learn(source, held, choice, request.trainer, draw, report)
    training, penalty = grown.training, grown.penalty
    units = basis.unscale(training.units, scaling)
    moments = unit_moments(data, basis, units)
    trained = TrainedUnits(basis, training.units, penalty, training.coordinates)
    if grown.everything:
        judged = sample.smallest(SELECTION_ROWS)
        loo = leave_one_out(judged, trained, start, request.trainer.draft(basis), grown.weight)
    else:
        judged, loo = held, fresh_rows(held, trained, moments)
    return Fitted(
        basis=basis,
        units=units,
        solution=data.coding.decode(solve(moments, penalty.C)),
        C=penalty.C,
        pull=penalty.prior / grown.weight if request.trainer.pulls else np.nan,
        training=training,
        selection=tried,
        loo_rows=judged.numbers,
        loo=loo,
    )


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over the rows tells: the features' moments, a first sample, and rows held out of it."""

    n_rows: int
    columns: ColumnMoments
    sample: Sample
    held: Sample

    @classmethod
    def of(cls, data: Source, seed: int, workers: Workers) -> Survey:
        """Small data are all in the sample, and none are held out."""
        n_rows = data.n_rows
        held = 0 if n_rows < RACE_ROWS else min(round(HELD_SHARE * n_rows), MOST_HELD)
        chosen = chosen_rows(n_rows, max(HEATS[-1], RACE_ROWS), held, seed)

        def task(block: Block) -> _Seen:
            return _Seen(ColumnMoments.of(block.X, block.s), *([block.among(rows)] for rows in chosen))

        seen = data.map_reduce(task)
        sample, out = (
            Sample(seed, workers, data.coding, numbers, Block.joined(blocks))
            for numbers, blocks in zip(chosen, (seen.drawn, seen.held), strict=True)
        )
        return cls(n_rows, seen.columns, sample, out)


@dataclass(frozen=True, eq=False)
class _Seen:
    columns: ColumnMoments
    drawn: list[Block]
    held: list[Block]

    def __add__(self, other: _Seen) -> _Seen:
        return _Seen(self.columns + other.columns, self.drawn + other.drawn, self.held + other.held)


def _without_outliers(data: Source, survey: Survey) -> ColumnMoments:
    """Mean and spread of every feature, absurd values counted as merely extreme.

    A value further from the 1 % to 99 % range than five times its width is clipped there, so that a typing
    error of 1e6 does not squeeze all other rows into one point.
    """
    raw, rows = survey.columns, survey.sample.smallest(SELECTION_ROWS).rows
    low, high = (_quantile(rows.X, rows.s, q) for q in (0.01, 0.99))
    margin = np.where(high > low, OUTLIER_WIDTHS * (high - low), np.inf)
    low, high = low - margin, high + margin
    if (raw.low >= low).all() and (raw.high <= high).all():
        return raw
    clipped = data.map_reduce(lambda block: ColumnMoments.of(np.clip(block.X, low, high), block.s))
    return replace(clipped, squares=np.where(raw.spread() > 0, clipped.squares, 0.0))


def _quantile(X: FloatArray, s: FloatArray, q: float) -> FloatArray:
    """The least value of each column below or at which a share q of the weight lies."""
    order = np.argsort(X, axis=0, kind="stable")
    below = np.cumsum(s[order], axis=0)
    first = np.argmax(below >= q * below[-1] * (1 - 1e-12), axis=0)
    columns = np.arange(X.shape[1])
    values: FloatArray = X[order[first, columns], columns]
    return values


def _scaling(columns: ColumnMoments, standardize: bool) -> Scaling:
    """To mean 0 and variance 1 with constant features ignored, or the identity."""
    spread = columns.spread()
    if standardize:
        return Scaling(columns.mean, np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0))
    return Scaling(np.zeros_like(spread), np.ones_like(spread))


def _families(
    sample: Sample,
    survey: Survey,
    scaling: Scaling,
    request: Request,
    spread: FloatArray,
    rng: np.random.Generator,
) -> list[Family]:
    """The units' start for every basis and shape that is to be tried.

    With a shape of 1 in `Basis.auto_shapes` a row one standard deviation off in every feature has distance 1.
    """
    if request.centers is not None:
        centers = scaling.apply(request.centers)
    else:
        wanted = request.n_units
        if wanted is None:
            wanted = min(MOST_UNITS, max(AUTO_UNITS, UNITS_PER_OUTPUT * sample.coding.n_outputs))
        enough = RACE_MEDOID_ROWS if survey.n_rows >= RACE_ROWS else SAMPLE_ROWS
        rows, weights = distinct_rows(sample, wanted, int(rng.integers(2**63)), enough)
        if request.n_units is None:
            n_rows = max(survey.n_rows, round(survey.columns.weight))  # a row of weight 2 counts as two rows
            wanted = min(wanted, len(rows), max(1, n_rows // ROWS_PER_UNIT))
        check_enough_rows(wanted, len(rows))
        centers = rows[k_medoids(rows, weights, wanted, rng)]
    width = float(np.sum(spread * scaling.factor))
    unit = 1.0 / width if width > 0 else 1.0
    return [
        Family(basis, shape, basis.start(centers, shape, rng))
        for basis in request.bases
        for shape in ([a * unit for a in basis.auto_shapes] if request.shape is None else [request.shape])
    ]


@dataclass(frozen=True, eq=False)
class _Choice:
    """Settings to train with, and the trial that they come from, if any."""

    family: Family
    penalty: Penalty
    trial: Trial | None


def _choose(
    sample: Sample, held: Sample, request: Request, families: list[Family], report: Report
) -> tuple[_Choice, dict[str, list[object]]]:
    """What the user has fixed, completed by selection where anything is open."""
    trainer, pull = request.trainer, request.trainer.fixed_pull()
    sized = request.n_units is not None or request.centers is not None

    def selection(size: int, judges: Sample | None) -> Selection:
        return Selection(sample.smallest(size), trainer, request.C, pull, report, judges)

    small = selection(SELECTION_ROWS, None)
    settled = small.settled()
    nothing_open = settled is not None and len(families) == 1 and sized
    if held.n_rows > 0 and trainer.pulls and not (nothing_open and trainer.growth_factor() is None):
        first, last = (selection(size, held) for size in HEATS)
        best, trials = last.final(first.heat(families)), [*first.trials, *last.trials]
        if not sized:
            best = last.smallest(best)
        return _Choice(best.family, best.penalty, best), {} if nothing_open else table(trials, best)
    if settled is not None and nothing_open:
        return _Choice(families[0], settled, None), {}
    best = small.best_of(families)
    if not sized:
        best = small.smallest(best)
    return _Choice(best.family, best.penalty, best), table(small.trials, best)


def _learn(
    source: Source,
    held: Sample,
    choice: _Choice,
    trainer: Trainer,
    draw: Callable[[int], Sample],
    report: Report,
) -> Grown:
    """The units, learnt on all rows or on as many as pay."""
    growth, trial = trainer.growth_factor(), choice.trial
    if growth is not None and trial is not None and held.n_rows > 0:
        return grow(source, held, trial, trainer, growth, draw, report)
    begin = None if trial is None else trial.training.units
    return learn(source, choice.family, choice.penalty, trainer.fixed_pull(), trainer, report, begin)


def _plan(n_rows: int, n_features: int, trainer: Trainer) -> str:
    """How often the rows will be gone over, as a sentence."""
    growth = trainer.growth_factor()
    if n_rows < RACE_ROWS or growth is None:
        return f"{n_rows} rows, all of them used in every step of training"
    stages = most_stages(n_rows, HEATS[-1], growth, n_features)
    return f"{n_rows} rows: at most {3 + stages} passes over all of them"
