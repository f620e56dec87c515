"""Fits on a cluster of this machine against fits in memory, and what larger clusters would take.

    make bench-dask        # or: python -m benchmarks.dask_scale

Every measurement is a process of its own, the best of several, in turns: whoever else uses the machine
disturbs all of them. Rows are made where they are needed, on the workers or in memory, block by block from
seeds: the client of a cluster never has them. `simulated` is a model of a pass on a cluster whose rates are
measured without one; it is checked against what clusters of one and two workers took.
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.generators import NOISE, smooth_function
from benchmarks.speed_measure import forget_peak, memory_mb

ROOT = Path(__file__).parents[1]
REPORT, RESULTS = ROOT / "docs/benchmarks/dask.md", ROOT / "results/dask.json"
N_FEATURES, PART = 28, 50_000
FITS = 2  # in a process: the first one compiles
LARGE = {"n_rows": 10**9, "n_features": 100, "n_workers": 50, "part": 200_000}
SAMPLED = 300_000  # rows × 100 whose fit shows what the client has to do, however many rows there are
NETWORK = 125e6  # bytes a second between two machines: 1 Gbit/s
LOOPBACK = 1e9  # within one
Floats = NDArray[np.float64]


def part_of(number: int, n_rows: int, n_features: int) -> Floats:
    """Some rows: features, and in the last column the class."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n_rows, n_features))
    y = smooth_function(X) + NOISE * rng.normal(size=n_rows) > 0
    return np.column_stack([X, y])


