"""A random sample of the rows of files, as columns in memory, for `sleek inspect`."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from sleek.rows.files.files import Files
from sleek.rows.files.roles import RowShare
from sleek.rows.raw import RawBlock
from sleek.tables.errors import TableError
from sleek.tables.values import Columns


@dataclass(frozen=True, eq=False)
class SampledTable:
    """Rows drawn from files.

    Attributes
    ----------
    files : Files
    columns : Columns
    n_rows : int
        The rows of the files.
    unusable : dict
        A sentence for each column that cannot be read as what it seems to be; here it is text.
    """

    files: Files
    columns: Columns
    n_rows: int
    unusable: dict[str, str]


def sample_files(files: Files, most: int) -> SampledTable:
    """At most so many rows, drawn by their numbers."""
    unusable = _unusable(files)
    readable = replace(files, categories=[*(files.categories or ()), *unusable])
    share, kept, n_rows = 1.0, list[RawBlock](), 0
    with closing(readable.chunks(None, True)) as found:
        for chunk in found:
            n_rows += len(chunk)
            kept.append(_draw(chunk, share))
            while sum(map(len, kept)) > most:
                share /= 2.0
                kept = [_draw(part, share) for part in kept]
    if not n_rows:
        raise TableError(f"{files.named_files} has column names but no rows.")
    columns = Columns.joined([part.X for part in kept])
    return SampledTable(readable, columns, n_rows, unusable)


def _draw(chunk: RawBlock, share: float) -> RawBlock:
    if share == 1.0:
        return chunk
    return chunk.take(np.flatnonzero(RowShare(0, 0.0, share).mask(chunk.own_numbers())))


def _unusable(files: Files) -> dict[str, str]:
    """Columns of text whose numbers can be read in two ways."""
    found = {}
    if files.texts is not None:
        for name in files.features:
            try:
                if files.is_text(name):
                    files.texts.is_number(name)
            except TableError as error:
                found[name] = str(error)
    return found
