"""Passes over the partitions of a cluster: the tasks of each worker, and how their sums are combined.

A pass asks, for each partition in which a block begins, for the `PartialSum` of these blocks. Sums of
neighbours are joined on the workers, `FAN_IN` at a time, and the total is fetched. The task is sent once,
as bytes that workers hand on to each other. All of it are ordinary Dask tasks without side effects: what a
worker that dies has known is computed again by another, to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import accumulate
from sys import modules
from time import monotonic
from typing import Any

from sleek._runtime.packages import need
from sleek._runtime.sums import PartialSum, Sum
from sleek._runtime.threads import single_threaded_blas
from sleek._runtime.warn import warn
from sleek.rows.dask.collections import PURPOSE
from sleek.rows.dask.parts import Loaded, PartitionRows, Reading, joined, read_part
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Progress

FAN_IN = 16  # sums that are joined by one task
TICK = 0.2  # seconds between two looks at how far a pass is
PATIENCE = 10.0  # seconds after which it is asked whether any worker takes on work


def active_client() -> Any:
    """The client of this process, None if there is none; `distributed` is not imported to find out."""
    if "distributed" not in modules:
        return None
    try:
        return modules["distributed"].default_client()
    except ValueError:
        return None


@dataclass(frozen=True, eq=False)
class Failure:
    """An error in a task, on its way home: raised on a worker it could end the thread (an interrupt)."""

    error: BaseException


@dataclass(frozen=True)
class Border:
    """Where the blocks lie that begin in a partition.

    >>> Border.each([3, 0, 4, 1], 2)
    [Border(number=0, start=0, n_rows=3, first=0, n_blocks=2, beyond=((2, 0, 1),)),
     Border(number=2, start=3, n_rows=4, first=2, n_blocks=2, beyond=((3, 0, 1),))]
    """

    number: int  # of the partition
    start: int  # number of its first row
    n_rows: int
    first: int  # number of the first block that begins there
    n_blocks: int
    beyond: tuple[tuple[int, int, int], ...]  # rows lo … hi-1 of further partitions that its last block has

    @classmethod
    def each(cls, sizes: Sequence[int], block_rows: int) -> list[Border]:
        """For partitions of so many rows, where there is a block to begin."""
        starts = [0, *accumulate(sizes)]
        found = []
        for number, n_rows in enumerate(sizes):
            start, end = starts[number], starts[number + 1]
            first, last = -(-start // block_rows), -(-end // block_rows)
            if first == last:
                continue
            beyond, missing = [], min(last * block_rows, starts[-1]) - end
            for further in range(number + 1, len(sizes)):
                taken = min(missing, sizes[further])
                if missing == 0:
                    break
                if taken:
                    beyond.append((further, 0, taken))
                missing -= taken
            found.append(cls(number, start, n_rows, first, last - first, tuple(beyond)))
        return found


def read(
    make: Callable[..., Loaded],
    reading: Reading,
    number: int,
    first: int,
    start: int,
    n_rows: int,
    *parts: Any,
) -> PartitionRows | Failure:
    """The rows of a partition that count, checked; there must be as many as there were."""
    try:
        part = read_part(make(*parts), reading, number, first, start)
        if len(part) != n_rows:
            raise ValueError(
                f"Partition {number} has changed since its rows were counted: {n_rows} of them had a "
                f"positive weight, now it is {len(part)}. A collection must hold the same rows whenever it "
                "is computed: give random ones a seed, or persist it."
            )
        return part
    except BaseException as error:
        return Failure(error)


def sum_blocks(
    part: PartitionRows | Failure,
    border: Border,
    block_rows: int,
    task: bytes,
    *beyond: PartitionRows | Failure,
) -> PartialSum[Any] | Failure:
    """The task's sum over the blocks that begin in a partition."""
    from pickle import loads

    for found in (part, *beyond):
        if isinstance(found, Failure):
            return found
    try:
        function: Callable[[RawBlock], Any] = loads(task)
        with single_threaded_blas():
            blocks = _blocks(part, border, block_rows, beyond)  # type: ignore[arg-type]
            return PartialSum.of(border.first, (function(block) for block in blocks))
    except BaseException as error:
        return Failure(error)


def _blocks(
    part: PartitionRows, border: Border, block_rows: int, beyond: tuple[PartitionRows, ...]
) -> Iterator[RawBlock]:
    for block in range(border.first, border.first + border.n_blocks):
        start = block * block_rows
        lo = start - border.start
        hi = min(lo + block_rows, border.n_rows)
        if beyond and block == border.first + border.n_blocks - 1:
            yield joined([part.cut(lo, hi), *beyond], start)
        else:
            yield part.raw(lo, hi, start)


def cut(part: PartitionRows | Failure, lo: int, hi: int) -> PartitionRows | Failure:
    """Some rows of a partition."""
    return part if isinstance(part, Failure) else part.cut(lo, hi)


def join(sums: Sequence[PartialSum[Any] | Failure]) -> PartialSum[Any] | Failure:
    """The sum of neighbours, or the first of the errors."""
    found = []
    for partial in sums:
        if isinstance(partial, Failure):
            return partial
        found.append(partial)
    return PartialSum.join(found)


