"""The ladder: the simplest model that is as good.

    linear  <  curves  <  curves and units of at most two features  <  curves and units of any features

Candidates of every rung are made by moves, one after the other; each begins with what the moves before it
have found. In the end all of them stand in one line, by how many numbers a person has to read, and it is
climbed from below: a simpler model stays unless another one gains more than chance would (`prefers`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sleek._runtime.warn import warn
from sleek.bases.constraints import unit_signs
from sleek.bases.curves import Curves
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import solve
from sleek.fit import policy
from sleek.fit.enlarge import enlarge
from sleek.fit.fewer import shorter, with_common_widths
from sleek.fit.plan import Request
from sleek.fit.race import best_strength, race
from sleek.fit.simple import Dictionary, simple_models
from sleek.fit.start import Family
from sleek.fit.trials import Beginning, Candidate, Draft, Trials, count_numbers
from sleek.outputs.base import Outputs
from sleek.rows.sample import Sample
from sleek.trainers.base import Reached


@dataclass(eq=False)
class Climb:
    """What moves have found so far."""

    trials: Trials
    families: list[Family]
    outputs: Outputs
    n_observations: float
    simple: list[Candidate] = field(default_factory=list)  # models of single features
    best: Candidate | None = None  # of those with units
    rival: Candidate | None = None  # the best one of another basis
    path: list[Candidate] = field(default_factory=list)  # the best with fewer and fewer numbers

    @property
    def request(self) -> Request:
        """What the user has fixed."""
        return self.trials.request

    @property
    def units_pay(self) -> bool:
        """Whether units lower the loss of the best model of single features: if not, they are not cut."""
        simple = [self.trials.judge(candidate).loss for candidate in self.simple]
        return self.trials.judge(self.found).loss < min(simple, default=np.inf)

    @property
    def found(self) -> Candidate:
        """The best with units, which the move that tries units has found."""
        assert self.best is not None
        return self.best


class Climbed(NamedTuple):
    """The candidate that was chosen, everything in a line by its numbers, and those that could be chosen."""

    chosen: Candidate
    line: list[Candidate]
    short: list[Candidate]

    def longer(self, trials: Trials) -> Candidate | None:
        """The best one with more numbers, if there is one under the same loss."""
        more = [c for c in self.short if trials.numbers(c) > trials.numbers(self.chosen)]
        alike = [c for c in more if c.outputs is self.chosen.outputs]
        return min(alike, key=lambda candidate: trials.judge(candidate).loss, default=None)


def climb(state: Climb) -> Climbed:
    """Make the moves, and choose."""
    for applies, move in MOVES:
        if applies(state):
            move(state)
    trials = state.trials
    line = sorted([*state.simple, state.found, *state.path], key=trials.numbers)
    if state.request.fixes_size:
        return Climbed(state.found, line, [state.found])
    most = state.request.max_numbers
    short = [candidate for candidate in line if most is None or trials.numbers(candidate) <= most] or line[:1]
    left = list(short)
    while _length(trials, chosen := _simplest(trials, left)) > (most or np.inf) and len(left) > 1:
        left.remove(chosen)  # the model itself may have more numbers than those of folds
    _warn_if_longer(trials, chosen, most)
    return Climbed(chosen, line, short)


def _length(trials: Trials, candidate: Candidate) -> int:
    """The numbers of the model itself."""
    return count_numbers(trials.whole(candidate).training)


def _warn_if_longer(trials: Trials, chosen: Candidate, most: int | None) -> None:
    """A note if no model is as short as it was wanted."""
    if most is not None and (numbers := _length(trials, chosen)) > most:
        warn(
            f"`max_numbers`={most} is less than the {numbers} numbers of the shortest model that was tried. "
            "With several classes every unit has a weight for each."
        )


def _simplest(trials: Trials, line: list[Candidate]) -> Candidate:
    """The simplest candidate that none with more numbers is preferred to.

    Not the last one of those that are preferred to the one before: what a model of a thousand numbers gains
    over one of a hundred, one of two hundred may have nearly gained.
    """
    best_first = sorted(line[1:], key=lambda candidate: trials.judge(candidate).loss)
    for number, candidate in enumerate(line[:-1]):
        more, loss = set(line[number + 1 :]), trials.judge(candidate).loss
        better = (new for new in best_first if new in more and trials.judge(new).loss < loss)
        if not any(trials.prefers(new, candidate) for new in better):
            return candidate
    return line[-1]


def _rungs(trials: Trials, line: list[Candidate]) -> list[Candidate]:
    """The candidates that are preferred to all simpler ones, fewest numbers first."""
    found = line[:1]
    for candidate in line[1:]:
        if trials.prefers(candidate, found[-1]):
            found.append(candidate)
    return found


# -- Moves


def try_single_features(state: Climb) -> None:
    """Linear models and curves, in closed form."""
    state.simple = simple_models(state.trials, state.outputs)


def try_units(state: Climb) -> None:
    """Units of every basis and start shape; the best of them also beside curves, if the ladder is climbed."""
    curves = Dictionary(Curves(), policy.STRENGTH_STEP**policy.CURVE_STEP, state.request.signs)
    families = {
        Candidate(partial(place, family, None), policy.FIRST_STEP, state.outputs, shape=family.shape): family
        for family in state.families
    }

    def beside(candidate: Candidate) -> list[Candidate]:
        own = partial(place, families[candidate], curves)
        return [replace(candidate, change=own)] if state.request.is_open else []

    running = race(state.trials, list(families), beside)
    trials = state.trials
    best = state.best = min(running, key=lambda candidate: trials.judge(candidate).loss)
    others = [c for c in running if trials.basis(c) != trials.basis(best)]
    state.rival = min(others, key=lambda c: trials.judge(c).loss, default=None)


def try_strengths(state: Climb) -> None:
    """Weaker and stronger regularisation."""
    state.best = best_strength(state.trials, state.found)


def try_more_units(state: Climb) -> None:
    """Boxes at what is left to explain."""
    grown = [family.basis for family in state.families if family.basis.leaf_shapes]
    enough = round(state.n_observations) // state.request.effort.rows_per_added_unit
    most = min(state.request.most_units, enough)
    state.best = enlarge(state.trials, state.found, grown[0], most, not state.request.is_open)


def try_log_odds(state: Climb) -> None:
    """Log-odds instead of ±1 for classes, if that makes no more mistakes; of two bases the better.

    Numbers have the loss that is asked for instead of the squared one.
    """
    trials, best = state.trials, state.found
    judged = trials.residuals(best)
    left, weights = (np.concatenate([getattr(one, name) for one in judged]) for name in ("residuals", "s"))
    outputs = state.outputs.refinement(left, weights)
    if outputs is None:
        return
    refined = log_odds(best, outputs)
    if state.rival is not None:
        other = log_odds(state.rival, outputs)
        trials.prepare([refined, other], trials.last)
        refined = min(refined, other, key=lambda candidate: trials.judge(candidate).error)
    if state.request.loss is not None or trials.judge(refined).error <= trials.judge(best).error:
        state.best = refined
        simple = sorted(state.simple, key=trials.numbers)
        simple = simple if outputs.loss.chooses else _rungs(trials, simple)
        constant = trials.constants.get(state.outputs)
        simple = [candidate for candidate in simple if candidate is not constant]
        state.simple = [log_odds(candidate, outputs) for candidate in simple]
        if constant is not None:
            trials.constants[outputs] = log_odds(constant, outputs)
            state.simple.append(trials.constants[outputs])
        trials.prepare(state.simple, trials.last)


def try_fewer_numbers(state: Climb) -> None:
    """Units, ramps and conditions go; what is left shares its widths, and goes on without more of them."""
    trials = state.trials
    state.path = shorter(trials, state.found)
    best = _simplest(trials, sorted([state.found, *state.path], key=trials.numbers))
    if trials.has_widths(best):
        common = with_common_widths(best)
        state.path += [common, *shorter(trials, common, best)]


def _chooses_strength(state: Climb) -> bool:
    return not state.request.fixes_penalties


def _grows(state: Climb) -> bool:
    return not state.request.fixes_size and any(family.basis.leaf_shapes for family in state.families)


def _is_refined(state: Climb) -> bool:
    return state.found.outputs is not state.outputs


# What a move needs, and the move. Under another loss than least squares there may be more to explain; one of
# which least squares say little has another strength, too.
MOVES: tuple[tuple[Callable[[Climb], bool], Callable[[Climb], None]], ...] = (
    (lambda state: state.request.is_open, try_single_features),
    (lambda state: True, try_units),
    (_chooses_strength, try_strengths),
    (_grows, try_more_units),
    (lambda state: state.request.refines(state.n_observations), try_log_odds),
    (
        lambda state: state.found.outputs.loss.chooses and _is_refined(state) and _chooses_strength(state),
        try_strengths,
    ),
    (lambda state: _is_refined(state) and _grows(state), try_more_units),
    (lambda state: not state.request.fixes_size and state.units_pay, try_fewer_numbers),
)


# -- Changes


def place(family: Family, beside: Dictionary | None, rows: Sample, before: Draft | None) -> Beginning:
    """Units of a family at their start, beside a few ramps if there are any."""
    block = rows.rows
    if beside is None:
        left = block.T - np.average(block.T, axis=0, weights=block.s)
        return Beginning(family.place(rows, left))
    enough = max(1, int(block.copies.sum()) // policy.ROWS_PER_RAMP)
    ramps = beside.of(rows).take(min(policy.RAMPS_BESIDE, enough))
    Phi = ramps.features(block.X)
    moments, signs = Moments.of(Phi, block.T, block.s), unit_signs(ramps, beside.signs)
    theta, b = solve(moments, 1.0 / beside.strength, signs)
    return Beginning(family.place(rows, block.T - Phi @ theta - b).plus(ramps))


def log_odds(candidate: Candidate, outputs: Outputs) -> Candidate:
    """The units of a candidate, with weights for log-odds, at the next weaker strength."""
    return Candidate(_begin_with_units, candidate.step - 1, outputs, candidate, candidate.shape)


def _begin_with_units(rows: Sample, before: Draft | None) -> Beginning:
    assert before is not None
    return Beginning(before.start, Reached(before.training.expansion))
