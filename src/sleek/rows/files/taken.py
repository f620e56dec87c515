"""Some rows of files as a table in memory: for a look at them, however many there are."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np

from sleek._runtime.types import IntArray
from sleek.rows.files.batches import Wanted, chunks
from sleek.rows.files.files import Files
from sleek.rows.files.roles import Part
from sleek.tables.table import Table


def sampled(files: Files, most: int) -> tuple[Table, int]:
    """At most so many rows, drawn by their numbers, as a table, and how many there are in all."""
    share, kept, n_rows = 1.0, [], 0
    with closing(chunks(Wanted(files, raw=files.features))) as found:
        for chunk in found:
            n_rows += chunk.origin.n_read
            kept.append(_drawn(chunk.batch, chunk.numbers, share))
            while sum(len(numbers) for _, numbers in kept) > most:
                share /= 2.0
                kept = [_drawn(batch, numbers, share) for batch, numbers in kept]
    return _table(files, kept), n_rows


def row_at(files: Files, number: int) -> tuple[Table | None, int]:
    """The row of a number as a table, None if there is none; and how many rows were read to find it."""
    n_rows = 0
    with closing(chunks(Wanted(files, raw=files.features))) as found:
        for chunk in found:
            n_rows += chunk.origin.n_read
            at = np.flatnonzero(chunk.numbers == number)
            if len(at):
                return _table(files, [(chunk.batch.slice(int(at[0]), 1), chunk.numbers[at])]), n_rows
    return None, n_rows


def _drawn(batch: Any, numbers: IntArray, share: float) -> tuple[Any, IntArray]:
    if share == 1.0:
        return batch, numbers
    mask = Part(0, 0.0, share).mask(numbers)
    return batch.filter(mask), numbers[mask]


def _table(files: Files, kept: list[tuple[Any, IntArray]]) -> Table:
    import pyarrow as pa

    found = pa.Table.from_batches([batch for batch, _ in kept])
    numbers = np.concatenate([numbers for _, numbers in kept])
    columns = {name: found.column(name) for name in files.features}
    return Table(
        files.named_files,
        columns,
        len(found),
        files.is_csv,
        lambda row: f"row {numbers[row] + 1}",
        files.comma,
        files.gaps,
        files.notes,
    )
