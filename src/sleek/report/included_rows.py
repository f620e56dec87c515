"""Rows that a page carries because somebody asked for them: their numbers, and a value for each column."""

from __future__ import annotations

from collections.abc import Generator
from numbers import Integral
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray
from sleek.model.kernel_model import KernelModel
from sleek.rows.rows import Rows
from sleek.tables.columns import Column, WordColumn
from sleek.tables.encoded import EncodedTable

OTHER = "\0"  # a word that is no level, in a page
IncludedRow = tuple[int, list[Any]]  # its number, counted from 0, and what the page's program reads


def check_include_rows(include_rows: Any, there_are_rows: bool, is_page: bool) -> int:
    """How many rows to include, if that is possible; a ValueError says what is wrong."""
    whole = isinstance(include_rows, Integral) and not isinstance(include_rows, bool)
    if not whole or int(include_rows) < 0:
        raise ValueError(f"`include_rows` must be a number of rows, 0 or more, got {include_rows!r}.")
    if include_rows and not there_are_rows:
        raise ValueError(
            "Rows to include are those that the model is measured on, and a model's file has none: a report "
            f"with {include_rows} of them needs data with their true values."
        )
    if include_rows and not is_page:
        raise ValueError("Rows are included in pages, which end in .html; Markdown has no list of rows.")
    return int(include_rows)


def included_in_memory(model: KernelModel, rows: AnyArray | EncodedTable, n: int) -> list[IncludedRow]:
    """The first n of rows as `rows_of` checks them."""
    return [*enumerate(_values(model, rows, n))]


def included(model: KernelModel, rows: Rows, n: int) -> list[IncludedRow]:
    """The first n of rows that are kept somewhere, such as files, of those that have a target."""
    if not n:
        return []
    found: list[IncludedRow] = []
    chunks = rows.chunks(model.outputs.reads, True)
    for chunk in chunks:
        values = _values(model, chunk.X, n - len(found))
        found += zip(chunk.own_numbers().tolist(), values, strict=False)
        if len(found) == n:
            break
    if isinstance(chunks, Generator):
        chunks.close()
    return found


def _values(model: KernelModel, rows: AnyArray | EncodedTable, n: int) -> list[list[Any]]:
    """Numbers, days, words, and None for what is missing, of the first n rows."""
    if model.inputs is None:
        found: list[list[Any]] = np.asarray(rows[:n], dtype=np.float64).tolist()
        return found
    if not isinstance(rows, EncodedTable):
        raise ValueError(
            "Rows to include must be a table with the columns that the model reads, got an array of features."
        )
    settled = rows.take(slice(n)).settled
    columns = [_column(column, array) for column, array in zip(model.inputs.columns, settled, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def _column(column: Column, settled: AnyArray) -> list[Any]:
    if isinstance(column, WordColumn):
        words = [*column.levels, OTHER, None]
        return [words[place] for place in settled.tolist()]
    return [None if value != value else value for value in settled.tolist()]
