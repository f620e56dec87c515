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
from sleek.closed_form.penalty import Penalty
from sleek.fit import policy
from sleek.fit.folds import Fold, mean_and_error, refitted_folds, residuals_in
from sleek.fit.start import Family
from sleek.fit.trials import Trial, Trials, best_of_each, refit


def search(trials: Trials, families: Sequence[Family]) -> Trial:
    """The best trial of a line search for every family."""
    seeing = [family for family in families if family.regrow is not None]
    if len(seeing) == len(families):
        return _best_of_lines(trials, families)
    best = _best_of_lines(trials, [family for family in families if family.regrow is None])
    if not seeing or not trials.splits:
        return best
    losses = _refitted(trials, best)
    begun = [_begun(trials, family, best.penalty) for family in seeing]
    at, (first, loss) = min(enumerate(begun), key=lambda found: found[1][1])
    if loss >= losses[trials.splits[0].out].mean():
        return best  # on the first fold, already: four more are not worth their time
    rest = [Fold(seeing[at].start_for(split.rest)) for split in trials.splits[1:]]
    rival = trials.run(seeing[at], best.step, folds=[first, *rest])
    gain, error = mean_and_error(losses - rival.losses, rival.weights, rival.copies)
    return line_search(trials, rival) if gain > error else best


def _begun(trials: Trials, family: Family, penalty: Penalty) -> tuple[Fold, float]:
    """The first fold of a family and its loss."""
    split, sample = trials.splits[0], trials.sample
    fold = trials.fold(split, Fold(family.start_for(split.rest)), penalty)
    assert fold.training is not None
    T = sample.rows.T[split.out]
    outputs = T - residuals_in(sample, split, fold.training)
    return fold, float(sample.outputs.losses(T, outputs).mean())


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

    def at(step: int) -> Trial:
        return trials.run(here.family, step, folds=here.folds)

    direction, ahead = 1, at(here.step + 1)
    if ahead.loss >= here.loss:
        direction, ahead = -1, at(here.step - 1)
    return climb(here, ahead, direction, at)


def climb(here: Trial, ahead: Trial, direction: int, at: Callable[[int], Trial]) -> Trial:
    """The last trial in a direction that was better than the one before."""
    while ahead.loss < here.loss * (1.0 - policy.LEAST_GAIN):
        here = ahead
        if here.step + direction not in policy.STRENGTH_STEPS:
            break
        ahead = at(here.step + direction)
    return here
