"""The interface of a calibration: what errors of held-out rows say about those of new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sleek._runtime.json_values import ModelFileError
from sleek._runtime.types import AnyArray, FloatArray


class Calibration(ABC):
    """How sure predictions are, learnt from held-out rows."""

    kind: ClassVar[str]  # its name in model files, that of the outputs it is for
    reads: ClassVar[str]  # the targets of such outputs, as in `Outputs`
    says: ClassVar[str]  # what for whom, as the first half of an error

    def decision_scores(self, scores: FloatArray) -> FloatArray:
        """The outputs that predictions follow from: the scores, unless a user's calibrator reorders them."""
        return scores

    def with_moments(
        self, G: FloatArray, mean: FloatArray, weight: float, C: float, observation: float
    ) -> Self:
        """The same for a model of other rows with these moments; what depends on them is computed again."""
        return self

    @abstractmethod
    def evidence(self, Y: FloatArray, Phi: FloatArray, X: FloatArray) -> FloatArray:
        """What `with_targets` compares targets with: outputs Y (n, k), or a `Spread`, (n, k, 2)."""

    @abstractmethod
    def with_targets(
        self, evidence: FloatArray, targets: Any, weights: FloatArray, groups: AnyArray | None = None
    ) -> Self:
        """The same probabilities or noise, with quantiles of these rows' errors: split conformal prediction.

        Parameters
        ----------
        evidence : array of shape (n, …)
            That of the rows.
        targets : Labels or array of shape (n, k)
            As `Outputs.read_targets` gives them.
        weights : array of shape (n,)
            As how many observations each row counts.
        groups : array of shape (n,) or None
            Levels are then kept for each group by itself.
        """

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs, as plain values."""

    @classmethod
    @abstractmethod
    def from_json(cls, block: Mapping[str, Any], n_units: int, n_outputs: int, n_features: int) -> Self:
        """What `to_json` wrote, for a model of so many units, outputs and features, checked."""


def calibration_from_json(
    block: Mapping[str, Any], n_units: int, n_outputs: int, n_features: int, kind: str
) -> Calibration:
    """The calibration that a file describes, for outputs of a kind."""
    values = dict(block)
    found = values.pop("kind", None)
    kinds = {known.kind: known for known in Calibration.__subclasses__()}
    if found != kind or found not in kinds:
        raise ModelFileError(
            f"`calibration.kind` must be {kind!r}, as that of the outputs, got {found!r:.80}."
        )
    return kinds[found].from_json(values, n_units, n_outputs, n_features)
