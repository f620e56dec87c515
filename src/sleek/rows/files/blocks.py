"""Blocks of rows out of chunks of columns, read ahead of the threads that work on them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from sleek._runtime.threads import Workers, read_ahead
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.labels import Labels
from sleek.rows.checked import all_finite
from sleek.rows.cutting import Cut, Stretch
from sleek.rows.raw import joined_words
from sleek.rows.rows import Progress

AHEAD = 2  # chunks that are read before they are asked for
NAMED_ROWS = 3  # of the bad rows that a message lists

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the rows of a chunk stand in their file and among the rows of all files."""

    path: str
    first: int  # row of the file
    start: int  # row of all files
    n_read: int
    kept: IntArray | None = None  # those of the rows read that are in the chunk; None: all

    def select(self, mask: AnyArray) -> Origin:
        """The origin of the rows that are left."""
        left = np.flatnonzero(mask)
        return replace(self, kept=left if self.kept is None else self.kept[left])

    def numbers(self) -> IntArray:
        """The numbers of the chunk's rows among those of all files."""
        if self.kept is None:
            return np.arange(self.start, self.start + self.n_read)
        return self.start + self.kept

    def where(self, rows: AnyArray | list[int]) -> str:
        """Words for some rows of the chunk."""
        rows = np.asarray(rows) if self.kept is None else self.kept[rows]
        named, more = rows[:NAMED_ROWS], len(rows) - NAMED_ROWS
        word = "row" if len(rows) == 1 else "rows"
        file = ", ".join(str(self.first + row) for row in named)
        total = ", ".join(str(self.start + row) for row in named)
        rest = f" and {more} more nearby" if more > 0 else ""
        return f"{word} {file} of {self.path} ({word} {total} of all, counted from 0){rest}"


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some consecutive rows as they were read: columns of features and numeric targets, and labels."""

    origin: Origin
    X: list[AnyArray]
    Y: list[AnyArray]
    labels: Labels | None
    s: FloatArray | None  # weights; None: all are 1
    numbers: IntArray  # of the rows among those of all files
    batch: Any  # the same rows as Arrow columns
    kept: Any  # an Arrow table of those columns that are handed on as they are

    def __len__(self) -> int:
        return len(self.numbers)

    def targets(self, names: tuple[str, ...]) -> FloatArray:
        """The targets of regression, (n, k), all of them finite."""
        return ColumnBlock(0, [Stretch(self, 0, len(self))]).Y(names)


class ColumnBlock(Cut[Chunk]):
    """A block whose rows are parts of columns, to be filled in on a worker's thread."""

    @property
    def rows_read(self) -> int:
        """How many rows of the files had been read when the block's last chunk was."""
        origin = self.parts[-1].chunk.origin
        return origin.start + origin.n_read

    def X(self, names: tuple[str, ...]) -> FloatArray:
        """The features, (n, d), all of them finite."""
        return self._filled(names, [part.chunk.X for part in self.parts])

    def Y(self, names: tuple[str, ...]) -> FloatArray:
        """The targets of regression, (n, k), all of them finite."""
        return self._filled(names, [part.chunk.Y for part in self.parts])

    def labels(self) -> Labels:
        """The class labels."""
        found = [part.chunk.labels[part.lo : part.hi] for part in self.parts if part.chunk.labels is not None]
        return found[0] if len(found) == 1 else Labels.joined(found)

    def s(self) -> FloatArray | None:
        """The weights, (n,); None: all are 1."""
        weights = [part.chunk.s[part.lo : part.hi] for part in self.parts if part.chunk.s is not None]
        return np.concatenate(weights) if weights else None

    def numbers(self) -> IntArray:
        """The rows' numbers among those of all files, (n,)."""
        return np.concatenate([part.chunk.numbers[part.lo : part.hi] for part in self.parts])

    def where(self) -> Callable[[int], str]:
        """Words for a row of the block, which keep nothing of what was read alive."""

        def words(origin: Origin, lo: int) -> Callable[[int], str]:
            return lambda row: origin.where([lo + row])

        parts = [words(part.chunk.origin, part.lo) for part in self.parts]
        return joined_words(parts, [len(part) for part in self.parts])

    def kept(self) -> Any:
        """The columns that are handed on as they are, as an Arrow table."""
        from pyarrow import concat_tables

        return concat_tables([part.chunk.kept.slice(part.lo, len(part)) for part in self.parts])

    def _filled(self, names: tuple[str, ...], columns: list[list[AnyArray]]) -> FloatArray:
        """Columns side by side, row after row in memory: a block of them stays in a core's cache."""
        filled = np.empty((len(self), len(names)))
        row = 0
        for part, arrays in zip(self.parts, columns, strict=True):
            for j, array in enumerate(arrays):
                filled[row : row + len(part), j] = array[part.lo : part.hi]
            row += len(part)
        if not all_finite(filled):
            self._report(names, filled)
        return filled

    def _report(self, names: tuple[str, ...], filled: FloatArray) -> None:
        """Name the first column with a value that is not finite, and its rows in one file."""
        bad = ~np.isfinite(filled)
        column = int(bad.any(axis=0).argmax())
        row = 0
        for part in self.parts:
            rows = np.flatnonzero(bad[row : row + len(part), column])
            if len(rows):
                origin = part.chunk.origin
                value = part.chunk.batch.column(names[column])[int(part.lo + rows[0])].as_py()
                shown = "nothing" if value is None else repr(float(value))
                raise ValueError(
                    f"Column {names[column]!r} must hold finite numbers, but has {shown} in "
                    f"{origin.where(part.lo + rows)}. Fill in a number, or leave the rows or the column out."
                )
            row += len(part)


def each_block(
    chunks: Generator[Chunk, None, None],
    size: int,
    function: Callable[[ColumnBlock], Result],
    workers: Workers,
    progress: Progress | None = None,
    n_total: int | None = None,
) -> Generator[Result, None, None]:
    """``function(block)`` for every block, in order, on the workers' threads while the next rows are read.

    To be closed when it is not used up. `progress` is called here, in the caller's thread.
    """
    done = 0
    with closing(read_ahead(chunks, AHEAD)) as ahead:
        todo = ColumnBlock.each(ahead, size)
        with closing(workers.map(lambda block: (function(block), block.rows_read), todo)) as results:
            for result, rows_read in results:
                if progress is not None and rows_read > done:
                    done = rows_read
                    progress(done, n_total)
                yield result
