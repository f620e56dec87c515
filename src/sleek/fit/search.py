"""Few rows: a line search over the strength for every basis and start shape, judged by leave-one-out.

The search runs from κ = 1, or from the best κ of the shape before, in the direction in which losses fall.
Different bases are compared by refitting five folds with the best settings of each: leave-one-out
linearises the model, and the more a basis bends, the less it sees of what was learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from sleek.fit import policy
from sleek.fit.folds import refitted_folds
from sleek.fit.start import Family
from sleek.fit.trials import Trial, Trials, refit


def search(trials: Trials, families: Sequence[Family]) -> Trial:
    """The best trial of a line search for every family."""
    best: dict[str, Trial] = {}
    for family in families:
        before = best.get(family.name)
        trial = _line_search(trials, trials.run(family, 0 if before is None else before.step))
        if before is None or trial.loss < before.loss:
            best[family.name] = trial
    if len(best) == 1:
        return next(iter(best.values()))
    return min(best.values(), key=lambda trial: _refitted_loss(trials, trial))


def _refitted_loss(trials: Trials, trial: Trial) -> float:
    sample = trials.sample
    folds = refitted_folds(sample, partial(refit, trials.request, trial.family, trial.penalty))
    return float(np.average(sample.outputs.losses(folds.T, folds.outputs), weights=folds.s))


def _line_search(trials: Trials, here: Trial) -> Trial:
    """The best trial along the strength, from `here` in the direction in which losses fall."""
    if trials.request.penalised:
        return here
    direction, ahead = 1, trials.run(here.family, here.step + 1)
    if ahead.loss >= here.loss:
        direction, ahead = -1, trials.run(here.family, here.step - 1)
    return climb(here, ahead, direction, lambda step: trials.run(here.family, step))


def climb(here: Trial, ahead: Trial, direction: int, at: Callable[[int], Trial]) -> Trial:
    """The last trial in a direction that was better than the one before."""
    while ahead.loss < here.loss * (1.0 - policy.LEAST_GAIN):
        here = ahead
        if here.step + direction not in policy.STRENGTH_STEPS:
            break
        ahead = at(here.step + direction)
    return here
