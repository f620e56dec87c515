"""Some rows as they are kept, before anything is encoded: what `Rows` hand out, and what passes work on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sleek._runtime.types import IntArray
from sleek.outputs.labels import Labels
from sleek.rows.cutting import Cut


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
    X : array-like of shape (n, n_features) or None
        Features. Tasks get them as float64, one row after the other in memory, and finite.
    y : array-like of shape (n,) or (n, n_targets), or None
        Class labels or numbers. Tasks get them as `Labels`, or as finite floats of shape (n, n_targets).
    s : array-like of shape (n,) or None
        Weights, finite and not negative; None: all are 1.
    where : callable or None
        Words for a row, given its place in the block, such as "row 3 of a.csv"; None: its number.
    numbers : array of shape (n,) or None
        The rows' own numbers among all rows. Who hands out chunks need not know: they are counted.
    start : int
        The number of the first row among those of positive weight. Tasks are told.

    >>> block = RawBlock([[1.0, 2.0], [3.0, 4.0]], ["yes", "no"])
    >>> len(block), block.X.shape, block.s
    (2, (2, 2), array([1., 1.]))
    """

    X: Any = None
    y: Any = None
    s: Any = None
    where: Callable[[int], str] | None = None
    numbers: IntArray | None = None
    start: int = 0

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("X", "y", "s")}
        sizes = {name: len(values) for name, values in given.items() if values is not None}
        if len(set(sizes.values())) != 1:
            found = ", ".join(f"{size} in {name}" for name, size in sizes.items()) or "nothing at all"
            raise ValueError(f"A block must have an entry in X, y and s for each of its rows, got {found}.")
        if self.X is not None:
            object.__setattr__(self, "X", np.asarray(self.X))
        if self.y is not None and not isinstance(self.y, Labels):
            object.__setattr__(self, "y", np.asarray(self.y))
        (n,) = set(sizes.values())
        s = np.ones(n) if self.s is None else np.asarray(self.s, dtype=np.float64)
        object.__setattr__(self, "s", s)

    def __len__(self) -> int:
        return len(self.s)

    def words(self, row: int) -> str:
        """Words for a row of the block."""
        return words_for(self.where, self.numbers)(row)

    def own_numbers(self) -> IntArray:
        """The rows' own numbers among all rows; if nobody has counted, no row was left out."""
        return np.arange(self.start, self.start + len(self)) if self.numbers is None else self.numbers

    def take(self, rows: slice | IntArray) -> RawBlock:
        """Some of the rows: those from one to another, without a copy, or those at some places."""
        where, places = self.where, range(len(self))[rows] if isinstance(rows, slice) else rows
        X, y, numbers = (None if v is None else v[rows] for v in (self.X, self.y, self.numbers))
        words = None if where is None else lambda row: where(int(places[row]))
        return RawBlock(X, y, self.s[rows], words, numbers)


class Pieces(Cut[RawBlock]):
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
            _concatenated([part.X for part in parts]),
            joined_targets([part.y for part in parts]),
            _concatenated([part.s for part in parts]),
            joined_words(words, [len(part) for part in parts]) if len(words) == len(parts) else None,
            _concatenated([part.numbers for part in parts]),
            self.start,
        )


def _concatenated(parts: Sequence[Any]) -> Any:
    return None if parts[0] is None else np.concatenate(parts)


def joined_targets(parts: Sequence[Any]) -> Any:
    """Targets of several stretches of rows as those of one."""
    return Labels.joined(parts) if isinstance(parts[0], Labels) else _concatenated(parts)


def joined_words(parts: Sequence[Callable[[int], str]], sizes: Sequence[int]) -> Callable[[int], str]:
    """Words for the rows of several stretches, from those for the rows of each.

    >>> joined_words(["row {} of a".format, "row {} of b".format], [2, 3])(4)
    'row 2 of b'
    """
    ends = np.cumsum(sizes)

    def words(row: int) -> str:
        part = int(np.searchsorted(ends, row, side="right"))
        return parts[part](row - int(ends[part] - sizes[part]))

    return words


def picked(places: IntArray, parts: Iterable[IntArray]) -> IntArray:
    """The values at some places, which are sorted, of arrays one after the other.

    >>> picked(np.array([1, 3]), [np.array([5, 6]), np.array([7, 8, 9])])
    array([6, 8])
    """
    found, start = [np.empty(0, dtype=np.int64)], 0
    for part in parts:
        first, last = np.searchsorted(places, (start, start + len(part)))
        found.append(part[places[first:last] - start])
        start += len(part)
    return np.concatenate(found)


def numbered(chunks: Iterable[RawBlock]) -> Iterator[RawBlock]:
    """The same chunks, their rows numbered."""
    first = 0
    for chunk in chunks:
        yield replace(chunk, numbers=np.arange(first, first + len(chunk)))
        first += len(chunk)
