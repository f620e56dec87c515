"""`DaskRows`: a Dask array or data frame to fit or predict, with its target and weight columns."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.counting import how_many
from sleek._runtime.packages import need
from sleek._runtime.sums import Sum
from sleek._runtime.types import AnyArray, IntArray
from sleek.outputs.base import Outputs
from sleek.rows.checked import NoRowsError
from sleek.rows.cutting import TARGETS, Cutting
from sleek.rows.dask.collections import (
    PURPOSE,
    Collections,
    Load,
    check_collection,
    check_names,
    is_array,
    names_of,
)
from sleek.rows.dask.parts import Loaded, columns_in, numbers_of, targets_of, weights_of, words_of
from sleek.rows.dask.passes import active_client, unreadable
from sleek.rows.encoding import Encoding, Strangers
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.rows.source import Source
from sleek.rows.weights import Weighting
from sleek.tables.errors import first_repeated

if TYPE_CHECKING:
    from sleek.rows.arrays import ArrayRows
    from sleek.rows.predicting import Expected


@dataclass(frozen=True, eq=False)
class DaskRows(Rows):
    """Rows of a Dask array or data frame, on whatever cluster is active, to be fitted to like arrays.

    With a client of `dask.distributed`, partitions stay on the workers, which send back sums and the rows of
    samples. Without one, partitions are computed in this process, one after the other. A sum over the rows
    is bit for bit that of the same rows in memory, however they are cut into partitions and whatever happens
    to the workers.

    Estimators take Dask collections as they are; this names target, weight and columns of a frame.

    Parameters
    ----------
    X : Dask data frame or array
    y : Dask collection or None, default=None
        The targets, with the partitions of X, if they are not a column of it.
    sample_weight : Dask collection or None, default=None
        The weights, likewise.
    target : str, list of str or None, default=None
        The column of X to predict, or several columns of numbers. Predicting needs none.
    columns : list of str or None, default=None
        The features: columns of numbers, text, truth values or dates, with gaps or without. None takes every
        column but target, weight and groups.
    weight : str or None, default=None
        The column of row weights: a row of weight 2 counts as two rows, one of weight 0 is left out.
    categories : list of str or None, default=None
        Columns whose numbers are codes of categories.
    groups : str, Dask collection or None, default=None
        Which rows belong together: a column of X, or labels with the partitions of X.

    Attributes
    ----------
    features : tuple of str or None
        The names of the features; None for an array.

    Examples
    --------
    >>> import pandas as pd, dask.dataframe as dd
    >>> frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0, 1, 0], "y": ["no", "yes", "no"]})
    >>> DaskRows(dd.from_pandas(frame, npartitions=2), target="y")
    DaskRows(2 partitions, 2 features, target 'y')
    """

    X: Any
    y: Any = None
    sample_weight: Any = None
    target: str | list[str] | None = None
    columns: list[str] | None = None
    weight: str | None = None
    categories: list[str] | None = None
    groups: Any = None
    expected: Expected | None = field(default=None, repr=False)  # what the model that predicts them reads
    tabular = True
    features: tuple[str, ...] | None = field(init=False, repr=False)
    collections: Collections = field(init=False, repr=False)
    known: dict[str, Any] = field(init=False, repr=False, default_factory=dict)  # what was counted

    def __post_init__(self) -> None:
        need("dask.dataframe" if not is_array(self.X) else "dask.array", "dask", PURPOSE)
        check_collection(self.X)
        there = names_of(self.X)
        targets = [self.target] if isinstance(self.target, str) else list(self.target or ())
        group = self.groups if isinstance(self.groups, str) else None
        others = [*targets, *(name for name in (self.weight, group) if name is not None)]
        if there is None and (others or self.columns is not None):
            raise ValueError(
                "`target`, `columns`, `weight` and `groups` name columns, but those of X have no names."
            )
        for given, named, one, two in (
            (self.y, self.target, "y", "target"),
            (self.sample_weight, self.weight, "sample_weight", "weight"),
        ):
            if given is not None and named is not None:
                raise ValueError(f"Give `{one}` or `{two}`, not both.")
        features = there
        if there is not None:
            check_names(there, [*others, *(self.columns or ())])
            features = (
                tuple(n for n in there if n not in others) if self.columns is None else tuple(self.columns)
            )
            twice = first_repeated((*others, *features))
            if twice is not None:
                raise ValueError(f"Column {twice!r} must play one part only.")
            if not features:
                raise ValueError("There must be at least one feature, but the frame has no other column.")
        object.__setattr__(self, "features", features)
        beside = [self.y, self.sample_weight, self.groups if group is None else None]
        if others and all(values is None for values in beside):
            found = Collections(self.X, features, target=self.target, weight=self.weight, group=group)
        else:
            roles = zip(beside, (self.target, self.weight, group), strict=True)
            parts = (values if name is None else self.X[name] for values, name in roles)
            found = Collections.beside(self.X, features, *parts)
        object.__setattr__(self, "collections", found)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.features

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1]) if self.features is None else len(self.features)

    @property
    def flat_targets(self) -> bool:
        y = self.collections.y
        return isinstance(self.target, str) or (y is not None and y.ndim == 1)

    @property
    def is_plain(self) -> bool:
        """Whether the types of all columns say that they are numbers without a gap."""
        dtypes = [self.X.dtype] if is_array(self.X) else self.X[list(self.features or self.X.columns)].dtypes
        return all(isinstance(dtype, np.dtype) and dtype.kind in "iub" for dtype in dtypes)

    def with_features(self, names: tuple[str, ...] | None, n_features: int) -> Rows:
        if names is None or self.features is None or not set(names) <= set(self.features):
            return super().with_features(names, n_features)
        return self if names == self.features else replace(self, columns=list(names))

    def expecting(self, expected: Expected) -> Rows:
        from sleek.rows.table_rows import TableRows, decimal_mark

        inputs = expected.columns
        if self.features is None:
            if expected.names is not None or self.n_features != expected.n_columns:
                return super().with_features(expected.names, expected.n_columns)
            return TableRows(replace(self, expected=expected), Encoding(inputs))
        self._find(inputs.names)
        alone = replace(
            self, y=None, sample_weight=None, target=None, weight=None, columns=list(self.features)
        )
        alone = replace(alone, groups=None)
        decimal = decimal_mark(alone, inputs.numbers)
        rows = replace(self, columns=list(inputs.names), expected=replace(expected, decimal=decimal))
        return TableRows(rows, Encoding(inputs, decimal=decimal))

    def holds_text(self, names: Sequence[str]) -> bool:
        return any(str(self.X.dtypes[name]).startswith(("object", "str", "large_string")) for name in names)

    # -- passes

    def chunks(self, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
        yield from self._partitions(reads, features, columns=True)

    def _chunks(
        self,
        reads: str | None,
        features: bool,
        run: Run,
        encoding: Encoding | None = None,
        strangers: Strangers | None = None,
    ) -> Generator[RawBlock, None, None]:
        chunks = self._partitions(reads, features, columns=encoding is not None)
        yield from self._settle(chunks, reads, encoding if features else None, strangers)

    def _partitions(
        self, reads: str | None, features: bool, columns: bool
    ) -> Generator[RawBlock, None, None]:
        """A partition at a time, computed in this process, as columns or as an array of numbers."""
        for number, first, part in compute_partitions(self.collections.loads(reads, features)):
            X = (columns_in(part.X, self.features) if columns else numbers_of(part.X)) if features else None
            yield RawBlock(
                X,
                targets_of(part.y) if reads is not None else None,
                None if part.s is None or reads is None else weights_of(part.s),
                words_of(number, first, np.arange(part.n_rows(number))),
                groups=part.groups,
            )

    def map_reduce(
        self,
        task: Callable[[RawBlock], Sum],
        run: Run,
        *,
        reads: str | None,
        features: bool,
        cutting: Cutting = TARGETS,
        encoding: Encoding | None = None,
        strangers: Strangers | None = None,
    ) -> Sum:
        if active_client() is None:
            return super().map_reduce(
                task,
                run,
                reads=reads,
                features=features,
                cutting=cutting,
                encoding=encoding,
                strangers=strangers,
            )
        from sleek.rows.dask.cluster import map_reduce

        found = map_reduce(self, task, run, reads, features, cutting, encoding)
        if found is None:
            raise NoRowsError(self._no_rows("learn from"))
        return found

    def source(
        self, outputs: Outputs, weighting: Weighting, run: Run, encoding: Encoding | None = None
    ) -> Source:
        if active_client() is None:
            return super().source(outputs, weighting, run, encoding)
        from sleek.rows.dask.cluster import source

        return source(self, outputs, weighting, run, encoding)

    def in_memory(self, reads: str, n_rows: int, run: Run) -> ArrayRows:
        if active_client() is None:
            return super().in_memory(reads, n_rows, run)
        from sleek.rows.dask.cluster import in_memory

        return in_memory(self, reads, n_rows, run)

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        if not self.collections.weighted:
            return numbers, np.arange(len(numbers))
        if active_client() is None:
            return super().originals(numbers, reads)
        from sleek.rows.dask.cluster import own_numbers

        return own_numbers(self, numbers), np.arange(len(numbers))

    def evaluate(self, function: Callable[..., AnyArray], run: Run, encoding: Encoding | None = None) -> Any:
        """A lazy Dask array with the chunks of X."""
        from sleek.rows.dask.lazy import predict_lazily
        from sleek.rows.predicting import Expected

        expected = self.expected or Expected(self.features, self.n_features, self.n_features)
        return predict_lazily(self, expected, function)

    def write(
        self,
        function: Callable[..., Any],
        path: str | PathLike[str],
        keep: Any,
        run: Run,
        encoding: Encoding | None = None,
    ) -> int:
        raise TypeError("Predictions of Dask rows are a Dask array, which Dask can write: use predict.")

    def __repr__(self) -> str:
        partitions = self.collections.n_partitions
        return (
            f"DaskRows({how_many(partitions, 'partition')}, {how_many(self.n_features, 'feature')}"
            + ("" if self.target is None else f", target {self.target!r}")
            + ("" if self.weight is None else f", weight {self.weight!r}")
            + (f", groups {self.groups!r}" if isinstance(self.groups, str) else "")
            + ")"
        )


def compute_partitions(loads: Sequence[Load]) -> Generator[tuple[int, int, Loaded], None, None]:
    """Every partition that has rows: its number, that of its first row, and what Dask computes of it."""
    dask, first = need("dask", "dask", PURPOSE), 0
    client = active_client()
    for number, (make, parts) in enumerate(loads):
        try:
            values = dask.compute(*parts) if client is None else client.gather(client.compute(list(parts)))
            found = make(*values)
        except Exception as error:
            raise unreadable(number, error) from error
        n = found.n_rows(number)
        if n:
            yield number, first, found
        first += n
