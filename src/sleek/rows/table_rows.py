"""Tables of any size, in memory, files or Dask: how columns are encoded is learnt, and then applied, here.

```
rows that hand out columns ── TableSummary: one pass ──→ kinds, gaps, words, medians of all columns
   all plain numbers  → the rows as they are
   few rows           → a table in memory (`learn_columns`)
   many               → Rated: one pass more, for encodings that depend on targets ──→ TableRows
```

Whoever hands out columns (`Rows.tabular`) gets all of it: files, Dask collections, data frames, and what
users write themselves. Every pass is a sum over blocks (`Rows.map_reduce`), so that it runs where rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from sleek._runtime.sums import Sum, total
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek._runtime.warn import warn
from sleek.kernels.column_statistics import ColumnMoments
from sleek.outputs.base import Outputs
from sleek.outputs.labels import Labels
from sleek.rows.arrays import ArrayRows
from sleek.rows.cutting import TARGETS, Cutting
from sleek.rows.encoding import Encoding, Strangers, warn_of_strangers
from sleek.rows.raw import ChunkedBlock, RawBlock
from sleek.rows.rows import Rows, Run
from sleek.rows.source import Source
from sleek.rows.weights import Weighting
from sleek.tables import rules
from sleek.tables.columns import Column, WordColumn
from sleek.tables.crossfit import BLOCK_ROWS, LevelSums, RawSums, folds_of
from sleek.tables.encoded import EncodedTable, as_new
from sleek.tables.errors import TableError
from sleek.tables.inputs import Inputs
from sleek.tables.learning import (
    LearntColumns,
    choose,
    doubts_of,
    groupings,
    has_choices,
    kinds_of,
    learn_columns,
    note_counting,
    notes_of,
)
from sleek.tables.summary import Summary
from sleek.tables.values import Columns, Values


@dataclass(frozen=True, eq=False)
class TableRows(Rows):
    """Rows of a table with their columns encoded as the features of a model."""

    rows: Rows
    encoding: Encoding
    new: bool = False  # rows to predict, which may hold what training had none of

    @property
    def inputs(self) -> Inputs:
        assert self.encoding.inputs is not None
        return self.encoding.inputs

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.inputs.feature_names

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def flat_targets(self) -> bool:
        return self.rows.flat_targets

    def as_new(self, X: FloatArray) -> FloatArray:
        return as_new(X, self.inputs, self.encoding.by_fold)

    def read_by(self, inputs: Inputs) -> Rows:
        return self.rows.read_by(inputs)

    def chunks(self, reads: str | None, features: bool) -> Iterable[RawBlock]:
        yield from self.rows._chunks(reads, features, Run(), self.encoding)

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        return self.rows.originals(numbers, reads)

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
        strangers = {} if run.strangers is None else run.strangers
        found = self.rows.map_reduce(
            task,
            run,
            reads=reads,
            features=features,
            cutting=cutting,
            encoding=encoding or self.encoding,
            strangers=strangers if self.new and features else None,
        )
        if run.strangers is None:
            warn_of_strangers(self.inputs, strangers)
        return found

    def source(
        self, outputs: Outputs, weighting: Weighting, run: Run, encoding: Encoding | None = None
    ) -> Source:
        return self.rows.source(outputs, weighting, run, encoding or self.encoding)

    def evaluate(
        self, function: Callable[..., AnyArray], run: Run, encoding: Encoding | None = None
    ) -> AnyArray:
        return self.rows.evaluate(function, run, encoding or self.encoding)

    def evaluations(
        self, function: Callable[..., AnyArray], run: Run, encoding: Encoding | None = None
    ) -> Any:
        return self.rows.evaluations(function, run, encoding or self.encoding)

    def write(
        self,
        function: Callable[..., Any],
        path: str | PathLike[str],
        keep: Sequence[str],
        run: Run,
        encoding: Encoding | None = None,
    ) -> int:
        return self.rows.write(function, path, keep, run, encoding or self.encoding)


@dataclass(frozen=True, eq=False)
class ColumnRows(Rows):
    """A table in memory: columns, targets as rows hand them out, and weights above 0."""

    columns: Columns
    y: Any
    s: FloatArray
    flat: bool = True
    where: Callable[[int], Any] | None = None
    numbers: IntArray | None = None
    groups: IntArray | None = None

    tabular = True
    read_texts = True

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(self.columns.values)

    @property
    def n_features(self) -> int:
        return len(self.columns.values)

    @property
    def flat_targets(self) -> bool:
        return self.flat

    def chunks(self, reads: str | None, features: bool) -> Iterable[RawBlock]:
        X = self.columns if features else None
        yield RawBlock(X, self.y, self.s, self.where, self.numbers, groups=self.groups)

    def learn(self, categories: Collection[str], dates: str | None = None) -> tuple[Rows, LearntColumns]:
        """The rows with the features that the columns become."""
        try:
            T = indicators(self.y)
            learnt = learn_columns(self.columns.values, categories, T, self.s, dates, self.groups)
        except TableError as error:
            raise error.at(self._words) from None
        table = EncodedTable.of(learnt.inputs, self.columns, learnt.by_fold, learnt.folds)
        names = learnt.inputs.feature_names
        rows = ArrayRows(table, self.y, self.s, names, self.flat, self.where, self.numbers)
        return replace(rows, groups=self.groups), learnt

    def _words(self, row: int) -> Any:
        if self.where is not None:
            return self.where(row)
        return f"row {row if self.numbers is None else self.numbers[row]}"


# -- learning ----------------------------------------------------------------------------------------------


def learn_rows(
    rows: Rows, reads: str, categories: Collection[str]
) -> tuple[Rows, LearntColumns | None, list[str]]:
    """Rows to learn from, what their columns become (None: they are numbers without a gap), and notes."""
    if rows.is_plain and not categories:
        return rows, None, []
    look, as_columns = _look(rows, reads, categories)
    plain = all(summary.is_plain for summary in look.columns.values())
    if plain and not categories and not as_columns.numbers:
        counting = [name for name, summary in look.columns.items() if summary.counts_rows]
        return rows, None, list(map(note_counting, counting))
    for name, summary in look.columns.items():
        if summary.counts and name not in categories:
            rows.check_words(name, len(summary.counts))
    found: Rows
    if look.n_rows <= rules.SORTED_ROWS:
        found, learnt = _in_memory(rows, reads, as_columns).learn(categories, rows.dates)
    else:
        learnt = _learn_many(rows, reads, look, as_columns)
        found = TableRows(rows, replace(as_columns, inputs=learnt.inputs, by_fold=learnt.by_fold))
    return found, learnt, learnt.notes


def check_columns(learnt: LearntColumns) -> list[str]:
    """Sentences about columns left out, and doubts, which are a warning too; an error if none is left."""
    if not learnt.inputs.columns:
        raise TableError("\n".join(["There is no column to learn from.", *learnt.left_out.values()]))
    said = [f"{sentence} It is left out." for sentence in learnt.left_out.values()]
    said += [f"{note[0].upper()}{note[1:]}." for note in learnt.doubts]
    if said:
        warn("\n".join(said))
    return said


@dataclass(frozen=True, eq=False)
class TableSummary:
    """All columns of some consecutive rows in a few numbers, and the labels that the rows have."""

    n_rows: int
    columns: dict[str, Summary]
    texts: dict[str, Any]  # how columns of text are written
    labels: AnyArray | None

    @classmethod
    def of(cls, categories: Collection[str], with_texts: bool, block: RawBlock) -> TableSummary:
        """Of a block of columns."""
        found: dict[str, Summary] = {}
        texts: dict[str, Any] = {}
        try:
            for name, values in block.X.values.items():
                found[name] = Summary.of(name, values, block.start, words=name in categories)
                if with_texts and name not in categories:
                    texts |= _written(name, values)
        except TableError as error:
            raise error.at(block.words) from None
        labels = block.y.values[np.unique(block.y.codes)] if isinstance(block.y, Labels) else None
        return cls(len(block), found, texts, labels)

    def __add__(self, later: TableSummary) -> TableSummary:
        columns = {name: column + later.columns[name] for name, column in self.columns.items()}
        texts = {
            name: self.texts[name] + later.texts[name] for name in self.texts.keys() & later.texts.keys()
        }
        both = [labels for labels in (self.labels, later.labels) if labels is not None]
        labels = np.unique(np.concatenate(both)) if both else None
        return TableSummary(self.n_rows + later.n_rows, columns, texts, labels)


def _written(name: str, values: Values) -> dict[str, Any]:
    """How a column is written, if it is text, or nothing at all."""
    from sleek.tables.text import how_written

    found = how_written(values)
    return {} if found is None else {name: found}


def _look(rows: Rows, reads: str, categories: Collection[str]) -> tuple[TableSummary, Encoding]:
    """One pass over all columns, two if some are text that holds numbers; and how columns are read then."""

    def look(encoding: Encoding, texts: bool) -> TableSummary:
        return rows.map_reduce(
            partial(TableSummary.of, tuple(categories), texts),
            Run(),
            reads=reads,
            features=True,
            cutting=Cutting(rows.look_rows),
            encoding=encoding,
        )

    found, encoding = look(Encoding(), not rows.read_texts), Encoding()
    if found.texts:
        from sleek.tables.text import check_slips, notation_of, warn_of_doubts

        notation = notation_of(found.texts)
        numbers = [name for name in found.texts if notation.is_number(name) and found.texts[name].n_values]
        check_slips(notation, {name: len(found.columns[name].counts) for name in found.texts}, numbers)
        for name in numbers:
            warn_of_doubts(notation, name)
        if numbers:
            encoding = Encoding(numbers=tuple(numbers), decimal=notation.decimal)
            found = look(encoding, False)
    return found, encoding


def decimal_mark(rows: Rows, names: Sequence[str]) -> str | None:
    """The decimal mark of numbers in text, decided from all columns, if some of these are text: one pass."""
    if rows.read_texts or not rows.holds_text(names):
        return None
    from sleek.tables.text import notation_of

    look: TableSummary = rows.map_reduce(
        partial(TableSummary.of, (), True),
        Run(),
        reads=None,
        features=True,
        cutting=Cutting(rows.look_rows),
        encoding=Encoding(),
    )
    notation = notation_of(look.texts)
    for name in set(names) & set(look.texts):
        notation.is_number(name)  # or it is refused
    return notation.decimal


def _in_memory(rows: Rows, reads: str, encoding: Encoding) -> ColumnRows:
    """Few rows, as a table in memory: the same as a data frame of them."""
    blocks: list[RawBlock] = rows.map_reduce(
        lambda block: [block],
        Run(),
        reads=reads,
        features=True,
        cutting=Cutting(rows.look_rows),
        encoding=encoding,
    )
    whole = next(iter(ChunkedBlock.each(blocks, sum(map(len, blocks))))).joined()
    numbers, flat = whole.own_numbers(), rows.flat_targets
    return ColumnRows(whole.X, whole.y, whole.s, flat, whole.where, numbers, whole.groups)


def _learn_many(rows: Rows, reads: str, look: TableSummary, encoding: Encoding) -> LearntColumns:
    """How the columns of many rows are encoded; one more pass if that depends on the targets."""
    columns, left_out = kinds_of(look.columns, rows.dates)
    by_fold: dict[str, FloatArray] = {}
    unsettled = tuple(column for column in columns.values() if has_choices(column))
    if unsettled:
        found: Rated = rows.map_reduce(
            partial(Rated.of, unsettled, look.labels),
            Run(),
            reads=reads,
            features=True,
            cutting=Cutting(rows.look_rows),
            encoding=replace(encoding, inputs=Inputs(unsettled), settled=True),
        )
        for column in unsettled:
            choose(columns, left_out, column.name, found.of_column(column.name, look.n_rows), by_fold)
    notes = notes_of(columns, look.columns, learnt=True)
    doubts = [] if rows.dates is not None else doubts_of(columns, look.columns)
    return LearntColumns(Inputs(tuple(columns.values())), left_out, notes, by_fold, doubts=doubts)


@dataclass(frozen=True, eq=False)
class Rated:
    """Mean and variance of the targets of some rows, and their sums for every grouping of a column."""

    moments: ColumnMoments
    groups: dict[str, dict[str, RawSums]] = field(default_factory=dict)  # by column and grouping

    @classmethod
    def of(cls, columns: Sequence[Column], labels: AnyArray | None, block: RawBlock) -> Rated:
        """Of a block whose features are the settled values of these columns: codes, numbers and days."""
        parts = range(0, len(block), BLOCK_ROWS)
        return total(
            cls._of(columns, labels, block.take(slice(start, start + BLOCK_ROWS)), block.start + start)
            for start in parts
        )

    @classmethod
    def _of(cls, columns: Sequence[Column], labels: AnyArray | None, block: RawBlock, start: int) -> Rated:
        T = indicators(block.y, labels)
        folds = folds_of(np.arange(start, start + len(block)) if block.groups is None else block.groups)
        groups = {}
        for column, settled in zip(columns, block.X.T, strict=True):
            values = settled.astype(np.int64) if isinstance(column, WordColumn) else settled
            groups[column.name] = {
                key: RawSums.of(folds, codes, size, T, block.s)
                for key, (codes, size) in groupings(column, values).items()
            }
        return cls(ColumnMoments.of(T, block.s), groups)

    def __add__(self, other: Rated) -> Rated:
        groups = {
            name: {key: sums + other.groups[name][key] for key, sums in own.items()}
            for name, own in self.groups.items()
        }
        return Rated(self.moments + other.moments, groups)

    def of_column(self, name: str, n_rows: int) -> dict[str, LevelSums]:
        """What the groupings of a column tell."""
        return {key: sums.centred(self.moments, n_rows) for key, sums in self.groups[name].items()}


def indicators(y: Any, labels: AnyArray | None = None) -> FloatArray:
    """Labels or numbers as columns that means can be taken of: 1 for a class, one of two classes alone."""
    if not isinstance(y, Labels):
        return np.ascontiguousarray(y, dtype=np.float64)
    labels = y.values if labels is None else labels
    codes = np.searchsorted(labels, y.values)[y.codes]
    first = 1 if len(labels) == 2 else 0
    return np.asarray(codes[:, None] == np.arange(first, len(labels)), dtype=np.float64)
