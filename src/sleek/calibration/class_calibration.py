"""Probabilities of classes, and sets of classes that hold the true one with a wanted probability.

A row fits a class badly by 1 - P(class). The set of a row has every class that it fits no worse than the
threshold, the quantile of 1 - P(true class) over held-out rows, and always the most probable class, so that
no set is empty. With a threshold for each class, the level holds for the rows of every class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.calibration.base import Calibration
from sleek.calibration.groups import Grouped
from sleek.calibration.monotone import MonotoneCalibrator
from sleek.calibration.quantiles import Quantiles, check_level


class Calibrator(Protocol):
    """What makes probabilities of scores: any classifier of scikit-learn does.

    Scores are (n, 1) for two classes, else (n, n_classes); classes are 0, 1, …
    """

    def fit(self, scores: FloatArray, codes: IntArray, sample_weight: FloatArray) -> Any:
        """Learn from the scores of held-out rows."""

    def predict_proba(self, scores: FloatArray) -> AnyArray:
        """The probability of every class, (n, n_classes)."""


FIELDS = {
    "probabilities": fields.result_of(MonotoneCalibrator.from_json),
    "misfits": fields.result_of(Grouped.from_json),
    "misfits_by_class": fields.several(fields.result_of(Quantiles.from_json), "label"),
}


@dataclass(frozen=True, eq=False)
class ClassCalibration(Calibration):
    """Probabilities and sets for the scores of a classifier."""

    n_classes: int
    calibrator: Any  # a `Calibrator`
    misfits: Grouped  # of 1 - P(true class)
    by_class: tuple[Quantiles, ...]  # the same for rows of each class

    kind: ClassVar[str] = "classes"
    reads: ClassVar[str] = "labels"
    says: ClassVar[str] = "Probabilities and sets are for classifiers"

    @classmethod
    def learn(
        cls,
        scores: FloatArray,
        codes: IntArray,
        weights: FloatArray,
        calibrator: Calibrator | None = None,
        log_odds: bool = False,
    ) -> Self:
        """From scores (n, k) of held-out rows, each as many observations as it weighs.

        A score that is not finite counts as 0. `log_odds` says that scores are log-odds already.
        """
        scores = np.nan_to_num(scores, nan=0.0, posinf=0.0, neginf=0.0)
        n_classes = max(2, scores.shape[1])
        if calibrator is not None and not all(hasattr(calibrator, name) for name in ("fit", "predict_proba")):
            raise ValueError(
                "`calibrator` must have the methods `fit` and `predict_proba`, or be None for sleek's own, "
                f"got {calibrator!r:.80}."
            )
        if calibrator is None:
            ours: Any = MonotoneCalibrator(log_odds)
        else:
            from sklearn.base import clone

            ours = clone(calibrator, safe=False)
        ours.fit(scores, codes, sample_weight=weights)
        plain = cls(n_classes, ours, Grouped.none(), ())
        return plain.with_misfits(scores, codes, weights)

    def with_misfits(
        self, scores: FloatArray, codes: IntArray, weights: FloatArray, groups: AnyArray | None = None
    ) -> Self:
        """The same probabilities, and thresholds from these rows."""
        misfit = 1.0 - self.probabilities(scores)[np.arange(len(codes)), codes]
        by_class = tuple(Quantiles.of(misfit[codes == k], weights[codes == k]) for k in range(self.n_classes))
        return replace(self, misfits=Grouped.of(misfit, weights, groups), by_class=by_class)

    def evidence(self, Y: FloatArray, Phi: FloatArray, X: FloatArray) -> FloatArray:
        return Y

    def with_targets(
        self, evidence: FloatArray, targets: Any, weights: FloatArray, groups: AnyArray | None = None
    ) -> Self:
        return self.with_misfits(evidence, targets.codes, weights, groups)

    @property
    def keeps_order(self) -> bool:
        """Whether the class of the largest score is always the most probable one."""
        return isinstance(self.calibrator, MonotoneCalibrator)

    def decision_scores(self, scores: FloatArray) -> FloatArray:
        if self.keeps_order:
            return scores
        P = self.probabilities(scores)
        return P[:, 1:] - P[:, :1] if self.n_classes == 2 else P

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """The probability of every class, (n, n_classes)."""
        P = np.array(self.calibrator.predict_proba(scores), dtype=np.float64)
        if P.shape != (len(scores), self.n_classes):
            raise ValueError(
                f"The calibrator must give probabilities of shape {(len(scores), self.n_classes)}, got "
                f"{P.shape}."
            )
        if self.keeps_order:  # also where rounding has made two of them equal
            winner = (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
            tied = np.flatnonzero(P.argmax(axis=1) != winner)
            P[tied, winner[tied]] = np.nextafter(P[tied].max(axis=1), 2.0)
        return P

    def log_probabilities(self, scores: FloatArray) -> FloatArray:
        """Their logarithms."""
        if self.keeps_order:
            return np.asarray(self.calibrator.predict_log_proba(scores))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities(scores)))

    def sets(
        self,
        P: FloatArray,
        confidence_level: Any,
        class_conditional: bool = False,
        groups: AnyArray | None = None,
    ) -> AnyArray:
        """Whether each class is in the set of each row, (n, n_classes), for their probabilities P."""
        level = check_level(confidence_level)
        if class_conditional:
            if self.misfits.labels is not None or groups is not None:
                raise ValueError("Sets are promised for each class or for each group, not for both.")
            most = np.array(
                [found.at_least(level, f" of class number {k}") for k, found in enumerate(self.by_class)]
            )
        else:
            most = self.misfits.at_least(level, groups, len(P))[:, None]
        chosen: AnyArray = most >= 1.0 - P
        chosen[np.arange(len(P)), P.argmax(axis=1)] = True
        return chosen

    def to_json(self) -> dict[str, Any]:
        if not self.keeps_order:
            raise ValueError(
                f"A model with a calibrator of your own, {type(self.calibrator).__name__}, cannot be saved "
                "as JSON: fit with calibrator=None, or pickle the estimator."
            )
        return {
            "probabilities": self.calibrator.to_json(),
            "misfits": self.misfits.to_json(),
            "misfits_by_class": [found.to_json() for found in self.by_class],
        }

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_units: int, n_outputs: int, n_features: int) -> Self:
        n_classes = max(2, n_outputs)
        found = fields.read(block, FIELDS, "calibration", label=n_classes)
        return cls(n_classes, found["probabilities"], found["misfits"], found["misfits_by_class"])
