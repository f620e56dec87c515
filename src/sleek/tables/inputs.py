"""The columns that a model reads, in the order of its features."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.columns import Column, NumberColumn
from sleek.tables.errors import TableError, suggestion
from sleek.tables.frames import column_names, columns_by_name, is_frame, values_of
from sleek.tables.values import Coded, Values

Frame = Mapping[str, "AnyArray | Sequence[Any]"]  # column name → one value per row


@dataclass(frozen=True)
class Inputs:
    """The columns that a model reads, in the order of its features.

    Attributes
    ----------
    columns : tuple of Column
        `NumberColumn`, `CategoryColumn`, `LevelColumn` or `DateColumn`.

    Examples
    --------
    >>> table = {"age": [31, None, 52], "colour": ["red", "blue", "red"]}
    >>> inputs = Inputs.learn(table)
    >>> inputs.feature_names
    ('age', 'colour=blue', 'colour=red')
    >>> inputs.transform(table)
    array([[31. ,  0. ,  1. ], [41.5,  1. ,  0. ], [52. ,  0. ,  1. ]])
    """

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' own names."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def numbers(self) -> list[str]:
        """The names of the columns that hold numbers."""
        return [column.name for column in self.columns if isinstance(column, NumberColumn)]

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """A number's own name; ``column=level`` for each level of a category."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @cached_property
    def places(self) -> list[slice]:
        """Which features each column becomes."""
        ends = np.cumsum([len(column.feature_names) for column in self.columns]).tolist()
        return [
            slice(end - len(column.feature_names), end)
            for column, end in zip(self.columns, ends, strict=True)
        ]

    @classmethod
    def learn(cls, table: Frame, *, categories: Collection[str] = ()) -> Inputs:
        """Decide for each column what it is, and learn medians and levels.

        Numbers are numbers, whose missing values become the column's median; text and truth values are
        categories, whose gaps are a level of their own; dates are dates. Columns without a single value, and
        text that is different in almost every row, are refused, all of them in one sentence each.

        Parameters
        ----------
        table : mapping from column name to 1D array or list
            A data frame of pandas, polars or pyarrow will do. Missing values are None or NaN.
        categories : names of columns
            Taken as categories even if they hold numbers, such as codes.
        """
        from sleek.tables.learning import learn_columns
        from sleek.tables.text import read_texts

        learnt = learn_columns(read_texts(columns_by_name(table), categories), categories)
        if learnt.left_out:
            raise TableError("\n".join(learnt.left_out.values()))
        return learnt.inputs

    def find(self, table: Any, decimal: str | None = None) -> dict[str, Values]:
        """The columns of a table that are read: by name, or those of an array by place.

        `decimal` is the decimal mark of numbers in text; None: what all columns say.
        """
        if not is_frame(table):
            array = np.asarray(table)
            if array.ndim != 2 or array.shape[1] != len(self.columns):
                raise TableError(
                    f"A table without names must have the {len(self.columns)} columns "
                    f"{', '.join(map(repr, self.names))}, got shape {array.shape}."
                )
            return self.read_numbers(
                {name: values_of(name, array[:, i]) for i, name in enumerate(self.names)}
            )
        names = column_names(table)
        if names is None:
            table = columns_by_name(table)
            names = list(table)
        there = set(names)
        absent = [name for name in self.names if name not in there]
        if absent:
            hint = suggestion(absent[0], names)
            raise TableError(f"The table has no column {', '.join(map(repr, absent))}.{hint}")
        values = {name: values_of(name, table[name]) for name in self.names}
        if any(_has_words(values[name]) for name in self.numbers):  # all columns decide on the mark
            others = (name for name in names if name not in values)
            every = {name: values_of(name, table[name]) for name in others} | values
            found = self.read_numbers(every, decimal)
            values = {name: found[name] for name in self.names}
        lengths = {name: len(array) for name, array in values.items()}
        if len(set(lengths.values())) > 1:
            raise TableError(f"All columns must be of one length, got {lengths}.")
        return values

    def read_numbers(self, values: Mapping[str, Values], decimal: str | None = None) -> dict[str, Values]:
        """Numbers that are stored as text, where the model reads numbers; others as they are."""
        if not any(_has_words(values[name]) for name in self.numbers):
            return dict(values)
        from sleek.tables.text import read_texts

        return read_texts(values, set(values).difference(self.numbers), self.numbers, decimal)

    def transform(self, table: Any) -> FloatArray:
        """X (n, n_features): the features of the rows; columns that the model does not read are ignored."""
        values = self.find(table)
        X = np.empty((len(next(iter(values.values()), ())), len(self.feature_names)))
        for column, place in zip(self.columns, self.places, strict=True):
            X[:, place] = column.encode(values[column.name])
        return X


def _has_words(values: Values) -> bool:
    return isinstance(values, Coded) and any(isinstance(value, str) for value in values.values)
