"""What a worker tells of the columns of a partition: their kinds and levels, and sums of targets by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.labels import Labels
from sleek.rows.checked import all_finite
from sleek.rows.dask.parts import (
    Loaded,
    Part,
    Reading,
    counted_columns,
    located,
    numbers_of,
    prepared,
    words_of,
)
from sleek.rows.seen import Seen
from sleek.tables.errors import TableError
from sleek.tables.values import Values


@dataclass(frozen=True, eq=False)
class Look:
    """All columns of some consecutive rows, and the labels that they have."""

    seen: dict[str, Seen]
    labels: AnyArray | None

    @classmethod
    def nothing(cls, names: Sequence[str], step: int) -> Look:
        """Of no row."""
        return cls({name: Seen(step=step) for name in names}, None)

    def __add__(self, other: Look) -> Look:
        seen = {name: column.then(other.seen[name]) for name, column in self.seen.items()}
        both = [labels for labels in (self.labels, other.labels) if labels is not None]
        return Look(seen, np.unique(np.concatenate(both)) if both else None)


def looked(
    reads: str, names: tuple[str, ...], step: int, loaded: Loaded, number: int, first: int, start: int
) -> Look:
    """What the columns of a partition hold; numbers of every `step`th row of all are kept."""
    part = prepared(loaded, Reading(reads, None), number, first, start)
    seen = {name: Seen(step=step, first=start) for name in names}
    columns = counted_columns(loaded.X, names, part.places)
    for name, column in seen.items():
        try:
            column.add(name, columns[name])
        except TableError as error:
            raise located(error, words_of(number, first, part.places)) from None
    labels = None
    if isinstance(part.y, Labels):
        labels = part.y.values[np.unique(part.y.codes)]
    return Look(seen, labels)


def has_gaps(loaded: Loaded, number: int, first: int, start: int) -> bool:
    """Whether a number is missing in the rows of a partition that count."""
    X = numbers_of(loaded.X)
    if all_finite(X):
        return False
    part = prepared(loaded, Reading(None, None), number, first, start)
    return bool(np.isnan(X[part.places]).any())


@dataclass(frozen=True, eq=False)
class Gathered:
    """A partition's rows as columns, on their way home."""

    columns: dict[str, Values]
    y: Any
    s: FloatArray
    numbers: IntArray


def gathered(
    reads: str, names: tuple[str, ...], loaded: Loaded, number: int, first: int, start: int
) -> Gathered:
    """The rows of a partition that count."""
    part: Part = prepared(loaded, Reading(reads, None), number, first, start)
    columns = counted_columns(loaded.X, names, part.places)
    return Gathered(columns, part.y, part.s, first + part.places)
