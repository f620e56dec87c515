"""Rows that users hand to a model, arrays, tables, dictionaries, a Series, as its features, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.rows.predicting import Expected, rows_to_predict
from sleek.tables.encoded import EncodedTable

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel


def rows_of(model: KernelModel, X: Any, *, one_row: bool = False) -> AnyArray | EncodedTable:
    """The features (n, d), finite, of an array or a table, in the model's order; float32 stays float32.

    `one_row` lets a row alone, of shape (d,), stand for a matrix of one.
    """
    return rows_to_predict(X, model.expected, one_row)


def expected_by(
    model: KernelModel,
    names: tuple[str, ...] | None = None,
    n_columns: int | None = None,
    called: str = "the model",
) -> Expected:
    """What rows must look like: for a model by itself, or for an estimator fitted to these columns."""
    inputs, typical = model.inputs, None if model.facts is None else model.facts.typical
    fitted = n_columns is not None
    if n_columns is None:
        names = model.feature_names if inputs is None else inputs.names
        n_columns = model.n_features if inputs is None else len(inputs.columns)
    return Expected(names, n_columns, model.n_features, inputs, typical, called, fitted)


def features_of_rows(model: KernelModel, X: Any) -> FloatArray:
    """The features (n, n_features) of a row or several.

    Parameters
    ----------
    model : KernelModel
    X : a table or array of rows, or one row
        One row is a dictionary of values, a Series with the names of columns, or a list, either of the
        model's columns or of its features. Several rows may be a list of dictionaries.
    """
    rows = rows_of(model, _table(model, X), one_row=True)[:]
    found: FloatArray = rows.astype(np.float64, copy=False)
    return found


def _table(model: KernelModel, X: Any) -> Any:
    """One row, or dictionaries, as columns of values; anything else as it is."""
    if isinstance(X, Mapping):
        one = all(isinstance(value, str) or np.ndim(value) == 0 for value in X.values())
        return {str(name): [value] for name, value in X.items()} if one and X else X
    names = getattr(X, "index", None)
    if getattr(X, "ndim", 0) == 1 and names is not None and all(isinstance(name, str) for name in names):
        return {name: [value] for name, value in zip(names, X.tolist(), strict=True)}
    if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        return {str(name): [row.get(name) for row in X] for name in X[0]}
    if model.inputs is not None and _has_one_value_a_column(X, len(model.inputs.columns), model.n_features):
        return {name: [value] for name, value in zip(model.inputs.names, X, strict=True)}
    return X


def _has_one_value_a_column(X: Any, n_columns: int, n_features: int) -> bool:
    """Whether X is a list of values, one for each column of a table, and not of features."""
    if not isinstance(X, list | tuple | np.ndarray) or len(X) != n_columns:
        return False
    if any(np.ndim(value) and not isinstance(value, str) for value in X):
        return False
    numbers = all(isinstance(value, int | float | np.number) for value in X)
    return n_columns != n_features or not numbers or bool(np.isnan(np.asarray(X, dtype=float)).any())
