"""Every row of the paper's tables as an estimator, and sleek's defaults as one row more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from paper.adaboost import AdaBoostRBF, SoftEnsemble
from paper.adaboost_reg import AdaBoostRegRBF
from paper.lp_adaboost import LPRegAdaBoost
from paper.qp_adaboost import QPRegAdaBoost
from paper.rbf_net import RBFNetClassifier
from paper.settings import CENTERS, DENSE_C, SETTINGS, SIGMAS
from sleek import LSSVC, LowRankLSSVC

Choice = dict[str, float]


@dataclass(frozen=True, eq=False)
class Method:
    """A row of a table.

    Attributes
    ----------
    key, label : str
    make : callable
        The estimator for a set's name, a number of boosting rounds, and chosen parameters.
    size : callable
        The number of terms of a fitted model.
    grid : dict of str to values
        Parameters to choose by cross-validation.
    """

    key: str
    label: str
    make: Callable[[str, int, Choice], BaseEstimator]
    size: Callable[[Any], int]
    grid: dict[str, tuple[float, ...]] = field(default_factory=dict)


def _paper(key: str, label: str) -> Method:
    """A low rank model with the paper's settings."""
    return Method(key, label, lambda name, rounds, choice: SETTINGS[name][key].model(), _units)


def _dense(sigma: float) -> Method:
    """The dense LS-SVM. Published errors come from exp(-‖x - x'‖²/σ²), so gamma = 1/σ²."""
    return Method(
        f"dense {sigma}",
        f"LSSVM-Gaussian (σ = {sigma})",
        lambda name, rounds, choice: LSSVC(DENSE_C, gamma=1 / sigma**2),
        lambda model: len(model.support_vectors_),
    )


def _soft(key: str, label: str, ensemble: type[SoftEnsemble], penalties: tuple[float, ...]) -> Method:
    """An ensemble of RBF nets whose C is chosen."""

    def make(name: str, rounds: int, choice: Choice) -> BaseEstimator:
        return ensemble(choice["C"], n_rounds=rounds, n_centers=CENTERS[name], random_state=0)

    return Method(key, label, make, _centers, {"C": penalties})


def _units(model: Any) -> int:
    return int(model.n_units_)


def _centers(model: Any) -> int:
    return sum(len(net.centers) for net in model.nets_)


LOW_RANK = (
    _paper("sbf", "LSSVM-SBF"),
    _paper("absolute", "Proposed (absolute)"),
    _paper("squared", "Proposed (squared)"),
    _paper("target", "Proposed (target)"),
    Method("sleek", "sleek, defaults", lambda name, rounds, choice: LowRankLSSVC(random_state=0), _units),
)

COMPARATORS = (
    Method(
        "rbf",
        "RBF net",
        lambda name, rounds, choice: RBFNetClassifier(CENTERS[name], random_state=0),
        lambda model: len(model.net_.centers),
    ),
    Method(
        "adaboost",
        "AdaBoost with RBF nets",
        lambda name, rounds, choice: AdaBoostRBF(rounds, n_centers=CENTERS[name], random_state=0),
        _centers,
    ),
    _soft("adaboost_reg", "AdaBoost_Reg", AdaBoostRegRBF, (3.0, 1.0, 0.3, 0.1, 0.03)),
    _soft("lp", "LP_Reg-AdaBoost", LPRegAdaBoost, (1.5, 2.0, 2.25, 2.5, 3.0)),
    _soft("qp", "QP_Reg-AdaBoost", QPRegAdaBoost, (0.1, 0.3, 1.0, 3.0, 10.0)),
    Method(
        "svm",
        "SVM, RBF kernel",
        lambda name, rounds, choice: SVC(**choice),
        lambda model: int(model.n_support_.sum()),
        {"C": (0.3, 1.0, 3.0, 10.0, 100.0, 1000.0), "gamma": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)},
    ),
)

TABLE_1_METHODS = (*(_dense(sigma) for sigma in SIGMAS), *LOW_RANK)
TABLE_2_METHODS = (*COMPARATORS, *LOW_RANK)
