"""How numbers are written in text files (decimal mark, thousands), decided in one pass over all columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sleek.rows.files.chunks import Place
from sleek.rows.files.formats import PIECE_BYTES, Asked, check_lines, in_utf8
from sleek.rows.files.layout import FileLayout, unreadable
from sleek.tables.dialect import Dialect, western
from sleek.tables.errors import TableError
from sleek.tables.gaps import Gaps
from sleek.tables.notation import Notation, Written
from sleek.tables.text import survey_text, warn_of_doubts

if TYPE_CHECKING:
    from sleek.rows.files.files import Files

BATCH_ROWS = 2**16


@dataclass(frozen=True, eq=False)
class Texts:
    """The columns of text of files, each file's own and all of them together."""

    called: str  # the files in words
    tables: tuple[FileLayout, ...]  # whose encoding is known by now
    each: tuple[dict[str, Written], ...]
    notation: Notation

    @classmethod
    def of(cls, files: Files) -> Texts:
        """One pass over all columns and rows, whatever is made of them later."""
        found = [_survey(table, files) for table in files.tables]
        tables, each = tuple(table for table, _ in found), tuple(columns for _, columns in found)
        joint: dict[str, Written] = {}
        for columns in each:
            for name, column in columns.items():
                joint[name] = joint[name] + column if name in joint else column
        return cls(files.named_files, tables, each, Notation.of(joint, files.decimal))

    @property
    def decimal(self) -> str | None:
        """The decimal mark."""
        return self.notation.decimal

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers; refused if it is not clear which."""
        try:
            return self.notation.is_number(name)
        except TableError as error:
            raise TableError(f"{self.called}: {error}") from None

    def check_numbers(self, names: Iterable[str]) -> None:
        """Refuse columns that have to hold numbers, or truth values, and do not."""
        for name in names:
            if name not in self.notation.columns:
                continue
            warn_of_doubts(self.notation, name)
            if not self.is_number(name) and not self.notation.columns[name].truths:
                self._refuse(name, "hold numbers", "Turn it into numbers or leave the column out.")

    def check_slips(self, name: str, n_different: int) -> None:
        """Refuse a column almost all of whose many values are numbers."""
        if self.notation.columns[name].has_slips(n_different):
            self._refuse(name, "hold numbers, as almost all rows do")

    def _refuse(self, name: str, rule: str, remedy: str = "") -> None:
        """Name the first value that is no number."""
        start = 0
        for table, columns in zip(self.tables, self.each, strict=True):
            found = columns.get(name, Written())
            if found.strange is not None:
                row, value = found.strange
                raise TableError.of(name, rule, value, row, remedy).at(lambda r: Place(table, r, start + r))  # noqa: B023
            start += found.n_rows


def _survey(table: FileLayout, files: Files) -> tuple[FileLayout, dict[str, Written]]:
    """How a file's columns are written, and the file: its encoding is another if its first bytes mislead."""
    try:
        if table.dialect is not None:
            _check_quotes(table.path, table.dialect)
        return table, _columns(table, files.gaps)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        dialect = table.dialect
        if dialect is None or files.encoding is not None or "UTF8" not in str(error):
            raise unreadable(table, error) from error
        notes = [*dialect.notes, western(table.path)]
        again = replace(table, dialect=replace(dialect, encoding="cp1252", notes=notes))
        return again, _columns(again, files.gaps)


def _check_quotes(path: str, dialect: Dialect) -> None:
    """A quote that is never closed swallows the rest of a file: pyarrow does not mind."""
    count = 0
    with in_utf8(path, dialect.encoding) as stream:
        while piece := stream.read(PIECE_BYTES):
            count += piece.count(b'"')
    if count % 2:
        check_lines(path, dialect)


def _columns(table: FileLayout, gaps: Gaps) -> dict[str, Written]:
    names = [name for name in table.columns if name in table.texts and name not in table.partition]
    found = dict.fromkeys(names, Written())
    asked = Asked(names, BATCH_ROWS, frozenset(names), gaps, True)
    for batch in table.format.batches(table, asked) if names else ():
        for name in names:
            found[name] += survey_text(batch.column(name), gaps)
    named = [name for name in table.partition if name in table.texts]
    return found | {name: survey_text(pa.array([table.named(name)], pa.string()), gaps) for name in named}
