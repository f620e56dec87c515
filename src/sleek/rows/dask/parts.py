"""What a worker does with a partition: read it, check it, hand out blocks of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.labels import Labels
from sleek.rows.checked import ready, that_count
from sleek.rows.cutting import Stretch
from sleek.rows.raw import Pieces, RawBlock
from sleek.tables.crossfit import folds_of
from sleek.tables.encoded import EncodedTable
from sleek.tables.errors import TableError
from sleek.tables.frames import column_names, columns_by_name
from sleek.tables.inputs import Inputs
from sleek.tables.values import Values


class Loaded(NamedTuple):
    """A partition as Dask computes it: arrays or frames; what was not asked for is None."""

    X: Any
    y: Any
    s: Any

    def n_rows(self, number: int) -> int:
        """The number of rows, which must be the same in all of the partition of this number."""
        sizes = {name: len(values) for name, values in self._asdict().items() if values is not None}
        if len(set(sizes.values())) > 1:
            said = ", ".join(
                f"{n} in {'sample_weight' if name == 's' else name}" for name, n in sizes.items()
            )
            raise ValueError(f"The rows of partition {number} must be as many in X and y, got {said}.")
        return next(iter(sizes.values()))


def split(features: Sequence[str] | None, target: Any, weight: str | None, frame: Any) -> Loaded:
    """The columns of a frame by the parts that they play."""
    return Loaded(
        None if features is None else frame[list(features)],
        None if target is None else frame[target],
        None if weight is None else frame[weight],
    )


@dataclass(frozen=True, eq=False)
class Reading:
    """What is made of partitions: which columns are read, and how.

    `n_features` is None where features are not wanted; `inputs` where they are numbers as they are.
    """

    reads: str | None
    n_features: int | None
    names: tuple[str, ...] | None = None
    inputs: Inputs | None = None
    by_fold: Mapping[str, FloatArray] = field(default_factory=dict)
    settled: bool = False  # columns are handed out as codes, numbers and days, one each


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of a partition that are of positive weight, checked.

    X is an array, or a table that becomes features block by block; y are `Labels`, or floats (n, k).
    """

    number: int  # of the partition
    first: int  # number of the partition's first row among all rows
    X: AnyArray | EncodedTable | None
    y: Any
    s: FloatArray
    places: IntArray  # of the rows in the partition

    def __len__(self) -> int:
        return len(self.s)

    def __sizeof__(self) -> int:
        """All bytes: Dask moves what looks small from worker to worker."""
        X = self.X.settled if isinstance(self.X, EncodedTable) else (self.X,)
        y = self.y.codes if isinstance(self.y, Labels) else self.y
        return sum(array.nbytes for array in (*X, y, self.s, self.places) if array is not None)

    def cut(self, lo: int, hi: int) -> Part:
        """Rows lo … hi-1, as a copy: the others can be forgotten."""
        return self.take(np.arange(lo, hi))

    def take(self, rows: IntArray) -> Part:
        """Some of the rows."""
        X = (
            self.X.take(rows)
            if isinstance(self.X, EncodedTable)
            else None
            if self.X is None
            else self.X[rows]
        )
        y = None if self.y is None else self.y[rows]
        return replace(self, X=X, y=y, s=self.s[rows], places=self.places[rows])

    def raw(self, lo: int, hi: int, start: int = 0) -> RawBlock:
        """Rows lo … hi-1 as tasks get them; `start` is the number of the first among those that count."""
        rows = slice(lo, hi)
        X = None if self.X is None else np.ascontiguousarray(self.X[rows])
        y = None if self.y is None else self.y[rows]
        words = words_of(self.number, self.first, self.places[rows])
        return RawBlock(X, y, self.s[rows], words, self.first + self.places[rows], start)


def words_of(number: int, first: int, places: IntArray) -> Any:
    """Words for rows at some places of a partition."""

    def where(row: int) -> str:
        place = int(places[row])
        return f"row {place} of partition {number} (row {first + place} of all, counted from 0)"

    return where


