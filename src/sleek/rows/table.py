"""Tables in memory as rows: data frames of any make, and arrays with gaps or categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from sleek._runtime.types import AnyArray, FloatArray
from sleek._runtime.warn import warn
from sleek.outputs.labels import Labels
from sleek.rows.checked import all_finite
from sleek.tables.encoded import EncodedTable
from sleek.tables.errors import TableError
from sleek.tables.frames import columns_by_name, is_frame, place_names
from sleek.tables.inputs import Inputs
from sleek.tables.learning import Learnt, learn_columns
from sleek.tables.reading import is_number
from sleek.tables.values import Coded, Numbers, Values


def table_of(X: Any, categorical: Any) -> dict[str, Values] | None:
    """The columns of X if it is a table; None for plain numbers without a gap, which are rows as they are."""
    if hasattr(X, "toarray") or isinstance(X, np.ma.MaskedArray):
        return None
    if isinstance(X, Mapping):
        return columns_by_name(X)
    if is_frame(X):
        columns = columns_by_name(X)
        plain = all(_is_plain(values) for values in columns.values())
        return None if plain and categorical is None else columns
    if categorical is None and not _array_has_gaps(X):
        return None
    array = np.asarray(X)
    return columns_by_name(array) if array.ndim == 2 else None


def _is_plain(values: Values) -> bool:
    """Whether they are numbers, or truth values, without a gap: what NumPy takes for an array."""
    if isinstance(values, Coded):
        truths = all(isinstance(value, bool | np.bool_) for value in values.values)
        return truths and bool((values.array >= 0).all())
    return isinstance(values, Numbers) and not _has_gaps(values.array)


def _array_has_gaps(X: Any) -> bool:
    """Whether it is an array of numbers of which some are missing."""
    try:
        array = np.asarray(X)
    except (ValueError, TypeError):  # of rows that are not of one length
        return False
    if array.dtype.kind == "f":
        return _has_gaps(array)
    if array.dtype.kind != "O" or array.ndim != 2:
        return False
    gaps, numbers = 0, 0
    for value in array.ravel().tolist():
        if value is None or (is_number(value) and value != value):
            gaps += 1
        elif is_number(value):
            numbers += 1
        else:
            return False
    return gaps > 0


def _has_gaps(array: AnyArray) -> bool:
    return array.dtype.kind == "f" and not all_finite(array) and bool(np.isnan(array).any())


def category_names(categorical: Any, names: Sequence[str]) -> list[str]:
    """Columns that are categories whatever they hold: by name, by place, or by a mask of truth values."""
    if categorical is None or (isinstance(categorical, str) and categorical == "from_dtype"):
        return []
    items = [categorical] if isinstance(categorical, str) else np.asarray(categorical).tolist()
    rule = "`categorical_features` must be names or places of columns, or a truth value for each,"
    if all(isinstance(item, bool) for item in items):
        if len(items) != len(names):
            raise ValueError(f"{rule} got {len(items)} truth values for {len(names)} columns.")
        return [name for name, chosen in zip(names, items, strict=True) if chosen]
    found = []
    for item in items:
        if isinstance(item, int) and -len(names) <= item < len(names):
            found.append(names[item])
        elif isinstance(item, str) and item in names:
            found.append(item)
        else:
            raise ValueError(f"{rule} got {item!r} for the columns {', '.join(map(repr, names))}.")
    return found


def remember_columns(estimator: Any, X: Any, columns: Mapping[str, Values]) -> None:
    """What scikit-learn keeps of the features: how many there were, and what they were called."""
    if isinstance(X, Mapping):
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = len(columns)
        estimator.feature_names_in_ = np.array(list(columns), dtype=object)
    else:
        validate_data(estimator, X, skip_check_array=True)


def targets_of(y: Any) -> FloatArray:
    """Labels or numbers as columns that means can be taken of."""
    if not isinstance(y, Labels):
        return np.asarray(y, dtype=np.float64)
    first = 1 if len(y.values) == 2 else 0
    return np.asarray(y.codes[:, None] == np.arange(first, len(y.values)), dtype=np.float64)


def learn_table(
    estimator: Any, columns: Mapping[str, Values], categories: Sequence[str], y: Any, s: FloatArray
) -> Learnt:
    """What columns become; those of no use are left out with a warning."""
    learnt = learn_columns(columns, categories, targets_of(y), s)
    if not learnt.inputs.columns:
        listed = "\n".join(learnt.left_out.values())
        raise TableError(f"There is no column to learn from.\n{listed}")
    left_out = [f"{sentence} It is left out." for sentence in learnt.left_out.values()]
    if left_out:
        warn("\n".join(left_out))
    estimator.column_notes_ = learnt.notes + left_out
    return learnt


def encoded_rows(inputs: Inputs, X: Any, names: Sequence[str] | None, n_columns: int) -> EncodedTable:
    """New rows for a model that reads a table; what it has never seen is counted in a warning.

    Parameters
    ----------
    inputs : Inputs
    X : data frame, mapping of columns, or array
    names : names of all columns that the estimator was fitted to, or None
    n_columns : int
        How many these were: columns of an array are found by their places.
    """
    if isinstance(X, Mapping):
        columns: Any = X
    elif is_frame(X):
        columns = X if names is not None else columns_by_name(X)
    else:
        array = np.asarray(X)
        if array.ndim != 2 or array.shape[1] != n_columns:
            raise TableError(f"Rows must have the {n_columns} columns of the fit, got shape {array.shape}.")
        found = columns_by_name(array)
        columns = dict(zip(names or place_names(n_columns), found.values(), strict=True))
    values = inputs.find(columns)
    table = EncodedTable.of(inputs, values)
    notes = [
        f"{note[0].upper()}{note[1:]}."
        for column, settled in zip(inputs.columns, table.settled, strict=True)
        for note in column.notes(settled, values[column.name])
    ]
    if notes:
        warn("\n".join(notes))
    return table


def filled(rows: AnyArray, fill: FloatArray) -> AnyArray:
    """Rows with what is typical of a feature where it is NaN, counted in a warning: training had no gaps."""
    gaps = np.isnan(rows)
    if not gaps.any():
        return rows
    warn(
        f"{int(gaps.sum()):,} missing values, of which training had none, are taken as the medians.",
    )
    return np.where(gaps, fill.astype(rows.dtype), rows)
