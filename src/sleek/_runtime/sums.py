"""Records that are added field by field: what a pass over the rows brings home."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from functools import reduce
from operator import add
from typing import Protocol, Self, TypeVar


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


def total(parts: Iterable[Sum]) -> Sum:
    """The sum of at least one part, added in order."""
    return reduce(add, parts)
