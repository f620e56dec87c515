"""A 64-bit hash for arrays of whole numbers."""

from __future__ import annotations

import numpy as np

from sleek._runtime.types import AnyArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(bits: AnyArray) -> AnyArray:
    """The finaliser of the SplitMix64 generator: a bijection of 64 bits in which every bit depends on all.

    >>> mix(np.array([0, 1], dtype=np.uint64))
    array([                  0, 6238072747940578789], dtype=uint64)
    """
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
