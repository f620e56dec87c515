"""Parameters of an estimator: checked for a fit, and recorded in the model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from sleek import __version__
from sleek._runtime.checks import (
    check_centers,
    check_choice,
    check_count,
    check_number,
    check_part,
    check_positive,
    check_truth,
)
from sleek.bases import known_bases
from sleek.bases.base import Basis
from sleek.fit import policy
from sleek.fit.plan import Request
from sleek.model.living import check_forgetting_factor
from sleek.outputs.loss import LOSSES, SQUARED
from sleek.outputs.number_losses import NUMBER_LOSSES
from sleek.trainers import TRAINERS
from sleek.trainers.base import Trainer

Number = TypeVar("Number", int, float)


def request_of(estimator: Any, n_features: int, updatable: bool = False) -> Request:
    """The parameters, checked, with None for what is to be chosen.

    A model that will be updated (`updatable`) has the squared loss unless another is named.
    """
    check_forgetting_factor(estimator.forgetting_factor)
    check_truth("warm_start", estimator.warm_start)
    known = known_bases()
    if isinstance(estimator.basis, str) and estimator.basis == "auto":
        bases = tuple(known[name]() for name in policy.AUTO_BASES)
    else:
        bases = (check_part("basis", estimator.basis, Basis, known, word="auto"),)
    centers = None
    if isinstance(estimator.init, str):
        check_choice("init", estimator.init, ["auto", "k-medoids"])
    else:
        centers = check_centers(estimator.init, estimator.n_units, n_features)
    loss = check_choice("loss", estimator.loss, list(estimator.losses))
    refines = loss not in ("auto", SQUARED.name)
    if updatable and refines and not (LOSSES | NUMBER_LOSSES)[loss].smooth:
        raise ValueError(
            f"loss={loss!r} has no partial_fit, as no sums say how a quantile moves: fit with all rows, or "
            "use loss='huber' or 'squared_error'."
        )
    if not 0.0 < float(check_number("quantile", getattr(estimator, "quantile", 0.5))) < 1.0:
        raise ValueError(f"`quantile` must be between 0 and 1, got {estimator.quantile!r}.")
    if not 1.0 <= float(check_number("power", getattr(estimator, "power", 1.5))) <= 3.0:
        raise ValueError(f"`power` must be from 1 to 3, got {estimator.power!r}.")
    trainer = check_part("trainer", estimator.trainer, Trainer, TRAINERS)
    pull = trainer.pull
    if any(basis.per_feature for basis in bases) and not (
        isinstance(estimator.n_units, str) and isinstance(estimator.init, str)
    ):
        raise ValueError(
            f"basis={bases[0].name!r} has a unit for every feature: leave `n_units` and `init` at 'auto'."
        )
    if refines and pull is None:
        raise ValueError(
            f"loss={loss!r} needs a trainer that can start from units and a pull, which {trainer} is not: "
            "use trainer='varpro'."
        )
    return Request(
        bases=bases,
        trainer=trainer,
        n_units=_unless(
            "auto", estimator.n_units, lambda: check_count("n_units", estimator.n_units, 1, "auto")
        ),
        C=_unless("loo", estimator.C, lambda: check_positive("C", estimator.C, "loo")),
        pull=None if pull is None else _unless("loo", pull, lambda: check_positive("pull", pull, "loo")),
        shape=_unless("auto", estimator.shape, lambda: check_positive("shape", estimator.shape, "auto")),
        centers=centers,
        at_leaves=isinstance(estimator.init, str) and estimator.init == "auto",
        standardize=check_truth("standardize", estimator.standardize),
        max_samples=_max_samples(estimator.max_samples),
        max_units=None if estimator.max_units is None else check_count("max_units", estimator.max_units, 1),
        max_numbers=_max_numbers(estimator),
        loss=loss if loss != "auto" else SQUARED.name if updatable else None,
        effort=policy.EFFORTS[check_choice("effort", estimator.effort, list(policy.EFFORTS))],
        cv=_cv(estimator.cv),
    )


def _max_samples(value: Any) -> int | str | None:
    if value is None:
        return None
    return (
        "auto" if isinstance(value, str) and value == "auto" else check_count("max_samples", value, 2, "auto")
    )


def _max_numbers(estimator: Any) -> int | None:
    if estimator.max_numbers is None:
        return None
    if not (isinstance(estimator.n_units, str) and isinstance(estimator.init, str)):
        raise ValueError("`max_numbers` chooses a size: leave `n_units` and `init` at 'auto'.")
    return check_count("max_numbers", estimator.max_numbers, 2)


def _cv(value: Any) -> Any:
    """None, a number of folds, "last", a splitter, or a list of pairs."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return None
    if hasattr(value, "split") and not isinstance(value, str):
        return value
    if isinstance(value, str):
        return check_choice("cv", value, ["auto", "last"])
    if isinstance(value, Integral):
        return check_count("cv", value, 2, "last")
    rule = "`cv` must be None, a number of folds, 'last', a splitter or a list of splits"
    try:
        pairs = [tuple(pair) for pair in value]
    except TypeError:
        raise TypeError(f"{rule}, got {value!r:.80}.") from None
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"{rule}, each a pair of rows to learn from and rows to judge by, got {value!r:.80}."
        )
    return pairs


def _unless(word: str, value: Any, check: Callable[[], Number]) -> Number | None:
    """None if the value is the word that leaves a choice open, else the checked value."""
    return None if isinstance(value, str) and value == word else check()


def training_record(estimator: Any) -> dict[str, Any]:
    """What trained a model, for `KernelModel.trained_by`: sleek's version, the estimator and its settings.

    >>> from sleek import LowRankLSSVC
    >>> record = training_record(LowRankLSSVC(4, C=10.0))
    >>> record["estimator"], record["settings"]["C"]
    ('LowRankLSSVC', 10.0)
    """
    return {
        "sleek": __version__,
        "estimator": type(estimator).__name__,
        "settings": {name: _setting(value) for name, value in estimator.get_params(deep=False).items()},
    }


def _setting(value: Any) -> Any:
    """A setting as JSON: parts by name and settings, arrays by shape, and anything else in words."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        parts = value.get_params(deep=False).items()
        return {"name": type(value).__name__, "settings": {name: _setting(part) for name, part in parts}}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float) and abs(value) < 2**63:
        return value
    if isinstance(value, Mapping):
        return {str(key): _setting(item) for key, item in value.items()}
    return f"array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
