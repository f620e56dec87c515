"""Predictions as lazy Dask arrays: each chunk is predicted as an array in memory would be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.types import AnyArray
from sleek.rows.dask.collections import PURPOSE, each_partition, is_array
from sleek.rows.predicting import Expected, rows_to_predict

if TYPE_CHECKING:
    from sleek.rows.dask.dask_rows import DaskRows


def predict_lazily(rows: DaskRows, expected: Expected, function: Callable[..., AnyArray]) -> Any:
    """``function(X)`` as a Dask array with the chunks of X; those of a frame are of unknown length."""
    X, names = rows.collections.X, rows.features
    single = is_array(X) and X.dtype == np.float32 and expected.inputs is None
    empty = function(np.zeros((1, expected.n_features), dtype=np.float32 if single else np.float64))[:0]
    predict = Predicted(function, expected, empty)
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
    expected: Expected
    empty: AnyArray

    def __call__(self, chunk: Any, block_info: Any = None, number: int = 0) -> AnyArray:
        if len(chunk) == 0:
            return self.empty
        if block_info:
            number = block_info[0]["chunk-location"][0]
        rows = rows_to_predict(chunk, self.expected, words=f"row {{}} of partition {number}".format)
        found: AnyArray = self.function(rows)
        return found
