"""How a CSV file is written: its encoding, delimiter and column names, found in its first bytes."""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sleek.tables.errors import TableError, first_repeated

DELIMITERS = ",;\t|"
LOOKED_AT = 2**18  # bytes


@dataclass(frozen=True)
class Dialect:
    """A CSV file's delimiter, the names of its columns (some may be empty) and the line they stand in."""

    source: str
    delimiter: str
    header: tuple[str, ...]
    header_line: int
    encoding: str = "utf-8"
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, head: bytes, source: str, encoding: str | None = None) -> Dialect:
        """From the first bytes of a file; None: an encoding that suits them."""
        if not head.removeprefix(BOM_UTF8).strip():
            raise TableError(f"{source} is empty: a line of column names and rows are needed.")
        notes = []
        if encoding is None:
            encoding = _encoding(head, source)
            notes += [western(source)] if encoding == "cp1252" else []
        text = head.decode("utf-8-sig" if encoding == "utf-8" else encoding, errors="replace")
        delimiter = delimiter_of(text)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            header = _trimmed(next(row for row in reader if row))
        except csv.Error as error:
            raise TableError(f"{source}, line {reader.line_num}: {error}.") from None
        return cls(source, delimiter, tuple(header), reader.line_num, encoding, notes).checked()

    def checked(self) -> Dialect:
        """The dialect, unless columns have no or the same names."""
        names = self.names
        twice = first_repeated(names)
        if twice is not None:
            raise TableError(f"{self.source}, line 1: two columns are called {twice!r}.")
        if not names or all(_is_number(name) for name in names):
            said = ", ".join(self.header)
            raise TableError(f"{self.source}, line 1: column names are needed, got {said!r}.")
        self.notes.extend(
            f"column {place} of {self.source} has no name and is left out"
            for place, name in enumerate(self.header, start=1)
            if not name
        )
        return self

    @property
    def names(self) -> list[str]:
        """The names of the columns that have one."""
        return [name for name in self.header if name]

    def places(self, names: Sequence[str]) -> list[str]:
        """Where columns of these names stand, as text: what pyarrow is told that they are called."""
        place = {name: place for place, name in enumerate(self.header)}
        return [str(place[name]) for name in names]

    def lines(self, stream: Any) -> Iterator[int]:
        """The line in which each row of a stream in UTF-8 ends; a row of another length is refused."""
        with io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="") as text:
            reader = csv.reader(text, delimiter=self.delimiter, strict=True)
            rows = (row for row in reader if row)
            next(rows)
            try:
                for row in rows:
                    if len(row) != len(self.header):
                        raise TableError(
                            f"{self.source}, line {reader.line_num}: {len(row)} fields, but "
                            f"{len(self.header)} column names (fields are separated by {self.delimiter!r})."
                        )
                    yield reader.line_num
            except csv.Error as error:
                raise TableError(f"{self.source}, line {reader.line_num}: {error}.") from None


def western(source: str) -> str:
    """The note about a file of an encoding that is guessed."""
    return f"{source} is not UTF-8: it is read as Windows-1252 (Western European)"


def _trimmed(names: list[str]) -> list[str]:
    """Names without spaces around them, unless these are all there is, or tell two of them apart.

    >>> _trimmed(["a", " b", "", " "]), _trimmed(["a", "a "])
    (['a', 'b', '', ' '], ['a', 'a '])
    """
    trimmed = [name.strip() or name for name in names]
    told_apart = len(set(names)) - len(set(trimmed)) > 0
    return names if told_apart and len(set(names)) == len(names) else trimmed


def _encoding(head: bytes, source: str) -> str:
    if head.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):  # before UTF-16, with whose mark the first begins
        return "utf-32"
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in head:
        raise TableError(f"{source} is no table that can be read: it holds zero bytes, as text does not.")
    try:
        head.removeprefix(BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # else a letter is cut in two
            return "cp1252"
    return "utf-8"


def delimiter_of(text: str) -> str:
    """The delimiter that cuts the first lines into equally many fields, and the most of them."""
    lines = text[:100_000].splitlines()[:20]

    def merit(delimiter: str) -> tuple[bool, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row] or [0]
        return len(set(widths)) == 1 and widths[0] > 1, widths[0]

    return max(DELIMITERS, key=merit)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return "_" not in text
