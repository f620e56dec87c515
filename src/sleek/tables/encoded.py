"""A table that becomes features when rows are asked for: in memory it is a number per column and row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.tables.inputs import Inputs
from sleek.tables.values import Values


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """Settled columns that look like an array X (n, n_features): ``X[rows]`` are the features of rows.

    Memory is that of the columns; a block of rows takes 8·n_features bytes a row while it is worked on.

    >>> inputs = Inputs.learn({"colour": ["red", "blue", "red"]})
    >>> table = EncodedTable.of(inputs, inputs.find({"colour": ["red", "red", "blue"]}))
    >>> table.shape, table[1:]
    ((3, 2), array([[0., 1.], [1., 0.]]))
    """

    inputs: Inputs
    settled: tuple[AnyArray, ...]
    n_rows: int
    by_fold: dict[str, FloatArray] = field(default_factory=dict)
    folds: IntArray | None = None

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        columns: dict[str, Values],
        by_fold: dict[str, FloatArray] | None = None,
        folds: IntArray | None = None,
    ) -> EncodedTable:
        """Columns of a table; with `by_fold`, as rows to learn from, whose own targets must not be seen."""
        settled = tuple(column.settle(columns[column.name]) for column in inputs.columns)
        return cls(inputs, settled, len(settled[0]) if settled else 0, by_fold or {}, folds)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.inputs.feature_names)

    def __len__(self) -> int:
        return self.n_rows

    def take(self, rows: IntArray) -> EncodedTable:
        """Some of the rows."""
        settled = tuple(array[rows] for array in self.settled)
        folds = None if self.folds is None else self.folds[rows]
        return replace(self, settled=settled, n_rows=len(rows), folds=folds)

    def __getitem__(self, rows: Any) -> FloatArray:
        parts = [array[rows] for array in self.settled]
        X = np.empty((len(parts[0]), self.shape[1]))
        for column, place, part in zip(self.inputs.columns, self.inputs.places, parts, strict=True):
            means = self.by_fold.get(column.name)
            if means is None or self.folds is None:
                X[:, place] = column.features(part)
            else:
                X[:, place] = means[self.folds[rows], part]
        return X
