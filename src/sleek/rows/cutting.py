"""Chunks of any size in, blocks of one size out, and their sums in one order.

Where blocks begin and end depends on row numbers alone, and so does the order in which their sums are added:
that is what makes a pass over files, a database or arrays bit for bit the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import chain
from typing import Generic, Self, TypeVar

from sleek._runtime.sums import Sum, total
from sleek.kernels import LARGE_BLOCK
from sleek.rows.source import rows_per_block

Chunk = TypeVar("Chunk", bound=Sized)


@dataclass(frozen=True)
class Cutting:
    """How many rows go into a block.

    >>> Cutting.of(1000), Cutting.of(10**6)
    (Cutting(block_rows=2048, n_rows=1000), Cutting(block_rows=4096, n_rows=1000000))
    """

    block_rows: int
    n_rows: int | None = None  # how many rows there are, if that is known

    @classmethod
    def of(cls, n_rows: int) -> Cutting:
        """As a fit to so many rows wants it."""
        return cls(rows_per_block(n_rows), n_rows)

    def added_up(self, results: Iterator[Sum]) -> Sum | None:
        """The sum of what blocks have brought; None if there was no block."""
        first = next(results, None)
        return None if first is None else total(chain([first], results))


TARGETS = Cutting(2048)  # for what looks at targets alone
# For what predicts: a multiple of the model's own blocks, so that outputs are bit for bit those in memory.
PREDICTED = Cutting(4 * LARGE_BLOCK)


@dataclass(frozen=True, eq=False)
class Stretch(Generic[Chunk]):
    """Rows lo … hi-1 of a chunk."""

    chunk: Chunk
    lo: int
    hi: int

    def __len__(self) -> int:
        return self.hi - self.lo

    @property
    def whole(self) -> bool:
        """Whether these are all rows of the chunk."""
        return len(self) == len(self.chunk)


@dataclass(frozen=True, eq=False)
class Cut(Generic[Chunk]):
    """The rows of a block, where they lie in the chunks."""

    start: int  # number of the first row among all
    parts: list[Stretch[Chunk]]

    @classmethod
    def each(cls, chunks: Iterable[Chunk], size: int) -> Iterator[Self]:
        """Cuts of `size` rows, whatever the chunks; only the last one may have fewer.

        >>> [(cut.start, len(cut)) for cut in Cut.each(["abc", "", "defg"], 5)]
        [(0, 5), (5, 2)]
        """
        start, missing = 0, size
        parts: list[Stretch[Chunk]] = []
        for chunk in chunks:
            lo = 0
            while lo < len(chunk):
                hi = min(len(chunk), lo + missing)
                parts.append(Stretch(chunk, lo, hi))
                missing -= hi - lo
                lo = hi
                if missing == 0:
                    yield cls(start, parts)
                    start, missing, parts = start + size, size, []
        if parts:
            yield cls(start, parts)

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)
