"""The judge: what rows that took no part in a training say of its model, and the one rule of choice.

With few rows there are three folds, each left out of one training; with many, one third of the rows is held
out of all. Either way a candidate is trained on the rows of a `Split` and judged by its other rows, class by
class in the same share.

One rule decides everywhere: **the simpler model stays unless the other one gains more than z paired standard
errors**, and more than a small share of the loss (`prefers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, frexp, ldexp, log2, sqrt
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.closed_form.leave_one_out import LeaveOneOut
from sleek.fit import policy
from sleek.fit.plan import Judging, Request, n_held_out
from sleek.outputs.base import Outputs, Targets
from sleek.outputs.labels import Labels
from sleek.rows.dealing import Hands
from sleek.rows.grouping import join_groups
from sleek.rows.raw import RawBlock, join_targets
from sleek.rows.rows import Rows, Run, Survey
from sleek.rows.sample import Sample
from sleek.trainers.base import Training

# How residuals of rows that took no part were found.
LEAVE_ONE_OUT, REFITTED, HELD_OUT = "leave-one-out", "refitted folds", "rows held out"


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from, and rows that judge; of a row of several copies some may learn and some judge."""

    rest: Sample
    out: Sample | None  # None: all rows learn, and nobody judges

    @property
    def judging(self) -> Sample:
        """The rows that judge."""
        assert self.out is not None
        return self.out

    def residuals(self, training: Training) -> LeaveOneOut:
        """Residuals of the judging rows."""
        rows, (theta, b) = self.judging.rows, training.solution
        Y = training.expansion.features(rows.X) @ theta + b
        return LeaveOneOut(rows.T, rows.T - Y, rows.s, rows.copies, rows.groups)


@dataclass(frozen=True, eq=False)
class Verdict:
    """The losses and errors of a model on rows that took no part in its training."""

    losses: FloatArray  # (n,)
    errors: FloatArray  # (n,) comparable between losses
    weights: FloatArray  # (n,)
    copies: FloatArray  # (n,)
    groups: IntArray | None = None  # (n,)

    @classmethod
    def of(cls, outputs: Outputs, judged: Sequence[LeaveOneOut]) -> Verdict:
        """Of the judging rows of some splits, one after the other."""
        return cls(
            np.concatenate([outputs.losses(one.T, one.outputs) for one in judged]),
            np.concatenate([outputs.row_errors(one.T, one.outputs) for one in judged]),
            np.concatenate([one.s for one in judged]),
            np.concatenate([one.copies for one in judged]),
            join_groups([one.groups for one in judged]),
        )

    @cached_property
    def loss(self) -> float:
        """The weighted mean loss."""
        return float(np.average(self.losses, weights=self.weights))

    @cached_property
    def error(self) -> float:
        """The weighted mean error."""
        return float(np.average(self.errors, weights=self.weights))

    def gain_over(self, other: Verdict) -> tuple[float, float]:
        """By how much its loss is below another's on the same rows, and the standard error of that."""
        return mean_and_error(other.losses - self.losses, self.weights, self.copies, self.groups)


def prefers(new: Verdict, simpler: Verdict, errors: float, share: float) -> bool:
    """Whether a model is worth more than a simpler one.

    >>> from dataclasses import replace
    >>> old = Verdict(np.array([2.0, 4.0, 3.0]), np.zeros(3), np.ones(3), np.ones(3))
    >>> new = replace(old, losses=np.array([1.0, 3.5, 2.8]))
    >>> prefers(new, old, errors=1.0, share=0.1), prefers(new, old, errors=3.0, share=0.1)
    (True, False)
    """
    gain, _ = new.gain_over(simpler)
    return gain > least_gain(new, simpler, errors, share)


def least_gain(new: Verdict, simpler: Verdict, errors: float, share: float) -> float:
    """What a model must gain to be worth more than a simpler one: the rule of every choice.

    So many standard errors of the gain, and a share of the simpler one's loss.
    """
    _, error = new.gain_over(simpler)
    return max(errors * error, share * simpler.loss)


