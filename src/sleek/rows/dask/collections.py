"""Features, targets and weights as Dask collections, checked and given the same partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sleek._runtime.packages import need
from sleek.rows.dask.parts import Loaded, split
from sleek.tables.frames import column_names

PURPOSE = "Fitting to Dask collections"


def is_array(values: Any) -> bool:
    """Whether it is a Dask array, and not a frame."""
    return hasattr(values, "chunks") and hasattr(values, "rechunk")


def is_dask_frame(values: Any) -> bool:
    """Whether it is a Dask data frame, with columns."""
    return hasattr(values, "npartitions") and hasattr(values, "columns") and not is_array(values)


class Load(NamedTuple):
    """A partition to be: ``make(*parts)``, once the parts, which are Dask's `Delayed`, are computed."""

    make: Callable[..., Loaded]
    parts: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Collections:
    """Features, targets and weights: Dask arrays or frames of the same partitions, or columns of one frame.

    `target`, `weight` and `group` are names of columns of X; `y`, `s` and `groups` are collections of their
    own.
    """

    X: Any
    features: tuple[str, ...] | None  # by name; None: all columns of an array by their places
    y: Any = None
    s: Any = None
    target: str | list[str] | None = None
    weight: str | None = None
    groups: Any = None
    group: str | None = None

    @classmethod
    def beside(
        cls, X: Any, features: tuple[str, ...] | None, y: Any, s: Any, groups: Any = None
    ) -> Collections:
        """Collections side by side, the others cut as X is."""
        if is_array(X):
            X = X.rechunk({1: -1})
        y, s, groups = _cut_as(X, y, "y"), _cut_as(X, s, "sample_weight"), _cut_as(X, groups, "groups")
        return cls(X, features, y, s, groups=groups)

    @property
    def n_partitions(self) -> int:
        """The number of partitions."""
        return len(self.X.chunks[0]) if is_array(self.X) else int(self.X.npartitions)

    @property
    def weighted(self) -> bool:
        """Whether there are weights."""
        return self.s is not None or self.weight is not None

    @property
    def sizes(self) -> list[int] | None:
        """The rows of each partition, if they are known without a look."""
        given = [values for values in (self.X, self.y, self.s, self.groups) if values is not None]
        known = all(is_array(values) and _known(values) is not None for values in given)
        return _known(self.X) if known else None

    def loads(self, reads: str | None, features: bool) -> list[Load]:
        """What makes `Loaded` of each partition; weights are read with targets alone."""
        if reads in ("labels", "numbers") and self.y is None and self.target is None:
            raise ValueError(
                "The rows have no targets: give `y`, or name the column by DaskRows(..., target=...)."
            )
        roles = (self.target, self.weight, self.group)
        target, weight, group = roles if reads is not None else (None, None, None)
        if target is not None or weight is not None or group is not None:
            names = self.features if features else ()
            targets = () if target is None else (target,) if isinstance(target, str) else tuple(target)
            assert names is not None  # columns have names
            others = (name for name in (weight, group) if name is not None)
            wanted = list(dict.fromkeys((*names, *targets, *others)))
            make = partial(split, self.features if features else None, target, weight, group)
            return [Load(make, (part,)) for part in _each(self.X[wanted]) or ()]
        parts = [
            _each(self._chosen()) if features else None,
            _each(self.y) if reads is not None else None,
            _each(self.s) if reads is not None else None,
            _each(self.groups) if reads is not None else None,
        ]
        none = [None] * self.n_partitions
        return [Load(Loaded, each) for each in zip(*(each or none for each in parts), strict=True)]

    def counting(self) -> list[Load]:
        """The same with as few columns as tell how many rows there are, and which count."""
        if self.weight is not None:
            return replace(self, target=None, group=None).loads("weights", features=False)
        few = self.X if is_array(self.X) else self.X[list(self.X.columns[:1])]  # Dask cannot concat none
        alone = replace(self, X=few, features=None, target=None, groups=None, group=None)
        return alone.loads("weights", features=True)

    def _chosen(self) -> Any:
        return self.X if self.features is None else self.X[list(self.features)]


def each_partition(values: Any) -> list[Any]:
    """A `Delayed` for every partition.

    All that Dask's optimiser does to a frame is to read fewer columns: if allowed to, it puts partitions
    together, more of them the fewer columns there are, and passes would disagree on what partition 7 is.
    """
    if is_array(values):
        return list(values.to_delayed().ravel())
    return list(values.simplify().to_delayed(optimize_graph=False))


def _each(values: Any) -> list[Any] | None:
    return None if values is None else each_partition(values)


def _known(array: Any) -> list[int] | None:
    sizes = array.chunks[0]
    return None if any(np.isnan(size) for size in sizes) else [int(size) for size in sizes]


def _cut_as(X: Any, values: Any, name: str) -> Any:
    """Targets or weights with the partitions of X."""
    if values is None:
        return None
    sizes = _known(X) if is_array(X) else None
    if not hasattr(values, "__dask_graph__"):
        if sizes is None:
            raise TypeError(
                f"`{name}` must be a Dask collection with the partitions of X, of unknown length, "
                f"got {type(values).__name__}."
            )
        array = need("dask.array", "dask", PURPOSE)
        values = array.from_array(np.asarray(values), chunks=-1)
    if not is_array(values):
        _check_partitions(X, int(values.npartitions), name)
        return values
    if values.ndim == 2:
        values = values.rechunk({1: -1})
    own = _known(values)
    if sizes is None or own is None:
        _check_partitions(X, len(values.chunks[0]), name)
        return values
    if sum(own) != sum(sizes):
        raise ValueError(f"X and `{name}` must have the same rows, got {sum(sizes)} and {sum(own)}.")
    return values if own == sizes else values.rechunk({0: tuple(sizes)})


def _check_partitions(X: Any, there: int, name: str) -> None:
    wanted = len(X.chunks[0]) if is_array(X) else int(X.npartitions)
    if there != wanted:
        raise ValueError(
            f"X and `{name}` must have the same partitions, got {wanted} and {there}. Take both from one "
            "frame, or repartition one of them."
        )


def names_of(X: Any) -> tuple[str, ...] | None:
    """The names of a frame's columns; None for an array, and where they are not text."""
    names = None if is_array(X) else column_names(X)
    return None if names is None else tuple(names)


def check_collection(X: Any) -> None:
    """That X is a Dask array of two dimensions, or a data frame."""
    if is_array(X):
        if X.ndim != 2:
            raise ValueError(f"Rows must be a 2D array, got {X.ndim} dimensions.")
    elif not is_dask_frame(X):
        raise TypeError(f"Rows must be a Dask array or data frame, got {type(X).__name__}.")


def check_names(there: Sequence[str], wanted: Sequence[str]) -> None:
    """That a frame has these columns, each of them once."""
    counts = Counter(there)
    for name in wanted:
        if name not in counts:
            listed = ", ".join(map(repr, there))
            raise ValueError(f"There is no column {name!r} in the frame. Its columns are {listed}.")
        if counts[name] > 1:
            raise ValueError(f"There must be one column {name!r}, but the frame has several of this name.")
