"""Roles of columns of files: target, weight or feature, and checks that a column can be that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.types import AnyArray, IntArray
from sleek.rows.files.layout import FileLayout
from sleek.rows.keys import CHUNK, lots_of

if TYPE_CHECKING:
    from sleek.rows.files.files import Files


@dataclass(frozen=True)
class RowShare:
    """A random share of the rows, or groups: those whose random number, from 0 to 1, is in low … high.

    >>> numbers = np.arange(1000)
    >>> drawn = RowShare(0, 0.0, 0.1).mask(numbers)
    >>> int(drawn.sum()), bool((drawn ^ RowShare(0, 0.1, 1.0).mask(numbers)).all())
    (97, True)
    """

    seed: int
    low: float
    high: float

    def mask(self, numbers: IntArray) -> AnyArray:
        """Whether each row of these numbers is in the share."""
        lots = lots_of(numbers, self.seed)
        return np.asarray((lots >= self.low) & (lots < self.high))

    @staticmethod
    def limit(seed: int, share: float, n_rows: int) -> float:
        """The random number below which lies exactly this share of the rows.

        >>> n = 1000
        >>> int(RowShare(3, 0.0, RowShare.limit(3, 0.25, n)).mask(np.arange(n)).sum())
        250
        """
        wanted, spare = round(share * n_rows), 10 * np.sqrt(share * (1 - share) / max(1, n_rows)) + 1 / n_rows
        below, near = 0, [np.empty(0)]
        for start in range(0, n_rows, CHUNK):
            lots = lots_of(np.arange(start, min(start + CHUNK, n_rows)), seed)
            below += int((lots < share - spare).sum())
            near.append(lots[np.abs(lots - share) <= spare])
        close = np.sort(np.concatenate(near))
        place = wanted - below
        return float(close[place]) if 0 <= place < len(close) else share


def check_targets(files: Files, reads: str | None) -> None:
    """Targets and weights can be what they are read as."""
    if reads == "labels":
        _check_label(files)
    elif reads == "numbers":
        if not files.targets:
            raise ValueError("A target column is needed here: Files(..., target=...), got None.")
        for name in files.targets:
            _check_number(files, name, "a target of regression")
    if reads is not None and files.weight is not None:
        _check_number(files, files.weight, "the weight")
    for name in files.features:
        same_kind(files.tables, name)


def _check_label(files: Files) -> None:
    if len(files.targets) != 1:
        raise ValueError(
            f"A classifier needs one target column: Files(..., target=...), got {files.target!r}."
        )
    (name,) = files.targets
    for table in files.tables:
        column = table.column(name)
        if column.dtype is None and not table.is_csv:
            raise ValueError(
                f"Column {name!r} of {table.path} must hold numbers or text to be class labels, "
                f"but is of type {column.type}."
            )


def _check_number(files: Files, name: str, role: str) -> None:
    if files.is_text(name) and files.texts is not None:
        files.texts.check_numbers([name])
        return
    for table in files.tables:
        column = table.column(name)
        if not column.is_number and not table.is_csv:
            raise ValueError(
                f"Column {name!r} of {table.path} must hold numbers to be {role}, but is of type "
                f"{column.type}. Turn it into numbers."
            )


def one_format(tables: tuple[FileLayout, ...]) -> None:
    """All files are of one kind."""
    for table in tables[1:]:
        if table.format is not tables[0].format:
            first, other = tables[0].format.word, table.format.word
            raise ValueError(
                f"Files must be all {first} or all {other}, got {tables[0].path} and {table.path}. Name the "
                "files of one kind."
            )


def names_of(argument: str, value: Any, rule: str) -> tuple[str, ...]:
    """None, one name or several, as a tuple of different names."""
    if value is None:
        return ()
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"`{argument}` must be {rule}, got {value!r}.")
    if len(set(names)) < len(names):
        raise ValueError(f"`{argument}` must name every column once, got {value!r}.")
    return names


def same_kind(tables: tuple[FileLayout, ...], name: str) -> None:
    """The column is in every file, and numbers, truth values or text in all of them."""
    first = tables[0].column(name)
    for table in tables[1:]:
        if name not in table.columns:
            raise ValueError(
                f"Column {name!r} must be in every file: it is in {tables[0].path}, but not in {table.path}."
            )
        column = table.column(name)
        others = (column.kind, column.dtype == "bool") != (first.kind, first.dtype == "bool")
        if not table.is_csv and others and "null" not in (column.kind, first.kind):
            raise ValueError(
                f"Column {name!r} must be of one kind in every file: it is {first.type} in {tables[0].path}, "
                f"but {column.type} in {table.path}."
            )
