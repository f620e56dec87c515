"""Methods that promise small and readable models, each as its users run it, and CatBoost as the bar.

The problems have numbers only: nominal columns are one-hot, rows with gaps are dropped (`studies`). A class
here is what stands between such rows and a package that wants something else: text for labels, a data frame,
columns of 0 and 1.

>>> import numpy as np
>>> rival = READABLE["tree"]
>>> X = np.random.default_rng(0).normal(size=(200, 4))
>>> rival.terms(rival.make("two-class", n=200, d=4, seed=0).fit(X, X[:, 0] * X[:, 1] > 0)) <= 31
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.numbers_to_read import (
    aplr_numbers,
    catboost_numbers,
    ebm_numbers,
    erbf_numbers,
    fasterrisk_numbers,
    figs_numbers,
    igann_numbers,
    lasso_numbers,
    pygam_numbers,
    rulefit_numbers,
    sleek_numbers,
    tree_numbers,
)
from benchmarks.rivals import Rival
from benchmarks.tuned import as_it_comes, scaled, scaled_target
from studies.problems import REGRESSION, TWO_CLASS

Rows = NDArray[np.float64]
Answers = NDArray[Any]

# -- what stands between rows and a package ------------------------------------------------------------------


class TextLabels:
    """aplr: classes are text, a fit returns nothing, predictions are a list."""

    def __init__(self, model: Any, regression: bool) -> None:
        self.fitted_, self.regression = model, regression

    def fit(self, X: Rows, y: Answers) -> Self:
        self.fitted_.fit(X, y if self.regression else y.astype(str))
        return self

    def predict(self, X: Rows) -> Answers:
        found = np.asarray(self.fitted_.predict(X))
        return found if self.regression else found.astype(np.int64)

    def predict_proba(self, X: Rows) -> Answers:
        return np.asarray(self.fitted_.predict_proba(X))


class Halved:
    """erbf: a regressor; of two classes it learns 0 and 1, and what is above a half is 1."""

    def __init__(self, model: Any, regression: bool) -> None:
        self.fitted_, self.regression = model, regression

    def fit(self, X: Rows, y: Answers) -> Self:
        self.fitted_.fit(X, np.asarray(y, dtype=np.float64))
        return self

    def decision_function(self, X: Rows) -> Answers:
        return np.asarray(self.fitted_.predict(X)) - 0.5

    def predict(self, X: Rows) -> Answers:
        return np.asarray(self.fitted_.predict(X)) if self.regression else (self.decision_function(X) > 0) * 1


class Framed(BaseEstimator):
    """igann: a data frame, whose columns keep their order when their names are sorted."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def frame(self, X: Rows) -> Any:
        import pandas

        return pandas.DataFrame(X, columns=[f"x{column:05d}" for column in range(X.shape[1])])

    def fit(self, X: Rows, y: Answers) -> Self:
        self.fitted_ = self.model
        self.fitted_.fit(self.frame(X), y)
        return self

    def predict(self, X: Rows) -> Answers:
        return np.asarray(self.fitted_.predict(self.frame(X)))

    def predict_proba(self, X: Rows) -> Answers:
        return np.asarray(self.fitted_.predict_proba(self.frame(X)))


class Chances:
    """pygam: its probabilities are those of class 1 alone, its classes are False and True."""

    def __init__(self, model: Any) -> None:
        self.fitted_ = model

    def fit(self, X: Rows, y: Answers) -> Self:
        self.fitted_.fit(X, y)
        return self

    def predict(self, X: Rows) -> Answers:
        return np.asarray(self.fitted_.predict(X)) * 1

    def decision_function(self, X: Rows) -> Answers:
        return np.asarray(self.fitted_.predict_proba(X)) - 0.5


