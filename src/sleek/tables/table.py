"""What a table in a file can be asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.errors import TableError, suggestion

LISTED = 12  # column names in a message


class Table(ABC):
    """Named columns and rows of a file, whose values can be asked for as numbers, as words, or as they are.

    Attributes
    ----------
    source : str
        What to call it in messages.
    names : list of str
    n_rows : int
    notes : list of str
        What was left out while reading.
    """

    source: str
    names: list[str]
    n_rows: int
    notes: list[str]

    @abstractmethod
    def values(self, name: str) -> AnyArray:
        """A column of numbers as float64, NaN where one is missing; any other as objects, or as dates."""

    @abstractmethod
    def words(self, name: str) -> list[str | None]:
        """A column as text, None where it is missing."""

    @abstractmethod
    def original(self, name: str) -> list[Any]:
        """A column to be written out again: as it was, None where it is missing."""

    @abstractmethod
    def numbers(self, name: str) -> FloatArray:
        """A column that has to hold finite numbers, NaN where one is missing."""

    @abstractmethod
    def place(self, row: int) -> str:
        """How a user finds a row: its line, or its number."""

    def require(self, names: Sequence[str]) -> None:
        """Refuse to go on without these columns."""
        there = set(self.names)
        absent = [name for name in names if name not in there]
        if absent:
            listed = ", ".join(self.names[:LISTED]) + (", …" if len(self.names) > LISTED else "")
            some = ", ".join(map(repr, absent[:LISTED])) + (", …" if len(absent) > LISTED else "")
            raise TableError(
                f"{self.source} has no column {some}.{suggestion(absent[0], self.names)} It has: {listed}."
            )

    def refuse(self, name: str, row: int, value: Any, rule: str = "a number is needed") -> TableError:
        """The error for one value."""
        return TableError(f"{self.source}, {self.place(row)}, column {name!r}: {rule}, got {value!r}.")

    def check_finite(self, name: str, numbers: FloatArray) -> FloatArray:
        """The numbers, unless one of them is infinite."""
        infinite = np.isinf(numbers)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise self.refuse(name, row, float(numbers[row]), "a finite number is needed")
        return numbers
