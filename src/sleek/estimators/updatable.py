"""Methods that update an estimator after a fit: `partial_fit`, `forget`, and an alarm for drift."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from sleek._runtime.checks import check_n_jobs, check_weights, rows_that_count
from sleek._runtime.progress import Reporter
from sleek._runtime.threads import Workers
from sleek.model.drift import Drift
from sleek.model.kernel_model import KernelModel
from sleek.model.living import (
    Batch,
    add,
    batch_of,
    batch_of_rows,
    check_forgetting_factor,
    require_memory,
    take_out,
)
from sleek.outputs.base import Outputs
from sleek.rows.arrays import ArrayRows
from sleek.rows.opening import rows_with_targets
from sleek.rows.rows import Rows, Run


class UpdatableMethods:
    """Updating and forgetting."""

    model_: KernelModel
    outputs_kind: ClassVar[type[Outputs]]
    n_features_in_: int
    n_jobs: int | None
    forgetting_factor: float
    _model: Callable[[], KernelModel]
    _at_work: Callable[[], AbstractContextManager[tuple[Run, Reporter]]]
    _fit_rows: Callable[..., None]
    _open_rows: Callable[..., Rows]
    _features: Callable[[Any], Rows]

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: the units stay, weights and constants are solved again from all rows so far.

        The first call fits, if there is no fit yet: give it enough rows to learn units from. After that a
        call costs one pass over its rows, and the result is, to rounding, that of one pass over all rows,
        whatever their order: updates of squared errors are exact. Those of other losses are close, and take a
        few passes: new rows count as they are, others by a quadratic that touches their loss. Those of a
        quantile are refused. `drift_` says whether the errors of new rows have become larger.

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

        That is exact for squared errors; for other losses it is a Newton step on the rows that are left.
        They must have come in, by `fit` or `partial_fit`, with the same weights: those that cannot have are
        refused, as far as the sums over all rows tell. docs/living.md says what still remembers them: units,
        scaling, calibration, fills and levels of columns.

        Parameters
        ----------
        X, y, sample_weight : as they were given to `fit` or `partial_fit`
        """
        model = self._model()
        require_memory(model)
        self.model_ = take_out(model, self._pass(model, X, y, sample_weight, 1.0)(named=True))
        return self

    @property
    def drift_(self) -> Drift | None:
        """What the errors of new rows, each before it was added, say: ``drift_.alarm``, ``print(drift_)``.

        None if there are no errors of held-out rows to compare them with.
        """
        memory = self._model().memory
        if memory is None:
            raise AttributeError("Models of a quantile cannot be updated, and so have no new rows.")
        return memory.drift

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        model = vars(self).get("model_")
        if model is None:
            with self._at_work() as (run, report):
                rows = self._open_rows(X, y, sample_weight)
                self._fit_rows(rows, run, report, updatable=True, classes=classes)
            return self
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self._known_classes()):
            raise ValueError(
                f"`classes` must be those of the first call, {self._known_classes().tolist()}, or None, got "
                f"{np.asarray(classes).tolist()}."
            )
        fading = check_forgetting_factor(self.forgetting_factor)
        require_memory(model)
        go = self._pass(model, X, y, sample_weight, fading)
        self.model_ = add(model, go(), go)
        return self

    def _known_classes(self) -> Any:
        return np.unique(vars(self)["classes_"])

    def _pass(
        self, model: KernelModel, X: Any, y: Any, sample_weight: Any, fading: float
    ) -> Callable[..., Batch]:
        """What goes over rows, wherever they are, and returns their batch."""
        given = rows_with_targets(X, y, sample_weight)
        if given is not None:
            run = Run(Workers(check_n_jobs(self.n_jobs)))
            return partial(batch_of_rows, model, self._features(given), run, fading)
        found = self._features(X)
        assert isinstance(found, ArrayRows)  # what is no `Rows` is in memory
        rows = found.X
        targets, s = model.outputs.read_targets(y, len(rows)), None
        if sample_weight is not None:
            rows, targets, s = rows_that_count(rows, targets, check_weights(sample_weight, len(rows)))
        return partial(batch_of, model, rows, targets, s, fading, self.n_jobs)
