"""Rows that come into a model or leave it: what they are checked for, and what a pass over them brings."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.closed_form.exact_sums import ExactSums
from sleek.outputs.base import Outputs
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.labels import Labels
from sleek.rows.open import of_one_kind
from sleek.tables.columns import LevelColumn
from sleek.tables.encoded import EncodedTable
from sleek.tables.inputs import Inputs

SLACK = 1e-9  # of all weight: less below 0 is rounding


@dataclass(frozen=True, eq=False)
class Added:
    """What some rows bring; `+` puts later rows behind earlier ones, which fade meanwhile."""

    sums: ExactSums
    n_rows: int
    errors: list[FloatArray]  # of the model that has not seen them
    fading: float

    def __add__(self, later: Added) -> Added:
        sums = self.sums if self.fading == 1.0 else self.sums.faded(self.fading**later.n_rows)
        return Added(sums + later.sums, self.n_rows + later.n_rows, self.errors + later.errors, self.fading)


def check_fading(value: Any) -> float:
    """A forgetting factor above 0, at most 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) <= 1:
        raise ValueError(
            "`forgetting_factor` must be above 0 and at most 1, where 1 forgets nothing and 0.999 remembers "
            f"about 1,000 rows, got {value!r}."
        )
    return float(value)


def known_targets(outputs: Outputs, y: Any, n_rows: int) -> Any:
    """Targets as a model's outputs encode them: `Labels` of its classes, or floats (n, k)."""
    if y is None:
        raise ValueError("There must be a target for every row: y is None.")
    if outputs.reads == "labels":
        found = y if isinstance(y, np.ndarray) else np.asarray(y)
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if found.shape != (n_rows,):
            raise ValueError(
                f"There must be a class label for each of {n_rows} rows, got shape {found.shape}."
            )
        return _known_labels(outputs, of_one_kind(found))
    try:
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"Targets must be numbers, got {y!r:.80}.") from None
    numbers = numbers.reshape(len(numbers), -1) if numbers.ndim else numbers
    if numbers.shape != (n_rows, outputs.n_outputs) or not np.isfinite(numbers).all():
        raise ValueError(
            f"Targets must be finite numbers, {outputs.n_outputs} for each of {n_rows} rows, got shape "
            f"{np.shape(y)}{'' if np.isfinite(numbers).all() else ' with NaN or infinity'}."
        )
    return numbers


def _known_labels(outputs: Outputs, y: AnyArray) -> Labels:
    """Labels, as places among the classes where these are known."""
    if not isinstance(outputs, ClassOutputs):
        return Labels.of(y)
    if len(y) == 1 and y.item() in outputs.places:  # one row at a time is to be fast
        return Labels(outputs.classes, np.array([outputs.places[y.item()]]))
    return in_classes(outputs, Labels.of(y))


def in_classes(outputs: Outputs, labels: Labels) -> Labels:
    """The same labels, as places among a model's classes: it has no column of weights for another."""
    if not isinstance(outputs, ClassOutputs):
        return labels
    codes = outputs.codes(labels)
    if len(codes) and codes.min() < 0:
        strange = labels.values[labels.codes[codes < 0]].tolist()[0]
        raise ValueError(
            f"The class {strange!r} is none of the model's {outputs}, and a model cannot learn new classes: "
            "fit again with rows of all classes, or name them all in `classes` of the first partial_fit."
        )
    return Labels(outputs.classes, codes)


def that_count(rows: Any, targets: Any, s: FloatArray) -> tuple[Any, Any, FloatArray]:
    """The rows of positive weight."""
    if (s > 0).all():
        return rows, targets, s
    kept = np.flatnonzero(s > 0)
    some = rows.take(kept) if isinstance(rows, EncodedTable) else rows[kept]
    return some, targets[kept], s[kept]


def check_forgettable(inputs: Inputs | None) -> None:
    """No column whose levels stand for targets: in a fit, a row's own target is left out of its number."""
    for column in () if inputs is None else inputs.columns:
        if isinstance(column, LevelColumn):
            raise ValueError(
                f"Column {column.name!r} has many levels, which stand for numbers learnt from the targets, "
                "in the fit from those of other rows: what a row was then is not kept, so that it cannot "
                "be forgotten exactly. Fit again without the rows, or without the column."
            )


def check_left(outputs: Outputs, before: ExactSums, taken: ExactSums, left: ExactSums) -> None:
    """Rows to forget are no more than were learnt, in all and of each class."""
    slack = SLACK * before.weight
    if not left.weight > slack:
        raise ValueError(
            f"Rows of weight {taken.weight:g} cannot be forgotten by a model that has learnt rows of weight "
            f"{before.weight:g}: something must be left. emptied() leaves the units alone."
        )
    if not isinstance(outputs, ClassOutputs):
        return
    for number, label in enumerate(outputs.classes.tolist()):
        has, takes, lacks = (
            _class_weight(sums, number, len(outputs.classes)) for sums in (before, taken, left)
        )
        if lacks < -slack:
            raise ValueError(
                f"Rows of class {label!r} of weight {takes:g} cannot be forgotten by a model that has learnt "
                f"such rows of weight {has:g}: these rows were not all learnt, or with other weights."
            )


def _class_weight(sums: ExactSums, number: int, n_classes: int) -> float:
    """The weight of a class's rows: of codes t = ±1, (Σs + Σst)/2."""
    column = 0 if n_classes == 2 else number
    place = sums.n_units + column
    coded = float(sums.rounded[0, 1 + place] + sums.weight * sums.origin[place])
    return 0.5 * (sums.weight + (-coded if n_classes == 2 and number == 0 else coded))
