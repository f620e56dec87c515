"""RBF nets with adaptive centres and widths, the base learner of Rätsch, Onoda and Müller (2001).

    f(x) = Σ_k w_k g_k(x),    g_k(x) = exp(-‖x - c_k‖² / (2 σ_k²))

The net minimises, with row weights s of sum 1,

    E(c, σ) = min over w of  ½ Σ_n s_n (t_n - f(x_n))² + ½ λ ‖w‖²

by conjugate gradients over centres and widths. The best w for given units is a ridge regression, and by the
envelope theorem the gradient of E is that of the sum at fixed w: with r = t - f and
A_nk = s_n r_n w_k g_k(x_n),

    ∂E/∂c_k = -Σ_n A_nk (x_n - c_k)/σ_k²,    ∂E/∂ log σ_k = -Σ_n A_nk ‖x_n - c_k‖²/σ_k².

Centres start at k-means, each width at the distance to the nearest other centre.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sleek._runtime.checks import check_count, check_positive, check_weights
from sleek._runtime.types import AnyArray, FloatArray, IntArray

KMEANS_STEPS = 20
LEAST_WIDTH = 1e-3  # of the data's spread: keeps a unit on a single row from becoming a needle


class BinaryClassifier(ClassifierMixin, BaseEstimator, ABC):
    """What the two-class methods of this package share: labels, signs, predictions."""

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rows, targets ±1 and weights of sum 1."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(
                f"Only binary classification is supported. {type(self).__name__} needs labels of two kinds, "
                f"got {len(self.classes_)} class(es)."
            )
        s = check_weights(sample_weight, len(X))
        t: FloatArray = 2.0 * codes.astype(np.float64) - 1.0
        return X, t, s / s.sum()

    def decision_function(self, X: Any) -> FloatArray:
        """The output for each row; above zero speaks for ``classes_[1]``."""
        check_is_fitted(self)
        return self._outputs(validate_data(self, X, reset=False, dtype=np.float64))

    def predict(self, X: Any) -> AnyArray:
        """Predict a class label for each row."""
        outputs = self.decision_function(X)
        labels: AnyArray = self.classes_[(outputs > 0).astype(int)]
        return labels

    @abstractmethod
    def _outputs(self, X: FloatArray) -> FloatArray:
        """The output for validated rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class NetClassifier(BinaryClassifier):
    """What the methods that are built of RBF nets share: a net's parameters and their checks."""

    def __init__(
        self, n_centers: int = 8, *, ridge: float = 1e-6, iterations: int = 10, random_state: Any = None
    ) -> None:
        self.n_centers = n_centers
        self.ridge = ridge
        self.iterations = iterations
        self.random_state = random_state

    def _check_net(self) -> np.random.Generator:
        """The generator that places the nets, once their parameters are known to be good."""
        check_count("n_centers", self.n_centers, least=1)
        check_positive("ridge", self.ridge)
        check_count("iterations", self.iterations, least=0)
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _net(self, X: FloatArray, t: FloatArray, s: FloatArray, rng: np.random.Generator) -> Net:
        """A net trained on targets `t` with row weights `s` of sum 1."""
        return fit_net(X, t, s, self.n_centers, self.ridge, self.iterations, rng)


@dataclass(frozen=True, eq=False)
class Net:
    """Centres (k, d), widths (k,) and weights (k,) of a fitted net."""

    centers: FloatArray
    widths: FloatArray
    weights: FloatArray

    def outputs(self, X: FloatArray) -> FloatArray:
        """f(x) for every row."""
        values: FloatArray = _units(_squared_distances(X, self.centers), self.widths) @ self.weights
        return values


class RBFNetClassifier(NetClassifier):
    """A small RBF net whose centres and widths are trained; the class is the sign of its output.

    O(rows·n_centers·(features + n_centers)) time for each of some three evaluations an iteration.

    Parameters
    ----------
    n_centers : int, default=8
    ridge : float, default=1e-6
        The penalty λ on the output weights.
    iterations : int, default=10
        Conjugate gradient iterations; 0 leaves centres and widths at their start.
    random_state : int, RandomState or None, default=None
        Seeds k-means.

    Attributes
    ----------
    net_ : Net
    classes_ : array of two labels

    Examples
    --------
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> bool(RBFNetClassifier(5, random_state=0).fit(X, y).score(X, y) > 0.85)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows `X` with two kinds of labels `y`."""
        X, t, s = self._validated(X, y, sample_weight)
        self.net_ = self._net(X, t, s, self._check_net())
        return self

    def _outputs(self, X: FloatArray) -> FloatArray:
        return self.net_.outputs(X)


