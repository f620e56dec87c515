"""Helpers of the contract for sources of rows: comparisons, and sources that are cut differently or fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray
from sleek.closed_form.moments import Moments
from sleek.kernels.column_statistics import ColumnMoments
from sleek.outputs.labels import Labels, read_labels
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows
from sleek.rows.source import Block, Source
from sleek.tables.reading import as_numbers
from sleek.tables.values import Columns


@dataclass(frozen=True, eq=False)
class Wrapped(Rows):
    """Another's rows."""

    rows: Rows

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.rows.feature_names

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    def chunks(self, reads: str | None, features: bool) -> Iterator[RawBlock]:
        yield from self.rows.chunks(reads, features)


class Failing(Wrapped):
    """Another's rows, that break off after the first chunk when features are read."""

    def chunks(self, reads: str | None, features: bool) -> Iterator[RawBlock]:
        for chunk in self.rows.chunks(reads, features):
            yield chunk
            if features:
                raise OSError("in a chunk")


@dataclass(frozen=True, eq=False)
class CutAgain(Wrapped):
    """Another's rows in chunks of other sizes, one after the other and again from the first."""

    sizes: list[int]

    def chunks(self, reads: str | None, features: bool) -> Iterator[RawBlock]:
        whole = list(self.rows.chunks(reads, features))
        X = np.concatenate([array_of(chunk.X) for chunk in whole]) if features else None
        y, s = (np.concatenate(parts) for parts in zip(*((plain(c.y), c.s) for c in whole), strict=True))
        start, sizes = 0, cycle(self.sizes)
        while start < len(s):
            rows = slice(start, start + next(sizes))
            yield RawBlock(None if X is None else X[rows], y[rows], s[rows])
            start = rows.stop


def array_of(X: Any) -> AnyArray:
    """Features as an array, also where a chunk hands out columns."""
    if isinstance(X, Columns):
        return np.column_stack([as_numbers(name, values) for name, values in X.values.items()])
    return np.asarray(X)


def plain(y: Any) -> AnyArray:
    """Targets as users have them."""
    if isinstance(y, Labels):
        labels: AnyArray = (read_labels(y.values) if y.untyped else y.values)[y.codes]
        return labels
    plain: AnyArray = np.asarray(y)
    return plain[:, 0] if plain.ndim == 2 else plain


def first_column(X: AnyArray, n_jobs: int = 1) -> AnyArray:
    """The first feature, in place of a prediction."""
    column: AnyArray = X[:, 0]
    return column


@dataclass(frozen=True, eq=False)
class Seen:
    """Sums in which every bit of every row matters."""

    moments: Moments
    columns: ColumnMoments
    copies: float

    def __add__(self, other: Seen) -> Seen:
        return Seen(self.moments + other.moments, self.columns + other.columns, self.copies + other.copies)


def sums(block: Block) -> Seen:
    """What is seen of a block."""
    moments = Moments.of(np.exp(-np.abs(block.X)), block.T, block.s)
    return Seen(moments, ColumnMoments.of(block.X, block.s), float(block.copies.sum()))


def same(one: Any, two: Any) -> bool:
    """Whether two records have the same numbers, to the last bit."""
    if hasattr(one, "__dict__"):
        return all(same(value, getattr(two, name)) for name, value in vars(one).items())
    return bool(np.array_equal(one, two))


def error_of(source: Source, error: type[BaseException], task: Callable[[Block], int] = len) -> str:
    """What a pass says when it fails."""
    try:
        source.map_reduce(task)
    except error as found:
        return str(found)
    return "nothing"


def refuses(rows: Rows, names: tuple[str, ...] | None, n_features: int) -> bool:
    """Whether rows say that they do not have these features."""
    try:
        rows.with_features(names, n_features)
    except ValueError:
        return True
    return False
