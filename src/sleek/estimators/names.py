"""Names of the columns that an estimator was fitted to."""

from __future__ import annotations

from typing import Any

from sleek.rows.opening import is_dask
from sleek.rows.rows import Rows
from sleek.tables.frames import column_names


def feature_names_of(estimator: Any) -> tuple[str, ...] | None:
    """The names of the columns that an estimator has seen."""
    names = vars(estimator).get("feature_names_in_")
    return None if names is None else tuple(names.tolist())


def check_names(estimator: Any, X: Any, fitted: tuple[str, ...] | None) -> None:
    """scikit-learn's rule for data frames: the columns of the fit, in their order; its own words if not.

    A dictionary of columns, and rows that are kept elsewhere, are read by names alone.
    """
    if isinstance(X, dict | Rows) or is_dask(X):
        return
    names = column_names(X)
    if (None if names is None else tuple(names)) == fitted:
        return
    from sklearn.utils.validation import validate_data

    validate_data(estimator, X, reset=False, skip_check_array=True)
