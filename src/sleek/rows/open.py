"""The one door for rows: whatever a user hands to an estimator comes in here.

Arrays and what NumPy turns into arrays are checked and become `ArrayRows`; anything that is `Rows` already
comes in as it is. Nothing behind this door asks where rows are from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from sleek._runtime.checks import check_weights
from sleek._runtime.types import AnyArray
from sleek.outputs.labels import Labels
from sleek.rows.arrays import ArrayRows
from sleek.rows.checked import all_finite
from sleek.rows.rows import Rows

FLOATS = (np.float64, np.float32)


def open_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, reads: str) -> Rows:
    """Rows to learn from; the estimator learns the number and names of its features.

    Parameters
    ----------
    estimator : the estimator that will be fitted
    X : Rows, or array-like of shape (n_samples, n_features)
        `Rows` have targets and weights with them.
    y, sample_weight : array-like or None
    reads : {"labels", "numbers"}
        What the target is.
    """
    if isinstance(X, Rows):
        _check_alone(X, y, sample_weight)
        estimator.n_features_in_ = X.n_features
        vars(estimator).pop("feature_names_in_", None)
        if X.feature_names is not None:
            estimator.feature_names_in_ = np.array(X.feature_names, dtype=object)
        return X
    if reads == "labels":
        y = _of_one_kind(np.asarray(y)) if hasattr(y, "dtype") else y  # NA would puzzle scikit-learn
        X, y = checked_data(estimator, X, y, dtype=FLOATS, ensure_min_samples=2)
        y = _of_one_kind(y)
        check_classification_targets(y)
    else:
        X, y = checked_data(
            estimator, X, y, dtype=FLOATS, ensure_min_samples=2, multi_output=True, y_numeric=True
        )
    s, flat, names = check_weights(sample_weight, len(X)), y.ndim == 1, feature_names_of(estimator)
    targets = Labels.of(y) if reads == "labels" else np.asarray(y, dtype=np.float64).reshape(len(X), -1)
    return ArrayRows.that_count(X, targets, s, names, flat)


def open_features(estimator: Any, X: Any) -> Rows:
    """Rows to predict, with the features that the estimator was fitted to, in their order."""
    if isinstance(X, Rows):
        return X.with_features(feature_names_of(estimator), estimator.n_features_in_)
    return ArrayRows(checked_data(estimator, X, reset=False, dtype=FLOATS))


def checked_data(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """scikit-learn's `validate_data`, with a sentence that says where X is not finite."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError("Input X contains masked values: fill in numbers, or leave the rows out.")
    checked = validate_data(estimator, X, *y, ensure_all_finite=False, **options)
    rows = checked[0] if y else checked
    if not all_finite(rows):
        row, column = (int(numbers[0]) for numbers in np.nonzero(~np.isfinite(rows)))
        names, value = feature_names_of(estimator), rows[row, column]
        raise ValueError(
            f"Input X contains {'NaN' if np.isnan(value) else 'infinity'}: feature "
            f"{f'number {column}' if names is None else repr(names[column])} is {value} in row {row}. "
            "Fill in a number, or leave the row or the feature out."
        )
    return checked


def has_targets(X: Any) -> bool:
    """Whether rows bring their targets and weights with them."""
    return isinstance(X, Rows)


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


def _of_one_kind(labels: AnyArray) -> AnyArray:
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
