"""Sums over blocks of rows that are the same to the last bit, whoever adds which blocks.

Pairs of blocks are added, then pairs of these sums, and so on: the sum of blocks 2ᵏi … 2ᵏ(i+1)-1 is made of
those of its two halves, whatever else there is. So whoever has some consecutive blocks, a thread, a file, a
machine far away, may add them up beforehand, and the result is the same to the last bit. (It is also more
exact than adding one after the other: rounding errors grow with the logarithm of the number of blocks.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import reduce
from typing import Generic, Protocol, Self, TypeVar


class Summable(Protocol):
    """Anything whose values add up."""

    def __add__(self, other: Self, /) -> Self: ...


Sum = TypeVar("Sum", bound=Summable)


class Sums:
    """A frozen dataclass of summable fields, itself summable.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Seen(Sums):
    ...     n_rows: int
    ...     blocks: list[str]
    >>> Seen(3, ["a"]) + Seen(2, ["b"])
    Seen(n_rows=5, blocks=['a', 'b'])
    """

    def __add__(self, other: Self) -> Self:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True, eq=False)
class PartialSum(Generic[Sum]):
    """The sum of some consecutive blocks, as far as it can be made without the blocks beside them.

    That is a few `(first, size, sum)`: blocks first … first + size - 1, where the size is a power of two and
    `first` a multiple of it; at most two of each size.

    >>> found = PartialSum.of(3, ["d", "e", "f", "g", "h"])
    >>> found.nodes
    ((3, 1, 'd'), (4, 4, 'efgh'))
    >>> PartialSum.join([PartialSum.of(0, ["a", "b", "c"]), found]).total
    'abcdefgh'
    """

    nodes: tuple[tuple[int, int, Sum], ...] = ()

    @classmethod
    def of(cls, first: int, parts: Iterable[Sum]) -> PartialSum[Sum]:
        """Of parts that belong to the blocks `first`, `first` + 1, …"""
        return cls._of((place, 1, part) for place, part in enumerate(parts, first))

    @classmethod
    def join(cls, sums: Iterable[PartialSum[Sum]]) -> PartialSum[Sum]:
        """Of stretches of blocks one after the other."""
        return cls._of(node for partial in sums for node in partial.nodes)

    @classmethod
    def _of(cls, nodes: Iterable[tuple[int, int, Sum]]) -> PartialSum[Sum]:
        found: list[tuple[int, int, Sum]] = []
        for first, size, part in nodes:
            while found and found[-1][1] == size and found[-1][0] % (2 * size) == 0:
                first, _, left = found.pop()
                size, part = 2 * size, left + part
            found.append((first, size, part))
        return cls(tuple(found))

    @property
    def total(self) -> Sum:
        """The sum of all blocks, of which there must be one; those that lack a neighbour go without."""
        return reduce(lambda right, left: left + right, (part for _, _, part in reversed(self.nodes)))


def total(parts: Iterable[Sum]) -> Sum:
    """The sum of at least one part: pairs first, then pairs of pairs, and so on.

    >>> total([0.1, 0.2, 0.3, 0.4]) == (0.1 + 0.2) + (0.3 + 0.4)
    True
    """
    return PartialSum.of(0, parts).total
