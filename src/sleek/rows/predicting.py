"""Validation of rows to predict, for estimators, loaded models, commands and chunks of Dask arrays alike.

`Expected` says what rows must look like. Names, shapes and finiteness are checked here and nowhere else, so
that every error has one wording.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sleek._runtime.counting import are, how_many
from sleek._runtime.types import AnyArray, FloatArray
from sleek._runtime.warn import warn
from sleek.rows.arrays import ArrayRows
from sleek.rows.checked import all_finite, check_finite
from sleek.rows.encoding import Strangers, warn_of_strangers
from sleek.rows.opening import dask_rows
from sleek.rows.rows import Rows
from sleek.tables.columns import NumberColumn
from sleek.tables.encoded import EncodedTable
from sleek.tables.errors import TableError, suggestion
from sleek.tables.frames import column_names, column_of, columns_by_name, is_dask, is_frame, place_names
from sleek.tables.inputs import Inputs
from sleek.tables.values import Coded

LISTED = 20  # names of features in a message


@dataclass(frozen=True, eq=False)
class Expected:
    """What rows to predict must look like.

    Attributes
    ----------
    names : tuple of str or None
        The columns of the fit, or those of them that a model reads; None: they have no names.
    n_columns : int
        How many these are.
    n_features : int
        How many features the model has: other than columns, if it reads a table.
    inputs : Inputs or None
        How columns become features; None: they are numbers as they are.
    typical : array of shape (n_features,) or None
        What is taken for a missing number by a model that reads no table; None: it is refused.
    called : str
        What to call the model in messages.
    decimal : str or None
        The decimal mark of numbers in text; None: what the columns say.
    fitted : bool
        Whether the columns are those that an estimator was fitted to: arrays then have these, not features.
    """

    names: tuple[str, ...] | None
    n_columns: int
    n_features: int
    inputs: Inputs | None = None
    typical: FloatArray | None = None
    called: str = "the model"
    fitted: bool = False
    decimal: str | None = None

    @cached_property
    def columns(self) -> Inputs:
        """The columns to read of a table that is kept elsewhere; x0, x1, … if they have no names."""
        if self.inputs is not None:
            return self.inputs
        fills = [None] * self.n_features if self.typical is None else self.typical.tolist()
        pairs = zip(self.names or place_names(self.n_features), fills, strict=True)
        return Inputs(tuple(NumberColumn(name, fill, gaps=False) for name, fill in pairs))


def open_features(X: Any, expected: Expected) -> Rows:
    """Rows to predict, wherever they are, with the features of a model, in their order."""
    if is_dask(X):
        X = dask_rows(X)
    return X.expecting(expected) if isinstance(X, Rows) else ArrayRows(rows_to_predict(X, expected))


def rows_to_predict(
    X: Any, expected: Expected, one_row: bool = False, words: Callable[[int], str] = "row {}".format
) -> AnyArray | EncodedTable:
    """The features (n, d), finite, of an array or a table, in the model's order; float32 stays float32.

    Columns of a table are found by name, whatever their order, and those that the model does not read are
    ignored; they become features when rows are asked for. An array without names has the features, or if the
    model reads a table and that is something else, its columns. `one_row` lets a row alone, of shape (d,),
    stand for a matrix of one.
    """
    frame = is_frame(X)
    if expected.inputs is not None and (frame or _has_columns(expected, X)):
        try:
            return _encode(X, frame, expected, expected.inputs)
        except TableError as error:
            raise error.at(words) from None
    names = column_names(X) if frame else None
    plain = _whole(X, names, expected) if names is not None else None
    if plain is None and names is not None and expected.names is not None and _has_text(X):
        try:
            return _encode(X, True, expected, expected.columns)
        except TableError as error:
            raise error.at(words) from None
    rows = plain
    if rows is None:
        rows = _numbers(expected, X) if names is None else _columns(expected, X, names)
    if rows.ndim not in ((1, 2) if one_row else (2,)) or rows.shape[-1] != expected.n_features:
        raise ValueError(_wrong_shape(expected, rows.shape, one_row))
    rows = np.atleast_2d(rows)
    if not all_finite(rows):
        if expected.typical is not None:
            rows = _fill_gaps(rows, expected.typical)
        check_finite(rows, expected.names, words)
    return rows


def _encode(X: Any, frame: bool, expected: Expected, inputs: Inputs) -> EncodedTable:
    """New rows of a table; what a model has never seen is counted in a warning."""
    columns = X
    if not frame:
        array = np.asarray(X)
        if array.ndim != 2 or array.shape[1] != expected.n_columns:
            raise ValueError(_wrong_shape(expected, array.shape, False))
        found = columns_by_name(array)
        columns = dict(zip(expected.names or place_names(expected.n_columns), found.values(), strict=True))
    elif expected.names is None and not isinstance(X, Mapping):
        columns = columns_by_name(X)
    values = inputs.find(columns, expected.decimal)
    table = EncodedTable.of(inputs, values)
    strangers: Strangers = {
        column.name: column.unusual(settled, values[column.name])
        for column, settled in zip(inputs.columns, table.settled, strict=True)
    }
    warn_of_strangers(inputs, strangers)
    return table


def _has_text(X: Any) -> bool:
    """Whether some columns of a frame are text."""
    dtypes = getattr(X, "dtypes", None)  # of pandas and polars: nothing is converted to find out
    if dtypes is not None and all(getattr(dtype, "kind", "?") in "fiub" for dtype in dtypes):
        return False
    return any(
        isinstance(values, Coded) and any(isinstance(value, str) for value in values.values)
        for values in columns_by_name(X).values()
    )


def _fill_gaps(rows: AnyArray, fill: FloatArray) -> AnyArray:
    """Rows with what is typical of a feature where it is NaN, counted in a warning: training had no gaps."""
    gaps = np.isnan(rows)
    number = int(gaps.sum())
    if not number:
        return rows
    warn(
        f"{how_many(number, 'missing value')}, of which training had none, {are(number)} taken as the "
        "medians."
    )
    return np.where(gaps, fill.astype(rows.dtype), rows)


def _has_columns(expected: Expected, X: Any) -> bool:
    """Whether an array has the columns that the model reads, and not its features."""
    if isinstance(X, EncodedTable) or not hasattr(X, "__len__"):
        return False
    array = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if array.ndim != 2 or array.shape[1] != expected.n_columns:
        return False
    if expected.fitted or array.shape[1] != expected.n_features or array.dtype.kind not in "fiub":
        return True
    return bool(array.dtype.kind == "f" and np.isnan(array).any())


def _numbers(expected: Expected, X: Any) -> AnyArray:
    """An array of floats, whatever its shape."""
    if hasattr(X, "toarray"):
        raise ValueError("Rows must be a dense array, got a sparse one: hand over X.toarray().")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError("Rows must be numbers, got masked values: fill in numbers, or leave the rows out.")
    try:
        rows = np.asarray(X)
    except ValueError:
        raise ValueError(f"Rows must all have {expected.n_features} numbers, got {X!r:.80}.") from None
    strange = _strange(rows)
    if strange is None:
        return _floats(rows)
    where, value = strange
    place = f" in {_place(expected, *where)}" if rows.ndim == 2 else ""
    raise ValueError(
        f"Rows must be numbers, one for each of {expected.n_features} features, got {value!r:.80}{place}."
    )


def _whole(table: Any, names: Sequence[str], expected: Expected) -> AnyArray | None:
    """All columns of a frame at once, if they are the model's, in their order, and floats."""
    if names != list(expected.names or names) or not hasattr(table, "to_numpy"):
        return None
    whole = np.asarray(table.to_numpy())
    return _floats(whole) if whole.dtype.kind == "f" else None


