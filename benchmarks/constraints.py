"""What constraints cost: errors and seconds of default fits with and without them, on ten tables.

    python -m benchmarks.constraints

The monotone columns of a table are the three that have the largest rank correlation with the target in the
training rows, in the direction of that correlation, which is a person's best guess without knowing what the
columns are. HistGradientBoosting has the same constraints. Prints a table in Markdown; seconds are those of
one processor.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek._runtime.types import AnyArray, FloatArray
from studies.catalogue import DATA, Catalogue
from studies.markdown import table
from studies.problems import REGRESSION, Problem

TABLES = (
    "concrete",
    "195_auto_price",
    "537_houses",
    "547_no2",
    "wine_quality_white",
    "heart",
    "saheart",
    "mammographic",
    "churn",
    "adult",
)
AS_NUMBERS = ("wine_quality_white",)  # marks from 3 to 9
N_MONOTONE = 3
N_SPLITS = 3


def directions(X: FloatArray, y: AnyArray) -> list[int]:
    """1 or -1 for the columns of the largest rank correlation, 0 for all others."""
    ranks = np.apply_along_axis(rankdata, 0, X)
    spread = ranks.std(axis=0)
    target = rankdata(y)
    both = ((ranks - ranks.mean(axis=0)) * (target - target.mean())[:, None]).mean(axis=0)
    correlation = np.divide(both, spread, out=np.zeros_like(both), where=spread > 0)
    strongest = np.argsort(-np.abs(correlation))[:N_MONOTONE]
    signs = np.zeros(X.shape[1], dtype=int)
    signs[strongest] = np.sign(correlation[strongest])
    return [int(sign) for sign in signs]


def methods(numbers: bool, signs: list[int]) -> dict[str, Any]:
    """The fits to compare."""
    sleek = LowRankLSSVR if numbers else LowRankLSSVC
    boosting = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
    return {
        "free": sleek(random_state=0),
        "monotone": sleek(random_state=0, monotonic_cst=signs),
        "pairwise": sleek(random_state=0, interaction_cst="pairwise"),
        "no interactions": sleek(random_state=0, interaction_cst="no_interactions"),
        "boosting": boosting(random_state=0),
        "boosting, monotone": boosting(random_state=0, monotonic_cst=signs),
    }


def measure(problem: Problem) -> dict[str, tuple[float, float]]:
    """The mean error, in per cent of mistakes or of the deviation, and the mean CPU seconds of each."""
    numbers = problem.kind == REGRESSION or problem.name in AS_NUMBERS
    found: dict[str, list[tuple[float, float]]] = {}
    for split in range(min(N_SPLITS, len(problem.splits))):
        X, y, X_test, y_test = problem.split(split)
        for name, method in methods(numbers, directions(X, y)).items():
            begin = time.process_time()
            method.fit(X, y)
            seconds = time.process_time() - begin
            wrong = method.predict(X_test) != y_test
            if numbers:
                error = np.sqrt(np.mean((method.predict(X_test) - y_test) ** 2)) / y_test.std()
            else:
                error = wrong.mean()
            found.setdefault(name, []).append((100 * float(error), seconds))
    return {name: tuple(np.mean(values, axis=0).tolist()) for name, values in found.items()}


def main(data: Path = DATA) -> None:
    """Measure and print."""
    catalogue, rows, ratios, console = Catalogue(data), [], [], Console(stderr=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in track(TABLES, console=console):
            found = measure(catalogue.problem(name))
            console.print(name, {method: tuple(np.round(pair, 2)) for method, pair in found.items()})
            rows.append([name, *(f"{error:.1f} ({seconds:.1f} s)" for error, seconds in found.values())])
            errors, seconds = np.array(list(found.values())).T
            base = np.array([0, 0, 0, 0, 4, 4])
            ratios.append(np.log([errors / errors[base], seconds / seconds[base]]))
    mean = np.exp(np.mean(ratios, axis=0))
    rows.append(["geometric mean of ratios", *(f"{e:.2f} ({s:.2f})" for e, s in mean.T)])
    print("\n".join(table(["table", *found], rows)))


if __name__ == "__main__":
    main()
