"""More units: boxes are added where the residuals say that something is left to explain.

Units are added at leaves of trees on the residuals of the best model so far; all are trained on together, and
the larger model goes on if it gains more than chance, however little: what ten boxes bring may be a
beginning, and those that bring nothing are taken out again. Each time that it pays, twice as many are added.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from sleek.bases.base import Basis
from sleek.bases.constraints import OnFeatures
from sleek.bases.expansion import Expansion, Part
from sleek.fit import policy
from sleek.fit.constrained import keep_monotone, leaves_within, may_close
from sleek.fit.judge import prefers
from sleek.fit.trials import Beginning, Candidate, Draft, Trials
from sleek.rows.sample import Sample


def enlarge(trials: Trials, best: Candidate, basis: Basis, most: int, closing: bool) -> Candidate:
    """The candidate, or one with more units of a basis that is better; at most `most` units."""
    wanted = policy.ADDED_UNITS
    while (added := min(wanted, most - trials.draft(best, trials.levels[-1][0]).start.n_learnt)) > 0:
        change = partial(add, trials.request.constraints, basis, added, closing)
        larger = Candidate(change, best.step, best.outputs, best, best.shape)
        if not prefers(trials.judge(larger), trials.judge(best), policy.SURE_ERRORS, 0.0):
            break
        best, wanted = larger, 2 * wanted
    return best


def add(
    constraints: OnFeatures | None,
    basis: Basis,
    n_units: int,
    closing: bool,
    rows: Sample,
    before: Draft | None,
) -> Beginning:
    """Add boxes at leaves of trees on the residuals."""
    assert before is not None
    block, training = rows.rows, before.training
    theta, b = training.solution
    left = -rows.outputs.loss.slopes(block.T, training.expansion.features(block.X) @ theta + b)
    middle, spread = np.median(block.X, axis=0), block.X.std(axis=0)
    shape = np.exp(np.mean(np.log(basis.leaf_shapes))) / np.where(spread > 0, spread, 1.0)
    found = leaves_within(constraints, rows, n_units, left)
    units = basis.start_at_leaves(*found, shape, middle, closing and may_close(constraints))
    more = Expansion((Part(basis, units, () if closing else basis.widths),))
    if constraints is not None:
        more = keep_monotone(constraints, more, rows, left)
    return Beginning(before.start.plus(more), training.reached.plus(more))