def prepared(loaded: Loaded, reading: Reading, number: int, first: int, start: int) -> Part:
    """The rows of positive weight of a partition, checked; `start` is the number of the first of them."""
    n = loaded.n_rows(number)
    table = reading.inputs is not None
    raw = RawBlock(
        numbers_of(loaded.X) if reading.n_features is not None and not table else None,
        None if reading.reads is None else targets_of(loaded.y),
        np.ones(n) if loaded.s is None else weights_of(loaded.s),
        words_of(number, first, np.arange(n)),
        np.arange(n),
    )
    counted = next(iter(that_count([raw])))
    block = ready(counted, reading.reads, None if table else reading.n_features, reading.names)
    places: IntArray = np.arange(n) if block.numbers is None else block.numbers
    X = block.X
    if reading.inputs is not None and reading.n_features is not None:
        X = _table(loaded.X, reading, places, start, number, first)
    return Part(number, first, X, block.y, block.s, places)


def _table(
    X: Any, reading: Reading, places: IntArray, start: int, number: int, first: int
) -> EncodedTable | FloatArray:
    """The columns that a model reads, of rows at some places."""
    assert reading.inputs is not None
    columns = counted_columns(X, reading.inputs.names, places)
    folds = folds_of(np.arange(start, start + len(places))) if reading.by_fold else None
    try:
        table = EncodedTable.of(reading.inputs, columns, dict(reading.by_fold), folds)
        return np.column_stack(table.settled).astype(np.float64) if reading.settled else table
    except TableError as error:
        raise located(error, words_of(number, first, places)) from None


def counted_columns(X: Any, names: Sequence[str], places: IntArray) -> dict[str, Values]:
    """Columns of a partition, of rows at some places: by name, or x0, x1, … if they have none."""
    named = column_names(X) is not None
    columns = columns_by_name(X[list(names)] if named else X)
    return {name: columns[name].take(places) for name in names}


def located(error: TableError, where: Any) -> TableError:
    """An error about a row of a stretch, with words for the row."""
    found = re.search(r" in row (\d+)\.", str(error))
    return (
        error if found is None else TableError(str(error).replace(found[0], f" in {where(int(found[1]))}."))
    )


def joined(parts: Sequence[Part], start: int) -> RawBlock:
    """A block that lies in several partitions."""
    blocks = [part.raw(0, len(part)) for part in parts]
    return Pieces(start, [Stretch(block, 0, len(block)) for block in blocks]).joined()


# -- what pandas has, as arrays ----------------------------------------------------------------------------


def numbers_of(X: Any) -> AnyArray:
    """Features as numbers, NaN where one is missing."""
    if not hasattr(X, "to_numpy"):
        return np.asarray(X)
    plain = all(isinstance(dtype, np.dtype) for dtype in X.dtypes)
    found: AnyArray = X.to_numpy(np.float64) if plain else X.to_numpy(np.float64, na_value=np.nan)
    return found


def weights_of(s: Any) -> FloatArray:
    """Weights as numbers, NaN where one is missing."""
    if not hasattr(s, "to_numpy"):
        return np.asarray(s, dtype=np.float64)
    plain = isinstance(s.dtype, np.dtype)
    found: FloatArray = s.to_numpy(np.float64) if plain else s.to_numpy(np.float64, na_value=np.nan)
    return found


def targets_of(y: Any) -> AnyArray:
    """Targets as an array: None or NaN where one is missing."""
    if y is None:
        raise ValueError("The rows have no targets: there is nothing to learn from.")
    if not hasattr(y, "to_numpy"):
        return np.asarray(y)
    if y.ndim == 2:
        return numbers_of(y)
    if isinstance(y.dtype, np.dtype):
        return np.asarray(y)
    if hasattr(y, "cat"):
        y = y.astype(y.cat.categories.dtype) if not y.hasnans else y.astype(object)
        return targets_of(y) if not y.hasnans else np.asarray(y)
    kind = getattr(y.dtype, "kind", "O")
    if kind in "iufb" and not y.hasnans:
        return np.asarray(y.to_numpy({"i": np.int64, "u": np.uint64, "f": np.float64, "b": np.bool_}[kind]))
    if kind in "iuf":
        return np.asarray(y.to_numpy(np.float64, na_value=np.nan))
    return np.asarray(y.to_numpy(object, na_value=None))
