"""What a model is given as rows, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sleek._runtime.types import AnyArray
from sleek.rows.predicting import Expected, rows_to_predict
from sleek.tables.encoded import EncodedTable

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel


def rows_of(model: KernelModel, X: Any, *, one_row: bool = False) -> AnyArray | EncodedTable:
    """The features (n, d), finite, of an array or a table, in the model's order; float32 stays float32.

    `one_row` lets a row alone, of shape (d,), stand for a matrix of one.
    """
    return rows_to_predict(X, expected_by(model), one_row)


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
