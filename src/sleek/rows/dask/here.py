"""Partitions computed in this process, one after the other: what is done without a cluster."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sleek._runtime.packages import need
from sleek.rows.dask.collections import PURPOSE, Collections, Load
from sleek.rows.dask.parts import Loaded, numbers_of, targets_of, weights_of, words_of
from sleek.rows.dask.passes import active_client, unreadable
from sleek.rows.raw import RawBlock

if TYPE_CHECKING:
    from sleek.rows.dask.rows import DaskRows


def loaded(
    collections: Collections, reads: str | None, features: bool
) -> Generator[tuple[int, int, Loaded], None, None]:
    """Every partition that has rows: its number, that of its first row, and what Dask computes of it."""
    yield from computed(collections.loads(reads, features))


def computed(loads: Sequence[Load]) -> Generator[tuple[int, int, Loaded], None, None]:
    """The same, for what makes partitions."""
    dask, first = need("dask", "dask", PURPOSE), 0
    client = active_client()
    for number, (make, parts) in enumerate(loads):
        try:
            values = dask.compute(*parts) if client is None else client.gather(client.compute(list(parts)))
            found = make(*values)
        except Exception as error:
            raise unreadable(number, error) from error
        n = found.n_rows(number)
        if n:
            yield number, first, found
        first += n


def chunks(rows: DaskRows, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
    """All rows, a partition at a time."""
    for number, first, part in loaded(rows.collections, reads, features):
        yield RawBlock(
            numbers_of(part.X) if features else None,
            targets_of(part.y) if reads is not None else None,
            None if part.s is None or reads is None else weights_of(part.s),
            words_of(number, first, np.arange(part.n_rows(number))),
        )
