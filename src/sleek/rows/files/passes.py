"""Passes over the rows of files: sums, and predictions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

from sleek._runtime.sums import Sum, total
from sleek._runtime.threads import single_threaded_blas
from sleek._runtime.types import AnyArray
from sleek.rows.files.batches import Wanted, chunks, kept_schema
from sleek.rows.files.blocks import Cut, cut, each_block
from sleek.rows.files.files import Files
from sleek.rows.rows import PREDICT_ROWS, TARGET_BLOCK, RawBlock, Run
from sleek.rows.source import rows_per_block, run_length


def _wanted(files: Files, reads: str | None, features: bool, threads: bool = False) -> Wanted:
    """Which columns a pass reads."""
    files.check_columns(reads, features)
    return Wanted(
        files,
        features=files.features if features else (),
        numbers=files.targets if reads == "numbers" else (),
        label=files.targets[0] if reads == "labels" else None,
        weight=files.weight if reads is not None else None,
        threads=threads,
    )


def _raw(block: Cut, wanted: Wanted) -> RawBlock:
    """A block of what was read."""
    y: Any = None
    if wanted.label is not None:
        y = block.labels()
    elif wanted.numbers:
        y = block.Y(wanted.numbers)
    X = block.X(wanted.features) if wanted.features else None
    return RawBlock(block.start, X, y, block.s(), block.where)


def raw_blocks(files: Files, reads: str | None, features: bool) -> Iterator[RawBlock]:
    """All rows of positive weight (or all, if no weights are read), some thousands at a time."""
    wanted = _wanted(files, reads, features)
    with closing(chunks(wanted)) as found:
        yield from (_raw(block, wanted) for block in cut(found, PREDICT_ROWS))


def map_reduce(
    files: Files,
    task: Callable[[RawBlock], Sum],
    run: Run,
    reads: str | None,
    features: bool,
    n_rows: int | None,
) -> Sum:
    """task(block₁) + task(block₂) + …; see `Rows.map_reduce`. Blocks are filled on the workers' threads."""
    size = TARGET_BLOCK if n_rows is None else rows_per_block(n_rows)
    length = 1 if n_rows is None else run_length(-(-n_rows // size))
    wanted = _wanted(files, reads, features, threads=run.workers.n_jobs > 1)
    blocks = each_block(
        chunks(wanted), size, lambda block: task(_raw(block, wanted)), run.workers, run.progress, files.n_rows
    )
    with single_threaded_blas(), closing(blocks) as results:
        runs = (total([first, *islice(results, length - 1)]) for first in results)
        first = next(runs, None)
        if first is None:
            raise ValueError(_no_rows(files))
        return total([first, *runs])


def predictions(
    files: Files, predict: Callable[..., AnyArray], keep: Sequence[str], run: Run
) -> Generator[tuple[AnyArray, Any], None, None]:
    """Pairs of ``predict(X)`` and an Arrow table of the columns `keep`, for all rows, thousands at a time.

    Neither target nor weight is looked at. To be closed (``contextlib.closing``) when it is not used up.
    """
    files.check_columns(None, features=True)

    def task(block: Cut) -> tuple[AnyArray, Any]:
        return predict(block.X(files.features)), block.kept()

    wanted = Wanted(files, files.features, kept=kept_schema(files, keep), threads=run.workers.n_jobs > 1)
    blocks = each_block(chunks(wanted), PREDICT_ROWS, task, run.workers, run.progress, files.n_rows)
    with single_threaded_blas(), closing(blocks) as results:
        first = next(results, None)
        if first is None:
            raise ValueError(f"There are no rows in {files.named_files}: there is nothing to predict.")
        yield first
        yield from results


def _no_rows(files: Files) -> str:
    if files.weight is None or files.n_rows == 0:
        return f"There are no rows in {files.named_files}: there is nothing to learn from."
    return (
        f"No row of {files.named_files} has a weight above 0 in column {files.weight!r}: "
        "there is nothing to learn from."
    )
