"""Pseudo-random numbers that belong to row numbers, for drawing samples and holding out rows."""

from __future__ import annotations

import numpy as np

from sleek._runtime.mixing import GOLDEN, mix
from sleek._runtime.types import AnyArray, FloatArray, IntArray

CHUNK = 2**20  # row numbers whose keys are computed at a time


def keys_of(numbers: IntArray, seed: int) -> AnyArray:
    """Pseudo-random 64-bit keys of row numbers."""
    return mix((numbers + 1).astype(np.uint64) * GOLDEN + np.uint64(seed))


def uniform(keys: AnyArray) -> FloatArray:
    """Keys as numbers in [0, 1)."""
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def lots_of(numbers: IntArray, seed: int) -> FloatArray:
    """Random numbers in [0, 1) for rows of these numbers, independent of their keys and of other seeds."""
    bits = mix(mix(numbers.astype(np.uint64) + GOLDEN) + np.uint64(seed % 2**32) + GOLDEN)
    return np.asarray(bits / 2.0**64)