def worth(numbers: float, fewer: float) -> float:
    """The share of the loss that a person gives for reading fewer numbers.

    So much for each halving of the numbers and those that are read at a glance; half of that for halvings
    of what nobody reads number by number; and a tenth at most.

    >>> [round(worth(numbers, fewer), 3) for numbers, fewer in [(2, 1), (40, 20), (400, 200), (4000, 20)]]
    [0.004, 0.039, 0.04, 0.1]
    """
    share = _length(numbers) - _length(fewer)
    return min(max(share, 0.0), policy.MOST_SHARE)


def _length(numbers: float) -> float:
    """How long a model is to read, as a share of the loss."""
    read = policy.SHARE_PER_HALVING * log2(min(numbers, policy.READ_ONE_BY_ONE) + policy.AT_A_GLANCE)
    return read + policy.SHARE_BEYOND * log2(max(numbers, policy.READ_ONE_BY_ONE))


def is_behind(verdict: Verdict, best: Verdict, errors: float) -> bool:
    """Whether a model is worse than the best by so many paired standard errors."""
    gain, error = best.gain_over(verdict)
    return bool(gain > errors * error)


def folds_of(sample: Sample, n_folds: int = policy.FOLDS) -> list[Split]:
    """Folds, each with its share of every class.

    A row of two copies is dealt to the folds as two observations, so it may be left out of two trainings.
    Rows of a group are in one fold.
    """
    rows, splits = sample.rows, []
    for held in _hands(sample).deal(n_folds):
        rest, out = np.flatnonzero(rows.copies - held > 0), np.flatnonzero(held)
        if len(rest) and len(out):
            learning = sample.take(rest, rows.copies[rest] - held[rest])
            splits.append(Split(learning, sample.take(out, held[out])))
    return splits


def folds_for(sample: Sample, judging: Judging) -> list[Split]:
    """The folds that judge: those that the user has given, or dealt ones."""
    if judging.splits is not None:
        return _given_splits(sample, judging.splits)
    return folds_of(sample, judging.n_folds or policy.FOLDS)


def n_folds_needed(n_rows: int, effort: policy.Effort) -> int:
    """As many of the folds as are needed for enough rows that judge.

    >>> [n_folds_needed(n, policy.EFFORTS["normal"]) for n in (150, 1199, 1200, 1999)]
    [3, 3, 2, 2]
    """
    return min(policy.FOLDS, ceil(effort.judging_rows * policy.FOLDS / n_rows))


def judging_of(request: Request, rows: Rows, survey: Survey, kind: Targets, run: Run) -> Judging:
    """Which rows judge, by what the user says of it (`cv`) and by the groups of rows."""
    cv, n, groups = request.cv, survey.weights.n_rows, survey.groups
    groups.check()
    if isinstance(cv, str):
        if groups.n_groups:
            raise ValueError(
                "cv='last' goes by the order of rows and `groups` by which of them belong together: give one "
                "of them, or splits that do both."
            )
        if request.fits_units:
            return Judging(last=True)
        held = n_held_out(n, request.effort)
        return Judging(splits=((np.arange(n - held), np.arange(n - held, n)),))
    if cv is None or isinstance(cv, int):
        return Judging(cv, together=groups.largest, n_groups=groups.n_groups)
    targets, labels = _targets_and_groups(rows, kind, run)
    if hasattr(cv, "split"):
        pairs = list(cv.split(np.zeros((n, 1)), targets, labels))
    else:
        own, places = rows.originals(np.arange(n), kind.reads)
        pairs = [tuple(_places(side, own, places) for side in pair) for pair in cv]
    splits = _checked_splits(pairs, n, labels)
    return Judging(splits=splits, together=groups.largest, n_groups=groups.n_groups)


def _targets_and_groups(rows: Rows, kind: Targets, run: Run) -> tuple[AnyArray, IntArray | None]:
    """Targets as splitters want them, and the groups of all rows: one pass."""
    parts: list[RawBlock] = rows.map_reduce(
        lambda block: [replace(block, X=None)], run, reads=kind.reads, features=False
    )
    y = join_targets([part.y for part in parts])
    targets = y.codes if isinstance(y, Labels) else y if y.shape[1] > 1 else y[:, 0]
    return targets, join_groups([part.groups for part in parts])


def _places(side: Any, own: IntArray, places: IntArray) -> IntArray:
    """The rows of one side of a split, which a user counts among all rows."""
    numbers = np.asarray(side)
    numbers = np.flatnonzero(numbers) if numbers.dtype.kind == "b" else numbers
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1 or (len(numbers) and numbers.min() < 0):
        raise ValueError("Splits of `cv` must be numbers of rows, counted from 0, or truth values.")
    return np.sort(places[np.isin(own, numbers)])