def fit_net(
    X: FloatArray,
    t: FloatArray,
    s: FloatArray,
    n_centers: int,
    ridge: float,
    iterations: int,
    rng: np.random.Generator,
) -> Net:
    """A net trained on targets `t` with row weights `s` of sum 1."""
    centers = k_means(X, s, n_centers, rng)
    spread = float(np.sqrt(s @ np.sum((X - s @ X) ** 2, axis=1))) or 1.0
    widths = np.maximum(_nearest_neighbour(centers, spread), LEAST_WIDTH * spread)
    k, d = centers.shape

    def objective(p: FloatArray) -> tuple[float, FloatArray]:
        return error_and_gradient(X, t, s, ridge, p[: k * d].reshape(k, d), p[k * d :])

    start = np.concatenate([centers.ravel(), np.log(widths)])
    if iterations > 0:
        start = minimize(objective, start, jac=True, method="CG", options={"maxiter": iterations}).x
    centers, widths = start[: k * d].reshape(k, d), np.exp(start[k * d :])
    G = _units(_squared_distances(X, centers), widths)
    return Net(centers, widths, _ridge(G, t, s, ridge))


def error_and_gradient(
    X: FloatArray, t: FloatArray, s: FloatArray, ridge: float, centers: FloatArray, log_widths: FloatArray
) -> tuple[float, FloatArray]:
    """E and its gradient by the centres and the logarithms of the widths, as one vector."""
    precision = np.exp(-2.0 * np.clip(log_widths, -30.0, 30.0))
    distances = _squared_distances(X, centers)  # (n, k)
    G = np.exp(-0.5 * precision * distances)
    w = _ridge(G, t, s, ridge)
    r = t - G @ w
    A = (s * r)[:, None] * (w * G)
    d_centers = -precision[:, None] * (A.T @ X - A.sum(axis=0)[:, None] * centers)
    d_log_widths = -precision * np.sum(A * distances, axis=0)
    error = 0.5 * float(s @ r**2) + 0.5 * ridge * float(w @ w)
    return error, np.concatenate([d_centers.ravel(), d_log_widths])


def k_means(X: FloatArray, s: FloatArray, n_centers: int, rng: np.random.Generator) -> FloatArray:
    """Weighted k-means from distinct rows drawn by weight: a few of Lloyd's steps, (n_centers, d).

    With fewer distinct rows than centres there are as many centres as rows.
    """
    rows, first = np.unique(X, axis=0, return_inverse=True)
    weight = np.bincount(first.ravel(), weights=s, minlength=len(rows))
    drawable = int(np.count_nonzero(weight))
    count = min(n_centers, drawable)
    centers = rows[rng.choice(len(rows), size=count, replace=False, p=weight / weight.sum())]
    nearest: IntArray = np.full(len(rows), -1)
    for _ in range(KMEANS_STEPS):
        before, nearest = nearest, np.argmin(_squared_distances(rows, centers), axis=1)
        if np.array_equal(before, nearest):
            break
        members = weight * (nearest[None, :] == np.arange(count)[:, None])  # (k, rows)
        total = members.sum(axis=1)
        filled = total > 0
        centers[filled] = (members[filled] @ rows) / total[filled, None]
    return centers


def _squared_distances(X: FloatArray, centers: FloatArray) -> FloatArray:
    """‖x_n - c_k‖², (n, k)."""
    squares = np.einsum("nd,nd->n", X, X)[:, None] + np.einsum("kd,kd->k", centers, centers)
    distances: FloatArray = np.maximum(squares - 2.0 * X @ centers.T, 0.0)
    return distances


def _units(distances: FloatArray, widths: FloatArray) -> FloatArray:
    """g_k(x_n), (n, k)."""
    values: FloatArray = np.exp(-0.5 * distances / widths**2)
    return values


def _ridge(G: FloatArray, t: FloatArray, s: FloatArray, ridge: float) -> FloatArray:
    """The weights that minimise ½ Σ s (t - G w)² + ½ ridge ‖w‖²."""
    weighted = G * s[:, None]
    system = weighted.T @ G
    system[np.diag_indices_from(system)] += ridge
    w: FloatArray = cho_solve(cho_factor(system), weighted.T @ t)
    return w


def _nearest_neighbour(centers: FloatArray, alone: float) -> FloatArray:
    """Each centre's distance to the nearest other one; `alone` where there is only one."""
    if len(centers) == 1:
        return np.array([alone])
    distances = _squared_distances(centers, centers)
    np.fill_diagonal(distances, np.inf)
    nearest: FloatArray = np.sqrt(distances.min(axis=1))
    return nearest
