"""The benchmark's original realisations, read from files that the user has.

Two layouts: a folder of ``ida_NAME.npz`` with arrays X, t, train and test (row numbers from 0), or the public
``benchmarks.mat``, one struct for each set with x, t, train and test (row numbers from 1).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from paper.data import BENCHMARKS, ORIGINAL, PARTITIONS, SEEDED, Benchmark, Problem, draw
from paper.errors import ExperimentError
from sleek._runtime.types import FloatArray, IntArray

FEW = 5  # with fewer original realisations, partitions are drawn from their pool
ENTRIES = ("x", "t", "train", "test")


def read_originals(path: Path) -> list[Problem]:
    """The three benchmark sets with their original realisations.

    Where fewer than five are held, seeded partitions of the same pool and sizes take their place, and
    `Problem.kind` says so.
    """
    if not path.exists():
        raise ExperimentError(
            f"--ida must be a folder of ida_NAME.npz or a benchmarks.mat file, but there is no {path}."
        )
    read = _read_npz if path.is_dir() else _read_mat
    held = read(path)
    missing = [benchmark.original for benchmark in BENCHMARKS if benchmark.original not in held]
    if missing:
        raise ExperimentError(
            f"--ida must hold the sets {', '.join(b.original for b in BENCHMARKS)}, but {path} lacks "
            f"{', '.join(missing)}. Leave --ida out to use seeded partitions."
        )
    return [_problem(benchmark, held[benchmark.original], path) for benchmark in BENCHMARKS]


def _read_npz(folder: Path) -> dict[str, dict[str, Any]]:
    """The sets of a folder; row numbers from 0."""
    held = {}
    for benchmark in BENCHMARKS:
        file = folder / f"ida_{benchmark.original}.npz"
        if file.is_file():
            try:
                with np.load(file) as arrays:
                    held[benchmark.original] = {name.lower(): arrays[name] for name in arrays.files}
            except Exception as error:  # NumPy and zipfile raise what they like on damaged files
                raise ExperimentError(f"{file} could not be read: {error}. Fetch it again.") from None
    return held


def _read_mat(file: Path) -> dict[str, dict[str, Any]]:
    """The sets of a MATLAB file; its row numbers from 1 are turned into row numbers from 0."""
    from scipy.io import loadmat

    try:
        content = loadmat(file, simplify_cells=True)
    except Exception as error:  # scipy raises what it likes on damaged files
        reason = str(error) or type(error).__name__
        raise ExperimentError(
            f"{file} could not be read as a MATLAB file: {reason}. Fetch it again, or save it with -v7."
        ) from None
    held = {}
    for name, value in content.items():
        if isinstance(value, dict):
            entries = {key.lower(): entry for key, entry in value.items()}
            for part in ("train", "test"):
                if part in entries:
                    entries[part] = np.atleast_2d(entries[part]).astype(np.int64) - 1
            held[name.lower()] = entries
    return held


def _problem(benchmark: Benchmark, entries: dict[str, Any], path: Path) -> Problem:
    """A checked problem from what a file holds of one set."""
    lacking = [name for name in ENTRIES if name not in entries]
    if lacking:
        raise ExperimentError(f"{benchmark.original} in {path} lacks {', '.join(lacking)}.")
    X: FloatArray = np.asarray(entries["x"], dtype=np.float64)
    t: IntArray = np.where(np.asarray(entries["t"]).ravel() > 0, 1, -1)
    train, test = (np.atleast_2d(entries[part]).astype(np.int64) for part in ("train", "test"))
    if len(X) != len(t) or len(train) != len(test):
        raise ExperimentError(
            f"{benchmark.original} in {path} must have a label for each row and a test set for each training "
            f"set, got {len(X)} rows, {len(t)} labels, {len(train)} training and {len(test)} test sets."
        )
    if min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= len(X):
        raise ExperimentError(
            f"Partitions of {benchmark.original} in {path} name rows that it does not have."
        )
    partitions, kind = list(zip(train, test, strict=True)), ORIGINAL
    if len(partitions) < FEW:
        kind = f"{SEEDED} of the original pool ({len(partitions)} original held)"
        wanted = benchmark.n_train + benchmark.n_test
        if len(X) < wanted:
            raise ExperimentError(
                f"{benchmark.original} in {path} has fewer than {FEW} realisations, and its pool of {len(X)} "
                f"rows is too small to draw partitions of {wanted} rows from."
            )
        partitions = draw(benchmark, len(X), PARTITIONS)
    return Problem(benchmark.name, benchmark.title, X, t, partitions, kind)
