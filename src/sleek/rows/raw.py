"""Blocks of rows before targets are encoded: features or columns, labels or numbers, weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sleek._runtime.types import IntArray
from sleek.outputs.labels import Labels
from sleek.rows.cutting import Cut
from sleek.rows.grouping import group_numbers, join_groups
from sleek.tables.encoded import EncodedTable
from sleek.tables.frames import columns_by_name, is_frame
from sleek.tables.values import Columns


def words_for(
    where: Callable[[int], str] | None, numbers: IntArray | None, of: str = "(counted from 0)"
) -> Callable[[int], str]:
    """Words for rows: those that were given, or else their numbers; they keep none of the data alive."""
    return where or (lambda row: f"row {row if numbers is None else numbers[row]} {of}")


@dataclass(frozen=True, eq=False)
class RawBlock:
    """Some consecutive rows; what was not asked for is None.

    Parameters
    ----------
    X : array-like of shape (n, n_features), a table, or None
        Features. Tasks get them as float64, one row after the other in memory, and finite. A table is a
        dictionary of columns, or a data frame: text, numbers, dates, with None or NaN where one is missing.
    y : array-like of shape (n,) or (n, n_targets), or None
        Class labels or numbers. Tasks get them as `Labels`, or as finite floats of shape (n, n_targets).
    s : array-like of shape (n,) or None
        Weights, finite and not negative; None: all are 1.
    where : callable or None
        Words for a row, given its place in the block, such as "row 3 of a.csv"; None: its number. What says
        so when it is printed will do.
    numbers : array of shape (n,) or None
        The rows' own numbers among all rows. Who hands out chunks need not know: they are counted.
    start : int
        The number of the first row among those of positive weight. Tasks are told.
    kept : Arrow table or None
        Columns that are handed on beside predictions.
    groups : array-like of shape (n,) or None
        Labels, text or numbers, of rows that belong together; None: each row is by itself. Tasks get whole
        numbers.

    >>> block = RawBlock([[1.0, 2.0], [3.0, 4.0]], ["yes", "no"])
    >>> len(block), block.X.shape, block.s
    (2, (2, 2), array([1., 1.]))
    """

    X: Any = None
    y: Any = None
    s: Any = None
    where: Callable[[int], Any] | None = None
    numbers: IntArray | None = None
    start: int = 0
    kept: Any = None
    groups: Any = None

    def __post_init__(self) -> None:
        if self.X is not None and not isinstance(self.X, np.ndarray | Columns | EncodedTable):
            X = Columns.of(columns_by_name(self.X)) if is_frame(self.X) else np.asarray(self.X)
            object.__setattr__(self, "X", X)
        given = {name: getattr(self, name) for name in ("X", "y", "s", "groups")}
        sizes = {name: len(values) for name, values in given.items() if values is not None}
        if len(set(sizes.values())) != 1:
            found = ", ".join(f"{size} in {name}" for name, size in sizes.items()) or "nothing at all"
            raise ValueError(f"A block must have an entry in X, y and s for each of its rows, got {found}.")
        if self.y is not None and not isinstance(self.y, Labels):
            object.__setattr__(self, "y", np.asarray(self.y))
        (n,) = set(sizes.values())
        s = np.ones(n) if self.s is None else np.asarray(self.s, dtype=np.float64)
        object.__setattr__(self, "s", s)
        if self.groups is not None:
            object.__setattr__(self, "groups", group_numbers(self.groups, self.words))

    def __len__(self) -> int:
        return len(self.s)

    def words(self, row: int) -> str:
        """Words for a row of the block."""
        return words_for(self.where, self.numbers)(row)

    def own_numbers(self) -> IntArray:
        """The rows' own numbers among all rows; without a count, no row was left out."""
        return np.arange(self.start, self.start + len(self)) if self.numbers is None else self.numbers

    def take(self, rows: slice | IntArray) -> RawBlock:
        """Some of the rows: those from one to another, without a copy, or those at some places."""
        where, places = self.where, range(len(self))[rows] if isinstance(rows, slice) else rows
        y, numbers, groups = (None if v is None else v[rows] for v in (self.y, self.numbers, self.groups))
        table = isinstance(self.X, Columns | EncodedTable)
        X = self.X.take(rows) if table else None if self.X is None else self.X[rows]
        words = None if where is None else lambda row: where(int(places[row]))
        kept = None if self.kept is None else self.kept.slice(places[0], len(places))
        return RawBlock(X, y, self.s[rows], words, numbers, kept=kept, groups=groups)


class ChunkedBlock(Cut[RawBlock]):
    """A block that lies in one chunk of rows or in several."""

    def joined(self) -> RawBlock:
        """The rows in one piece; a view if they lie in one chunk."""
        parts = [
            part.chunk if part.whole else part.chunk.take(slice(part.lo, part.hi)) for part in self.parts
        ]
        if len(parts) == 1:
            return replace(parts[0], start=self.start)
        words = [part.where for part in parts if part.where is not None]
        return RawBlock(
            _joined_features([part.X for part in parts]),
            join_targets([part.y for part in parts]),
            _concatenated([part.s for part in parts]),
            join_words(words, [len(part) for part in parts]) if len(words) == len(parts) else None,
            _concatenated([part.numbers for part in parts]),
            self.start,
            _joined_tables([part.kept for part in parts]),
            join_groups([part.groups for part in parts]),
        )


def _joined_features(parts: Sequence[Any]) -> Any:
    for kind in (Columns, EncodedTable):
        if isinstance(parts[0], kind):
            return kind.joined(parts)
    return _concatenated(parts)


def _joined_tables(parts: Sequence[Any]) -> Any:
    if parts[0] is None:
        return None
    from pyarrow import concat_tables

    return concat_tables(parts)


def _concatenated(parts: Sequence[Any]) -> Any:
    return None if parts[0] is None else np.concatenate(parts)


def join_targets(parts: Sequence[Any]) -> Any:
    """Targets of several stretches of rows as those of one."""
    return Labels.join(parts) if isinstance(parts[0], Labels) else _concatenated(parts)


def join_words(parts: Sequence[Callable[[int], str]], sizes: Sequence[int]) -> Callable[[int], str]:
    """Words for the rows of several stretches, from those for the rows of each.

    >>> join_words(["row {} of a".format, "row {} of b".format], [2, 3])(4)
    'row 2 of b'
    """
    ends = np.cumsum(sizes)

    def words(row: int) -> str:
        part = int(np.searchsorted(ends, row, side="right"))
        return parts[part](row - int(ends[part] - sizes[part]))

    return words


def values_at(places: IntArray, parts: Iterable[IntArray]) -> IntArray:
    """The values at some places, which are sorted, of arrays one after the other.

    >>> values_at(np.array([1, 3]), [np.array([5, 6]), np.array([7, 8, 9])])
    array([6, 8])
    """
    found, start = [np.empty(0, dtype=np.int64)], 0
    for part in parts:
        first, last = np.searchsorted(places, (start, start + len(part)))
        found.append(part[places[first:last] - start])
        start += len(part)
    return np.concatenate(found)


def number_chunks(chunks: Iterable[RawBlock]) -> Iterator[RawBlock]:
    """The same chunks, their rows numbered, unless who hands them out has done so."""
    first = 0
    for chunk in chunks:
        yield chunk if chunk.numbers is not None else replace(chunk, numbers=first + np.arange(len(chunk)))
        first += len(chunk)
