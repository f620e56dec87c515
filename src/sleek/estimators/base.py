"""What classifier and regressor share: settings, training, prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sleek._runtime.checks import all_or_nothing, check_n_jobs
from sleek._runtime.progress import Reporter
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray
from sleek._runtime.warn import warn
from sleek.bases import known_bases
from sleek.bases.base import Basis
from sleek.calibration import Calibration
from sleek.estimators.facts import expected_error, facts_of, memory_of
from sleek.estimators.learnt import Learnt
from sleek.estimators.living import LivingMethods
from sleek.estimators.settings import request_of
from sleek.estimators.warm import check_same_outputs, standing_of
from sleek.fit import policy
from sleek.fit.plan import Plan
from sleek.fit.recipe import Fitted, fit
from sleek.model.facts import ExpectedError
from sleek.model.kernel_model import KernelModel
from sleek.model.saving import training_record
from sleek.outputs.base import Outputs
from sleek.rows.cutting import PREDICTED
from sleek.rows.open import open_features, open_rows
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run, Survey
from sleek.trainers import TRAINERS
from sleek.trainers.base import Trainer


class LowRankLSSVM(Learnt, LivingMethods, BaseEstimator):
    """What classifier and regressor share: everything but what outputs mean.

    A subclass names its `outputs_kind`; an estimator for a new kind of outputs is such a subclass, with one
    of scikit-learn's mixins before it.
    """

    outputs_kind: ClassVar[type[Outputs]]

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
        effort: str = "normal",
        categorical_features: Any = None,
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
        self.effort = effort
        self.categorical_features = categorical_features
        self.forgetting_factor = forgetting_factor
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
        """
        with self._at_work() as (run, report):
            rows = open_rows(self, X, y, sample_weight, self.outputs_kind.reads)
            self._fit_rows(rows, run, report)
        return self

    def _learn_outputs(self, rows: Rows, survey: Survey, run: Run, classes: Any = None) -> Outputs:
        """What outputs mean, from a survey of the targets; `classes` names those that may come later."""
        return self.outputs_kind.learn(survey.targets, rows.flat_targets)

    def _fit_rows(
        self, rows: Rows, run: Run, report: Reporter, squared: bool = False, classes: Any = None
    ) -> None:
        """Fit; to go on from sums over rows the loss must be `squared`."""
        request, names, inputs = request_of(self, rows.n_features, squared), rows.feature_names, rows.inputs
        standing = standing_of(self, rows)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        survey = rows.survey(self.outputs_kind, run)
        n_rows = survey.weights.n_rows
        if n_rows <= policy.CANONICAL_ROWS:
            rows = rows.in_memory(self.outputs_kind.reads, n_rows, run).canonical()
            survey = rows.survey(self.outputs_kind, run)
        if not survey.weights.n_observations > 1:
            raise ValueError(
                "A fit needs at least 2 rows of positive weight that are not the same, got "
                f"{survey.weights.n_rows} that counts as one."
            )
        outputs = self._learn_outputs(rows, survey, run, classes)
        if standing is not None:
            check_same_outputs(self.model_.outputs, outputs)
        weighting = survey.weighting(outputs)
        request = request.scaled(weighting.scale)
        plan = Plan.of(survey.weights.n_rows, rows.n_features, request, outputs.n_outputs)
        source = rows.source(outputs, weighting, run)
        fitted = fit(source, request, plan, rng, run.workers, names, report, standing)
        outputs, (theta, b) = fitted.outputs, fitted.solution
        expected = expected_error(fitted, outputs)
        self.model_ = KernelModel(
            expansion=fitted.expansion,
            theta=theta,
            b=b,
            C=fitted.C / weighting.scale,
            outputs=outputs,
            feature_names=names,
            inputs=inputs,
            facts=facts_of(fitted, n_rows, outputs, expected, inputs),
            calibration=self._calibrated(fitted, outputs),
            trained_by=training_record(self),
            memory=memory_of(fitted, outputs, n_rows, weighting.scale),
        )
        self._publish(fitted, rows, outputs, expected)
        if not fitted.training.converged:
            warn(fitted.training.status, ConvergenceWarning)

    def _calibrated(self, fitted: Fitted, outputs: Outputs) -> Calibration | None:
        """What rows that took no part in the fit tell of new ones; nothing, for outputs of another kind."""
        return None

    def _publish(self, fitted: Fitted, rows: Rows, outputs: Outputs, expected: ExpectedError) -> None:
        """The attributes of a fit."""
        training, self.standing_ = fitted.training, fitted.standing
        self.n_units_ = fitted.expansion.n_learnt
        self.n_iter_, self.history_, self.status_ = training.n_iter, training.history, training.status
        self.C_ = self.model_.C
        self.pull_ = fitted.pull
        self.selection_ = fitted.selection
        self.path_ = fitted.path
        self.expected_error_ = expected.value
        self.expected_error_std_ = expected.standard_error
        self.expected_error_method_ = expected.method
        self.left_out_rows_, places = rows.originals(fitted.judged_rows, self.outputs_kind.reads)
        self.left_out_residuals_ = outputs.scores(outputs.decode_residuals(fitted.judged.residuals[places]))

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
        return self._evaluated(X, self._model().predict_unchecked)

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
            rows = open_features(self, X)
            return rows.write(model.saying(proba, interval), path, keep, Run(workers, report.rows))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _model(self) -> KernelModel:
        check_is_fitted(self, "model_")
        return self.model_

    def _evaluated(self, X: Any, function: Callable[..., AnyArray]) -> AnyArray:
        """A function of the model for every row of X."""
        n_jobs = check_n_jobs(self.n_jobs)
        return open_features(self, X).evaluate(function, Run(Workers(n_jobs)))

    def _score(self, X: Rows) -> float:
        """How good predictions are for rows that have their targets with them."""
        model, kind = self._model(), self.outputs_kind

        def task(block: RawBlock) -> Any:
            return model.outputs.judge(block.y, model.predict_unchecked(block.X), block.s)

        run, rows = Run(Workers(check_n_jobs(self.n_jobs))), open_features(self, X)
        judged = rows.map_reduce(task, run, reads=kind.reads, features=True, cutting=PREDICTED)
        return float(judged.score)

    # -- settings

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of a trainer or basis too: ``set_params(trainer__max_iter=50)``.

        A part that is named by its word becomes an object with default settings first.
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
        """Threads and a voice for a fit; attributes stay what they were if it fails."""
        name, n_jobs = type(self).__name__, check_n_jobs(self.n_jobs)
        with (
            all_or_nothing(self),
            single_threaded_blas(),
            Reporter(name, self.verbose) as report,
            Workers(n_jobs) as workers,
        ):
            yield Run(workers, report.rows), report
