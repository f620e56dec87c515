"""Editing a fitted model: units taken out, weights fixed or held to a sign, the rest solved again exactly.

With A = G + I/C and R the sums over rows, the weights θ minimise ½θᵀAθ - θᵀR for each output. Taking units
out leaves their lines of A and R away; fixed weights θ_X move to the right side, A_FF θ_F = R_F - A_FX θ_X;
weights of a wanted sign are found by `solve_signed`. All of it needs the sums that a model
carries, and no rows. The training error follows from the sums,

    Σ s(t - y)² = tt - 2θᵀR + θᵀGθ

but the error on new rows does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.counting import how_many
from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.base import BOTH
from sleek.bases.expansion import Expansion, Part
from sleek.closed_form.moments import Moments, has_sums
from sleek.closed_form.running_sums import RunningSums
from sleek.closed_form.solve import solve_signed
from sleek.model.edits import Edit, Edits
from sleek.model.effect_parts import ColumnOfModel, looks_at
from sleek.model.effects import columns_of

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel
    from sleek.model.memory import Memory

SIGNS = {"+": 1, "-": -1, 1: 1, -1: -1}
EDITED = "before it was edited"


def edit(
    model: KernelModel,
    remove: Iterable[int | str],
    fix: Mapping[int, Any],
    sign: Mapping[int, Any],
    note: str,
) -> KernelModel:
    """See `KernelModel.edited`."""
    memory = _memory(model)
    gone, said = _removed(model, remove)
    fixed = model.edits.fixed | {_unit(model, unit): _weights(model, unit, w) for unit, w in fix.items()}
    signs = model.edits.signs | {_unit(model, unit): _sign(unit, one) for unit, one in sign.items()}
    for unit, weights in fixed.items():
        if any(w * signs.get(unit, 0) < 0 for w in weights):
            raise ValueError(f"Unit {unit} cannot have the weight {weights} and another sign.")
    said += [f"fixed unit {unit} at {', '.join(f'{w:.6g}' for w in fixed[unit])}" for unit in fix]
    said += [f"held unit {unit} to {'+' if signs[unit] > 0 else '-'}" for unit in sign]
    if not said:
        raise ValueError("There is nothing to edit: name units or columns in `remove`, `fix` or `sign`.")
    kept = np.flatnonzero(~gone)
    place = {int(unit): number for number, unit in enumerate(kept)}
    fixed = {place[unit]: w for unit, w in fixed.items() if unit in place}
    signs = {place[unit]: one for unit, one in signs.items() if unit in place}
    moments = memory.moments.units(kept)
    theta, b = solve_edited(model, moments, memory.C, fixed, _all_signs(memory, kept, signs))
    errors = (
        training_error(model, memory.moments, model.theta),
        training_error(model, moments, theta),
    )
    history = (*model.edits.history, Edit("; ".join(said), str(note), *errors))
    facts = model.facts
    if facts is not None and EDITED not in facts.expected.method:
        expected = replace(facts.expected, method=f"{facts.expected.method}, {EDITED}")
        facts = replace(facts, expected=expected)
    return replace(
        model,
        expansion=_taken(model.expansion, ~gone),
        theta=theta,
        b=b,
        memory=_narrowed(memory, kept),
        calibration=model.calibration if model.outputs.reads == "labels" else None,
        edits=Edits(fixed, signs, history),
        facts=facts,
    )


def _memory(model: KernelModel) -> Memory:
    if not has_sums(model.outputs.loss):
        raise ValueError(
            "Only models of squared error are edited exactly: sums over rows do not determine the weights of "
            "another loss. Fit with loss='squared_error' (sleek fit --updatable)."
        )
    if model.memory is None or model.memory.n_rows == 0:
        raise ValueError(
            "This model has no sums over rows to solve its weights from: save it with moments=True "
            "(sleek fit --updatable) to edit it later."
        )
    return model.memory


def _removed(model: KernelModel, remove: Iterable[int | str]) -> tuple[Any, list[str]]:
    """Which units go, and in words why."""
    gone, said = np.zeros(model.n_units, dtype=bool), []
    for one in [remove] if isinstance(remove, int | str) else remove:
        if isinstance(one, str):
            units = _units_of_column(model, one)
            gone |= units
            said.append(f"took out column {one} ({how_many(int(units.sum()), 'unit')})")
        else:
            gone[_unit(model, one)] = True
            said.append(f"took out unit {int(one)}")
    if gone.all():
        raise ValueError("A model needs at least one unit: not all can be taken out.")
    return gone, said


def _units_of_column(model: KernelModel, name: str) -> Any:
    """The units that look at a column."""
    columns: list[ColumnOfModel] = [column for column in columns_of(model) if column.name == name]
    if not columns:
        known = ", ".join(repr(column.name) for column in columns_of(model)[:8])
        raise ValueError(f"The model reads no column {name!r}, but {known}.")
    return np.concatenate([looks_at(part, columns)[0] for part in model.parts])


def _unit(model: KernelModel, unit: Any) -> int:
    if isinstance(unit, bool) or not isinstance(unit, int | np.integer) or not 0 <= unit < model.n_units:
        raise ValueError(f"A unit is a number from 0 to {model.n_units - 1}, got {unit!r}.")
    return int(unit)


def _weights(model: KernelModel, unit: Any, weights: Any) -> tuple[float, ...]:
    found = np.asarray(weights, dtype=np.float64).reshape(-1)
    if found.shape != model.b.shape or not np.isfinite(found).all():
        raise ValueError(
            f"`fix` must have {how_many(len(model.b), 'finite number')} for unit {unit}, got {weights!r}."
        )
    return tuple(found.tolist())


def _sign(unit: Any, sign: Any) -> int:
    if isinstance(sign, bool) or sign not in SIGNS:
        raise ValueError(f"`sign` must be '+' or '-' for unit {unit}, got {sign!r}.")
    return SIGNS[sign]


def _taken(expansion: Expansion, kept: Any) -> Expansion:
    """Some of the units."""
    parts = []
    for part, place in zip(expansion.parts, expansion.places(), strict=True):
        if kept[place].any():
            parts.append(Part(part.basis, part.basis.take(part.units, kept[place])))
    return Expansion(tuple(parts))


def _narrowed(memory: Memory, kept: IntArray) -> Memory:
    """The sums of some of the units."""
    sums, m = memory.sums, memory.sums.n_units
    place = np.concatenate([[0], 1 + kept, np.arange(1 + m, len(sums.high))])
    high, low = (array[np.ix_(place, place)] for array in (sums.high, sums.low))
    return replace(memory, sums=RunningSums(high, low, sums.origin[place[1:] - 1], len(kept)))


def solve_edited(
    model: KernelModel,
    moments: Moments,
    C: float,
    fixed: Mapping[int, tuple[float, ...]],
    signs: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """theta and b in the user's units, where some weights are given and others have a sign (m,)."""
    m, k = moments.R.shape
    A, unit = moments.G + np.eye(m) / C, _scale(model)
    theta = np.zeros((m, k))
    given = np.array(sorted(fixed), dtype=np.int64)
    free = np.setdiff1d(np.arange(m), given)
    theta[given] = np.array([fixed[int(j)] for j in given]).reshape(len(given), k) / unit
    right = moments.R[free] - A[np.ix_(free, given)] @ theta[given]
    for output in range(k):
        theta[free, output] = solve_signed(A[np.ix_(free, free)], right[:, output], signs[free])
    decoded, b = model.outputs.decode(theta, moments.mean_t - moments.mean_phi @ theta)
    decoded[given] = np.array([fixed[int(j)] for j in given]).reshape(len(given), k)
    return decoded, b


def _all_signs(memory: Memory, kept: IntArray, signs: Mapping[int, int]) -> IntArray:
    """The signs that weights must have: those of a monotone model and one's own; 0 if both contradict."""
    found = np.zeros(len(kept), dtype=np.int64) if memory.signs is None else memory.signs[kept].copy()
    for unit, sign in signs.items():
        found[unit] = sign if found[unit] in (0, sign) else BOTH
    return found


def training_error(model: KernelModel, moments: Moments, theta: FloatArray) -> FloatArray:
    """The mean squared error of weights (in the user's units) on the rows of the sums, for each output."""
    unit = _scale(model)
    own = theta / unit
    squares = moments.tt - 2.0 * np.sum(own * moments.R, axis=0) + np.sum(own * (moments.G @ own), axis=0)
    found: FloatArray = np.maximum(squares, 0.0) / moments.weight * unit**2
    return found


def _scale(model: KernelModel) -> FloatArray:
    """What weights of encoded targets are multiplied by, (n_outputs,)."""
    k = len(model.b)
    scale: FloatArray = model.outputs.decode(np.ones((1, k)), np.zeros(k))[0][0]
    return scale
