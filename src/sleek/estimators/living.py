"""Estimators that go on: rows come in and leave after the fit, and an alarm says when they have changed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Self

import numpy as np

from sleek._runtime.checks import check_n_jobs, check_weights
from sleek._runtime.progress import Reporter
from sleek._runtime.threads import Workers
from sleek.model.drift import Drift
from sleek.model.kernel_model import KernelModel
from sleek.model.new_rows import Added, check_fading, known_targets, that_count
from sleek.outputs.base import Outputs
from sleek.rows.open import features_in_memory, open_features, open_rows, rows_with_targets
from sleek.rows.rows import Run


class LivingMethods:
    """Updating and forgetting."""

    model_: KernelModel
    outputs_kind: ClassVar[type[Outputs]]
    n_features_in_: int
    n_jobs: int | None
    forgetting_factor: float
    _model: Callable[[], KernelModel]
    _at_work: Callable[[], AbstractContextManager[tuple[Run, Reporter]]]
    _fit_rows: Callable[..., None]

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: the units stay, weights and constants are solved again from all rows so far.

        The first call fits, if there is no fit yet: give it enough rows to learn units from. After that a
        call costs one pass over its rows, and the result is, to rounding, that of one pass over all rows,
        whatever their order. `drift_` says whether new rows still are as the model promises.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), data frame, or Rows
            A table is read by the columns of the fit: fills and levels stay as they are.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
        """
        return self._partial_fit(X, y, sample_weight, None)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows out again: weights and constants are as if these rows had never come in.

        They must have come in, by `fit` or `partial_fit`, with the same weights. docs/living.md says what
        still remembers them: units, scaling, calibration, fills and levels of columns.

        Parameters
        ----------
        X, y, sample_weight : as they were given to `fit` or `partial_fit`
        """
        model = self._model()
        model.remembered()
        self.model_ = model.without_rows(self._pass(model, X, y, sample_weight, 1.0))
        return self

    @property
    def drift_(self) -> Drift | None:
        """What the errors of new rows, each before it was added, say: ``drift_.alarm``, ``print(drift_)``.

        None if there was no promise to compare them with.
        """
        memory = self._model().memory
        if memory is None:
            raise AttributeError("Log-odds cannot be updated, so there are no new rows that could drift.")
        return memory.drift

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        model = vars(self).get("model_")
        if model is None:
            with self._at_work() as (run, report):
                rows = open_rows(self, X, y, sample_weight, self.outputs_kind.reads)
                self._fit_rows(rows, run, report, squared=True, classes=classes)
            return self
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self._known_classes()):
            raise ValueError(
                f"`classes` must be those of the first call, {self._known_classes().tolist()}, or None, got "
                f"{np.asarray(classes).tolist()}."
            )
        fading = check_fading(self.forgetting_factor)
        model.remembered()
        self.model_ = model.with_rows(self._pass(model, X, y, sample_weight, fading))
        return self

    def _known_classes(self) -> Any:
        return np.unique(vars(self)["classes_"])

    def _pass(self, model: KernelModel, X: Any, y: Any, sample_weight: Any, fading: float) -> Added:
        """What rows bring, wherever they are."""
        rows = X
        if not self._is_plain(model, X):
            given = rows_with_targets(X, y, sample_weight)
            if given is not None:
                run = Run(Workers(check_n_jobs(self.n_jobs)))
                return model.brought_by(open_features(self, given), run, fading)
            rows = features_in_memory(self, X)
        targets, s = known_targets(model.outputs, y, len(rows)), None
        if sample_weight is not None:
            rows, targets, s = that_count(rows, targets, check_weights(sample_weight, len(rows)))
        return model.brought(rows, targets, s, fading, self.n_jobs)

    def _is_plain(self, model: KernelModel, X: Any) -> bool:
        """Whether X is an array that needs no closer look: scikit-learn's takes longer than the rest."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and len(X) > 0
            and model.inputs is None
            and "feature_names_in_" not in vars(self)
            and bool(np.isfinite(X).all())
        )
