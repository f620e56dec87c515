"""`Files`: rows of files to fit or predict, with their target, weight and feature columns."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.counting import how_many
from sleek._runtime.packages import need
from sleek._runtime.threads import read_ahead
from sleek._runtime.types import IntArray
from sleek.rows.encoding import Encoding, Strangers
from sleek.rows.files.layout import FileLayout, inspect, list_files
from sleek.rows.files.roles import RowShare, check_targets, names_of, one_format, same_kind
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.tables.columns import NumberColumn
from sleek.tables.gaps import Gaps
from sleek.tables.inputs import Inputs

if TYPE_CHECKING:
    from sleek.rows.files.texts import Texts

AHEAD = 2  # chunks that are read before they are asked for


@dataclass(frozen=True, eq=False)
class Files(Rows):
    """Rows of files, which need not fit into memory, to be fitted to or predicted like arrays.

    Making one looks at the files' columns; rows are read when a model is fitted or predicts, in batches of a
    few megabytes, and as often as they are needed. A sum over the rows is bit for bit that of the same rows
    in memory, however the files are cut into row groups.

    Parameters
    ----------
    path : str, path or list of these
        A Parquet, CSV, Arrow (Feather) or JSON lines file, the text perhaps packed by gzip; a folder of
        such files, by the endings .parquet, .pq, .arrow, .feather, .jsonl, .ndjson, .csv and .tsv; or a
        pattern with ``*``. Rows are taken in the order of the list, and by file name within a folder or
        pattern; folders called ``name=value`` are columns.
    target : str, list of str or None, default=None
        The column to predict, or several columns of numbers. Predicting needs none.
    columns : list of str or None, default=None
        The features: columns of numbers, text, truth values or dates, with gaps or without. None takes every
        column but target, weight and groups (and the index of a pandas frame).
    weight : str or None, default=None
        The column of row weights: a row of weight 2 counts as two rows, one of weight 0 is left out unread.
    groups : str or None, default=None
        The column that says which rows belong together, such as the patient they are of: they are never split
        between rows that learn and rows that judge.
    categories : list of str or None, default=None
        Columns whose numbers are codes of categories.
    missing : list of str or None, default=None
        The words that mean a missing value in text, instead of the usual ones.
    encoding : str or None, default=None
        Of text; None: UTF-8 or UTF-16, or else Windows-1252, by the first bytes.
    drop_missing_targets : bool, default=False
        Whether rows without a target are left out of a fit, instead of refused.
    decimal : {".", ",", None}, default=None
        The decimal mark of numbers in text; None: what all columns together say.
    dates : {"dmy", "mdy", None}, default=None
        The order of day and month in text such as 1/2/2024; None: the month first, unless a number above 12
        says no, with a note if none does.

    Attributes
    ----------
    features : tuple of str
        The names of the features.
    targets : tuple of str
        The names of the target columns: none, one or several.
    tables : tuple of FileLayout
        The files and their columns.
    n_rows : int or None
        The number of rows, of zero weight or not; None for files that do not tell.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pa.table({"a": [1.0, 2.0], "b": [0, 1], "y": ["no", "yes"]})
    ...     pq.write_table(table, f"{folder}/1.parquet")
    ...     Files(folder, target="y")
    Files(1 file, 2 rows, 2 features, target 'y')
    """

    path: Any
    target: str | list[str] | None = None
    columns: list[str] | None = None
    weight: str | None = None
    categories: list[str] | None = None
    missing: list[str] | None = None
    encoding: str | None = None
    drop_missing_targets: bool = False
    decimal: str | None = None
    dates: str | None = None
    groups: str | None = None
    part: RowShare | None = field(default=None, repr=False)  # those of the rows that `split` chose
    known: dict[Any, Any] = field(
        default_factory=dict, repr=False
    )  # what passes have found, shared by copies
    tabular = True
    read_texts = True
    tables: tuple[FileLayout, ...] = field(init=False, repr=False)
    features: tuple[str, ...] = field(init=False, repr=False)
    targets: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        need("pyarrow", None, "Reading files")
        targets = names_of("target", self.target, "the name of a column, a list of names or None")
        weights = names_of("weight", self.weight, "the name of a column or None")
        groups = names_of("groups", self.groups, "the name of a column or None")
        for role, names in (("weight", weights), ("groups", groups)):
            if len(names) > 1:
                raise TypeError(f"`{role}` must be the name of a column or None, got {list(names)!r}.")
            if set(targets) & set(names):
                raise ValueError(f"The target {names[0]!r} must not be the {role} too.")
        if set(groups) & set(weights):
            raise ValueError(f"The weight {self.weight!r} must not be the groups too.")
        if isinstance(self.missing, str):
            raise TypeError(f"`missing` must be a list of words, got {self.missing!r}.")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"`decimal` must be '.', ',' or None, got {self.decimal!r}.")
        if self.dates not in (None, "dmy", "mdy"):
            raise ValueError(f"`dates` must be 'dmy', 'mdy' or None, got {self.dates!r}.")
        encoding = None if self.encoding is None else codecs.lookup(self.encoding).name
        tables = tuple(inspect(file, encoding) for file in list_files(self.path))
        one_format(tables)
        features = self._features(tables[0], {*targets, *weights, *groups})
        for name in (*targets, *weights, *groups, *(features if self.columns is not None else ())):
            same_kind(tables, name)
        object.__setattr__(self, "tables", tables)
        object.__setattr__(self, "targets", targets)
        object.__setattr__(self, "features", features)

    def _features(self, first: FileLayout, others: set[str]) -> tuple[str, ...]:
        if self.columns is None:
            features = tuple(name for name in first.columns if name not in others | first.index)
            if not features:
                raise ValueError(f"There must be at least one feature, but {first.path} has no other column.")
            return features
        if isinstance(self.columns, str):
            raise TypeError(f"`columns` must be a list of names, got {self.columns!r}.")
        features = names_of("columns", self.columns, "a list of names")
        if not features:
            raise ValueError("`columns` must name at least one feature, got an empty list.")
        for name in features:
            if name in others:
                role = {self.weight: "weight", self.groups: "group"}.get(name, "target")
                raise ValueError(f"The {role} {name!r} must not be one of `columns`: leave it out there.")
        return features

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.features

    @property
    def n_features(self) -> int:
        return len(self.features)

    @property
    def flat_targets(self) -> bool:
        return isinstance(self.target, str)

    @property
    def is_csv(self) -> bool:
        """Whether the files are CSV files."""
        return self.tables[0].is_csv

    @property
    def texts(self) -> Texts | None:
        """How numbers are written in columns of text, found in one pass over them; None if there are none."""
        if not self.is_csv and not any(table.texts for table in self.tables):
            return None
        from sleek.rows.files.texts import Texts

        key = (*(table.path for table in self.tables), self.encoding, self.gaps, self.decimal)
        if key not in self.known:
            self.known[key] = Texts.of(self)
        found: Texts = self.known[key]
        object.__setattr__(self, "tables", found.tables)  # by now it is known how they are encoded
        return found

    @property
    def category_columns(self) -> Collection[str]:
        """Those that are named, and numbers that were categories in pandas, as Parquet files remark."""
        typed = {name for table in self.tables for name in table.categories}.intersection(self.features)
        return sorted(typed.union(self.categories or ()).difference(self.targets))

    @cached_property
    def word_columns(self) -> frozenset[str]:
        """Features that are words: those named in `categories`, and text that holds no numbers."""
        words = frozenset(self.category_columns)
        rest = [name for name in self.features if name not in words and self.is_text(name)]
        texts = self.texts if rest else None
        if texts is None:
            return words
        from sleek.tables.text import warn_of_doubts

        numbers = {name for name in rest if texts.is_number(name)}
        for name in numbers:
            warn_of_doubts(texts.notation, name)
        return words.union(rest) - numbers

    def is_text(self, name: str) -> bool:
        """Whether a column is text in some file."""
        return any(name in table.texts for table in self.tables)

    @property
    def gaps(self) -> Gaps:
        """Which words mean a missing value."""
        return Gaps.of(self.missing)

    @property
    def notes(self) -> list[str]:
        """What is strange about the files."""
        return [note for table in self.tables if table.dialect is not None for note in table.dialect.notes]

    @property
    def n_rows(self) -> int | None:
        """The number of rows in the files, whatever their weight; None if the files do not say."""
        counts = [table.n_rows for table in self.tables]
        return None if None in counts else sum(count for count in counts if count is not None)

    def count(self) -> int:
        """The number of rows in the files, counted in a pass if they do not tell."""
        if self.n_rows is not None:
            return self.n_rows
        if "count" not in self.known:
            texts = self.texts
            if texts is not None and self.is_csv:
                self.known["count"] = sum(next(iter(each.values())).n_rows for each in texts.each)
            else:
                alone = replace(self, part=None, target=None, weight=None, groups=None)
                alone = replace(alone, drop_missing_targets=False)
                self.known["count"] = sum(len(chunk) for chunk in alone.chunks(None, True))
        found: int = self.known["count"]
        return found

    @property
    def named_files(self) -> str:
        """The files in words."""
        others = len(self.tables) - 1
        return self.tables[0].path + (f" and {others} other files" if others else "")

    def with_features(self, names: Iterable[str] | None, n_features: int | None = None) -> Files:
        """The same rows with these features in this order: those that a fitted model wants to see."""
        if names is None:
            if len(self.features) != n_features:
                raise ValueError(
                    f"The files have {len(self.features)} features, but the model was fitted to "
                    f"{n_features} without names: name them in their order by `columns`."
                )
            return self
        names = list(names)
        read = set(names)
        kept = [name for name in self.targets if name not in read]
        target = kept[0] if kept and isinstance(self.target, str) else kept or None
        paths, groups = [table.path for table in self.tables], None if self.groups in read else self.groups
        return replace(self, path=paths, columns=names, target=target, groups=groups)

    def read_by(self, inputs: Inputs) -> Rows:
        from sleek.rows.table_rows import TableRows

        words = [column.name for column in inputs.columns if not isinstance(column, NumberColumn)]
        targets = [name for name in self.categories or () if name in self.targets]
        rows = replace(self.with_features(inputs.names), categories=[*words, *targets])
        return TableRows(rows, Encoding(inputs), new=True)

    def check_words(self, name: str, n_different: int) -> None:
        if self.texts is not None and self.is_text(name):
            self.texts.check_slips(name, n_different)

    # -- passes

    def chunks(self, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
        from sleek.rows.files.chunks import Wanted, chunks

        check_targets(self, reads)
        yield from chunks(Wanted.of(self, reads, features))

    def _chunks(
        self,
        reads: str | None,
        features: bool,
        run: Run,
        encoding: Encoding | None = None,
        strangers: Strangers | None = None,
        keep: Sequence[str] = (),
    ) -> Generator[RawBlock, None, None]:
        """Chunks are read, decoded and settled ahead of the threads that work on them."""
        from sleek.rows.files.chunks import Wanted, chunks

        check_targets(self, reads)
        wanted = Wanted.of(self, reads, features, keep, threads=run.workers.n_jobs > 1)
        found = self._settle(chunks(wanted), reads, encoding if features else None, strangers)
        with closing(read_ahead(found, AHEAD)) as ahead:
            yield from ahead

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        if self.weight is None and self.part is None and not self.drop_missing_targets:
            return numbers, np.arange(len(numbers))
        return super().originals(numbers, reads)

    def write(
        self,
        function: Callable[..., Any],
        path: str | PathLike[str],
        keep: Sequence[str],
        run: Run,
        encoding: Encoding | None = None,
    ) -> int:
        from sleek.rows.files.writing import write_predictions

        return write_predictions(self, self.pairs(function, keep, run, encoding), path, keep)

    def pairs(
        self,
        function: Callable[..., Any],
        keep: Sequence[str],
        run: Run,
        encoding: Encoding | None = None,
    ) -> Generator[tuple[Any, Any], None, None]:
        """``function(X)`` and an Arrow table of the columns `keep`, for all rows, thousands at a time."""

        def task(block: RawBlock) -> tuple[Any, Any]:
            return function(block.X), block.kept

        return self._predictions(task, run, encoding, keep=keep)

    def split(self, test_share: float = 0.2, random_state: int = 0) -> tuple[Files, Files]:
        """The same files twice: the rows to learn from, and `test_share` of all, which are held out.

        Which rows these are depends on their numbers and `random_state` alone. Rows of a group stay together:
        a share of the groups is held out.

        >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pq.write_table(pa.table({"a": range(1000)}), f"{folder}/1.parquet")
        ...     train, test = Files(folder).split(0.25)
        ...     [sum(len(block) for block in part.chunks(None, True)) for part in (train, test)]
        [750, 250]
        """
        if not 0.0 < test_share < 1.0:
            raise ValueError(f"`test_share` must be between 0 and 1, got {test_share!r}.")
        if self.part is not None:
            raise ValueError("These are some of the rows already: split all of them once.")
        share = test_share if self.groups is not None else None
        limit = share or RowShare.limit(random_state, test_share, self.count())
        parts = (RowShare(random_state, limit, 1.0), RowShare(random_state, 0.0, limit))
        train, test = (replace(self, part=part) for part in parts)
        return train, test

    def _no_rows(self, purpose: str) -> str:
        if self.weight is None or self.n_rows == 0 or purpose == "predict":
            return f"There are no rows in {self.named_files}: there is nothing to {purpose}."
        return (
            f"No row of {self.named_files} has a weight above 0 in column {self.weight!r}: "
            f"there is nothing to {purpose}."
        )

    def __repr__(self) -> str:
        files = how_many(len(self.tables), "file")
        rows = "" if self.n_rows is None else f", {how_many(self.n_rows, 'row')}"
        target = "" if self.target is None else f", target {self.target!r}"
        weight = "" if self.weight is None else f", weight {self.weight!r}"
        weight += "" if self.groups is None else f", groups {self.groups!r}"
        features = how_many(len(self.features), "feature")
        return f"Files({files}{rows}, {features}{target}{weight})"
