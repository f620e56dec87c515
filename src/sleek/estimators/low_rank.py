"""The estimators: what they fit, and how it is judged."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from sleek._runtime.checks import (
    check_alone,
    check_classes,
    check_n_jobs,
    check_weights,
    rows_that_count,
    warn_of_outliers,
)
from sleek._runtime.threads import Workers
from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.base import Basis
from sleek.estimators.base import FLOATS, LowRankLSSVM
from sleek.outputs.outputs import ClassTargets, RealTargets, classes_and_codes
from sleek.rows.files import ParquetSource
from sleek.rows.files.predicting import accuracy, r_squared
from sleek.rows.files.survey import survey_classes, survey_numbers
from sleek.rows.source import ArraySource, RowsAtHand
from sleek.trainers.base import Trainer


class LowRankLSSVC(ClassifierMixin, LowRankLSSVM):
    """Least squares support vector classifier with a few learnable units.

    y(x) = Σ_j θ_j φ_j(x; λ_j) + b minimises ½‖θ‖² + C/2 Σ s (t - y(x))² over θ and b in closed form, while a
    trainer moves the units λ. Two classes are coded t = ±1; more classes share the units and have one
    column of θ each. A pass over the data costs O(rows·n_units·(features + n_units)); nothing is of size
    rows × rows.

    Parameters
    ----------
    n_units : int or "auto", default="auto"
        The number of units M, and so the size of the model. "auto" trains 30 (6 for each of many classes, at
        most 60, and one for every 5 rows), prunes them, and keeps the smallest size within one standard
        error of the best.
    basis : {"auto", "gaussian_rbf", "sigmoidal", "robust_rbf", "simplex"} or Basis, default="auto"
        The learnable functions φ_j. "auto" chooses "gaussian_rbf" or "sigmoidal".
    trainer : {"varpro", "alternating"} or Trainer, default="varpro"
        The algorithm that trains the units: `VariableProjection`, or the paper's `Alternating`; an object
        carries its settings.
    C : float or "loo", default="loo"
        The penalty on squared errors (the paper's γ): larger means less regularisation.
    shape : float or "auto", default="auto"
        The initial sharpness μ of every unit and feature, in standardised units if `standardize`. "auto"
        tries a few multiples of 1/n_features.
    init : "k-medoids" or array of shape (n_units, n_features), default="k-medoids"
        Where the units start; an array is in raw units.
    standardize : bool, default=True
        Train on features of mean 0 and variance 1. The scaling is folded into the units afterwards, so the
        model speaks raw units either way.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with `sample_weight`.
    n_jobs : int, default=None
        Threads over blocks of rows; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seeds the start of the units and the samples that are drawn from large data.
    verbose : int, default=0
        Print progress if not 0.

    Attributes
    ----------
    model_ : KernelModel
        The frozen model, which does the predicting; ``model_.units`` are the units of any basis.
    centers_, shapes_ : arrays of shape (n_units, n_features)
        Location and sharpness of the units, in raw units (not for "sigmoidal").
    coef_ : array of shape (n_outputs, n_units)
    intercept_ : array of shape (n_outputs,)
    n_units_, n_iter_ : int
    history_ : dict of lists
        What the trainer recorded at every iteration.
    status_ : str
        How training ended, as a sentence.
    C_, pull_ : float
        The penalties, given or chosen.
    selection_ : dict of lists
        What was tried, as columns of a table; empty if nothing was left to choose.
    loo_error_ : float
        The error to expect on new rows, by leave-one-out over all learnt numbers: the share of mistakes.
    loo_residuals_ : array of shape (n_loo,) or (n_loo, n_outputs)
        The leave-one-out residuals behind it, target minus output.
    loo_rows_ : array of shape (n_loo,)
        The rows of X that they belong to: all, or a sample of 2,000 different rows.
    classes_ : array of labels
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if `X` had string column names.

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(1250, random_state=0)
    >>> model = LowRankLSSVC(random_state=0).fit(X[:250], y[:250])
    >>> bool(model.score(X[250:], y[250:]) > 0.9), bool(model.loo_error_ < 0.11), model.n_units_ <= 30
    (True, True, True)
    >>> LowRankLSSVC(4, basis="robust_rbf", C=10.0, random_state=0).fit(X, y).centers_.shape
    (4, 2)
    """

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
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_units,
            basis=basis,
            trainer=trainer,
            C=C,
            shape=shape,
            init=init,
            standardize=standardize,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on rows `X` with class labels `y`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or ParquetSource
            A `ParquetSource` has labels and weights with it.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows; a row of weight 0 is left out.
        """
        with self._at_work() as (workers, report):
            if isinstance(X, ParquetSource):
                self._surveyed(X, y, sample_weight)
                survey = survey_classes(X, workers, report.rows)
                self.classes_, factor = survey.classes, survey.class_factor(self.class_weight)
                data: RowsAtHand = survey.rows(factor, workers, report.rows)
            else:
                data = self._arrays(X, y, sample_weight, workers)
            self._train(data, self.classes_, len(self.classes_) == 2, workers, report)
        return self

    def _arrays(self, X: Any, y: Any, sample_weight: Any, workers: Workers) -> ArraySource:
        X, y = validate_data(self, X, y, dtype=FLOATS, ensure_min_samples=2)
        check_classification_targets(y)
        X, y, s = rows_that_count(X, y, check_weights(sample_weight, len(X)))
        self.classes_, codes = classes_and_codes(y)
        check_classes(self.classes_)
        if self.class_weight is not None:
            X, codes, s = rows_that_count(X, codes, s * compute_sample_weight(self.class_weight, y))
        return ArraySource(X, codes, s, ClassTargets(len(self.classes_)), workers)

    def decision_function(self, X: Any) -> FloatArray:
        """The model's outputs: (n_samples,) for two classes, else (n_samples, n_classes).

        Above zero speaks for ``classes_[1]``; with more classes the largest output wins.
        """
        return self._evaluated(X, self._model().decision_function)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows classified right; a `ParquetSource` has labels and weights with it."""
        if isinstance(X, ParquetSource):
            check_alone(y, sample_weight)
            model, n_jobs = self._model(), check_n_jobs(self.n_jobs)
            return accuracy(self._checked(X), model.predict, self.classes_, n_jobs=n_jobs)
        return float(super().score(X, y, sample_weight))


class LowRankLSSVR(MultiOutputMixin, RegressorMixin, LowRankLSSVM):
    """Least squares support vector regression with a few learnable units.

    The model and its cost are those of `LowRankLSSVC`, with real targets t, centred and brought to unit
    variance during training. Several targets share the units and have one column of θ each.

    Parameters and attributes are those of `LowRankLSSVC`, but for `class_weight` and `classes_`; the
    `loo_error_` is
    the mean squared error.

    Examples
    --------
    >>> import numpy as np
    >>> from sleek import LowRankLSSVR
    >>> x = np.linspace(-3, 3, 200)[:, None]
    >>> model = LowRankLSSVR(n_units=10, random_state=0).fit(x, np.sin(x[:, 0]))
    >>> bool(model.score(x, np.sin(x[:, 0])) > 0.99)
    True
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on rows `X` with targets `y`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or ParquetSource
            A `ParquetSource` has targets and weights with it.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows; a row of weight 0 is left out.
        """
        with self._at_work() as (workers, report):
            if isinstance(X, ParquetSource):
                self._surveyed(X, y, sample_weight)
                survey = survey_numbers(X, workers, report.rows)
                survey.warn_of_outliers(workers)
                data: RowsAtHand = survey.rows(workers, report.rows)
                flat = isinstance(X.target, str)
            else:
                data, flat = self._arrays(X, y, sample_weight, workers)
            self._train(data, None, flat, workers, report)
        return self

    def _arrays(self, X: Any, y: Any, sample_weight: Any, workers: Workers) -> tuple[ArraySource, bool]:
        X, y = validate_data(
            self, X, y, dtype=FLOATS, ensure_min_samples=2, multi_output=True, y_numeric=True
        )
        X, y, s = rows_that_count(X, y, check_weights(sample_weight, len(X)))
        Y = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        warn_of_outliers(Y, s)
        return ArraySource(X, Y, s, RealTargets.of(Y, s), workers), y.ndim == 1

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R², the share of variance explained; a `ParquetSource` has targets and weights with it."""
        if isinstance(X, ParquetSource):
            check_alone(y, sample_weight)
            return r_squared(self._checked(X), self._model().predict, n_jobs=check_n_jobs(self.n_jobs))
        return float(super().score(X, y, sample_weight))
