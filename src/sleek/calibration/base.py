"""What every calibration is: numbers that travel with a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sleek._runtime.json_values import ModelFileError
from sleek._runtime.types import FloatArray


class Calibration(ABC):
    """What rows that took no part in a fit tell of new ones."""

    kind: ClassVar[str]  # its name in model files, that of the outputs it is for

    def deciding(self, scores: FloatArray) -> FloatArray:
        """Outputs that say what is predicted: probabilities of another's making may correct the scores."""
        return scores

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs, as plain values."""

    @classmethod
    @abstractmethod
    def from_json(cls, block: Mapping[str, Any], n_units: int, n_outputs: int) -> Self:
        """What `to_json` wrote, for a model of so many units and outputs, checked."""


def calibration_from_json(block: Mapping[str, Any], n_units: int, n_outputs: int, kind: str) -> Calibration:
    """The calibration that a file describes, for outputs of a kind."""
    values = dict(block)
    found = values.pop("kind", None)
    kinds = {known.kind: known for known in Calibration.__subclasses__()}
    if found != kind or found not in kinds:
        raise ModelFileError(
            f"`calibration.kind` must be {kind!r}, as that of the outputs, got {found!r:.80}."
        )
    return kinds[found].from_json(values, n_units, n_outputs)
