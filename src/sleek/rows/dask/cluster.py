"""A Dask collection as the data of a fit: partitions are counted, summed on the workers, or fetched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.sums import Sum
from sleek._runtime.types import IntArray
from sleek.outputs.base import Outputs
from sleek.rows.checked import rows_changed_error
from sleek.rows.cutting import Cutting
from sleek.rows.dask.collections import PURPOSE, Load
from sleek.rows.dask.parts import Loaded, PartitionRows, Reading, weights_of, words_of
from sleek.rows.dask.passes import Border, Failure, Pass, active_client, cut, read
from sleek.rows.encoding import Encoding
from sleek.rows.grouping import join_groups
from sleek.rows.raw import RawBlock, join_targets, join_words
from sleek.rows.rows import Run, encoded
from sleek.rows.source import Block, Source
from sleek.rows.weights import Weighting

if TYPE_CHECKING:
    from sleek.rows.arrays import ArrayRows
    from sleek.rows.dask.dask_rows import DaskRows

NUMBER = 8  # bytes
FREE_SHARE = 0.5  # of the workers' free memory that rows may take to be kept there during a fit


@dataclass(frozen=True, eq=False)
class Counts:
    """Rows of each partition: all of them, and those of positive weight."""

    all: list[int]
    counted: list[int]

    @property
    def n_rows(self) -> int:
        """The number of rows of positive weight."""
        return sum(self.counted)


class Partitions:
    """What computes the parts of a collection, read in one way; kept on the workers if asked to.

    `loads` say how each partition is made.
    """

    def __init__(self, client: Any, loads: Sequence[Load], reading: Reading, counts: Counts) -> None:
        delayed = need("dask", "dask", PURPOSE).delayed
        self.client, self.reading, self.counts = client, reading, counts
        self._cut = delayed(cut)
        first, start = (np.cumsum([0, *sizes]).tolist() for sizes in (counts.all, counts.counted))
        reader = delayed(read)
        known = delayed(reading, traverse=False)  # it goes out once
        self.parts = [
            reader(make, known, number, first[number], start[number], counts.counted[number], *parts)
            for number, (make, parts) in enumerate(loads)
        ]
        self._beyond: dict[int, list[list[Any]]] = {}
        self.kept = False

    def keep(self, run: Run) -> None:
        """Read every partition once, and hold what was read where it is, as long as this object lives."""
        borders = [Border(number, 0, n_rows, 0, 0, ()) for number, n_rows in enumerate(self.counts.counted)]
        self.parts = Pass(self.client, run.progress).kept(self.parts, borders)
        self.kept = True

    def total(self, task: Callable[[RawBlock], Sum], block_rows: int, run: Run) -> Sum | None:
        """The task's sum over all blocks of so many rows; None if there is no row."""
        borders = Border.each(self.counts.counted, block_rows)
        if not borders:
            return None
        if block_rows not in self._beyond:
            beyond = [[self._cut(self.parts[j], lo, hi) for j, lo, hi in b.beyond] for b in borders]
            if self.kept:
                flat = self.client.compute([piece for pieces in beyond for piece in pieces])
                todo = iter(flat)
                beyond = [[next(todo) for _ in pieces] for pieces in beyond]
            self._beyond[block_rows] = beyond
        parts = [self.parts[border.number] for border in borders]
        passing = Pass(self.client, run.progress)
        if self.kept:
            passing.at_home(parts)
        return passing.total(parts, self._beyond[block_rows], borders, block_rows, task)

    def rows_at(self, numbers: IntArray, function: Callable[[PartitionRows], Any], run: Run) -> list[Any]:
        """``function`` of the rows of these numbers, which are sorted, of each partition that has some."""
        delayed = need("dask", "dask", PURPOSE).delayed
        starts = np.cumsum([0, *self.counts.counted])
        places = np.searchsorted(numbers, starts)
        pick, tasks, asked = delayed(take_from), [], []
        for number, (lo, hi) in enumerate(zip(places[:-1].tolist(), places[1:].tolist(), strict=True)):
            if hi > lo:
                own = (numbers[lo:hi] - starts[number]).astype(np.int32)
                tasks.append(pick(self.parts[number], own, function))
                asked.append(number)
        found = Pass(self.client, run.progress).each(tasks, asked)
        for each in found:
            if isinstance(each, Failure):
                raise each.error
        return found


def take_from(part: PartitionRows | Failure, rows: IntArray, function: Callable[[PartitionRows], Any]) -> Any:
    """A function of some rows of a partition."""
    if isinstance(part, Failure):
        return part
    try:
        return function(part.take(rows))
    except BaseException as error:
        return Failure(error)


