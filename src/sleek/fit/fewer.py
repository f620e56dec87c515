"""Fewer numbers: units, ramps, and single conditions of units go as long as that costs nothing.

A condition is one feature of a unit, or one side of a box: a number that is a switch of its basis, and is not
0. Without it a unit is φ' in the place of φ. What that costs on the rows is, to second order in the outputs,

    Δ = Σ s (g·δ + ½ w δ²),    δ = (a φ'_c - φ_c) θ,    a = ⟨φ_c, φ'_c⟩/⟨φ'_c, φ'_c⟩,

with slopes g and curvatures w of the loss, and columns that are centred (c), because the constants follow. A
unit that goes costs ½ θ²/[(ΦᵀSΦ + I/C)⁻¹]_jj, the others following. What costs least for every number that
it saves goes first, until a share of the numbers is left; the rest is trained on, and the judge decides how
far to go.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.expansion import Expansion, Part
from sleek.bases.units import Units
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Solution
from sleek.fit import policy
from sleek.fit.judge import Verdict, is_behind, worth
from sleek.fit.trials import Beginning, Candidate, Draft, Trials, count_numbers
from sleek.rows.sample import Sample
from sleek.trainers.base import Reached, Training

PIECE = 2**20  # values of units that are held at a time


def shorter(trials: Trials, candidate: Candidate, rival: Candidate | None = None) -> list[Candidate]:
    """The candidate with fewer and fewer numbers, until that clearly costs too much.

    Too much is what is clearly worse than the best of them, or than a `rival`. Where the user wants no more
    than so many numbers, cutting ends below that, whatever it costs.
    """
    found, best = [], trials.judge(candidate if rival is None else rival)
    if trials.request.signs is not None:
        candidate = replace(candidate, change=without_idle, before=candidate)
        found.append(candidate)
    current, numbers = candidate, trials.numbers(candidate)
    most, wanted = numbers, trials.request.max_numbers

    def goes_on() -> bool:
        enough = wanted is None or numbers <= wanted
        return not (enough and _is_far(trials.judge(current), best, worth(most, numbers)))

    while goes_on():
        current = replace(candidate, change=partial(cut, wanted), before=current)
        before, numbers = numbers, trials.numbers(current)
        if numbers >= before:
            break
        found.append(current)
        best = min(best, trials.judge(current), key=lambda verdict: verdict.loss)
    return found


def _is_far(verdict: Verdict, best: Verdict, gain: float) -> bool:
    """Whether a model is clearly worse than the best one, by more than fewer numbers are worth."""
    far = verdict.loss > (1.0 + policy.MOST_SHARE + gain) * best.loss
    return far and is_behind(verdict, best, policy.CLEAR_ERRORS)


def with_common_widths(candidate: Candidate) -> Candidate:
    """The candidate with one width for all units of a part in a feature."""
    return replace(candidate, change=share, before=candidate)


def share(rows: Sample, before: Draft | None) -> Beginning:
    """Units of a part get one width in every feature, and keep it: one number instead of many."""
    assert before is not None
    training = before.training
    reached, start = [], []
    for part, own in zip(training.expansion.parts, before.start.parts, strict=True):
        widths = part.basis.widths
        shared = part.basis.share_widths(part.units) if widths else part.units
        arrays = {name: shared[name] if name in widths else array for name, array in own.units.arrays.items()}
        reached.append(replace(part, units=shared, fixed=widths))
        start.append(replace(own, units=Units(arrays), fixed=widths))
    return Beginning(Expansion(tuple(start)), Reached(Expansion(tuple(reached)), training.solution))


def cut(wanted: int | None, rows: Sample, before: Draft | None) -> Beginning:
    """What is left when a share of all numbers is kept, or as many as are wanted if that is more."""
    assert before is not None
    training = before.training
    items = _items(training, rows.smallest(policy.CUT_ROWS), before.penalty.C)
    numbers, shared = count_numbers(training), training.expansion.count_shared()  # which stay
    most = policy.KEPT_SHARE * (numbers - shared)
    if wanted is not None and numbers > wanted:
        most = max(most, float(wanted - shared - training.solution.b.size))
    kept, gone = _choose(training, items, most)
    theta, b = training.solution
    reached = Reached(_without(training.expansion, items, gone).take(kept), Solution(theta[kept], b))
    return Beginning(_without(before.start, items, gone).take(kept), reached)


def without_idle(rows: Sample, before: Draft | None) -> Beginning:
    """Without the units that weigh nothing, as those may whose weight must have a sign."""
    assert before is not None
    kept = np.flatnonzero(before.training.solution.theta.any(axis=1))
    kept = kept if len(kept) else np.arange(1)
    return Beginning(before.start.take(kept), before.training.reached.take(kept))


class _Items(NamedTuple):
    """Everything that can go: a whole unit (switch -1), or one number that is a switch."""

    units: IntArray  # numbered through all parts
    switches: IntArray  # which of its basis's switches
    features: IntArray
    costs: FloatArray
    saved: IntArray  # numbers


def _items(training: Training, rows: Sample, C: float) -> _Items:
    """All that can go, with what it costs and saves."""
    block, loss = rows.rows, rows.outputs.loss
    expansion, (theta, b) = training.expansion, training.solution
    Phi = expansion.features(block.X)
    Y = Phi @ theta + b
    targets, w = loss.working(block.T, Y)
    slopes, sw = loss.slopes(block.T, Y) * block.s[:, None], block.s * w
    moments = Moments.of(Phi, targets, sw)
    ridge = max(1.0 / C, np.finfo(float).eps * float(np.trace(moments.G)))
    inverse = np.linalg.inv(moments.G + ridge * np.eye(len(moments.G)))
    m = len(expansion)
    whole = 0.5 * np.sum(theta**2, axis=1) / np.diag(inverse)
    found = [
        _Items(
            np.arange(m),
            np.full(m, -1),
            np.full(m, -1),
            whole,
            expansion.count_numbers() + theta.shape[1],
        )
    ]
    Phi = Phi - sw @ Phi / sw.sum()
    for part, place in zip(expansion.parts, expansion.places(), strict=True):
        if not part.basis.learns:
            continue
        for number, name in enumerate(part.basis.switches):
            unit, feature = np.nonzero(part.units[name])
            piece = max(1, PIECE // len(block))
            for at in range(0, len(unit), piece):
                u, f = unit[at : at + piece], feature[at : at + piece]
                costs = _conditions(part, name, u, f, block.X, Phi[:, place], theta[place], slopes, sw)
                saved = np.full(len(u), 2 if name in part.basis.widths and name not in part.fixed else 1)
                found.append(_Items(u + place.start, np.full(len(u), number), f, costs, saved))
    return _Items(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))


def _conditions(
    part: Part,
    name: str,
    units: IntArray,
    features: IntArray,
    X: FloatArray,
    Phi: FloatArray,
    theta: FloatArray,
    slopes: FloatArray,
    sw: FloatArray,
) -> FloatArray:
    """What single conditions of a part cost."""
    changed = part.basis.features_without(X, part.units, name, units, features)
    changed = changed - sw @ changed / sw.sum()
    old = Phi[:, units]
    both, own = sw @ (old * changed), sw @ changed**2
    changed *= np.divide(both, own, out=np.zeros_like(both), where=own > 1e-12 * sw.sum())
    changed -= old
    straight = np.einsum("bk,bk->b", changed.T @ slopes, theta[units])
    costs: FloatArray = straight + 0.5 * np.sum(theta[units] ** 2, axis=1) * (sw @ changed**2)
    return costs


def _choose(training: Training, items: _Items, target: float) -> tuple[IntArray, IntArray]:
    """The units that are kept, and the items that go, until no more numbers than that are left.

    How many items go, the cheapest for each number first, is found by bisection. A unit without conditions
    goes, and of all units one stays.
    """
    order = np.argsort(items.costs / items.saved, kind="stable")
    conditions = items.switches >= 0
    numbers = training.expansion.count_numbers()
    each = numbers + training.solution.theta.shape[1]
    there = np.bincount(items.units[conditions], minlength=len(numbers))

    def kept_after(n_items: int) -> tuple[FloatArray, float]:
        gone = order[:n_items]
        single = gone[conditions[gone]]
        off = np.bincount(items.units[single], minlength=len(numbers))
        kept = (there == 0) | (off < there)
        kept[items.units[gone[~conditions[gone]]]] = False
        left = np.where(there > 0, numbers * (1.0 - off / np.maximum(there, 1)), numbers) + each - numbers
        return kept, float(left[kept].sum())

    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        kept, left = kept_after(middle)
        low, high = (low, middle) if left <= target or not kept.any() else (middle, high)
    kept, _ = kept_after(high)
    if not kept.any():
        high = low
        kept, _ = kept_after(high)
    gone = order[:high]
    return np.flatnonzero(kept), gone[conditions[gone]]


def _without(expansion: Expansion, items: _Items, gone: IntArray) -> Expansion:
    """All units, without the conditions of these items."""
    units, switches, features = items.units[gone], items.switches[gone], items.features[gone]
    parts = []
    for part, place in zip(expansion.parts, expansion.places(), strict=True):
        arrays = dict(part.units.arrays)
        own = (units >= place.start) & (units < place.stop)
        for number, name in enumerate(part.basis.switches):
            at = own & (switches == number)
            if at.any():
                arrays[name] = arrays[name].copy()
                arrays[name][units[at] - place.start, features[at]] = 0.0
        parts.append(replace(part, units=Units(arrays)))
    return Expansion(tuple(parts))
