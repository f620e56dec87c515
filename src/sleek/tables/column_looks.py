"""A look at a table before anything is fitted: kinds of columns, gaps, levels, ids and leaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.tables.columns import Column, DateColumn, NumberColumn, WordColumn
from sleek.tables.crossfit import Judges
from sleek.tables.errors import TableError, UselessColumnError
from sleek.tables.learning import doubts_of
from sleek.tables.reading import as_words
from sleek.tables.summary import Summary
from sleek.tables.target import CLASSIFICATION, TargetLook, note_classes, target_values
from sleek.tables.values import Columns, Values

BINS = 20  # of a number, by which it is judged
LEAK = 0.98  # of the target's variance that a column alone explains in held-out folds


@dataclass(frozen=True)
class ColumnLook:
    """One column: its kind, how many values are missing and different, some of them, what is strange."""

    name: str
    kind: str
    missing: int
    different: int
    values: str
    foretells: float | None
    remark: str

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class TableLook:
    """All columns of a table, and what else to note."""

    columns: list[ColumnLook]
    notes: list[str]


def look_at(columns: Columns, unusable: Mapping[str, str], target: str | None = None) -> TableLook:
    """Every column of a table; with a target also the share of its variance that each explains alone.

    Shares are those of rows left out, by a column's levels or by twentieths of its numbers. Columns that are
    `unusable` have a sentence that says why.
    """
    chosen, notes = None, []
    if target is not None:
        look = TargetLook.of(columns[target])
        look.check("The table", target, look.task)
        chosen = KnownTargets(look.task, *target_values(columns[target], look.task))
        if look.task == CLASSIFICATION and not look.words:
            notes += note_classes(target, look.numbers)
    looks = []
    for name, values in columns.values.items():
        if name in unusable:
            looks.append(ColumnLook(name, "unusable", 0, 0, "", None, unusable[name]))
            continue
        summary = Summary.of(name, values)
        looks.append(_look(name, values, summary, None if name == target else chosen, name == target))
        if looks[-1].kind == "date":
            notes += doubts_of({name: summary.column(name)}, {name: summary})
    return TableLook(looks, notes)


@dataclass(frozen=True, eq=False)
class KnownTargets:
    """Labels or numbers `y` of the rows that have one."""

    task: str
    rows: IntArray
    y: AnyArray


def _look(
    name: str, values: Values, summary: Summary, target: KnownTargets | None, is_target: bool
) -> ColumnLook:
    words = as_words(values)
    counts = np.bincount(words.array[words.array >= 0], minlength=len(words.values))
    missing, different = int((words.array < 0).sum()), int((counts > 0).sum())
    remark, column = "the target" if is_target else "", None
    try:
        column = summary.column(name)
    except UselessColumnError:
        remark = "no value at all" if different == 0 else "an id: left out"
    except TableError as error:
        remark = str(error)
    kind = _kind(column)
    if different == 1 and not missing:
        remark = "the same in every row"
    if summary.counts_rows:
        remark = "only counts the rows"
    foretells = None
    if target is not None and column is not None:
        foretells = _foretold(column.settle(values)[target.rows], column, target)
        if foretells > LEAK:
            remark = "a leak? it gives the target away"
    return ColumnLook(name, kind, missing, different, _some(values, words, counts, kind), foretells, remark)


def _kind(column: Column | None) -> str:
    match column:
        case NumberColumn():
            return "number"
        case DateColumn():
            return "date"
        case WordColumn():
            return "category"
    return "useless"


def _some(values: Values, words: Any, counts: IntArray, kind: str) -> str:
    if kind == "number" and values.array.dtype.kind in "fiu":
        return f"{np.nanmin(values.array):.6g} … {np.nanmax(values.array):.6g}"
    common = np.argsort(-counts, kind="stable")[:3]
    return ", ".join(words.values[place] for place in common if counts[place])


def _foretold(settled: AnyArray, column: Column, target: KnownTargets) -> float:
    """The share of the target's variance that the column alone explains in held-out folds."""
    if target.task == CLASSIFICATION:
        classes, codes = np.unique(target.y, return_inverse=True)
        T: FloatArray = (codes[:, None] == np.arange(len(classes))).astype(np.float64)
    else:
        T = np.asarray(target.y, dtype=np.float64)[:, None]
    groups, size = _groups(settled, column)
    judges = Judges.of(T, np.ones(len(T)), [np.asarray(settled, dtype=np.float64)])
    return max(0.0, judges.sums(groups, size).best()[1])


def _groups(settled: AnyArray, column: Column) -> tuple[IntArray, int]:
    if isinstance(column, WordColumn):
        return settled.astype(np.int64), len(column.levels) + 2
    numbers = settled.astype(np.float64)
    gaps = np.isnan(numbers)
    edges: FloatArray = np.unique(np.quantile(numbers[~gaps], np.linspace(0, 1, BINS + 1)[1:-1]))
    groups = np.where(gaps, BINS + 1, np.searchsorted(edges, numbers, side="right"))
    return groups.astype(np.int64), BINS + 2
