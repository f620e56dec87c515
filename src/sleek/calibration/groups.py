"""Quantiles for all rows together, or for each group of rows by itself (Mondrian)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.json_values import ModelFileError, labels_from_json, labels_to_json
from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration.quantiles import Quantiles

FIELDS = {
    "quantiles": fields.several(fields.result_of(Quantiles.from_json)),
    "groups": fields.nullable(fields.record({"type": fields.anything(), "labels": fields.anything()})),
}


@dataclass(frozen=True, eq=False)
class Grouped:
    """One distribution, or one for each group.

    >>> found = Grouped.of(np.array([1.0, 2.0, 8.0, 9.0]), np.ones(4), np.array(["a", "a", "b", "b"]))
    >>> found.at_least(0.5, np.array(["b", "a", "b"]), 3)
    array([9., 2., 9.])
    """

    labels: AnyArray | None  # the groups, sorted
    parts: tuple[Quantiles, ...]

    @classmethod
    def none(cls) -> Self:
        """Of no rows."""
        return cls(None, (Quantiles(0.0, np.empty(0), np.empty(0)),))

    @classmethod
    def of(
        cls,
        values: FloatArray,
        weights: FloatArray,
        groups: AnyArray | None = None,
    ) -> Self:
        """The distribution of some rows' numbers, or that of each group."""
        if groups is None:
            return cls(None, (Quantiles.of(values, weights),))
        labels, place = np.unique(groups, return_inverse=True)
        return cls(
            labels,
            tuple(Quantiles.of(values[place == g], weights[place == g]) for g in range(len(labels))),
        )

    def at_least(self, level: float, groups: AnyArray | None, n_rows: int) -> FloatArray:
        """For each of so many rows, the number not exceeded in at least this share of rows like it."""
        if self.labels is None:
            if groups is not None:
                raise ValueError("Groups were given, but none when the model was calibrated: leave them out.")
            return np.full(n_rows, self.parts[0].at_least(level))
        if groups is None:
            raise ValueError(
                f"The model was calibrated for groups ({_some(self.labels)}): say of which each row is by "
                "groups=…"
            )
        groups = check_groups(groups, n_rows)
        place = np.searchsorted(self.labels, groups)
        strange = (place == len(self.labels)) | (
            self.labels[np.minimum(place, len(self.labels) - 1)] != groups
        )
        if strange.any():
            raise ValueError(
                f"The model was calibrated for the groups {_some(self.labels)}, got "
                f"{groups[strange].tolist()[0]!r}."
            )
        wanted = np.unique(place)
        found = {g: self.parts[g].at_least(level, f" of group {self.labels.tolist()[g]!r}") for g in wanted}
        return np.array([found[g] for g in place])

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        groups = None if self.labels is None else labels_to_json(self.labels)
        return {"groups": groups, "quantiles": [part.to_json() for part in self.parts]}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], where: str) -> Self:
        """What `to_json` wrote, checked."""
        found = fields.read(block, FIELDS, where)
        labels, parts = None, found["quantiles"]
        if found["groups"] is not None:
            labels = labels_from_json(found["groups"])
            if labels.tolist() != sorted(labels.tolist()):
                raise ModelFileError(f"`{where}.groups` must be in order.")
        if len(parts) != (1 if labels is None else len(labels)):
            raise ModelFileError(f"`{where}` must have one entry of quantiles, or one for each group.")
        return cls(labels, parts)


def check_groups(groups: Any, n_rows: int) -> AnyArray:
    """A label for each row: text or numbers."""
    found = np.asarray(groups)
    if found.shape != (n_rows,):
        raise ValueError(f"`groups` must have one label for each of {n_rows} rows, got shape {found.shape}.")
    if found.dtype.kind == "O":
        if not all(isinstance(label, str) for label in found.tolist()):
            raise ValueError("`groups` must be all text or all numbers.")
        found = found.astype(str)
    return found


def _some(labels: AnyArray) -> str:
    words = [repr(label) for label in labels.tolist()[:5]]
    return ", ".join(words) + (" …" if len(labels) > 5 else "")
