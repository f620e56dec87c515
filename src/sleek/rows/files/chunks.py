"""Chunks of columns from files, one after the other, in bounded memory."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.classes import check_discrete
from sleek.outputs.labels import Labels
from sleek.rows.files.formats import Asked, line_of
from sleek.rows.files.layout import FileLayout, unreadable
from sleek.rows.grouping import group_numbers
from sleek.rows.raw import RawBlock
from sleek.tables.errors import TableError
from sleek.tables.frames import of_arrow
from sleek.tables.notation import without_gaps
from sleek.tables.reading import as_words
from sleek.tables.text import label_texts, read_text, text_floats
from sleek.tables.values import Columns, Values

if TYPE_CHECKING:
    from sleek.rows.files.files import Files

LEAST_ROWS, BATCH_ROWS = 2**11, 2**16
BATCH_BYTES = 2**24  # of the columns of a batch, if that is fewer rows


@dataclass(frozen=True, eq=False)
class Wanted:
    """Which columns of files are read, and as what.

    Attributes
    ----------
    features : names of columns that are handed out as what they hold
    numbers, label, weight, group : names of targets of regression, of the class label, the weight, the group
    kept : Arrow schema of columns that are handed on as they are
    threads : bool
        Whether columns are decoded by several threads.
    """

    files: Files
    features: tuple[str, ...]
    numbers: tuple[str, ...]
    label: str | None
    weight: str | None
    group: str | None
    kept: Any
    threads: bool = False

    @classmethod
    def of(
        cls, files: Files, reads: str | None, features: bool, keep: Sequence[str] = (), threads: bool = False
    ) -> Wanted:
        """For a pass that reads targets, features or both."""
        return cls(
            files,
            files.features if features else (),
            files.targets if reads == "numbers" else (),
            files.targets[0] if reads == "labels" else None,
            files.weight if reads is not None else None,
            files.groups if reads is not None or files.part is not None else None,
            kept_schema(files, keep),
            threads,
        )

    @property
    def columns(self) -> list[str]:
        """All of them, each once."""
        others = (name for name in (self.label, self.weight, self.group) if name is not None)
        return list(dict.fromkeys((*self.features, *self.numbers, *others, *self.kept.names)))

    @property
    def text(self) -> frozenset[str]:
        """Columns that a CSV file hands out as they are written: all but plain floats that are asked for."""
        text = {name for name in (self.label, self.group, *self.kept.names) if name is not None}
        if not self.files.is_csv or self.files.texts is None:
            return frozenset(text)
        notation, words = self.files.texts.notation, self.files.word_columns
        return frozenset(
            text | {name for name in self.columns if name in words or not notation.is_direct(name)}
        )


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the rows of a chunk stand in their file and among the rows of all files."""

    table: FileLayout
    first: int  # row of the file
    start: int  # row of all files
    n_read: int
    kept: IntArray | None = None  # those of the rows read that are in the chunk; None: all

    def select(self, mask: AnyArray) -> Origin:
        """The origin of the rows that are left."""
        left = np.flatnonzero(mask)
        return replace(self, kept=left if self.kept is None else self.kept[left])

    def numbers(self) -> IntArray:
        """The numbers of the chunk's rows among those of all files."""
        if self.kept is None:
            return np.arange(self.start, self.start + self.n_read)
        return self.start + self.kept

    def place(self, row: int) -> Place:
        """Words for a row of the chunk."""
        row = row if self.kept is None else int(self.kept[row])
        return Place(self.table, self.first + row, self.start + row)


@dataclass(frozen=True, eq=False)
class Place:
    """A row of a file, in words when it is printed: to find its line the file is read once more."""

    table: FileLayout
    row: int
    total: int  # among the rows of all files

    def __str__(self) -> str:
        line = line_of(self.table, self.row)
        if line is not None:
            return f"line {line} of {self.table.path}"
        return f"row {self.row} of {self.table.path} (row {self.total} of all, counted from 0)"


def chunks(wanted: Wanted) -> Generator[RawBlock, None, None]:
    """The rows of positive weight of all files, decoded."""
    start, _ = 0, wanted.text  # by which it is known how text is encoded
    for table in wanted.files.tables:
        first = 0
        with closing(_batches(table, wanted)) as batches:
            for batch in batches:
                yield _decoded(wanted, Origin(table, first, start + first, len(batch)), batch)
                first += len(batch)
        start += first


