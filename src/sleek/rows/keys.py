"""Pseudo-random keys of row numbers, and the rows with the smallest and the largest of them."""

from __future__ import annotations

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray

CHUNK = 2**20  # row numbers whose keys are computed at a time


def chosen_rows(n_rows: int, size: int, held: int, seed: int) -> tuple[IntArray, IntArray]:
    """The sorted numbers of the rows with the `size` smallest keys, and of those with the `held` largest.

    No row is in both. O(size + held) memory: keys are uniform, so those that matter lie, almost surely, below
    or above a bound that is known beforehand.

    >>> chosen_rows(10, 3, 2, seed=0)
    (array([2, 4, 6]), array([3, 9]))
    """
    held = min(held, n_rows)
    size = min(size, n_rows - held)
    if size + held == n_rows and held == 0:
        return np.arange(n_rows), np.arange(0)
    low: list[tuple[AnyArray, IntArray]] = []
    high: list[tuple[AnyArray, IntArray]] = []
    for start in range(0, n_rows, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, n_rows))
        keys = keys_of(numbers, seed)
        for found, count, order in ((low, size, keys), (high, held, ~keys)):
            near = order <= _bound(n_rows, count)
            found.append((order[near], numbers[near]))
    return _first(low, size), _first(high, held)


def _bound(n_rows: int, count: int) -> np.uint64:
    """A key below which `count` of the rows' keys lie, but for one case in 10²⁰."""
    share = (count + 10 * count**0.5 + 100) / n_rows if count else 0.0
    return np.uint64(min(share, 1.0) * (2.0**64 - 2048))


def _first(found: list[tuple[AnyArray, IntArray]], count: int) -> IntArray:
    """The sorted numbers that belong to the `count` smallest keys."""
    keys, numbers = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if count < len(keys):
        numbers = numbers[np.argpartition(keys, count)[:count]]
    return np.sort(numbers)


def keys_of(numbers: IntArray, seed: int) -> AnyArray:
    """Pseudo-random 64-bit keys of row numbers (the finaliser of the SplitMix64 generator)."""
    z = (numbers + 1).astype(np.uint64)
    z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(keys: AnyArray) -> FloatArray:
    """Keys as numbers in [0, 1)."""
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53
