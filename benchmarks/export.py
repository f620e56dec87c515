"""Exported C against Python and LightGBM: time of one prediction, size of the code, size of the model's file.

    python -m benchmarks.export

Writes docs/benchmarks/export.md. Needs gcc. Everything runs in one thread.
"""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from rich.console import Console
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.methods import units_in_words
from sleek import KernelModel, LowRankLSSVC
from sleek.export import to_c, to_onnx, to_python, to_sql
from sleek.model.saving import dumps
from studies.catalogue import ROOT
from studies.packages import keel

REPORT = ROOT / "docs" / "benchmarks" / "export.md"
BASES = ("gaussian_rbf", "robust_rbf", "sigmoidal", "simplex", "box")
N_UNITS, N_ROWS, BEST_OF = 10, 4096, 300

CLOCK = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}
"""
# Reads rows, predicts each of them again and again, prints nanoseconds a row: the best of several rounds.
LOOP = """
int main(int argc, char **argv) {
    static REAL rows[N_ROWS][N_FEATURES];
    double best = 1e9, sum = 0;
    int round, n;
    if (fread(rows, sizeof rows, 1, stdin) != 1) return 1;
    SETUP
    (void)argc; (void)argv;
    for (round = 0; round < BEST_OF; ++round) {
        double begin = seconds();
        for (n = 0; n < N_ROWS; ++n) { PREDICT }
        double taken = (seconds() - begin) / N_ROWS;
        if (taken < best) best = taken;
    }
    printf("%.3f %.17g\\n", 1e9 * best, sum);
    return 0;
}
"""
LIGHTGBM = """
#include <dlfcn.h>
typedef int (*create)(const char *, int *, void **);
typedef int (*prepare)(void *, int, int, int, int, int, const char *, void **);
typedef int (*predict)(void *, const void *, long long *, double *);
"""
LIGHTGBM_SETUP = """
    void *library = dlopen(argv[1], RTLD_NOW), *booster, *fast;
    create make; prepare start; predict run;
    int iterations;
    long long length;
    double out;
    if (!library) return 2;
    *(void **)&make = dlsym(library, "LGBM_BoosterCreateFromModelfile");
    *(void **)&start = dlsym(library, "LGBM_BoosterPredictForMatSingleRowFastInit");
    *(void **)&run = dlsym(library, "LGBM_BoosterPredictForMatSingleRowFast");
    if (make(argv[2], &iterations, &booster)) return 3;
    if (start(booster, 1, 0, -1, 1, N_FEATURES, "num_threads=1", &fast)) return 4;
"""

PAGE = f"""# Exported models: time and size

Written by `benchmarks/export.py` (`make bench-export`); do not edit.

One prediction of a model of {N_UNITS} units and 8 features (Pima): gcc {{compiler}} -O2, one thread,
{N_ROWS:,} different rows one after another, the best of {BEST_OF} rounds. Bytes: code and constants of the
predicting function with -Os, without the C library's exp and tanh.

| | ns a row | bytes |
|---|---:|---:|
{{times}}

Size of the model's file, trained with default settings on 80 % of the rows; error on the rest.

