"""A fit from beginning to end: scale, place the units, choose the settings, train, solve, judge.

All of it is done in training units (standardised features, coded targets); the result is in the user's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sleek._typing import AnyArray, FloatArray, IntArray
from sleek.bases.base import Basis, Scaling, Units
from sleek.init import distinct_rows, k_medoids
from sleek.leave_one_out import LeaveOneOut, TrainedUnits, leave_one_out
from sleek.moments import ColumnMoments
from sleek.selection import Family, Report, Selection, table
from sleek.solve import Solution
from sleek.sources import Sample, ScaledSource, Source
from sleek.trainers.base import Penalty, Trainer, Training, fit_output
from sleek.validation import check_enough_rows, check_magnitude

# The size from which n_units="auto" prunes.
AUTO_UNITS = 30
UNITS_PER_OUTPUT = 6
MOST_UNITS = 60
ROWS_PER_UNIT = 5  # rows there must be for each of them
OUTLIER_WIDTHS = 5
LARGE = 2  # times as many rows make it worth while to go on choosing on more
REFINE_ROWS = 20_000
HELD_SHARE = 0.2
SELECTION_ROWS = 2000  # rows on which settings are tried, and leave-one-out errors are computed


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
    n_jobs: int,
    names: AnyArray | None,
    report: Report,
) -> Fitted:
    """Fit the model that is requested to all rows of `data`."""
    seed = int(rng.integers(2**63))
    columns = _column_moments(data, seed, names)
    scaling = _scaling(columns, request.standardize)
    source = ScaledSource(data, scaling)
    families = _families(source, scaling, request, columns.spread(), rng)
    sample = Sample.draw(source, SELECTION_ROWS, seed, n_jobs)
    limit = request.trainer.row_limit()
    rows = source if limit is None else Sample.draw(source, limit, seed, n_jobs)
    choice, tried = _choose(source, sample, limit, request, families, report)
    basis, penalty = choice.family.basis, choice.penalty
    training = request.trainer.train(rows, basis, choice.family.start, penalty, report, choice.begin)
    solution = fit_output(source, basis, training.units, penalty.C)
    weight = _weight(rows)
    trained = TrainedUnits(basis, training.units, penalty, training.coordinates)
    drafter = request.trainer.draft(basis)
    loo = leave_one_out(sample, trained, choice.family.start, drafter, weight)
    return Fitted(
        basis=basis,
        units=basis.unscale(training.units, scaling),
        solution=data.coding.decode(solution),
        C=penalty.C,
        pull=penalty.prior / weight if request.trainer.pulls else np.nan,
        training=training,
        selection=tried,
        loo_rows=sample.numbers,
        loo=loo,
    )


def _weight(source: Source) -> float:
    return float(source.map_reduce(lambda block: block.s.sum()))


def _column_moments(data: Source, seed: int, names: AnyArray | None) -> ColumnMoments:
    """Mean and spread of every feature, absurd values counted as merely extreme.

    A value further from the 1 % to 99 % range than five times its width is clipped there, so that a typing
    error of 1e6 does not squeeze all other rows into one point.
    """
    raw = data.map_reduce(lambda block: ColumnMoments.of(block.X, block.s))
    check_magnitude(raw.spread(), names)
    rows = Sample.draw(data, SELECTION_ROWS, seed).rows
    low, high = (_quantile(rows.X, rows.s, q) for q in (0.01, 0.99))
    margin = np.where(high > low, OUTLIER_WIDTHS * (high - low), np.inf)
    clipped = data.map_reduce(
        lambda block: ColumnMoments.of(np.clip(block.X, low - margin, high + margin), block.s)
    )
    return ColumnMoments(clipped.weight, clipped.mean, np.where(raw.spread() > 0, clipped.squares, 0.0))


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
    source: Source, scaling: Scaling, request: Request, spread: FloatArray, rng: np.random.Generator
) -> list[Family]:
    """The units' start for every basis and shape that is to be tried.

    With a shape of 1 in `Basis.auto_shapes` a row one standard deviation off in every feature has distance 1.
    """
    if request.centers is not None:
        centers = scaling.apply(request.centers)
    else:
        wanted = request.n_units
        if wanted is None:
            wanted = min(MOST_UNITS, max(AUTO_UNITS, UNITS_PER_OUTPUT * source.coding.n_outputs))
        rows, weights = distinct_rows(source, wanted, int(rng.integers(2**63)))
        if request.n_units is None:
            n_rows = max(source.n_rows, round(_weight(source)))  # a row of weight 2 counts as two rows
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
    """Settings to train with, and where a draft with them has got to."""

    family: Family
    penalty: Penalty
    begin: Units | None


def _choose(
    source: Source,
    sample: Sample,
    limit: int | None,
    request: Request,
    families: list[Family],
    report: Report,
) -> tuple[_Choice, dict[str, list[object]]]:
    """What the user has fixed, completed by selection where anything is open."""
    trainer, pull = request.trainer, request.trainer.fixed_pull()
    selection = Selection(sample, trainer, request.C, pull, report)
    settled, sized = selection.settled(), request.n_units is not None or request.centers is not None
    if settled is not None and len(families) == 1 and sized:
        return _Choice(families[0], settled, None), {}
    best, earlier = selection.best_of(families), []
    if trainer.pulls and source.n_rows > LARGE * sample.n_rows:
        rows = Sample.draw(source, min(limit or REFINE_ROWS, REFINE_ROWS), sample.seed, sample.n_jobs)
        train, held = rows.split(HELD_SHARE)
        earlier, selection = selection.trials, Selection(train, trainer, request.C, pull, report, held)
        best = selection.refined(best)
    if not sized:
        best = selection.smallest(best)
    tried = table([*earlier, *selection.trials], best)
    return _Choice(best.family, best.penalty, best.training.units), tried
