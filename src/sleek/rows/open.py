"""The one door for rows: whatever a user hands to an estimator comes in here.

Arrays and what NumPy turns into arrays are checked and become `ArrayRows`, and so do tables, whose columns
become features block by block; anything that is `Rows` already comes in as it is. Nothing behind this door
asks where rows are from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from sleek._runtime.checks import check_weights
from sleek._runtime.types import AnyArray, FloatArray
from sleek.outputs.labels import Labels
from sleek.rows.arrays import ArrayRows
from sleek.rows.checked import all_finite
from sleek.rows.rows import Rows
from sleek.rows.table import category_names, encoded_rows, filled, learn_table, remember_columns, table_of
from sleek.tables.encoded import EncodedTable
from sleek.tables.values import Values

FLOATS = (np.float64, np.float32)
LABELS: dict[str, Any] = {"dtype": FLOATS, "ensure_min_samples": 2}
NUMBERS: dict[str, Any] = LABELS | {"multi_output": True, "y_numeric": True}


def open_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, reads: str) -> Rows:
    """Rows to learn from; the estimator learns the number and names of its features.

    Parameters
    ----------
    estimator : the estimator that will be fitted
    X : Rows, a Dask collection, a table, or array-like of shape (n_samples, n_features)
        `Rows` have targets and weights with them. A table is a data frame of any make, or an array with gaps
        or with categories.
    y, sample_weight : array-like or None
    reads : {"labels", "numbers"}
        What the target is.
    """
    vars(estimator).pop("column_notes_", None)
    given = rows_with_targets(X, y, sample_weight)
    if given is not None:
        rows = given.learnt(estimator, reads)
        vars(estimator).pop("feature_names_in_", None)
        given.remember(estimator, rows)
        return rows
    columns = table_of(X, getattr(estimator, "categorical_features", None))
    if columns is not None:
        return _open_table(estimator, X, columns, y, sample_weight, reads)
    if reads == "labels":
        y = of_one_kind(np.asarray(y)) if hasattr(y, "dtype") else y  # NA would puzzle scikit-learn
        X, y = checked_data(estimator, X, y, **LABELS)
    else:
        X, y = checked_data(estimator, X, y, **NUMBERS)
    targets, flat = _targets(y, reads)
    s, names = check_weights(sample_weight, len(X)), feature_names_of(estimator)
    return ArrayRows.that_count(X, targets, s, names, flat)


def _open_table(
    estimator: Any, X: Any, columns: dict[str, Values], y: Any, sample_weight: Any, reads: str
) -> Rows:
    """A table in memory; what its columns become is learnt from the rows of positive weight."""
    remember_columns(estimator, X, columns)
    categories = category_names(estimator.categorical_features, list(columns))
    some = np.zeros((len(next(iter(columns.values()), ())), 1))
    if reads == "labels":
        y = of_one_kind(np.asarray(y)) if hasattr(y, "dtype") else y
    _, y = check_X_y(some, y, estimator=estimator, **(LABELS if reads == "labels" else NUMBERS))
    targets, flat = _targets(y, reads)
    s, kept = check_weights(sample_weight, len(some)), None
    if not (s > 0).all():
        kept = np.flatnonzero(s > 0)
        columns = {name: values.take(kept) for name, values in columns.items()}
        targets, s = targets[kept], s[kept]
    learnt = learn_table(estimator, columns, categories, targets, s)
    encoded = EncodedTable.of(learnt.inputs, columns, learnt.by_fold, learnt.folds)
    return ArrayRows(encoded, targets, s, learnt.inputs.feature_names, flat, numbers=kept)


def _targets(y: AnyArray, reads: str) -> tuple[Any, bool]:
    """Checked targets as rows hand them out, and whether users gave one column of them."""
    if reads == "labels":
        y = of_one_kind(y)
        check_classification_targets(y)
        return Labels.of(y), True
    return np.asarray(y, dtype=np.float64).reshape(len(y), -1), y.ndim == 1


def open_features(estimator: Any, X: Any) -> Rows:
    """Rows to predict, with the features that the estimator was fitted to, in their order."""
    model, names = estimator.model_, feature_names_of(estimator)
    typical = None if model.facts is None else model.facts.typical
    if is_dask(X):
        X = _dask_rows(X, fill=typical)
    if isinstance(X, Rows):
        return (
            X.with_features(names, estimator.n_features_in_)
            if model.inputs is None
            else X.read_by(model.inputs)
        )
    if model.inputs is not None:
        if not isinstance(X, Mapping):
            validate_data(estimator, X, reset=False, skip_check_array=True)
        return ArrayRows(encoded_rows(model.inputs, X, names, estimator.n_features_in_))
    return ArrayRows(checked_data(estimator, X, reset=False, dtype=FLOATS, fill=typical))


def features_in_memory(estimator: Any, X: Any) -> AnyArray | EncodedTable:
    """Rows that are an array or a table, checked as those to predict."""
    rows = open_features(estimator, X)
    if not isinstance(rows, ArrayRows):
        raise TypeError(f"Rows must be an array, a table, or have their targets with them, got {type(X)}.")
    return rows.X


def checked_data(estimator: Any, X: Any, *y: Any, fill: FloatArray | None = None, **options: Any) -> Any:
    """scikit-learn's `validate_data`, with a sentence that says where X is not finite.

    With a `fill` for each feature NaN is filled, which is counted in a warning.
    """
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError("Input X contains masked values: fill in numbers, or leave the rows out.")
    checked = validate_data(estimator, X, *y, ensure_all_finite=False, **options)
    rows = checked[0] if y else checked
    if fill is not None and not all_finite(rows):
        rows = checked = filled(rows, fill)
    if not all_finite(rows):
        row, column = (int(numbers[0]) for numbers in np.nonzero(~np.isfinite(rows)))
        names, value = feature_names_of(estimator), rows[row, column]
        raise ValueError(
            f"Input X contains {'NaN' if np.isnan(value) else 'infinity'}: feature "
            f"{f'number {column}' if names is None else repr(names[column])} is {value} in row {row}. "
            "Fill in a number, or leave the row or the feature out."
        )
    return checked


def rows_with_targets(X: Any, y: Any = None, sample_weight: Any = None) -> Rows | None:
    """Rows that have their targets and weights with them, or Dask collections as such; None for arrays."""
    if is_dask(X):
        return _dask_rows(X, y, sample_weight)
    if not isinstance(X, Rows):
        return None
    _check_alone(X, y, sample_weight)
    return X


def is_dask(X: Any) -> bool:
    """Whether it is a Dask collection; nothing is imported to find out."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "npartitions")


