"""One method fitted to one split of one problem, and everything that is measured of it."""

from __future__ import annotations

import importlib.metadata
import io
import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.rivals import Rival
from studies.problems import REGRESSION, TWO_CLASS, Problem
from studies.store import Record, Store


@dataclass(frozen=True, eq=False)
class Trial:
    """A method, a problem and the number of a split."""

    rival: Rival
    problem: Problem
    split: int

    @property
    def key(self) -> str:
        """What is measured, for the store."""
        return f"{self.problem.name}/{self.split}/{self.rival.key}"

    @property
    def fingerprint(self) -> str:
        """On which rows."""
        return self.problem.fingerprint(self.split)

    def found(self, store: Store) -> Record | None:
        """Its result, if it was run before."""
        return store.get(self.key, self.fingerprint)

    def labels(self) -> Record:
        """What a record begins with: what is fitted to which rows."""
        return {
            "key": self.key,
            "fingerprint": self.fingerprint,
            "set": self.problem.name,
            "split": self.split,
            "method": self.rival.key,
            "version": f"{self.rival.package} {importlib.metadata.version(self.rival.package)}",
        }

    def run(self) -> Record:
        """Fit and test; a failure is a result too."""
        record = self.labels()
        try:
            with warnings.catch_warnings(record=True) as caught, threadpool_limits(1), silence():
                warnings.simplefilter("always")
                record |= measured(self.rival, self.problem, self.split)
            if caught:
                record["warning"] = str(caught[0].message)[:200]
        except Exception as error:  # the point is to write down whatever it is, and to go on
            record["failed"] = f"{type(error).__name__}: {error}"[:300]
        return record


@contextmanager
def silence() -> Iterator[None]:
    """Let nothing be printed or logged: some rivals talk while they work."""
    nowhere = io.StringIO()
    logging.disable()
    try:
        with redirect_stdout(nowhere), redirect_stderr(nowhere):
            yield
    finally:
        logging.disable(logging.NOTSET)


def measured(rival: Rival, problem: Problem, split: int) -> Record:
    """Error, size, times and, of two classes, areas under curves."""
    X, y, X_test, y_test = problem.split(split)
    n, d = X.shape
    model = rival.make(problem.kind, n, d, split)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    record: Record = {"fit_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    seconds = []
    for _ in range(3):  # the best of three: the first call may warm up
        start = time.perf_counter()
        predicted = np.ravel(model.predict(X_test))
        seconds.append(time.perf_counter() - start)
    record["predict_us"] = 1e6 * min(seconds) / len(X_test)
    record["error"] = error_in_percent(problem.kind, y_test, predicted)
    if not np.isfinite(record["error"]):
        raise ValueError("The predictions are not finite.")
    record["terms"] = int(rival.terms(model))
    if problem.kind == TWO_CLASS:
        record |= curves(y_test, confidence(model, X_test))
    return record


def error_in_percent(kind: str, y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Misclassified rows in %, or the root mean squared error in % of the target's standard deviation."""
    if kind == REGRESSION:
        return float(100 * np.sqrt(np.mean((y - predicted) ** 2)) / np.std(y))
    return float(100 * np.mean(y != predicted))


def confidence(model: Any, X: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """How much speaks for class 1, where the model can tell."""
    if hasattr(model, "decision_function"):
        return np.ravel(model.decision_function(X))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))[:, 1]
    return None


def curves(y: NDArray[Any], scores: NDArray[np.float64] | None) -> Record:
    """Areas under the ROC curve and under the curve of precision and recall, in %.

    >>> curves(np.array([0, 1]), np.array([0.9, 0.3]))
    {'auc': 0.0, 'average_precision': 50.0}
    """
    if scores is None:
        return {}
    return {
        "auc": float(100 * roc_auc_score(y, scores)),
        "average_precision": float(100 * average_precision_score(y, scores)),
    }
