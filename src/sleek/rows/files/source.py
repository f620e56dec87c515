"""Rows of files as a source of blocks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from operator import add
from typing import Any

import numpy as np

from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray
from sleek.closed_form.moments import TARGET_BLOCK
from sleek.outputs.outputs import Targets
from sleek.rows.files.blocks import Cut, Progress, each_block
from sleek.rows.files.files import ParquetSource
from sleek.rows.files.labels import LabelCoding
from sleek.rows.source import ArraySource, Block, RowsAtHand, Sum, rows_per_block, run_length


@dataclass(frozen=True, eq=False)
class FileRows(RowsAtHand):
    """The rows of positive weight of files, with targets encoded as `targets` does.

    Blocks are cut by number among these rows, so a sum over them is bit for bit that of an `ArraySource`.
    Every `map_reduce` reads the files once; memory is that of a few batches, however many rows there are.
    A survey of the targets makes one: see `survey_classes` and `survey_numbers`.
    """

    source: ParquetSource
    targets: Targets
    count: int
    labels: LabelCoding | None  # None: targets are numbers
    workers: Workers = field(default_factory=Workers)
    progress: Progress | None = None
    block_rows: int | None = None  # None for the usual number

    @property
    def n_rows(self) -> int:
        return self.count

    @property
    def coding(self) -> Targets:
        return self.targets

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        def run(cut: Cut) -> Sum:
            T = self.targets.encode(self._targets(cut))
            return task(Block(cut.start, cut.X(self.source.features), T, cut.s()))

        return self._over_cuts(run)

    def in_memory(self) -> ArraySource:
        """The same rows as arrays, for data that is small after all."""
        source, n = self.source, self.n_rows
        X, s = np.empty((n, len(source.features))), np.empty(n)
        y = np.empty((n, len(source.targets))) if self.labels is None else np.empty(n, dtype=np.int64)

        def copy(cut: Cut) -> int:
            rows = slice(cut.start, cut.start + len(cut))
            X[rows], y[rows], s[rows] = cut.X(source.features), self._targets(cut), cut.s()
            return len(cut)

        self._over_cuts(copy)
        return ArraySource(X, y, s, self.targets, self.workers)

    def _targets(self, cut: Cut) -> AnyArray:
        """Numbers (n, k) or class codes (n,)."""
        return cut.Y(self.source.targets) if self.labels is None else cut.codes()

    def _over_cuts(self, task: Callable[[Cut], Sum]) -> Sum:
        source, numbers = self.source, self.labels is None
        size = self.block_rows or rows_per_block(self.n_rows)
        return map_reduce(
            source,
            task,
            self.workers,
            self.progress,
            size,
            run_length(-(-self.n_rows // size)),
            features=source.features,
            numbers=source.targets if numbers else (),
            label=None if numbers else source.targets[0],
            coding=self.labels,
        )


def map_reduce(
    source: ParquetSource,
    task: Callable[[Cut], Sum],
    workers: Workers,
    progress: Progress | None,
    block_rows: int = TARGET_BLOCK,
    run: int = 1,
    **columns: Any,
) -> Sum:
    """task(block₁) + task(block₂) + … over the rows of positive weight, of which only `columns` are read.

    Sums are those of `run` consecutive blocks, and then of these, as in memory.
    """
    from sleek.rows.files.batches import Plan, chunks

    plan = Plan(source, weight=source.weight, threads=workers.n_jobs > 1, **columns)
    blocks = each_block(chunks(plan), block_rows, task, workers, progress, source.n_rows)
    with single_threaded_blas(), closing(blocks) as results:
        runs = (reduce(add, islice(results, run - 1), first) for first in results)
        total = next(runs, None)
        if total is None:
            raise ValueError(_no_rows(source))
        return reduce(add, runs, total)


def _no_rows(source: ParquetSource) -> str:
    if source.weight is None or source.n_rows == 0:
        return f"There are no rows in {source.named_files}: there is nothing to learn from."
    return (
        f"No row of {source.named_files} has a weight above 0 in column {source.weight!r}: "
        "there is nothing to learn from."
    )
