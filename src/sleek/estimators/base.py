"""What classifier and regressor share: settings, training, prediction."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from sleek._runtime.checks import (
    all_or_nothing,
    check_alone,
    check_centers,
    check_choice,
    check_count,
    check_n_jobs,
    check_part,
    check_positive,
    check_source,
)
from sleek._runtime.memory import keep_freed_memory
from sleek._runtime.progress import Reporter
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases import known_bases
from sleek.bases.base import Basis
from sleek.fit.recipe import Fitted, Request, fit
from sleek.model.json_file import training_record
from sleek.model.kernel_model import KernelModel
from sleek.outputs.outputs import Targets
from sleek.rows.files import ParquetSource
from sleek.rows.source import RowsAtHand, canonical
from sleek.trainers import TRAINERS
from sleek.trainers.base import Trainer

FLOATS = (np.float64, np.float32)
CANONICAL_ROWS = (
    20_000  # up to here the result does not depend on the order of the rows, not even in rounding
)
AUTO_BASES = ("gaussian_rbf", "sigmoidal")  # what basis="auto" chooses from
Number = TypeVar("Number", int, float)


class LowRankLSSVM(BaseEstimator):
    """What classifier and regressor share: everything but the coding of the target."""

    def __init__(
        self,
        n_units: int | str = "auto",
        *,
        basis: str | Basis = "auto",
        trainer: str | Trainer = "varpro",
        C: float | str = "loo",
        shape: float | str = "auto",
        init: str | AnyArray = "k-medoids",
        standardize: bool = True,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def centers_(self) -> FloatArray:
        """The units' centres in raw units, (n_units, n_features)."""
        return self._unit_array("centers")

    @property
    def shapes_(self) -> FloatArray:
        """The units' sharpness per feature in raw units, (n_units, n_features)."""
        return self._unit_array("shapes")

    def _unit_array(self, name: str) -> FloatArray:
        units = self.model_.units.arrays
        if name not in units:
            basis = self.model_.basis.name
            raise AttributeError(f"{basis} units have no {name}, but {list(units)}: see model_.units.")
        return units[name]

    @property
    def coef_(self) -> FloatArray:
        """The weight of each unit in each output, (n_outputs, n_units)."""
        return self.model_.theta.T

    @property
    def intercept_(self) -> FloatArray:
        """The constant of each output, (n_outputs,)."""
        return self.model_.b

    def predict(self, X: Any) -> AnyArray:
        """Predict a class label, or the target's value, for each row.

        float32 rows are computed in float32, which is twice as fast and exact to about five digits.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or ParquetSource

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._evaluated(X, self._model().predict)

    def predict_to(self, X: ParquetSource, path: str | PathLike[str], keep: Sequence[str] = ()) -> int:
        """Predict rows of files into a Parquet or CSV file, in bounded memory; return how many.

        The file has a column ``prediction`` (``prediction_NAME`` for several targets), and appears when it is
        complete.

        Parameters
        ----------
        X : ParquetSource
        path : str or path
            Ends in .parquet, .pq, .csv or .csv.gz.
        keep : list of str
            Columns of the source to copy, for example those that identify a row.
        """
        from sleek.rows.files.writing import write_predictions

        source, n_jobs = self._checked(X), check_n_jobs(self.n_jobs)
        with Reporter(type(self).__name__, self.verbose) as report:
            return write_predictions(
                source, self.model_.predict, path, keep=keep, n_jobs=n_jobs, progress=report.rows
            )

    def _model(self) -> KernelModel:
        check_is_fitted(self, "model_")
        return self.model_

    def _evaluated(self, X: Any, function: Callable[..., AnyArray]) -> AnyArray:
        """A function of the model for every row of X."""
        n_jobs = check_n_jobs(self.n_jobs)
        if isinstance(X, ParquetSource):
            from sleek.rows.files.predicting import predict_rows

            return predict_rows(self._checked(X), function, n_jobs=n_jobs)
        rows: AnyArray = validate_data(self, X, reset=False, dtype=FLOATS)
        return function(rows, n_jobs)

    def _checked(self, source: ParquetSource) -> ParquetSource:
        """A source with the features that the model was fitted to, in their order."""
        check_source(source, ParquetSource)
        names = self._model().feature_names
        if names is None:
            if len(source.features) != self.n_features_in_:
                raise ValueError(
                    f"The files have {len(source.features)} features, but the model was fitted to "
                    f"{self.n_features_in_} without names: name them in their order by `columns`."
                )
            return source
        return source.with_features(names)

    @contextmanager
    def _at_work(self) -> Iterator[tuple[Workers, Reporter]]:
        """Threads and a voice for a fit; attributes stay what they were if it fails."""
        name, n_jobs = type(self).__name__, check_n_jobs(self.n_jobs)
        keep_freed_memory()
        with (
            all_or_nothing(self),
            single_threaded_blas(),
            Reporter(name, self.verbose) as report,
            Workers(n_jobs) as workers,
        ):
            yield workers, report

    def _surveyed(self, source: ParquetSource, y: Any, sample_weight: Any) -> None:
        """Take the features' names from files, which have their targets and weights with them."""
        check_alone(y, sample_weight)
        self.n_features_in_ = len(source.features)
        self.feature_names_in_ = np.array(source.features, dtype=object)

    def _train(
        self, data: RowsAtHand, classes: AnyArray | None, flat: bool, workers: Workers, report: Reporter
    ) -> None:
        """Train on rows of positive weight and publish the result."""
        request = self._request(self.n_features_in_)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        names: AnyArray | None = vars(self).get("feature_names_in_")
        inverse = None
        if data.n_rows <= CANONICAL_ROWS:
            data, inverse = canonical(data.in_memory())
        fitted = fit(data, request, rng, workers, names, report)
        self.model_ = KernelModel(
            basis=fitted.basis,
            units=fitted.units,
            theta=fitted.solution.theta,
            b=fitted.solution.b,
            C=fitted.C,
            classes=classes,
            flat=flat,
            feature_names=None if names is None else tuple(names.tolist()),
            trained_by=training_record(self),
        )
        self._publish(fitted, data.coding, inverse, flat)
        if not fitted.training.converged:
            warnings.warn(fitted.training.status, ConvergenceWarning, stacklevel=3)

    def _publish(self, fitted: Fitted, targets: Targets, inverse: IntArray | None, flat: bool) -> None:
        """The attributes of a fit on rows that `inverse` says where to find, if they were sorted."""
        training, loo = fitted.training, fitted.loo
        self.n_units_ = len(fitted.units)
        self.n_iter_ = training.n_iter
        self.history_ = training.history
        self.status_ = training.status
        self.C_ = fitted.C
        self.pull_ = fitted.pull
        self.selection_ = fitted.selection
        self.loo_error_ = float(np.average(targets.row_errors(loo.T, loo.outputs), weights=loo.s))
        if inverse is None:
            self.loo_rows_, residuals = fitted.loo_rows, loo.residuals
        else:
            position = np.full(int(inverse.max()) + 1, -1)
            position[fitted.loo_rows] = np.arange(len(fitted.loo_rows))
            self.loo_rows_ = np.flatnonzero(position[inverse] >= 0)
            residuals = loo.residuals[position[inverse[self.loo_rows_]]]
        residuals = targets.decode_residuals(residuals)
        self.loo_residuals_ = residuals[:, 0] if flat else residuals

    def _request(self, n_features: int) -> Request:
        """The parameters, checked, with None for what is to be chosen."""
        known = known_bases()
        if isinstance(self.basis, str) and self.basis == "auto":
            bases = tuple(known[name]() for name in AUTO_BASES)
        else:
            bases = (check_part("basis", self.basis, Basis, known, word="auto"),)
        centers = None
        if isinstance(self.init, str):
            check_choice("init", self.init, ["k-medoids"])
        else:
            centers = check_centers(self.init, self.n_units, n_features)
        return Request(
            bases=bases,
            trainer=check_part("trainer", self.trainer, Trainer, TRAINERS),
            n_units=_unless("auto", self.n_units, lambda: check_count("n_units", self.n_units, 1, "auto")),
            C=_unless("loo", self.C, lambda: check_positive("C", self.C, "loo")),
            shape=_unless("auto", self.shape, lambda: check_positive("shape", self.shape, "auto")),
            centers=centers,
            standardize=bool(self.standardize),
        )


def _unless(word: str, value: Any, check: Callable[[], Number]) -> Number | None:
    """None if the value is the word that leaves a choice open, else the checked value."""
    return None if isinstance(value, str) and value == word else check()
