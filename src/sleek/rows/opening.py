"""Validation of training data: whatever a user hands to `fit` is checked here and becomes `Rows`.

Arrays and what NumPy turns into arrays are checked and become `ArrayRows`, and so do tables in memory, whose
columns become features block by block. `Rows` come in as they are, or, if they hand out columns, with the
features that these become. Nothing after this asks where rows are from, and nothing is written into an
estimator: what was learnt is returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.checks import check_weights
from sleek._runtime.types import AnyArray, IntArray
from sleek.outputs.labels import Labels, check_one_label, of_one_kind
from sleek.rows.arrays import ArrayRows
from sleek.rows.checked import all_finite, check_finite, refuse_text
from sleek.rows.grouping import group_numbers
from sleek.rows.rows import Rows
from sleek.rows.table_rows import ColumnRows, check_columns, learn_rows
from sleek.tables.frames import column_names, columns_by_name, is_dask, is_frame, place_names
from sleek.tables.reading import is_number
from sleek.tables.values import Coded, Columns, Numbers, Values

FLOATS = (np.float64, np.float32)
LABELS: dict[str, Any] = {"dtype": FLOATS, "ensure_min_samples": 2}
NUMBERS: dict[str, Any] = LABELS | {"multi_output": True, "y_numeric": True}


@dataclass(frozen=True, eq=False)
class Opened:
    """Rows to learn from, and what was learnt on the way in.

    Attributes
    ----------
    rows : Rows
    names : tuple of str or None
        The names of the columns that the user gave; None if they have none.
    n_columns : int
    notes : tuple of str
        What was filled, grouped and left out, and what is strange about the rows.
    """

    rows: Rows
    names: tuple[str, ...] | None
    n_columns: int
    notes: tuple[str, ...] = ()


def open_rows(
    X: Any,
    y: Any,
    sample_weight: Any,
    reads: str,
    categorical: Any = None,
    called: str | None = None,
    groups: Any = None,
) -> Opened:
    """Rows to learn from.

    Parameters
    ----------
    X : Rows, a Dask collection, a table, or array-like of shape (n_samples, n_features)
        `Rows` have targets and weights with them. A table is a data frame of any make, or an array with gaps
        or with categories.
    y, sample_weight : array-like or None
    reads : {"labels", "numbers"}
        What the target is.
    categorical : names, places or mask of columns whose numbers are codes, or None
    called : str or None
        What to call the estimator in messages.
    groups : array-like of labels, or None
        Rows of the same label belong together.
    """
    given = rows_with_targets(X, y, sample_weight, groups)
    if given is not None:
        return _open_given(given, reads, categorical)
    if column_names(X) == []:
        raise ValueError("There must be at least one column to learn from, but the table has none.")
    columns = _table_of(X, categorical)
    if columns is not None:
        return _open_table(X, columns, y, sample_weight, reads, categorical, called, groups)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError("Input X contains masked values: fill in numbers, or leave the rows out.")
    from sklearn.utils import check_X_y

    names = column_names(X)
    y = _given_targets(y, reads)
    options = LABELS if reads == "labels" else NUMBERS
    array, y = check_X_y(X, y, estimator=called, ensure_all_finite=False, **options)
    check_finite(array, names, "row {}".format)
    targets, flat = _targets(y, reads)
    known = None if names is None else tuple(names)
    s, together = check_weights(sample_weight, len(array)), _check_groups(groups, len(array))
    rows = ArrayRows.that_count(array, targets, s, known, flat, together)
    return Opened(rows, known, array.shape[1])


def _given_targets(y: Any, reads: str) -> Any:
    """Targets before scikit-learn looks at them: one label for each row, or numbers that are no text."""
    if reads == "labels":
        return _one_label_each(y)
    refuse_text(y)
    return y


def _open_given(given: Rows, reads: str, categorical: Any) -> Opened:
    """Rows that have their targets with them."""
    names = given.feature_names or tuple(place_names(given.n_features))
    named = category_names(categorical, names)
    if named and not given.tabular:
        raise ValueError("`categorical_features` are columns of a table, and these rows are numbers.")
    rows, learnt, notes = learn_rows(given, reads, list(dict.fromkeys([*given.category_columns, *named])))
    left_out = [] if learnt is None else check_columns(learnt)
    return Opened(rows, given.feature_names, given.n_features, (*given.notes, *notes, *left_out))


def _open_table(
    X: Any,
    columns: dict[str, Values],
    y: Any,
    sample_weight: Any,
    reads: str,
    categorical: Any,
    called: str | None,
    groups: Any,
) -> Opened:
    """A table in memory; what its columns become is learnt from the rows of positive weight."""
    from sklearn.utils import check_X_y

    categories = category_names(categorical, list(columns))
    table = Columns.of(columns)
    options = LABELS if reads == "labels" else NUMBERS
    y = _given_targets(y, reads)
    _, y = check_X_y(np.zeros((len(table), 1)), y, estimator=called, **options)
    targets, flat = _targets(y, reads)
    s, kept, together = check_weights(sample_weight, len(table)), None, _check_groups(groups, len(table))
    if not (s > 0).all():
        kept = np.flatnonzero(s > 0)
        table, targets, s = table.take(kept), targets[kept], s[kept]
        together = None if together is None else together[kept]
    rows, learnt = ColumnRows(table, targets, s, flat, numbers=kept, groups=together).learn(categories)
    notes = (*learnt.notes, *check_columns(learnt))
    names = column_names(X)
    return Opened(rows, None if names is None else tuple(names), len(columns), notes)


def _check_groups(groups: Any, n_rows: int) -> IntArray | None:
    """A number for each row's group, if there are groups."""
    if groups is None:
        return None
    found = group_numbers(groups)
    if len(found) != n_rows:
        raise ValueError(f"`groups` must have a label for each of {n_rows} rows, got {len(found)}.")
    return found


