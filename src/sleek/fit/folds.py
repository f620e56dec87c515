"""Folds that are refitted: the slow and sure way to honest residuals."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import frexp, ldexp

import numpy as np
from scipy.linalg import LinAlgError

from sleek._runtime.types import FloatArray, IntArray
from sleek.closed_form.leave_one_out import LeaveOneOut, Trained, cost, whole_model_loo
from sleek.fit import policy
from sleek.rows.sample import Sample
from sleek.trainers.base import Training

Refit = Callable[[Sample], Training]
# How residuals of rows that took no part were found.
LEAVE_ONE_OUT, REFITTED, HELD_OUT = "leave-one-out", "refitted folds", "rows held out"


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
    """Residuals from models that were trained without a fifth of the observations each.

    A row of two copies is dealt to the folds as two observations, so it may be left out of two models: its
    residual is then the mean of both.
    """
    rows = sample.rows
    residuals, seen = np.zeros_like(rows.T), np.zeros(len(rows))
    for held in deal(rows.copies):
        out, found = _without(sample, held, refit)
        residuals[out] += held[out, None] * found
        seen[out] += held[out]
    return LeaveOneOut(rows.T, residuals / seen[:, None], rows.s, rows.copies)


def first_fold(sample: Sample, refit: Refit) -> tuple[IntArray, FloatArray]:
    """The rows of the first of these folds, and their residuals: a fifth of the work."""
    return _without(sample, deal(sample.rows.copies)[0], refit)


def _without(sample: Sample, held: FloatArray, refit: Refit) -> tuple[IntArray, FloatArray]:
    """The rows of which `held` (n,) copies are left out, and their residuals in a model of the others."""
    rows = sample.rows
    rest, out = np.flatnonzero(rows.copies - held > 0), np.flatnonzero(held)
    if len(rest) == 0 or len(out) == 0:
        return out[:0], rows.T[:0]
    again = refit(sample.take(rest, rows.copies[rest] - held[rest]))
    Y = again.expansion.features(rows.X[out]) @ again.solution.theta + again.solution.b
    return out, rows.T[out] - Y


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
