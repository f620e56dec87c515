"""Settings of the comparators, chosen as in Rätsch, Onoda and Müller (2001).

On each of the first few partitions the training rows are cross-validated; the median of the values that win
is used for all partitions. Where several candidates are equally good on a partition, which is common on
Titanic with its few distinct rows, the middle one of them wins.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from statistics import median_low

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

from paper.data import Problem
from paper.methods import Choice, Method
from paper.running import Advance, Record, Store, digest, fit_all, specification
from sleek import __version__


def choose(
    problem: Problem,
    methods: Sequence[Method],
    rounds: int,
    numbers: Sequence[int],
    folds: int,
    store: Store,
    jobs: int,
    advance: Advance,
) -> dict[str, Choice]:
    """The chosen parameters of each method; those without a grid have none to choose.

    Parameters
    ----------
    problem : Problem
    methods : the methods, with a grid or without
    rounds : boosting rounds
    numbers : the partitions to cross-validate
    folds : the number of folds
    store : where finished cross-validations are kept
    jobs : processes
    advance : called with a line of text for every partition that is done
    """
    tunable = [method for method in methods if method.grid]
    missing = [n for n in numbers if any(_key(problem, n, m, rounds, folds) not in store for m in tunable)]
    calls = (delayed(_cross_validate)(problem, number, tunable, rounds, folds) for number in missing)
    for records in Parallel(n_jobs=jobs, return_as="generator_unordered")(calls):
        store.add(records)
        advance(f"settings for {problem.name}, partition {records[0]['number'] + 1}")
    chosen: dict[str, Choice] = {method.key: {} for method in methods}
    for method in tunable:
        winners = [winner(method, store[_key(problem, n, method, rounds, folds)]["errors"]) for n in numbers]
        chosen[method.key] = {name: median_low(winner[name] for winner in winners) for name in method.grid}
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


def pending(
    problem: Problem, methods: Sequence[Method], rounds: int, numbers: Sequence[int], folds: int, store: Store
) -> int:
    """The number of partitions that `choose` has to work on."""
    tunable = [method for method in methods if method.grid]
    return sum(any(_key(problem, n, m, rounds, folds) not in store for m in tunable) for n in numbers)


def _key(problem: Problem, number: int, method: Method, rounds: int, folds: int) -> str:
    models = [specification(method.make(problem.name, rounds, choice)) for choice in candidates(method)]
    return digest(["choice", folds, models, problem.fingerprint(number), __version__])


def _cross_validate(
    problem: Problem, number: int, methods: Sequence[Method], rounds: int, folds: int
) -> list[Record]:
    """The cross-validated error in per cent of every candidate on one partition's training rows."""
    X, t, _, _ = problem.split(number)
    tried = [(method.key, choice) for method in methods for choice in candidates(method)]
    make = {method.key: method.make for method in methods}
    models = [make[key](problem.name, rounds, choice) for key, choice in tried]
    mistakes = np.zeros(len(models))
    for train, held in StratifiedKFold(folds, shuffle=True, random_state=0).split(X, t):
        for index, (model, _) in enumerate(fit_all(models, X[train], t[train])):
            mistakes[index] += np.sum(model.predict(X[held]) != t[held])
    return [
        {
            "key": _key(problem, number, method, rounds, folds),
            "set": problem.name,
            "number": number,
            "method": method.key,
            "errors": [
                round(100 * float(wrong) / len(t), 2)
                for (key, _), wrong in zip(tried, mistakes, strict=True)
                if key == method.key
            ],
        }
        for method in methods
    ]
