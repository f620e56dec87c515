"""Which files there are, and which columns they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from glob import glob, has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from sleek.tables.dialect import Dialect
from sleek.tables.endings import in_words
from sleek.tables.errors import TableError, first_repeated, suggestion
from sleek.tables.frames import categories_of

if TYPE_CHECKING:
    from sleek.rows.files.formats import Format

LISTED = 12  # column names in a message
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the name of a folder of rows without a value


@dataclass(frozen=True)
class ColumnType:
    """The type of a column in one file: in Arrow's words, and as the NumPy dtype of its values.

    The dtype is "object" for text, and None for what is neither a number nor text.
    """

    type: str
    dtype: str | None

    @property
    def is_number(self) -> bool:
        """Whether the column can be a feature; a dictionary's numbers are codes of categories."""
        return self.kind in ("number", "null") and not self.type.startswith("dictionary")

    @property
    def kind(self) -> str:
        """What the values are, whatever their width."""
        if self.dtype is None or self.type == "null":
            return self.type
        return "text" if self.dtype == "object" else "number"


@dataclass(frozen=True, eq=False)
class FileLayout:
    """A file, its columns in order, and how many rows it has (None: only Parquet files tell)."""

    path: str
    columns: dict[str, ColumnType]
    names: tuple[str, ...]  # of the columns; one may stand there more than once
    index: frozenset[str]  # columns that pandas wrote down as the index of its frame
    n_rows: int | None
    format: Format
    dialect: Dialect | None = None  # of text
    partition: dict[str, float | str | None] = field(default_factory=dict)  # columns that its folders name
    categories: frozenset[str] = frozenset()  # columns of numbers that were categories in pandas

    @property
    def is_csv(self) -> bool:
        return self.dialect is not None

    @property
    def texts(self) -> frozenset[str]:
        """Columns of text: all of a CSV file, and those that are typed so, but no categories."""
        return frozenset(
            name
            for name, column in self.columns.items()
            if name not in self.repeated and (self.is_csv or column.type in ("string", "large_string"))
        )

    def named(self, name: str) -> str | None:
        """What the file's folders say of a column, as text."""
        value = self.partition[name]
        return f"{value:.15g}" if isinstance(value, float) else value

    @cached_property
    def repeated(self) -> frozenset[str]:
        """Names that several columns have."""
        return frozenset(name for name, count in Counter(self.names).items() if count > 1)

    def column(self, name: str) -> ColumnType:
        """The column of this name, or a sentence that lists those there are."""
        if name in self.repeated:
            raise ValueError(f"There must be one column {name!r}, but {self.path} has several of this name.")
        if name not in self.columns:
            there = list(self.columns)
            listed = ", ".join(there[:LISTED]) + (", …" if len(there) > LISTED else "")
            raise TableError(
                f"{self.path} has no column {name!r}.{suggestion(name, there)} It has: {listed}."
            )
        return self.columns[name]


def list_files(path: Any) -> tuple[str, ...]:
    """The files meant by a path, a folder, a pattern, or a list of these.

    Those of a folder (and of the folders in it) and those of a pattern are sorted by name; in a folder, other
    kinds of files and names that begin with a dot or an underscore are passed over.
    """
    if isinstance(path, str | PathLike):
        entries: list[Any] = [path]
    elif isinstance(path, Iterable):
        entries = list(path)
    else:
        raise TypeError(f"`path` must be a file, a folder, a pattern or a list of these, got {path!r}.")
    files = [file for entry in entries for file in _files_of(entry)]
    if not files:
        raise ValueError("`path` must name at least one file, got an empty list.")
    twice = first_repeated(files)
    if twice is not None:
        raise ValueError(f"Every file must be named once, but {twice} is named {files.count(twice)} times.")
    return tuple(files)


def _files_of(entry: Any) -> list[str]:
    if not isinstance(entry, str | PathLike):
        raise TypeError(f"`path` must be a file, a folder, a pattern or a list of these, got {entry!r}.")
    path = Path(fspath(entry))
    if path.is_dir():
        return _files_in(path)
    if path.exists():
        return [str(path)]
    if has_magic(str(path)):
        matches = [match for match in sorted(glob(str(path), recursive=True)) if not Path(match).is_dir()]
        if not matches:
            raise FileNotFoundError(f"No file matches the pattern {str(path)!r}.")
        return matches
    raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")


def _files_in(folder: Path) -> list[str]:
    def hidden(file: Path) -> bool:
        return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)

    found = (file for file in folder.rglob("*") if file.is_file() and not hidden(file))
    from sleek.rows.files.formats import ENDINGS

    files = sorted(str(file) for file in found if file.name.lower().endswith(ENDINGS))
    if not files:
        raise FileNotFoundError(f"There is no {in_words(ENDINGS)} file in the folder {str(folder)!r}.")
    return files


def inspect(path: str, encoding: str | None = None) -> FileLayout:
    """Read what a file says of its columns: a Parquet footer, or the first block of a CSV file."""
    import pyarrow as pa

    from sleek.rows.files.formats import format_of

    kind = None
    try:
        kind = format_of(path)
        schema, n_rows, dialect = kind.look(path, encoding)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, "a table" if kind is None else f"a {kind.word} file", error) from error
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    partition = {name: value for name, value in partition_of(path).items() if name not in schema.names}
    return FileLayout(
        path,
        {column.name: ColumnType(str(column.type), _dtype(column.type)) for column in schema}
        | {name: _partition_type(value) for name, value in partition.items()},
        (*schema.names, *partition),
        frozenset(name for name in index if isinstance(name, str)),
        n_rows,
        kind,
        dialect,
        partition,
        frozenset(categories_of(schema)),
    )


def partition_of(path: str) -> dict[str, float | str | None]:
    """The columns that folders called ``name=value`` on the way to a file stand for.

    >>> partition_of("data/year=2024/town=Sankt%20Gallen/part.parquet")
    {'year': 2024.0, 'town': 'Sankt Gallen'}
    """
    found: dict[str, float | str | None] = {}
    for folder in Path(path).parts[:-1]:
        name, mark, text = folder.partition("=")
        if not (name and mark):
            continue
        value = unquote(text)
        if value == NO_VALUE:
            found[name] = None
            continue
        try:
            found[name] = float(value) if "_" not in value else value
        except ValueError:
            found[name] = value
    return found


def _partition_type(value: float | str | None) -> ColumnType:
    if value is None:
        return ColumnType("null", "float64")
    return ColumnType("double", "float64") if isinstance(value, float) else ColumnType("string", "object")


def unreadable(table: FileLayout, error: Exception) -> TableError:
    """The error for a file that pyarrow cannot read."""
    return _unreadable(table.path, f"a {table.format.word} file", error)


def _unreadable(path: str, kind: str, error: Exception) -> TableError:
    reason = " ".join(str(error).split()).rstrip(". ")
    said = f"{path} cannot be read as {kind}: {reason}."
    if "UTF8" in reason:
        return TableError(f"{said} Name its encoding: Files(…, encoding='cp1252').")
    return TableError(f"{said} Is it complete?")


def _dtype(type_: Any) -> str | None:
    """The NumPy dtype of a column's values, as a string."""
    from pyarrow import types

    if types.is_dictionary(type_):
        return _dtype(type_.value_type)
    if types.is_decimal(type_) or types.is_null(type_):
        return "float64"
    if types.is_boolean(type_) or types.is_integer(type_) or types.is_floating(type_):
        return str(np.dtype(type_.to_pandas_dtype()))
    return "object" if types.is_string(type_) or types.is_large_string(type_) else None
