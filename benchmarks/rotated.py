"""Closed-form output weights against an optimiser's: sigmoidal units and neural networks of the same size.

    python benchmarks/rotated.py

100,000 training and 50,000 test rows of `sleek.datasets.make_rotated` (28 features, two classes separated
along hidden directions). Writes docs/benchmarks/rotated.md. Everything runs in one thread.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lightgbm import LGBMClassifier
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifierCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sleek import LowRankLSSVC, VariableProjection
from sleek.datasets import make_rotated

REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "rotated.md"
N_TRAIN, N_TEST = 100_000, 50_000


def mlp(units: int) -> Any:
    """scikit-learn's network with one hidden layer, on standardised features, otherwise as it comes."""
    return make_pipeline(StandardScaler(), MLPClassifier((units,), random_state=0))


METHODS: dict[str, Callable[[], Any]] = {
    "sleek, defaults": lambda: LowRankLSSVC(random_state=0),
    "sleek, 10 sigmoidal units": lambda: LowRankLSSVC(10, basis="sigmoidal", random_state=0),
    "sleek, 30 sigmoidal units": lambda: LowRankLSSVC(30, basis="sigmoidal", random_state=0),
    "sleek, 30 sigmoidal units, learnt on all rows": lambda: LowRankLSSVC(
        30, basis="sigmoidal", trainer=VariableProjection(growth=None), random_state=0
    ),
    "MLPClassifier, 10 hidden units": lambda: mlp(10),
    "MLPClassifier, 30 hidden units": lambda: mlp(30),
    "LightGBM": lambda: LGBMClassifier(n_jobs=1, verbose=-1),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "Nystroem (100) + ridge": lambda: make_pipeline(
        StandardScaler(), Nystroem(gamma=1 / 28, n_components=100, random_state=0), RidgeClassifierCV()
    ),
}


def main() -> None:
    """Fit every method once and write the table."""
    X, y = make_rotated(N_TRAIN, random_state=0)
    X_test, y_test = make_rotated(N_TEST, random_state=1)
    lines = []
    for title, make in track(METHODS.items(), "fitting"):
        model = make()
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - begin
            accuracy = 100 * model.score(X_test, y_test)
        units = f" ({model.n_units_} {model.model_.basis.name} units)" if title == "sleek, defaults" else ""
        lines.append(f"| {title}{units} | {accuracy:.2f} | {seconds:.1f} |")
    table = "\n".join(["| method | accuracy % | fit s |", "|---|---:|---:|", *lines])
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(
        "# Sigmoidal units against neural networks of the same size\n\n"
        "Written by `benchmarks/rotated.py` (`make rotated`); do not edit. "
        f"{N_TRAIN:,} training and {N_TEST:,} test rows of `sleek.datasets.make_rotated`, one thread.\n\n"
        f"{table}\n"
    )
    Console().print(REPORT.read_text())


if __name__ == "__main__":
    main()
