"""The judge: what rows that took no part in a training say of its model, and the one rule of choice.

With few rows there are five folds, each left out of one training; with many, one third of the rows is held
out of all. Either way a candidate is trained on the rows of a `Split` and judged by its other rows, class by
class in the same share.

One rule decides everywhere: **the simpler model stays unless the other one gains more than z paired standard
errors**, and more than a small share of the loss (`prefers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import frexp, ldexp

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.closed_form.leave_one_out import LeaveOneOut
from sleek.fit import policy
from sleek.outputs.base import Outputs
from sleek.rows.dealing import Hands
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
        return LeaveOneOut(rows.T, rows.T - Y, rows.s, rows.copies)


@dataclass(frozen=True, eq=False)
class Verdict:
    """The losses and errors of a model on rows that took no part in its training."""

    losses: FloatArray  # (n,)
    errors: FloatArray  # (n,) comparable between losses
    weights: FloatArray  # (n,)
    copies: FloatArray  # (n,)

    @classmethod
    def of(cls, outputs: Outputs, judged: Sequence[LeaveOneOut]) -> Verdict:
        """Of the judging rows of some splits, one after the other."""
        return cls(
            np.concatenate([outputs.losses(one.T, one.outputs) for one in judged]),
            np.concatenate([outputs.row_errors(one.T, one.outputs) for one in judged]),
            np.concatenate([one.s for one in judged]),
            np.concatenate([one.copies for one in judged]),
        )

    @property
    def loss(self) -> float:
        """The weighted mean loss."""
        return float(np.average(self.losses, weights=self.weights))

    @property
    def error(self) -> float:
        """The weighted mean error."""
        return float(np.average(self.errors, weights=self.weights))

    def gain_over(self, other: Verdict) -> tuple[float, float]:
        """By how much its loss is below another's on the same rows, and the standard error of that."""
        return mean_and_error(other.losses - self.losses, self.weights, self.copies)


def prefers(new: Verdict, simpler: Verdict, errors: float, share: float) -> bool:
    """Whether a model is worth more than a simpler one: the rule of every choice.

    It is if it gains more than so many standard errors, and more than a share of the simpler one's loss.

    >>> from dataclasses import replace
    >>> old = Verdict(np.array([2.0, 4.0, 3.0]), np.zeros(3), np.ones(3), np.ones(3))
    >>> new = replace(old, losses=np.array([1.0, 3.5, 2.8]))
    >>> prefers(new, old, errors=1.0, share=0.1), prefers(new, old, errors=3.0, share=0.1)
    (True, False)
    """
    gain, error = new.gain_over(simpler)
    return bool(gain > errors * error and gain > share * simpler.loss)


def is_behind(verdict: Verdict, best: Verdict, errors: float) -> bool:
    """Whether a model is worse than the best by so many paired standard errors."""
    gain, error = best.gain_over(verdict)
    return bool(gain > errors * error)


def folds_of(sample: Sample, seed: int = 0) -> list[Split]:
    """Five folds, each with its share of every class; another seed deals rows in another order.

    A row of two copies is dealt to the folds as two observations, so it may be left out of two trainings.
    """
    rows, splits = sample.rows, []
    for held in _hands(sample, seed).deal(policy.FOLDS):
        rest, out = np.flatnonzero(rows.copies - held > 0), np.flatnonzero(held)
        if len(rest) and len(out):
            learning = sample.take(rest, rows.copies[rest] - held[rest])
            splits.append(Split(learning, sample.take(out, held[out])))
    return splits


def pool(sample: Sample, judged: Sequence[LeaveOneOut], splits: Sequence[Split]) -> LeaveOneOut:
    """One residual for every row of a sample: that of the fold it was left out of, or their mean."""
    rows = sample.rows
    residuals, seen = np.zeros_like(rows.T), np.zeros(len(rows))
    for one, split in zip(judged, splits, strict=True):
        at = np.searchsorted(sample.numbers, split.judging.numbers)
        residuals[at] += one.copies[:, None] * one.residuals
        seen[at] += one.copies
    return LeaveOneOut(rows.T, residuals / seen[:, None], rows.s, rows.copies)


def _hands(sample: Sample, seed: int) -> Hands:
    """The rows of a sample in random order, to be dealt."""
    rows, n = sample.rows, sample.n_rows
    order = np.empty(n, dtype=np.int64)
    order[np.random.default_rng(seed).permutation(n)] = np.arange(n)
    return Hands(rows.copies, order, sample.outputs.strata(rows.T), rows.groups)


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
