"""Settings of the comparators, chosen as in Rätsch, Onoda and Müller (2001).

On each of the first few partitions the training rows are cross-validated; the median of the values that win
is used for all partitions. Where several candidates are equally good on a partition, which is common on
Titanic with its few distinct rows, the middle one of them wins.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

from paper.methods import Choice, Method
from paper.running import Advance, fit_all, specification
from sleek import __version__
from studies.problems import Problem
from studies.store import Record, Store, digest


@dataclass(frozen=True, eq=False)
class Tuning:
    """What is cross-validated for one problem.

    Attributes
    ----------
    problem : Problem
    methods : the methods, with a grid or without
    rounds : boosting rounds
    numbers : the partitions to cross-validate
    folds : the number of folds
    """

    problem: Problem
    methods: Sequence[Method]
    rounds: int
    numbers: Sequence[int]
    folds: int

    @property
    def tunable(self) -> list[Method]:
        """The methods that have something to choose."""
        return [method for method in self.methods if method.grid]

    def key(self, method: Method) -> str:
        """A text that changes with the candidates, the folds and the version of sleek."""
        models = [
            specification(method.make(self.problem.name, self.rounds, choice))
            for choice in candidates(method)
        ]
        return digest(["choice", self.folds, models, __version__])

    def found(self, store: Store, number: int, method: Method) -> Record | None:
        """The finished cross-validation of a method on a partition, or None."""
        return store.get(self.key(method), self.problem.fingerprint(number))

    def pending(self, store: Store) -> list[int]:
        """The partitions that `choose` has to work on."""
        return [n for n in self.numbers if any(self.found(store, n, m) is None for m in self.tunable)]

    def choose(self, store: Store, jobs: int, advance: Advance) -> dict[str, Choice]:
        """The chosen parameters of each method; those without a grid have none to choose.

        What is not in the store is cross-validated in `jobs` processes; `advance` is called with a line of
        text for every partition that is done.
        """
        calls = (delayed(cross_validate)(self, number) for number in self.pending(store))
        for records in Parallel(n_jobs=jobs, return_as="generator_unordered")(calls):
            store.add(records)
            advance(f"settings for {self.problem.name}, partition {records[0]['number'] + 1}")
        chosen: dict[str, Choice] = {method.key: {} for method in self.methods}
        for method in self.tunable:
            records = [record for n in self.numbers if (record := self.found(store, n, method))]
            winners = [winner(method, record["errors"]) for record in records]
            chosen[method.key] = {name: median_low(best[name] for best in winners) for name in method.grid}
        return chosen


def candidates(method: Method) -> list[Choice]:
    """Every combination of the grid's values.

    >>> from paper.methods import TABLE_2_METHODS
    >>> lp = next(method for method in TABLE_2_METHODS if method.key == "lp")
    >>> candidates(lp)[:2]
    [{'C': 1.5}, {'C': 2.0}]
    """
    values = itertools.product(*method.grid.values())
    return [dict(zip(method.grid, combination, strict=True)) for combination in values]


def winner(method: Method, errors: Sequence[float]) -> Choice:
    """The candidate of least error; of several, the middle one in the order of the grid.

    >>> from paper.methods import TABLE_2_METHODS
    >>> lp = next(method for method in TABLE_2_METHODS if method.key == "lp")
    >>> winner(lp, [20.0, 19.0, 19.0, 19.0, 25.0])
    {'C': 2.25}
    """
    tied = [choice for choice, error in zip(candidates(method), errors, strict=True) if error == min(errors)]
    return tied[(len(tied) - 1) // 2]


def cross_validate(tuning: Tuning, number: int) -> list[Record]:
    """The cross-validated error in per cent of every candidate on one partition's training rows."""
    X, y, _, _ = tuning.problem.split(number)
    name, methods = tuning.problem.name, tuning.tunable
    tried = [(method, choice) for method in methods for choice in candidates(method)]
    models = [method.make(name, tuning.rounds, choice) for method, choice in tried]
    mistakes = np.zeros(len(models))
    for train, held in StratifiedKFold(tuning.folds, shuffle=True, random_state=0).split(X, y):
        for index, (model, _) in enumerate(fit_all(models, X[train], y[train])):
            mistakes[index] += np.sum(model.predict(X[held]) != y[held])
    errors = [round(100 * float(wrong) / len(y), 2) for wrong in mistakes]
    return [
        {
            "key": tuning.key(method),
            "fingerprint": tuning.problem.fingerprint(number),
            "set": name,
            "number": number,
            "method": method.key,
            "errors": [error for (tested, _), error in zip(tried, errors, strict=True) if tested is method],
        }
        for method in methods
    ]
