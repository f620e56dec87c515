"""Closed-form output weights against an optimiser's: sigmoidal units and neural networks of the same size.

    python -m benchmarks.rotated

100,000 training and 50,000 test rows of `sleek.datasets.make_rotated` (28 features, two classes separated
along hidden directions). Writes docs/benchmarks/rotated.md. Everything runs in one thread.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import track
from threadpoolctl import threadpool_limits

from benchmarks.methods import make, units_in_words
from sleek import LowRankLSSVC
from sleek.datasets import make_rotated
from studies.catalogue import ROOT
from studies.markdown import table

REPORT = ROOT / "docs" / "benchmarks" / "rotated.md"
N_TRAIN, N_TEST = 100_000, 50_000


def sigmoidal(n_units: int, **settings: Any) -> LowRankLSSVC:
    """sleek with so many sigmoidal units."""
    return LowRankLSSVC(n_units, basis="sigmoidal", random_state=0, **settings)


METHODS: dict[str, Callable[[], Any]] = {
    "sleek, defaults": partial(make, "sleek"),
    "sleek, 10 sigmoidal units": partial(sigmoidal, 10),
    "sleek, 30 sigmoidal units": partial(sigmoidal, 30),
    "sleek, 30 sigmoidal units, learnt on all rows": partial(sigmoidal, 30, max_samples=None),
    "MLPClassifier, 10 hidden units": partial(make, "mlp:10"),
    "MLPClassifier, 30 hidden units": partial(make, "mlp:30"),
    "LightGBM": partial(make, "lightgbm"),
    "HistGradientBoosting": partial(make, "hgb"),
    "Nystroem (100) + ridge": partial(make, "nystroem"),
}


def main() -> None:
    """Fit every method once and write the table."""
    X, y = make_rotated(N_TRAIN, random_state=0)
    X_test, y_test = make_rotated(N_TEST, random_state=1)
    rows = []
    for title, method in track(METHODS.items(), "fitting"):
        model = method()
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - begin
            accuracy = 100 * model.score(X_test, y_test)
        units = f" ({units_in_words(model)})" if title == "sleek, defaults" else ""
        rows.append([f"{title}{units}", f"{accuracy:.2f}", f"{seconds:.1f}"])
    lines = "\n".join(table(["method", "accuracy %", "fit s"], rows))
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(
        "# Sigmoidal units against neural networks of the same size\n\n"
        "Written by `benchmarks/rotated.py` (`make rotated`); do not edit. "
        f"{N_TRAIN:,} training and {N_TEST:,} test rows of `sleek.datasets.make_rotated`, one thread.\n\n"
        f"{lines}"
    )
    Console().print(REPORT.read_text())


if __name__ == "__main__":
    main()