def rows_with_targets(X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Rows | None:
    """Rows that have their targets and weights with them, or Dask collections as such; None for arrays."""
    if is_dask(X):
        return dask_rows(X, y, sample_weight, groups)
    if not isinstance(X, Rows):
        return None
    if y is not None or sample_weight is not None or groups is not None:
        raise ValueError(
            f"{type(X).__name__} have their targets, weights and groups with them, so `y`, `sample_weight` "
            "and `groups` must be None."
        )
    return X


def dask_rows(X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Rows:
    """Dask collections as rows."""
    from sleek.rows.dask.dask_rows import DaskRows

    return DaskRows(X, y, sample_weight, groups=groups)


# -- targets -----------------------------------------------------------------------------------------------


def _one_label_each(y: Any) -> Any:
    """Labels as scikit-learn takes them: NA would puzzle it."""
    check_one_label(y)
    return of_one_kind(np.asarray(y)) if hasattr(y, "dtype") else y


def _targets(y: AnyArray, reads: str) -> tuple[Any, bool]:
    """Checked targets as rows hand them out, and whether users gave one column of them."""
    if reads == "labels":
        y = of_one_kind(y)
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
        return Labels.of(y), True
    return np.asarray(y, dtype=np.float64).reshape(len(y), -1), y.ndim == 1


# -- tables in memory --------------------------------------------------------------------------------------


def _table_of(X: Any, categorical: Any) -> dict[str, Values] | None:
    """The columns of X if it is a table; None for plain numbers without a gap, which are rows as they are."""
    if hasattr(X, "toarray") or isinstance(X, np.ma.MaskedArray):
        return None
    if is_frame(X):
        columns = columns_by_name(X)
        plain = all(_is_plain(values) for values in columns.values())
        if plain and categorical is None and not isinstance(X, Mapping):
            return None
        if plain or not any(isinstance(values, Coded) for values in columns.values()):
            return columns
        from sleek.tables.text import read_texts  # nothing is imported unless there is text

        return read_texts(columns, category_names(categorical, list(columns)))
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
    found, known = [], set(names)
    for item in items:
        if isinstance(item, int) and -len(names) <= item < len(names):
            found.append(names[item])
        elif isinstance(item, str) and item in known:
            found.append(item)
        else:
            raise ValueError(f"{rule} got {item!r} for the columns {', '.join(map(repr, names))}.")
    return found
