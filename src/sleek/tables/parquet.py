"""Parquet files as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.errors import TableError
from sleek.tables.reading import texts
from sleek.tables.table import Table


class ParquetTable(Table):
    """A Parquet file, read as a whole."""

    def __init__(self, data: bytes, source: str) -> None:
        self.source, self.notes = source, []
        try:
            self._table: Any = pq.read_table(pa.BufferReader(data))
        except pa.ArrowException as error:
            raise TableError(f"{source} is damaged: {str(error).splitlines()[0]}.") from None
        self.names = list(self._table.column_names)
        self.n_rows = int(self._table.num_rows)
        if self.n_rows == 0:
            raise TableError(f"{source} has column names but no rows.")

    def place(self, row: int) -> str:
        return f"row {row + 1}"

    def words(self, name: str) -> list[str | None]:
        return texts(self.original(name))

    def original(self, name: str) -> list[Any]:
        return list(self._table.column(name).to_pylist())

    def numbers(self, name: str) -> FloatArray:
        values = self.values(name)
        if values.dtype.kind == "f":
            return values
        for row, value in enumerate(values.tolist()):
            if value is not None:
                raise self.refuse(name, row, value)
        return np.full(self.n_rows, np.nan)

    def values(self, name: str) -> AnyArray:
        column = self._table.column(name)
        kind = column.type
        if pa.types.is_decimal(kind):
            column = column.cast(pa.float64())
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            temporal = pa.types.is_temporal(kind)
            return column.to_numpy() if temporal else np.array(column.to_pylist(), dtype=object)
        return self.check_finite(name, column.to_numpy(zero_copy_only=False).astype(np.float64))
