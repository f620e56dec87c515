"""The methods that are compared, each as its users run it.

A rival is a factory of an estimator and a way to count the terms of what it learnt. Boosting, neo-ls-svm,
xRFM, RealMLP and sleek run with their defaults, as they are meant to (`methods`); the others are tuned
(`tuned`).

>>> import numpy as np
>>> rival = RIVALS["svm"]
>>> model = rival.make("two-class", n=200, d=4, seed=0)
>>> X = np.random.default_rng(0).normal(size=(200, 4))
>>> rival.terms(model.fit(X, X[:, 0] * X[:, 1] > 0)) > 10
True
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from benchmarks.tuned import (
    Factory,
    as_it_comes,
    make_kmeans,
    make_linear,
    make_mlp,
    make_nystroem,
    make_rvm,
    make_svm,
)
from studies.problems import KINDS, REGRESSION, TWO_CLASS, Problem


@dataclass(frozen=True)
class Rival:
    """One method.

    Parameters
    ----------
    key, title : str
        Name in options and results; name in the tables.
    make : callable (kind, n, d, seed) -> estimator
        Makes an unfitted estimator for a kind of problem with n training rows and d features.
    terms : callable (fitted estimator) -> int
        Counts units, support vectors, leaves or coefficients.
    counts : str
        What is counted.
    settings : str
        How it is run, in words.
    package, module : str
        Distribution whose version is reported; module that must be importable.
    kinds : tuple of str
        Kinds of problems that it can do.
    most_rows : int, optional
        It is not run with more training rows than these, because it would take too long.
    ranked : bool
        Whether it has a rank. A slow method has none: ranks need all methods on the same sets.
    """

    key: str
    title: str
    make: Factory
    terms: Callable[[Any], int]
    counts: str
    settings: str
    package: str = "scikit-learn"
    module: str = "sklearn"
    kinds: tuple[str, ...] = KINDS
    most_rows: int | None = None
    ranked: bool = True

    def missing(self) -> str | None:
        """Return why the method cannot run here, or None."""
        try:
            importlib.import_module(self.module)
        except ImportError as error:
            return f"{self.package}: {error}"
        return None

    def takes(self, problem: Problem) -> bool:
        """Whether it is run on a problem."""
        few = self.most_rows is None or len(problem.splits[0][0]) <= self.most_rows
        return few and problem.kind in self.kinds

    def limits(self) -> str:
        """Which problems it is run on, in words."""
        words = [] if self.kinds == KINDS else [*self.kinds]
        if self.most_rows is not None:
            words.append(f"at most {self.most_rows:,} training rows")
        return ", ".join(words) or "all"


# -- what is counted ----------------------------------------------------------------------------------------


def learned(model: Any) -> Any:
    """Unwrap target scaling, grid searches and pipelines down to the last fitted step."""
    while isinstance(model, TransformedTargetRegressor | GridSearchCV | Pipeline):
        if isinstance(model, TransformedTargetRegressor):
            model = model.regressor_
        elif isinstance(model, GridSearchCV):
            model = model.best_estimator_
        else:
            model = model[-1]
    return model


def columns(model: Any) -> int:
    """Number of features or units that the last, linear step sees."""
    return int(learned(model).n_features_in_)


def support_vectors(model: Any) -> int:
    """Support vectors, each counted once also with several classes."""
    return len(learned(model).support_)


def boosting_leaves(model: Any) -> int:
    """Leaves of all trees of scikit-learn's boosting."""
    return sum(tree.get_n_leaf_nodes() for step in model._predictors for tree in step)


def lightgbm_leaves(model: Any) -> int:
    """Leaves of all trees of LightGBM."""
    return sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"])


def ebm_bins(model: Any) -> int:
    """Numbers in the tables of all shape functions."""
    return sum(np.size(scores) for scores in model.term_scores_)


def neo_terms(model: Any) -> int:
    """Training rows in the dual, random features in the primal."""
    model = learned(model)
    return len(model.X_) if model.dual_ else len(model.β̂_)


