"""Rows that belong together: a number for each group's label, and how many rows groups have.

A group, such as the rows of one patient, is never split between rows that learn and rows that judge. Labels
may be text or numbers, in memory, in a file or on a cluster; the same label has the same number everywhere,
so that folds and samples are the same rows, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, IntArray

LARGEST = 2.0**62  # whole numbers up to here are their own


def group_numbers(labels: Any, words: Callable[[int], Any] = "row {}".format) -> IntArray:
    """A whole number for each row's label (n,): itself if it is one, else made of its text.

    `words` are those for a row without a label, which is refused.

    >>> group_numbers(["7", "7.0", 7]).tolist(), len(set(group_numbers(["a", "b", "a"]).tolist()))
    ([7, 7, 7], 2)
    """
    found = labels if isinstance(labels, np.ndarray) else _as_array(labels)
    if found.ndim != 1:
        raise ValueError(f"`groups` must have one label for each row, got shape {found.shape}.")
    if found.dtype.kind in "iub":
        return found.astype(np.int64)
    if found.dtype.kind == "f":
        _refuse_missing(np.isnan(found), words)
        if ((found == np.floor(found)) & (np.abs(found) < LARGEST)).all():
            return found.astype(np.int64)
    values = found.tolist()
    missing = [value is None or value != value or value is _NA() for value in values]
    _refuse_missing(np.array(missing, dtype=bool), words)
    known: dict[Any, int] = {value: _number(value) for value in set(values)}
    return np.array([known[value] for value in values], dtype=np.int64)


def _as_array(labels: Any) -> AnyArray:
    """Labels of any make, one kind beside another as they are."""
    if isinstance(labels, list | tuple) and not all(isinstance(label, str) for label in labels):
        found = np.empty(len(labels), dtype=object)
        found[:] = labels
        return found
    return np.asarray(labels)


def _NA() -> Any:
    from sys import modules

    return getattr(modules.get("pandas"), "NA", None)


def _refuse_missing(missing: AnyArray, words: Callable[[int], Any]) -> None:
    if missing.any():
        raise ValueError(
            f"There must be a group for every row, but there is none in {words(int(missing.argmax()))}. Give "
            "rows that belong to no other a label of their own."
        )


def _number(label: Any) -> int:
    """The number of a label: text that is a number counts as that number, as tables read it."""
    word = str(label).strip()
    try:
        value = float(word)
        if value == np.floor(value) and abs(value) < LARGEST:
            return int(value) if abs(value) < 2.0**53 else int(word)
        word = repr(value)
    except (ValueError, OverflowError):
        pass
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little", signed=True)


@dataclass(frozen=True, eq=False)
class GroupSurvey:
    """The groups of some rows, and how many rows each has; `+` merges. O(groups) memory.

    >>> found = GroupSurvey.of(np.array([5, 5, 2])) + GroupSurvey.of(np.array([2, 5]))
    >>> found.n_groups, found.largest
    (2, 3)
    """

    numbers: IntArray
    counts: IntArray

    @classmethod
    def of(cls, groups: IntArray | None) -> GroupSurvey:
        """Of the rows of a block; None: each row is by itself, and there are no groups."""
        if groups is None:
            return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        numbers, counts = np.unique(groups, return_counts=True)
        return cls(numbers, counts)

    def __add__(self, other: GroupSurvey) -> GroupSurvey:
        both = np.concatenate([self.counts, other.counts])
        numbers, place = np.unique(np.concatenate([self.numbers, other.numbers]), return_inverse=True)
        return GroupSurvey(numbers, np.bincount(place, both).astype(np.int64))

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.numbers)

    @property
    def largest(self) -> int:
        """How many rows the largest has; 1 if there are none."""
        return int(self.counts.max(initial=1))

    def check(self) -> None:
        """That some groups can judge what was learnt from others."""
        if self.n_groups == 1:
            raise ValueError(
                "`groups` must name at least 2 different groups, because a group is never split between rows "
                "to learn from and rows to judge by, got one: leave `groups` out."
            )


def join_groups(parts: Sequence[IntArray | None]) -> IntArray | None:
    """The groups of several stretches of rows; None if rows have none."""
    found = [part for part in parts if part is not None]
    return np.concatenate(found) if len(found) == len(parts) and found else None
