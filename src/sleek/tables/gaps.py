"""Which values are missing: one rule for all that is read as text, and one for values in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

# What pandas takes for a missing value, and the question mark of the UCI repository. Whoever reads text
# uses this set: `tables.csv` and `rows.files` do.
MISSING_WORDS = frozenset(
    {
        *("", "NA", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A"),
        *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
        *("null", "NULL", "None", "?"),
    }
)


def is_missing(value: Any) -> bool:
    """Whether a value is None or not equal to itself, as NaN, or cannot even say so, as pandas.NA.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if value is None:
        return True
    equal = value == value
    return not (isinstance(equal, bool | np.bool_) and equal)
