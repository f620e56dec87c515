"""Batches of columns from files, one after the other, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sleek._runtime.types import AnyArray, FloatArray
from sleek.rows.files.blocks import Chunk, Origin
from sleek.rows.files.files import Files
from sleek.rows.files.formats import Asked
from sleek.rows.files.labels import arrow_labels
from sleek.rows.files.layout import FileLayout, unreadable

LEAST_ROWS, BATCH_ROWS = 2**11, 2**16
BATCH_BYTES = 2**24  # of the columns of a batch, if that is fewer rows


@dataclass(frozen=True, eq=False)
class Wanted:
    """Which columns to read, and what to make of the target: numbers, class labels, or nothing."""

    source: Files
    features: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()  # columns whose values are looked at as they are
    numbers: tuple[str, ...] = ()  # targets of regression
    label: str | None = None  # target of classification
    weight: str | None = None
    kept: Any = field(default_factory=lambda: pa.schema([]))  # columns that are handed on as they are
    threads: bool = False  # whether columns are decoded by several threads

    @property
    def columns(self) -> list[str]:
        label, weight = (() if name is None else (name,) for name in (self.label, self.weight))
        return list(
            dict.fromkeys((*self.features, *self.raw, *self.numbers, *label, *weight, *self.kept.names))
        )

    @property
    def as_text(self) -> set[str]:
        """Columns that a CSV file hands out as they are written."""
        return {name for name in (self.label, *self.raw, *self.kept.names) if name is not None} - set(
            self.features
        )


def kept_schema(source: Files, names: Sequence[str], *, raw: bool = False) -> Any:
    """The columns to hand on, each with a type that suits every file.

    Those of a CSV file are text, unless they are features that are read as numbers, and not `raw`.
    """
    if isinstance(names, str):
        raise TypeError(f"`keep` must be a list of names, got {names!r}.")
    for name in names:
        for table in source.tables:
            table.column(name)
    if source.is_csv:
        numbers = () if raw else source.features
        return pa.schema([(name, pa.float64() if name in numbers else pa.string()) for name in names])
    schemas = [table.format.look(table.path, None)[0] for table in source.tables]
    return pa.schema([_common_field(name, source, schemas) for name in names])


def _common_field(name: str, source: Files, schemas: list[Any]) -> Any:
    first = source.tables[0]
    common = pa.schema([schemas[0].field(name).remove_metadata()])
    for table, schema in zip(source.tables, schemas, strict=True):
        other = pa.schema([schema.field(name).remove_metadata()])
        try:
            common = pa.unify_schemas([common, other], promote_options="permissive")
        except pa.ArrowException:
            raise ValueError(
                f"Column {name!r} must be of one kind in every file to be kept: it is "
                f"{first.column(name).type} in {first.path}, but {table.column(name).type} in {table.path}."
            ) from None
    return common.field(0)


def chunks(wanted: Wanted) -> Generator[Chunk, None, None]:
    """The rows of positive weight of all files, decoded."""
    start = 0
    for table in wanted.source.tables:
        first = 0
        with closing(_batches(table, wanted)) as batches:
            for batch in batches:
                yield _decoded(wanted, Origin(table.path, first, start + first, len(batch)), batch)
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
        raise ValueError(_reading_sentence(table, wanted, error)) from error


def _asked(table: FileLayout, wanted: Wanted) -> Asked:
    """What is read of the file itself; other columns are named by its folders."""
    return Asked(
        [name for name in wanted.columns if name not in table.partition],
        int(np.clip(BATCH_BYTES // (8 * len(wanted.columns)), LEAST_ROWS, BATCH_ROWS)),
        frozenset(wanted.as_text),
        wanted.source.gaps,
        wanted.threads,
    )


def _with_partition(batch: Any, table: FileLayout, wanted: Wanted) -> Any:
    """A batch with the columns that folders stand for, as text in a CSV file's."""

    def column(name: str) -> Any:
        if name not in table.partition:
            return batch.column(name)
        value = table.partition[name]
        text = table.is_csv and name in wanted.as_text
        if text and isinstance(value, float):
            value = f"{value:.15g}"
        kind = pa.string() if text or isinstance(value, str) else pa.float64()
        return pa.repeat(pa.scalar(value, kind), batch.num_rows)

    return pa.RecordBatch.from_arrays([column(name) for name in wanted.columns], names=wanted.columns)