def _checked_splits(
    pairs: Sequence[Any], n_rows: int, groups: IntArray | None
) -> tuple[tuple[IntArray, IntArray], ...]:
    """Splits in which no row, and no group, both learns and judges."""
    for number, (rest, out) in enumerate(pairs):
        if np.intersect1d(rest, out).size:
            raise ValueError(f"Split number {number} of `cv` has rows that learn and judge.")
        if groups is not None and np.intersect1d(groups[rest], groups[out]).size:
            raise ValueError(
                f"Split number {number} of `cv` has rows of one group on both sides: give a splitter that "
                "keeps groups together, such as GroupKFold."
            )
        if len(rest) < 2 or not len(out):
            raise ValueError(
                f"Split number {number} of `cv` must have 2 rows of positive weight to learn from and 1 to "
                f"judge by, got {len(rest)} and {len(out)}."
            )
    if not pairs:
        raise ValueError("`cv` must have at least one split, got none.")
    return tuple((np.asarray(rest), np.asarray(out)) for rest, out in pairs)


def _given_splits(sample: Sample, given: Sequence[tuple[IntArray, IntArray]]) -> list[Split]:
    """The splits that a user has given, by the numbers of rows that learn and that judge.

    Of many rows a sample may have none that a split learns from, or is judged by: that split has no say.
    """
    found = []
    for pair in given:
        rest, out = (np.flatnonzero(np.isin(sample.numbers, numbers)) for numbers in pair)
        if len(rest) > 1 and len(out):
            found.append(Split(sample.take(rest), sample.take(out)))
    if not found:
        raise ValueError("`cv` leaves no rows of positive weight to learn from and to judge by.")
    return found


def pool(
    sample: Sample, judged: Sequence[LeaveOneOut], splits: Sequence[Split]
) -> tuple[Sample, LeaveOneOut]:
    """The rows of a sample that judge, and a residual for each: that of its fold, or the mean of several."""
    rows = sample.rows
    residuals, seen = np.zeros_like(rows.T), np.zeros(len(rows))
    for one, split in zip(judged, splits, strict=True):
        at = np.searchsorted(sample.numbers, split.judging.numbers)
        residuals[at] += one.copies[:, None] * one.residuals
        seen[at] += one.copies
    some = sample if seen.all() else sample.take(seen > 0)
    residuals, rows = residuals[seen > 0] / seen[seen > 0, None], some.rows
    return some, LeaveOneOut(rows.T, residuals, rows.s, rows.copies, rows.groups)


def _hands(sample: Sample) -> Hands:
    """The rows of a sample in random order, to be dealt."""
    rows, n = sample.rows, sample.n_rows
    order = np.empty(n, dtype=np.int64)
    order[np.random.default_rng(0).permutation(n)] = np.arange(n)
    return Hands(rows.copies, order, sample.outputs.strata(rows.T), rows.groups)


def mean_and_error(
    values: FloatArray, s: FloatArray, copies: FloatArray, groups: IntArray | None = None
) -> tuple[float, float]:
    """The weighted mean of a number for each row, and its standard error.

    A row of several copies is that many observations of weight s/copies each; their squared weights add up.
    Rows of a group may err alike: what they deviate together counts as one observation.

    >>> mean_and_error(np.array([3.0, 5.0]), np.ones(2), np.ones(2))
    (4.0, 0.7071067811865476)
    >>> mean_and_error(np.array([3.0, 3.0, 5.0, 5.0]), np.ones(4), np.ones(4), np.array([1, 1, 2, 2]))
    (4.0, 0.7071067811865476)
    """
    unit = ldexp(1.0, frexp(np.abs(values).max())[1] - 1)  # squares of squared errors may be beyond float64
    values, weight = values / unit, float(s.sum())
    mean = float(s @ values) / weight
    squares: FloatArray = s**2 / copies * (values - mean) ** 2
    if groups is not None:
        _, place = np.unique(groups, return_inverse=True)
        squares = np.square(np.bincount(place.ravel(), s * (values - mean))).astype(np.float64)
    return unit * mean, unit * sqrt(float(squares.sum())) / weight
