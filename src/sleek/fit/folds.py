"""Folds that are refitted: the slow and sure way to honest residuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import frexp, ldexp

import numpy as np
from scipy.linalg import LinAlgError

from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.expansion import Expansion
from sleek.closed_form.leave_one_out import LeaveOneOut, Trained, cost, whole_model_loo
from sleek.closed_form.penalty import Penalty
from sleek.fit import policy
from sleek.rows.sample import Sample
from sleek.trainers.base import Training

Refit = Callable[[Sample], Training]
# How residuals of rows that took no part were found.
LEAVE_ONE_OUT, REFITTED, HELD_OUT = "leave-one-out", "refitted folds", "rows held out"


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of a fold, and those left out of it: so many of the copies of some of them."""

    rest: Sample
    out: IntArray
    held: FloatArray


@dataclass(frozen=True, eq=False)
class Fold:
    """A model of a fold's rows: where it starts and, if it was trained, how that ended.

    It knows nothing of the rows left out, not even by its start, and neither does what is made of it.
    """

    start: Expansion
    penalty: Penalty | None = None
    training: Training | None = None


def left_out_residuals(sample: Sample, trained: Trained, refit: Refit) -> LeaveOneOut:
    """Residuals of a model trained on `sample`, each as if its row had taken no part.

    By `whole_model_loo`, or by refitting five folds where that would be slower, has no closed form, or is
    lost in rounding; or where there are as many units as rows, which then fit every one of them: what is left
    of a row divided by what is left of its leverage says nothing.
    """
    cheap = cost(trained, sample.n_rows, sample.outputs.n_outputs) <= policy.MOST_LOO_COST
    if cheap and trained.has_closed_form and len(trained.expansion) < sample.n_rows:
        with suppress(LinAlgError):
            return whole_model_loo(sample, trained)
    return refitted_folds(sample, refit)


def refitted_folds(sample: Sample, refit: Refit) -> LeaveOneOut:
    """Residuals from models that were trained without a fifth of the observations each."""
    splits = splits_of(sample)
    return pooled(sample, splits, [refit(split.rest) for split in splits])


def splits_of(sample: Sample) -> list[Split]:
    """Five folds.

    A row of two copies is dealt to the folds as two observations, so it may be left out of two models.
    """
    rows, splits = sample.rows, []
    for held in deal(rows.copies):
        rest, out = np.flatnonzero(rows.copies - held > 0), np.flatnonzero(held)
        if len(rest) and len(out):
            splits.append(Split(sample.take(rest, rows.copies[rest] - held[rest]), out, held[out]))
    return splits


def pooled(sample: Sample, splits: Sequence[Split], models: Sequence[Training]) -> LeaveOneOut:
    """The residual of every row in the model of the fold that it is left out of, or their mean."""
    rows = sample.rows
    residuals, seen = np.zeros_like(rows.T), np.zeros(len(rows))
    for split, model in zip(splits, models, strict=True):
        residuals[split.out] += split.held[:, None] * residuals_in(sample, split, model)
        seen[split.out] += split.held
    return LeaveOneOut(rows.T, residuals / seen[:, None], rows.s, rows.copies)


def residuals_in(sample: Sample, split: Split, model: Training) -> FloatArray:
    """The residuals of the rows left out in the model of the others."""
    T, X, (theta, b) = sample.rows.T[split.out], sample.rows.X[split.out], model.solution
    return T - (model.expansion.features(X) @ theta + b)


def deal(copies: FloatArray) -> FloatArray:
    """Copies dealt to `FOLDS` hands in random order, about one at a time: (folds, n).

    >>> deal(np.array([1.0, 12.0])).sum(axis=0)
    array([ 1., 12.])
    """
    whole = np.maximum(1, np.floor(copies)).astype(np.int64)
    order = np.random.default_rng(0).permutation(len(whole))
    first = np.empty(len(whole), dtype=np.int64)
    first[order] = np.cumsum(whole[order]) - whole[order]
    # how many of the numbers first … first+whole-1 leave the remainder that is the hand's
    hands = np.arange(policy.FOLDS)[:, None]
    count = (first + whole - 1 - hands) // policy.FOLDS - (first - 1 - hands) // policy.FOLDS
    return count * (copies / whole)


def mean_and_error(values: FloatArray, s: FloatArray, copies: FloatArray) -> tuple[float, float]:
    """The weighted mean of a number for each row, and its standard error.

    A row of several copies is that many observations of weight s/copies each; their squared weights add up.

    >>> mean_and_error(np.array([3.0, 5.0]), np.ones(2), np.ones(2))
    (4.0, 0.7071067811865476)
    """
    unit = ldexp(1.0, frexp(np.abs(values).max())[1] - 1)  # squares of squared errors may be beyond float64
    values = values / unit
    mean = float(np.average(values, weights=s))
    variance = float(np.sum(s**2 / copies * (values - mean) ** 2)) / float(s.sum()) ** 2
    return unit * mean, unit * float(np.sqrt(variance))
