"""Fits in parallel, kept in a file, and not run again with the same settings and rows."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from paper.data import Problem
from paper.lp_adaboost import RevotedAdaBoost
from paper.methods import Method
from sleek import __version__
from sleek._runtime.types import FloatArray, IntArray

Record = dict[str, Any]
Advance = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Fit:
    """One method to be fitted to one partition of one problem."""

    problem: Problem
    number: int
    method: Method
    model: BaseEstimator

    def key(self) -> str:
        """A text that changes with the settings, the rows and the version of sleek."""
        return digest([specification(self.model), self.problem.fingerprint(self.number), __version__])


def specification(model: BaseEstimator) -> list[str]:
    """An estimator's class and all its parameters, those of its parts included."""
    parameters = model.get_params(deep=True)
    named = [f"{name}={_word(value)}" for name, value in sorted(parameters.items())]
    return [type(model).__name__, *named]


def _word(value: Any) -> str:
    return type(value).__name__ if isinstance(value, BaseEstimator) else repr(value)


def digest(content: Any) -> str:
    """A short checksum of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]


class Store:
    """Finished results, one JSON line each, in a file that outlives an interruption."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: dict[str, Record] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    record = json.loads(line)
                    self.records[record["key"]] = record
                except (json.JSONDecodeError, KeyError, TypeError):
                    continue  # a line cut off by an interruption: that fit is run again

    def __contains__(self, key: str) -> bool:
        return key in self.records

    def __getitem__(self, key: str) -> Record:
        return self.records[key]

    def add(self, records: Iterable[Record]) -> None:
        """Keep results, in memory and in the file."""
        text = ""
        for record in records:
            self.records[record["key"]] = record
            text += json.dumps(record) + "\n"
        with self.path.open("a+b") as file:
            if file.tell() and not _ends_with_newline(file):
                text = "\n" + text
            file.write(text.encode())


def _ends_with_newline(file: Any) -> bool:
    file.seek(-1, 2)
    return bool(file.read(1) == b"\n")


def run(fits: Sequence[Fit], store: Store, jobs: int, advance: Advance) -> list[Record]:
    """The results of all fits in their order; those not yet in the store are run.

    Fits to the same partition run in one process and share what they can. `advance` is called with a line of
    text for every partition that is done.
    """
    groups: dict[tuple[str, int], list[Fit]] = {}
    for fit in fits:
        if fit.key() not in store:
            groups.setdefault((fit.problem.name, fit.number), []).append(fit)
    calls = (delayed(_run_group)(group) for group in groups.values())
    for records in Parallel(n_jobs=jobs, return_as="generator_unordered")(calls):
        store.add(records)
        advance(f"{records[0]['set']} {records[0]['number'] + 1}")
    return [store[fit.key()] for fit in fits]


def pending(fits: Sequence[Fit], store: Store) -> int:
    """The number of partitions that `run` has to work on."""
    return len({(fit.problem.name, fit.number) for fit in fits if fit.key() not in store})


def _run_group(fits: Sequence[Fit]) -> list[Record]:
    """Fit and test several methods on one partition."""
    X, t, X_test, t_test = fits[0].problem.split(fits[0].number)
    records = []
    for fit, (model, seconds) in zip(fits, fit_all([fit.model for fit in fits], X, t), strict=True):
        records.append(
            {
                "key": fit.key(),
                "set": fit.problem.name,
                "number": fit.number,
                "method": fit.method.key,
                "error": 100.0 * float(np.mean(model.predict(X_test) != t_test)),
                "size": fit.method.size(model),
                "seconds": round(seconds, 4),
                "settings": specification(fit.model),
            }
        )
    return records


def fit_all(models: Sequence[BaseEstimator], X: FloatArray, t: IntArray) -> list[tuple[Any, float]]:
    """Fitted copies of the models with their CPU seconds; ensembles that vote anew share one AdaBoost.

    Each model's time is what it would have taken alone. CPU time, because a run takes all cores of a machine
    that may have other work to do.
    """
    bases: dict[str, tuple[Any, float]] = {}

    def fitted(model: BaseEstimator) -> tuple[Any, float]:
        key = digest(specification(model))
        if key not in bases:
            begin = time.process_time()
            bases[key] = clone(model).fit(X, t), time.process_time() - begin
        return bases[key]

    results = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model in models:
            if isinstance(model, RevotedAdaBoost):
                base, seconds = fitted(model.base())
                begin = time.process_time()
                results.append((clone(model).revote(base, X, t), seconds + time.process_time() - begin))
            else:
                results.append(fitted(model))
    return results
