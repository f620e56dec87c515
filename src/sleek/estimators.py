"""The estimators: validate, train, publish."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sleek._typing import AnyArray, FloatArray
from sleek.bases import known_bases
from sleek.bases.base import Basis, Scaling
from sleek.init import distinct_rows, k_medoids
from sleek.model import KernelModel
from sleek.moments import ColumnMoments
from sleek.sources import ArraySource, Block, ScaledSource, Source, single_threaded_blas
from sleek.targets import ClassTargets, RealTargets, Targets
from sleek.trainers import TRAINERS
from sleek.trainers.base import Trainer
from sleek.validation import (
    all_or_nothing,
    check_centers,
    check_choice,
    check_classes,
    check_count,
    check_enough_rows,
    check_magnitude,
    check_part,
    check_positive,
    check_weights,
    rows_that_count,
)

FLOATS = (np.float64, np.float32)
AUTO_UNITS = 20


class _LowRankLSSVM(BaseEstimator):
    """What classifier and regressor share: everything but the coding of the target."""

    @abstractmethod
    def __init__(
        self,
        n_units: int | str,
        *,
        basis: str | Basis,
        trainer: str | Trainer,
        C: float,
        shape: float | str,
        init: str | AnyArray,
        standardize: bool,
        n_jobs: int | None,
        random_state: Any,
        verbose: int,
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
        return self.model_.units["centers"]

    @property
    def shapes_(self) -> FloatArray:
        """The units' sharpness per feature in raw units, (n_units, n_features)."""
        return self.model_.units["shapes"]

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
        basis = check_part("basis", self.basis, Basis, known_bases())
        trainer = check_part("trainer", self.trainer, Trainer, TRAINERS)
        C = check_positive("C", self.C)
        names: AnyArray | None = vars(self).get("feature_names_in_")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        data = ArraySource(X, y, s, targets, n_jobs=effective_n_jobs(self.n_jobs))
        with single_threaded_blas():
            columns = data.map_reduce(_column_moments)
            check_magnitude(columns.spread(), names)
            scaling = self._scaling(columns)
            source = ScaledSource(data, scaling)
            centers = self._start_centers(source, scaling, rng)
            start = basis.start(centers, self._start_shape(columns.spread() * scaling.factor))
            training = trainer.train(source, basis, start, C, self._report)
        solution = targets.decode(training.solution)
        self.model_ = KernelModel(
            basis=basis,
            units=basis.unscale(training.units, scaling),
            theta=solution.theta,
            b=solution.b,
            C=C,
            classes=classes,
            flat=flat,
            feature_names=None if names is None else tuple(names.tolist()),
        )
        self.n_units_ = len(training.units)
        self.n_iter_ = training.n_iter
        self.history_ = training.history

    def _scaling(self, columns: ColumnMoments) -> Scaling:
        """To mean 0 and variance 1 with constant features ignored, or the identity."""
        spread = columns.spread()
        if self.standardize:
            return Scaling(columns.mean, np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0))
        return Scaling(np.zeros_like(spread), np.ones_like(spread))

    def _start_centers(self, source: Source, scaling: Scaling, rng: np.random.Generator) -> FloatArray:
        """(n_units, n_features) in training units."""
        if not isinstance(self.init, str):
            return scaling.apply(check_centers(self.init, self.n_units, len(scaling.mean)))
        check_choice("init", self.init, ["k-medoids"])
        auto = isinstance(self.n_units, str) and self.n_units == "auto"
        n_units = AUTO_UNITS if auto else check_count("n_units", self.n_units, least=1, word="auto")
        rows, weights = distinct_rows(source, n_units, seed=int(rng.integers(2**63)))
        if auto:
            n_units = min(n_units, len(rows))
        check_enough_rows(n_units, len(rows))
        return rows[k_medoids(rows, weights, n_units, rng)]

    def _start_shape(self, spread: FloatArray) -> float:
        """The sharpness at which a row one standard deviation off in every feature has distance 1."""
        if isinstance(self.shape, str) and self.shape == "auto":
            return 1.0 / float(spread.sum()) if spread.any() else 1.0
        return check_positive("shape", self.shape, word="auto")

    def _report(self, line: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {line}")


def _column_moments(block: Block) -> ColumnMoments:
    return ColumnMoments.of(block.X, block.s)


class LowRankLSSVC(ClassifierMixin, _LowRankLSSVM):
    """Least squares support vector classifier with a few learnable units.

    y(x) = Σ_j θ_j φ_j(x; λ_j) + b minimises ½‖θ‖² + C/2 Σ s (t - y(x))² over θ and b in closed form, while a
    trainer moves the units λ. Two classes are coded t = ±1; more classes share the units and have one
    column of θ each. A pass over the data costs O(rows·n_units·(features + n_units)); nothing is of size
    rows × rows.

    Parameters
    ----------
    n_units : int or "auto", default="auto"
        The number of units M, and so the size of the model. "auto" takes 20, or as many as there are
        distinct rows if those are fewer.
    basis : {"robust_rbf", "simplex", "gaussian_rbf"} or Basis, default="robust_rbf"
        The learnable functions φ_j.
    trainer : {"alternating"} or Trainer, default="alternating"
        The algorithm that trains the units; an object carries its settings.
    C : float, default=100.0
        The penalty on squared errors (the paper's γ): larger means less regularisation.
    shape : float or "auto", default="auto"
        The initial sharpness μ of every unit and feature, in standardised units if `standardize`.
        "auto" is 1/n_features there, and what corresponds to it in raw units.
    init : "k-medoids" or array of shape (n_units, n_features), default="k-medoids"
        Where the units start; an array is in raw units.
    standardize : bool, default=True
        Train on features of mean 0 and variance 1. The scaling is folded into centres and shapes
        afterwards, so the model speaks raw units either way.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with `sample_weight`.
    n_jobs : int, default=None
        Threads over blocks of rows; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seeds the k-medoids start.
    verbose : int, default=0
        Print progress if not 0.

    Attributes
    ----------
    model_ : KernelModel
        The frozen model, which does the predicting.
    centers_, shapes_ : arrays of shape (n_units, n_features)
        Location and sharpness of the units, in raw units.
    coef_ : array of shape (n_outputs, n_units)
    intercept_ : array of shape (n_outputs,)
    n_units_, n_iter_ : int
    history_ : dict of lists
        What the trainer recorded at every iteration.
    classes_ : array of labels
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if `X` had string column names.

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(1250, random_state=0)
    >>> model = LowRankLSSVC(n_units=4, random_state=0).fit(X[:250], y[:250])
    >>> model.centers_.shape
    (4, 2)
    >>> bool(model.score(X[250:], y[250:]) > 0.88)
    True
    """

    def __init__(
        self,
        n_units: int | str = "auto",
        *,
        basis: str | Basis = "robust_rbf",
        trainer: str | Trainer = "alternating",
        C: float = 100.0,
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

    Parameters
    ----------
    n_units : int or "auto", default="auto"
        The number of units M, and so the size of the model. "auto" takes 20, or as many as there are
        distinct rows if those are fewer.
    basis : {"robust_rbf", "simplex", "gaussian_rbf"} or Basis, default="robust_rbf"
        The learnable functions φ_j.
    trainer : {"alternating"} or Trainer, default="alternating"
        The algorithm that trains the units; an object carries its settings.
    C : float, default=100.0
        The penalty on squared errors (the paper's γ): larger means less regularisation.
    shape : float or "auto", default="auto"
        The initial sharpness μ of every unit and feature, in standardised units if `standardize`.
        "auto" is 1/n_features there, and what corresponds to it in raw units.
    init : "k-medoids" or array of shape (n_units, n_features), default="k-medoids"
        Where the units start; an array is in raw units.
    standardize : bool, default=True
        Train on features of mean 0 and variance 1. The scaling is folded into centres and shapes
        afterwards, so the model speaks raw units either way.
    n_jobs : int, default=None
        Threads over blocks of rows; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seeds the k-medoids start.
    verbose : int, default=0
        Print progress if not 0.

    Attributes
    ----------
    model_ : KernelModel
        The frozen model, which does the predicting.
    centers_, shapes_ : arrays of shape (n_units, n_features)
        Location and sharpness of the units, in raw units.
    coef_ : array of shape (n_outputs, n_units)
    intercept_ : array of shape (n_outputs,)
    n_units_, n_iter_ : int
    history_ : dict of lists
        What the trainer recorded at every iteration.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if `X` had string column names.

    Examples
    --------
    >>> import numpy as np
    >>> from sleek import LowRankLSSVR
    >>> x = np.linspace(-3, 3, 200)[:, None]
    >>> model = LowRankLSSVR(n_units=10, random_state=0).fit(x, np.sin(x[:, 0]))
    >>> bool(model.score(x, np.sin(x[:, 0])) > 0.99)
    True
    """

    def __init__(
        self,
        n_units: int | str = "auto",
        *,
        basis: str | Basis = "robust_rbf",
        trainer: str | Trainer = "alternating",
        C: float = 100.0,
        shape: float | str = "auto",
        init: str | AnyArray = "k-medoids",
        standardize: bool = True,
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
            self._train(X, Y, s, RealTargets.of(Y, s), None, flat=y.ndim == 1)
        return self
