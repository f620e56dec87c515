"""Rows as they are kept somewhere, and how they become a source of blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.sums import Sum, Sums, total
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.kernels import LARGE_BLOCK
from sleek.outputs.base import Outputs
from sleek.outputs.labels import Labels
from sleek.rows.source import Block, Source, rows_per_block, run_length
from sleek.rows.weights import Weighting, WeightSurvey

if TYPE_CHECKING:
    from sleek.rows.arrays import ArrayRows

TARGET_BLOCK = 2048  # rows of targets that are worked on at a time
# Predicted at a time: a multiple of the model's own blocks, so that outputs are bit for bit those in memory.
PREDICT_ROWS = 4 * LARGE_BLOCK
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, eq=False)
class Run:
    """With how many threads a pass over rows is made, and who is told how far it is."""

    workers: Workers = field(default_factory=Workers)
    progress: Progress | None = None


@dataclass(frozen=True, eq=False)
class RawBlock:
    """Some consecutive rows as they are kept: what was not asked for is None.

    Features X (n, d) are float64; targets y are `Labels` or floats (n, k); weights s (n,) are the user's own.
    """

    start: int
    X: Any
    y: Any
    s: FloatArray
    where: Callable[[int], str] = str  # words for the row of a number in the block

    def __len__(self) -> int:
        return len(self.s)

    def take(self, start: int, rows: IntArray) -> RawBlock:
        """Some of the rows, as a block that begins at number `start`."""

        def part(values: Any) -> Any:
            return None if values is None else values[rows]

        return RawBlock(start, part(self.X), part(self.y), self.s[rows], lambda row: self.where(rows[row]))

    @classmethod
    def joined(cls, start: int, parts: Sequence[RawBlock]) -> RawBlock:
        """The rows of several blocks, one after the other."""
        if len(parts) == 1:
            return replace(parts[0], start=start)

        def where(row: int) -> str:
            for part in parts:
                if row < len(part):
                    break
                row -= len(part)
            return part.where(row)

        X = None if parts[0].X is None else np.concatenate([part.X for part in parts])
        return cls(
            start, X, joined_targets([p.y for p in parts]), np.concatenate([p.s for p in parts]), where
        )


def joined_targets(parts: Sequence[Any]) -> Any:
    """Targets of several stretches of rows as those of one."""
    if parts[0] is None:
        return None
    return Labels.joined(parts) if isinstance(parts[0], Labels) else np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Survey(Sums):
    """What one pass over targets and weights tells."""

    weights: WeightSurvey
    targets: Any  # what `Outputs.survey` says of them

    def weighting(self, outputs: Outputs) -> Weighting:
        """How weights are made ready for rows with these outputs."""
        mean = self.weights.total / self.weights.n_observations
        return Weighting(self.weights, mean * outputs.mean_importance)


class Rows(ABC):
    """Rows kept somewhere: features, and beside them perhaps targets and weights.

    A subclass says what the features are called and hands out rows, any number at a time. All else follows:
    blocks of the size that a fit wants, cut by row number, so that sums are bit for bit those of the same rows
    in memory; rows of weight 0 are left out of everything but prediction.
    """

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, None if they have none."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of features d."""

    @abstractmethod
    def chunks(self, reads: str | None, features: bool) -> Iterable[RawBlock]:
        """All rows in order, any number at a time; their `start` is not looked at.

        Parameters
        ----------
        reads : {"labels", "numbers", None}
            What the target is read as; None: not at all, and no weights either.
        features : bool
            Whether features are wanted.
        """

    @property
    def flat_targets(self) -> bool:
        """Whether there is one target that users expect as a 1D array."""
        return True

    def with_features(self, names: tuple[str, ...] | None, n_features: int) -> Rows:
        """The same rows with the features of a fitted model, in their order."""
        if (self.feature_names, self.n_features) == (names, n_features) or (
            names is None and self.n_features == n_features
        ):
            return self
        raise ValueError(
            f"The rows have the features {self.feature_names or self.n_features}, but the model was fitted "
            f"to {names or n_features}."
        )

    def originals(self, numbers: IntArray) -> tuple[IntArray, IntArray]:
        """For rows of these numbers: the user's own numbers, and for each of those the place in `numbers`."""
        return numbers, np.arange(len(numbers))

    # -- passes

    def map_reduce(
        self,
        task: Callable[[RawBlock], Sum],
        run: Run,
        *,
        reads: str | None,
        features: bool,
        n_rows: int | None = None,
    ) -> Sum:
        """task(block₁) + task(block₂) + … over the rows of positive weight, added up as a `Source` does.

        `n_rows` is their number if it is known; blocks are else those of targets.
        """
        size = TARGET_BLOCK if n_rows is None else rows_per_block(n_rows)
        length = 1 if n_rows is None else run_length(-(-n_rows // size))
        chunks = iter(self.chunks(reads, features))
        results = run.workers.map(task, cut(_positive(chunks), size))
        with single_threaded_blas(), _closing(chunks), closing(results):
            runs = (total([first, *islice(results, length - 1)]) for first in results)
            sums = list(islice(runs, 1))
            if not sums:
                raise ValueError("There are no rows of positive weight: there is nothing to learn from.")
            return total([sums[0], *runs])

    def evaluate(self, function: Callable[..., AnyArray], run: Run) -> AnyArray:
        """``function(X, n_jobs)`` for all rows, whatever their weight, in one array."""
        return np.concatenate(list(self.evaluations(function, run)))

    def evaluations(self, function: Callable[..., AnyArray], run: Run) -> Generator[AnyArray, None, None]:
        """The same, some thousands of rows at a time."""
        chunks = iter(self.chunks(None, True))
        results = run.workers.map(lambda block: function(block.X), cut(chunks, PREDICT_ROWS))
        with single_threaded_blas(), _closing(chunks), closing(results):
            yield from results

    def write(
        self, function: Callable[..., AnyArray], path: str | PathLike[str], keep: Sequence[str], run: Run
    ) -> int:
        """Write ``function(X)`` for all rows to a file, with the columns `keep`; the number of rows."""
        raise TypeError(
            "Predictions are written for rows of files, such as sleek.Files. For rows in memory use predict."
        )

    def survey(self, kind: type[Outputs], run: Run) -> Survey:
        """One pass over targets and weights."""

        def task(block: RawBlock) -> Survey:
            return Survey(WeightSurvey.of(block.s), kind.survey(block.y, block.s))

        return self.map_reduce(task, run, reads=kind.reads, features=False)

    def source(self, outputs: Outputs, weighting: Weighting, run: Run) -> Source:
        """The rows of positive weight as what a fit works on."""
        return EncodedRows(self, outputs, weighting, run)

    def in_memory(self, reads: str, n_rows: int, run: Run) -> ArrayRows:
        """The rows of positive weight as arrays, for data that are small after all."""
        from sleek.rows.arrays import ArrayRows

        blocks = self.map_reduce(lambda block: [block], run, reads=reads, features=True, n_rows=n_rows)
        whole = RawBlock.joined(0, blocks)
        return ArrayRows(whole.X, whole.y, whole.s, self.feature_names, self.flat_targets, whole.where)


@dataclass(frozen=True, eq=False)
class EncodedRows(Source):
    """Rows of positive weight with targets encoded and weights made ready, block by block in every pass."""

    rows: Rows
    coding: Outputs
    weighting: Weighting
    run: Run

    @property
    def n_rows(self) -> int:
        return self.weighting.survey.n_rows

    @property
    def outputs(self) -> Outputs:
        return self.coding

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        def encoded(block: RawBlock) -> Sum:
            s, copies = self.weighting.ready(block.s, self.coding.importance(block.y))
            return task(Block(block.start, block.X, self.coding.encode(block.y), s, copies))

        return self.rows.map_reduce(
            encoded, self.run, reads=self.coding.reads, features=True, n_rows=self.n_rows
        )


def cut(chunks: Iterable[RawBlock], size: int) -> Iterator[RawBlock]:
    """Blocks of `size` rows, whatever the chunks; only the last one may have fewer."""
    start, missing = 0, size
    parts: list[RawBlock] = []
    for chunk in chunks:
        low = 0
        while low < len(chunk):
            high = min(len(chunk), low + missing)
            whole = low == 0 and high == len(chunk)
            parts.append(chunk if whole else chunk.take(0, np.arange(low, high)))
            missing -= high - low
            low = high
            if missing == 0:
                yield RawBlock.joined(start, parts)
                start, missing, parts = start + size, size, []
    if parts:
        yield RawBlock.joined(start, parts)


def _positive(chunks: Iterable[RawBlock]) -> Iterator[RawBlock]:
    """The rows of positive weight."""
    for chunk in chunks:
        counts = chunk.s > 0
        yield chunk if counts.all() else chunk.take(0, np.flatnonzero(counts))


def _closing(chunks: Any) -> Any:
    """A generator that is closed when the pass is over, however it ends; any other iterator is left alone."""
    return closing(chunks) if hasattr(chunks, "close") else closing(_Nothing())


class _Nothing:
    def close(self) -> None:
        pass
