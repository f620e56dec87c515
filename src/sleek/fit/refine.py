"""Classes in the end: from outputs that approach ±1 to log-odds, where rows held out prefer them.

Least squares finds units in closed form, quickly and surely; but it minds outputs that are too right, and
with many classes those between others are masked. The logistic loss does neither. It goes on from the units
and weights that least squares has found, at the next weaker strength: a line search of its own found nothing
better (28 sets, twice the time).

The two are compared by mistakes: losses of outputs that mean different things are not the same thing.
"""

from __future__ import annotations

from sleek.fit.trials import Trial, Trials
from sleek.trainers.base import Reached


def refine(trials: Trials, best: Trial, always: bool) -> tuple[Trials, Trial]:
    """The trials to go on with and the best of them: in the refining loss if that makes no more mistakes."""
    outputs = trials.sample.outputs.refined()
    if outputs is None:
        return trials, best
    refined, family = trials.with_outputs(outputs), best.family
    here = refined.run(family, best.step - 1, Reached(best.training.expansion))
    return (refined, here) if always or here.error <= best.error else (trials, best)
