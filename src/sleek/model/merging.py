"""Merging models of several sites: sums over their rows are added, so that the result is that of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sleek._runtime.sums import total
from sleek.bases.expansion import Expansion, Part
from sleek.closed_form.touching import Touching
from sleek.model.drift import Drift
from sleek.model.kernel_model import KernelModel
from sleek.model.living import require_memory, solve_again
from sleek.tables.saved import column_to_json


def merge_models(models: Sequence[KernelModel]) -> KernelModel:
    """The model of the rows of all models, which must have the same units and coding.

    What is neither sums nor drift (names, facts, calibration, metadata) is that of the first. Sums are added
    in an order of their own: the result is bit for bit the same in whatever order models are given.
    """
    first = models[0]
    memories = [require_memory(model) for model in models]
    for place, model in enumerate(models[1:], start=1):
        difference = _difference(first, model)
        if difference is not None:
            raise ValueError(
                f"Models 0 and {place} cannot be merged: {difference}. Only models that share units and "
                "coding have sums that add up: let one place fit, and others begin with its model, emptied() "
                "(sleek update --alone)."
            )
    origins = [name for memory in memories for name in memory.origins]
    if len(set(origins)) < sum(len(set(memory.origins)) for memory in memories):
        raise ValueError(
            "Models cannot be merged that both have the rows of one fit, which would count twice: let all "
            "but one begin with the model emptied() (sleek update --alone)."
        )
    about = (
        memories[0].sums.origin
        if len(models) == 1
        else min((memory.sums.origin for memory in memories), key=lambda origin: origin.tobytes())
    )
    sums = [memory.sums.move(about) for memory in memories]
    sums.sort(key=lambda one: (one.high.tobytes(), one.low.tobytes()))
    touching = [memory.touching for memory in memories if memory.touching is not None]
    drifts = [memory.drift for memory in memories if memory.drift is not None]
    memory = replace(
        memories[0],
        sums=total(sums),
        n_rows=sum(memory.n_rows for memory in memories),
        drift=Drift.merge(drifts) if drifts else None,
        origins=tuple(sorted(origins)),
        faded=any(memory.faded for memory in memories),
        forgotten=tuple(sorted({name for memory in memories for name in memory.forgotten} - set(origins))),
        touching=Touching.merge(touching) if touching else None,
    )
    return solve_again(first, memory)


def _difference(one: KernelModel, other: KernelModel) -> str | None:
    """What keeps two models from being merged, None if nothing does."""
    weights = [require_memory(model).class_weights for model in (one, other)]
    if not _same_units(one.expansion, other.expansion):
        return f"they have different units ({one.expansion}; {other.expansion})"
    if (one.outputs.kind, one.outputs.to_json()) != (other.outputs.kind, other.outputs.to_json()):
        return f"their targets are coded differently ({one.outputs}; {other.outputs})"
    if not _same(*weights):
        return "their classes have different weights"
    if one.C != other.C:
        return f"they have different penalties C ({one.C:g}; {other.C:g})"
    if one.feature_names != other.feature_names or _columns(one) != _columns(other):
        return "they read different columns, or read them differently"
    if one.constraints != other.constraints:
        return f"they have different constraints ({one.constraints}; {other.constraints})"
    return None


def _columns(model: KernelModel) -> list[object] | None:
    return None if model.inputs is None else [column_to_json(column) for column in model.inputs.columns]


def _same_units(one: Expansion, other: Expansion) -> bool:
    return len(one.parts) == len(other.parts) and all(map(_same_part, one.parts, other.parts))


def _same_part(one: Part, other: Part) -> bool:
    return (
        type(one.basis) is type(other.basis)
        and one.basis.get_params() == other.basis.get_params()
        and all(np.array_equal(array, other.units[name]) for name, array in one.units.arrays.items())
    )


def _same(one: object, other: object) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other))  # type: ignore[arg-type]
