"""Files whose columns become features while rows are read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from sleek._runtime.threads import single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek._runtime.warn import warn
from sleek.outputs.labels import Labels
from sleek.rows.arrays import ArrayRows
from sleek.rows.by_columns import RowsByColumns
from sleek.rows.files.batches import Wanted, chunks, kept_schema
from sleek.rows.files.columns import encoded_chunk, learn_files, survey, values_in, wanted_columns
from sleek.rows.files.files import Files
from sleek.rows.files.roles import check_targets
from sleek.rows.raw import RawBlock, joined_words
from sleek.rows.rows import Rows, Run
from sleek.rows.seen import is_plain, joined_values, tell
from sleek.tables import rules
from sleek.tables.encoded import EncodedTable
from sleek.tables.inputs import Inputs
from sleek.tables.learning import learn_columns
from sleek.tables.unusual import Unusual
from sleek.tables.values import Values


@dataclass(frozen=True, eq=False)
class TableFiles(RowsByColumns):
    """Rows of files with numbers, categories, dates and gaps, as the features that a model reads."""

    files: Files
    columns: Inputs
    by_fold: dict[str, FloatArray] = field(default_factory=dict)
    new: bool = False  # rows to predict, which may hold what training had none of

    @property
    def flat_targets(self) -> bool:
        return self.files.flat_targets

    def chunks(self, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
        files, start = self.files, 0
        wanted = wanted_columns(files, reads, self.columns.names if features else ())
        unusual: dict[str, Unusual] | None = {} if features and self.new else None
        with closing(chunks(wanted)) as found:
            for chunk in found:
                X = None
                if features:
                    X = encoded_chunk(chunk, files, self.columns, self.by_fold, start, unusual)
                y: Any = chunk.labels
                if reads == "numbers":
                    y = chunk.targets(files.targets)
                origin = chunk.origin
                yield RawBlock(X, y, chunk.s, lambda row, origin=origin: origin.where([row]))  # type: ignore[misc]
                start += len(chunk)
        self._tell(unusual)

    def _tell(self, unusual: dict[str, Unusual] | None) -> None:
        """A warning that counts what training had none of."""
        notes = [
            f"{note[0].upper()}{note[1:]}."
            for column in self.columns.columns
            for note in (unusual or {}).get(column.name, Unusual()).notes(column.name, column.fill_in_words)
        ]
        if notes:
            warn("\n".join(notes))

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        return self.files.originals(numbers, reads)

    def read_by(self, inputs: Inputs) -> Rows:
        return self.files.read_by(inputs)

    def write(
        self, function: Callable[..., AnyArray], path: str | PathLike[str], keep: Sequence[str], run: Run
    ) -> int:
        from sleek.rows.files.writing import write_pairs

        with single_threaded_blas():
            return write_pairs(self.files, self._pairs(function, keep), path, keep)

    def _pairs(
        self, function: Callable[..., AnyArray], keep: Sequence[str]
    ) -> Generator[tuple[AnyArray, Any], None, None]:
        wanted = Wanted(self.files, raw=self.columns.names, kept=kept_schema(self.files, keep, raw=True))
        unusual: dict[str, Unusual] = {}
        with closing(chunks(wanted)) as found:
            for chunk in found:
                X = encoded_chunk(chunk, self.files, self.columns, {}, 0, unusual)
                yield function(X), chunk.kept
        self._tell(unusual)


def learnt_rows(estimator: Any, files: Files, reads: str, categories: Sequence[str]) -> Rows:
    """Files as rows to learn from: as they are if all columns are numbers without a gap."""
    check_targets(files, reads)
    found = survey(files, reads, categories)
    if is_plain(found.seen) and not categories and not (files.is_csv and files.comma):
        return files
    if found.n_rows <= rules.SORTED_ROWS:
        return _in_memory(estimator, files, reads, categories, found.words)
    learnt = learn_files(files, reads, categories, found)
    tell(estimator, learnt, files.notes)
    return TableFiles(files, learnt.inputs, learnt.by_fold)


def _in_memory(
    estimator: Any, files: Files, reads: str, categories: Sequence[str], words: frozenset[str]
) -> ArrayRows:
    """Few rows, as a table in memory: the same as a data frame of them."""
    parts: dict[str, list[Values]] = {name: [] for name in files.features}
    y: list[Any] = []
    s, numbers, where, sizes = [], [], [], []
    with closing(chunks(wanted_columns(files, reads, files.features))) as found:
        for chunk in found:
            for name, column in parts.items():
                column.append(values_in(chunk.batch, name, files, name in words))
            y.append(chunk.labels if reads == "labels" else chunk.targets(files.targets))
            s.append(np.ones(len(chunk)) if chunk.s is None else chunk.s)
            numbers.append(chunk.numbers)
            origin = chunk.origin
            where.append(lambda row, origin=origin: origin.where([row]))
            sizes.append(len(chunk))
    columns = {name: joined_values(column) for name, column in parts.items()}
    targets = Labels.joined(y) if reads == "labels" else np.concatenate(y)
    weights = np.concatenate(s)
    from sleek.rows.table import targets_of

    learnt = learn_columns(columns, categories, targets_of(targets), weights)
    tell(estimator, learnt, files.notes)
    table = EncodedTable.of(learnt.inputs, columns, learnt.by_fold, learnt.folds)
    names, place = learnt.inputs.feature_names, joined_words(where, sizes)
    return ArrayRows(table, targets, weights, names, files.flat_targets, place, np.concatenate(numbers))
