"""Array types for signatures, and read-only arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
AnyArray = NDArray[Any]


def freeze(array: Any) -> FloatArray:
    """A read-only float64 array; one that other code could write to is copied.

    >>> mine = np.zeros(2)
    >>> theirs = freeze(mine)
    >>> mine.flags.writeable, theirs.flags.writeable, freeze(theirs) is theirs
    (True, False, True)
    """
    found = np.asarray(array, dtype=np.float64)
    if found.flags.writeable or found.base is not None:
        found = found.copy()
        found.flags.writeable = False
    return found
