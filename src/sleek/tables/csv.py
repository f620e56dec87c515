"""Comma, semicolon, tab or bar separated text as a table."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterator

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.errors import TableError
from sleek.tables.gaps import MISSING_WORDS
from sleek.tables.rules import FREE_LEVELS, NUMBER_SHARE
from sleek.tables.table import Table

DELIMITERS = ",;\t|"
CHUNK_ROWS = 10_000
SEPARATOR = "\0"  # between values in memory; a file that holds it is refused


class CsvTable(Table):
    """A CSV file: UTF-8, a line of column names, quoted fields, any of four delimiters.

    Values are kept as text, a chunk of a column in one string, so that memory is about the size of the file.
    Semicolon separated files may have decimal commas. A column without a name is left out.
    """

    def __init__(self, data: bytes, source: str) -> None:
        self.source, self.notes, self.n_rows = source, [], 0
        _check_text(data, source)
        self._delimiter = _sniff(data)
        self._lines = array("q")  # of each row
        self._chunks: dict[str, list[str]] = {}
        with io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=self._delimiter, strict=True)
            try:
                self._read(reader)
            except csv.Error as error:
                raise TableError(f"{source}, line {reader.line_num}: {error}.") from None
        if self.n_rows == 0:
            raise TableError(f"{source} has column names but no rows.")

    def _read(self, reader: Iterator[list[str]]) -> None:
        header = self._header([name.strip() for name in next(row for row in reader if row)])
        rows: list[list[str]] = []
        for row in reader:
            if not row:  # a blank line
                continue
            line = reader.line_num  # type: ignore[attr-defined]
            if len(row) != len(header):
                raise TableError(
                    f"{self.source}, line {line}: {len(row)} fields, but {len(header)} column names "
                    f"(fields are separated by {self._delimiter!r})."
                )
            rows.append(row)
            self._lines.append(line)
            if len(rows) == CHUNK_ROWS:
                self._keep(header, rows)
        self._keep(header, rows)
        self.n_rows = len(self._lines)

    def _header(self, header: list[str]) -> list[str]:
        self.names = [name for name in header if name]
        for name in self.names:
            if name in self._chunks:
                raise TableError(f"{self.source}, line 1: two columns are called {name!r}.")
            self._chunks[name] = []
        if not self.names or all(_number(name, comma=True) is not None for name in self.names):
            raise TableError(f"{self.source}, line 1: column names are needed, got {', '.join(header)!r}.")
        self.notes += [
            f"column {position} of {self.source} has no name and is left out"
            for position, name in enumerate(header, start=1)
            if not name
        ]
        return header

    def _keep(self, header: list[str], rows: list[list[str]]) -> None:
        for name, values in zip(header, zip(*rows, strict=True), strict=bool(rows)):
            if name:
                self._chunks[name].append(SEPARATOR.join(values))
        rows.clear()

    def place(self, row: int) -> str:
        return f"line {self._lines[row]}"

    def words(self, name: str) -> list[str | None]:
        stripped = (text.strip() for text in self._texts(name))
        return [None if text in MISSING_WORDS else text for text in stripped]

    def original(self, name: str) -> list[str | None]:
        return [text or None for text in self._texts(name)]

    def numbers(self, name: str) -> FloatArray:
        numbers, row = self._parse(name)
        if row is not None:
            raise self.refuse(name, row, self._texts(name)[row])
        return self.check_finite(name, numbers)

    def values(self, name: str) -> AnyArray:
        numbers, first = self._parse(name)
        if first is None:
            return self.check_finite(name, numbers)
        found = numbers[np.isfinite(numbers)]
        words = self.words(name)
        filled = sum(word is not None for word in words)
        if len(found) >= NUMBER_SHARE * filled and len(np.unique(found)) > FREE_LEVELS:
            raise self.refuse(name, first, words[first], "almost all other rows hold numbers")
        return np.array(words, dtype=object)

    def _texts(self, name: str) -> list[str]:
        return [text for chunk in self._chunks[name] for text in chunk.split(SEPARATOR)]

    def _parse(self, name: str) -> tuple[FloatArray, int | None]:
        """A column as numbers, NaN where there is none, and the first row that holds something else."""
        parts, first, begin = [], None, 0
        for chunk in self._chunks[name]:
            texts = chunk.split(SEPARATOR)
            try:
                if "_" in chunk:  # Python reads 1_000 as a number
                    raise ValueError
                part: list[float | None] = list(map(float, texts))
            except ValueError:
                part = [_number(text, self._delimiter == ";") for text in texts]
            if first is None and None in part:
                first = begin + part.index(None)
            parts.append(np.array(part, dtype=np.float64))  # None becomes NaN
            begin += len(part)
        return np.concatenate(parts), first


def _number(text: str, comma: bool) -> float | None:
    """The number a text stands for, NaN for a missing one, None if it is no number."""
    text = text.strip()
    if text in MISSING_WORDS:
        return np.nan
    try:
        number = float(text.replace(",", ".") if comma else text)
    except ValueError:
        return None
    return None if "_" in text else number


def _sniff(data: bytes) -> str:
    """The delimiter that cuts the first lines into equally many fields, and the most of them."""
    lines = data[:100_000].decode("utf-8-sig", errors="replace").splitlines()[:20]

    def merit(delimiter: str) -> tuple[bool, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row] or [0]
        return len(set(widths)) == 1 and widths[0] > 1, widths[0]

    return max(DELIMITERS, key=merit)


def _check_text(data: bytes, source: str) -> None:
    if b"\0" in data:
        raise TableError(f"{source} is neither Parquet nor UTF-8 text: save it as CSV in UTF-8.")
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"{source}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8: save the file in UTF-8."
        ) from None