def _reading_sentence(table: FileLayout, wanted: Wanted, error: Exception) -> str:
    """What went wrong in a file; a value that is not a number is looked up again, to name its line."""
    pattern = r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to \w+: invalid value '(.*)'"
    found = re.search(pattern, str(error), flags=re.DOTALL)
    if found is None:
        return unreadable(table.path, table.format.word, error)
    if found[2] is None:  # several threads do not count rows
        try:
            for _ in table.format.batches(table, replace(_asked(table, wanted), threads=False)):
                pass
        except pa.ArrowException as again:
            found = re.search(pattern, str(again), flags=re.DOTALL) or found
    line = "a line" if found[2] is None else f"line {found[2]} (empty ones not counted)"
    assert table.dialect is not None
    name, value = table.dialect.header[int(found[1])], found[3]
    return (
        f"Column {name!r} of {table.path} must hold numbers, but {line} has {value!r}. "
        "Turn it into numbers or leave the column out."
    )


def _decoded(wanted: Wanted, origin: Origin, batch: Any) -> Chunk:
    """The batch's rows of positive weight: features and numbers as columns, and labels."""
    files, s = wanted.source, None
    if files.part is not None:
        origin, batch, _ = _select(files.part.mask(origin.numbers()), origin, batch)
    if files.drop_missing_targets:
        origin, batch, _ = _select(_has_targets(wanted, batch), origin, batch)
    if wanted.weight is not None:
        s = _weights(wanted.weight, origin, batch)
        origin, batch, (s,) = _select(s > 0, origin, batch, s)
    labels = None
    if wanted.label is not None:
        labels = arrow_labels(wanted.label, origin, batch.column(wanted.label), files.is_csv)
    return Chunk(
        origin=origin,
        X=[_floats(batch.column(name)) for name in wanted.features],
        Y=[_floats(batch.column(name)) for name in wanted.numbers],
        labels=labels,
        s=s,
        numbers=origin.numbers(),
        batch=batch,
        kept=pa.Table.from_batches([batch]).select(wanted.kept.names).cast(wanted.kept),
    )


def _has_targets(wanted: Wanted, batch: Any) -> AnyArray:
    """Which rows have all targets that are read."""
    found = np.ones(len(batch), dtype=bool)
    for name in (*wanted.numbers, *([] if wanted.label is None else [wanted.label])):
        column = batch.column(name)
        found &= column.is_valid().to_numpy(zero_copy_only=False)
        if name in wanted.numbers or pa.types.is_floating(column.type):
            found &= ~np.isnan(_floats(column).astype(np.float64))
    return found


def _select(
    mask: AnyArray, origin: Origin, batch: Any, *arrays: AnyArray
) -> tuple[Origin, Any, list[AnyArray]]:
    """The rows of the mask, without a copy if that is all of them."""
    if mask.all():
        return origin, batch, list(arrays)
    return origin.select(mask), batch.filter(pa.array(mask)), [array[mask] for array in arrays]


def _weights(name: str, origin: Origin, batch: Any) -> FloatArray:
    """Weights of all rows: finite, and none negative."""
    weights = np.asarray(_floats(batch.column(name)), dtype=np.float64)
    bad = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(bad):
        value = batch.column(name)[int(bad[0])].as_py()
        shown = "nothing" if value is None else repr(value)
        raise ValueError(
            f"The weights in column {name!r} must be finite and not negative, got {shown} in "
            f"{origin.where(bad)}. A weight of 0 leaves a row out."
        )
    return weights


def _floats(column: Any) -> AnyArray:
    """A column of numbers as an array that turns into float64 without a loss when it is copied.

    A view of the column if it can be; what is missing becomes NaN. Decimals go through their digits: Arrow's
    own conversion is off by one bit now and then.
    """
    plain = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    if plain and column.null_count == 0:
        return np.asarray(column.to_numpy())
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    if not pa.types.is_floating(column.type):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))
