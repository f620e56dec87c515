"""Classes in the end: from outputs that approach ±1 to log-odds, where rows held out prefer them.

Least squares finds units in closed form, quickly and surely; but it minds outputs that are too right, and
with many classes those between others are masked. The logistic loss does neither. It goes on from the units
and weights that least squares has found, with a line search over the strength of its own.

The two are compared by mistakes: losses of outputs that mean different things are not the same thing.
"""

from __future__ import annotations

from sleek.fit.search import climb
from sleek.fit.trials import Trial, Trials
from sleek.trainers.base import Reached


def refine(trials: Trials, best: Trial, always: bool) -> tuple[Trials, Trial]:
    """The trials to go on with and the best of them: in the refining loss if that makes no more mistakes."""
    outputs = trials.sample.outputs.refined()
    if outputs is None:
        return trials, best
    refined, family = trials.with_outputs(outputs), best.family
    here = refined.run(family, best.step - 1, Reached(best.training.expansion))
    if here.error > best.error and not always:
        return trials, best
    if not refined.request.penalised:
        begin = here.training.reached
        weaker, stronger = refined.side_by_side([(family, here.step + d, begin) for d in (-1, 1)])
        direction, ahead = (1, stronger) if stronger.loss < weaker.loss else (-1, weaker)
        here = climb(here, ahead, direction, lambda step: refined.run(family, step, begin))
    return (refined, here) if always or here.error <= best.error else (trials, best)
