"""Methods as they come, by name; a package is imported when its method is asked for, and not before.

Each runs with the settings that its authors chose; what wants standardised features gets them.

>>> make("logistic").fit([[0.0], [1.0]], [0, 1]).predict([[2.0]])
array([1])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Order:
    """What `make` was asked for, for the factories."""

    regression: bool
    n_jobs: int
    seed: int
    option: str

    def pick(self, classifier: Any, regressor: Any) -> Any:
        """The class that fits the targets."""
        return regressor if self.regression else classifier


def make(method: str, *, regression: bool = False, n_jobs: int = 1, seed: int = 0) -> Any:
    """An unfitted estimator.

    Parameters
    ----------
    method : str
        A name of `FACTORIES`; after a colon may stand sleek's basis or a network's number of hidden units.
    regression : bool
        Whether numbers are to be predicted instead of classes.
    n_jobs : int
        Threads, where a method can be told; the others obey the limits of the process.
    seed : int
    """
    name, _, option = method.partition(":")
    return FACTORIES[name](Order(regression, n_jobs, seed, option))


def units_in_words(model: Any) -> str:
    """How many units of which kind a fitted estimator of sleek has."""
    parts = [f"{len(part.units)} {part.basis.name}" for part in model.model_.parts]
    return f"{' + '.join(parts)} units"


def _sleek(order: Order) -> Any:
    from sleek import LowRankLSSVC, LowRankLSSVR

    size = {"n_units": 20, "basis": order.option} if order.option else {}
    return order.pick(LowRankLSSVC, LowRankLSSVR)(**size, n_jobs=order.n_jobs, random_state=order.seed)


def _lightgbm(order: Order) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    return order.pick(LGBMClassifier, LGBMRegressor)(n_jobs=order.n_jobs, verbose=-1, random_state=order.seed)


def _catboost(order: Order) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    quiet = {"verbose": 0, "allow_writing_files": False}
    model = order.pick(CatBoostClassifier, CatBoostRegressor)
    return model(thread_count=order.n_jobs, random_seed=order.seed, **quiet)


def _boosting(order: Order) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    model = order.pick(HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    return model(random_state=order.seed)


def _ebm(order: Order) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    model = order.pick(ExplainableBoostingClassifier, ExplainableBoostingRegressor)
    return model(n_jobs=order.n_jobs, random_state=order.seed)


def _xrfm(order: Order) -> Any:
    from pytabkit import XRFM_D_Classifier, XRFM_D_Regressor

    model = order.pick(XRFM_D_Classifier, XRFM_D_Regressor)
    return model(device="cpu", n_threads=order.n_jobs, random_state=order.seed)


def _realmlp(order: Order) -> Any:
    from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

    model = order.pick(RealMLP_TD_Classifier, RealMLP_TD_Regressor)
    return model(device="cpu", n_threads=order.n_jobs, random_state=order.seed)


def _neo(order: Order) -> Any:
    from neo_ls_svm import NeoLSSVM

    return NeoLSSVM()  # scales the features itself


def _svc(order: Order) -> Any:
    from sklearn.svm import SVC, SVR

    return _scaled(order.pick(SVC, SVR)())


def _nystroem(order: Order) -> Any:
    """100 random kernel columns, then ridge with a penalty chosen by leave-one-out."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import RidgeClassifierCV, RidgeCV

    columns = Nystroem(n_components=100, random_state=order.seed)
    return _scaled(columns, order.pick(RidgeClassifierCV, RidgeCV)())


def _mlp(order: Order) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    model, hidden = order.pick(MLPClassifier, MLPRegressor), (int(order.option or 10),)
    return _scaled(model(hidden_layer_sizes=hidden, random_state=order.seed))


def _logistic(order: Order) -> Any:
    """On the features as they are."""
    from sklearn.linear_model import LinearRegression, LogisticRegression

    return order.pick(LogisticRegression, LinearRegression)()


def _scaled(*steps: Any) -> Any:
    """Standardise the features, then go through the steps."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), *steps)


FACTORIES = {
    "sleek": _sleek,
    "lightgbm": _lightgbm,
    "catboost": _catboost,
    "hgb": _boosting,
    "ebm": _ebm,
    "xrfm": _xrfm,
    "realmlp": _realmlp,
    "neo": _neo,
    "svc": _svc,
    "nystroem": _nystroem,
    "mlp": _mlp,
    "logistic": _logistic,
}
