"""What the columns of files become: learnt in a pass or two, in memory that does not grow with the rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek.outputs.labels import Labels
from sleek.rows.files.batches import Wanted, chunks
from sleek.rows.files.blocks import Chunk
from sleek.rows.files.files import Files
from sleek.tables import rules
from sleek.tables.columns import TRUTHS, Column, DateColumn, NumberColumn
from sleek.tables.crossfit import LevelSums, folds_of
from sleek.tables.errors import TableError, UselessColumnError
from sleek.tables.frames import of_arrow
from sleek.tables.inputs import Inputs
from sleek.tables.learning import Learnt, category_of, chosen, groupings, has_choices, no_value
from sleek.tables.reading import as_days, as_numbers, as_words, date_order, is_number
from sleek.tables.unusual import Unusual
from sleek.tables.values import Coded, Dates, Numbers, Values

MOST_WORDS = 200_000  # different words of a column that are counted: with more it is free text


def values_in(batch: Any, name: str, files: Files, words: bool) -> Values:
    """A column of a batch; that of a CSV file is text, numbers or not as `words` says."""
    column = batch.column(name)
    if not files.is_csv:
        return of_arrow(name, column)
    from sleek.tables.text import read_text

    return read_text(column, files.gaps, files.comma, words)


@dataclass
class Seen:
    """What has been seen of a column; numbers of every `step`th row are kept for their median."""

    kind: str = ""  # "number", "date", "words", "mixed"
    counts: dict[str, int] = field(default_factory=dict)
    some: list[float] = field(default_factory=list)
    step: int = 1
    n_rows: int = 0
    gaps: int = 0

    def add(self, name: str, values: Values) -> None:
        """More rows."""
        kind, found = self._kind(name, values)
        if not self.kind and self.gaps == self.n_rows:
            self.kind = kind
        elif kind and kind != self.kind:
            self.kind = "mixed"
        if kind == "words":
            self._count(as_words(values))
        elif found is not None:
            self.gaps += int(np.isnan(found).sum())
            self._keep(found)
        else:
            self.gaps += len(values)
        self.n_rows += len(values)

    def _kind(self, name: str, values: Values) -> tuple[str, FloatArray | None]:
        match values:
            case Numbers():
                numbers = np.asarray(as_numbers(name, values), dtype=np.float64)
                return ("" if np.isnan(numbers).all() else "number"), numbers
            case Dates(days):
                return "date", days
            case Coded() as coded if coded.values and all(map(is_number, coded.values)):
                return "number", np.asarray(as_numbers(name, coded), dtype=np.float64)
            case Coded() as coded if not coded.values:
                return "", None
        return "words", None

    def _keep(self, numbers: FloatArray) -> None:
        first = -self.n_rows % self.step
        self.some += numbers[first :: self.step].tolist()
        while len(self.some) > rules.MEDIAN_ROWS:
            self.some, self.step = self.some[::2], 2 * self.step

    def _count(self, words: Coded) -> None:
        rows = np.bincount(words.array + 1, minlength=len(words.values) + 1)
        self.gaps += int(rows[0])
        if len(self.counts) <= MOST_WORDS:
            for word, count in zip(words.values, rows[1:].tolist(), strict=True):
                if count:
                    self.counts[word] = self.counts.get(word, 0) + count

    def column(self, name: str, as_category: bool) -> Column:
        """What the column is."""
        if self.kind == "mixed":
            raise TableError(f"Column {name!r} must hold one kind of values in all files.")
        if self.kind == "words":
            if len(self.counts) > MOST_WORDS:
                raise UselessColumnError(
                    f"Column {name!r} has more than {MOST_WORDS:,} different texts: an id, or free text."
                )
            words = list(self.counts)
            order = None if as_category else date_order(words)
            if order is None:
                return category_of(name, self.counts, self.n_rows)
            days = [as_days(name, Coded(np.zeros(1, np.int32), [word]), order)[0] for word in words]
            place = np.argsort(days)
            middle = np.cumsum(np.array(list(self.counts.values()))[place])
            fill = float(np.array(days)[place][np.searchsorted(middle, middle[-1] / 2)])
            return DateColumn(name, ("days",), fill, gaps=self.gaps > 0, order=order)
        some = np.array(self.some)
        some = some[~np.isnan(some)]
        if len(some) == 0:
            raise UselessColumnError(no_value(name))
        if self.kind == "date":
            return DateColumn(name, ("days",), float(np.median(some)), gaps=self.gaps > 0)
        return NumberColumn(name, float(np.median(some)), gaps=self.gaps > 0)


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
    columns: dict[str, Column] = {}
    left_out: dict[str, str] = {}
    for name, seen in found.seen.items():
        try:
            columns[name] = seen.column(name, name in categories)
        except UselessColumnError as reason:
            left_out[name] = str(reason)
    by_fold: dict[str, FloatArray] = {}
    open_ones = {name: column for name, column in columns.items() if has_choices(column)}
    if open_ones:
        sums = _sums(files, reads, found, open_ones)
        for name, column in open_ones.items():
            try:
                columns[name] = chosen(column, sums[name], by_fold)
            except UselessColumnError as reason:
                left_out[name] = str(reason)
                del columns[name]
    notes = [
        f"column {name!r}: {seen.gaps:,} missing values" for name, seen in found.seen.items() if seen.gaps
    ]
    return Learnt(Inputs(tuple(columns.values())), left_out, notes, by_fold)


def targets_of_chunk(chunk: Chunk, files: Files, labels: Any) -> FloatArray:
    """Targets as columns that means can be taken of."""
    if chunk.labels is None:
        return chunk.targets(files.targets)
    codes = np.searchsorted(labels, chunk.labels.values)[chunk.labels.codes]
    return np.asarray(
        codes[:, None] == np.arange(1 if len(labels) == 2 else 0, len(labels)), dtype=np.float64
    )


def _sums(
    files: Files, reads: str, found: Surveyed, columns: dict[str, Column]
) -> dict[str, dict[str, LevelSums]]:
    """The sums of targets for all groupings of all columns, by fold."""
    raw: dict[tuple[str, str], list[FloatArray]] = {}
    total: Any = 0.0
    start = 0
    with closing(chunks(wanted_columns(files, reads, columns))) as passed:
        for chunk in passed:
            T = targets_of_chunk(chunk, files, found.labels)
            s = np.ones(len(chunk)) if chunk.s is None else chunk.s
            folds = folds_of(np.arange(start, start + len(chunk)))
            start += len(chunk)
            total = total + np.concatenate([[s.sum()], s @ T, s @ T**2])
            for name, column in columns.items():
                with located(chunk):
                    values = values_in(chunk.batch, name, files, not isinstance(column, NumberColumn))
                    settled = column.settle(values)
                for key, (codes, size) in groupings(column, settled).items():
                    part = _raw_sums(folds, codes, size, T, s)
                    old = raw.get((name, key))
                    raw[name, key] = part if old is None else [a + b for a, b in zip(old, part, strict=True)]
    k = (len(total) - 1) // 2
    mean = total[1 : k + 1] / total[0]
    spread = np.sqrt(np.maximum(total[k + 1 :] / total[0] - mean**2, 0.0))
    scale = np.divide(1.0, spread, out=np.zeros(k), where=spread > 0)
    found_sums: dict[str, dict[str, LevelSums]] = {name: {} for name in columns}
    for (name, key), (weight, sums) in raw.items():
        centred = (sums - weight[..., None] * mean) * scale
        found_sums[name][key] = LevelSums(weight, centred, float(total[0] * (scale > 0).sum()), start)
    return found_sums


def _raw_sums(folds: IntArray, codes: IntArray, size: int, T: FloatArray, s: FloatArray) -> list[FloatArray]:
    cell, cells = folds * size + codes, rules.FOLDS * size
    weight = np.bincount(cell, s, cells).astype(np.float64).reshape(rules.FOLDS, size)
    sums = np.stack([np.bincount(cell, s * t, cells).astype(np.float64) for t in T.T], axis=-1)
    return [weight, sums.reshape(rules.FOLDS, size, -1)]


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


def is_plain(columns: dict[str, Seen]) -> bool:
    """Whether all columns are numbers or truth values without a gap."""
    return all(
        not seen.gaps
        and (seen.kind == "number" or (seen.kind == "words" and set(seen.counts) <= set(TRUTHS)))
        for seen in columns.values()
    )
