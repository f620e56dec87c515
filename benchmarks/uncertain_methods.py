"""Methods that say how sure they are, each as its users run it, and what is measured of them.

>>> import numpy as np
>>> said = np.array([[0.0, 2.0], [1.0, 3.0]])
>>> interval_scores(said, np.array([1.0, 4.0]), 0.9, unit=2.0)
{'coverage': 0.5, 'width': 1.0, 'winkler': 6.000000000000001}
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.preprocessing import StandardScaler

from benchmarks.methods import make
from benchmarks.tuned import make_svm
from studies.problems import MULTI_CLASS, REGRESSION, TWO_CLASS, Problem
from studies.store import Record

LEVELS = (0.8, 0.9, 0.95)
SMALLEST = 1e-15  # what a probability of 0 counts as; how often it was said is counted besides
MOST_ROWS = 2_000  # that a tuned support vector machine, and cross-conformal prediction, are trained on


@dataclass(frozen=True)
class Method:
    """One method: how it is called, what it can do, and its estimator."""

    title: str
    settings: str
    kinds: tuple[str, ...]
    make: Callable[[Problem, int], Any]  # problem, seed → estimator
    most_rows: int | None = None
    needs: str = "sklearn"  # the module that must be there

    def takes(self, problem: Problem) -> bool:
        """Whether it is run on a problem."""
        few = self.most_rows is None or len(problem.splits[0][0]) <= self.most_rows
        return few and problem.kind in self.kinds


def _sleek(problem: Problem, seed: int) -> Any:
    return make("sleek", regression=problem.kind == REGRESSION, seed=seed)


def _cross_validated(problem: Problem, seed: int) -> Any:
    return CalibratedClassifierCV(_sleek(problem, seed), ensemble=False)


def _svm(problem: Problem, seed: int) -> Any:
    n, d = problem.split(0)[0].shape
    model = make_svm(problem.kind, n, d, seed)
    return model.set_params(estimator__svc__probability=True, estimator__svc__random_state=seed)


def _lightgbm(problem: Problem, seed: int) -> Any:
    return make("lightgbm", seed=seed)


class Neo:
    """neo-ls-svm with a standardised target, because its intercept is penalised."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Neo:
        """Fit."""
        self.target = StandardScaler().fit(y[:, None])
        self.model = make("neo").fit(X, self.target.transform(y[:, None])[:, 0])
        return self

    def predict_interval(self, X: NDArray[Any], level: float) -> NDArray[Any]:
        """Its interval, (n, 2)."""
        found = np.asarray(self.model.predict_interval(X, coverage=level))
        return np.asarray(found * self.target.scale_[0] + self.target.mean_[0])


class CrossConformal:
    """MAPIE's cross-conformal prediction (CV+) around sleek's regression: five more fits."""

    def __init__(self, model: Any, seed: int) -> None:
        self.model, self.seed = model, seed

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> CrossConformal:
        """Fit."""
        from mapie.regression import CrossConformalRegressor

        self.around = CrossConformalRegressor(self.model, LEVELS, cv=5, random_state=self.seed)
        self.around.fit_conformalize(X, y)
        return self

    def predict_interval(self, X: NDArray[Any], level: float) -> NDArray[Any]:
        """Its interval, (n, 2), some rows at a time: it holds training rows × rows."""
        parts = [
            self.around.predict_interval(X[i : i + 500])[1][:, :, LEVELS.index(level)]
            for i in range(0, len(X), 500)
        ]
        return np.concatenate(parts)


CLASSES = (TWO_CLASS, MULTI_CLASS)
METHODS = {
    "sleek": Method("sleek", "defaults", (*CLASSES, REGRESSION), _sleek, needs="sleek"),
    "sleek-cv": Method(
        "CalibratedClassifierCV(sleek)", "ensemble=False: Platt's map on five folds, five more fits", CLASSES,
        _cross_validated, MOST_ROWS, "sleek",
    ),
    "svm": Method(
        "SVC(probability=True)", "standardised, 5-fold grid over 5 C and 7 gamma", CLASSES, _svm, MOST_ROWS
    ),
    "lightgbm": Method("LightGBM", "defaults", CLASSES, _lightgbm, needs="lightgbm"),
    "neo": Method(
        "neo-ls-svm", "defaults", (TWO_CLASS,), lambda problem, seed: make("neo"), needs="neo_ls_svm"
    ),
    "neo-interval": Method(
        "neo-ls-svm", "defaults, target standardised", (REGRESSION,), lambda problem, seed: Neo(),
        needs="neo_ls_svm",
    ),
    "mapie": Method(
        "MAPIE CV+ around sleek", "CrossConformalRegressor, absolute scores, five folds", (REGRESSION,),
        lambda problem, seed: CrossConformal(_sleek(problem, seed), seed), MOST_ROWS, "mapie",
    ),
}  # fmt: skip


