"""Arrays that nobody can write to."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray


def frozen(array: Any) -> FloatArray:
    """A read-only float64 array; one that somebody else could write to, or through, is copied.

    >>> mine = np.zeros(2)
    >>> theirs = frozen(mine)
    >>> mine.flags.writeable, theirs.flags.writeable, frozen(theirs) is theirs
    (True, False, True)
    """
    found = np.asarray(array, dtype=np.float64)
    if found.flags.writeable or found.base is not None:
        found = found.copy()
        found.flags.writeable = False
    return found
