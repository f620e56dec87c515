"""What rows do on a cluster: count, add up, come home if they are few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.sums import Sum
from sleek._runtime.types import FloatArray, IntArray
from sleek.outputs.base import Outputs
from sleek.rows.checked import changed
from sleek.rows.cutting import Cutting
from sleek.rows.dask.collections import PURPOSE
from sleek.rows.dask.parts import Loaded, Part, Reading, weights_of
from sleek.rows.dask.passes import Failure, Pass, active_client
from sleek.rows.dask.source import Counts, DaskSource, Partitions, fits
from sleek.rows.raw import RawBlock, joined_targets
from sleek.rows.rows import Run
from sleek.rows.source import Source
from sleek.rows.weights import Weighting
from sleek.tables.inputs import Inputs

if TYPE_CHECKING:
    from sleek.rows.arrays import ArrayRows
    from sleek.rows.dask.rows import DaskRows

NUMBER = 8  # bytes


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


def partitions(
    rows: DaskRows,
    reads: str | None,
    features: bool,
    inputs: Inputs | None = None,
    by_fold: dict[str, FloatArray] | None = None,
) -> Partitions:
    """What computes the parts, with targets or features or both."""
    n_features = None
    if features:
        n_features = rows.n_features if inputs is None else len(inputs.feature_names)
    reading = Reading(reads, n_features, rows.feature_names, inputs, by_fold or {})
    return Partitions(active_client(), rows.collections.loads(reads, features), reading, counts_of(rows))


def map_reduce(
    rows: DaskRows,
    task: Callable[[RawBlock], Sum],
    run: Run,
    reads: str | None,
    features: bool,
    cutting: Cutting,
    inputs: Inputs | None = None,
) -> Sum:
    """task(block₁) + task(block₂) + … over the rows of positive weight."""
    found = partitions(rows, reads, features, inputs).total(task, cutting.block_rows, run)
    if found is None:
        raise ValueError("There are no rows of positive weight: there is nothing to learn from.")
    return found


def source(
    rows: DaskRows,
    outputs: Outputs,
    weighting: Weighting,
    run: Run,
    inputs: Inputs | None = None,
    by_fold: dict[str, FloatArray] | None = None,
) -> Source:
    """The rows as what a fit works on, kept on the workers if there is room."""
    found = partitions(rows, outputs.reads, True, inputs, by_fold)
    n_columns = rows.n_features if inputs is None else len(inputs.names)
    if fits(active_client(), NUMBER * (n_columns + 3) * weighting.survey.n_rows):
        found.keep(run)
    return DaskSource(found, outputs, weighting, run)


def in_memory(rows: DaskRows, reads: str, n_rows: int, run: Run) -> ArrayRows:
    """The rows of positive weight as arrays: for data small after all."""
    from sleek.rows.arrays import ArrayRows
    from sleek.rows.dask.parts import words_of

    found = partitions(rows, reads, True)
    parts: list[Part] = found.rows_at(np.arange(n_rows), _itself, run)
    if sum(len(part) for part in parts) != n_rows:
        raise changed(n_rows, sum(len(part) for part in parts))
    own = np.concatenate([part.first + part.places for part in parts])
    starts = np.cumsum([0, *(len(part) for part in parts)])

    def where(row: int) -> str:
        number = int(np.searchsorted(starts, row, side="right")) - 1
        part = parts_words[number]
        return str(part(row - int(starts[number])))

    parts_words = [words_of(part.number, part.first, part.places) for part in parts]
    X: Any = np.concatenate([np.asarray(part.X) for part in parts])
    y, s = joined_targets([part.y for part in parts]), np.concatenate([part.s for part in parts])
    return ArrayRows(X, y, s, rows.feature_names, rows.flat_targets, where, own)


def _itself(part: Part) -> Part:
    return part


def own_numbers(rows: DaskRows, numbers: IntArray) -> IntArray:
    """The numbers among all rows of those that have these, sorted, among the rows of positive weight."""
    weights = replace(rows.collections, y=None, target=None)
    reading = partial(Reading, None, None)()
    loads = weights.loads("weights", False)
    found = Partitions(active_client(), loads, reading, counts_of(rows)).rows_at(numbers, _numbers, Run())
    return np.concatenate(found)


def _numbers(part: Part) -> IntArray:
    return part.first + part.places
