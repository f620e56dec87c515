"""Passes over the rows of files: sums, and predictions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from sleek._runtime.sums import Sum
from sleek._runtime.threads import single_threaded_blas
from sleek._runtime.types import AnyArray, IntArray
from sleek.rows.cutting import PREDICTED, Cutting
from sleek.rows.files.batches import Wanted, chunks, kept_schema
from sleek.rows.files.blocks import ColumnBlock, each_block
from sleek.rows.files.files import Files
from sleek.rows.raw import RawBlock, picked
from sleek.rows.rows import Run


def _wanted(files: Files, reads: str | None, features: bool, threads: bool = False) -> Wanted:
    """Which columns a pass reads; all that will be read sooner or later are checked."""
    files.check_columns(reads)
    return Wanted(
        files,
        features=files.features if features else (),
        numbers=files.targets if reads == "numbers" else (),
        label=files.targets[0] if reads == "labels" else None,
        weight=files.weight if reads is not None else None,
        threads=threads,
    )


def _raw(block: ColumnBlock, wanted: Wanted) -> RawBlock:
    """A block of what was read."""
    y: Any = None
    if wanted.label is not None:
        y = block.labels()
    elif wanted.numbers:
        y = block.Y(wanted.numbers)
    X = block.X(wanted.features) if wanted.features else None
    return RawBlock(X, y, block.s(), block.where(), block.numbers(), block.start)


def raw_blocks(files: Files, reads: str | None, features: bool) -> Iterator[RawBlock]:
    """All rows of positive weight (or all, if no weights are read), some thousands at a time."""
    wanted = _wanted(files, reads, features)
    with closing(chunks(wanted)) as found:
        yield from (_raw(block, wanted) for block in ColumnBlock.each(found, PREDICTED.block_rows))


def map_reduce(
    files: Files,
    task: Callable[[RawBlock], Sum],
    run: Run,
    reads: str | None,
    features: bool,
    cutting: Cutting,
) -> Sum | None:
    """task(block₁) + task(block₂) + …, None if there are no rows; workers' threads fill the blocks."""
    wanted = _wanted(files, reads, features, threads=run.workers.n_jobs > 1)
    blocks = each_block(
        chunks(wanted),
        cutting.block_rows,
        lambda block: task(_raw(block, wanted)),
        run.workers,
        run.progress,
        files.n_rows,
    )
    with single_threaded_blas(), closing(blocks) as results:
        return cutting.added_up(results)


def own_numbers(files: Files, numbers: IntArray, reads: str) -> IntArray:
    """The numbers among all rows of those that have these, sorted, among the rows that count."""
    targets = reads if files.drop_missing_targets else None
    wanted = replace(_wanted(files, targets, False), weight=files.weight)
    with closing(chunks(wanted)) as found:
        return picked(numbers, (chunk.numbers for chunk in found))


def predictions(
    files: Files, predict: Callable[..., AnyArray], keep: Sequence[str], run: Run
) -> Generator[tuple[AnyArray, Any], None, None]:
    """Pairs of ``predict(X)`` and an Arrow table of the columns `keep`, for all rows, thousands at a time.

    Neither target nor weight is looked at. To be closed (``contextlib.closing``) when it is not used up.
    """
    files.check_columns(None)

    def task(block: ColumnBlock) -> tuple[AnyArray, Any]:
        return predict(block.X(files.features)), block.kept()

    wanted = Wanted(files, files.features, kept=kept_schema(files, keep), threads=run.workers.n_jobs > 1)
    blocks = each_block(chunks(wanted), PREDICTED.block_rows, task, run.workers, run.progress, files.n_rows)
    with single_threaded_blas(), closing(blocks) as results:
        first = next(results, None)
        if first is None:
            raise ValueError(f"There are no rows in {files.named_files}: there is nothing to predict.")
        yield first
        yield from results
