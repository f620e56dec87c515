"""A lazily encoded table: one number per column and row in memory, features for the rows that are indexed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.tables.columns import LevelColumn
from sleek.tables.inputs import Inputs
from sleek.tables.values import Columns, Values


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table that looks like an array X (n, n_features): ``X[rows]`` are the features of rows.

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
        columns: Mapping[str, Values] | Columns,
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

    def take(self, rows: Any) -> EncodedTable:
        """Some of the rows: a slice, without a copy, or places."""
        settled = tuple(array[rows] for array in self.settled)
        folds = None if self.folds is None else self.folds[rows]
        return replace(self, settled=settled, n_rows=len(settled[0]), folds=folds)

    @classmethod
    def joined(cls, parts: Sequence[EncodedTable]) -> EncodedTable:
        """The rows of all parts."""
        settled = tuple(map(np.concatenate, zip(*(part.settled for part in parts), strict=True)))
        folds = [part.folds for part in parts if part.folds is not None]
        joined = np.concatenate(folds) if folds else None
        return replace(parts[0], settled=settled, n_rows=len(settled[0]), folds=joined)

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


def as_new(X: FloatArray, inputs: Inputs, by_fold: Mapping[str, FloatArray]) -> FloatArray:
    """Features X (n, d) of rows to learn from, with the levels rated as they are for new rows.

    A value is that of the nearest rating by any fold: ratings that are equal need no telling apart.

    Parameters
    ----------
    by_fold : dict
        Ratings (folds, levels, k) of the levels of columns, as rows to learn from have them.

    >>> from sleek.tables.columns import LevelColumn
    >>> inputs = Inputs((LevelColumn("zip", ("1", "2"), ((0.5,), (-0.2,)), other=(0.0,), missing=(0.0,)),))
    >>> ratings = np.array([[[0.4], [-0.1], [0.0], [0.0]], [[0.6], [-0.3], [0.0], [0.0]]])
    >>> as_new(np.array([[0.6], [-0.1]]), inputs, {"zip": ratings})
    array([[ 0.5], [-0.2]])
    """
    if not by_fold:
        return X
    from scipy.spatial import KDTree  # here: it takes longer to import than most rows to predict

    found = X.copy()
    for column, place in zip(inputs.columns, inputs.places, strict=True):
        if column.name in by_fold and isinstance(column, LevelColumn):
            ratings = by_fold[column.name]
            nearest = KDTree(ratings.reshape(-1, ratings.shape[2])).query(X[:, place])[1]
            found[:, place] = column.table[nearest % ratings.shape[1]]
    return found