def fits(client: Any, n_bytes: int) -> bool:
    """Whether the workers have room to keep so much while they work."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    limits = ((worker["memory_limit"] or 0) - worker["metrics"].get("memory", 0) for worker in workers)
    return bool(n_bytes <= FREE_SHARE * sum(max(0, free) for free in limits))


@dataclass(frozen=True, eq=False)
class DaskSource(Source):
    """Rows of positive weight on a cluster, with targets encoded and weights made ready in every pass."""

    partitions: Partitions
    coding: Outputs
    weighting: Weighting
    run: Run

    @property
    def n_rows(self) -> int:
        return self.weighting.survey.n_rows

    @property
    def outputs(self) -> Outputs:
        return self.coding

    @property
    def here(self) -> bool:
        return False

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows: a task that names its source takes it along to the workers."""
        return vars(self) | {"partitions": None, "run": Run()}

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        ready = partial(encoded, self.coding, self.weighting)
        size = Cutting.of(self.n_rows).block_rows
        found = self.partitions.total(lambda block: task(ready(block)), size, self.run)
        assert found is not None  # a survey has found rows
        return found

    def rows_at(self, numbers: IntArray) -> Block:
        """Rows are fetched directly from the workers that hold them."""
        ready = partial(encoded, self.coding, self.weighting)

        def rows(part: PartitionRows) -> Block:
            return ready(part.raw(0, len(part)))

        return Block.joined(self.partitions.rows_at(numbers, rows, self.run))


# -- what rows do on a cluster ---------------------------------------------------------------------------


def counts_of(rows: DaskRows) -> Counts:
    """How many rows each partition has: one pass over the weights, or none if Dask knows."""
    if "counts" not in rows.known:
        sizes, weighted = rows.collections.sizes, rows.collections.weighted
        if sizes is not None and not weighted:
            rows.known["counts"] = Counts(sizes, sizes)
        else:
            rows.known["counts"] = _counted(rows)
    found: Counts = rows.known["counts"]
    return found


def _counted(rows: DaskRows) -> Counts:
    delayed = need("dask", "dask", PURPOSE).delayed
    count = delayed(counted)
    tasks = [count(n, make, *parts) for n, (make, parts) in enumerate(rows.collections.counting())]
    found = Pass(active_client()).each(tasks, range(len(tasks)))
    for each in found:
        if isinstance(each, Failure):
            raise each.error
    return Counts([n for n, _ in found], [n for _, n in found])


def counted(number: int, make: Callable[..., Loaded], *parts: Any) -> tuple[int, int] | Failure:
    """The rows of a partition to be, and those of positive weight."""
    try:
        return counts_in(make(*parts), number)
    except ValueError as error:
        return Failure(error)


def counts_in(loaded: Loaded, number: int) -> tuple[int, int]:
    """The rows of a partition, and those of positive weight."""
    n = loaded.n_rows(number)
    return (n, n) if loaded.s is None else (n, int((weights_of(loaded.s) > 0).sum()))


def partitions(rows: DaskRows, reads: str | None, features: bool, encoding: Encoding | None) -> Partitions:
    """What computes the parts, with targets or features or both."""
    reading = Reading(reads, rows.n_features if features else None, rows.features, encoding)
    return Partitions(active_client(), rows.collections.loads(reads, features), reading, counts_of(rows))


def map_reduce(
    rows: DaskRows,
    task: Callable[[RawBlock], Sum],
    run: Run,
    reads: str | None,
    features: bool,
    cutting: Cutting,
    encoding: Encoding | None,
) -> Sum | None:
    """task(block₁) + task(block₂) + … over the rows of positive weight; None if there are none."""
    found = partitions(rows, reads, features, encoding if features else None)
    return found.total(task, cutting.block_rows, run)


def source(
    rows: DaskRows, outputs: Outputs, weighting: Weighting, run: Run, encoding: Encoding | None
) -> Source:
    """The rows as what a fit works on, kept on the workers if there is room."""
    found = partitions(rows, outputs.reads, True, encoding)
    if fits(active_client(), NUMBER * (rows.n_features + 3) * weighting.survey.n_rows):
        found.keep(run)
    return DaskSource(found, outputs, weighting, run)


def in_memory(rows: DaskRows, reads: str, n_rows: int, run: Run) -> ArrayRows:
    """The rows of positive weight as arrays: for data small after all."""
    from sleek.rows.arrays import ArrayRows

    found = partitions(rows, reads, True, None)
    parts: list[PartitionRows] = found.rows_at(np.arange(n_rows), _itself, run)
    if sum(len(part) for part in parts) != n_rows:
        raise rows_changed_error(n_rows, sum(len(part) for part in parts))
    own = np.concatenate([part.first + part.places for part in parts])
    words = [words_of(part.number, part.first, part.places) for part in parts]
    where = join_words(words, [len(part) for part in parts])
    X: Any = np.concatenate([np.asarray(part.X) for part in parts])
    y, s = join_targets([part.y for part in parts]), np.concatenate([part.s for part in parts])
    groups = join_groups([part.groups for part in parts])
    return ArrayRows(X, y, s, rows.feature_names, rows.flat_targets, where, own, groups=groups)


def _itself(part: PartitionRows) -> PartitionRows:
    return part


def own_numbers(rows: DaskRows, numbers: IntArray) -> IntArray:
    """The numbers among all rows of those that have these, sorted, among the rows of positive weight."""
    weights = replace(rows.collections, y=None, target=None, groups=None, group=None)
    reading = partial(Reading, None, None)()
    loads = weights.loads("weights", False)
    found = Partitions(active_client(), loads, reading, counts_of(rows)).rows_at(numbers, _numbers, Run())
    return np.concatenate(found)


def _numbers(part: PartitionRows) -> IntArray:
    return part.first + part.places