def _columns(expected: Expected, table: Any, names: Sequence[str]) -> AnyArray:
    """The model's columns of a table, or all of them if its features have no names."""
    wanted, there = list(expected.names or names), set(names)
    absent = [name for name in wanted if name not in there]
    if absent:
        hint = suggestion(absent[0], names)
        raise TableError(f"The table has no column {', '.join(map(repr, absent))}.{hint}")
    columns = [_column(table, name) for name in wanted]
    lengths = {name: len(column) for name, column in zip(wanted, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise TableError(f"All columns must be of one length, got {lengths}.")
    return np.stack(columns, axis=1) if columns else np.empty((0, 0))


def _column(table: Any, name: str) -> AnyArray:
    """One column as floats."""
    column = column_of(table, name)
    if column.ndim != 1:
        raise TableError(f"Column {name!r} must be one value per row, got {column.ndim} dimensions.")
    strange = _strange(column)
    if strange is not None:
        raise TableError.of(name, "hold numbers", strange[1], strange[0][0])
    return _floats(column)


def _strange(values: AnyArray) -> tuple[tuple[int, ...], Any] | None:
    """Place and value of the first that is no number, if there is one; text never is, whatever it says."""
    if values.dtype.kind in "fiub":
        return None
    for place, value in np.ndenumerate(values):
        if value is None and values.ndim:  # a gap
            continue
        if values.dtype.kind != "O" or not _is_float(value):
            return place, value.item() if isinstance(value, np.str_ | np.complexfloating) else value
    return None


def _is_float(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str | bytes)


def _floats(values: AnyArray) -> AnyArray:
    return values if values.dtype in (np.float64, np.float32) else values.astype(np.float64)


def _wrong_shape(expected: Expected, shape: tuple[int, ...], one_row: bool) -> str:
    n_columns = expected.n_columns
    listed = ""
    if expected.names is not None and len(expected.names) <= LISTED:
        listed = f" ({', '.join(map(repr, expected.names))})"
    shapes = f"(n, {n_columns})"
    if one_row:
        shapes = f"({n_columns},) for one row, or {shapes}"
    elif len(shape) != 2:
        return f"X must be of shape {shapes}, got {shape}. Reshape your data: one row is X.reshape(1, -1)."
    n_features = shape[-1] if shape else 0
    return (
        f"X has {n_features} features, but {expected.called} is expecting {n_columns} features as input"
        f"{listed}: X must be of shape {shapes}, got {shape}."
    )


def _place(expected: Expected, row: int, feature: int) -> str:
    names = expected.names
    known = names is not None and feature < len(names)
    return f"row {row}, feature {names[feature]!r}" if names and known else f"row {row}, feature {feature}"
