"""What a model is given as rows, checked: every way to hand it the wrong thing has a sentence."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.types import AnyArray
from sleek.tables.frames import column_names, column_of

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel

LISTED = 20  # names of features in a message


def rows_of(model: KernelModel, X: Any, *, one_row: bool = False) -> AnyArray:
    """The features (n, d), finite, of an array or a table, in the model's order.

    Columns of a table are found by name, whatever their order, and those that the model does not read are ignored.
    `one_row` lets a row alone, of shape (d,), stand for a matrix of one.
    """
    names = column_names(X)
    if model.inputs is not None and names is not None:
        return model.inputs.transform(X)
    if names is not None and model.feature_names is not None:
        X = _named_columns(model, X, names)
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy()
    try:
        rows = np.asarray(X)
        if rows.dtype.kind != "f" or rows.dtype.itemsize not in (4, 8):
            rows = rows.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"Rows must be numbers, one for each of {model.n_features} features, got {X!r:.80}."
        ) from None
    if one_row and rows.ndim == 1:
        rows = rows[None]
    if rows.ndim != 2 or rows.shape[1] != model.n_features:
        shapes = f"(n, {model.n_features})"
        if one_row:
            shapes = f"({model.n_features},) for one row, or {shapes}"
        elif rows.ndim == 1:
            shapes += " (for one row X.reshape(1, -1))"
        raise ValueError(
            f"A row must have the model's {model.n_features} features{_listed(model)}: X must be of shape "
            f"{shapes}, got {rows.shape}."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        total = rows.sum()  # finite if all are, unless it overflows: then it is worth a closer look
    if not np.isfinite(total):
        bad = np.argwhere(~np.isfinite(rows))
        if len(bad):
            row, feature = bad[0].tolist()
            name = f"{model.feature_names[feature]!r}" if model.feature_names else str(feature)
            raise ValueError(f"Rows must be finite, got {rows[row, feature]} in row {row}, feature {name}.")
    return rows


def _named_columns(model: KernelModel, table: Any, names: list[str]) -> AnyArray:
    wanted = model.feature_names or ()
    absent = [name for name in wanted if name not in names]
    if absent:
        near = get_close_matches(absent[0], names, n=1)
        hint = f" Is {near[0]!r} meant?" if near else ""
        raise ValueError(f"The table has no column {', '.join(map(repr, absent))}.{hint}")
    if names == list(wanted) and hasattr(table, "to_numpy"):
        return np.asarray(table.to_numpy())
    columns = [column_of(table, name) for name in wanted]
    lengths = {name: len(column) for name, column in zip(wanted, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"All columns must be of one length, got {lengths}.")
    try:
        return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
    except (TypeError, ValueError):
        raise ValueError(f"All of the columns{_listed(model)} must hold numbers.") from None


def _listed(model: KernelModel) -> str:
    names = model.feature_names
    return f" ({', '.join(map(repr, names))})" if names is not None and len(names) <= LISTED else ""
