"""Columns of data frames of pandas, polars and pyarrow, of dictionaries and of arrays, as `Values`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray
from sleek.tables.errors import TableError, first_repeated
from sleek.tables.values import Coded, Dates, Numbers, Values, days_of, factorize

FEW = 64  # values that are looked at one by one: pandas takes longer to begin


def column_names(table: Any) -> list[str] | None:
    """The names of a table's columns, None if it has none that are text, as an array.

    >>> column_names({"a": [1], "b": [2]}), column_names(np.zeros((1, 2)))
    (['a', 'b'], None)
    """
    names = _labels(table)
    return names if names is not None and all(isinstance(name, str) for name in names) else None


def is_frame(table: Any) -> bool:
    """Whether it has columns, whatever they are called."""
    if isinstance(table, np.ndarray | list):
        return False
    return _is_pandas(table) or _labels(table) is not None


def _is_pandas(table: Any) -> bool:
    return type(table).__name__ == "DataFrame" and type(table).__module__.startswith("pandas.")


def _labels(table: Any) -> list[Any] | None:
    if isinstance(table, np.ndarray | list):
        return None
    if isinstance(table, Mapping):
        return list(table)
    if _is_pandas(table):
        return list(table.columns)
    if hasattr(table, "column_names"):  # an Arrow table
        return list(table.column_names)
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        return list(table.columns)
    return None


def is_dask(X: Any) -> bool:
    """Whether it is a Dask collection; nothing is imported to find out."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "npartitions")


def place_names(count: int) -> list[str]:
    """What columns without names are called: by their places."""
    return [f"x{place}" for place in range(count)]


def columns_by_name(table: Any) -> dict[str, Values]:
    """All columns of a frame or array; those without names are x0, x1, …

    >>> columns_by_name(np.array([[1.0, 2.0]]))["x1"].array
    array([2.])
    """
    labels = _labels(table)
    if labels is None:
        array = np.asarray(table)
        if array.ndim != 2:
            raise TableError(f"A table must have two dimensions, got {array.ndim}.")
        return {name: values_of(name, array[:, i]) for i, name in enumerate(place_names(array.shape[1]))}
    names = column_names(table)
    if names is None:
        names = place_names(len(labels))
    twice = first_repeated(names)
    if twice is not None:
        raise TableError(f"Columns must have different names, but several are called {twice!r}.")
    found = {name: values_of(name, table[label]) for name, label in zip(names, labels, strict=True)}
    lengths = {name: len(values) for name, values in found.items()}
    if len(set(lengths.values())) > 1:
        raise TableError(f"All columns must be of one length, got {lengths}.")
    return found


def column_of(table: Any, name: str) -> AnyArray:
    """A column's values as an array, with None or NaN where one is missing."""
    values = table[name]
    if isinstance(values, list | tuple):
        return np.asarray(values, dtype=object)
    if hasattr(values, "to_pylist"):  # Arrow
        return np.asarray(values.to_pylist(), dtype=object) if values.null_count else np.asarray(values)
    return np.asarray(values)


def values_of(name: str, column: Any) -> Values:
    """One column of whatever kind as `Values`."""
    if isinstance(column, Values):
        return column
    if isinstance(column, list | tuple):
        return _of_objects(name, column)
    module = type(column).__module__.partition(".")[0]
    if module == "pandas":
        return _of_pandas(name, column)
    if module == "polars":
        return _of_polars(name, column)
    if module == "pyarrow":
        return of_arrow(name, column)
    return _of_array(name, np.asarray(column))


def _of_array(name: str, array: AnyArray) -> Values:
    if array.ndim != 1:
        raise TableError(f"Column {name!r} must be one value per row, got {array.ndim} dimensions.")
    match array.dtype.kind:
        case "i" | "u" | "f":
            return Numbers(array)
        case "b":
            return Coded(array.astype(np.int32), [False, True])
        case "M":
            return Dates(days_of(array))
        case "m":
            return Numbers(_seconds(array))
        case "U":
            return _of_objects(name, array.tolist())
    return _of_objects(name, array)


def _seconds(durations: AnyArray) -> AnyArray:
    """Durations as seconds, NaN where one is missing."""
    seconds = durations.astype("timedelta64[us]").astype(np.int64) / 1e6
    seconds[np.isnat(durations)] = np.nan
    return seconds


def _of_objects(name: str, values: Any) -> Values:
    """Python's objects: dates are dates, numbers numbers, and anything else codes."""
    return _coerce_objects(name, factorize(values))


def _coerce_objects(name: str, coded: Coded) -> Values:
    """Codes of dates, times or durations as dates or numbers; anything else, such as text, stays codes."""
    values = coded.values
    if not values or isinstance(values[0], str):  # one row is to be fast
        return coded
    if all(isinstance(value, date) for value in values):
        zoned = any(getattr(value, "tzinfo", None) is not None for value in values)
        return Dates(coded.spread(_instants(name, values), np.nan), zoned)
    if all(isinstance(value, time) for value in values):
        return Numbers(coded.spread(np.array([_seconds_of(value) for value in values]), np.nan))
    if all(isinstance(value, timedelta) for value in values):
        return Numbers(coded.spread(np.array([value.total_seconds() for value in values]), np.nan))
    return coded


def _seconds_of(value: Any) -> float:
    """Seconds since midnight."""
    return float(3600 * value.hour + 60 * value.minute + value.second + value.microsecond / 1e6)


