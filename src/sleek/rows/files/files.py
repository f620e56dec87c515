"""What the user writes down: files, and the part that each column plays."""

from __future__ import annotations

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
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.tables.inputs import Inputs


@dataclass(frozen=True, eq=False)
class Files(Rows):
    """Rows of Parquet or CSV files, which need not fit into memory, to be fitted to or predicted like arrays.

    Making one looks at the files' columns; rows are read when a model is fitted or predicts, in batches of a
    few megabytes, and as often as they are needed. A sum over the rows is bit for bit that of the same rows
    in memory, however the files are cut into row groups.

    Parameters
    ----------
    path : str, path or list of these
        A file that ends in .parquet, .pq, .csv or .csv.gz, a folder of such files, or a pattern with ``*``.
        Rows are taken in the order of the list, and by file name within a folder or pattern.
    target : str, list of str or None, default=None
        The column to predict, or several columns of numbers. Predicting needs none.
    columns : list of str or None, default=None
        The features: columns of numbers, text, truth values or dates, with gaps or without. None takes every
        column but target and weight (and the index of a pandas frame).
    weight : str or None, default=None
        The column of row weights: a row of weight 2 counts as two rows, one of weight 0 is left out unread.
    categories : list of str or None, default=None
        Columns whose numbers are codes of categories.

    Attributes
    ----------
    features : tuple of str
        The names of the features.
    targets : tuple of str
        The names of the target columns: none, one or several.
    tables : tuple of FileLayout
        The files and their columns.
    n_rows : int or None
        The number of rows, of zero weight or not; None for CSV files, which do not tell.

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
    tables: tuple[FileLayout, ...] = field(init=False, repr=False)
    features: tuple[str, ...] = field(init=False, repr=False)
    targets: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        need("pyarrow", None, "Reading Parquet and CSV files")
        targets = _names("target", self.target, "the name of a column, a list of names or None")
        weights = _names("weight", self.weight, "the name of a column or None")
        if len(weights) > 1:
            raise TypeError(f"`weight` must be the name of a column or None, got {self.weight!r}.")
        if set(targets) & set(weights):
            raise ValueError(f"The target {self.weight!r} must not be the weight too.")
        tables = tuple(inspect(file) for file in list_files(self.path))
        features = self._features(tables[0], {*targets, *weights})
        for name in (*targets, *weights, *(features if self.columns is not None else ())):
            _same_kind(tables, name)
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
        features = _names("columns", self.columns, "a list of names")
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
        return self.tables[0].delimiter != ","

    @property
    def n_rows(self) -> int | None:
        """The number of rows in the files, whatever their weight."""
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

        return TableFiles(self.with_features(inputs.names), inputs)

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

        own = numbers if self.weight is None else own_numbers(self, numbers)
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
        """Features, and targets and weights if they are read, can be what they are read as.

        Every column must be of one kind in every file; what a CSV file has is seen when it is read.
        """
        self.check_targets(reads)
        for name in self.features:
            self._check_number(name, "a feature", " or leave it out of `columns`")

    def check_targets(self, reads: str | None) -> None:
        """Targets and weights can be what they are read as."""
        if reads == "labels":
            self._check_label()
        elif reads == "numbers":
            self._check_targets()
        if reads is not None and self.weight is not None:
            self._check_number(self.weight, "the weight")
        for name in self.features:
            _same_kind(self.tables, name)

    def _check_targets(self) -> None:
        if not self.targets:
            raise ValueError("A target column is needed here: Files(..., target=...), got None.")
        for name in self.targets:
            self._check_number(name, "a target of regression")

    def _check_label(self) -> None:
        if len(self.targets) != 1:
            raise ValueError(
                f"A classifier needs one target column: Files(..., target=...), got {self.target!r}."
            )
        (name,) = self.targets
        for table in self.tables:
            column = table.column(name)
            if column.dtype is None and not table.is_csv:
                raise ValueError(
                    f"Column {name!r} of {table.path} must hold numbers or text to be class labels, "
                    f"but is of type {column.type}."
                )

    def _check_number(self, name: str, role: str, otherwise: str = "") -> None:
        for table in self.tables:
            column = table.column(name)
            if not column.is_number and not table.is_csv:
                raise ValueError(
                    f"Column {name!r} of {table.path} must hold numbers to be {role}, but is of type "
                    f"{column.type}. Turn it into numbers{otherwise}."
                )

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


def _names(argument: str, value: Any, rule: str) -> tuple[str, ...]:
    """None, one name or several, as a tuple of different names."""
    if value is None:
        return ()
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"`{argument}` must be {rule}, got {value!r}.")
    if len(set(names)) < len(names):
        raise ValueError(f"`{argument}` must name every column once, got {value!r}.")
    return names


def _same_kind(tables: tuple[FileLayout, ...], name: str) -> None:
    """The column is in every file, and either numbers everywhere or text everywhere."""
    first = tables[0].column(name)
    for table in tables[1:]:
        if name not in table.columns:
            raise ValueError(
                f"Column {name!r} must be in every file: it is in {tables[0].path}, but not in {table.path}."
            )
        column = table.column(name)
        if not table.is_csv and column.kind != first.kind and "null" not in (column.kind, first.kind):
            raise ValueError(
                f"Column {name!r} must be of one kind in every file: it is {first.type} in {tables[0].path}, "
                f"but {column.type} in {table.path}."
            )
