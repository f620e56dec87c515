"""Rows as they are kept somewhere, and how they become a source of blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sleek._runtime.sums import Sum, Sums
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, IntArray
from sleek.outputs.base import Outputs
from sleek.rows.checked import changed, ready, that_count
from sleek.rows.cutting import PREDICTED, TARGETS, Cutting
from sleek.rows.encoded import EncodedRows
from sleek.rows.raw import (
    Pieces,
    RawBlock,
    joined_targets,
    joined_words,
    numbered,
    picked,
    words_for,
)
from sleek.rows.source import Source
from sleek.rows.weights import Weighting, WeightSurvey

if TYPE_CHECKING:
    from sleek.rows.arrays import ArrayRows
    from sleek.tables.inputs import Inputs

Progress = Callable[[int, int | None], None]
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Run:
    """With how many threads a pass over rows is made, and who is told how far it is."""

    workers: Workers = field(default_factory=Workers)
    progress: Progress | None = None


@dataclass(frozen=True, eq=False)
class Survey(Sums):
    """What one pass over targets and weights tells."""

    weights: WeightSurvey
    targets: Any  # what `Outputs.survey` says of them

    def weighting(self, outputs: Outputs) -> Weighting:
        """How weights are made ready for rows with these outputs."""
        mean = self.weights.total / self.weights.n_observations * outputs.mean_importance
        if not 0 < mean < np.inf:
            raise ValueError(
                "Weights of rows times weights of classes must be numbers that float64 can hold, but their "
                f"mean is {mean}. Divide one of them by its largest."
            )
        return Weighting(self.weights, mean)


class Rows(ABC):
    """Rows kept somewhere: features, and beside them perhaps targets and weights.

    A subclass says what the features are called and hands out rows, any number at a time. All else follows:
    blocks of the size that a fit wants, cut by row number, so that sums are bit for bit those of the same
    rows in memory; rows of weight 0 are left out of everything but prediction. `sleek.testing.SourceContract`
    tests a subclass.

    Examples
    --------
    >>> import numpy as np
    >>> from sleek import LowRankLSSVR, RawBlock, Rows
    >>> class Wave(Rows):
    ...     feature_names, n_features = ("x",), 1
    ...     def chunks(self, reads, features):
    ...         for x in np.linspace(0.0, 6.0, 1000).reshape(10, 100, 1):
    ...             yield RawBlock(x, np.sin(x) if reads else None)
    >>> LowRankLSSVR(5, random_state=0).fit(Wave()).score(Wave()) > 0.99
    True
    """

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, None if they have none."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of features d."""

    @property
    def inputs(self) -> Inputs | None:
        """How columns of a table became the features; None if they are numbers as they are."""
        return None

    def learnt(self, estimator: Any, reads: str) -> Rows:
        """The rows to learn from, once it is known what columns of a table become."""
        return self

    def remember(self, estimator: Any, learnt: Rows) -> None:
        """What scikit-learn keeps of the features of a fit: how many there are, and what they are called."""
        names = learnt.feature_names if learnt.inputs is None else learnt.inputs.names
        estimator.n_features_in_ = learnt.n_features if names is None else len(names)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)

    def read_by(self, inputs: Inputs) -> Rows:
        """The rows as a model that reads a table wants them."""
        raise TypeError(
            "The model reads a table, and these rows are numbers: give it a table, or sleek.Files."
        )

    @abstractmethod
    def chunks(self, reads: str | None, features: bool) -> Iterable[RawBlock]:
        """All rows in order, any number at a time, and the same rows whenever they are asked for.

        Taken in the thread that fits or predicts. A generator is closed when a pass ends, however it ends.

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
        if names is None or self.feature_names is None:
            if self.n_features != n_features or names is not None:
                raise ValueError(
                    f"The rows have {_in_words(self.feature_names, self.n_features)}, but the model was "
                    f"fitted to {_in_words(names, n_features)}."
                )
            return self
        missing = [name for name in names if name not in self.feature_names]
        if missing:
            raise ValueError(
                f"The rows have no feature {missing[0]!r}, which the model was fitted to, only "
                f"{_in_words(self.feature_names, self.n_features)}."
            )
        if self.feature_names == names:
            return self
        from sleek.rows.some import SomeFeatures

        return SomeFeatures(self, names, [self.feature_names.index(name) for name in names])

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        """For rows of these numbers: the user's own numbers, and for each of those the place in `numbers`.

        A row's number is among those of positive weight, the user's own among all: one pass over the weights.
        """
        with closing(self._chunks(reads, features=False)) as chunks:
            own = picked(numbers, (chunk.own_numbers() for chunk in that_count(chunks)))
        return own, np.arange(len(numbers))

    # -- passes

    def map_reduce(
        self,
        task: Callable[[RawBlock], Sum],
        run: Run,
        *,
        reads: str | None,
        features: bool,
        cutting: Cutting = TARGETS,
    ) -> Sum:
        """task(block₁) + task(block₂) + … over the rows of positive weight, added up as a `Source` does."""
        with closing(self._chunks(reads, features)) as chunks:
            results = self._each(task, that_count(chunks), run, reads, features, cutting)
            with single_threaded_blas(), closing(results):
                found = cutting.added_up(results)
        if found is not None:
            return found
        if cutting.n_rows is not None:
            raise changed(cutting.n_rows, 0)
        raise ValueError("There are no rows of positive weight: there is nothing to learn from.")

    def evaluate(self, function: Callable[..., AnyArray], run: Run) -> AnyArray:
        """``function(X, n_jobs)`` for all rows, whatever their weight, in one array."""
        with closing(self.evaluations(function, run)) as parts:
            found = list(parts)
        if not found:
            raise ValueError("There are no rows: there is nothing to predict.")
        return np.concatenate(found)

    def evaluations(self, function: Callable[..., AnyArray], run: Run) -> Generator[AnyArray, None, None]:
        """The same, some thousands of rows at a time. To be closed when it is not used up."""
        with closing(self._chunks(None, features=True)) as chunks:
            results = self._each(lambda block: function(block.X), chunks, run, None, True, PREDICTED)
            with single_threaded_blas(), closing(results):
                yield from results

    def _chunks(self, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
        """The chunks, with words for their rows; the subclass's generator is closed with this one."""
        chunks = self.chunks(reads, features)
        try:
            yield from numbered(chunks)
        finally:
            if isinstance(chunks, Generator):
                chunks.close()

    def _each(
        self,
        task: Callable[[RawBlock], Result],
        chunks: Iterable[RawBlock],
        run: Run,
        reads: str | None,
        features: bool,
        cutting: Cutting,
    ) -> Generator[Result, None, None]:
        """The task's result for every block of the chunks, in order, on the workers' threads."""
        n_features, names = self.n_features if features else None, self.feature_names

        def on_block(pieces: Pieces) -> tuple[Result, int]:
            block = ready(pieces.joined(), reads, n_features, names)
            return task(block), block.start + len(block)

        with closing(run.workers.map(on_block, Pieces.each(chunks, cutting.block_rows))) as results:
            for result, done in results:
                if run.progress is not None:
                    run.progress(done, cutting.n_rows)
                yield result

    def write(
        self, function: Callable[..., AnyArray], path: str | PathLike[str], keep: Sequence[str], run: Run
    ) -> int:
        """Write ``function(X)`` for all rows to a file, with the columns `keep`; the number of rows."""
        raise TypeError(
            "Predictions are written for rows of files, such as sleek.Files. For other rows use predict."
        )

    # -- towards a fit

    def survey(self, kind: type[Outputs], run: Run) -> Survey:
        """One pass over targets and weights."""

        def task(block: RawBlock) -> Survey:
            return Survey(WeightSurvey.of(block.s), kind.survey(block.y, block.s))

        found = self.map_reduce(task, run, reads=kind.reads, features=False)
        found.weights.check_spread()
        return found

    def source(self, outputs: Outputs, weighting: Weighting, run: Run) -> Source:
        """The rows of positive weight as what a fit works on."""
        return EncodedRows(self, outputs, weighting, run)

    def in_memory(self, reads: str, n_rows: int, run: Run) -> ArrayRows:
        """The rows of positive weight, of which there are `n_rows`, as arrays: for data small after all."""
        from sleek.rows.arrays import ArrayRows

        X = np.empty((n_rows, self.n_features))

        def task(block: RawBlock) -> list[RawBlock]:
            if block.start + len(block) > n_rows:
                raise changed(n_rows, "more")
            X[block.start : block.start + len(block)] = block.X
            return [replace(block, X=None)]

        parts = self.map_reduce(task, run, reads=reads, features=True, cutting=Cutting.of(n_rows))
        sizes = [len(part) for part in parts]
        if sum(sizes) < n_rows:
            raise changed(n_rows, sum(sizes))
        return ArrayRows(
            X,
            joined_targets([part.y for part in parts]),
            np.concatenate([part.s for part in parts]),
            self.feature_names,
            self.flat_targets,
            joined_words([words_for(part.where, part.numbers) for part in parts], sizes),
            np.concatenate([part.own_numbers() for part in parts]),
        )


def _in_words(names: tuple[str, ...] | None, n_features: int) -> str:
    if names is None:
        return f"{n_features} features without names"
    return f"the features {', '.join(map(repr, names))}"
