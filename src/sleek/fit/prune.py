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
from sleek.fit.trials import Trial, Trials


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
    reached = trial.training.reached
    moments = touching_moments(trials.sample, reached.expansion, trial.training.solution)
    kept = strongest_units(moments, trial.penalty.C, size)
    family = replace(trial.family, start=trial.family.start.take(kept))
    return trials.run(family, trial.step, reached.take(kept))


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
