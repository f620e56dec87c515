"""Rows of files as a source of blocks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from sleek.files.blocks import Cut, Progress, each_block
from sleek.files.labels import LabelCoding
from sleek.files.source import ParquetSource
from sleek.sources import BLOCK_ROWS, Block, Source, Sum, single_threaded_blas
from sleek.targets import Targets


@dataclass(frozen=True, eq=False)
class FileRows(Source):
    """The rows of positive weight of files, with targets encoded as `targets` does.

    Blocks are cut by number among these rows, so a sum over them is bit for bit that of an `ArraySource`.
    Every `map_reduce` reads the files once; memory is that of a few batches, however many rows there are.
    A survey of the targets makes one: see `survey_classes` and `survey_numbers`.
    """

    source: ParquetSource
    targets: Targets
    count: int
    labels: LabelCoding | None  # None: targets are numbers
    n_jobs: int = 1
    progress: Progress | None = None

    @property
    def n_rows(self) -> int:
        return self.count

    @property
    def coding(self) -> Targets:
        return self.targets

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        source, labels = self.source, self.labels

        def run(cut: Cut) -> Sum:
            y = cut.Y(source.targets) if labels is None else cut.codes()
            return task(Block(cut.start, cut.X(source.features), self.targets.encode(y), cut.s()))

        return map_reduce(
            source,
            run,
            self.n_jobs,
            self.progress,
            features=source.features,
            numbers=source.targets if labels is None else (),
            label=None if labels is None else source.targets[0],
            coding=labels,
        )


def map_reduce(
    source: ParquetSource,
    task: Callable[[Cut], Sum],
    n_jobs: int,
    progress: Progress | None,
    **columns: Any,
) -> Sum:
    """task(block₁) + task(block₂) + … over the rows of positive weight, of which only `columns` are read."""
    from sleek.files.reading import Plan, chunks

    plan = Plan(source, weight=source.weight, threads=n_jobs > 1, **columns)
    blocks = each_block(chunks(plan), BLOCK_ROWS, task, n_jobs, progress, source.n_rows)
    with single_threaded_blas(), closing(blocks) as results:
        first = next(results, None)
        if first is None:
            raise ValueError(_no_rows(source))
        return reduce(add, results, first)


def _no_rows(source: ParquetSource) -> str:
    files = source.tables[0].path + (" and the other files" if len(source.tables) > 1 else "")
    if source.weight is None or source.n_rows == 0:
        return f"There are no rows in {files}: there is nothing to learn from."
    return (
        f"No row of {files} has a weight above 0 in column {source.weight!r}: there is nothing to learn from."
    )
