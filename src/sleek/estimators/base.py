"""What classifier and regressor share: settings, training, prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sleek._runtime.checks import check_n_jobs
from sleek._runtime.column_table import ColumnTable
from sleek._runtime.progress import Reporter
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray
from sleek._runtime.warn import warn
from sleek.bases import known_bases
from sleek.bases.base import Basis
from sleek.estimators.constraining import check_one_output, constraints_of, on_features
from sleek.estimators.conventions import (
    VersionedEstimator,
    all_or_nothing,
    check_names,
    feature_names_of,
)
from sleek.estimators.fitted_attributes import FittedAttributes
from sleek.estimators.settings import request_of, training_record
from sleek.estimators.updatable import UpdatableMethods
from sleek.estimators.warm import check_same_outputs, standing_of
from sleek.fit.recipe import Fitted, fit_rows
from sleek.kernels import MANY_ROWS, can_compile
from sleek.model.effects import Effects
from sleek.model.explanation import Explanation
from sleek.model.kernel_model import KernelModel
from sleek.model.living import update_words
from sleek.model.outcome import Outcome
from sleek.model.reasons import Familiarity, Flip, Reason
from sleek.model.rows_to_predict import expected_by
from sleek.outputs.base import Outputs, Targets
from sleek.outputs.loss import SQUARED
from sleek.rows.cutting import PREDICTED
from sleek.rows.opening import open_rows
from sleek.rows.predicting import open_features
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run, Survey
from sleek.trainers import TRAINERS
from sleek.trainers.base import Trainer

WITHOUT_NUMBA = (
    "numba is not installed: NumPy works on the {:,} rows instead of compiled loops, which takes up to three "
    "times as long. Install numba, or fit fewer rows where there is none, as in a browser."
)


class LowRankLSSVM(FittedAttributes, UpdatableMethods, VersionedEstimator):
    """What classifier and regressor share: everything but what outputs mean.

    A subclass names its `outputs_kind`; an estimator for a new kind of outputs is such a subclass, with one
    of scikit-learn's mixins before it.
    """

    outputs_kind: ClassVar[type[Outputs]]
    losses: ClassVar[tuple[str, ...]] = ("auto", SQUARED.name)  # what the parameter `loss` may be
    loss: str = "auto"

    def __init__(
        self,
        n_units: int | str = "auto",
        *,
        basis: str | Basis = "auto",
        trainer: str | Trainer = "varpro",
        C: float | str = "loo",
        shape: float | str = "auto",
        init: str | AnyArray = "auto",
        standardize: bool = True,
        max_samples: int | str | None = "auto",
        max_units: int | None = None,
        max_numbers: int | None = None,
        effort: str = "normal",
        categorical_features: Any = None,
        interaction_cst: Any = None,
        monotonic_cst: Any = None,
        cv: Any = None,
        forgetting_factor: float = 1.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_units = n_units
        self.basis = basis
        self.trainer = trainer
        self.C = C
        self.shape = shape
        self.init = init
        self.standardize = standardize
        self.max_samples = max_samples
        self.max_units = max_units
        self.max_numbers = max_numbers
        self.effort = effort
        self.categorical_features = categorical_features
        self.interaction_cst = interaction_cst
        self.monotonic_cst = monotonic_cst
        self.cv = cv
        self.forgetting_factor = forgetting_factor
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train on rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), data frame, or Rows
            A data frame of pandas, polars or pyarrow, or a dictionary of columns: numbers, text, truth
            values, dates, with gaps. NaN in an array is a gap. `Rows`, such as `Files`, have targets and
            weights with them.
        y : array-like
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers are counts: a row of weight 2 counts as two rows. Other weights say how much a row
            matters. A row of weight 0 is left out.
        groups : array-like of shape (n_samples,), default=None
            Labels, text or numbers, of rows that belong together, such as those of one patient: they are
            never split between rows to learn from and rows to judge by, so that the error to expect is that
            of new groups. `Files` and `DaskRows` name a column.
        """
        with self._at_work() as (run, report):
            self._fit_rows(self._open_rows(X, y, sample_weight, groups), run, report)
        return self

    def _open_rows(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Rows:
        """Rows to learn from; what scikit-learn keeps of their columns is remembered."""
        reads, name = self.outputs_kind.reads, type(self).__name__
        opened = open_rows(X, y, sample_weight, reads, self.categorical_features, name, groups)
        self.n_features_in_, self.column_notes_ = opened.n_columns, list(opened.notes)
        if opened.names is not None:
            self.feature_names_in_ = np.array(opened.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return opened.rows

    def _targets(self) -> Targets:
        """Who reads targets off rows."""
        return self.outputs_kind

    def _learn_outputs(self, rows: Rows, survey: Survey, run: Run, classes: Any = None) -> Outputs:
        """The outputs, from statistics of the targets; `classes` names those that may come later."""
        return self.outputs_kind.learn(survey.targets, rows.flat_targets)

    def _fit_rows(
        self, rows: Rows, run: Run, report: Reporter, updatable: bool = False, classes: Any = None
    ) -> None:
        """Fit; classes that will be updated have the squared loss unless another is named (`updatable`)."""
        constraints, standing = constraints_of(self, rows), standing_of(self, rows)
        if standing is not None and constraints != self.model_.constraints:
            raise ValueError("warm_start=True goes on from a model of other constraints: set it to False.")
        request = request_of(self, rows.n_features, updatable)
        request = replace(request, constraints=on_features(constraints, rows, request))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

        def learn(rows: Rows, survey: Survey) -> Outputs:
            if survey.weights.n_rows >= MANY_ROWS and not can_compile():
                warn(WITHOUT_NUMBA.format(survey.weights.n_rows))
            outputs = self._learn_outputs(rows, survey, run, classes)
            check_one_output(constraints, outputs)
            if standing is not None:
                check_same_outputs(self.model_.outputs, outputs)
            return outputs

        fit = fit_rows(rows, self._targets(), learn, request, rng, run, report, standing)
        calibrator = vars(self).get("calibrator")
        self._publish(fit.fitted, Outcome.of(fit, training_record(self), calibrator, constraints))
        report(f"partial_fit, forget and merge: {update_words(self.model_.outputs.loss)}")
        if not fit.fitted.training.converged:
            warn(fit.fitted.training.status, ConvergenceWarning)

    def _publish(self, fitted: Fitted, outcome: Outcome) -> None:
        """The attributes of a fit."""
        training = fitted.training
        self.model_, self.standing_ = outcome.model, fitted.standing
        self.n_units_ = fitted.expansion.n_learnt
        self.n_numbers_ = self.model_.n_numbers
        self.n_iter_, self.history_, self.status_ = training.n_iter, training.history, training.status
        self.C_, self.pull_ = outcome.model.C, fitted.pull
        self.selection_, self.path_ = ColumnTable(fitted.selection), ColumnTable(fitted.path)
        self.expected_error_, self.expected_error_std_ = outcome.errors, outcome.error_deviations
        self.expected_error_method_, self.optimism_ = fitted.judged_by, fitted.optimism
        self.left_out_rows_, self.left_out_residuals_ = outcome.left_out_rows, outcome.left_out_residuals

    # -- predicting

    def predict(self, X: Any) -> AnyArray:
        """Predict a class label, or the target's value, for each row.

        float32 rows are computed in float32, which is twice as fast and exact to about five digits.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), data frame, or Rows
            What training has never seen, levels or gaps, is counted in a warning.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._evaluate(X, self._model().predict_unchecked)

    def effects(self) -> Effects:
        """The model as the sum of a mean, a curve for each column, and surfaces of pairs of columns.

        See `KernelModel.effects`; ``print(model.effects())`` says it in words.
        """
        return self._model().effects()

    def explain(self, X: Any) -> Explanation:
        """Explain predictions: what each column and each unit adds; see `KernelModel.explain`."""
        return self._model().explain(X)

    def reasons(self, X: Any, n: int = 3) -> list[list[Reason]]:
        """The columns that pull each prediction most away from what is usual; see `KernelModel.reasons`."""
        return self._model().reasons(X, n)

    def flip(self, X: Any, columns: Sequence[str] | None = None) -> Flip | None:
        """The smallest change of one column that flips a decision; see `KernelModel.flip`."""
        return self._model().flip(X, columns)

    def familiar(self, X: Any) -> list[Familiarity]:
        """How common the values of each row were in training; see `KernelModel.familiar`."""
        return self._model().familiar(X)

    def report(
        self, path: str | PathLike[str], X: Any = None, y: Any = None, *, include_rows: int = 0
    ) -> None:
        """Write the model as one HTML page, measured on rows `X` with targets `y`.

        See `KernelModel.report`.
        """
        self._model().report(path, X, y, include_rows=include_rows)

    def predict_to(
        self,
        X: Rows,
        path: str | PathLike[str],
        keep: Sequence[str] = (),
        proba: bool = False,
        interval: float | None = None,
    ) -> int:
        """Predict rows of files into a Parquet or CSV file, in bounded memory; return how many.

        The file has a column ``prediction`` (``prediction_NAME`` for several targets), and appears when it is
        complete; `proba` adds ``prediction_probability_LABEL`` for every class, `interval`, a level such as
        0.9, ``prediction_low`` and ``prediction_high``.

        Parameters
        ----------
        X : Files
        path : str or path, ending in .parquet, .pq, .csv or .csv.gz
        keep : list of str, columns of the source to copy, for example those that identify a row
        """
        model, workers = self._model(), Workers(check_n_jobs(self.n_jobs))
        with Reporter(type(self).__name__, self.verbose) as report:
            rows = self._features(X)
            return rows.write(
                model.prediction_columns(proba, interval), path, keep, Run(workers, report.rows)
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _model(self) -> KernelModel:
        check_is_fitted(self, "model_")
        return self.model_

    def _evaluate(self, X: Any, function: Callable[..., AnyArray]) -> AnyArray:
        """A function of the model for every row of X."""
        n_jobs = check_n_jobs(self.n_jobs)
        return self._features(X).evaluate(function, Run(Workers(n_jobs)))

    def _features(self, X: Any) -> Rows:
        """Rows to predict, with the features of the fit."""
        model, names = self._model(), feature_names_of(self)
        check_names(self, X, names)
        return open_features(X, expected_by(model, names, self.n_features_in_, type(self).__name__))

    def _score(self, X: Rows) -> float:
        """How good predictions are for rows that have their targets with them."""
        model, kind = self._model(), self.outputs_kind

        def task(block: RawBlock) -> Any:
            return model.outputs.judge(block.y, model.predict_unchecked(block.X), block.s)

        run, rows = Run(Workers(check_n_jobs(self.n_jobs))), self._features(X)
        judged = rows.map_reduce(task, run, reads=kind.reads, features=True, cutting=PREDICTED)
        return float(judged.score)

    # -- settings

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of a trainer or basis too: ``set_params(trainer__max_iter=50)``.

        A basis or trainer that is given by its name becomes an object with default settings first.
        """
        for part, known in (("trainer", TRAINERS), ("basis", known_bases())):
            word = params.get(part, getattr(self, part))
            nested = any(name.startswith(f"{part}__") for name in params)
            if nested and isinstance(word, str) and word in known:
                params = {part: known[word](), **{key: v for key, v in params.items() if key != part}}
        super().set_params(**params)
        return self

    @contextmanager
    def _at_work(self) -> Iterator[tuple[Run, Reporter]]:
        """Threads and progress messages for a fit; attributes stay what they were if it fails."""
        name, n_jobs = type(self).__name__, check_n_jobs(self.n_jobs)
        with (
            all_or_nothing(self),
            single_threaded_blas(),
            Reporter(name, self.verbose) as report,
            Workers(n_jobs) as workers,
        ):
            yield Run(workers, report.rows), report
