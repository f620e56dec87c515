"""What a table in a file gives a model: columns to learn from, features of new rows, weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek.tables.columns import NumberColumn, WordColumn
from sleek.tables.encoded import EncodedTable
from sleek.tables.errors import TableError
from sleek.tables.inputs import Inputs
from sleek.tables.table import Table
from sleek.tables.unusual import Unusual
from sleek.tables.values import Numbers, Values


def column_values(table: Table, names: Sequence[str], categories: Collection[str]) -> dict[str, Values]:
    """The values of columns for all rows; those of categories as they are written."""
    return {name: table.words(name) if name in categories else table.column(name) for name in names}


def features_of(table: Table, inputs: Inputs) -> tuple[EncodedTable, list[str]]:
    """A model's features of the table's rows, and what to note about them."""
    table.require(inputs.names)
    values: dict[str, Values] = {}
    notes = list(table.notes)
    for column in inputs.columns:
        match column:
            case NumberColumn(name, fill):
                numbers = table.numbers(name)
                values[name] = Numbers(numbers)
                notes += _note_gaps(table, name, fill, np.flatnonzero(np.isnan(numbers)))
            case WordColumn(name=name):
                values[name] = table.words(name)
                notes += column.notes(column.settle(values[name]), values[name])
            case _:
                values[column.name] = table.column(column.name)
    return EncodedTable.of(inputs, values), notes


def weights_of(table: Table, name: str | None, rows: IntArray) -> FloatArray:
    """The weights of some rows, all 1 without a column of them."""
    if name is None:
        return np.ones(len(rows))
    weights = table.numbers(name)[rows]
    bad = ~(weights >= 0)
    if bad.any():
        position = int(np.argmax(bad))
        value = weights[position].item()
        raise table.refuse(name, int(rows[position]), value, "a weight of at least 0 is needed")
    if not weights.any():
        raise TableError(f"{table.source}: the weight {name!r} is 0 in every row.")
    return weights


def counting_columns(columns: Mapping[str, Values]) -> list[str]:
    """Columns that only number the rows: in a sorted file they give the answer away.

    >>> counting_columns({"row": Numbers(np.array([7, 8, 9])), "age": Numbers(np.array([31.0, 7.0, 52.0]))})
    ['row']
    """
    return [
        name
        for name, values in columns.items()
        if isinstance(values, Numbers) and len(values) > 2 and np.all(np.diff(values.array) == 1)
    ]


def note_unknown(name: str, values: Iterable[Any], known: Collection[Any]) -> list[str]:
    """A note about values that a model has not learnt from, or none.

    >>> note_unknown("colour", ["pink", "red", "pink"], ["red"])
    ["column 'colour': 2 rows hold what the model has never seen, such as 'pink'"]
    """
    learnt = set(known)
    return note_strangers(name, Counter(value for value in values if value not in learnt))


def note_strangers(name: str, strangers: Counter[Any]) -> list[str]:
    """The same for values that are counted."""
    return Unusual(unknown=strangers.total(), words=strangers).notes(name, None)


def _note_gaps(table: Table, name: str, fill: float | None, gaps: IntArray) -> list[str]:
    if len(gaps) == 0:
        return []
    if fill is None:
        raise table.refuse(name, int(gaps[0]), None, "the model has no fill for missing values")
    return [f"column {name!r}: {len(gaps):,} missing values are taken as {fill:.6g}"]