def _batches(table: FileLayout, wanted: Wanted) -> Generator[Any, None, None]:
    try:
        batches = table.format.batches(table, _asked(table, wanted))
        yield from (
            (_with_partition(batch, table, wanted) for batch in batches) if table.partition else batches
        )
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise unreadable(table, error) from error


def _asked(table: FileLayout, wanted: Wanted) -> Asked:
    """What is read of the file itself; other columns are named by its folders."""
    return Asked(
        [name for name in wanted.columns if name not in table.partition],
        int(np.clip(BATCH_BYTES // (8 * max(1, len(wanted.columns))), LEAST_ROWS, BATCH_ROWS)),
        wanted.text,
        wanted.files.gaps,
        wanted.threads,
    )


def _with_partition(batch: Any, table: FileLayout, wanted: Wanted) -> Any:
    """A batch with the columns that folders stand for, as text in a CSV file's."""

    def column(name: str) -> Any:
        if name not in table.partition:
            return batch.column(name)
        text = table.is_csv and name in wanted.text
        value = table.named(name) if text else table.partition[name]
        kind = pa.string() if text or isinstance(value, str) else pa.float64()
        return pa.repeat(pa.scalar(value, kind), batch.num_rows)

    return pa.RecordBatch.from_arrays([column(name) for name in wanted.columns], names=wanted.columns)


def _decoded(wanted: Wanted, origin: Origin, batch: Any) -> RawBlock:
    """The batch's rows of positive weight: columns, targets and weights."""
    files, s = wanted.files, None
    for name in (wanted.label, wanted.group) if files.is_csv else ():
        if name is not None:
            place = wanted.columns.index(name)
            batch = batch.set_column(place, name, label_texts(batch.column(place), files.gaps))
    if files.part is not None:
        group = wanted.group
        lots = origin.numbers() if group is None else _groups(group, origin, batch.column(group))
        origin, batch, _ = _select(files.part.mask(lots), origin, batch)
    if files.drop_missing_targets:
        origin, batch, _ = _select(_has_targets(wanted, batch), origin, batch)
    if wanted.weight is not None:
        s = _weights(wanted.weight, origin, batch, files)
        origin, batch, (s,) = _select(s > 0, origin, batch, s)
    y: Any = None
    if wanted.label is not None:
        y = _labels(wanted.label, origin, batch.column(wanted.label), files)
    elif wanted.numbers:
        y = np.stack([_floats(batch.column(name), files) for name in wanted.numbers], axis=1)
    columns = {name: _values(batch.column(name), name, files) for name in wanted.features}
    X = Columns(columns, len(batch)) if wanted.features else None
    s = np.ones(len(batch)) if s is None else s
    kept = _kept(batch, wanted) if wanted.kept.names else None
    groups = None if wanted.group is None else _groups(wanted.group, origin, batch.column(wanted.group))
    return RawBlock(X, y, s, origin.place, origin.numbers(), kept=kept, groups=groups)


def _values(column: Any, name: str, files: Files) -> Values:
    """A column as what it holds; that of a CSV file is text, unless it was read as floats."""
    if not _is_text(column) or not (files.is_csv or files.is_text(name)):
        return of_arrow(name, column)
    words = name in files.word_columns
    if words and not files.is_csv:
        return of_arrow(name, column)
    decimal = None if words or files.texts is None else files.texts.decimal
    return read_text(column, files.gaps, decimal, words)


def _is_text(column: Any) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


# -- rows that are left, targets and weights ----------------------------------------------------------------


def _has_targets(wanted: Wanted, batch: Any) -> AnyArray:
    """Which rows have all targets that are read."""
    found = np.ones(len(batch), dtype=bool)
    for name in (*wanted.numbers, *([] if wanted.label is None else [wanted.label])):
        column = batch.column(name)
        found &= column.is_valid().to_numpy(zero_copy_only=False)
        if name in wanted.numbers or pa.types.is_floating(column.type):
            found &= ~np.isnan(_floats(column, wanted.files).astype(np.float64))
    return found


def _select(
    mask: AnyArray, origin: Origin, batch: Any, *arrays: AnyArray
) -> tuple[Origin, Any, list[AnyArray]]:
    """The rows of the mask, without a copy if that is all of them."""
    if mask.all():
        return origin, batch, list(arrays)
    return origin.select(mask), batch.filter(pa.array(mask)), [array[mask] for array in arrays]


def _weights(name: str, origin: Origin, batch: Any, files: Files) -> FloatArray:
    """Weights of all rows: finite, and none negative."""
    weights = np.asarray(_floats(batch.column(name), files), dtype=np.float64)
    bad = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(bad):
        value = batch.column(name)[int(bad[0])].as_py()
        remedy = "A weight of 0 leaves a row out."
        rule = "hold weights, finite and not negative"
        raise TableError.of(name, rule, value, int(bad[0]), remedy).at(origin.place)
    return weights


def _labels(name: str, origin: Origin, column: Any, files: Files) -> Labels:
    """The class labels of a column; what is named in `categories` is text whatever it looks like."""
    from pyarrow import types

    rule = "hold a class label in every row"
    if column.null_count:
        missing = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise TableError.of(name, rule, None, missing).at(origin.place)
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_decimal(column.type):
        column = column.cast("string").cast("float64")
    as_text = name in (files.categories or ())
    if as_text and not _is_text(column):
        words = as_words(of_arrow(name, column))
        return Labels.of(np.array(words.values, dtype=object)[words.array])
    encoded = column.dictionary_encode()
    labels, inverse = np.unique(encoded.dictionary.to_numpy(zero_copy_only=False), return_inverse=True)
    codes = inverse[encoded.indices.to_numpy()]
    if labels.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(labels)[codes])
        if len(bad):
            raise TableError.of(name, rule, labels[codes[bad[0]]].item(), int(bad[0])).at(origin.place)
    check_discrete(labels)
    return Labels(labels, codes, untyped=files.is_csv and not as_text)


def _groups(name: str, origin: Origin, column: Any) -> IntArray:
    """The number of each row's group."""
    if column.null_count:
        missing = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise TableError.of(name, "hold a group in every row", None, missing).at(origin.place)
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    numbers = group_numbers(encoded.dictionary.to_pylist())
    return np.asarray(numbers[encoded.indices.to_numpy()])


def _floats(column: Any, files: Files) -> AnyArray:
    """A column of numbers as an array that turns into float64 without a loss when it is copied.

    A view of the column if it can be; what is missing becomes NaN. Decimals go through their digits: Arrow's
    own conversion is off by one bit now and then.
    """
    if _is_text(column) and files.texts is not None:
        return text_floats(column, files.gaps, files.texts.decimal)
    plain = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    if plain and column.null_count == 0:
        return np.asarray(column.to_numpy())
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    if not pa.types.is_floating(column.type):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


# -- columns that are handed on ----------------------------------------------------------------------------


def kept_schema(files: Files, names: Sequence[str]) -> Any:
    """The columns to hand on, each with a type that suits every file; those of a CSV file are text."""
    if isinstance(names, str):
        raise TypeError(f"`keep` must be a list of names, got {names!r}.")
    for name in names:
        for table in files.tables:
            table.column(name)
    if files.is_csv:
        return pa.schema([(name, pa.string()) for name in names])
    schemas = [table.format.look(table.path, None)[0] for table in files.tables] if names else []
    return pa.schema([_common_field(name, files, schemas) for name in names])


def _common_field(name: str, files: Files, schemas: list[Any]) -> Any:
    first = files.tables[0]
    common = pa.schema([schemas[0].field(name).remove_metadata()])
    for table, schema in zip(files.tables, schemas, strict=True):
        other = pa.schema([schema.field(name).remove_metadata()])
        try:
            common = pa.unify_schemas([common, other], promote_options="permissive")
        except pa.ArrowException:
            raise ValueError(
                f"Column {name!r} must be of one kind in every file to be kept: it is "
                f"{first.column(name).type} in {first.path}, but {table.column(name).type} in {table.path}."
            ) from None
    return common.field(0)


def _kept(batch: Any, wanted: Wanted) -> Any:
    """The columns that are handed on, nothing where a CSV file has nothing."""
    columns = [batch.column(name) for name in wanted.kept.names]
    if wanted.files.is_csv:
        columns = [without_gaps(column, [""]) for column in columns]
    return pa.table(columns, names=wanted.kept.names).cast(wanted.kept)
