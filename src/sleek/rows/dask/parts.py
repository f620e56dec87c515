"""What a worker does with a partition: read it, check it, hand out blocks of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.labels import Labels
from sleek.rows.checked import ready, that_count
from sleek.rows.cutting import Stretch
from sleek.rows.encoding import Encoding
from sleek.rows.raw import ChunkedBlock, RawBlock
from sleek.tables.crossfit import folds_of
from sleek.tables.encoded import EncodedTable
from sleek.tables.frames import column_names, columns_by_name
from sleek.tables.values import Columns


class Loaded(NamedTuple):
    """A partition as Dask computes it: arrays or frames; what was not asked for is None."""

    X: Any
    y: Any
    s: Any
    groups: Any = None

    def n_rows(self, number: int) -> int:
        """The number of rows, which must be the same in all of the partition of this number."""
        sizes = {name: len(values) for name, values in self._asdict().items() if values is not None}
        if len(set(sizes.values())) > 1:
            said = ", ".join(
                f"{n} in {'sample_weight' if name == 's' else name}" for name, n in sizes.items()
            )
            raise ValueError(f"The rows of partition {number} must be as many in X and y, got {said}.")
        return next(iter(sizes.values()))


def split(
    features: Sequence[str] | None, target: Any, weight: str | None, group: str | None, frame: Any
) -> Loaded:
    """The columns of a frame by the parts that they play."""
    return Loaded(
        None if features is None else frame[list(features)],
        None if target is None else frame[target],
        None if weight is None else frame[weight],
        None if group is None else frame[group],
    )


@dataclass(frozen=True, eq=False)
class Reading:
    """What is made of partitions: which columns are read, and how.

    `n_features` is None where features are not wanted; `encoding` where they are numbers as they are.
    """

    reads: str | None
    n_features: int | None
    names: tuple[str, ...] | None = None
    encoding: Encoding | None = None


@dataclass(frozen=True, eq=False)
class PartitionRows:
    """Rows of a partition that are of positive weight, checked.

    X is an array, or columns, settled or not, that become features block by block; y are `Labels`, or floats
    (n, k).
    """

    number: int  # of the partition
    first: int  # number of the partition's first row among all rows
    X: AnyArray | EncodedTable | Columns | None
    y: Any
    s: FloatArray
    places: IntArray  # of the rows in the partition
    encoding: Encoding | None = None
    groups: IntArray | None = None

    def __len__(self) -> int:
        return len(self.s)

    def __sizeof__(self) -> int:
        """All bytes: Dask moves what looks small from worker to worker."""
        match self.X:
            case EncodedTable(settled=arrays):
                X = list(arrays)
            case Columns(values=columns):
                X = [values.array for values in columns.values()]
            case _:
                X = [] if self.X is None else [self.X]
        y = self.y.codes if isinstance(self.y, Labels) else self.y
        others = (y, self.s, self.places, self.groups)
        return sum(array.nbytes for array in (*X, *others) if array is not None)

    def cut(self, lo: int, hi: int) -> PartitionRows:
        """Rows lo … hi-1, as a copy: the others can be forgotten."""
        return self.take(np.arange(lo, hi))

    def take(self, rows: IntArray) -> PartitionRows:
        """Some of the rows."""
        X = self.X
        if X is not None:
            X = X.take(rows) if isinstance(X, Columns | EncodedTable) else X[rows]
        y, groups = (None if values is None else values[rows] for values in (self.y, self.groups))
        return replace(self, X=X, y=y, s=self.s[rows], places=self.places[rows], groups=groups)

    def raw(self, lo: int, hi: int, start: int = 0) -> RawBlock:
        """Rows lo … hi-1 as tasks get them; `start` is the number of the first among those that count."""
        words = words_of(self.number, self.first, self.places)
        block = RawBlock(self.X, self.y, self.s, words, self.first + self.places, groups=self.groups)
        block = replace(block.take(slice(lo, hi)), start=start)
        return block if self.encoding is None else replace(block, X=self.encoding.apply(block))


def words_of(number: int, first: int, places: IntArray) -> Any:
    """Words for rows at some places of a partition."""

    def where(row: int) -> str:
        place = int(places[row])
        return f"row {place} of partition {number} (row {first + place} of all, counted from 0)"

    return where


def read_part(loaded: Loaded, reading: Reading, number: int, first: int, start: int) -> PartitionRows:
    """The rows of positive weight of a partition, checked; `start` is the number of the first of them."""
    n, encoding = loaded.n_rows(number), reading.encoding
    X: Any = None
    if reading.n_features is not None:
        X = numbers_of(loaded.X) if encoding is None else columns_in(loaded.X, reading.names)
    raw = RawBlock(
        X,
        None if reading.reads is None else targets_of(loaded.y),
        np.ones(n) if loaded.s is None else weights_of(loaded.s),
        words_of(number, first, np.arange(n)),
        np.arange(n),
        groups=loaded.groups,
    )
    counted = next(iter(that_count([raw])))
    settled = counted if encoding is None or X is None else encoding.settle(counted)
    block = ready(settled, reading.reads, reading.names, reading.n_features if encoding is None else None)
    places: IntArray = np.arange(n) if block.numbers is None else block.numbers
    X = block.X if encoding is None else settled.X
    if isinstance(X, EncodedTable) and encoding is not None and encoding.by_fold:
        numbers = np.arange(start, start + len(places))
        X = replace(X, folds=folds_of(numbers if block.groups is None else block.groups))
    return PartitionRows(number, first, X, block.y, block.s, places, encoding, block.groups)


def columns_in(X: Any, names: Sequence[str] | None) -> Columns:
    """The columns of a partition: by name, or x0, x1, … if they have none."""
    named = column_names(X) is not None
    found = columns_by_name(X[list(names)] if named and names is not None else X)
    return Columns(found, len(X))


def joined(parts: Sequence[PartitionRows], start: int) -> RawBlock:
    """A block that lies in several partitions."""
    starts = np.cumsum([start, *(len(part) for part in parts)]).tolist()
    blocks = [part.raw(0, len(part), own) for part, own in zip(parts, starts, strict=False)]
    return ChunkedBlock(start, [Stretch(block, 0, len(block)) for block in blocks]).joined()


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
