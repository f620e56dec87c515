"""Dask collections whose columns become features while rows are read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.sums import Sum, total
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.base import Outputs
from sleek.outputs.labels import Labels
from sleek.rows.arrays import ArrayRows
from sleek.rows.by_columns import RowsByColumns
from sleek.rows.cutting import PREDICTED, TARGETS, Cutting
from sleek.rows.dask import cluster
from sleek.rows.dask.collections import PURPOSE, is_array
from sleek.rows.dask.here import computed, loaded
from sleek.rows.dask.lazily import predicted
from sleek.rows.dask.learning import Look, gathered, has_gaps, looked
from sleek.rows.dask.parts import Part, Reading, prepared
from sleek.rows.dask.passes import Failure, Pass, active_client
from sleek.rows.dask.rows import DaskRows
from sleek.rows.dask.source import Counts, Partitions
from sleek.rows.raw import Pieces, RawBlock
from sleek.rows.rows import Rows, Run
from sleek.rows.seen import Rated, is_plain, joined_values, learn_seen, tell
from sleek.rows.source import Source
from sleek.rows.table import category_names, targets_of
from sleek.rows.weights import Weighting
from sleek.tables import rules
from sleek.tables.columns import Column
from sleek.tables.crossfit import BLOCK_ROWS
from sleek.tables.encoded import EncodedTable
from sleek.tables.frames import place_names
from sleek.tables.inputs import Inputs
from sleek.tables.learning import learn_columns, stride


@dataclass(frozen=True, eq=False)
class DaskTable(RowsByColumns):
    """Rows of a Dask collection with numbers, categories, dates and gaps, as the features a model reads."""

    rows: DaskRows
    columns: Inputs
    by_fold: dict[str, FloatArray] = field(default_factory=dict)

    @property
    def flat_targets(self) -> bool:
        return self.rows.flat_targets

    def chunks(self, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
        n_features = self.n_features if features else None
        reading = Reading(reads, n_features, None, self.columns, self.by_fold)
        for part in parts_here(self.rows, reading):
            for lo in range(0, len(part), PREDICTED.block_rows):
                yield part.raw(lo, min(lo + PREDICTED.block_rows, len(part)))

    def map_reduce(
        self,
        task: Callable[[RawBlock], Sum],
        run: Run,
        *,
        reads: str | None,
        features: bool,
        cutting: Cutting = TARGETS,
    ) -> Sum:
        if active_client() is None:
            return super().map_reduce(task, run, reads=reads, features=features, cutting=cutting)
        inputs = self.columns if features else None
        return cluster.map_reduce(self.rows, task, run, reads, features, cutting, inputs)

    def source(self, outputs: Outputs, weighting: Weighting, run: Run) -> Source:
        if active_client() is None:
            return super().source(outputs, weighting, run)
        return cluster.source(self.rows, outputs, weighting, run, self.columns, self.by_fold)

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        return self.rows.originals(numbers, reads)

    def read_by(self, inputs: Inputs) -> Rows:
        return self.rows.read_by(inputs)

    def evaluate(self, function: Callable[..., AnyArray], run: Run) -> Any:
        """A lazy Dask array with the chunks of X."""
        return predicted(self.rows, self.columns, function)


def parts_here(rows: DaskRows, reading: Reading) -> Generator[Part, None, None]:
    """The parts of all partitions, computed in this process."""
    start = 0
    for number, first, found in loaded(rows.collections, reading.reads, reading.n_features is not None):
        part = prepared(found, reading, number, first, start)
        yield part
        start += len(part)


def learnt_rows(estimator: Any, rows: DaskRows, reads: str) -> Rows:
    """A collection as rows to learn from: as it is if all columns are numbers without a gap."""
    names = rows.features or tuple(place_names(rows.n_features))
    given = category_names(getattr(estimator, "categorical_features", None), names)
    categories = list(dict.fromkeys([*(rows.categories or ()), *given]))
    kinds = _kinds(rows)
    if not categories and kinds <= set("iub"):
        return rows
    if active_client() is None:
        rows.known.setdefault("counts", _counted_here(rows))
    n_rows = cluster.counts_of(rows).n_rows
    if not categories and kinds <= set("iubf") and not any(_each(rows, "weights", has_gaps)):
        return rows
    look = _looked(rows, reads, names, stride(n_rows))
    if is_plain(look.seen) and not categories:
        return rows
    if n_rows <= rules.SORTED_ROWS:
        return _in_memory(estimator, rows, reads, names, categories)
    learnt = learn_seen(look.seen, categories, partial(_rated, rows, reads, look.labels), n_rows)
    tell(estimator, learnt)
    kept = rows if rows.features is None else replace(rows, columns=list(learnt.inputs.names))
    kept.known.update(rows.known)
    return DaskTable(kept, learnt.inputs, learnt.by_fold)


def _kinds(rows: DaskRows) -> set[str]:
    """The kinds of the columns' types: "i", "u", "b" and "f" are NumPy's own numbers, "?" anything else."""
    X = rows.collections.X
    dtypes = [X.dtype] if is_array(X) else X[list(rows.features or X.columns)].dtypes
    return {dtype.kind if isinstance(dtype, np.dtype) else "?" for dtype in dtypes}


def _counted_here(rows: DaskRows) -> Counts:
    """Rows of every partition, without a cluster."""
    collections = rows.collections
    if collections.sizes is not None and not collections.weighted:
        return Counts(collections.sizes, collections.sizes)
    counts = Counts([0] * collections.n_partitions, [0] * collections.n_partitions)
    for number, _, part in computed(collections.counting()):
        counts.all[number], counts.counted[number] = cluster.counts_in(part, number)
    return counts


def _each(rows: DaskRows, reads: str, function: Callable[..., Any]) -> list[Any]:
    """``function(loaded, number, first, start)`` of every partition, in order."""
    counts, collections = cluster.counts_of(rows), rows.collections
    if reads == "weights":
        collections = replace(collections, y=None, target=None)
    firsts, starts = (np.cumsum([0, *sizes]).tolist() for sizes in (counts.all, counts.counted))
    if active_client() is None:
        return [function(part, n, first, starts[n]) for n, first, part in loaded(collections, reads, True)]
    ask = need("dask", "dask", PURPOSE).delayed(_safely)
    loads = collections.loads(reads, True)
    tasks = [ask(function, make, n, firsts[n], starts[n], *parts) for n, (make, parts) in enumerate(loads)]
    found = Pass(active_client()).each(tasks, range(len(tasks)))
    for each in found:
        if isinstance(each, Failure):
            raise each.error
    return found


def _safely(
    function: Callable[..., Any], make: Callable[..., Any], number: int, first: int, start: int, *parts: Any
) -> Any:
    try:
        return function(make(*parts), number, first, start)
    except BaseException as error:
        return Failure(error)


def _looked(rows: DaskRows, reads: str, names: Sequence[str], step: int) -> Look:
    """What all columns hold: one pass."""
    found = _each(rows, reads, partial(looked, reads, tuple(names), step))
    look: Look = total([Look.nothing(names, step), *found])
    return look


def _in_memory(
    estimator: Any, rows: DaskRows, reads: str, names: Sequence[str], categories: Sequence[str]
) -> ArrayRows:
    """Few rows, as a table in memory: the same as a data frame of them."""
    parts = [part for part in _each(rows, reads, partial(gathered, reads, tuple(names))) if len(part.s)]
    columns = {name: joined_values([part.columns[name] for part in parts]) for name in names}
    y = [part.y for part in parts]
    targets = Labels.joined(y) if reads == "labels" else np.concatenate(y)
    weights = np.concatenate([part.s for part in parts])
    learnt = learn_columns(columns, categories, targets_of(targets), weights)
    tell(estimator, learnt)
    table = EncodedTable.of(learnt.inputs, columns, learnt.by_fold, learnt.folds)
    numbers = np.concatenate([part.numbers for part in parts])
    return ArrayRows(table, targets, weights, learnt.inputs.feature_names, rows.flat_targets, numbers=numbers)


def _rated(rows: DaskRows, reads: str, labels: Any, columns: dict[str, Column]) -> Rated:
    """The sums of targets for all groupings of all columns, by fold."""
    task = partial(Rated.of, tuple(columns.values()), labels)
    inputs = Inputs(tuple(columns.values()))
    reading = Reading(reads, len(columns), None, inputs, settled=True)
    client = active_client()
    if client is not None:
        loads = rows.collections.loads(reads, True)
        parts = Partitions(client, loads, reading, cluster.counts_of(rows))
        found = parts.total(task, BLOCK_ROWS, Run())
        assert found is not None  # they were counted
        return found
    raws = (part.raw(0, len(part)) for part in parts_here(rows, reading))
    return total(task(pieces.joined()) for pieces in Pieces.each(raws, BLOCK_ROWS))
