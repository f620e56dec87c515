"""How sure a model is: probabilities and sets of classes, intervals of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration.classes import ClassCalibration
from sleek.calibration.numbers import NumberCalibration
from sleek.model.conformal import conformalized
from sleek.model.given import rows_of
from sleek.outputs.classes import ClassOutputs
from sleek.rows.source import rows_per_block

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel
    from sleek.tables.encoded import EncodedTable

UNCALIBRATED = (
    "This model has no calibration: it was saved before sleek had one. Fit again to get probabilities and "
    "intervals."
)


class Uncertain:
    """The part of `KernelModel` that says how sure it is; memory on the way does not grow with the rows."""

    def predict_proba(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The probability of every class for each row, (n, n_classes), in the order of the labels.

        The most probable class is the one that is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
        n_jobs : int, default=1
        """
        return self.probabilities_unchecked(self._rows(X), n_jobs)

    def predict_log_proba(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The logarithm of every class's probability for each row, (n, n_classes)."""
        return self.log_probabilities_unchecked(self._rows(X), n_jobs)

    def predict_set(
        self,
        X: Any,
        confidence_level: float = 0.9,
        class_conditional: bool = False,
        groups: Any = None,
        n_jobs: int = 1,
    ) -> AnyArray:
        """Classes among which the true one is with a wanted probability; see `LowRankLSSVC.predict_set`."""
        P = self.predict_proba(X, n_jobs)
        return self.class_calibration.sets(P, confidence_level, class_conditional, groups)

    def predict_interval(
        self, X: Any, confidence_level: float | list[float] = 0.9, groups: Any = None, n_jobs: int = 1
    ) -> FloatArray:
        """Ends between which the number is with a wanted probability; see `LowRankLSSVR.predict_interval`."""
        return self.intervals_of(self.spreads_unchecked(self._rows(X), n_jobs), confidence_level, groups)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95), n_jobs: int = 1) -> FloatArray:
        """Quantiles of the number for each row; see `LowRankLSSVR.predict_quantiles`."""
        return self.quantiles_of(self.spreads_unchecked(self._rows(X), n_jobs), quantiles)

    def predict_std(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The standard deviation of the error to expect for each row."""
        return self.deviations_of(self.spreads_unchecked(self._rows(X), n_jobs))

    def conformalize(self, X: Any, y: Any, groups: Any = None) -> KernelModel:
        """The same model with levels that are kept for certain, by rows that the fit has not seen.

        For a new row in random order with these, whatever their distribution, sets have the true class, and
        intervals the true number, with at least the confidence level asked for. Predictions and probabilities
        stay what they are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        groups : array-like of shape (n_samples,), default=None
            Levels are then kept for each group of rows by itself, and predictions ask for the groups too.
        """
        found = self.judged_unchecked(self._rows(X))
        return self.conformalized(found, y, np.ones(len(found)), groups)

    # -- from what `…_unchecked` says of rows

    def conformalized(self, found: FloatArray, y: Any, weights: FloatArray, groups: Any) -> KernelModel:
        """From what `judged_unchecked` says of rows, their targets, and how many observations each is."""
        classes = isinstance(self._own().outputs, ClassOutputs)
        calibration = self.class_calibration if classes else self.number_calibration
        made = conformalized(calibration, self._own().outputs, found, y, weights, groups)
        return replace(self._own(), calibration=made)

    def intervals_of(self, found: FloatArray, confidence_level: Any, groups: Any) -> FloatArray:
        """Intervals from predictions and spreads."""
        Y, spreads = np.split(found, 2, axis=1)
        ends = self.number_calibration.intervals(Y, spreads, confidence_level, groups)
        return ends[:, 0] if self._own().outputs.flat else ends

    def quantiles_of(self, found: FloatArray, quantiles: Any) -> FloatArray:
        """Quantiles from predictions and spreads."""
        Y, spreads = np.split(found, 2, axis=1)
        levels = self.number_calibration.quantiles(Y, spreads, quantiles)
        return levels[:, 0] if self._own().outputs.flat else levels

    def deviations_of(self, found: FloatArray) -> FloatArray:
        """Standard deviations from predictions and spreads."""
        spreads = np.split(found, 2, axis=1)[1]
        return self._own().outputs.scores(self.number_calibration.standard_deviations(spreads))

    # -- unchecked, as rows of any place are evaluated

    def probabilities_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """The probabilities for a finite float array, without a look at it."""
        calibration, outputs = self.class_calibration, self._own().outputs_unchecked
        return self._in_blocks(X, lambda rows: calibration.probabilities(outputs(rows)), n_jobs)

    def log_probabilities_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """Their logarithms."""
        calibration, outputs = self.class_calibration, self._own().outputs_unchecked
        return self._in_blocks(X, lambda rows: calibration.log_probabilities(outputs(rows)), n_jobs)

    def spreads_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """Predictions, and beside them what a residual there is a multiple of: (n, 2·n_outputs)."""
        calibration, model = self.number_calibration, self._own()

        def both(rows: AnyArray) -> FloatArray:
            Phi = model.features(rows)
            return np.column_stack([Phi @ model.theta + model.b, calibration.spreads(Phi)])

        return self._in_blocks(X, both, n_jobs)

    def saying(
        self, proba: bool = False, interval: float | None = None, scores: bool = False
    ) -> Callable[..., Any]:
        """A function of rows, unchecked, as files are written with: predictions, or a dictionary of columns.

        Its keys are "" for predictions, and what the names of further columns end in.
        """
        model = self._own()
        if not proba and interval is None and not scores:
            return model.predict_unchecked
        if scores and model.outputs.reads != "labels":
            raise ValueError("Scores are for classifiers: the predictions of this model are its outputs.")
        if proba:
            self.class_calibration  # noqa: B018  (it may have a sentence, which comes before any work)
        if interval is not None:
            self.intervals_of(np.zeros((1, 2 * len(model.b))), interval, None)

        def said(X: AnyArray, n_jobs: int = 1) -> dict[str, AnyArray]:
            columns = {"": model.predict_unchecked(X, n_jobs)}
            if scores:
                Y = model.outputs_unchecked(X, n_jobs)
                words = [""] if model.outputs.flat else [f"_{word}" for word in model.outputs.words]
                columns |= {f"_score{word}": Y[:, k] for k, word in enumerate(words)}
            if proba:
                labels = cast(ClassOutputs, model.outputs).classes.tolist()
                P = self.probabilities_unchecked(X, n_jobs)
                columns |= {f"_probability_{label}": P[:, k] for k, label in enumerate(labels)}
            if interval is not None:
                ends = self.intervals_of(self.spreads_unchecked(X, n_jobs), interval, None)
                each = (
                    {"": ends} if model.outputs.flat else {f"_{k}": ends[:, k] for k in range(ends.shape[1])}
                )
                for word, pair in each.items():
                    columns |= {f"{word}_low": pair[:, 0], f"{word}_high": pair[:, 1]}
            return columns

        return said

    def judged_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """What `conformalized` needs to know of rows."""
        if isinstance(self._own().outputs, ClassOutputs):
            return self._own().outputs_unchecked(X, n_jobs)
        return self.spreads_unchecked(X, n_jobs)

    @property
    def class_calibration(self) -> ClassCalibration:
        """The calibration of a classifier, or a sentence."""
        model = self._own()
        if model.outputs.reads != "labels":
            said = model.outputs.describe()
            raise ValueError(f"Probabilities and sets are for classifiers: this model predicts {said}.")
        if not isinstance(model.calibration, ClassCalibration):
            raise ValueError(UNCALIBRATED)
        return model.calibration

    @property
    def number_calibration(self) -> NumberCalibration:
        """The calibration of a regression, or a sentence."""
        model = self._own()
        if model.outputs.reads != "numbers":
            said = model.outputs.describe()
            raise ValueError(f"Intervals and quantiles are for numbers: this model predicts {said}.")
        if not isinstance(model.calibration, NumberCalibration):
            raise ValueError(UNCALIBRATED)
        return model.calibration

    def _own(self) -> KernelModel:
        return cast("KernelModel", self)

    def _rows(self, X: Any) -> AnyArray | EncodedTable:
        return rows_of(self._own(), X)

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

            Workers(n_jobs).spread(fill, range(size, len(X), size))
        return found
