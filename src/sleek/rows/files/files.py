"""What the user writes down: files, and the part that each column plays."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.sums import Sum
from sleek._runtime.types import AnyArray, IntArray
from sleek.rows.cutting import TARGETS, Cutting
from sleek.rows.files.layout import FileLayout, inspect, list_files
from sleek.rows.files.roles import Part, check_features, names_of, one_format, same_kind
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.tables.gaps import Gaps
from sleek.tables.inputs import Inputs


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
        column but target and weight (and the index of a pandas frame).
    weight : str or None, default=None
        The column of row weights: a row of weight 2 counts as two rows, one of weight 0 is left out unread.
    categories : list of str or None, default=None
        Columns whose numbers are codes of categories.
    missing : list of str or None, default=None
        The words that mean a missing value in text, instead of the usual ones.
    encoding : str or None, default=None
        Of text; None: UTF-8 or UTF-16, or else Windows-1252, by the first bytes.
    drop_missing_targets : bool, default=False
        Whether rows without a target are left out of a fit, instead of refused.

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
    part: Part | None = field(default=None, repr=False)  # those of the rows that `split` chose
    tables: tuple[FileLayout, ...] = field(init=False, repr=False)
    features: tuple[str, ...] = field(init=False, repr=False)
    targets: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        need("pyarrow", None, "Reading files")
        targets = names_of("target", self.target, "the name of a column, a list of names or None")
        weights = names_of("weight", self.weight, "the name of a column or None")
        if len(weights) > 1:
            raise TypeError(f"`weight` must be the name of a column or None, got {self.weight!r}.")
        if set(targets) & set(weights):
            raise ValueError(f"The target {self.weight!r} must not be the weight too.")
        if isinstance(self.missing, str):
            raise TypeError(f"`missing` must be a list of words, got {self.missing!r}.")
        encoding = None if self.encoding is None else codecs.lookup(self.encoding).name
        tables = tuple(inspect(file, encoding) for file in list_files(self.path))
        one_format(tables)
        features = self._features(tables[0], {*targets, *weights})
        for name in (*targets, *weights, *(features if self.columns is not None else ())):
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
                role = "weight" if name == self.weight else "target"
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
    def comma(self) -> bool:
        """Whether numbers in a CSV file may have a decimal comma."""
        dialect = self.tables[0].dialect
        return dialect is not None and dialect.comma

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
        """The number of rows in the files, whatever their weight; None if nobody knows."""
        counts = [table.n_rows for table in self.tables]
        return None if None in counts else sum(count for count in counts if count is not None)

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
        kept = [name for name in self.targets if name not in names]
        target = kept[0] if kept and isinstance(self.target, str) else kept or None
        return replace(self, path=[table.path for table in self.tables], columns=names, target=target)

    def learnt(self, estimator: Any, reads: str) -> Rows:
        from sleek.rows.files.tables import learnt_rows

        return learnt_rows(estimator, self, reads, self.categories or ())

    def read_by(self, inputs: Inputs) -> Rows:
        from sleek.rows.files.tables import TableFiles

        return TableFiles(self.with_features(inputs.names), inputs, new=True)

    def chunks(self, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
        from sleek.rows.files.passes import raw_blocks

        yield from raw_blocks(self, reads, features)

    def map_reduce(
        self,
        task: Callable[[RawBlock], Sum],
        run: Run,
        *,
        reads: str | None,
        features: bool,
        cutting: Cutting = TARGETS,
    ) -> Sum:
        from sleek.rows.files.passes import map_reduce

        found = map_reduce(self, task, run, reads, features, cutting)
        if found is None:
            raise ValueError(self._no_rows())
        return found

    def originals(self, numbers: IntArray, reads: str) -> tuple[IntArray, IntArray]:
        from sleek.rows.files.passes import own_numbers

        everything = self.weight is None and self.part is None and not self.drop_missing_targets
        own = numbers if everything else own_numbers(self, numbers, reads)
        return own, np.arange(len(numbers))

    def evaluations(self, function: Callable[..., AnyArray], run: Run) -> Generator[AnyArray, None, None]:
        from sleek.rows.files.passes import predictions

        with closing(predictions(self, function, (), run)) as pairs:
            yield from (values for values, _ in pairs)

    def write(
        self, function: Callable[..., AnyArray], path: str | PathLike[str], keep: Sequence[str], run: Run
    ) -> int:
        from sleek.rows.files.writing import write_predictions

        return write_predictions(self, function, path, keep=keep, run=run)

    def check_columns(self, reads: str | None) -> None:
        """Features, and targets and weights if they are read, can be what they are read as."""
        check_features(self, reads)

    def split(self, test_share: float = 0.2, random_state: int = 0) -> tuple[Files, Files]:
        """The same files twice: the rows to learn from, and about `test_share` of all that are held out.

        Which rows these are depends on their numbers and `random_state` alone.

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
        parts = (Part(random_state, test_share, 1.0), Part(random_state, 0.0, test_share))
        train, test = (replace(self, part=part) for part in parts)
        return train, test

    def _no_rows(self) -> str:
        if self.weight is None or self.n_rows == 0:
            return f"There are no rows in {self.named_files}: there is nothing to learn from."
        return (
            f"No row of {self.named_files} has a weight above 0 in column {self.weight!r}: "
            "there is nothing to learn from."
        )

    def __repr__(self) -> str:
        files = f"{len(self.tables)} file" + ("s" if len(self.tables) > 1 else "")
        rows = "" if self.n_rows is None else f", {self.n_rows} rows"
        target = "" if self.target is None else f", target {self.target!r}"
        weight = "" if self.weight is None else f", weight {self.weight!r}"
        features = f"{len(self.features)} feature" + ("s" if len(self.features) > 1 else "")
        return f"Files({files}{rows}, {features}{target}{weight})"
