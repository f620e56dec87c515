"""A linear model where that is all there is, and a linear part where it pays.

Features themselves, which have nothing to learn but their weights, are tried alone and beside the units of
the best model. Alone they win by the rule for few units (`prune`); beside, if the loss falls by more than its
standard error (of the paired difference). As for units, there must be a few rows for each, and beside units
that only refitted folds can judge they are not tried.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sleek.bases.linear import Linear
from sleek.fit import policy
from sleek.fit.prune import as_good
from sleek.fit.search import line_search
from sleek.fit.start import Family, per_feature
from sleek.fit.trials import Trial, Trials


def straighten(trials: Trials, best: Trial) -> Trial:
    """The linear model, or the best with or without a linear part."""
    features = per_feature(Linear(), trials.sample, np.random.default_rng(0))
    if len(features) * policy.ROWS_PER_UNIT > trials.sample.rows.copies.sum():
        return best
    alone = trials.run(Family(np.nan, features), best.step)
    if as_good(trials, alone, best, 0):
        return line_search(trials, alone)
    family = best.family
    if not trials.request.effort.beside or (trials.held is None and trials.slow(family)):
        return best
    both = replace(family, start=family.start.plus(features))
    together = trials.run(both, best.step, best.training.reached.plus(features))
    gain, error = together.gain_over(best)
    return together if gain > error else best