class Pass:
    """One pass over the partitions of a cluster."""

    def __init__(self, client: Any, progress: Progress | None = None) -> None:
        self.client, self.progress = client, progress
        self.places: dict[Any, Any] = {}  # which workers have a part; Dask weighs that against who is idle

    def kept(self, parts: Sequence[Any], borders: Sequence[Border]) -> list[Any]:
        """The same parts as futures, computed and held by the workers."""
        with self._running(parts) as futures:
            self._wait(futures, borders)
            return futures

    def at_home(self, parts: Sequence[Any]) -> Pass:
        """The same pass, where work goes to the workers that have these parts: rows do not travel."""
        self.places = {key: list(workers) for key, workers in self.client.who_has(parts).items() if workers}
        return self

    def total(
        self,
        parts: Sequence[Any],
        beyond: Sequence[Sequence[Any]],
        borders: Sequence[Border],
        block_rows: int,
        task: Callable[[RawBlock], Sum],
    ) -> Sum:
        """The task's sum over all blocks, from what computes the parts in which they begin."""
        dask = need("dask", "dask", PURPOSE)
        delayed = dask.delayed
        work, together = delayed(sum_blocks), delayed(join)
        sent = delayed(_bytes_of(task))
        works = []
        for part, border, more in zip(parts, borders, beyond, strict=True):
            place = self.places.get(getattr(part, "key", None))
            with dask.annotate(workers=place, allow_other_workers=True) if place else nullcontext():
                works.append(work(part, border, block_rows, sent, *more))
        level = works
        while len(level) > 1:
            level = [together(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
        with self._running([*works, level[0]]) as futures:
            self._wait(futures, borders)
            found = futures[-1].result()
        if isinstance(found, Failure):
            raise found.error
        total: Sum = found.total
        return total

    def each(self, tasks: Sequence[Any], numbers: Sequence[int]) -> list[Any]:
        """The results of these tasks, one for each partition of these numbers, fetched."""
        return list(self.client.gather(self.kept(tasks, [Border(n, 0, 0, 0, 0, ()) for n in numbers])))

    @contextmanager
    def _running(self, tasks: Sequence[Any]) -> Iterator[list[Any]]:
        """Futures of these tasks, cancelled when they are not wanted any more."""
        futures = self.client.compute(list(tasks))
        try:
            yield futures
        except BaseException:
            self.client.cancel(futures)
            raise

    def _wait(self, futures: list[Any], borders: Sequence[Border]) -> None:
        """Until the last one is there; an error in a partition gets its number."""
        wait = modules["distributed"].wait
        n_rows, waiting = sum(border.n_rows for border in borders), [futures[-1]]
        if len(futures) == len(borders):
            waiting = futures
        looked = monotonic()
        while True:
            try:
                wait(waiting, timeout=TICK)
                if all(future.status != "lost" for future in waiting):  # else its worker died: computed again
                    break
            except TimeoutError:
                if self.progress is not None:
                    done = zip(futures, borders, strict=False)
                    self.progress(sum(border.n_rows for future, border in done if future.done()), n_rows)
                if monotonic() - looked > PATIENCE:
                    looked = monotonic()
                    self._warn_if_all_paused()
        if any(future.status != "finished" for future in waiting):
            self._explain(futures, borders)

    def _warn_if_all_paused(self) -> None:
        """A pass that no worker takes on would wait without a word."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        if workers and all(worker["status"] == "paused" for worker in workers):
            warn(
                "Every worker of the Dask cluster is paused because its memory is full: the pass waits until "
                "some of it is freed. Give workers more memory, or make partitions smaller."
            )

    def _explain(self, futures: list[Any], borders: Sequence[Border]) -> None:
        """Raise the first error, with the number of the partition."""
        for future, border in zip(futures, borders, strict=False):
            if future.status in ("error", "cancelled"):
                raise unreadable(border.number, _error_of(future)) from None
        futures[-1].result()


def _error_of(future: Any) -> BaseException:
    try:
        future.result()
    except Exception as error:
        return error
    raise AssertionError("a future that has failed has an error")


def unreadable(number: int, error: BaseException) -> Exception:
    """The sentence for a partition that cannot be computed."""
    name = type(error).__name__
    if name == "KilledWorker":
        return MemoryError(
            f"Partition {number} cannot be computed: every worker that tried has died. Is it too large for "
            "their memory? Cut it into smaller ones by repartition or rechunk."
        )
    if "Cancelled" in name:
        return RuntimeError(
            f"Partition {number} cannot be computed any more: it was on a worker that is gone, and nothing "
            "says how to make it again. Make it from files or arrays instead of by scatter."
        )
    text = " ".join(str(error).split()).rstrip(". ")
    return ValueError(f"Partition {number} cannot be computed: {name}: {text}.")


def _bytes_of(task: Callable[..., Any]) -> bytes:
    from cloudpickle import dumps

    found: bytes = dumps(task)
    return found
