"""Columns as they are shown to people: values of features as numbers, dates or levels again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sleek._runtime.counting import plain
from sleek._runtime.types import FloatArray
from sleek.model.kernel_model import KernelModel
from sleek.report.words import short
from sleek.tables.columns import CategoryColumn, Column, DateColumn, LevelColumn, NumberColumn
from sleek.tables.inputs import Inputs

ANOTHER, MISSING = "(another)", "(missing)"


@dataclass(frozen=True, eq=False)
class Shown:
    """A column, or one of the numbers that it becomes.

    Attributes
    ----------
    name : str
    place : slice
        Its features.
    words : tuple of str
        Its levels; none for a number.
    table : array of shape (n_words, n_features)
        The features of each level.
    days : bool
        Whether its numbers are days since 1970.
    """

    name: str
    place: slice
    words: tuple[str, ...] = ()
    table: FloatArray = field(default_factory=lambda: np.empty((0, 1)))
    days: bool = False

    def value(self, x: FloatArray) -> str:
        """What the features of a row say, in words."""
        here = x[self.place]
        if not self.words:
            return self.number(float(here[0]))
        found = np.flatnonzero((self.table == here).all(axis=1))
        return plain(self.words[found[0]]) if len(found) else "(none)"

    def number(self, value: float) -> str:
        """A number, or the day that it is."""
        if not self.days:
            return short(value)
        return str(np.datetime64(int(np.clip(np.floor(value), -7e5, 2.9e6)), "D"))

    @property
    def unit(self) -> str:
        """What numbers count, after a space."""
        return " days" if self.days else ""


def show_column(column: Column, place: slice) -> list[Shown]:
    """A category with its levels; any other column as the numbers that it becomes.

    >>> [(one.name, one.words) for one in show_column(NumberColumn("age", 40.0, indicator=True), slice(3, 5))]
    [('age', ()), ('age', ('known', 'missing'))]
    """
    match column:
        case CategoryColumn(name=name, words=words):
            return [Shown(name, place, words, np.eye(len(words)))]
        case LevelColumn(name=name, levels=levels, table=table):
            return [Shown(name, place, (*levels, ANOTHER, MISSING), table)]
    features = list(zip(column.feature_names, range(place.start, place.stop), strict=True))
    gaps = isinstance(column, NumberColumn | DateColumn) and column.indicator
    found = [Shown(name, slice(i, i + 1)) for name, i in features[: -1 if gaps else None]]
    if isinstance(column, DateColumn):
        found[0] = Shown(column.name, found[0].place, days=True)
    if gaps:
        _, i = features[-1]
        found.append(Shown(column.name, slice(i, i + 1), ("known", "missing"), np.array([[0.0], [1.0]])))
    return found


def inputs_of(model: KernelModel) -> Inputs:
    """The columns that a model reads; one that was trained on bare arrays has no fill for gaps."""
    return model.inputs or Inputs(tuple(NumberColumn(name) for name in model.names_of_features))
