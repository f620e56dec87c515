"""How sure a model is of its predictions: probabilities and sets of classes, intervals of numbers.

`KernelModel` has a method for each; they are computed here, from the model's outputs and its calibration.
Memory on the way does not grow with the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration import Calibration, ClassCalibration, NumberCalibration, Spread
from sleek.calibration.groups import check_groups
from sleek.outputs.base import Outputs
from sleek.rows.source import rows_per_block

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel
    from sleek.tables.encoded import EncodedTable

UNCALIBRATED = (
    "This model has no calibration: it was saved before sleek had one. Fit again to get probabilities and "
    "intervals."
)
Kind = TypeVar("Kind", bound=Calibration)


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """What a model's calibration says of rows X, a finite float array or a table, which are not checked."""

    model: KernelModel

    @property
    def class_calibration(self) -> ClassCalibration:
        """The calibration of a classifier; an error says why there is none."""
        return self._calibration(ClassCalibration)

    @property
    def number_calibration(self) -> NumberCalibration:
        """The calibration of a regression; an error says why there is none."""
        return self._calibration(NumberCalibration)

    def _calibration(self, kind: type[Kind]) -> Kind:
        outputs, calibration = self.model.outputs, self.model.calibration
        if outputs.reads != kind.reads:
            raise ValueError(f"{kind.says}: this model predicts {outputs.describe()}.")
        if not isinstance(calibration, kind):
            raise ValueError(UNCALIBRATED)
        return calibration

    # -- classes

    def probabilities(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """The probability of every class for each row, (n, n_classes)."""
        calibration, outputs = self.class_calibration, self.model.outputs_unchecked
        return self._in_blocks(X, lambda rows: calibration.probabilities(outputs(rows)), n_jobs)

    def log_probabilities(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """Their logarithms."""
        calibration, outputs = self.class_calibration, self.model.outputs_unchecked
        return self._in_blocks(X, lambda rows: calibration.log_probabilities(outputs(rows)), n_jobs)

    # -- numbers

    def spread(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> Spread:
        """Predictions, and how large residuals are there."""
        self.number_calibration  # noqa: B018  (its error comes before any work)
        return Spread(self.evidence(X, n_jobs))

    def intervals(self, spread: Spread, confidence_level: Any, groups: Any = None) -> FloatArray:
        """Lower and upper ends, in the shape of `predict_interval`."""
        ends = self._ends(spread, confidence_level, groups)
        return ends[:, 0] if self.model.outputs.flat else ends

    def _ends(self, spread: Spread, confidence_level: Any, groups: Any = None) -> FloatArray:
        """Lower and upper ends, none of them below what can be."""
        ends = self.number_calibration.intervals(spread, confidence_level, groups)
        return np.maximum(ends, self.model.outputs.least)

    def quantiles(self, spread: Spread, quantiles: Any) -> FloatArray:
        """Quantiles, in the shape of `predict_quantiles`."""
        levels = np.maximum(self.number_calibration.quantiles(spread, quantiles), self.model.outputs.least)
        return levels[:, 0] if self.model.outputs.flat else levels

    def deviations(self, spread: Spread) -> FloatArray:
        """Standard deviations, in the shape of a prediction."""
        return self.model.outputs.scores(self.number_calibration.standard_deviations(spread))

    # -- both

    def evidence(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """What `conformalize` compares targets with; see `Calibration.evidence`."""
        model = self.model
        if model.calibration is None:
            raise ValueError(UNCALIBRATED)
        calibration = model.calibration

        def evidence(rows: AnyArray) -> FloatArray:
            Phi = model.features(rows)
            return calibration.evidence(model.outputs.predictions(Phi @ model.theta + model.b), Phi, rows)

        return self._in_blocks(X, evidence, n_jobs)

    def conformalize(self, evidence: FloatArray, y: Any, weights: FloatArray, groups: Any) -> KernelModel:
        """The model with quantiles of other rows' errors, each as many observations as it weighs."""
        if self.model.calibration is None:
            raise ValueError(UNCALIBRATED)
        made = conformalize(self.model.calibration, self.model.outputs, evidence, y, weights, groups)
        return replace(self.model, calibration=made)

    def columns(
        self, proba: bool, interval: float | None, scores: bool
    ) -> Callable[..., dict[str, AnyArray]]:
        """A function of rows that gives columns to write: predictions, and what else is asked for.

        Its keys are what the columns' names end in, "" for predictions. Units are evaluated once. What the
        model cannot say is refused before any rows are read.
        """
        model = self.model
        if scores and not model.outputs.labels:
            raise ValueError("Scores are for classifiers: the predictions of this model are its outputs.")
        if proba:
            self.class_calibration  # noqa: B018
        if interval is not None:
            nothing = np.zeros((1, len(model.b)))
            self.intervals(Spread.of(nothing, nothing), interval)

        def columns(X: AnyArray, n_jobs: int = 1) -> dict[str, AnyArray]:
            spread = None if interval is None else self.spread(X, n_jobs)
            if spread is None:
                Y = model.outputs_unchecked(X, n_jobs)
                found = {"": model.answers(Y)}
            else:
                Y = spread.predictions
                found = {"": model.outputs.scores(Y)}
            if scores:
                words = [""] if model.outputs.flat else [f"_{word}" for word in model.outputs.words]
                found |= {f"_score{word}": Y[:, k] for k, word in enumerate(words)}
            if proba:
                P = self.class_calibration.probabilities(Y)
                found |= {f"_probability_{label}": P[:, k] for k, label in enumerate(model.outputs.labels)}
            if spread is not None:
                ends = self._ends(spread, interval)
                words = [""] if model.outputs.flat else [f"_{k}" for k in range(len(model.b))]
                for k, word in enumerate(words):
                    found |= {f"{word}_low": ends[:, k, 0], f"{word}_high": ends[:, k, 1]}
            return found

        return columns

    def _in_blocks(
        self, X: AnyArray | EncodedTable, function: Callable[[AnyArray], FloatArray], n_jobs: int
    ) -> FloatArray:
        """A function of some rows at a time, so that memory on the way is bounded."""
        size = rows_per_block(len(X))
        with single_threaded_blas():
            first = function(X[:size])  # a table becomes features
            if len(X) <= size:
                return first
            found = np.empty((len(X), *first.shape[1:]), dtype=first.dtype)
            found[:size] = first

            def fill(start: int) -> None:
                found[start : start + size] = function(X[start : start + size])

            Workers(n_jobs).map_list(fill, range(size, len(X), size))
        return found


def conformalize(
    calibration: Kind, outputs: Outputs, evidence: FloatArray, y: Any, weights: FloatArray, groups: Any
) -> Kind:
    """The same probabilities and noise, with the quantiles of errors of held-out rows.

    Parameters
    ----------
    evidence : array of shape (n, …)
        What `Calibration.evidence` says of the rows.
    y : array-like
        The rows' targets.
    weights : array of shape (n,)
        As how many observations each row counts.
    groups : array-like of shape (n,) or None
    """
    n = len(evidence)
    if len(np.shape(y)) == 0 or len(y) != n:
        count = "none" if len(np.shape(y)) == 0 else len(y)
        raise ValueError(f"There must be a target for each of {n} rows, got {count}.")
    if n == 0:
        raise ValueError("There must be rows to conformalize with, got none.")
    groups = None if groups is None else check_groups(groups, n)
    return calibration.with_targets(evidence, outputs.read_targets(y, n), weights, groups)
