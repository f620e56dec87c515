"""One measurement in a process of its own: what `speed` starts for every job.

    python -m benchmarks.speed_measure '{"part": "fit", "method": "lightgbm", …}'

prints one line of JSON. A process of its own has its own peak of memory, its own caches and its own imports,
and one that takes too long can be ended. Nothing but the standard library is imported before a job asks for
it, because one of the jobs times the import.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import timeit
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

Job = dict[str, Any]
Result = dict[str, Any]

COMMAND = (sys.executable, "-m", "benchmarks.speed_measure")
N_JOBS = 2
MEGABYTE = 1e6
PARQUET_FILE = "rows.parquet"


# -- memory -------------------------------------------------------------------------------------------------


def memory_mb(peak: bool) -> float:
    """Resident memory of this process: the most it ever was, or what it is now (where the system tells).

    Linux adds the starter's memory to ru_maxrss of a new process, so /proc is asked first.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE
    label = "VmHWM:" if peak else "VmRSS:"
    (line,) = (line for line in lines if line.startswith(label))
    return int(line.split()[1]) * 1024 / MEGABYTE


def forget_peak() -> None:
    """Let the peak of memory count from now on, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


# -- jobs ---------------------------------------------------------------------------------------------------


def prepare(job: Job) -> Result:
    """Write the rows of a problem for the processes that measure."""
    from benchmarks.generators import write_problem

    write_problem(Path(job["folder"]), job["problem"], job["rows"], job["test_rows"])
    return {}


def prepare_parquet(job: Job) -> Result:
    """Write the Parquet file."""
    from benchmarks.generators import write_parquet

    write_parquet(Path(job["folder"]) / PARQUET_FILE, job["rows"])
    return {}


def measure_fit(job: Job) -> Result:
    """Time and peak memory of one fit after a warm-up, and the error on test rows if asked for."""
    import numpy as np

    from benchmarks.generators import read_rows
    from benchmarks.methods import make, units_in_words

    folder = Path(job["folder"])
    X, y = read_rows(folder, job["problem"], "train", job["rows"])
    few = slice(job["warm_up_rows"])  # so that imports and compilation are not timed
    make(job["method"], n_jobs=N_JOBS).fit(X[few], y[few]).predict(X[:10])
    model = make(job["method"], n_jobs=job.get("n_jobs", N_JOBS))
    forget_peak()
    before = memory_mb(peak=False)
    signal.setitimer(signal.ITIMER_REAL, job["limit"])  # the signal ends the process, whatever it is doing
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    signal.setitimer(signal.ITIMER_REAL, 0)
    result: Result = {"seconds": seconds, "rows_fitted": len(X)}
    result["peak_mb"] = memory_mb(peak=True) - before
    if job["round"] == 0:
        X_test, y_test = read_rows(folder, job["problem"], "test", job.get("test_rows"))
        result["error"] = float(100 * np.mean(model.predict(X_test) != y_test))
        if job["method"] == "sleek":
            result["model"] = units_in_words(model)
    return result


def best_of(function: Callable[[], Any], seconds: float) -> float:
    """The least time of a call: calls are repeated until this many seconds are over, at least three times."""
    timer = timeit.Timer(function)
    once = max(timer.timeit(1), 1e-7)
    number = max(1, min(1000, int(0.01 / once)))
    least, end, runs = once, time.perf_counter() + seconds, 1
    while runs < 3 or time.perf_counter() < end:
        least = min(least, timer.timeit(number) / number)
        runs += 1
    return least


def measure_predict(job: Job) -> Result:
    """Rows per second of a large batch, and the time of a single row."""
    from benchmarks.generators import read_rows
    from benchmarks.methods import make

    folder = Path(job["folder"])
    X, y = read_rows(folder, job["problem"], "train", job["train_rows"])
    batch = read_rows(folder, job["problem"], "train", job["rows"])[0]
    row = batch[:1].copy()
    model = make(job["method"], n_jobs=N_JOBS).fit(X, y)
    result = {"row_us": 1e6 * best_of(lambda: model.predict(row), job["repeat_s"])}
    result["rows_per_s"] = len(batch) / best_of(lambda: model.predict(batch), job["repeat_s"])
    if job["method"].startswith("sleek"):
        frozen = model.model_
        result["model_row_us"] = 1e6 * best_of(lambda: frozen.predict(row), job["repeat_s"])
        model.set_params(n_jobs=1)
        result["rows_per_s_1"] = len(batch) / best_of(lambda: model.predict(batch), job["repeat_s"])
    return result


def measure_first_fit(job: Job) -> Result:
    """Time of the import and of the first fit of a process."""
    start = time.perf_counter()
    from sleek import LowRankLSSVC

    imported = time.perf_counter() - start
    from benchmarks.generators import read_rows

    X, y = read_rows(Path(job["folder"]), job["problem"], "train", job["rows"])
    start = time.perf_counter()
    LowRankLSSVC(basis=job["basis"], n_jobs=N_JOBS, random_state=0).fit(X, y)
    return {"import_s": imported, "fit_s": time.perf_counter() - start}


def measure_cold(job: Job) -> Result:
    """The first fit of a process when nothing is compiled yet, and of the next process."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        command = [*COMMAND, json.dumps(job | {"part": "first-fit"})]
        return {
            state: json.loads(subprocess.check_output(command, env=environment, text=True))
            for state in ("cold", "warm")
        }


def measure_roofline(job: Job) -> Result:
    """Times of all kernels at one shape."""
    from benchmarks.roofline import measure, unmatched
    from benchmarks.roofline_c import compiler

    found = measure(job["dtype"], job["m"], job["d"], job["n"], job["turns"])
    return {"kernels": found, "unmatched": unmatched(), "c": compiler() is not None}


def measure_parquet(job: Job) -> Result:
    """Time and peak memory, everything included, of a fit from a Parquet file or from its first rows."""
    from benchmarks.generators import read_parquet
    from benchmarks.methods import make

    path = Path(job["folder"]) / PARQUET_FILE
    model = make("sleek", n_jobs=N_JOBS)
    if job["method"] == "parquet":
        from sleek import Files

        rows: tuple[Any, ...] = (Files(path, target="y"),)
    else:
        rows = read_parquet(path, job["rows"])
    forget_peak()
    start = time.perf_counter()
    model.fit(*rows)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak_mb": memory_mb(peak=True), "rows_per_s": job["rows"] / seconds}


MEASURES: dict[str, Callable[[Job], Result]] = {
    "prepare": prepare,
    "prepare-parquet": prepare_parquet,
    "fit": measure_fit,
    "scaling": measure_fit,
    "predict": measure_predict,
    "cold": measure_cold,
    "first-fit": measure_first_fit,
    "roofline": measure_roofline,
    "parquet": measure_parquet,
}


def main() -> None:
    """Do the job of the first argument and print its result."""
    job = json.loads(sys.argv[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rivals that did not converge are timed as they are
        print(json.dumps(MEASURES[job["part"]](job)))


if __name__ == "__main__":
    main()
