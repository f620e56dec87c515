"""Class labels of an Arrow column."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek.outputs.classes import check_discrete
from sleek.outputs.labels import Labels
from sleek.rows.files.blocks import Origin


def arrow_labels(name: str, origin: Origin, column: Any, untyped: bool) -> Labels:
    """The labels of an Arrow column; `untyped` if it is text because its file knows no types."""
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
    codes = inverse[encoded.indices.to_numpy()]
    if labels.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(labels)[codes])
        if len(bad):
            raise ValueError(
                f"Column {name!r} must hold a class label in every row, but has {labels[codes[bad[0]]]} in "
                f"{origin.where(bad)}."
            )
    check_discrete(labels)
    return Labels(labels, codes, untyped)
