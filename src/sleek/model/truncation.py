"""Truncated models: only effects of one column, or of pairs of columns, are kept.

A unit of more columns than wanted is replaced by the part of it that is left. With E_jc = mean g_jc and
P_j = Π_c E_jc, the mean, the curves and some pairs of a product φ_j = Π_c g_jc are

    P_j [1 + Σ_c (g_jc/E_jc - 1) + Σ_{c<d} (g_jc/E_jc - 1)(g_jd/E_jd - 1)]

and multiplied out these are units of two columns, units of one, and a constant. Of all functions of so few
columns it is the nearest to the model, under the product of the columns' distributions.

The other way is to leave such units out, and to solve the weights of the others again from the sums over rows
that a model may keep. Where units of few columns say nearly everything, that is better: it knows how columns
depend on each other. The way that is expected to cost less is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.expansion import Expansion, Part
from sleek.bases.units import Units
from sleek.closed_form.solve import Solution, solve
from sleek.model.effect_parts import (
    AdditiveUnits,
    ColumnOfModel,
    ProductUnits,
    draw_rows,
    looks_at,
    units_by_kind,
)
from sleek.model.facts import ExpectedError
from sleek.model.memory import Memory

if TYPE_CHECKING:
    from sleek.model.effects import Effects
    from sleek.model.kernel_model import KernelModel

DRAWN = 4096  # rows by which two models are compared
NEGLIGIBLE = 1e-12  # of the largest weight: a unit that weighs less is left out


@dataclass(frozen=True, eq=False)
class Truncation:
    """A model of units that look at few columns each, and what it costs.

    Attributes
    ----------
    model : KernelModel
    order : int
        The most columns that act together.
    share : float
        Of the variance of the outputs: what is lost of what the model says.
    squared : float
        The mean squared difference of the outputs, all outputs added up.
    decisions : float or None
        The share of rows that are decided otherwise, for classes.
    how : str
        Where the weights come from.
    before : KernelModel
    """

    model: KernelModel
    order: int
    share: float
    squared: float
    decisions: float | None
    how: str
    before: KernelModel

    def __str__(self) -> str:
        what = "curves" if self.order == 1 else "curves and pairs"
        said = f"{what} alone, {self.how}: {100 * self.share:.1f} % of what the model says is lost."
        facts = self.model.facts
        if facts is None or self.before.facts is None:
            return said
        old, new = (found.expected.value for found in (self.before.facts, facts))
        if self.decisions is not None:
            at_most = f"{100 * self.decisions:.1f} % of rows are decided otherwise"
            return f"{said} {at_most}: expect at most {100 * new:.1f} % errors instead of {100 * old:.1f} %."
        if self.model.outputs.n_outputs > 1:
            return f"{said} Expect {new:.3g} of the targets' variance as error instead of {old:.3g}."
        if not self.model.outputs.loss.quadratic:
            return f"{said} Expect a mean {self.model.outputs.loss.name} of {new:.3g} instead of {old:.3g}."
        return f"{said} Expect an RMSE of {np.sqrt(new):.3g} instead of {np.sqrt(old):.3g}."


def truncate(effects: Effects, order: int) -> Truncation:
    """See `Effects.truncated`."""
    if order not in (1, 2):
        raise ValueError(f"`order` must be 1, curves alone, or 2, curves and pairs, got {order!r}.")
    model, columns = effects.model, effects.columns
    seen = [looks_at(part, columns).sum(axis=0) for part in model.parts]
    pairs = effects.listed if order == 2 else []
    found = [
        made
        for made in (_expand(model, columns, seen, order, pairs), _leave_out(model, seen, order))
        if made is not None
    ]
    if not found:
        raise ValueError(
            "Units of several columns that are no products, as tanh units, cannot be cut into curves and "
            "pairs: fit with another basis, or keep the sums over rows (loss='squared_error')."
        )
    rows = draw_rows(columns, np.random.default_rng(3), DRAWN)
    outputs = model.outputs_unchecked(rows)

    def squared(other: KernelModel) -> float:
        return float(np.mean(np.sum((other.outputs_unchecked(rows) - outputs) ** 2, axis=1)))

    best, how = min(found, key=lambda made: squared(made[0]))
    lost = squared(best)
    return _truncation(model, best, order, how, lost, float(outputs.var(axis=0).sum()), rows)


def _truncation(
    model: KernelModel,
    best: KernelModel,
    order: int,
    how: str,
    lost: float,
    variance: float,
    rows: FloatArray,
) -> Truncation:
    """What a truncated model costs, and the model with facts that say so."""
    decisions, worse = None, lost
    if model.outputs.reads == "labels":
        decisions = worse = float(np.mean(best.predict_unchecked(rows) != model.predict_unchecked(rows)))
    elif model.outputs.n_outputs > 1 and model.facts is not None:
        difference = np.mean((best.outputs_unchecked(rows) - model.outputs_unchecked(rows)) ** 2, axis=0)
        worse = float(np.mean(difference / np.maximum(model.facts.variance, 1e-300)))
    elif not model.outputs.loss.quadratic:
        y, s = np.asarray(model.predict_unchecked(rows))[:, None], np.ones(len(rows))
        worse = float(model.outputs.judge(y, best.predict_unchecked(rows), s).deviance)
    if model.facts is not None:
        old = model.facts.expected
        expected = ExpectedError(old.value + worse, old.standard_error, f"{old.method}, truncated")
        best = replace(best, facts=replace(model.facts, expected=expected))
    share = lost / variance if variance > 0 else 0.0
    return Truncation(best, order, share, lost, decisions, how, model)


def _leave_out(model: KernelModel, seen: list[Any], order: int) -> tuple[KernelModel, str] | None:
    """Units of few columns alone, with weights from the sums over rows, if there are any."""
    kept = np.flatnonzero(np.concatenate(seen) <= order)
    memory = model.memory if model.outputs.loss.quadratic else None
    if memory is None or not len(kept) or len(kept) == model.n_units:
        return None
    theta, b = model.outputs.decode(*_solve(memory, kept))
    parts = []
    for part, place in zip(model.parts, model.expansion.places(), strict=True):
        own = np.isin(np.arange(place.start, place.stop), kept)
        if own.any():
            parts.append(Part(part.basis, part.basis.take(part.units, own)))
    found = _model(model, tuple(parts), theta, b)
    return found, "weights solved again from the sums over rows"


def _expand(
    model: KernelModel,
    columns: Sequence[ColumnOfModel],
    seen: list[Any],
    order: int,
    pairs: list[tuple[int, int]],
) -> tuple[KernelModel, str] | None:
    """Units of many columns as units of one and two, which weigh what makes them the same effects."""
    parts: list[Part] = []
    theta: list[FloatArray] = []
    b = model.b.copy()
    for part, place, count in zip(model.parts, model.expansion.places(), seen, strict=True):
        weights, large = model.theta[place], count > order
        kinds = {type(group) for group in units_by_kind(Expansion((part,)), weights, columns)}
        if kinds == {ProductUnits} and large.any():
            small = Part(part.basis, part.basis.take(part.units, ~large))
            own = Part(part.basis, part.basis.take(part.units, large))
            units, of_units, constant = _multiplied_out(own, weights[large], columns, pairs)
            parts += [small, units] if len(small) else [units]
            theta += [weights[~large], of_units] if len(small) else [of_units]
            b = b + constant
        elif large.any() and kinds != {AdditiveUnits}:
            return None
        else:
            parts.append(part)
            theta.append(weights)
    return _model(model, tuple(parts), np.concatenate(theta), b), "weights as they are"


def _multiplied_out(
    part: Part, theta: FloatArray, columns: Sequence[ColumnOfModel], pairs: list[tuple[int, int]]
) -> tuple[Part, FloatArray, FloatArray]:
    """Units of one column and of two, what they weigh, and a constant for each output."""
    group = ProductUnits([part], theta, columns)
    looking = group.terms.units
    log_mean = np.zeros((len(columns), len(part)))
    sees = np.zeros((len(columns), len(part)), dtype=bool)
    for c, units in enumerate(looking):
        log_mean[c, units], sees[c, units] = group.log_means[c], True
    both = {(c, d): sees[c] & sees[d] for c, d in pairs}
    of_column = np.zeros((len(columns), len(part)))  # in how many pairs a unit's column is
    for (c, d), there in both.items():
        of_column[c] += there
        of_column[d] += there
    made: list[Units] = []
    weights: list[FloatArray] = []
    for c in range(len(columns)):
        own = np.flatnonzero(sees[c] & (of_column[c] != 1.0))
        made.append(_of_columns(part, own, [columns[c]]))
        factor = (1.0 - of_column[c, own]) * np.exp(group.log_all[own] - log_mean[c, own])
        weights.append(factor[:, None] * theta[own])
    for (c, d), there in both.items():
        own = np.flatnonzero(there)
        made.append(_of_columns(part, own, [columns[c], columns[d]]))
        factor = np.exp(group.log_all[own] - log_mean[c, own] - log_mean[d, own])
        weights.append(factor[:, None] * theta[own])
    n_pairs = sum(both.values(), np.zeros(len(part)))
    constant: FloatArray = (np.exp(group.log_all) * (1.0 - sees.sum(axis=0) + n_pairs)) @ theta
    stacked = Units({name: np.concatenate([units[name] for units in made]) for name in part.units.arrays})
    total = np.concatenate(weights)
    size = np.abs(total).max(axis=1, initial=0.0)
    kept = size > NEGLIGIBLE * size.max(initial=0.0)
    return Part(part.basis, part.basis.take(stacked, kept)), total[kept], constant


def _of_columns(part: Part, units: Any, columns: list[ColumnOfModel]) -> Units:
    """Units that look at some columns only: numbers that may be 0, as sharpness may, are 0 in all others."""
    features = [i for column in columns for i in range(column.place.start, column.place.stop)]
    arrays = {}
    for parameter in part.basis.parameters:
        array = part.units[parameter.name][units].copy()
        if parameter.axes == ("unit", "feature") and parameter.lower == 0.0:
            others = np.ones(array.shape[1], dtype=bool)
            others[features] = False
            array[:, others] = 0.0
        arrays[parameter.name] = array
    return Units(arrays)


def _model(model: KernelModel, parts: tuple[Part, ...], theta: FloatArray, b: FloatArray) -> KernelModel:
    """Other units: sums over rows, and what is known of residuals by unit, are those of the old ones."""
    calibration = model.calibration if model.outputs.reads == "labels" else None
    free = replace(
        model,
        expansion=Expansion(parts),
        theta=theta,
        b=b,
        calibration=calibration,
        memory=None,
        constraints=None,
    )
    if model.constraints is None:
        return free
    try:
        return replace(free, constraints=model.constraints)
    except ValueError:  # the parts of a unit that rises may fall
        return replace(free, constraints=replace(model.constraints, monotone={}))


def _solve(memory: Memory, kept: IntArray) -> Solution:
    """The weights of some units, from the sums over rows."""
    signs = None if memory.signs is None else memory.signs[kept]
    return solve(memory.moments.units(kept), memory.C, signs)