def _dask_rows(*collections: Any, **options: Any) -> Rows:
    from sleek.rows.dask.rows import DaskRows

    return DaskRows(*collections, **options)


def feature_names_of(estimator: Any) -> tuple[str, ...] | None:
    """The names of the features that an estimator has seen."""
    names = vars(estimator).get("feature_names_in_")
    return None if names is None else tuple(names.tolist())


def _check_alone(X: Rows, y: Any, sample_weight: Any) -> None:
    if y is not None or sample_weight is not None:
        raise ValueError(
            f"{type(X).__name__} have their targets and weights with them, so `y` and `sample_weight` must "
            "be None."
        )


def of_one_kind(labels: AnyArray) -> AnyArray:
    """Labels that came as Python objects, as what all of them are: text, or numbers or truth values."""
    if labels.dtype.kind != "O":
        return labels
    values = labels.tolist()
    missing = next((row for row, label in enumerate(values) if _is_missing(label)), None)
    if missing is not None:
        raise ValueError(
            f"There must be a class label in every row, but there is {values[missing]} in row {missing} of y."
        )
    text, other = (
        [label for label in values if isinstance(label, str) is wanted] for wanted in (True, False)
    )
    if text and other:
        raise ValueError(
            f"Class labels must be of one kind, but some are text, such as {text[0]!r}, and others are not, "
            f"such as {other[0]!r}. Make them all text."
        )
    typed = np.array(values)
    return typed if typed.dtype.kind in "iufb" else labels


def _is_missing(label: Any) -> bool:
    """Whether it is None, NaN or pandas' NA, of which nobody can tell whether it is itself."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):
        return True
