"""What the speed comparison measures: every job of every part, at full size or quick.

A job is a dictionary that `speed_measure` understands. Methods take turns, so that a disturbance of the
machine does not hit one of them alone.

>>> len({key(job) for part in JOBS.values() for job in part(QUICK)}) > 40
True
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.generators import GENERATORS, KEEL_SETS, N_TEST
from benchmarks.speed_results import CAPPED, COLD_BASES, FIT_METHODS, PREDICT_METHODS, rows_given

Job = dict[str, Any]

IDENTITY = ("part", "problem", "rows", "method", "n_jobs", "basis", "dtype", "m", "d", "round")


@dataclass(frozen=True)
class Scale:
    """How much is measured: all sizes, repetitions and limits."""

    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    keel: tuple[str, ...] = KEEL_SETS
    test_rows: int = N_TEST
    slow_test_rows: int = 20_000  # of methods that predict slowly
    rounds: int = 3
    limit: float = 120.0  # seconds of a fit
    warm_up_rows: int = 1_000
    predict_rows: int = 1_000_000
    slow_predict_rows: int = 5_000
    predict_train_rows: int = 10_000
    predict_repeat_s: float = 1.0
    cold_rows: int = 100_000
    shapes: tuple[tuple[int, int], ...] = ((20, 28), (30, 28), (20, 8), (30, 8))
    roofline_rows: int = 200_000
    turns: int = 7
    parquet_rows: int = 20_000_000
    memory_rows: int = 2_000_000


QUICK = Scale(
    sizes=(250, 1_000),
    keel=("twonorm",),
    test_rows=5_000,
    slow_test_rows=2_000,
    rounds=1,
    limit=20.0,
    warm_up_rows=250,
    predict_rows=50_000,
    slow_predict_rows=1_000,
    predict_train_rows=1_000,
    predict_repeat_s=0.1,
    cold_rows=1_000,
    shapes=((20, 28),),
    roofline_rows=20_000,
    turns=2,
    parquet_rows=100_000,
    memory_rows=20_000,
)


def fit_jobs(scale: Scale) -> Iterator[Job]:
    """Every method on every problem and size; a capped method is measured once for all larger sizes."""
    cases: list[tuple[str, int | None]] = [(name, rows) for name in GENERATORS for rows in scale.sizes]
    cases += [(name, None) for name in scale.keel]
    for problem, rows in cases:
        for turn in range(scale.rounds):
            for method in FIT_METHODS:
                if method == "neo" and problem == "letter":
                    continue  # two classes only
                where = {"part": "fit", "problem": problem, "rows": rows_given(method, rows)}
                test_rows = scale.slow_test_rows if method in CAPPED else scale.test_rows
                yield where | {"method": method, "round": turn} | how(scale, test_rows)


def scaling_jobs(scale: Scale) -> Iterator[Job]:
    """sleek on ten times the rows, and with half the threads."""
    small, large = scale.sizes[-2:]
    for problem in GENERATORS:
        for turn in range(scale.rounds):
            for rows, n_jobs in ((small, 2), (large, 2), (large, 1)):
                where = {"part": "scaling", "problem": problem, "rows": rows, "method": "sleek"}
                yield where | {"n_jobs": n_jobs, "round": turn} | how(scale, scale.test_rows)


def how(scale: Scale, test_rows: int) -> Job:
    """What all fits have in common."""
    return {"limit": scale.limit, "warm_up_rows": scale.warm_up_rows, "test_rows": test_rows}


def predict_jobs(scale: Scale) -> Iterator[Job]:
    """Large batches and single rows through every method."""
    for turn in range(scale.rounds):
        for method in PREDICT_METHODS:
            rows = scale.slow_predict_rows if method == "svc" else scale.predict_rows
            job = {"part": "predict", "problem": "smooth", "rows": rows, "method": method, "round": turn}
            yield job | {"train_rows": scale.predict_train_rows, "repeat_s": scale.predict_repeat_s}


def cold_jobs(scale: Scale) -> Iterator[Job]:
    """The first fit of a process: with defaults, and with a basis whose loops are compiled."""
    for turn in range(scale.rounds):
        for basis in COLD_BASES:
            job = {"part": "cold", "problem": "smooth", "rows": scale.cold_rows, "basis": basis}
            yield job | {"round": turn}


def roofline_jobs(scale: Scale) -> Iterator[Job]:
    """Every kernel at every shape and type."""
    for dtype in ("float64", "float32"):
        for m, d in scale.shapes:
            shape = {"part": "roofline", "dtype": dtype, "m": m, "d": d, "round": 0}
            yield shape | {"n": scale.roofline_rows, "turns": scale.turns}


def parquet_jobs(scale: Scale) -> Iterator[Job]:
    """A fit from a file and one in memory."""
    for turn in range(scale.rounds):
        for method, rows in (("memory", scale.memory_rows), ("parquet", scale.parquet_rows)):
            yield {"part": "parquet", "rows": rows, "method": method, "round": turn}


JOBS = {
    "fit": fit_jobs,
    "scaling": scaling_jobs,
    "predict": predict_jobs,
    "cold": cold_jobs,
    "roofline": roofline_jobs,
    "parquet": parquet_jobs,
}


def key(job: Job, turn: int | None = None) -> str:
    """What tells one measurement from another; with another turn, if given."""
    same = {name: job.get(name) for name in IDENTITY}
    return json.dumps(same if turn is None else same | {"round": turn})