| data | model | bytes | error % |
|---|---|---:|---:|
{{files}}
"""


def run(command: list[str], folder: Path, data: bytes = b"") -> str:
    """The output of a command, which must succeed."""
    return subprocess.run(command, cwd=folder, input=data, capture_output=True, check=True).stdout.decode()


def loop(folder: Path, before: str, setup: str, predict: str, X: NDArray[Any], *arguments: str) -> float:
    """Nanoseconds for one prediction in a compiled loop over many different rows."""
    words = {
        "SETUP": setup,
        "PREDICT": predict,
        "REAL": "double" if X.dtype == np.float64 else "float",
        "N_ROWS": N_ROWS,
        "N_FEATURES": X.shape[1],
        "BEST_OF": BEST_OF,
    }
    code = LOOP
    for word, value in words.items():
        code = code.replace(word, str(value))
    (folder / "main.c").write_text(CLOCK + before + code)
    run(["gcc", "-std=c99", "-O2", "main.c", "-o", "main", "-lm", "-ldl"], folder)
    return float(run(["./main", *arguments], folder, X.tobytes()).split()[0])


def text_size(folder: Path) -> int:
    """Bytes of code and constants of one predicting function, optimised for size."""
    (folder / "size.c").write_text(
        '#include "model.h"\nint use(const void *x) { return model_predict(x); }\n'
    )
    run(["gcc", "-std=c99", "-Os", "-fno-asynchronous-unwind-tables", "-c", "size.c"], folder)
    return int(run(["size", "size.o"], folder).splitlines()[1].split()[0])


def python_time(predict: Callable[[NDArray[Any]], Any], X: NDArray[Any], repeats: int = 20) -> float:
    """Nanoseconds for a call with one row, the best of several rounds."""
    best = np.inf
    for _ in range(BEST_OF):
        begin = time.perf_counter()
        for n in range(repeats):
            predict(X[n : n + 1])
        best = min(best, (time.perf_counter() - begin) / repeats)
    return 1e9 * best


def exported_function(model: KernelModel) -> Callable[[list[float]], Any]:
    """The exported Python function, ready to be called."""
    module: dict[str, Any] = {}
    exec(to_python(model), module)
    function: Callable[[list[float]], Any] = module["predict"]
    return function


def timings() -> list[str]:
    """Rows of the table of times, for Pima's 8 features."""
    problem = keel("pima")
    X, y = problem.X, problem.y
    rows = X[np.random.default_rng(0).integers(len(X), size=N_ROWS)]
    rows = rows * np.random.default_rng(1).uniform(0.95, 1.05, size=rows.shape)  # no two alike
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for basis in BASES:
            estimator = LowRankLSSVC(N_UNITS, basis=basis, random_state=0).fit(X, y)
            for dtype in ("float64", "float32"):
                (folder / "model.h").write_text(to_c(estimator.model_, dtype))
                include, call = '#include "model.h"\n', "sum += model_predict(rows[n]);"
                nanoseconds = loop(folder, include, "", call, rows.astype(dtype))
                kind = "double" if dtype == "float64" else "float"
                lines.append(f"| sleek in C, {basis}, {kind} | {nanoseconds:,.0f} | {text_size(folder):,} |")
            if basis == BASES[0]:
                function = exported_function(estimator.model_)
                exported = python_time(lambda x: function(x[0].tolist()), rows)  # noqa: B023
                frozen = python_time(estimator.model_.predict, rows)
                unchecked = python_time(estimator.model_.predict_unchecked, rows)
                checked = python_time(estimator.predict, rows)
        lines += [
            f"| sleek's exported Python function | {exported:,.0f} | |",
            f"| sleek in Python, `model_.predict_unchecked` of one row | {unchecked:,.0f} | |",
            f"| sleek in Python, `model_.predict` of one row, checked | {frozen:,.0f} | |",
            f"| sleek in Python, `estimator.predict`, checked by scikit-learn | {checked:,.0f} | |",
        ]
        trees = LGBMClassifier(n_jobs=1, verbose=-1).fit(X, y)
        trees.booster_.save_model(folder / "trees.txt")
        call = "if (run(fast, rows[n], &length, &out)) return 5; sum += out;"
        library = str(next((Path(lightgbm.__file__).parent / "lib").glob("lib_lightgbm.*")))
        fast = loop(folder, LIGHTGBM, LIGHTGBM_SETUP, call, rows, library, str(folder / "trees.txt"))
        lines.append(f"| LightGBM, 100 trees, its C interface for single rows | {fast:,.0f} | |")
        svc = make_pipeline(StandardScaler(), SVC()).fit(X, y)
        lines.append(
            f"| SVC in Python, `pipeline.predict` of one row | {python_time(svc.predict, rows):,.0f} | |"
        )
    return lines


def sizes(name: str) -> list[str]:
    """Rows of the table of sizes for one data set, each model trained on 80 % of the rows."""
    problem = keel(name)
    order = np.random.default_rng(0).permutation(len(problem.X))
    cut = int(0.8 * len(order))
    train, test = order[:cut], order[cut:]
    X, y = problem.X, problem.y
    sleek = LowRankLSSVC(random_state=0).fit(X[train], y[train])
    model = sleek.model_
    svc = make_pipeline(StandardScaler(), SVC()).fit(X[train], y[train])
    trees = LGBMClassifier(n_jobs=1, verbose=-1).fit(X[train], y[train])

    def line(title: str, size: int, estimator: Any = None) -> str:
        error = "" if estimator is None else f"{100 * (1 - estimator.score(X[test], y[test])):.1f}"
        return f"| {name} | {title} | {size:,} | {error} |"

    return [
        line(f"sleek, {units_in_words(sleek)}: JSON", len(dumps(model)), sleek),
        line("the same as C header", len(to_c(model))),
        line("the same as SQL", len(to_sql(model))),
        line("the same as ONNX, float", len(to_onnx(model).SerializeToString())),
        line(f"SVC, {svc[-1].n_support_.sum()} support vectors: pickle", len(pickle.dumps(svc)), svc),
        line("LightGBM, 100 trees: text", len(trees.booster_.model_to_string()), trees),
    ]


def main() -> None:
    """Measure and write the tables."""
    if shutil.which("gcc") is None:
        sys.exit("This benchmark compiles C: install gcc.")
    with threadpool_limits(1):
        times = timings()
        files = [line for name in ("pima", "magic") for line in sizes(name)]
    compiler = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    page = PAGE.format(compiler=compiler, times="\n".join(times), files="\n".join(files))
    REPORT.write_text(page, encoding="utf-8")
    Console().print(page)


if __name__ == "__main__":
    main()
