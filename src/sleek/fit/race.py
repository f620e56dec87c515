"""The race: units of every basis and start shape, and then regularisation strengths of the winner.

Successive halving: all run the first round, on one fold or on a small sample; those that are not clearly
behind go on to the next, with more folds or more rows, from where they have got to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sleek.fit import policy
from sleek.fit.judge import is_behind
from sleek.fit.trials import Candidate, Trials


def race(
    trials: Trials, candidates: Sequence[Candidate], vary: Callable[[Candidate], list[Candidate]]
) -> list[Candidate]:
    """The best candidates of the last round, and variants of them."""
    running = list(candidates)
    for level in range(len(trials.levels)):
        trials.prepare(running, level)
        running = _qualified(trials, running, level)
    variants = [variant for candidate in running for variant in vary(candidate)]
    trials.prepare(variants, trials.last)
    return running + variants


def _qualified(trials: Trials, ranking: Sequence[Candidate], level: int) -> list[Candidate]:
    """The best candidates of a round, one of each basis and size, if they are not hopelessly behind."""
    first: dict[tuple[str, int], Candidate] = {}
    for candidate in sorted(ranking, key=lambda candidate: trials.judge(candidate, level).loss):
        start = trials.draft(candidate, trials.levels[level][0]).start
        first.setdefault((start.name, len(start)), candidate)
    best, *others = first.values()
    leader = trials.judge(best, level)
    near = [
        candidate
        for candidate in others
        if (verdict := trials.judge(candidate, level)).loss <= (1.0 + policy.MOST_SHARE) * leader.loss
        or not is_behind(verdict, leader, policy.CLEAR_ERRORS)
    ]
    return [best, *near[: policy.FINALISTS - 1]]


def best_strength(trials: Trials, here: Candidate) -> Candidate:
    """The candidate trained on under the strength that suits it, found by a line search.

    All go on from where it is, for as many iterations: more training must not be taken for a better strength.
    """
    same, more, less = (here.stronger(steps) for steps in (0, 1, -1))
    trials.prepare([same, more, less], trials.last)
    ahead = min((more, less), key=lambda candidate: trials.judge(candidate).loss)
    direction, best = ahead.step - here.step, same
    while trials.judge(ahead).loss < trials.judge(best).loss:
        best = ahead
        if best.step + direction not in policy.STRENGTH_STEPS:
            break
        ahead = here.stronger(best.step + direction - here.step)
    return best if trials.judge(best).loss < trials.judge(here).loss else here
