"""Kinds of files: how each tells its columns, and how its rows are read in bounded memory.

A Parquet row group can be larger than memory, so it is decoded in batches and its bytes are fetched a piece
of each column at a time; `pyarrow.dataset` would decode whole row groups. Text is read as it goes, unpacked
and in UTF-8 whatever it was; lines of JSON some megabytes at a time, each piece by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.csv

from sleek.tables import endings
from sleek.tables.dialect import LOOKED_AT, Dialect
from sleek.tables.gaps import Gaps

if TYPE_CHECKING:
    from sleek.rows.files.layout import FileLayout

GZIP, PARQUET_MARK, ARROW = b"\x1f\x8b", b"PAR1", b"ARROW1"  # the first bytes of such files
FETCH_BYTES = 2**17  # of a column of a Parquet file
PIECE_BYTES = 2**22  # of lines of JSON


@dataclass(frozen=True)
class Asked:
    """What is wanted of a file: columns in their order, those of them as text, so many rows at a time."""

    columns: list[str]
    rows: int
    text: frozenset[str] = frozenset()
    gaps: Gaps = field(default_factory=Gaps)
    threads: bool = False


class Format(ABC):
    """One kind of files."""

    word: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]

    @abstractmethod
    def look(self, path: str, encoding: str | None) -> tuple[Any, int | None, Dialect | None]:
        """The Arrow schema, how many rows there are if the file tells, and how text is written."""

    @abstractmethod
    def batches(self, table: FileLayout, asked: Asked) -> Iterator[Any]:
        """The columns that were asked for, some rows at a time."""


class Parquet(Format):
    """Columns in row groups, with their types."""

    word, endings = "Parquet", endings.PARQUET

    def look(self, path: str, encoding: str | None) -> tuple[Any, int | None, Dialect | None]:
        from pyarrow.parquet import ParquetFile  # with what opens files on servers: only if it is needed

        with ParquetFile(path) as file:
            return file.schema_arrow, int(file.metadata.num_rows), None

    def batches(self, table: FileLayout, asked: Asked) -> Iterator[Any]:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(table.path, pre_buffer=False, buffer_size=FETCH_BYTES) as file:
            yield from file.iter_batches(asked.rows, columns=asked.columns, use_threads=asked.threads)


class Arrow(Format):
    """Record batches, as in memory: Arrow's IPC file format, which is also Feather's."""

    word, endings = "Arrow", endings.ARROW

    def look(self, path: str, encoding: str | None) -> tuple[Any, int | None, Dialect | None]:
        with pa.memory_map(path) as stream, pa.ipc.open_file(stream) as file:
            return file.schema, None, None

    def batches(self, table: FileLayout, asked: Asked) -> Iterator[Any]:
        with pa.memory_map(table.path) as stream:
            with pa.ipc.open_file(stream) as file:
                places = [file.schema.get_field_index(name) for name in asked.columns]
            options = pa.ipc.IpcReadOptions(included_fields=places, use_threads=asked.threads)
            with pa.ipc.open_file(stream, options=options) as file:
                for number in range(file.num_record_batches):
                    batch = file.get_batch(number).select(asked.columns)
                    yield from (batch.slice(start, asked.rows) for start in range(0, len(batch), asked.rows))


class JsonLines(Format):
    """A JSON object in every line; the columns are those of the first lines."""

    word, endings = "JSON lines", endings.JSON_LINES

    def look(self, path: str, encoding: str | None) -> tuple[Any, int | None, Dialect | None]:
        with open_decompressed(path) as stream:
            first = next(_pieces(stream), b"")
        return parse_json(first).schema, None, None

    def batches(self, table: FileLayout, asked: Asked) -> Iterator[Any]:
        with open_decompressed(table.path) as stream:
            for piece in _pieces(stream):
                found = parse_json(piece)
                columns = [
                    found.column(name) if name in found.column_names else pa.nulls(len(found))
                    for name in asked.columns
                ]
                part = pa.table(columns, names=asked.columns).combine_chunks()
                yield from part.to_batches(max_chunksize=asked.rows)


def parse_json(lines: bytes) -> Any:
    """Lines of JSON as an Arrow table; what looks like a time stamp stays the text that it is.

    >>> parse_json(b'{"a": 1, "b": "2024-01-31"}').to_pylist()
    [{'a': 1, 'b': '2024-01-31'}]
    """
    from pyarrow.json import ParseOptions, read_json

    found = read_json(pa.BufferReader(lines))
    times = [column.name for column in found.schema if pa.types.is_temporal(column.type)]
    if not times:
        return found
    options = ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in times]))
    return read_json(pa.BufferReader(lines), parse_options=options).select(found.column_names)


def _pieces(stream: Any) -> Iterator[bytes]:
    """Some megabytes of whole lines at a time."""
    rest = b""
    while data := stream.read(PIECE_BYTES):
        lines, mark, rest = (rest + data).rpartition(b"\n")
        if mark and lines.strip():
            yield lines
    if rest.strip():
        yield rest


class Csv(Format):
    """Text separated by commas, semicolons, tabs or bars; what it holds is seen when it is read."""

    word, endings = "CSV", endings.TEXT

    def look(self, path: str, encoding: str | None) -> tuple[Any, int | None, Dialect | None]:
        with open_decompressed(path) as stream:
            head = stream.read(LOOKED_AT)
        dialect = Dialect.of(head, path, encoding=encoding)
        every = Asked([name for name in dialect.header if name], 1)
        try:
            file = self._open(path, dialect, every, infer=True)
        except pa.ArrowInvalid:
            check_lines(path, dialect)
            raise
        with file:
            names = zip(file.schema, every.columns, strict=True)
            return pa.schema([field.with_name(name) for field, name in names]), None, dialect

    def batches(self, table: FileLayout, asked: Asked) -> Iterator[Any]:
        assert table.dialect is not None
        try:
            with self._open(table.path, table.dialect, asked) as file:
                for batch in file:
                    named = batch.rename_columns(asked.columns)
                    yield from (named.slice(start, asked.rows) for start in range(0, len(named), asked.rows))
        except pa.ArrowInvalid as error:
            if "UTF8" not in str(error):
                check_lines(table.path, table.dialect)
            raise

    def _open(
        self,
        path: str,
        dialect: Dialect,
        asked: Asked,
        infer: bool = False,
    ) -> Any:
        """The reader of a file: what is not text is a number, whatever its first rows look like."""
        places = dialect.places(asked.columns)
        types = {
            place: pa.string() if name in asked.text else pa.float64()
            for name, place in zip(asked.columns, places, strict=True)
        }
        return pa.csv.open_csv(
            in_utf8(path, dialect.encoding),
            read_options=pa.csv.ReadOptions(
                column_names=[str(place) for place in range(len(dialect.header))],
                skip_rows=dialect.header_line,
                use_threads=asked.threads,
            ),
            parse_options=pa.csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                include_columns=places,
                column_types=None if infer else types,
                null_values=sorted(asked.gaps.numbers),
                strings_can_be_null=infer,
            ),
        )


PARQUET, ARROW_FILES, JSON_LINES, CSV = FORMATS = (Parquet(), Arrow(), JsonLines(), Csv())
ENDINGS = tuple(ending for known in FORMATS for ending in known.endings)


def format_of(path: str) -> Format:
    """The kind of a file, by how its name ends, or else by its first bytes."""
    for known in FORMATS:
        if path.lower().endswith(known.endings):
            return known
    with open_decompressed(path) as stream:
        head = stream.read(64)
    for mark, known in ((PARQUET_MARK, PARQUET), (ARROW, ARROW_FILES)):
        if head.startswith(mark):
            return known
    return JSON_LINES if head.lstrip().startswith(b"{") else CSV


def open_decompressed(path: str) -> Any:
    """The bytes of a file, uncompressed."""
    with open(path, "rb") as file:
        packed = file.read(2) == GZIP
    return pa.input_stream(path, compression="gzip" if packed or path.lower().endswith(".gz") else None)


def in_utf8(path: str, encoding: str) -> Any:
    """The text of a file, uncompressed and in UTF-8."""
    stream = open_decompressed(path)
    return stream if encoding == "utf-8" else pa.transcoding_input_stream(stream, encoding, "utf-8")


def check_lines(path: str, dialect: Dialect) -> None:
    """Refuse the first line of a CSV file that is not as the others are."""
    for _ in dialect.lines(in_utf8(path, dialect.encoding)):
        pass


def line_of(table: FileLayout, row: int) -> int | None:
    """The line in which a row of a CSV file ends; None for other files."""
    if table.dialect is None:
        return None
    lines = table.dialect.lines(in_utf8(table.path, table.dialect.encoding))
    return next(islice(lines, row, None))
