"""What a model is given as rows, checked: every way to hand it the wrong thing has a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.types import AnyArray
from sleek.rows.table import encoded_rows, filled
from sleek.tables.encoded import EncodedTable
from sleek.tables.errors import suggestion
from sleek.tables.frames import column_names, column_of, is_frame

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel

LISTED = 20  # names of features in a message


def rows_of(model: KernelModel, X: Any, *, one_row: bool = False) -> AnyArray | EncodedTable:
    """The features (n, d), finite, of an array or a table, in the model's order; float32 stays float32.

    Columns of a table are found by name, whatever their order, and those that the model does not read are
    ignored; they become features when rows are asked for. An array without names has the features, or if the
    model reads a table and that is something else, its columns. `one_row` lets a row alone, of shape (d,),
    stand for a matrix of one.
    """
    names = column_names(X)
    if model.inputs is not None and (is_frame(X) or _has_columns(model, X)):
        named = None if names is None else model.inputs.names
        return encoded_rows(model.inputs, X, named, len(model.inputs.columns))
    rows = _numbers(model, X) if names is None else _columns(model, X, names)
    if rows.ndim not in ((1, 2) if one_row else (2,)) or rows.shape[-1] != model.n_features:
        raise ValueError(_wrong_shape(model, rows.shape, one_row))
    rows = np.atleast_2d(rows)
    if model.facts is not None and model.facts.typical is not None and not np.isfinite(rows.sum()):
        rows = filled(rows, model.facts.typical)
    with np.errstate(over="ignore", invalid="ignore"):
        total = rows.sum()  # finite if all are, unless it overflows: then it is worth a closer look
    if not np.isfinite(total):
        bad = np.argwhere(~np.isfinite(rows))
        if len(bad):
            raise ValueError(f"Rows must be finite, got {rows[tuple(bad[0])]} in {_place(model, *bad[0])}.")
    return rows


def _has_columns(model: KernelModel, X: Any) -> bool:
    """Whether an array has the columns that the model reads, and not its features."""
    if model.inputs is None or not isinstance(X, np.ndarray) or X.ndim != 2:
        return False
    if X.shape[1] != len(model.inputs.columns):
        return False
    return bool(X.shape[1] != model.n_features or X.dtype.kind not in "fiub" or np.isnan(X).any())


def _numbers(model: KernelModel, X: Any) -> AnyArray:
    """An array of floats, whatever its shape."""
    if hasattr(X, "toarray"):
        raise ValueError("Rows must be a dense array, got a sparse one: hand over X.toarray().")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError("Rows must be numbers, got masked values: fill in numbers, or leave the rows out.")
    try:
        rows = np.asarray(X)
    except ValueError:
        raise ValueError(f"Rows must all have {model.n_features} numbers, got {X!r:.80}.") from None
    strange = _strange(rows)
    if strange is None:
        return _floats(rows)
    where, value = strange
    place = f" in {_place(model, *where)}" if rows.ndim == 2 else ""
    raise ValueError(
        f"Rows must be numbers, one for each of {model.n_features} features, got {value!r:.80}{place}."
    )


def _columns(model: KernelModel, table: Any, names: list[str]) -> AnyArray:
    """The model's columns of a table, or all of them if its features have no names."""
    wanted = list(model.feature_names or names)
    absent = [name for name in wanted if name not in set(names)]
    if absent:
        hint = suggestion(absent[0], names)
        raise ValueError(f"The table has no column {', '.join(map(repr, absent))}.{hint}")
    if names == wanted and hasattr(table, "to_numpy"):
        whole = np.asarray(table.to_numpy())
        if whole.dtype.kind == "f":
            return _floats(whole)
    columns = [_column(table, name) for name in wanted]
    lengths = {name: len(column) for name, column in zip(wanted, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"All columns must be of one length, got {lengths}.")
    return np.stack(columns, axis=1) if columns else np.empty((0, 0))


def _column(table: Any, name: str) -> AnyArray:
    """One column as floats."""
    column = column_of(table, name)
    if column.ndim != 1:
        raise ValueError(f"Column {name!r} must be one value per row, got {column.ndim} dimensions.")
    strange = _strange(column)
    if strange is not None:
        raise ValueError(f"Column {name!r} must hold numbers, got {strange[1]!r:.80} in row {strange[0][0]}.")
    return _floats(column)


def _strange(values: AnyArray) -> tuple[tuple[int, ...], Any] | None:
    """Place and value of the first that is no number, if there is one; text never is, whatever it says."""
    if values.dtype.kind in "fiub":
        return None
    for place, value in np.ndenumerate(values):
        if values.dtype.kind != "O" or not _is_number(value):
            return place, value.item() if isinstance(value, np.str_ | np.complexfloating) else value
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str | bytes)


def _floats(values: AnyArray) -> AnyArray:
    return values if values.dtype in (np.float64, np.float32) else values.astype(np.float64)


def _wrong_shape(model: KernelModel, shape: tuple[int, ...], one_row: bool) -> str:
    shapes = f"(n, {model.n_features})"
    if one_row:
        shapes = f"({model.n_features},) for one row, or {shapes}"
    elif len(shape) == 1:
        shapes += " (for one row X.reshape(1, -1))"
    return (
        f"A row must have the model's {model.n_features} features{_listed(model)}: X must be of shape "
        f"{shapes}, got {shape}."
    )


def _place(model: KernelModel, row: int, feature: int) -> str:
    names = model.feature_names
    known = names is not None and feature < len(names)
    return f"row {row}, feature {names[feature]!r}" if names and known else f"row {row}, feature {feature}"


def _listed(model: KernelModel) -> str:
    names = model.feature_names
    return f" ({', '.join(map(repr, names))})" if names is not None and len(names) <= LISTED else ""
