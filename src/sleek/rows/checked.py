"""Checks of rows as they are read: features and targets are finite, labels not missing, weights positive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.outputs.labels import Labels
from sleek.rows.encoding import Encoding
from sleek.rows.raw import RawBlock
from sleek.tables.columns import NumberColumn
from sleek.tables.errors import TableError
from sleek.tables.inputs import Inputs
from sleek.tables.values import Columns


class NoRowsError(ValueError):
    """There are no rows to work on: none at all, or none of positive weight."""


def that_count(chunks: Iterable[RawBlock]) -> Iterator[RawBlock]:
    """The rows of positive weight."""
    for chunk in chunks:
        if chunk.s.shape != (len(chunk),):
            raise ValueError(f"Weights must be a 1D array, got shape {chunk.s.shape} for {len(chunk)} rows.")
        bad = np.flatnonzero(~((chunk.s >= 0) & (chunk.s < np.inf)))
        if len(bad):
            raise ValueError(
                f"Weights must be finite and not negative, got {chunk.s[bad[0]]} in "
                f"{chunk.words(int(bad[0]))}. A weight of 0 leaves a row out."
            )
        counts = chunk.s > 0
        yield chunk if counts.all() else chunk.take(np.flatnonzero(counts))


def ready(
    block: RawBlock,
    reads: str | None,
    names: Sequence[str] | None,
    n_features: int | None,
    encoding: Encoding | None = None,
) -> RawBlock:
    """The block as tasks get it: floats, or labels, checked.

    Parameters
    ----------
    names : names of the features, or None
    n_features : int or None
        None: features are not wanted.
    encoding : Encoding or None
        What becomes of columns; None: features are numbers as they are.
    """
    X = None
    if n_features is not None:
        if encoding is not None:
            X = encoding.apply(block)
        elif isinstance(block.X, Columns):
            X = _plain_features(block, block.X, names)
        else:
            X = _check_features(block, n_features, names)
    y: Any = None
    if reads == "labels":
        y = _check_labels(block)
    elif reads == "numbers":
        y = _check_numbers(block)
    return replace(block, X=X, y=y)


def _plain_features(block: RawBlock, columns: Columns, names: Sequence[str] | None) -> FloatArray:
    """Columns of numbers, or truth values, without a gap, side by side."""
    inputs = Inputs(tuple(NumberColumn(name) for name in names or columns.values))
    X = np.empty((len(columns), len(inputs.columns)))
    try:
        values = inputs.read_numbers(columns.values)
        for place, column in enumerate(inputs.columns):
            X[:, place] = column.settle(values[column.name])
    except TableError as error:
        raise error.at(block.words) from None
    return X


def _check_features(block: RawBlock, n_features: int, names: Sequence[str] | None) -> FloatArray:
    if block.X is None or block.X.shape != (len(block), n_features):
        got = None if block.X is None else f"shape {block.X.shape}"
        raise ValueError(f"Features must have shape ({len(block)}, {n_features}), got {got}.")
    X = np.ascontiguousarray(block.X, dtype=np.float64)
    check_finite(X, names, block.words)
    return X


def check_finite(X: AnyArray, names: Sequence[str] | None, words: Callable[[int], Any]) -> None:
    """Refuse features (n, d) that are not finite, with words for the row of the first that is not."""
    if all_finite(X):
        return
    row, column = (int(numbers[0]) for numbers in np.nonzero(~np.isfinite(X)))
    value = X[row, column]
    raise ValueError(
        f"Input X contains {'NaN' if np.isnan(value) else 'infinity'}: feature "
        f"{f'number {column}' if names is None else repr(names[column])} is {value} in {words(row)}. "
        "Fill in a number, or leave the row or the feature out."
    )


def _check_labels(block: RawBlock) -> Labels:
    if isinstance(block.y, Labels):
        return block.y
    y = _targets(block)
    if y.ndim != 1:
        raise ValueError(f"Class labels must be a 1D array, got shape {y.shape}.")
    missing = _first_missing(y)
    if missing is not None:
        raise ValueError(
            f"There must be a class label in every row, but there is {y[missing]} in {block.words(missing)}."
        )
    return Labels.of(y)


def _first_missing(labels: AnyArray) -> int | None:
    """The first row whose label is None or NaN."""
    if labels.dtype.kind not in "fO":
        return None
    return next((row for row, label in enumerate(labels.tolist()) if label is None or label != label), None)


def _check_numbers(block: RawBlock) -> FloatArray:
    y = _targets(block)
    refuse_text(y)
    y = np.ascontiguousarray(y[:, None] if y.ndim == 1 else y, dtype=np.float64)
    if not all_finite(y):
        row, column = (int(numbers[0]) for numbers in np.nonzero(~np.isfinite(y)))
        raise ValueError(
            f"Targets must be finite numbers, got {y[row, column]} in {block.words(row)}. "
            "Fill in a number, or leave the row out."
        )
    return y


def refuse_text(y: Any) -> None:
    """Refuse targets that are numbers written as text: what a mark in them means, a table has to say.

    >>> refuse_text([0.5, 1])
    >>> refuse_text(["0,5", "1"])
    Traceback (most recent call last):
    ValueError: Targets must be numbers, got the text '0,5'. Turn them into numbers first; `Files` reads text.
    """
    values = y
    if not isinstance(y, list | tuple):
        array = np.asarray(y)
        values = array.ravel().tolist() if array.dtype.kind in "OSUT" else []
    text = next((value for value in values if isinstance(value, str | bytes)), None)
    if text is not None:
        raise ValueError(
            f"Targets must be numbers, got the text {text!r}. "
            "Turn them into numbers first; `Files` reads text."
        )


def _targets(block: RawBlock) -> AnyArray:
    if block.y is None:
        raise ValueError("The rows have no targets: there is nothing to learn from.")
    targets: AnyArray = block.y
    return targets


def all_finite(values: FloatArray) -> bool:
    """Whether all are; their sum is, unless it overflows: then it is worth a closer look."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    return bool(np.isfinite(total) or np.isfinite(values).all())


def rows_changed_error(before: int, now: int | str) -> ValueError:
    """The error of a source that has other rows than it had when they were counted."""
    return ValueError(
        f"The rows have changed since they were counted: {before} of them have had a positive weight, now it "
        f"is {now}. A source must hand out the same rows whenever it is asked."
    )
