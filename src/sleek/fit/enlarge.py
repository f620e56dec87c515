"""As many units as pay: boxes are added where the targets say that something is left to explain.

To the best model so far, of whatever bases, units are added at leaves of trees on its residuals; all are
trained on together, and kept if the loss falls by more than its standard error (of the paired difference).
A model of bumps or steps becomes a sum of parts that way.
"""

from __future__ import annotations

import numpy as np

from sleek.bases.base import Basis
from sleek.bases.expansion import Expansion
from sleek.fit import policy
from sleek.fit.leaves import leaves
from sleek.fit.start import Family
from sleek.fit.trials import Trial, Trials


def enlarge(trials: Trials, best: Trial, basis: Basis, most: int) -> Trial:
    """The best trial, or one with more units of a basis that is better; at most `most` units."""
    rows, loss = trials.sample.rows, trials.sample.outputs.loss
    middle, spread, added = np.median(rows.X, axis=0), rows.X.std(axis=0), policy.ADDED_UNITS
    shape = policy.ADDED_SHAPE / np.where(spread > 0, spread, 1.0)
    while len(best.family.start) + added <= most:
        training = best.training
        theta, b = training.solution
        left = -loss.slopes(rows.T, training.expansion.features(rows.X) @ theta + b)
        found = leaves(trials.sample, added, left)
        more = Expansion.of(basis, basis.start_at_leaves(*found, shape, middle))
        family = Family(best.family.shape, best.family.start.plus(more))
        trial = trials.run(family, best.step, training.reached.plus(more))
        gain, error = trial.gain_over(best)
        if gain <= error:
            break
        best, added = trial, min(2 * added, policy.MOST_ADDED_UNITS)
    return best
