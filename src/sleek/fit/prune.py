"""As few units as do: units are removed one by one, each time the one that is missed least.

The rest is trained on from where it is, and the smallest size wins whose loss is within one standard error
(of the paired difference) of the best, or a quarter of that for few units, or next to nothing above it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sleek._runtime.types import IntArray
from sleek.closed_form.least_squares import touching_moments
from sleek.closed_form.moments import Moments
from sleek.fit import policy
from sleek.fit.folds import Fold
from sleek.fit.trials import Trial, Trials
from sleek.rows.sample import Sample
from sleek.trainers.base import Training


def prune(trials: Trials, best: Trial) -> Trial:
    """The smallest pruned model that is as good as `best`.

    The first size that is not ends the search, unless leave-one-out is at hand: it costs little, and sways.
    """
    if best.family.start.n_learnt == 0:
        return best  # a linear model is read as it is
    winner = current = best
    for size in policy.SIZES:
        if size >= len(current.family.start):
            continue
        current = _pruned(trials, current, size)
        if current.loss < best.loss:
            best = current
        if as_good(trials, current, best, size):
            winner = current
        elif trials.slow(current.family) or size < policy.FEW_UNITS:
            break
    return winner


def as_good(trials: Trials, trial: Trial, best: Trial, size: int) -> bool:
    """Whether a trial of so many units is to be preferred to a larger one that is the best."""
    errors = 1.0 if size >= policy.FEW_UNITS else policy.FEW_ERRORS
    slack = policy.NO_LOSS if trials.held is None else policy.NO_LOSS_HELD
    return trial.within(errors, best) or trial.loss <= (1.0 + slack) * best.loss


def _pruned(trials: Trials, trial: Trial, size: int) -> Trial:
    reached, C = trial.training.reached, trial.penalty.C
    kept = strongest(trials.sample, trial.training, C, size)
    family = replace(trial.family, start=trial.family.start.take(kept))
    folds = []
    for split, fold in zip(trials.splits if trial.folds else (), trial.folds, strict=True):
        if (training := fold.training) is not None:
            own = strongest(split.rest, training, C, size)
            folds.append(Fold(fold.start.take(own), None, training.take(own)))
    return trials.run(family, trial.step, reached.take(kept), folds)


def strongest(rows: Sample, training: Training, C: float, size: int) -> IntArray:
    """The units that are kept of a model of these rows."""
    moments = touching_moments(rows, training.expansion, training.solution)
    return strongest_units(moments, C, size)


def strongest_units(moments: Moments, C: float, size: int) -> IntArray:
    """The units left when the least useful one is removed again and again, theta re-solved each time.

    Removing unit j from the least squares problem raises its minimum by ½ Σ_k θ_jk² / [(G + I/C)⁻¹]_jj.

    >>> Phi = np.array([[0.0, 1.0, 0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 0.1], [1.0, 1.0, 0.0]])
    >>> strongest_units(Moments.of(Phi, Phi @ np.array([[1.0], [2.0], [0.1]]), np.ones(4)), 1e3, 2)
    array([0, 1])
    """
    kept = np.arange(len(moments.G))
    while len(kept) > size:
        A = moments.G[np.ix_(kept, kept)]
        ridge = max(1.0 / C, np.finfo(float).eps * float(np.trace(A)))  # units may coincide
        inverse = np.linalg.inv(A + ridge * np.eye(len(kept)))
        theta = inverse @ moments.R[kept]
        kept = np.delete(kept, np.argmin(np.sum(theta**2, axis=1) / np.diag(inverse)))
    return kept