def measured(method: Method, problem: Problem, split: int) -> Record:
    """Log loss, Brier score and error of classes; coverage, width and Winkler's score of intervals; times."""
    X, y, X_test, y_test = problem.split(split)
    model = method.make(problem, split)
    begin = time.perf_counter()
    model.fit(X, y)
    record: Record = {"fit_s": time.perf_counter() - begin, "test_rows": len(y_test)}
    if method.title == "sleek":
        record["calibration_s"] = calibration_seconds(model)
    if problem.kind == REGRESSION:
        unit = float(np.std(y))
        for level in LEVELS:
            ends = np.asarray(model.predict_interval(X_test, level))
            record[f"at {level}"] = interval_scores(ends, y_test, level, unit)
        return record
    codes, P = np.searchsorted(np.unique(y), y_test), np.asarray(model.predict_proba(X_test))
    record |= class_scores(P, codes)
    if method.title == "sleek":
        for level in LEVELS:
            sets = model.predict_set(X_test, level)
            covers, size = sets[np.arange(len(codes)), codes].mean(), sets.sum(axis=1).mean()
            record[f"sets at {level}"] = {"coverage": float(covers), "size": float(size)}
    return record


def calibration_seconds(model: Any) -> float:
    """How long it takes to learn a fitted model's calibration again, from as many rows of noise."""
    from sleek.calibration import ClassCalibration, NumberCalibration
    from sleek.calibration.leverage import Leverage

    n, rng = len(model.left_out_rows_), np.random.default_rng(0)
    residuals = np.asarray(model.left_out_residuals_).reshape(n, -1)
    begin = time.perf_counter()
    if hasattr(model, "classes_"):
        codes = rng.integers(len(model.classes_), size=n)
        ClassCalibration.learn(residuals, codes, np.ones(n))
    else:
        moments = model.moments_
        Phi = rng.multivariate_normal(moments.mean_phi, moments.G / moments.weight, n, check_valid="ignore")
        X = rng.normal(size=(n, model.n_features_in_))
        begin = time.perf_counter()
        leverage = Leverage.of(moments.G, moments.mean_phi, moments.weight, model.C_)
        NumberCalibration.learn(residuals, Phi, model.model_.theta, np.ones(n), X, leverage)
    return time.perf_counter() - begin


def class_scores(P: NDArray[np.float64], codes: NDArray[np.int64]) -> Record:
    """Mean log loss and Brier score (the sum over classes), errors in %, and how often a truth had
    probability 0.

    >>> class_scores(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0, 1]))
    {'log_loss': 0.34657359027997264, 'brier': 0.25, 'error': 0.0, 'impossible': 0}
    """
    said = P[np.arange(len(codes)), codes]
    return {
        "log_loss": float(-np.mean(np.log(np.maximum(said, SMALLEST)))),
        "brier": float(np.mean(np.sum((P - np.eye(P.shape[1])[codes]) ** 2, axis=1))),
        "error": float(100 * np.mean(P.argmax(axis=1) != codes)),
        "impossible": int(np.sum(said <= 0)),
    }


def interval_scores(ends: NDArray[np.float64], y: NDArray[np.float64], level: float, unit: float) -> Record:
    """The share of rows within, the mean width, and Winkler's score: width, and 2/(1 - level) for each miss.

    Widths are in units of the target's standard deviation.
    """
    low, high = ends[:, 0], ends[:, 1]
    missed = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return {
        "coverage": float(np.mean((low <= y) & (y <= high))),
        "width": float(np.mean(high - low) / unit),
        "winkler": float(np.mean(high - low + 2.0 / (1.0 - level) * missed) / unit),
    }
