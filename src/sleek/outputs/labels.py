"""Class labels of rows: the distinct values, and an integer code for each row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sleek._runtime.checks import is_missing
from sleek._runtime.types import AnyArray, IntArray

MOST_RANGE = 10_000  # of whole numbers as labels, for a table of them
INTEGER = re.compile(r"[+-]?[0-9]+")
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of some rows: different values, sorted, and for each row the place of its own.

    >>> labels = Labels.of(np.array([7, 3, 7, 4]))
    >>> labels.values, labels.codes, len(labels[:2])
    (array([3, 4, 7]), array([2, 0, 2, 1]), 2)
    """

    values: AnyArray
    codes: IntArray
    untyped: bool = False  # text of a file, which may be numbers: decided when all labels are known

    @classmethod
    def of(cls, y: AnyArray) -> Labels:
        """Those of an array, as ``np.unique``; a small range of whole numbers is looked up, not sorted."""
        if y.dtype.kind not in "iu" or len(y) == 0 or int(y.max()) - int(y.min()) > MOST_RANGE:
            values, codes = np.unique(y, return_inverse=True)
            return cls(values, codes)
        least = y.min()
        shifted = y.astype(np.int64) - least.astype(np.int64)  # modulo 2⁶⁴: unsigned numbers too
        seen = np.zeros(int(shifted.max()) + 1, dtype=bool)
        seen[shifted] = True
        position = np.cumsum(seen) - 1
        return cls(np.flatnonzero(seen).astype(y.dtype) + least, position[shifted])

    @classmethod
    def join(cls, parts: Sequence[Labels]) -> Labels:
        """Those of several stretches of rows, one after the other."""
        if all(part.values is parts[0].values for part in parts):
            return replace(parts[0], codes=np.concatenate([part.codes for part in parts]))
        values = np.unique(np.concatenate([part.values for part in parts]))
        codes = [np.searchsorted(values, part.values)[part.codes] for part in parts]
        return cls(values, np.concatenate(codes), parts[0].untyped)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Labels:
        return replace(self, codes=self.codes[rows])


def check_one_label(y: Any) -> None:
    """That there is one label for each row, not several, and no columns that code classes."""
    shape = getattr(y, "shape", None)
    if shape is not None:
        n_columns = shape[1] if len(shape) == 2 else 1
    else:
        labels = y if isinstance(y, list | tuple) else ()
        n_columns = max((len(label) for label in labels if isinstance(label, list | tuple | set)), default=1)
    if n_columns > 1:
        raise ValueError(
            f"A classifier predicts one label for each row, but y has {n_columns} columns. For several "
            "targets, fit a classifier to each column, as sklearn.multioutput.MultiOutputClassifier does; "
            "where columns code one class, give y.argmax(axis=1)."
        )


def positions(labels: AnyArray, classes: AnyArray) -> IntArray:
    """The place of each label among the classes, -1 for none of them; text is read as what the classes are.

    >>> positions(np.array(["5", "1.0", "01"], dtype=object), np.array([1, 5]))
    array([ 1, -1,  0])
    """
    if labels is classes:
        return np.arange(len(classes))
    values = labels.tolist()
    if labels.dtype.kind in "OU" and classes.dtype.kind in "iufb":
        values = [_read(text, classes.dtype.kind) if isinstance(text, str) else text for text in values]
    known = {label: code for code, label in enumerate(classes.tolist())}
    return np.array([known.get(value, -1) for value in values], dtype=np.int64)


def read_labels(texts: AnyArray) -> AnyArray:
    """Labels that were written as text, as what all can be: whole numbers, numbers, truth values or text.

    >>> read_labels(np.array(["1", "02"], dtype=object)), read_labels(np.array(["1", "x"], dtype=object))
    (array([1, 2]), array(['1', 'x'], dtype=object))
    """
    for kind, dtype in (("i", np.int64), ("u", np.uint64), ("f", np.float64), ("b", np.bool_)):
        values = [_read(text, kind) for text in texts.tolist()]
        if None not in values:
            return np.array(values, dtype=dtype)
    return texts


def _read(text: str, kind: str) -> int | float | bool | None:
    """Text as a value of the dtype's kind, None if it is no such value."""
    if kind == "b":
        return TRUTH.get(text)
    if kind == "f":
        return float(text) if DECIMAL.fullmatch(text) else None
    if kind == "u":
        return int(text) if INTEGER.fullmatch(text) and 0 <= int(text) < 2**64 else None
    return int(text) if INTEGER.fullmatch(text) and abs(int(text)) < 2**63 else None


def of_one_kind(labels: AnyArray) -> AnyArray:
    """Labels that came as Python objects, as what all of them are: text, or numbers or truth values."""
    if labels.dtype.kind != "O":
        return labels
    values = labels.tolist()
    missing = next((row for row, label in enumerate(values) if is_missing(label)), None)
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