class ScoreCard:
    """FasterRisk: columns cut by its own binarizer, classes -1 and 1."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: Rows, y: Answers) -> Self:
        from fasterrisk.binarization_util import BinBinarizer
        from fasterrisk.wrapper import FasterRisk

        self.binarizer_ = BinBinarizer(sampling_seed=self.seed)
        self.binarizer_.fit(self.frame(X))
        self.fitted_ = FasterRisk().fit(self.cut(X), np.where(y == 1, 1.0, -1.0))
        self.points_ = np.asarray(self.fitted_.betas_[0])
        return self

    def frame(self, X: Rows) -> Any:
        import pandas

        return pandas.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])])

    def cut(self, X: Rows) -> Rows:
        return np.asarray(self.binarizer_.transform(self.frame(X))[0], dtype=np.float64)

    def predict(self, X: Rows) -> Answers:
        return np.asarray(self.fitted_.predict(self.cut(X)) == 1) * 1

    def decision_function(self, X: Rows) -> Answers:
        return np.asarray(self.cut(X) @ self.points_)


# -- factories: (kind, n, d, seed) -> estimator --------------------------------------------------------------


def make_lasso(kind: str, n: int, d: int, seed: int) -> Any:
    """Standardised features; the penalty by 5 folds."""
    if kind == REGRESSION:
        return scaled(LassoCV(random_state=seed))
    solver = "liblinear" if kind == TWO_CLASS else "saga"  # the first is exact, but has two classes only
    return scaled(LogisticRegressionCV(penalty="l1", solver=solver, random_state=seed))


def make_tree(kind: str, n: int, d: int, seed: int) -> Any:
    model = DecisionTreeRegressor if kind == REGRESSION else DecisionTreeClassifier
    return model(max_depth=4, random_state=seed)


def make_figs(kind: str, n: int, d: int, seed: int) -> Any:
    from imodels import FIGSClassifier, FIGSRegressor

    return (FIGSRegressor if kind == REGRESSION else FIGSClassifier)(random_state=seed)


def make_rulefit(kind: str, n: int, d: int, seed: int) -> Any:
    from imodels import RuleFitClassifier, RuleFitRegressor

    return (RuleFitRegressor if kind == REGRESSION else RuleFitClassifier)(random_state=seed)


def make_aplr(kind: str, n: int, d: int, seed: int) -> Any:
    from aplr import APLRClassifier, APLRRegressor

    model = APLRRegressor if kind == REGRESSION else APLRClassifier
    return TextLabels(model(n_jobs=1, random_state=seed), kind == REGRESSION)


def make_pygam(kind: str, n: int, d: int, seed: int) -> Any:
    from pygam import LinearGAM, LogisticGAM

    return Chances((LinearGAM if kind == REGRESSION else LogisticGAM)())


def make_erbf(kind: str, n: int, d: int, seed: int) -> Any:
    from erbf import ERBFRegressor

    return Halved(ERBFRegressor(random_state=seed), kind == REGRESSION)


def make_igann(kind: str, n: int, d: int, seed: int) -> Any:
    from igann import IGANNClassifier, IGANNRegressor

    model = IGANNRegressor if kind == REGRESSION else IGANNClassifier
    return scaled_target(scaled(Framed(model(random_state=seed))), kind)


def make_short(most: int) -> Callable[[str, int, int, int], Any]:
    """sleek with at most so many numbers."""

    def make(kind: str, n: int, d: int, seed: int) -> Any:
        return as_it_comes("sleek")(kind, n, d, seed).set_params(max_numbers=most)

    return make


def make_fasterrisk(kind: str, n: int, d: int, seed: int) -> Any:
    return ScoreCard(seed)


# -- who takes part ------------------------------------------------------------------------------------------

ONE_OUTPUT = (TWO_CLASS, REGRESSION)
ALL = (
    Rival(
        "sleek", "sleek", as_it_comes("sleek"), sleek_numbers,
        "places, widths, sides and corners, weights, constants", "defaults", "sleek-svm", "sleek",
    ),
    *(
        Rival(
            f"sleek-{most}", f"sleek, at most {most}", make_short(most), sleek_numbers,
            "as of sleek", f"max_numbers={most}", "sleek-svm", "sleek",
        )
        for most in (30, 100)
    ),
    Rival("tree", "tree of depth 4", make_tree, tree_numbers, "cuts, leaves", "max_depth=4"),
    Rival(
        "lasso", "lasso", make_lasso, lasso_numbers, "weights that are not 0, constants",
        "standardised; LassoCV, or LogisticRegressionCV with l1 (liblinear; several classes: saga)",
    ),
    Rival("figs", "FIGS", make_figs, figs_numbers, "cuts, leaves of all trees", "defaults: at most 12 cuts",
          "imodels", "imodels"),
    Rival(
        "erbf", "erbf", make_erbf, erbf_numbers, "centres, widths, weights, constant",
        "defaults: 40 units; regression is what it offers, of two classes it learns 0 and 1, cut at ½",
        "erbf", "erbf", ONE_OUTPUT,
    ),
    Rival(
        "catboost", "CatBoost", as_it_comes("catboost"), catboost_numbers, "cuts, leaves",
        "defaults, one thread", "catboost", "catboost",
    ),
    Rival(
        "rulefit", "RuleFit", make_rulefit, rulefit_numbers,
        "cuts and weights of rules, weights and ranges of linear terms, constant",
        "defaults: at most 30 terms", "imodels", "imodels", ONE_OUTPUT,
    ),
    Rival(
        "igann", "igann", make_igann, igann_numbers, "curves as formula or table, whichever is shorter",
        "defaults, features and target standardised", "igann", "igann", ONE_OUTPUT,
    ),
    Rival(
        "fasterrisk", "FasterRisk", make_fasterrisk, fasterrisk_numbers,
        "points, a cut for each, constant, worth of a point",
        "defaults: 10 terms, points -5 ... 5; columns cut by its BinBinarizer", "fasterrisk", "fasterrisk",
        (TWO_CLASS,),
    ),
    Rival("aplr", "aplr", make_aplr, aplr_numbers, "knots, weights, constants", "defaults, one thread",
          "aplr", "aplr"),
    Rival(
        "pygam", "pygam", make_pygam, pygam_numbers, "spline coefficients, ends of splines, constant",
        "defaults: 20 splines a column, the default penalty, no grid search", "pygam", "pygam", ONE_OUTPUT,
    ),
    Rival(
        "ebm", "EBM", as_it_comes("ebm"), ebm_numbers, "scores of bins and of pairs of bins, cuts, constants",
        "defaults, one thread", "interpret-core", "interpret",
    ),
)  # fmt: skip
READABLE = {rival.key: rival for rival in ALL}
# Splits of a small set, where a fit takes seconds or minutes.
SLOW = {"catboost": 5, "rulefit": 10, "igann": 10, "fasterrisk": 3, "aplr": 5, "pygam": 5, "ebm": 3}
