"""Many rows: a race judged by rows held out.

Every basis and start shape runs a first heat on a small sample, all with the same strength; the best of each
basis goes on from there on a larger one, unless two others are ahead and it is hopelessly behind, and a line
search over the strength goes on with the winner.
"""

from __future__ import annotations

from collections.abc import Sequence

from sleek.fit import policy
from sleek.fit.search import climb
from sleek.fit.start import Family
from sleek.fit.trials import Trial, Trials, best_of_each


def race(first: Trials, last: Trials, families: Sequence[Family], final: Trials | None) -> Trial:
    """The winner of the heats and of a line search from there.

    With so many rows that units will be learnt on a multiple of these, the two best of the second heat run a
    `final` on them: what is ahead on few rows need not be on many.
    """
    tried = best_of_each(first.side_by_side([(family, policy.RACE_STEP, None) for family in families]))
    tried.sort(key=lambda trial: trial.loss)
    qualified = tried[:2] + [t for t in tried[2:] if t.within(policy.QUALIFYING_ERRORS, tried[0])]
    again = last.side_by_side([(trial.family, trial.step, trial.training.reached) for trial in qualified])
    again.sort(key=lambda trial: trial.loss)
    here = again[0]
    if final is not None and len(again) > 1 and not last.request.settled:
        two = again[:2]
        ends = final.side_by_side([(trial.family, trial.step, trial.training.reached) for trial in two])
        here = two[int(ends[1].loss < ends[0].loss)]
    if last.request.penalised:
        return here
    begin = here.training.reached
    weaker, stronger = last.side_by_side([(here.family, here.step + d, begin) for d in (-1, 1)])
    direction, ahead = (1, stronger) if stronger.loss < here.loss else (-1, weaker)
    return climb(here, ahead, direction, lambda step: last.run(here.family, step, begin))
