"""The estimators: validate, train, publish."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sleek._typing import AnyArray, FloatArray
from sleek.bases import known_bases
from sleek.bases.base import Basis
from sleek.fitting import Request, fit
from sleek.model import KernelModel
from sleek.sources import ArraySource, canonical
from sleek.targets import ClassTargets, RealTargets, Targets
from sleek.trainers import TRAINERS
from sleek.trainers.base import Trainer
from sleek.validation import (
    all_or_nothing,
    check_centers,
    check_choice,
    check_classes,
    check_count,
    check_n_jobs,
    check_part,
    check_positive,
    check_weights,
    rows_that_count,
    warn_of_outliers,
)
from sleek.workers import Workers, single_threaded_blas

FLOATS = (np.float64, np.float32)
CANONICAL_ROWS = (
    20_000  # up to here the result does not depend on the order of the rows, not even in rounding
)
AUTO_BASES = ("gaussian_rbf", "sigmoidal")  # what basis="auto" chooses from
Number = TypeVar("Number", int, float)


class _LowRankLSSVM(BaseEstimator):
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

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        X = self._validated(X)
        return self.model_.predict(X)

    def _validated(self, X: Any) -> AnyArray:
        check_is_fitted(self, "model_")
        rows: AnyArray = validate_data(self, X, reset=False, dtype=FLOATS)
        return rows

    def _train(
        self, X: AnyArray, y: AnyArray, s: FloatArray, targets: Targets, classes: AnyArray | None, flat: bool
    ) -> None:
        """Train on validated rows of positive weight and publish the result."""
        request = self._request(X.shape[1])
        n_jobs = check_n_jobs(self.n_jobs)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        names: AnyArray | None = vars(self).get("feature_names_in_")
        rows = np.arange(len(X))  # of X, for each row that is trained on
        if len(X) <= CANONICAL_ROWS:
            X, y, s, rows = canonical(X, y, s)
        with single_threaded_blas(), Workers(n_jobs) as workers:
            source = ArraySource(X, y, s, targets, workers)
            fitted = fit(source, request, rng, workers, names, self._report)
        self.model_ = KernelModel(
            basis=fitted.basis,
            units=fitted.units,
            theta=fitted.solution.theta,
            b=fitted.solution.b,
            C=fitted.C,
            classes=classes,
            flat=flat,
            feature_names=None if names is None else tuple(names.tolist()),
        )
        training, loo = fitted.training, fitted.loo
        self.n_units_ = len(fitted.units)
        self.n_iter_ = training.n_iter
        self.history_ = training.history
        self.status_ = training.status
        self.C_ = fitted.C
        self.pull_ = fitted.pull
        self.selection_ = fitted.selection
        self.loo_error_ = float(np.average(targets.row_errors(loo.T, loo.outputs), weights=loo.s))
        position = np.full(len(X), -1)
        position[fitted.loo_rows] = np.arange(len(fitted.loo_rows))
        self.loo_rows_ = np.flatnonzero(position[rows] >= 0)
        residuals = targets.decode_residuals(loo.residuals[position[rows[self.loo_rows_]]])
        self.loo_residuals_ = residuals[:, 0] if flat else residuals
        if not training.converged:
            warnings.warn(training.status, ConvergenceWarning, stacklevel=3)

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

    def _report(self, line: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {line}")


def _unless(word: str, value: Any, check: Callable[[], Number]) -> Number | None:
    """None if the value is the word that leaves a choice open, else the checked value."""
    return None if isinstance(value, str) and value == word else check()


class LowRankLSSVC(ClassifierMixin, _LowRankLSSVM):
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows `X` with class labels `y`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows; a row of weight 0 is left out.
        """
        with all_or_nothing(self):
            X, y = validate_data(self, X, y, dtype=FLOATS, ensure_min_samples=2)
            check_classification_targets(y)
            X, y, s = rows_that_count(X, y, check_weights(sample_weight, len(X)))
            classes, codes = np.unique(y, return_inverse=True)
            check_classes(classes)
            if self.class_weight is not None:
                X, codes, s = rows_that_count(X, codes, s * compute_sample_weight(self.class_weight, y))
            self.classes_ = classes
            self._train(X, codes, s, ClassTargets(len(classes)), classes, flat=len(classes) == 2)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """The model's outputs: (n_samples,) for two classes, else (n_samples, n_classes).

        Above zero speaks for ``classes_[1]``; with more classes the largest output wins.
        """
        X = self._validated(X)
        return self.model_.decision_function(X)


class LowRankLSSVR(MultiOutputMixin, RegressorMixin, _LowRankLSSVM):
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows `X` with targets `y`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows; a row of weight 0 is left out.
        """
        with all_or_nothing(self):
            X, y = validate_data(
                self, X, y, dtype=FLOATS, ensure_min_samples=2, multi_output=True, y_numeric=True
            )
            X, y, s = rows_that_count(X, y, check_weights(sample_weight, len(X)))
            Y = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
            warn_of_outliers(Y, s)
            self._train(X, Y, s, RealTargets.of(Y, s), None, flat=y.ndim == 1)
        return self
