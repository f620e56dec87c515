"""Predictions as lazy Dask arrays: each chunk is predicted as an array in memory would be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.types import AnyArray, FloatArray
from sleek.rows.checked import all_finite
from sleek.rows.dask.collections import PURPOSE, each_partition, is_array
from sleek.rows.dask.parts import located, numbers_of, words_of
from sleek.rows.table import encoded_rows, filled
from sleek.tables.errors import TableError
from sleek.tables.inputs import Inputs

if TYPE_CHECKING:
    from sleek.rows.dask.rows import DaskRows


def predicted(rows: DaskRows, inputs: Inputs | None, function: Callable[..., AnyArray]) -> Any:
    """``function(X)`` as a Dask array with the chunks of X; those of a frame are of unknown length."""
    X, names = rows.collections.X, rows.feature_names
    n_features = rows.n_features if inputs is None else len(inputs.feature_names)
    single = is_array(X) and X.dtype == np.float32 and inputs is None
    empty = function(np.zeros((1, n_features), dtype=np.float32 if single else np.float64))[:0]
    predict = Predicted(function, inputs, names, rows.n_features, rows.fill, empty)
    if not is_array(X):
        parts = each_partition(X[list(names)] if names else X)
        dask, array = (need(name, "dask", PURPOSE) for name in ("dask", "dask.array"))
        lazy, shape = dask.delayed(predict), (np.nan, *empty.shape[1:])
        found = [lazy(part, number=number) for number, part in enumerate(parts)]
        return array.concatenate([array.from_delayed(each, shape, meta=empty) for each in found])
    axes: dict[str, Any] = {"drop_axis": 1} if empty.ndim == 1 else {}
    if empty.ndim > 2:
        axes["new_axis"] = list(range(2, empty.ndim))
    chunks = (X.chunks[0], *((size,) for size in empty.shape[1:]))
    return X.map_blocks(predict, chunks=chunks, meta=empty, dtype=empty.dtype, **axes)


@dataclass(frozen=True, eq=False)
class Predicted:
    """A function of the model for the rows of one chunk."""

    function: Callable[..., AnyArray]
    inputs: Inputs | None
    names: tuple[str, ...] | None
    n_columns: int
    fill: FloatArray | None
    empty: AnyArray

    def __call__(self, chunk: Any, block_info: Any = None, number: int = 0) -> AnyArray:
        if len(chunk) == 0:
            return self.empty
        if block_info:
            number = block_info[0]["chunk-location"][0]
        found: AnyArray = self.function(self._features(chunk, number))
        return found

    def _features(self, chunk: Any, number: int) -> Any:
        if self.inputs is not None:
            try:
                return encoded_rows(self.inputs, chunk, self.names, self.n_columns)
            except TableError as error:
                raise located(error, words_of(number, 0, np.arange(len(chunk)))) from None
        X = numbers_of(chunk)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if self.fill is not None and not all_finite(X):
            X = filled(X, self.fill)
        if not all_finite(X):
            row, column = (int(places[0]) for places in np.nonzero(~np.isfinite(X)))
            feature = f"number {column}" if self.names is None else repr(self.names[column])
            raise ValueError(
                f"Features must be finite numbers, but feature {feature} is {X[row, column]} in row {row} of "
                f"partition {number}. Fill in a number, or leave the row or the feature out."
            )
        return X
