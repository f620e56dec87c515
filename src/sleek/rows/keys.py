"""Pseudo-random keys of row numbers: by them rows are drawn and held out."""

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
