"""`TableError`: what is wrong with a table, with column, row, rule and value as fields, worded once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any


class TableError(ValueError):
    """A table does not hold what is needed: a sentence, or a rule and the value that breaks it.

    Who finds a value knows its row among those it was given; who handed out the rows knows what to call the
    place (`at`). The sentence is made when it is read.

    Attributes
    ----------
    column : str or None
    rule : str or None
        What the column must do; None: the error is a sentence as it is.
    found : Any
        The value that breaks the rule.
    row : int or None
        Its row among those that were looked at.
    place : str or None
        Words for the row; None until the place of the row is known.
    remedy : str
        What to do about it.

    >>> error = TableError.of("age", "hold numbers", "old", 3)
    >>> print(error)
    Column 'age' must hold numbers, got 'old' in row 3.
    >>> print(error.at("line {} of a.csv".format))
    Column 'age' must hold numbers, got 'old' in line 3 of a.csv.
    """

    column: str | None = None
    rule: str | None = None
    found: Any = None
    row: int | None = None
    place: str | None = None
    remedy: str = ""

    @classmethod
    def of(cls, column: str, rule: str, found: Any, row: int | None = None, remedy: str = "") -> TableError:
        """The error for one value of a column."""
        error = cls()
        error.column, error.rule, error.found, error.row, error.remedy = column, rule, found, row, remedy
        return error

    def at(self, words: Callable[[int], Any]) -> TableError:
        """The same error with words for its row, if it has one without words."""
        if self.row is not None and self.place is None:
            self.place = str(words(self.row))
        return self

    def __str__(self) -> str:
        if self.rule is None:
            return super().__str__()
        found = "nothing" if self.found is None else repr(self.found)
        place = self.place or (None if self.row is None else f"row {self.row}")
        where, remedy = f" in {place}" if place else "", f" {self.remedy}" if self.remedy else ""
        return f"Column {self.column!r} must {self.rule}, got {found}{where}.{remedy}"


class UselessColumnError(TableError):
    """A column has nothing that a model could learn from: an id, free text, no value at all."""


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before, None if all are different.

    >>> first_repeated(["a", "b", "a"]), first_repeated(["a"])
    ('a', None)
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def suggestion(word: str, known: Sequence[str], alike: float = 0.6) -> str:
    """A question that names the closest known word, or nothing if none is as much alike (1: the same).

    >>> suggestion("Agee", ["age", "colour"]), suggestion("town", ["age", "colour"])
    (" Did you mean 'age'?", '')
    """
    spellings = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), spellings, n=1, cutoff=alike)
    return f" Did you mean {spellings[near[0]]!r}?" if near else ""


def no_such_file(path: str) -> TableError:
    """The complaint about a file that is not there, with the name that was meant, or the missing folder."""
    folder, name = Path(path).parent, Path(path).name
    if not folder.is_dir():
        return TableError(f"{path} does not exist. There is no folder {folder}.")
    there = [entry.name for entry in folder.iterdir() if entry.is_file()]
    return TableError(f"{path} does not exist.{suggestion(name, there, alike=0.75)}")  # endings are alike