def in_memory(n_rows: int, n_features: int) -> tuple[Floats, Floats]:
    """The rows of all parts."""
    X, y = np.empty((n_rows, n_features)), np.empty(n_rows)
    for start in range(0, n_rows, PART):
        some = part_of(start // PART, min(PART, n_rows - start), n_features)
        X[start : start + PART], y[start : start + PART] = some[:, :-1], some[:, -1]
    return X, y


# -- the model of a pass ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """What a pass takes apart from its rows: in seconds, and bytes."""

    fixed: float  # for a pass
    task: float  # for a task, in the scheduler, one after the other


@dataclass(frozen=True)
class Spread:
    """How rows are spread over a cluster."""

    part_rows: int
    n_parts: int
    n_workers: int
    bandwidth: float  # bytes a second


def simulated(
    spread: Spread, per_row: float, rates: Rates, sums: float, home: float, joins: bool = True
) -> float:
    """Seconds of a pass: tasks go out one after the other, workers take what comes, sums are joined by 16.

    Parameters
    ----------
    spread : Spread
    per_row : float
        Seconds that one worker takes for a row.
    rates : Rates
    sums : float
        Bytes that each part gives.
    home : float
        Bytes that come home in the end.
    joins : bool
        Whether the workers join what the parts give.

    >>> round(simulated(Spread(1000, 8, 2, 1e9), 1e-3, Rates(0.0, 0.0), 0.0, 0.0), 9)
    4.0
    """
    free, clock = [rates.fixed] * spread.n_workers, rates.fixed
    level: list[float] = []
    for _ in range(spread.n_parts):
        clock += rates.task
        done = max(clock, heapq.heappop(free)) + spread.part_rows * per_row
        heapq.heappush(free, done)
        level.append(done)
    while joins and len(level) > 1:
        groups = [level[first : first + 16] for first in range(0, len(level), 16)]
        level = []
        for group in groups:
            clock += rates.task
            level.append(max(clock, *group) + len(group) * sums / spread.bandwidth)
    return max(level) + home / spread.bandwidth


# -- jobs ---------------------------------------------------------------------------------------------------


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def model_of(n_jobs: int) -> Any:
    from sleek import LowRankLSSVC

    return LowRankLSSVC(random_state=0, n_jobs=n_jobs)


def job_memory(n_rows: int) -> dict[str, Any]:
    """A fit in memory with two threads."""
    X, y = in_memory(n_rows, N_FEATURES)
    forget_peak()
    before = memory_mb(peak=False)
    seconds, cpu, models = [], [], set()
    for _ in range(FITS):
        used = time.process_time()
        taken, model = timed(lambda: model_of(2).fit(X, y))
        seconds.append(taken)
        cpu.append(time.process_time() - used)
        models.add(digest(model))
    peak = memory_mb(peak=True) - before
    return {
        "cold": seconds[0],
        "warm": min(seconds[1:]),
        "cpu": min(cpu[1:]),
        "peak": peak,
        "models": sorted(models),
    }


def digest(model: Any) -> str:
    """What two models have in common if they are the same to the last bit."""
    from sleek.model.saving import dumps

    return hashlib.sha256(dumps(model.model_)).hexdigest()


def wire() -> int:
    """Bytes that went through this machine's loopback so far."""
    import psutil

    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


def features_of(part: Floats) -> Floats:
    """The features of a part, in memory of their own."""
    return np.ascontiguousarray(part[:, :-1])


def rows_on_workers(n_rows: int) -> tuple[Any, Any]:
    """X and y as Dask arrays, made where they are."""
    import dask
    import dask.array as da

    make, few, last = (dask.delayed(f) for f in (part_of, features_of, class_of))
    parts = [make(i, PART, N_FEATURES) for i in range(n_rows // PART)]
    X = [da.from_delayed(few(part), (PART, N_FEATURES), np.float64) for part in parts]
    y = [da.from_delayed(last(part), (PART,), np.float64) for part in parts]
    return da.concatenate(X), da.concatenate(y)


def class_of(part: Floats) -> Floats:
    """The classes of a part."""
    return part[:, -1].copy()


def job_cluster(n_rows: int, n_workers: int) -> dict[str, Any]:
    """The same fit on workers of one thread each, with a look at every pass."""
    from distributed import Client, LocalCluster, wait

    from sleek.rows.dask import passes

    log: list[dict[str, Any]] = []
    for name in ("total", "each", "kept"):
        _watch(passes.Pass, name, log)
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        X, y = (column.persist() for column in rows_on_workers(n_rows))
        wait([X, y])
        workers = client.run(_restart_peak)
        forget_peak()
        own, sent, seconds, cpu, passed = memory_mb(peak=False), wire(), [], [], []
        models = set()
        for _ in range(FITS):
            log.clear()
            used = _used(client)
            taken, model = timed(lambda: model_of(2).fit(X, y))
            seconds.append(taken)
            cpu.append(_used(client) - used)
            models.add(digest(model))
            passed.append(list(log))
        sent = (wire() - sent) // FITS
        peak = memory_mb(peak=True)
        peaks = client.run(_peak)
        fastest = passed[int(np.argmin(seconds))]
        noop = {n: _noop(client, n) for n in (10, 110)}
    slope = (noop[110] - noop[10]) / 100
    return {
        "cold": seconds[0],
        "warm": min(seconds[1:]),
        "cpu": min(cpu[1:]),
        "passes": fastest,
        "wire": sent,
        "models": sorted(models),
        "client": [own, peak],
        "workers": [[workers[name], peaks[name]] for name in workers],
        "rates": asdict(Rates(max(noop[10] - 10 * slope, 0.0), slope)),
    }


def _watch(owner: Any, name: str, log: list[dict[str, Any]]) -> None:
    """Note time and bytes of every pass."""
    original = getattr(owner, name)

    def watched(*arguments: Any) -> Any:
        before, inside = wire(), len(log)
        seconds, found = timed(lambda: original(*arguments))
        del log[inside:]  # a pass within a pass
        log.append({"pass": name, "seconds": seconds, "bytes": wire() - before})
        return found

    setattr(owner, name, watched)


def _used(client: Any) -> float:
    """Seconds of processor time of client, scheduler and workers."""
    return time.process_time() + float(sum(client.run(time.process_time).values()))


def _restart_peak() -> float:
    forget_peak()
    return memory_mb(peak=False)


def _peak() -> float:
    return memory_mb(peak=True)


def _noop(client: Any, n_parts: int) -> float:
    """Seconds of a pass over so many parts in which there is next to nothing to do: the best of seven."""
    import dask.array as da

    from sleek import DaskRows
    from sleek.outputs import NumberOutputs
    from sleek.rows.rows import Run

    X = da.ones((n_parts * 4096, 1), chunks=(4096, 1)) * da.arange(n_parts * 4096, chunks=4096)[:, None]
    rows = DaskRows(X, X[:, 0])
    survey = rows.survey(NumberOutputs, Run())
    outputs = NumberOutputs.learn(survey.targets, True)
    source = rows.source(outputs, survey.weighting(outputs), Run())
    return min(timed(lambda: source.map_reduce(len))[0] for _ in range(7))


def job_rates(n_features: int, n_rows: int) -> dict[str, Any]:
    """Seconds a row of every kind of pass, by one thread without a cluster; and a whole fit in memory."""
    from sleek.closed_form.least_squares import unit_moments
    from sleek.fit.plan import Plan
    from sleek.fit.start import Look
    from sleek.outputs import ClassOutputs, Labels
    from sleek.rows.arrays import ArrayRows
    from sleek.rows.dask.parts import Loaded, Reading, columns_in, read_part
    from sleek.rows.raw import RawBlock
    from sleek.rows.rows import Run
    from sleek.rows.table_rows import TableSummary as TableLook

    X, y = in_memory(n_rows, n_features)
    fit, model = timed(lambda: model_of(2).fit(X, y))
    rows = ArrayRows(X, Labels.of(y), np.ones(n_rows))
    survey = rows.survey(ClassOutputs, Run())
    outputs = ClassOutputs.learn(survey.targets, True)
    source = rows.source(outputs, survey.weighting(outputs), Run())
    from sleek.estimators.settings import request_of

    plan = Plan.of(n_rows, n_features, request_of(model, n_features))
    part = Loaded(X[:PART], y[:PART], None)
    columns = RawBlock(columns_in(part.X, None), y[:PART])
    expansion = model.model_.expansion

    def best(function: Callable[[], Any]) -> float:
        return min(timed(function)[0] for _ in range(3))

    return {
        "fit": fit,
        "units": model.model_.n_units,
        "gaps": best(lambda: TableLook.of((), False, columns)) / PART,
        "keep": best(lambda: read_part(part, Reading("labels", n_features), 0, 0, 0)) / PART,
        "targets": best(lambda: rows.survey(ClassOutputs, Run())) / n_rows,
        "look": best(lambda: Look.at(source, plan, 0, Run().workers)) / n_rows,
        "solve": best(lambda: unit_moments(source, expansion)) / n_rows,
    }


def job_reading(n_features: int, part: int) -> dict[str, Any]:
    """Seconds a row to read a Parquet file of one part, by one thread."""
    import tempfile

    import pandas as pd

    with tempfile.TemporaryDirectory() as folder:
        frame = pd.DataFrame(part_of(0, part, n_features), columns=[f"x{i}" for i in range(n_features + 1)])
        frame.to_parquet(f"{folder}/part.parquet")

        def read() -> Any:
            return pd.read_parquet(f"{folder}/part.parquet", use_threads=False).to_numpy(np.float64)

        read()
        return {"row": min(timed(read)[0] for _ in range(3)) / part}


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "memory": job_memory,
    "cluster": job_cluster,
    "rates": job_rates,
    "reading": job_reading,
}


def measured(job: str, **options: int) -> dict[str, Any]:
    """What a process of its own found."""
    command = [sys.executable, "-m", "benchmarks.dask_scale", "--job", json.dumps({"job": job, **options})]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(job, options, {key: value for key, value in found.items() if key != "passes"}, flush=True)
    return found


def main() -> None:
    """Measure, simulate, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--page", action="store_true", help="write the page from what was measured last")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        options = json.loads(given.job)
        print(json.dumps(JOBS[options.pop("job")](**options)))
        return
    from benchmarks.dask_page import page

    if not given.page:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(measurements(given.rows, given.rounds)), encoding="utf-8")
    text = page(json.loads(RESULTS.read_text(encoding="utf-8")))
    REPORT.write_text(text, encoding="utf-8")
    print(text)


def measurements(n: int, rounds: int) -> dict[str, Any]:
    """All that the page needs."""
    found: dict[str, Any] = {"rows": n, "memory": [], "one": [], "two": []}
    for _ in range(rounds):
        found["memory"].append(measured("memory", n_rows=n))
        found["two"].append(measured("cluster", n_rows=n, n_workers=2))
        found["one"].append(measured("cluster", n_rows=n, n_workers=1))
    found["rates"] = measured("rates", n_features=N_FEATURES, n_rows=n)  # the same model
    found["large"] = measured("rates", n_features=LARGE["n_features"], n_rows=SAMPLED)
    found["reading"] = measured("reading", n_features=LARGE["n_features"], part=LARGE["part"])
    return found


if __name__ == "__main__":
    main()
