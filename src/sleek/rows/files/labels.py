"""Class labels of files: what they are, and the codes that stand for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.rows.files.blocks import Origin

INTEGER = re.compile(r"[+-]?[0-9]+")
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


@dataclass(frozen=True, eq=False)
class LabelCoding:
    """The classes in order, and the factor by which the weight of a row of each is multiplied (None: 1).

    `strangers` says whether there may be labels that are no class.
    """

    classes: AnyArray
    factor: FloatArray | None = None
    strangers: bool = False

    def position(self, labels: AnyArray) -> IntArray:
        """The code of each label, -1 for a stranger; text is read as what the classes are.

        >>> LabelCoding(np.array([1, 5]), strangers=True).position(np.array(["5", "1.0", "01"], dtype=object))
        array([ 1, -1,  0])
        """
        values = labels.tolist()
        if labels.dtype == object and self.classes.dtype.kind in "iufb":
            values = [_read(text, self.classes.dtype.kind) for text in values]
        known = {label: code for code, label in enumerate(self.classes.tolist())}
        codes = np.array([known.get(value, -1) for value in values], dtype=np.int64)
        if not self.strangers and (codes < 0).any():
            raise ValueError(
                f"There is a new class label {labels[codes < 0].tolist()[0]!r}: the files have changed since "
                "their labels were counted. Fit again when they are complete."
            )
        return codes


def read_labels(texts: AnyArray) -> AnyArray:
    """Labels that were written as text, as what all can be: whole numbers, numbers, truth values or text.

    >>> read_labels(np.array(["1", "02"], dtype=object)), read_labels(np.array(["1", "x"], dtype=object))
    (array([1, 2]), array(['1', 'x'], dtype=object))
    """
    for kind, dtype in (("i", np.int64), ("f", np.float64), ("b", np.bool_)):
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
    return int(text) if INTEGER.fullmatch(text) and abs(int(text)) < 2**63 else None


def sorted_labels(name: str, origin: Origin, column: Any) -> tuple[AnyArray, IntArray]:
    """The different labels of an Arrow column, sorted, and the code of each row."""
    from pyarrow import types

    if column.null_count:
        missing = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
        raise ValueError(
            f"Column {name!r} must hold a class label in every row, but has none in {origin.where(missing)}."
        )
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_decimal(column.type):
        column = column.cast("string").cast("float64")
    encoded = column.dictionary_encode()
    labels, inverse = np.unique(encoded.dictionary.to_numpy(zero_copy_only=False), return_inverse=True)
    codes: IntArray = inverse[encoded.indices.to_numpy()]
    if labels.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(labels)[codes])
        if len(bad):
            raise ValueError(
                f"Column {name!r} must hold a class label in every row, but has {labels[codes[bad[0]]]} in "
                f"{origin.where(bad)}."
            )
    check_discrete(labels)
    return labels, codes


def check_discrete(labels: AnyArray) -> None:
    """Labels that are no measurements, in scikit-learn's sentence."""
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        check_classification_targets(labels)
