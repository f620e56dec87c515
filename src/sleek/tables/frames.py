"""Data frames of any make: pandas, polars, Arrow tables, dictionaries of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray


def column_names(table: Any) -> list[str] | None:
    """The names of a table's columns, None if it has none that are text, as an array.

    >>> column_names({"a": [1], "b": [2]}), column_names(np.zeros((1, 2)))
    (['a', 'b'], None)
    """
    if isinstance(table, Mapping):
        names = list(table)
    elif hasattr(table, "column_names"):  # an Arrow table
        names = list(table.column_names)
    elif hasattr(table, "columns") and hasattr(table, "__getitem__"):
        names = list(table.columns)
    else:
        return None
    return names if all(isinstance(name, str) for name in names) else None


def column_of(table: Any, name: str) -> AnyArray:
    """A column's values as an array, with None or NaN where one is missing."""
    values = table[name]
    if isinstance(values, list | tuple):
        return np.asarray(values, dtype=object)
    if hasattr(values, "to_pylist"):  # Arrow
        return np.asarray(values.to_pylist(), dtype=object) if values.null_count else np.asarray(values)
    return np.asarray(values)