def hidden_units(model: Any) -> int:
    """Units of the only hidden layer."""
    return int(learned(model).hidden_layer_sizes[0])


def realmlp_weights(model: Any) -> int:
    """Learnt numbers of the network."""
    return sum(parameter.numel() for parameter in model.alg_interface_.model.parameters())


def xrfm_centers(model: Any) -> int:
    """Centres of the kernel in all leaves of its one tree: training rows that were not held out."""
    (split,) = model.alg_interface_.sub_split_interfaces
    return sum(len(tree["model"].centers) for tree in split.model_.trees)


# -- who takes part -----------------------------------------------------------------------------------------

GRID = "standardised, 5-fold grid"
DEFAULTS = "defaults, one thread"
ALL = (
    Rival(
        "sleek", "sleek", as_it_comes("sleek"), lambda model: len(model.model_.expansion), "units",
        "defaults, nothing tuned", "sleek-svm", "sleek",
    ),
    Rival(
        "svm", "SVC / SVR", make_svm, support_vectors, "support vectors",
        f"{GRID} over 5 C (0.1 ... 1000) and 7 gamma (1/256 ... 16, over D)", most_rows=6_000,
    ),
    Rival(
        "nystroem", "Nystroem + ridge", make_nystroem, columns, "components",
        f"{GRID} over 7 gamma, 200 components, ridge penalty by leave-one-out",
    ),
    Rival("hgb", "HistGradientBoosting", as_it_comes("hgb"), boosting_leaves, "leaves", DEFAULTS),
    Rival(
        "lightgbm", "LightGBM", as_it_comes("lightgbm"), lightgbm_leaves, "leaves", DEFAULTS,
        "lightgbm", "lightgbm",
    ),
    Rival(
        "catboost", "CatBoost", as_it_comes("catboost"), lambda model: int(sum(model.get_tree_leaf_counts())),
        "leaves", DEFAULTS, "catboost", "catboost",
    ),
    Rival(
        "linear", "logistic / ridge", make_linear, columns, "coefficients",
        f"{GRID} over 7 C; ridge by leave-one-out",
    ),
    *(
        Rival(
            f"kmeans-{m}", f"k-means RBF {m}", make_kmeans(m), columns, "units",
            f"{GRID} over 7 gamma, ridge penalty by leave-one-out; at most half as many units as rows",
        )
        for m in (10, 30, 100)
    ),
    *(
        Rival(
            f"mlp-{m}", f"MLP {m}", make_mlp(m), hidden_units, "units",
            "standardised, defaults but up to 2000 epochs",
        )
        for m in (10, 30)
    ),
    Rival(
        "neo-ls-svm", "neo-ls-svm", as_it_comes("neo", target_scaled=True), neo_terms, "support vectors",
        "defaults, target standardised because its intercept is penalised; only kinds that it offers",
        "neo-ls-svm", "neo_ls_svm", (TWO_CLASS, REGRESSION),
    ),
    Rival(
        "fastrvm", "fastrvm", make_rvm, lambda model: len(learned(model).relevance_), "relevance vectors",
        "standardised, gamma='scale' as in its README, at most 1000 iterations; "
        "intercept switched on after a look at test errors",
        "fastrvm", "fastrvm", most_rows=1_000,
    ),
    Rival(
        "xrfm", "xRFM", as_it_comes("xrfm"), xrfm_centers, "kernel centres", f"{DEFAULTS}, a fifth held out",
        "xrfm", "pytabkit", most_rows=5_000, ranked=False,
    ),
    Rival(
        "realmlp", "RealMLP", as_it_comes("realmlp"), realmlp_weights, "weights",
        f"tuned defaults (TD), {DEFAULTS.removeprefix('defaults, ')}, a fifth held out",
        "pytabkit", "pytabkit", most_rows=5_000, ranked=False,
    ),
    Rival(
        "ebm", "EBM", as_it_comes("ebm"), ebm_bins, "bins", DEFAULTS,
        "interpret-core", "interpret", most_rows=5_000, ranked=False,
    ),
)  # fmt: skip
RIVALS = {rival.key: rival for rival in ALL}
