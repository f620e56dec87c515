"""The column to learn: whether it holds classes or numbers, and which rows have one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import AnyArray, IntArray
from sleek.tables.errors import TableError
from sleek.tables.table import Table, is_date
from sleek.tables.values import Numbers

MOST_CLASSES = 20  # different whole numbers that are taken as class labels
CLASSIFICATION, REGRESSION = "classification", "regression"


@dataclass(frozen=True, eq=False)
class Target:
    """The target's values `y`, labels or numbers, for the rows of the table that have one."""

    task: str
    rows: IntArray
    y: AnyArray

    def take(self, positions: IntArray) -> Target:
        """Some of the rows."""
        return Target(self.task, self.rows[positions], self.y[positions])


def learn_target(table: Table, name: str, task: str | None) -> Target:
    """The target of a table.

    Text is a class. Numbers are classes if they are whole and at most 20 different ones, and else a quantity
    to predict; `task` overrules that.
    """
    found = Numbers(table.numbers(name)) if task == REGRESSION else table.column(name)
    if is_date(found):
        raise TableError(f"{table.source}: the target {name!r} holds dates: a number or a class is needed.")
    if not isinstance(found, Numbers):
        return _checked(table, name, _words(table, name))
    values = np.asarray(found.array, dtype=np.float64)
    rows = np.flatnonzero(~np.isnan(values))
    y = values[rows]
    whole = bool(np.all(y == np.round(y)))
    few = len(np.unique(y)) <= MOST_CLASSES
    if task == REGRESSION or (task is None and not (whole and few)):
        return _checked(table, name, Target(REGRESSION, rows, y))
    labels = (
        Target(CLASSIFICATION, rows, y.astype(np.int64))
        if whole and np.abs(y).max(initial=0.0) < 2**63
        else _words(table, name)
    )
    return _checked(table, name, labels)


def known_target(table: Table, name: str, classes: AnyArray | None) -> Target:
    """The target of new rows, in the type of the model's classes; rows without one are left out."""
    if classes is not None and classes.dtype.kind not in "iuf":
        target = _words(table, name)
    else:
        numbers = table.numbers(name)
        rows = np.flatnonzero(~np.isnan(numbers))
        target = Target(REGRESSION if classes is None else CLASSIFICATION, rows, numbers[rows])
    if len(target.rows) == 0:
        raise TableError(f"{table.source}: the target {name!r} has no value in any row.")
    return _measured(table, name, target)


def _words(table: Table, name: str) -> Target:
    words = table.words(name)
    rows = np.flatnonzero(words.array >= 0)
    levels = np.array(words.values or [""], dtype=str)
    return Target(CLASSIFICATION, rows, levels[words.array[rows]])


def _checked(table: Table, name: str, target: Target) -> Target:
    """The target, unless there is nothing to learn or far too much."""
    distinct = np.unique(target.y)
    if len(distinct) == 0:
        raise TableError(f"{table.source}: the target {name!r} has no value in any row.")
    if len(distinct) == 1:
        raise TableError(
            f"{table.source}: the target {name!r} is {distinct[0].item()!r} in every row: nothing to learn."
        )
    if target.task == CLASSIFICATION and len(distinct) > max(MOST_CLASSES, len(target.y) // 2):
        raise TableError(
            f"{table.source}: the target {name!r} has {len(distinct)} values in {len(target.y)} rows, "
            "too many to be classes. Is another column meant, or a number to predict (task regression)?"
        )
    return _measured(table, name, target)


def _measured(table: Table, name: str, target: Target) -> Target:
    """The target, unless its numbers are too large to be squared."""
    if target.task == REGRESSION:
        with np.errstate(over="ignore"):
            overflows = not np.isfinite(np.square(target.y).sum())
        if overflows:
            raise TableError(
                f"{table.source}: values of the target {name!r} are too large for float64 arithmetic (their "
                "squares overflow). Express it in larger units."
            )
    return target
