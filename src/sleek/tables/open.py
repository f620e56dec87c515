"""Files of tables, read into memory: CSV, Parquet, Arrow and JSON lines, known by their content."""

from __future__ import annotations

import gzip
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from sleek._runtime.packages import need
from sleek.tables.dialect import LOOKED_AT, Dialect, western
from sleek.tables.errors import TableError, suggestion
from sleek.tables.gaps import Gaps
from sleek.tables.table import Table

STDIN = "-"
GZIP, PARQUET_MARK, ARROW = b"\x1f\x8b", b"PAR1", b"ARROW1"  # the first bytes of such files


def read_table(path: str, missing: Collection[str] | None = None) -> Table:
    """Read a file, compressed by gzip or not; ``-`` is standard input.

    `missing` are the words that mean a missing value in text; None: the usual ones.
    """
    source, data = name_of(path), read_bytes(path)
    if data.startswith(GZIP):
        data = _unpacked(data, source)
    return table_of(data, source, missing)


def table_of(data: bytes, source: str, missing: Collection[str] | None = None) -> Table:
    """The table in the bytes of a file."""
    need("pyarrow", None, "Reading tables")
    if not data[:LOOKED_AT].removeprefix(BOM_UTF8).strip():
        raise TableError(f"{source} is empty: a line of column names and rows are needed.")
    if data.startswith((PARQUET_MARK, ARROW)) or data[:LOOKED_AT].lstrip().startswith(b"{"):
        found = _typed(data, source)
        columns = {name: found.column(name) for name in _different(found.column_names, source)}
        return _checked(Table(source, columns, found.num_rows, False, lambda row: f"row {row + 1}"))
    return _checked(_csv(data, source, Gaps.of(missing)))


def _checked(table: Table) -> Table:
    if table.n_rows == 0:
        raise TableError(f"{table.source} has column names but no rows.")
    return table


def _different(names: list[str], source: str) -> list[str]:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise TableError(f"{source}: two columns are called {name!r}.")
    return names


def _typed(data: bytes, source: str) -> Any:
    """A file that knows the types of its columns, as an Arrow table."""
    import pyarrow as pa

    try:
        if data.startswith(PARQUET_MARK):
            import pyarrow.parquet

            return pa.parquet.read_table(pa.BufferReader(data))
        if data.startswith(ARROW):
            return pa.ipc.open_file(pa.BufferReader(data)).read_all()
        return parsed_json(data)
    except pa.ArrowException as error:
        raise TableError(f"{source} is damaged: {str(error).splitlines()[0]}.") from None


def parsed_json(lines: bytes) -> Any:
    """Lines of JSON as an Arrow table; what looks like a time stamp stays the text that it is.

    >>> parsed_json(b'{"a": 1, "b": "2024-01-31"}').to_pylist()
    [{'a': 1, 'b': '2024-01-31'}]
    """
    import pyarrow as pa
    import pyarrow.json

    found = pa.json.read_json(pa.BufferReader(lines))
    times = [column.name for column in found.schema if pa.types.is_temporal(column.type)]
    if not times:
        return found
    options = pa.json.ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in times]))
    return pa.json.read_json(pa.BufferReader(lines), parse_options=options).select(found.column_names)


def _csv(data: bytes, source: str, gaps: Gaps) -> Table:
    import pyarrow as pa

    dialect = Dialect.of(data[:LOOKED_AT], source, quotes=b'"' in data)
    if dialect.encoding != "utf-8":
        data = data.decode(dialect.encoding, errors="replace").encode()
        dialect = replace(dialect, encoding="utf-8")
    try:
        found = _read_csv(data, dialect)
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):  # beyond the first bytes
            notes = [*dialect.notes, western(source)]
            data = data.decode("cp1252", errors="replace").encode()
            found, dialect = _read_csv(data, dialect), replace(dialect, notes=notes)
        else:
            for _ in dialect.lines(data):  # the first line that is wrong
                pass
            raise TableError(f"{source} cannot be read: {str(error).splitlines()[0]}.") from None
    if data.count(b'"') % 2:  # a quote that is never closed swallows the rest: pyarrow does not mind
        for _ in dialect.lines(data):
            pass

    def place(row: int) -> str:
        return f"line {next(islice(dialect.lines(data), row, None))}"

    columns = dict(zip(dialect.names, found.columns, strict=True))
    return Table(source, columns, found.num_rows, True, place, dialect.comma, gaps, dialect.notes)


def _read_csv(data: bytes, dialect: Dialect) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    try:
        return pa.csv.read_csv(pa.BufferReader(data), **dialect.options())
    except pa.ArrowInvalid as error:
        if "Empty CSV file" in str(error):
            return pa.table([pa.array([], pa.string())] * len(dialect.names), names=dialect.names)
        raise


def name_of(path: str) -> str:
    """What to call a file in messages.

    >>> name_of("-"), name_of("data.csv")
    ('standard input', 'data.csv')
    """
    return "standard input" if path == STDIN else path


def read_bytes(path: str, most: int = -1) -> bytes:
    """The content of a file, or of standard input; at most so many bytes, if a number is given."""
    if path == STDIN:
        return sys.stdin.buffer.read(most)
    if Path(path).is_dir():
        raise TableError(f"{path} is a folder: a file is needed.")
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except FileNotFoundError:
        raise TableError(f"{path} does not exist.{_neighbour(Path(path))}") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from None


def _unpacked(data: bytes, source: str) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{source} is damaged: {str(error).rstrip('.')}.") from None


def _neighbour(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f" There is no folder {folder}."
    there = [entry.name for entry in folder.iterdir() if entry.is_file()]
    return suggestion(path.name, there, alike=0.75)  # files of one kind share their endings
