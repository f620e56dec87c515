"""Fits in parallel, kept in a store, and not run again with the same settings and rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from paper.lp_adaboost import RevotedAdaBoost
from paper.methods import Method
from sleek import __version__
from sleek._runtime.types import AnyArray, FloatArray
from studies.problems import Problem
from studies.store import Record, Store, digest

Advance = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Fit:
    """One method to be fitted to one split of one problem."""

    problem: Problem
    number: int
    method: Method
    model: BaseEstimator

    def key(self) -> str:
        """A text that changes with the settings and the version of sleek."""
        return digest([specification(self.model), __version__])

    def fingerprint(self) -> str:
        """A text that changes with the rows."""
        return self.problem.fingerprint(self.number)

    def found(self, store: Store) -> Record | None:
        """Its result, if it was run before."""
        return store.get(self.key(), self.fingerprint())


def specification(model: BaseEstimator) -> list[str]:
    """An estimator's class and all its parameters, those of its parts included."""
    parameters = model.get_params(deep=True)
    named = [f"{name}={_word(value)}" for name, value in sorted(parameters.items())]
    return [type(model).__name__, *named]


def _word(value: Any) -> str:
    return type(value).__name__ if isinstance(value, BaseEstimator) else repr(value)


def run(fits: Sequence[Fit], store: Store, jobs: int, advance: Advance) -> list[Record]:
    """The results of all fits in their order; those not yet in the store are run.

    Fits to the same split run in one process and share what they can. `advance` is called with a line of
    text for every split that is done.
    """
    calls = (delayed(_run_group)(group) for group in pending(fits, store))
    for records in Parallel(n_jobs=jobs, return_as="generator_unordered")(calls):
        store.add(records)
        advance(f"{records[0]['set']} {records[0]['number'] + 1}")
    return [record for fit in fits if (record := fit.found(store)) is not None]


def pending(fits: Sequence[Fit], store: Store) -> list[list[Fit]]:
    """The fits that `run` has to do, those to the same split together."""
    groups: dict[tuple[str, int], list[Fit]] = {}
    for fit in fits:
        if fit.found(store) is None:
            groups.setdefault((fit.problem.name, fit.number), []).append(fit)
    return list(groups.values())


def _run_group(fits: Sequence[Fit]) -> list[Record]:
    """Fit and test several methods on one split."""
    X, y, X_test, y_test = fits[0].problem.split(fits[0].number)
    records = []
    for fit, (model, seconds) in zip(fits, fit_all([fit.model for fit in fits], X, y), strict=True):
        records.append(
            {
                "key": fit.key(),
                "fingerprint": fit.fingerprint(),
                "set": fit.problem.name,
                "number": fit.number,
                "method": fit.method.key,
                "error": 100.0 * float(np.mean(model.predict(X_test) != y_test)),
                "size": fit.method.size(model),
                "seconds": round(seconds, 4),
                "settings": specification(fit.model),
            }
        )
    return records


def fit_all(models: Sequence[BaseEstimator], X: FloatArray, y: AnyArray) -> list[tuple[Any, float]]:
    """Fitted copies of the models with their CPU seconds; ensembles that vote anew share one AdaBoost.

    Each model's time is what it would have taken alone. CPU time, because a run takes all cores of a machine
    that may have other work to do.
    """
    bases: dict[str, tuple[Any, float]] = {}

    def fitted(model: BaseEstimator) -> tuple[Any, float]:
        key = digest(specification(model))
        if key not in bases:
            begin = time.process_time()
            bases[key] = clone(model).fit(X, y), time.process_time() - begin
        return bases[key]

    results = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model in models:
            if isinstance(model, RevotedAdaBoost):
                base, seconds = fitted(model.base())
                begin = time.process_time()
                results.append((clone(model).revote(base, X, y), seconds + time.process_time() - begin))
            else:
                results.append(fitted(model))
    return results
