"""Files of tables, read into memory as a whole: CSV and Parquet, told apart by their content."""

from __future__ import annotations

import gzip
import sys
import zlib
from codecs import BOM_UTF8
from pathlib import Path

from sleek._runtime.packages import need
from sleek.tables.csv import CsvTable
from sleek.tables.errors import TableError, suggestion
from sleek.tables.table import Table

STDIN = "-"
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"  # the first bytes of such files


def read_table(path: str) -> Table:
    """Read a CSV or Parquet file, compressed by gzip or not; ``-`` is standard input."""
    source, data = name_of(path), read_bytes(path)
    if data.startswith(GZIP):
        data = _unpacked(data, source)
    if not data.removeprefix(BOM_UTF8).strip():
        raise TableError(f"{source} is empty: a line of column names and rows are needed.")
    if data.startswith(PARQUET):
        need("pyarrow", "files", f"{source} is a Parquet file, and reading it")
        from sleek.tables.parquet import ParquetTable

        return ParquetTable(data, source)
    return CsvTable(data, source)


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
