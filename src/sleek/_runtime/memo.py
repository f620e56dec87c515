"""What was computed from an array, for as long as the array lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from sleek._runtime.types import AnyArray

Value = TypeVar("Value")


class ByArray(Generic[Value]):
    """Remembers a value for every array, which must not be changed meanwhile, and forgets it with the array.

    >>> import numpy as np
    >>> totals, x = ByArray(), np.ones(3)
    >>> totals.of(x, lambda: float(x.sum())), totals.of(x, lambda: None), len(totals)
    (3.0, 3.0, 1)
    >>> del x
    >>> len(totals)
    0
    """

    def __init__(self) -> None:
        self._found: dict[int, tuple[weakref.ref[AnyArray], Value]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def of(self, array: AnyArray, make: Callable[[], Value]) -> Value:
        """The value of an array, made if it is not known."""
        key = id(array)
        known = self._found.get(key)
        if known is not None and known[0]() is array:
            return known[1]
        value = make()
        self._found[key] = weakref.ref(array, lambda gone: self._forget(key, gone)), value
        return value

    def _forget(self, key: int, gone: weakref.ref[AnyArray]) -> None:
        known = self._found.get(key)
        if known is not None and known[0] is gone:  # another array may have its address by now
            del self._found[key]
