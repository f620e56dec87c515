"""Few rows: a line search over the strength for every basis and start shape, judged by leave-one-out.

The search runs from κ = 1, or from the best κ of the shape before, in the direction in which losses fall.
Different bases are compared by refitting five folds with the best settings of each: leave-one-out linearises
the model, and the more a basis bends, the less it sees of what was learnt. Units that start where the targets
say are judged by refitted folds alone, begun anew in each; they take over if they are better by more than the
standard error of the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.fit import policy
from sleek.fit.folds import first_fold, mean_and_error, refitted_folds
from sleek.fit.start import Family
from sleek.fit.trials import Trial, Trials, best_of_each, refit


def search(trials: Trials, families: Sequence[Family]) -> Trial:
    """The best trial of a line search for every family."""
    seeing = [family for family in families if family.regrow is not None]
    if len(seeing) == len(families):
        return _best_of_lines(trials, families)
    best = _best_of_lines(trials, [family for family in families if family.regrow is None])
    if not seeing:
        return best
    losses = _refitted(trials, best)
    rivals = [trials.run(family, best.step) for family in seeing if _promises(trials, family, best, losses)]
    if not rivals:
        return best
    rival = min(rivals, key=lambda trial: trial.loss)
    gain, error = mean_and_error(losses - rival.losses, rival.weights, rival.copies)
    return line_search(trials, rival) if gain > error else best


def _promises(trials: Trials, family: Family, best: Trial, losses: FloatArray) -> bool:
    """Whether a family is better than the best on the first fold: else four more are not worth their time."""
    sample = trials.sample
    rows, residuals = first_fold(sample, partial(refit, trials.request, family, best.penalty))
    T = sample.rows.T[rows]
    return bool(sample.outputs.losses(T, T - residuals).mean() < losses[rows].mean()) if len(rows) else False


def _best_of_lines(trials: Trials, families: Sequence[Family]) -> Trial:
    """The best trial of a line search for every family, whether or not it looks at the targets."""
    first = best_of_each([trials.run(family, 0) for family in families])
    best = {trial.family.name: line_search(trials, trial) for trial in first}
    if len(best) == 1:
        return next(iter(best.values()))
    return min(best.values(), key=lambda trial: np.average(_refitted(trials, trial), weights=trial.weights))


def _refitted(trials: Trials, trial: Trial) -> FloatArray:
    """The loss of each row in models that were refitted without it."""
    sample = trials.sample
    folds = refitted_folds(sample, partial(refit, trials.request, trial.family, trial.penalty))
    return sample.outputs.losses(folds.T, folds.outputs)


def line_search(trials: Trials, here: Trial) -> Trial:
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
