"""The dozen operations whose speed matters, and a process that times them on demand: the worker of `compare`.

    PYTHONPATH=SIDE/src python -m benchmarks.compare_operations FOLDER

reads names of operations from its input, one a line, and answers each with a line of JSON. An operation uses
public names only, so that the same file times every version of sleek. One thread throughout.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MODEL = "model.json"  # written by the base, read by both sides: calls of a model are timed on the same one

Call = Callable[[], Any]


def seconds() -> float:
    """CPU time of this process and of processes that it has waited for; other people's do not count."""
    try:
        import resource
    except ImportError:  # Windows
        return time.perf_counter()
    both = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def run(*command: str) -> None:
    """Run a Python of its own."""
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)


# -- data ---------------------------------------------------------------------------------------------------


def classes(n_rows: int, n_features: int) -> Any:
    """Classes of a smooth function of ten features at most."""
    from benchmarks.generators import make_smooth

    X, y = make_smooth(n_rows, random_state=0)
    return X[:, :n_features].copy(), y


def numbers(n_rows: int, n_features: int) -> Any:
    """Friedman's first function."""
    from sklearn.datasets import make_friedman1

    return make_friedman1(n_rows, n_features, noise=1.0, random_state=0)


def table(n_rows: int) -> Any:
    """A data frame of three numbers and two categories, every tenth value missing, and a number to learn."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["width", "height", "age"])
    X["town"] = rng.choice(["Aarau", "Basel", "Chur", "Davos"], n_rows)
    X["kind"] = rng.choice(["new", "used"], n_rows)
    y = np.sin(2 * X["width"]) + X["height"] * (X["kind"] == "new") + (X["town"] == "Basel")
    y += rng.normal(scale=0.3, size=n_rows)
    return X.mask(rng.random(X.shape) < 0.1), y.to_numpy()


# -- operations ---------------------------------------------------------------------------------------------


def fit(estimator: str, rows: Any) -> Call:
    """A fit by default settings."""
    import sleek

    def call() -> str:
        model = getattr(sleek, estimator)(random_state=0, n_jobs=1).fit(*rows).model_
        return f"{model.n_units} units"

    return call


@functools.cache
def stored(folder: Path) -> Any:
    """The model that calls are timed on: 24 Gaussian units of 28 features, ready to be updated."""
    import sleek

    if not (folder / MODEL).exists():
        model = sleek.LowRankLSSVC(
            24, basis="gaussian_rbf", C=10.0, loss="squared_error", random_state=0, n_jobs=1
        )
        model.fit(*classes(5000, 28)).model_.save(folder / MODEL, moments=True)
    return sleek.load(folder / MODEL)


def predict(folder: Path, n_rows: int) -> Call:
    model, X = stored(folder), classes(n_rows, 28)[0]
    return lambda: model.predict(X)


def explain(folder: Path) -> Call:
    model, X = stored(folder), classes(100, 28)[0]
    return lambda: model.explain(X)


def effects(folder: Path) -> Call:
    model = stored(folder)

    def call() -> None:
        _ = model.effects().sentence

    return call


def export(folder: Path, ending: str) -> Call:
    model, path = stored(folder), folder / f"{os.getpid()}{ending}"
    return lambda: model.export(path)


def show(folder: Path) -> Call:
    stored(folder)
    return lambda: run("-m", "sleek", "show", str(folder / MODEL))


def update(folder: Path) -> Call:
    model, (X, y) = stored(folder), classes(1, 28)
    return lambda: model.partial_fit(X, y)


# What is timed, and how many calls make one measurement.
OPERATIONS: dict[str, tuple[Callable[[Path], Call], int]] = {
    "import": (lambda folder: lambda: run("-c", "from sleek import LowRankLSSVC"), 1),
    "fit 200 × 8, classes": (lambda folder: fit("LowRankLSSVC", classes(200, 8)), 1),
    "fit 1000 × 20, a number": (lambda folder: fit("LowRankLSSVR", numbers(1000, 20)), 1),
    "fit 10⁴ × 28, classes": (lambda folder: fit("LowRankLSSVC", classes(10_000, 28)), 1),
    "fit a frame, categories and gaps": (lambda folder: fit("LowRankLSSVR", table(1000)), 1),
    "predict one row": (lambda folder: predict(folder, 1), 500),
    "predict 10⁵ rows": (lambda folder: predict(folder, 100_000), 2),
    "explain 100 rows": (explain, 2),
    "effects": (effects, 5),
    "export to C": (lambda folder: export(folder, ".h"), 5),
    "export to ONNX": (lambda folder: export(folder, ".onnx"), 5),
    "sleek show": (show, 1),
    "partial_fit of one row": (update, 20),
}


# -- the worker ---------------------------------------------------------------------------------------------


@functools.cache
def prepared(name: str, folder: Path) -> Call:
    """The operation, called once, so that imports and compilation are not timed."""
    call = OPERATIONS[name][0](folder)
    call()
    return call


def measure(name: str, folder: Path) -> dict[str, Any]:
    """Seconds of one call, and what it says, if anything."""
    try:
        call = prepared(name, folder)
    except Exception as problem:  # an older version may not know the operation: the table says so
        return {"problem": f"{type(problem).__name__}: {problem}"}
    number = OPERATIONS[name][1]
    start = seconds()
    for _ in range(number):
        answer = call()
    return {"seconds": (seconds() - start) / number, "answer": answer if isinstance(answer, str) else ""}


def main() -> None:
    """Answer names of operations with times, until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what an operation prints must not be taken for an answer
    for line in sys.stdin:
        print(json.dumps(measure(line.strip(), Path(sys.argv[1]))), file=answers, flush=True)


if __name__ == "__main__":
    main()
