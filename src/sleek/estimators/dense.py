"""The estimators `LSSVC` and `LSSVR`: exact, dense LS-SVMs with any kernel, for a few thousand rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sleek._runtime.checks import (
    check_choice,
    check_classes,
    check_count,
    check_memory,
    check_number,
    check_positive,
    check_weights,
    rows_that_count,
)
from sleek._runtime.machine import machine_memory
from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration.class_calibration import ClassCalibration
from sleek.calibration.number_calibration import NumberCalibration
from sleek.closed_form.dense_system import solve_dense
from sleek.estimators.conventions import VersionedEstimator, all_or_nothing, check_names, feature_names_of
from sleek.estimators.dense_uncertain import DenseIntervals, DenseProbabilities
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.labels import Labels, check_one_label
from sleek.rows.checked import check_finite
from sleek.rows.predicting import Expected, rows_to_predict
from sleek.rows.weights import WeightSurvey, as_observations

KERNELS = ("laplacian", "linear", "poly", "rbf")
PREDICT_ROWS = 1024  # rows of the kernel matrix held at a time when predicting


class _DenseLSSVM(VersionedEstimator):
    """What classifier and regressor share: kernel, system, outputs."""

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _solve(self, X: FloatArray, T: FloatArray, s: FloatArray) -> FloatArray:
        """Fit targets T (n, k) on validated rows of positive weight, publish the result.

        Returns the outputs (n, k) that each row would have if it were left out.
        """
        C = check_positive("C", self.C)
        check_choice("kernel", self.kernel, KERNELS)
        check_count("degree", self.degree, least=1)
        check_number("coef0", self.coef0)
        WeightSurvey.of(s)  # whose sum must be a number
        check_memory(len(X), machine_memory())
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            gamma = self._resolve_gamma(X, s)
            A, strength = self._kernel_matrix(X, X, gamma), C * s
            A[np.diag_indices_from(A)] += 1.0 / strength
        if not (gamma > 0 and np.isfinite(A).all()):
            raise ValueError(
                f"The {self.kernel} kernel of these rows, or 1/C over their weights, is beyond float64: "
                "standardize the features, or give weights of one magnitude."
            )
        try:
            solution = solve_dense(A, T, strength, WeightSurvey.of(s).copies(s))
        except LinAlgError:
            raise ValueError(
                f"The {self.kernel} kernel matrix plus 1/C is not positive definite in float64: "
                "standardize the features, use a smaller C, or a kernel with coef0 >= 0."
            ) from None
        self.intercept_, self.dual_coef_ = solution.b, solution.alpha.T
        self.support_vectors_ = X
        self.gamma_ = gamma
        return solution.left_out

    def _resolve_gamma(self, X: FloatArray, s: FloatArray) -> float:
        if isinstance(self.gamma, str) and self.gamma == "scale":
            mean = np.average(X, axis=0, weights=s).mean()
            variance = float(np.average((X - mean) ** 2, axis=0, weights=s).mean())
            return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        return check_positive("gamma", self.gamma, word="scale")

    def _kernel_matrix(self, A: FloatArray, B: FloatArray, gamma: float) -> FloatArray:
        from sklearn.metrics.pairwise import pairwise_kernels  # here: it would double the time of the import

        if self.kernel == "rbf":  # squares are expanded, and far from 0 they cancel
            origin = B.mean(axis=0)
            A, B = A - origin, B - origin
        K: FloatArray = pairwise_kernels(
            A, B, metric=self.kernel, filter_params=True, gamma=gamma, degree=self.degree, coef0=self.coef0
        )
        return K

    def _outputs(self, X: Any) -> FloatArray:
        """(n, k) for unchecked rows."""
        return self._outputs_at(self._features(X))

    def _features(self, X: Any) -> FloatArray:
        """Rows to predict, checked."""
        check_is_fitted(self, "dual_coef_")
        names, n_columns = feature_names_of(self), self.n_features_in_
        check_names(self, X, names)
        expected = Expected(names, n_columns, n_columns, called=type(self).__name__, fitted=True)
        return np.asarray(rows_to_predict(X, expected), dtype=np.float64)

    def _check_rows(self, X: Any, y: Any, **options: Any) -> tuple[FloatArray, AnyArray]:
        """Rows to learn from."""
        if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
            raise ValueError("Input X contains masked values: fill in numbers, or leave the rows out.")
        X, y = validate_data(
            self, X, y, ensure_all_finite=False, dtype=np.float64, ensure_min_samples=2, **options
        )
        check_finite(X, feature_names_of(self), "row {}".format)
        return X, y

    def _outputs_at(self, X: FloatArray) -> FloatArray:
        """(n, k) for checked rows, a slice of the kernel matrix at a time."""
        Y = np.empty((len(X), len(self.intercept_)))
        for rows in gen_batches(len(X), PREDICT_ROWS):
            with np.errstate(over="ignore", invalid="ignore"):
                K = self._kernel_matrix(X[rows], self.support_vectors_, self.gamma_)
                Y[rows] = K @ self.dual_coef_.T + self.intercept_
        bad = np.flatnonzero(~np.isfinite(Y).all(axis=1))
        if len(bad):
            raise ValueError(
                f"The {self.kernel} kernel is beyond float64 at row {bad[0]}, which is too far from the rows "
                "that the model was fitted to."
            )
        return Y


class LSSVC(DenseProbabilities, ClassifierMixin, _DenseLSSVM):
    """Dense least squares support vector classifier: exact, and as large as the training data.

    O(rows³) time and 16·rows² bytes of memory; a fit that cannot fit into the machine's memory is refused
    before it starts. More than two classes share one factorisation, one column each.

    Parameters
    ----------
    C : float, default=1.0
        The penalty on squared errors (the paper's γ).
    kernel : {"rbf", "linear", "poly", "laplacian"}, default="rbf"
    gamma : float or "scale", default="scale"
        Coefficient of the rbf, poly and laplacian kernels, as in scikit-learn's `SVC`; a Gaussian
        exp(-‖x - x'‖²/(2σ²)) has gamma = 1/(2σ²).
    degree : int, default=3
    coef0 : float, default=0.0
    calibrator : object with `fit` and `predict_proba`, or None, default=None
        What makes probabilities of decision values, as in `LowRankLSSVC`.

    Attributes
    ----------
    dual_coef_ : array of shape (n_outputs, n_rows)
    intercept_ : array of shape (n_outputs,)
    support_vectors_ : array of shape (n_rows, n_features)
    gamma_ : float
    classes_ : array of labels

    Examples
    --------
    >>> from sleek import LSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> LSSVC(C=10.0, gamma=1.0).fit(X, y).dual_coef_.shape
    (1, 250)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        calibrator: Any = None,
    ) -> None:
        super().__init__(C, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0)
        self.calibrator = calibrator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the LS-SVM system for rows `X` with class labels `y`."""
        with all_or_nothing(self):
            check_one_label(y)
            X, y = self._check_rows(X, y)
            check_classification_targets(y)
            X, y, s = rows_that_count(X, y, check_weights(sample_weight, len(X)))
            self.classes_ = np.unique(y)
            check_classes(self.classes_)
            outputs, labels = ClassOutputs(self.classes_), Labels.of(y)
            left_out = self._solve(X, outputs.encode(labels), s)
            weights = as_observations(s, WeightSurvey.of(s).copies(s))
            self.calibration_ = ClassCalibration.learn(
                left_out, outputs.codes(labels), weights, self.calibrator
            )
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """The outputs: (n_samples,) for two classes, else (n_samples, n_classes)."""
        Y = self._outputs(X)
        return ClassOutputs(self.classes_).scores(Y)

    def predict(self, X: Any) -> AnyArray:
        """Predict a class label for each row."""
        Y = self._outputs(X)
        return ClassOutputs(self.classes_).answer(self.calibration_.decision_scores(Y))


class LSSVR(DenseIntervals, MultiOutputMixin, RegressorMixin, _DenseLSSVM):
    """Dense least squares support vector regression: exact, and as large as the training data.

    Parameters and cost are those of `LSSVC`; several targets share one factorisation.

    Examples
    --------
    >>> import numpy as np
    >>> from sleek import LSSVR
    >>> x = np.linspace(-3, 3, 50)[:, None]
    >>> bool(LSSVR(C=1e3).fit(x, np.sin(x[:, 0])).score(x, np.sin(x[:, 0])) > 0.999)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the LS-SVM system for rows `X` with targets `y`, one column or several."""
        with all_or_nothing(self):
            X, y = self._check_rows(X, y, multi_output=True, y_numeric=True)
            X, y, s = rows_that_count(X, y, check_weights(sample_weight, len(X)))
            T = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
            left_out = self._solve(X, T, s)
            self.flat_ = y.ndim == 1
            weights = as_observations(s, WeightSurvey.of(s).copies(s))
            self.calibration_ = NumberCalibration.learn(
                T - left_out, left_out, np.eye(T.shape[1]), weights, X
            )
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict the target of each row."""
        return self._flat(self._outputs(X))

    def _flat(self, A: FloatArray) -> FloatArray:
        return A[:, 0] if self.flat_ else A
