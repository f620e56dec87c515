"""What a problem is: a pool of rows and fixed splits of it, so that every method sees the same rows."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.model_selection import train_test_split

from sleek._runtime.types import AnyArray, FloatArray, IntArray

TWO_CLASS, MULTI_CLASS, REGRESSION = KINDS = ("two-class", "multi-class", "regression")

Splits = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True, eq=False)
class Problem:
    """One pool of rows with its splits.

    Parameters
    ----------
    name : str
        Short name, unique in a catalogue.
    kind : {"two-class", "multi-class", "regression"}
        What is predicted.
    X : ndarray of shape (n, d)
        Features as numbers.
    y : ndarray of shape (n,)
        Class number 0 ... K-1, or the regression target.
    splits : list of (train, test)
        Row numbers of every split.
    origin : str
        Where rows and splits come from, as it is printed with the results.
    group : str, default=""
        The group of a catalogue that it belongs to.

    Examples
    --------
    >>> X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    >>> problem = Problem("toy", TWO_CLASS, X, y, drawn_splits(4, 3, 1, seeds=[0]), "made up")
    >>> [part.shape for part in problem.split(0)]
    [(3, 2), (3,), (1, 2), (1,)]
    """

    name: str
    kind: str
    X: FloatArray
    y: AnyArray
    splits: Splits
    origin: str
    group: str = ""

    def split(self, number: int) -> tuple[FloatArray, AnyArray, FloatArray, AnyArray]:
        """Training rows and targets, test rows and targets of one split."""
        train, test = self.splits[number]
        return self.X[train], self.y[train], self.X[test], self.y[test]

    @cached_property
    def checksum(self) -> int:
        """A number that changes with the rows or their targets."""
        rows = np.column_stack([self.X, self.y]).astype("<f8", copy=False)
        return zlib.crc32(np.ascontiguousarray(rows).tobytes())

    def fingerprint(self, number: int) -> str:
        """A text that changes with the rows of one split, their targets or their order."""
        parts = b"|".join(np.asarray(part, dtype="<i8").tobytes() for part in self.splits[number])
        return f"{self.checksum:08x}{zlib.crc32(parts):08x}"


def kind_of_classes(y: AnyArray) -> str:
    """Two classes or more, of targets that are class numbers."""
    return TWO_CLASS if len(np.unique(y)) == 2 else MULTI_CLASS


def seeds_of(name: str, count: int) -> list[int]:
    """A seed for each split that depends on the problem's name and the split's number only.

    >>> seeds_of("titanic", 2) == seeds_of("titanic", 3)[:2] != seeds_of("german", 2)
    True
    """
    return [zlib.crc32(f"{name}/{number}".encode()) for number in range(count)]


def drawn_splits(n_rows: int, n_train: int, n_test: int, seeds: Iterable[int]) -> Splits:
    """A split for each seed: the first rows of a random order train, the next ones test.

    >>> train, test = drawn_splits(2201, 150, 2051, seeds=[0])[0]
    >>> len(train), len(test), len(set(train) | set(test))
    (150, 2051, 2201)
    """
    orders = (np.random.default_rng(seed).permutation(n_rows) for seed in seeds)
    return [(order[:n_train], order[n_train:][:n_test]) for order in orders]


def stratified_splits(y: AnyArray, kind: str, n_train: int, n_test: int, seeds: Iterable[int]) -> Splits:
    """A split for each seed in which every class has its share; of a regression target, any split."""
    splits = []
    for seed in seeds:
        train, test = train_test_split(
            np.arange(len(y)),
            train_size=n_train,
            test_size=n_test,
            stratify=None if kind == REGRESSION else y,
            random_state=seed,
        )
        splits.append((train, test))
    return splits
