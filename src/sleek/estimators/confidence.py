"""Methods of the estimators beside `predict`: probabilities and sets of classes, intervals of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from sleek._runtime.checks import check_n_jobs
from sleek._runtime.threads import Workers
from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration.number_calibration import Spread
from sleek.model.kernel_model import KernelModel
from sleek.rows.cutting import PREDICTED
from sleek.rows.opening import rows_with_targets
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.rows.weights import as_observations


class _Conformal:
    """Split conformal prediction, for classifiers and regressors."""

    model_: KernelModel
    n_jobs: int | None
    _model: Callable[[], KernelModel]
    _evaluate: Callable[..., AnyArray]
    _features: Callable[[Any], Rows]

    def conformalize(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Split conformal prediction: guarantee confidence levels, by rows that were not used in the fit.

        For a new row in random order with these, whatever their distribution, sets have the true class, and
        intervals the true number, with at least the confidence level asked for. Predictions and probabilities
        stay what they are. A level needs 1/(1 - level) - 1 rows, 9 for 0.9.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Rows
            `Rows`, such as `Files`, have their targets with them.
        y : array-like
        groups : array-like of shape (n_samples,), default=None
            Text or numbers. Levels are then kept for each group of rows by itself, and `predict_set` and
            `predict_interval` ask for the groups of new rows.

        Returns
        -------
        self
        """
        model = self._model()
        rows = rows_with_targets(X, y)
        if rows is not None:
            found, targets, s = self._collect(rows, model)
        else:
            found, targets = self._evaluate(X, model.uncertainty.evidence), y
            s = np.ones(len(found))
        self.model_ = model.uncertainty.conformalize(
            found, targets, as_observations(s, np.ones(len(s))), groups
        )
        return self

    def _after(
        self,
        X: Any,
        function: Callable[..., AnyArray],
        then: Callable[[AnyArray, Any], AnyArray],
        groups: Any = None,
    ) -> AnyArray:
        """``then(function(rows), groups)``; without groups rows need not be together for it."""
        if groups is not None:
            return then(np.asarray(self._evaluate(X, function)), groups)

        def both(rows: AnyArray, n_jobs: int = 1) -> AnyArray:
            return then(function(rows, n_jobs), None)

        return self._evaluate(X, both)

    def _collect(self, X: Any, model: KernelModel) -> tuple[FloatArray, AnyArray, FloatArray]:
        """What the model says of rows that have targets with them, the targets, and the weights."""

        def task(block: RawBlock) -> list[tuple[FloatArray, AnyArray, FloatArray]]:
            return [(model.uncertainty.evidence(block.X), model.outputs.plain(block.y), block.s)]

        run, rows = Run(Workers(check_n_jobs(self.n_jobs))), self._features(X)
        parts = rows.map_reduce(task, run, reads=model.outputs.reads, features=True, cutting=PREDICTED)
        found, y, s = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
        return found, y, s


class ProbabilityMethods(_Conformal):
    """Probabilities and sets of classes."""

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of every class for each row, (n_samples, n_classes), in the order of `classes_`.

        They come from scores of held-out rows, so that they can be trusted on new rows.
        The most probable class is always the one that `predict` names.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Rows
        """
        return self._evaluate(X, self._model().uncertainty.probabilities)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of the probabilities, (n_samples, n_classes)."""
        return self._evaluate(X, self._model().uncertainty.log_probabilities)

    def predict_set(
        self, X: Any, confidence_level: float = 0.9, class_conditional: bool = False, groups: Any = None
    ) -> AnyArray:
        """Classes among which the true one is with a wanted probability: truth values, (n_samples,
        n_classes).

        A set is never empty: it always has the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Rows
        confidence_level : float, default=0.9
        class_conditional : bool, default=False
            Whether the level is to hold for the rows of every class, not only for all rows together.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, if `conformalize` was given groups.
        """
        model = self._model()
        calibration = model.uncertainty.class_calibration

        def sets(P: FloatArray, groups: Any) -> AnyArray:
            return calibration.sets(P, confidence_level, class_conditional, groups)

        return self._after(X, model.uncertainty.probabilities, sets, groups)


class IntervalMethods(_Conformal):
    """Intervals, quantiles and standard deviations of numbers."""

    def predict_interval(
        self, X: Any, confidence_level: float | list[float] = 0.9, groups: Any = None
    ) -> FloatArray:
        """Lower and upper ends between which the target is with a wanted probability.

        ŷ ± q·σ(x)·√(1 + h(x)): wider where residuals of held-out rows are larger, and where few rows
        say much (the leverage h).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Rows
        confidence_level : float, or a list of levels, default=0.9
        groups : array-like of shape (n_samples,), default=None
            The group of each row, if `conformalize` was given groups.

        Returns
        -------
        array of shape (n_samples, 2), or (n_samples, 2, n_levels) for a list of levels
            For several targets, (n_samples, n_outputs, 2) or (n_samples, n_outputs, 2, n_levels).
        """
        model = self._model()

        def intervals(found: FloatArray, groups: Any) -> FloatArray:
            return model.uncertainty.intervals(Spread(found), confidence_level, groups)

        return self._after(X, model.uncertainty.evidence, intervals, groups)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> FloatArray:
        """Quantiles of the target for each row, which never cross.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Rows
        quantiles : list of float, default=(0.05, 0.5, 0.95)

        Returns
        -------
        array of shape (n_samples, n_quantiles), or (n_samples, n_outputs, n_quantiles) for several targets
        """
        model = self._model()

        def levels(rows: AnyArray, n_jobs: int = 1) -> FloatArray:
            return model.uncertainty.quantiles(model.uncertainty.spread(rows, n_jobs), quantiles)

        return self._evaluate(X, levels)

    def predict_std(self, X: Any) -> FloatArray:
        """The standard deviation of the error to expect for each row: in the shape of a prediction."""
        model = self._model()

        def deviations(rows: AnyArray, n_jobs: int = 1) -> FloatArray:
            return model.uncertainty.deviations(model.uncertainty.spread(rows, n_jobs))

        return self._evaluate(X, deviations)
