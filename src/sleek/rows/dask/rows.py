"""What the user writes down: a Dask collection, and the part that each column plays."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.sums import Sum
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.base import Outputs
from sleek.rows.cutting import TARGETS, Cutting
from sleek.rows.dask.collections import (
    PURPOSE,
    Collections,
    check_collection,
    check_names,
    is_array,
    names_of,
)
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.rows.source import Source
from sleek.rows.weights import Weighting
from sleek.tables.inputs import Inputs

if TYPE_CHECKING:
    from sleek.rows.arrays import ArrayRows


@dataclass(frozen=True, eq=False)
class DaskRows(Rows):
    """Rows of a Dask array or data frame, on whatever cluster is active, to be fitted to like arrays.

    With a client of `dask.distributed`, partitions stay on the workers and only sums come home, and the rows
    of samples. Without one, partitions are computed in this process, one after the other. A sum over the rows
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
        column but target and weight.
    weight : str or None, default=None
        The column of row weights: a row of weight 2 counts as two rows, one of weight 0 is left out.
    categories : list of str or None, default=None
        Columns whose numbers are codes of categories.

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
    fill: FloatArray | None = field(default=None, repr=False)  # of gaps, when a model without any predicts
    features: tuple[str, ...] | None = field(init=False, repr=False)
    collections: Collections = field(init=False, repr=False)
    known: dict[str, Any] = field(init=False, repr=False, default_factory=dict)  # what was counted

    def __post_init__(self) -> None:
        need("dask.dataframe" if not is_array(self.X) else "dask.array", "dask", PURPOSE)
        check_collection(self.X)
        there = names_of(self.X)
        targets = [self.target] if isinstance(self.target, str) else list(self.target or ())
        others = [*targets, *([] if self.weight is None else [self.weight])]
        if there is None and (others or self.columns is not None):
            raise ValueError("`target`, `columns` and `weight` name columns, but those of X have no names.")
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
            twice = [name for name in features if name in others or features.count(name) > 1]
            if twice:
                raise ValueError(f"Column {twice[0]!r} must play one part only.")
            if not features:
                raise ValueError("There must be at least one feature, but the frame has no other column.")
        object.__setattr__(self, "features", features)
        if self.target is None and self.weight is None:
            found = Collections.beside(self.X, features, self.y, self.sample_weight)
        elif self.y is None and self.sample_weight is None:
            found = Collections(self.X, features, target=self.target, weight=self.weight)
        else:
            X = self.X
            y = self.y if self.target is None else X[self.target]
            s = self.sample_weight if self.weight is None else X[self.weight]
            found = Collections.beside(X, features, y, s)
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

    def with_features(self, names: tuple[str, ...] | None, n_features: int) -> Rows:
        if names is None or self.features is None or any(name not in self.features for name in names):
            return super().with_features(names, n_features)
        return self if names == self.features else self._with(names)

    def _with(self, names: tuple[str, ...]) -> DaskRows:
        """The same rows with these columns as features."""
        return replace(self, columns=list(names))

    def learnt(self, estimator: Any, reads: str) -> Rows:
        from sleek.rows.dask.tables import learnt_rows

        return learnt_rows(estimator, self, reads)

    def remember(self, estimator: Any, learnt: Rows) -> None:
        """All columns that were given, as a frame in memory is remembered."""
        estimator.n_features_in_ = self.n_features
        if self.features is not None:
            estimator.feature_names_in_ = np.array(self.features, dtype=object)

    def read_by(self, inputs: Inputs) -> Rows:
        from sleek.rows.dask.tables import DaskTable

        return DaskTable(self if self.features is None else self._with(inputs.names), inputs)

    # -- passes

    def chunks(self, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
        from sleek.rows.dask.here import chunks

        yield from chunks(self, reads, features)

    def map_reduce(
        self,
        task: Callable[[RawBlock], Sum],
        run: Run,
        *,
        reads: str | None,
        features: bool,
        cutting: Cutting = TARGETS,
    ) -> Sum:
        from sleek.rows.dask.cluster import map_reduce
        from sleek.rows.dask.passes import active_client

        if active_client() is None:
            return super().map_reduce(task, run, reads=reads, features=features, cutting=cutting)
        return map_reduce(self, task, run, reads, features, cutting)

    def source(self, outputs: Outputs, weighting: Weighting, run: Run) -> Source:
        from sleek.rows.dask.cluster import source
        from sleek.rows.dask.passes import active_client

        if active_client() is None:
            return super().source(outputs, weighting, run)
        return source(self, outputs, weighting, run)

    def in_memory(self, reads: str, n_rows: int, run: Run) -> ArrayRows:
        from sleek.rows.dask.cluster import in_memory
        from sleek.rows.dask.passes import active_client

        if active_client() is None:
            return super().in_memory(reads, n_rows, run)
        return in_memory(self, reads, n_rows, run)

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        from sleek.rows.dask.cluster import own_numbers
        from sleek.rows.dask.passes import active_client

        if not self.collections.weighted:
            return numbers, np.arange(len(numbers))
        if active_client() is None:
            return super().originals(numbers, reads)
        return own_numbers(self, numbers), np.arange(len(numbers))

    def evaluate(self, function: Callable[..., AnyArray], run: Run) -> Any:
        """A lazy Dask array with the chunks of X."""
        from sleek.rows.dask.lazily import predicted

        return predicted(self, None, function)

    def write(self, function: Callable[..., AnyArray], path: str | PathLike[str], keep: Any, run: Run) -> int:
        raise TypeError("Predictions of Dask rows are a Dask array, which Dask can write: use predict.")

    def __repr__(self) -> str:
        partitions = self.collections.n_partitions
        return (
            f"DaskRows({partitions} partition{'s' if partitions > 1 else ''}, {self.n_features} feature"
            f"{'s' if self.n_features > 1 else ''}"
            + ("" if self.target is None else f", target {self.target!r}")
            + ("" if self.weight is None else f", weight {self.weight!r}")
            + ")"
        )
