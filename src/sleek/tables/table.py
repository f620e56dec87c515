"""Tables in files: the one place where commands read CSV and Parquet."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.cli.errors import InputError, suggestion

STDIN = "-"
LISTED = 12  # column names in a message


class Table(ABC):
    """Named columns and rows in memory.

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
        absent = [name for name in names if name not in self.names]
        if absent:
            listed = ", ".join(self.names[:LISTED]) + (", …" if len(self.names) > LISTED else "")
            some = ", ".join(map(repr, absent[:LISTED])) + (", …" if len(absent) > LISTED else "")
            raise InputError(
                f"{self.source} has no column {some}.{suggestion(absent[0], self.names)} It has: {listed}."
            )

    def refuse(self, name: str, row: int, value: Any, rule: str = "a number is needed") -> InputError:
        """The error for one value."""
        return InputError(f"{self.source}, {self.place(row)}, column {name!r}: {rule}, got {value!r}.")

    def check_finite(self, name: str, numbers: FloatArray) -> FloatArray:
        """The numbers, unless one of them is infinite."""
        infinite = np.isinf(numbers)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise self.refuse(name, row, float(numbers[row]), "a finite number is needed")
        return numbers


def read_table(path: str) -> Table:
    """Read a CSV or Parquet file, told apart by its content; ``-`` is standard input."""
    from sleek.tables.csv import CsvTable

    source = "standard input" if path == STDIN else path
    data = read_bytes(path)
    if not data.removeprefix(BOM_UTF8).strip():
        raise InputError(f"{source} is empty: a line of column names and rows are needed.")
    if data[:4] == b"PAR1":
        try:
            from sleek.tables.parquet import ParquetTable
        except ImportError:
            raise InputError(
                f"{source} is a Parquet file, which needs pyarrow: pip install 'sleek[files]'."
            ) from None
        return ParquetTable(data, source)
    return CsvTable(data, source)


def read_bytes(path: str) -> bytes:
    """The content of a file, or of standard input."""
    if path == STDIN:
        return sys.stdin.buffer.read()
    if Path(path).is_dir():
        raise InputError(f"{path} is a folder: a file is needed.")
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist.{_neighbour(Path(path))}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _neighbour(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f" There is no folder {folder}."
    return suggestion(path.name, [entry.name for entry in folder.iterdir() if entry.is_file()])
