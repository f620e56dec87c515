"""What the columns of files become: learnt in a pass or two, in memory that does not grow with the rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.sums import total
from sleek._runtime.types import FloatArray
from sleek.outputs.labels import Labels
from sleek.rows.files.batches import Wanted, chunks
from sleek.rows.files.blocks import Chunk
from sleek.rows.files.files import Files
from sleek.rows.raw import Pieces, RawBlock
from sleek.rows.seen import Rated, Seen, learn_seen
from sleek.tables.columns import Column, NumberColumn
from sleek.tables.crossfit import BLOCK_ROWS, folds_of
from sleek.tables.errors import TableError
from sleek.tables.frames import of_arrow
from sleek.tables.inputs import Inputs
from sleek.tables.learning import Learnt
from sleek.tables.unusual import Unusual
from sleek.tables.values import Values


def values_in(batch: Any, name: str, files: Files, words: bool) -> Values:
    """A column of a batch; that of a CSV file is text, numbers or not as `words` says."""
    column = batch.column(name)
    if not files.is_csv:
        return of_arrow(name, column)
    from sleek.tables.text import read_text

    return read_text(column, files.gaps, files.comma, words)


@dataclass(frozen=True, eq=False)
class Surveyed:
    """All columns of files, and their rows of positive weight."""

    seen: dict[str, Seen]
    n_rows: int
    labels: Any  # the different labels, if the target has such
    words: frozenset[str]  # columns of a CSV file that are text


def wanted_columns(files: Files, reads: str | None, names: Collection[str]) -> Wanted:
    """A pass over some columns, with targets and weights if they are read."""
    return Wanted(
        files,
        raw=tuple(names),
        numbers=files.targets if reads == "numbers" else (),
        label=files.targets[0] if reads == "labels" else None,
        weight=files.weight if reads is not None else None,
    )


def survey(files: Files, reads: str, categories: Collection[str]) -> Surveyed:
    """One pass over all columns; one more if a column of numbers turns out to be text further down."""
    words = frozenset(categories)
    while True:
        seen = {name: Seen() for name in files.features}
        labels: list[Labels] = []
        n_rows, turned = 0, set()
        with closing(chunks(wanted_columns(files, reads, files.features))) as found:
            for chunk in found:
                n_rows += len(chunk)
                if chunk.labels is not None:
                    labels = [Labels.joined([*labels, chunk.labels])]
                    labels = [Labels(labels[0].values, labels[0].codes[:0], labels[0].untyped)]
                for name, column in seen.items():
                    with located(chunk):
                        column.add(name, values_in(chunk.batch, name, files, name in words))
                    if files.is_csv and column.kind == "mixed":
                        turned.add(name)
                        column.kind = "words"
        if not turned:
            return Surveyed(seen, n_rows, labels[0].values if labels else None, words)
        words |= turned


@contextmanager
def located(chunk: Chunk) -> Iterator[None]:
    """Errors about a row of a chunk say where it stands in the files."""
    try:
        yield
    except TableError as error:
        found = re.search(r" in row (\d+)\.", str(error))
        if found is None:
            raise
        place = chunk.origin.where([int(found[1])])
        raise TableError(str(error).replace(found[0], f" in {place}.")) from None


def learn_files(files: Files, reads: str, categories: Collection[str], found: Surveyed) -> Learnt:
    """What the columns become; where targets have a say in it, in one more pass."""

    def rated(columns: dict[str, Column]) -> Rated:
        blocks = Pieces.each(_settled(files, reads, columns), BLOCK_ROWS)
        return total(Rated.of(tuple(columns.values()), found.labels, block.joined()) for block in blocks)

    return learn_seen(found.seen, categories, rated, found.n_rows)


def _settled(files: Files, reads: str, columns: dict[str, Column]) -> Iterator[RawBlock]:
    """Rows whose features are the settled values of some columns."""
    with closing(chunks(wanted_columns(files, reads, columns))) as passed:
        for chunk in passed:
            X = np.empty((len(chunk), len(columns)))
            for place, (name, column) in enumerate(columns.items()):
                with located(chunk):
                    values = values_in(chunk.batch, name, files, not isinstance(column, NumberColumn))
                    X[:, place] = column.settle(values)
            y: Any = chunk.labels
            if y is None:
                y = chunk.targets(files.targets)
            yield RawBlock(X, y, chunk.s)


def encoded_chunk(
    chunk: Chunk,
    files: Files,
    inputs: Inputs,
    by_fold: dict[str, FloatArray],
    start: int,
    unusual: dict[str, Unusual] | None = None,
) -> FloatArray:
    """The features of a chunk's rows, of which the first has the number `start`.

    What is unusual about columns is added to what there is, if it is wanted.
    """
    X = np.empty((len(chunk), len(inputs.feature_names)))
    folds = folds_of(np.arange(start, start + len(chunk))) if by_fold else None
    for column, place in zip(inputs.columns, inputs.places, strict=True):
        with located(chunk):
            words = not isinstance(column, NumberColumn)
            values = values_in(chunk.batch, column.name, files, words)
            settled = column.settle(values)
        if unusual is not None:
            unusual[column.name] = unusual.get(column.name, Unusual()) + column.unusual(settled, values)
        means = by_fold.get(column.name)
        X[:, place] = column.features(settled) if means is None else means[folds, settled]
    return X
