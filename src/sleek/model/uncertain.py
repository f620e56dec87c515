"""How sure a model is: probabilities and sets of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration.classes import ClassCalibration
from sleek.calibration.groups import check_groups
from sleek.model.given import rows_of
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.labels import Labels
from sleek.rows.source import rows_per_block

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel
    from sleek.tables.encoded import EncodedTable

UNCALIBRATED = (
    "This model has no calibration: it was saved before sleek had one. Fit again to get probabilities and "
    "intervals."
)


class Uncertain:
    """The part of `KernelModel` that says how sure it is. Memory beyond input and output does not grow."""

    def predict_proba(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The probability of every class for each row, (n, n_classes), in the order of the labels.

        The most probable class is the one that is predicted. Of equally probable ones it is the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
        n_jobs : int, default=1
        """
        return self.probabilities_unchecked(rows_of(self._own(), X), n_jobs)

    def predict_log_proba(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The logarithm of every class's probability for each row, (n, n_classes)."""
        return self.log_probabilities_unchecked(rows_of(self._own(), X), n_jobs)

    def predict_set(
        self,
        X: Any,
        confidence_level: float = 0.9,
        class_conditional: bool = False,
        groups: Any = None,
        n_jobs: int = 1,
    ) -> AnyArray:
        """Classes among which the true one is with a wanted probability: truth values, (n, n_classes).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
        confidence_level : float, default=0.9
        class_conditional : bool, default=False
            Whether the level is to hold for the rows of every class, not only for all rows together.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, if `conformalize` was given groups.
        n_jobs : int, default=1
        """
        P = self.predict_proba(X, n_jobs)
        return self.class_calibration.sets(P, confidence_level, class_conditional, groups)

    def conformalize(self, X: Any, y: Any, groups: Any = None) -> KernelModel:
        """The same model with sets whose level is kept for certain, by rows that the fit has not seen.

        For a new row in random order with these, whatever their distribution, the set has the true class
        with at least the confidence level asked for. Probabilities stay what they are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), default=None
            Levels are then kept for each group of rows by itself, and predictions ask for the groups too.
        """
        rows = rows_of(self._own(), X)
        y = np.asarray(y)
        if len(y) != len(rows):
            raise ValueError(f"There must be a target for each of {len(rows)} rows, got {len(y)}.")
        return self.conformalized(self._own().outputs_unchecked(rows), y, np.ones(len(rows)), groups)

    def conformalized(self, Y: FloatArray, y: AnyArray, weights: FloatArray, groups: Any) -> KernelModel:
        """The same for outputs Y (n, k), and weights as numbers of observations."""
        groups = None if groups is None else check_groups(groups, len(Y))
        calibration, outputs = self.class_calibration, cast(ClassOutputs, self._own().outputs)
        codes = outputs.codes(Labels.of(y))
        if len(codes) and codes.min() < 0:
            strange = np.asarray(y)[codes < 0].tolist()[0]
            raise ValueError(f"The class {strange!r} is none of the model's: {outputs}.")
        return replace(self._own(), calibration=calibration.with_misfits(Y, codes, weights, groups))

    # -- unchecked, as rows of any place are evaluated

    def probabilities_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """The probabilities for a finite float array, without a look at it."""
        calibration = self.class_calibration
        return self._in_blocks(X, lambda rows: calibration.probabilities(self._outputs(rows)), n_jobs)

    def log_probabilities_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """Their logarithms."""
        calibration = self.class_calibration
        return self._in_blocks(X, lambda rows: calibration.log_probabilities(self._outputs(rows)), n_jobs)

    @property
    def class_calibration(self) -> ClassCalibration:
        """The calibration of a classifier, or a sentence."""
        model = self._own()
        if not isinstance(model.outputs, ClassOutputs):
            raise ValueError(
                f"Probabilities and sets are for classifiers: this model predicts {model.outputs.describe()}."
            )
        if not isinstance(model.calibration, ClassCalibration):
            raise ValueError(UNCALIBRATED)
        return model.calibration

    def _own(self) -> KernelModel:
        return cast("KernelModel", self)

    def _outputs(self, X: AnyArray) -> FloatArray:
        return self._own().outputs_unchecked(X)

    def _in_blocks(
        self, X: AnyArray | EncodedTable, function: Callable[[AnyArray], FloatArray], n_jobs: int
    ) -> FloatArray:
        """A function of some rows at a time, so that memory on the way is bounded."""
        size = rows_per_block(len(X))
        if len(X) <= size:
            return function(X[:])  # a table becomes features
        with single_threaded_blas():
            blocks = range(0, len(X), size)
            return np.concatenate(
                list(Workers(n_jobs).spread(lambda start: function(X[start : start + size]), blocks))
            )
