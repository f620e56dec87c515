"""Encoding of table columns while rows are read, in two steps.

A chunk that is read has one number for each value (`Column.settle`); a block that is worked on has features:
one-hot levels, filled gaps, parts of dates (`Column.features`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray
from sleek._runtime.warn import warn
from sleek.rows.raw import RawBlock
from sleek.tables.crossfit import folds_of
from sleek.tables.encoded import EncodedTable
from sleek.tables.errors import TableError
from sleek.tables.inputs import Inputs
from sleek.tables.unusual import NOTHING, Unusual
from sleek.tables.values import Columns

Strangers = dict[str, Unusual]  # what is unusual about columns, by name


@dataclass(frozen=True, eq=False)
class Encoding:
    """How columns become features.

    Parameters
    ----------
    inputs : Inputs or None
        None: tasks get the columns as they are.
    by_fold : mapping
        Ratings of levels, (folds, levels, k), for rows to learn from, whose own targets must not be seen.
    settled : bool
        Whether tasks get one number for each column (a number, days, a level's place) instead of features.
    numbers, decimal : names of columns, and their decimal mark
        Columns of text that hold numbers.
    """

    inputs: Inputs | None = None
    by_fold: Mapping[str, FloatArray] = field(default_factory=dict)
    settled: bool = False
    numbers: Collection[str] = ()
    decimal: str | None = None

    @property
    def n_features(self) -> int:
        """How many features there are, for tasks that get features."""
        return 0 if self.inputs is None else len(self.inputs.feature_names)

    def settle(self, chunk: RawBlock, strangers: Strangers | None = None) -> RawBlock:
        """A chunk whose columns are settled; what training had none of is added to `strangers`."""
        if not isinstance(chunk.X, Columns):
            raise TypeError("The model reads a table, and these rows are numbers: give it columns by name.")
        try:
            columns = self._read_numbers(chunk.X)
            if self.inputs is None:
                return replace(chunk, X=columns)
            table = EncodedTable.of(self.inputs, columns, dict(self.by_fold))
        except TableError as error:
            raise error.at(chunk.words) from None
        if strangers is not None:
            for column, settled in zip(self.inputs.columns, table.settled, strict=True):
                found = column.unusual(settled, columns[column.name])
                strangers[column.name] = strangers.get(column.name, Unusual()) + found
        return replace(chunk, X=table)

    def _read_numbers(self, columns: Columns) -> Columns:
        """Text that has to be numbers, as numbers."""
        if self.inputs is not None:
            values = self.inputs.read_numbers(columns.values, self.decimal)
        elif self.numbers:
            from sleek.tables.text import read_texts

            texts = {name: columns[name] for name in self.numbers}
            values = {**columns.values, **read_texts(texts, numbers=self.numbers, decimal=self.decimal)}
        else:
            return columns
        return Columns(values, len(columns))

    def apply(self, block: RawBlock) -> Any:
        """X of a settled block as tasks get it."""
        if not isinstance(block.X, EncodedTable):
            return block.X
        if self.settled:
            return np.column_stack(block.X.settled).astype(np.float64)
        if self.by_fold and block.X.folds is None:
            numbers = np.arange(block.start, block.start + len(block))
            return replace(block.X, folds=folds_of(numbers if block.groups is None else block.groups))[:]
        return block.X[:]


def warn_of_strangers(inputs: Inputs, strangers: Strangers) -> None:
    """A warning that counts what training had none of."""
    if all(found is NOTHING for found in strangers.values()):
        return
    notes = [
        f"{note[0].upper()}{note[1:]}."
        for column in inputs.columns
        for note in strangers.get(column.name, Unusual()).notes(column.name, column.fill_in_words)
    ]
    if notes:
        warn("\n".join(notes))
