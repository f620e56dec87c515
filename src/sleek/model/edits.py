"""What was changed in a model by hand, as it is kept in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.json_values import ModelFileError
from sleek._runtime.types import FloatArray

HISTORY = fields.record(
    {
        "words": fields.text(),
        "note": fields.text(),
        "before": fields.array("output", least=0),
        "after": fields.array("output", least=0),
    }
)
FIELDS = {
    "fixed": fields.several(fields.record({"unit": fields.count(0), "weights": fields.array("output")})),
    "signs": fields.several(fields.record({"unit": fields.count(0), "sign": fields.number(within=1.0)})),
    "history": fields.several(HISTORY),
}


@dataclass(frozen=True, eq=False)
class Edit:
    """One edit.

    Attributes
    ----------
    words : str
        What was done.
    note : str
        Why, in the words of whoever did it.
    before, after : arrays of shape (n_outputs,)
        The mean squared error on the training rows, in the target's own units.
    """

    words: str
    note: str
    before: FloatArray
    after: FloatArray

    def __str__(self) -> str:
        errors = ", ".join(
            f"{a:.4g} to {b:.4g}" for a, b in zip(np.sqrt(self.before), np.sqrt(self.after), strict=True)
        )
        note = f" ({self.note})" if self.note else ""
        return f"{self.words}{note}: root mean squared training error from {errors}"


@dataclass(frozen=True, eq=False)
class Edits:
    """What holds for the weights of an edited model, and how it came to be.

    Attributes
    ----------
    fixed : dict of int to tuple of float
        Units whose weights are given, one for each output.
    signs : dict of int to {1, -1}
        Units whose weights are not below, or not above, 0.
    history : tuple of Edit
        The first edit first.
    """

    fixed: dict[int, tuple[float, ...]] = field(default_factory=dict)
    signs: dict[int, int] = field(default_factory=dict)
    history: tuple[Edit, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "fixed": [{"unit": unit, "weights": list(w)} for unit, w in self.fixed.items()],
            "signs": [{"unit": unit, "sign": sign} for unit, sign in self.signs.items()],
            "history": [
                {
                    "words": one.words,
                    "note": one.note,
                    "before": one.before.tolist(),
                    "after": one.after.tolist(),
                }
                for one in self.history
            ],
        }

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_units: int, n_outputs: int) -> Self:
        """What `to_json` has written, checked."""
        found = fields.read(block, FIELDS, "edits", output=n_outputs)
        fixed = {one["unit"]: tuple(one["weights"].tolist()) for one in found["fixed"]}
        signs = {one["unit"]: int(one["sign"]) for one in found["signs"]}
        if any(unit >= n_units for unit in (*fixed, *signs)) or any(abs(one) != 1 for one in signs.values()):
            raise ModelFileError("`edits` must speak of units that there are, and of signs 1 and -1.")
        return cls(fixed, signs, tuple(Edit(**one) for one in found["history"]))


NO_EDITS = Edits()