def _instants(name: str, values: list[Any]) -> AnyArray:
    """Dates and datetimes of Python as days; a time zone counts."""
    plain = [
        value.astimezone(UTC).replace(tzinfo=None)
        if isinstance(value, datetime) and value.tzinfo is not None
        else value
        for value in values
    ]
    try:
        return days_of(np.array(plain, dtype="datetime64[us]"))
    except (ValueError, TypeError, OverflowError):
        raise TableError(f"Column {name!r} holds dates that cannot be read, such as {values[0]!r}.") from None


def _of_pandas(name: str, series: Any) -> Values:
    if getattr(series, "ndim", 1) != 1:
        raise TableError(f"Column {name!r} must be one value per row, got {series.ndim} dimensions.")
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    plain = isinstance(dtype, np.dtype)
    if plain and kind in "iuf":
        return Numbers(series.to_numpy())
    if not plain and hasattr(series, "cat"):
        codes, levels = series.cat.codes.to_numpy(np.int32), series.cat.categories.tolist()
        return Coded(codes, levels, typed=True, ordered=bool(series.cat.ordered))
    if kind in "iuf":
        return Numbers(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "M":
        zoned = getattr(dtype, "tz", None) is not None
        if zoned:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return Dates(days_of(series.to_numpy(dtype="datetime64[us]")), zoned)
    if kind == "m":
        return Numbers(_seconds(series.to_numpy(dtype="timedelta64[us]")))
    if type(dtype).__name__ == "PeriodDtype":
        return Dates(days_of(series.dt.to_timestamp().to_numpy(dtype="datetime64[us]")))
    if len(series) <= FEW or (plain and kind == "O" and not _is_text(series)):
        return _of_objects(name, series.tolist())
    codes, values = series.factorize()
    return _coerce_objects(name, Coded(np.asarray(codes, dtype=np.int32), list(values)))


def _is_text(series: Any) -> bool:
    """Whether all values are text or missing, by what pandas finds."""
    from pandas.api.types import infer_dtype

    return bool(infer_dtype(series, skipna=True) == "string")


def _of_polars(name: str, series: Any) -> Values:
    dtype = series.dtype
    if str(dtype).startswith("Decimal"):
        series, dtype = series.cast(str), None
        return _numbers_of_text(series.to_list())
    if str(dtype).startswith("Enum"):
        return Coded(
            series.to_physical().cast(int).fill_null(-1).to_numpy().astype(np.int32),
            dtype.categories.to_list(),
            True,
            True,
        )
    if str(dtype).startswith("Categorical"):
        return replace(factorize(series.to_list()), typed=True)
    if dtype.is_numeric() or (dtype.is_temporal() and str(dtype) != "Time"):
        found = _of_array(name, series.to_numpy())
        zoned = getattr(dtype, "time_zone", None) is not None
        return replace(found, zoned=True) if zoned and isinstance(found, Dates) else found
    return _of_objects(name, series.to_list())


def _numbers_of_text(texts: list[str | None]) -> Numbers:
    return Numbers(np.array([np.nan if text is None else float(text) for text in texts]))


def categories_of(schema: Any) -> list[str]:
    """Columns of numbers that were categories without an order in pandas: Parquet keeps that as a remark."""
    from pyarrow import types

    found = (schema.pandas_metadata or {}).get("columns", [])
    said = {
        column.get("field_name")
        for column in found
        if column.get("pandas_type") == "categorical"
        and not (column.get("metadata") or {}).get("ordered", False)
    }
    return [
        column.name
        for column in schema
        if column.name in said and (types.is_integer(column.type) or types.is_floating(column.type))
    ]


def of_arrow(name: str, column: Any) -> Values:
    """An Arrow array or chunked array."""
    import pyarrow as pa
    from pyarrow import types

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if isinstance(column, pa.ChunkedArray):  # several chunks of a dictionary, or none at all
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    kind = column.type
    if types.is_null(kind):
        return Numbers(np.full(len(column), np.nan))
    if types.is_decimal(kind):  # through its digits: Arrow's own conversion is off by one bit now and then
        column, kind = column.cast(pa.string()).cast(pa.float64()), pa.float64()
    if types.is_integer(kind) or types.is_floating(kind):
        if column.null_count and not types.is_floating(kind):
            column = column.cast(pa.float64(), safe=False)
        return Numbers(np.asarray(column.to_numpy(zero_copy_only=False)))
    if types.is_date(kind) or types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us", tz=getattr(kind, "tz", None)), safe=False)
        return Dates(days_of(_instants_of_arrow(column)), getattr(kind, "tz", None) is not None)
    if types.is_duration(kind):
        return Numbers(_seconds(np.asarray(column.to_numpy(zero_copy_only=False))))
    if types.is_time(kind):
        ticks = column.cast(pa.time64("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False)
        return Numbers(np.asarray(ticks.to_numpy(zero_copy_only=False)) / 1e6)
    if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return _of_objects(name, column.to_pylist())
    typed = types.is_dictionary(kind)
    if not typed:
        column = column.dictionary_encode()
    codes = column.indices.cast(pa.int32())
    codes = codes.fill_null(-1) if codes.null_count else codes
    ordered = typed and bool(kind.ordered)
    coded = Coded(codes.to_numpy(zero_copy_only=False), column.dictionary.to_pylist(), typed, ordered)
    return coded if typed else _coerce_objects(name, coded)


def _instants_of_arrow(column: Any) -> AnyArray:
    import pyarrow as pa

    ticks = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    instants: AnyArray = np.array(ticks).astype("datetime64[us]")
    instants[column.is_null().to_numpy(zero_copy_only=False)] = np.datetime64("NaT", "us")
    return instants
