"""`Rows`, the interface of every place that rows can be kept in, and passes over them block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from sleek._runtime.counting import how_many
from sleek._runtime.sums import Sum, Sums
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.base import Outputs, Targets
from sleek.rows.checked import NoRowsError, ready, rows_changed_error, that_count
from sleek.rows.cutting import PREDICTED, TARGETS, Cutting
from sleek.rows.encoding import Encoding, Strangers, warn_of_strangers
from sleek.rows.grouping import GroupSurvey, join_groups
from sleek.rows.raw import (
    ChunkedBlock,
    RawBlock,
    join_targets,
    join_words,
    number_chunks,
    values_at,
    words_for,
)
from sleek.rows.source import Block, Source
from sleek.rows.weights import Weighting, WeightSurvey, in_units
from sleek.tables.values import Coded, Columns

if TYPE_CHECKING:
    from sleek.rows.arrays import ArrayRows
    from sleek.rows.predicting import Expected
    from sleek.tables.inputs import Inputs

Progress = Callable[[int, int | None], None]
Result = TypeVar("Result")
LOOK_ROWS = (
    2**16
)  # of a block of columns that is looked at: few enough to be held, many for each different word


@dataclass(frozen=True, eq=False)
class Run:
    """Threads of a pass over rows, and who is told of its progress.

    `progress` hears how far it is. What training had none of is counted in `strangers`, by column; None: it
    is counted in a warning.
    """

    workers: Workers = field(default_factory=Workers)
    progress: Progress | None = None
    strangers: Strangers | None = None


@dataclass(frozen=True, eq=False)
class Survey:
    """Statistics of the weights and targets of all rows.

    Parameters
    ----------
    weights : WeightSurvey
        Of the weights in units of `unit`.
    targets : what `Outputs.survey` says of the targets, weighted so
    unit : float
        The weight of one observation; 1 if weights are importances.
    counts : bool
        Whether weights are counts.
    groups : GroupSurvey
        The groups of rows; none: each row is by itself.
    """

    weights: WeightSurvey
    targets: Any
    unit: float = 1.0
    counts: bool = True
    groups: GroupSurvey = field(default_factory=lambda: GroupSurvey.of(None))

    @property
    def n_observations(self) -> float:
        """How many observations all rows stand for."""
        return self.weights.total if self.counts else float(self.weights.n_rows)

    def weighting(self, outputs: Outputs) -> Weighting:
        """How weights are made ready for rows with these outputs."""
        mean = (1.0 if self.counts else self.weights.total / self.weights.n_rows) * outputs.mean_importance
        if not 0 < mean * self.unit < np.inf:
            raise ValueError(
                "Weights of rows times weights of classes must be numbers that float64 can hold, but their "
                f"mean is {mean * self.unit}. Divide one of them by its largest."
            )
        return Weighting(self.weights, self.unit, self.counts, mean)


@dataclass(frozen=True, eq=False)
class _Surveyed(Sums):
    weights: WeightSurvey
    targets: Any
    groups: GroupSurvey


class Rows(ABC):
    """Rows kept somewhere: features, and beside them perhaps targets and weights.

    A subclass says what the features are called and hands out rows, any number at a time. All else follows:
    blocks of the size that a fit wants, cut by row number, so that sums are bit for bit those of the same
    rows in memory; rows of weight 0 are left out of everything but prediction. `sleek.testing.SourceContract`
    tests a subclass.

    Chunks are arrays of numbers, or, of a subclass that says ``tabular = True``, tables: dictionaries of
    columns, or data frames, with text, dates and gaps. What their columns become is then learnt as from a
    data frame.

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

    def as_new(self, X: FloatArray) -> FloatArray:
        """Features X (n, d) of rows that were learnt from, as they are when a model reads such rows later.

        The two differ only where levels are rated by targets: to learn from, by those of other folds.
        """
        return X

    def expecting(self, expected: Expected) -> Rows:
        """The rows to predict, with the features that a model expects, in their order."""
        if expected.inputs is not None or (self.tabular and expected.names is not None):
            return self.read_by(expected.columns)
        return self.with_features(expected.names, expected.n_columns)

    def holds_text(self, names: Sequence[str]) -> bool:
        """Whether some of these columns are text, as far as the first chunk tells."""
        with closing(self._chunks(None, True, Run())) as chunks:
            first = next(chunks, None)
        if first is None or not isinstance(first.X, Columns):
            return False
        found = (first.X[name] for name in names)
        return any(isinstance(v, Coded) and any(isinstance(word, str) for word in v.values) for v in found)

    def read_by(self, inputs: Inputs) -> Rows:
        """The rows with the columns of a table that a model reads."""
        if not self.tabular:
            raise TypeError(
                "The model reads a table, and these rows are numbers: give it a table, or sleek.Files."
            )
        self._find(inputs.names)
        from sleek.rows.table_rows import TableRows, decimal_mark

        return TableRows(self, Encoding(inputs, decimal=decimal_mark(self, inputs.numbers)), new=True)

    # What subclasses that hand out columns may say of them.
    tabular: ClassVar[bool] = False  # whether chunks are tables: text, gaps, dates; features are its columns
    categories: Any = None  # names of columns whose numbers are codes; None: of none
    dates: Any = None  # the order of dates in text that could be read in two: "dmy", "mdy"
    read_texts: ClassVar[bool] = False  # whether text that holds numbers is handed out as numbers already
    notes: Any = ()  # what is strange about the rows, for a user to know
    n_rows: Any = None  # how many rows there are; None if that is not known without a look

    @property
    def is_plain(self) -> bool:
        """Whether it is known without a look that all columns are numbers without a gap."""
        return not self.tabular

    @property
    def category_columns(self) -> Collection[str]:
        """Columns that are categories whatever they look like."""
        return tuple(self.categories or ())

    @property
    def look_rows(self) -> int:
        """Rows of the blocks in which columns are looked at; the result does not depend on it."""
        return LOOK_ROWS

    def check_words(self, name: str, n_different: int) -> None:  # noqa: B027 (most have nothing to say)
        """Refuse a column of so many different words if it was meant to hold numbers."""

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
        self._find(names)
        if self.feature_names == names:
            return self
        return SomeFeatures(self, names)

    def _find(self, names: Sequence[str]) -> None:
        """Refuse to go on without these features."""
        there = self.feature_names or ()
        missing = [name for name in names if name not in set(there)]
        if missing:
            raise ValueError(
                f"The rows have no feature {missing[0]!r}, which the model was fitted to, only "
                f"{_in_words(self.feature_names, self.n_features)}."
            )

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        """For rows of these numbers: the user's own numbers, and for each of those the place in `numbers`.

        A row's number is among those of positive weight, the user's own among all: one pass over the weights.
        """
        with closing(self._chunks(reads, features=False, run=Run())) as chunks:
            own = values_at(numbers, (chunk.own_numbers() for chunk in chunks))
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
        encoding: Encoding | None = None,
        strangers: Strangers | None = None,
    ) -> Sum:
        """task(block₁) + task(block₂) + … over the rows of positive weight, added up as a `Source` does.

        `encoding` says what becomes of columns, if features are wanted; None: they are numbers as they are.
        What is unusual about columns is added to `strangers`.
        """
        with closing(self._chunks(reads, features, run, encoding, strangers)) as chunks:
            results = self._each(task, chunks, run, reads, features, cutting, encoding)
            with single_threaded_blas(), closing(results):
                found = cutting.added_up(results)
        if found is not None:
            return found
        if cutting.n_rows is not None:
            raise rows_changed_error(cutting.n_rows, 0)
        raise NoRowsError(self._no_rows("learn from"))

    def _no_rows(self, purpose: str) -> str:
        """The sentence for rows of which there are none."""
        rows = "rows" if purpose == "predict" else "rows of positive weight"
        return f"There are no {rows}: there is nothing to {purpose}."

    def evaluate(
        self, function: Callable[..., AnyArray], run: Run, encoding: Encoding | None = None
    ) -> AnyArray:
        """``function(X, n_jobs)`` for all rows, whatever their weight, in one array."""
        with closing(self.evaluations(function, run, encoding)) as parts:
            return np.concatenate(list(parts))

    def evaluations(
        self, function: Callable[..., AnyArray], run: Run, encoding: Encoding | None = None
    ) -> Generator[AnyArray, None, None]:
        """The same, some thousands of rows at a time. To be closed when it is not used up."""
        with closing(self._predictions(lambda block: function(block.X), run, encoding)) as results:
            yield from results

    def _predictions(
        self,
        task: Callable[[RawBlock], Result],
        run: Run,
        encoding: Encoding | None,
        **options: Any,
    ) -> Generator[Result, None, None]:
        """A task for blocks of all rows; what training had none of is counted in a warning at the end."""
        strangers: Strangers = {} if run.strangers is None else run.strangers
        n_blocks = 0
        with closing(self._chunks(None, True, run, encoding, strangers, **options)) as chunks:
            results = self._each(task, chunks, run, None, True, PREDICTED, encoding)
            with single_threaded_blas(), closing(results):
                for result in results:
                    n_blocks += 1
                    yield result
        if not n_blocks:
            raise NoRowsError(self._no_rows("predict"))
        if encoding is not None and encoding.inputs is not None and run.strangers is None:
            warn_of_strangers(encoding.inputs, strangers)

    def _chunks(
        self,
        reads: str | None,
        features: bool,
        run: Run,
        encoding: Encoding | None = None,
        strangers: Strangers | None = None,
    ) -> Generator[RawBlock, None, None]:
        """The chunks with words for their rows, those of positive weight if targets are read, settled."""
        return self._settle(self.chunks(reads, features), reads, encoding if features else None, strangers)

    def _settle(
        self,
        chunks: Iterable[RawBlock],
        reads: str | None,
        encoding: Encoding | None,
        strangers: Strangers | None,
    ) -> Generator[RawBlock, None, None]:
        """Chunks numbered, counted and settled; a generator of them is closed with this one."""
        numbers = number_chunks(chunks)
        try:
            for chunk in numbers if reads is None else that_count(numbers):
                if encoding is not None and len(chunk):
                    yield encoding.settle(chunk, strangers)
                else:
                    yield chunk
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
        encoding: Encoding | None = None,
    ) -> Generator[Result, None, None]:
        """The task's result for every block of the chunks, in order, on the workers' threads."""
        n_features, names = self.n_features if features else None, self.feature_names

        def on_block(pieces: ChunkedBlock) -> tuple[Result, int]:
            block = ready(pieces.joined(), reads, names, n_features, encoding)
            return task(block), block.start + len(block)

        with closing(run.workers.map(on_block, ChunkedBlock.each(chunks, cutting.block_rows))) as results:
            for result, done in results:
                if run.progress is not None:
                    run.progress(done, cutting.n_rows or self.n_rows)
                yield result

    def write(
        self,
        function: Callable[..., Any],
        path: str | PathLike[str],
        keep: Sequence[str],
        run: Run,
        encoding: Encoding | None = None,
    ) -> int:
        """Write ``function(X)`` for all rows to a file, with the columns `keep`; the number of rows."""
        raise TypeError(
            "Predictions are written for rows of files, such as sleek.Files. For other rows use predict."
        )

    # -- towards a fit

    def survey(self, kind: Targets, run: Run, like: Survey | None = None) -> Survey:
        """One pass over targets and weights, two where an observation weighs something else than 1.

        `like` is a survey of the same rows before equal ones were merged: its unit is kept.
        """
        if like is not None:
            found = self._survey(kind, run, like.unit)
            return Survey(found.weights, found.targets, like.unit, like.counts, found.groups)
        found = self._survey(kind, run, 1.0)
        found.weights.check_spread()
        unit = found.weights.unit
        if unit is None or unit == 1.0:
            return Survey(found.weights, found.targets, 1.0, unit is not None, found.groups)
        found = self._survey(kind, run, unit)
        return Survey(found.weights, found.targets, unit, groups=found.groups)

    def _survey(self, kind: Targets, run: Run, unit: float) -> _Surveyed:
        def task(block: RawBlock) -> _Surveyed:
            s = in_units(block.s, unit)
            return _Surveyed(WeightSurvey.of(s), kind.survey(block.y, s), GroupSurvey.of(block.groups))

        return self.map_reduce(task, run, reads=kind.reads, features=False)

    def source(
        self, outputs: Outputs, weighting: Weighting, run: Run, encoding: Encoding | None = None
    ) -> Source:
        """The rows of positive weight as what a fit works on."""
        return EncodedRows(self, outputs, weighting, run, encoding)

    def in_memory(self, reads: str, n_rows: int, run: Run) -> ArrayRows:
        """The rows of positive weight, of which there are `n_rows`, as arrays: for data small after all."""
        from sleek.rows.arrays import ArrayRows

        X = np.empty((n_rows, self.n_features))

        def task(block: RawBlock) -> list[RawBlock]:
            if block.start + len(block) > n_rows:
                raise rows_changed_error(n_rows, "more")
            X[block.start : block.start + len(block)] = block.X
            return [replace(block, X=None)]

        parts = self.map_reduce(task, run, reads=reads, features=True, cutting=Cutting.of(n_rows))
        sizes = [len(part) for part in parts]
        if sum(sizes) < n_rows:
            raise rows_changed_error(n_rows, sum(sizes))
        return ArrayRows(
            X,
            join_targets([part.y for part in parts]),
            np.concatenate([part.s for part in parts]),
            self.feature_names,
            self.flat_targets,
            join_words([words_for(part.where, part.numbers) for part in parts], sizes),
            np.concatenate([part.own_numbers() for part in parts]),
            groups=join_groups([part.groups for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class SomeFeatures(Rows):
    """Another's rows with some of its features, in another order."""

    rows: Rows
    names: tuple[str, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def n_features(self) -> int:
        return len(self.names)

    @property
    def flat_targets(self) -> bool:
        return self.rows.flat_targets

    def chunks(self, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
        place = {name: place for place, name in enumerate(self.rows.feature_names or ())}
        with closing(self.rows._chunks(reads, features, Run())) as chunks:
            for chunk in chunks:
                X: Any = None
                if features and isinstance(chunk.X, Columns):
                    X = Columns({name: chunk.X[name] for name in self.names}, len(chunk))
                elif features:
                    X = chunk.X[:, [place[name] for name in self.names]]
                yield RawBlock(X, chunk.y, chunk.s, chunk.where, groups=chunk.groups)


@dataclass(frozen=True, eq=False)
class EncodedRows(Source):
    """Rows of positive weight with targets encoded and weights made ready, block by block in every pass."""

    rows: Rows
    coding: Outputs
    weighting: Weighting
    run: Run
    encoding: Encoding | None = None

    @property
    def n_rows(self) -> int:
        return self.weighting.survey.n_rows

    @property
    def outputs(self) -> Outputs:
        return self.coding

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        sizes: list[int] = []

        def counted(block: RawBlock) -> Sum:
            sizes.append(len(block))
            return task(encoded(self.coding, self.weighting, block))

        found = self.rows.map_reduce(
            counted,
            self.run,
            reads=self.coding.reads,
            features=True,
            cutting=Cutting.of(self.n_rows),
            encoding=self.encoding,
        )
        if sum(sizes) != self.n_rows:
            raise rows_changed_error(self.n_rows, sum(sizes))
        return found


def encoded(coding: Outputs, weighting: Weighting, block: RawBlock) -> Block:
    """A block with its targets encoded and its weights made ready."""
    s, copies = weighting.ready(block.s, coding.importance(block.y))
    return Block(block.start, block.X, coding.encode(block.y), s, copies, block.groups)


def _in_words(names: tuple[str, ...] | None, n_features: int) -> str:
    if names is None:
        return f"{how_many(n_features, 'feature')} without names"
    return f"the features {', '.join(map(repr, names))}"
