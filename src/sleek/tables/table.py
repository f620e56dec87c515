"""A table of a file in memory, as Arrow columns, and what it can be asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.tables import rules
from sleek.tables.errors import TableError, suggestion
from sleek.tables.frames import of_arrow
from sleek.tables.gaps import Gaps
from sleek.tables.reading import as_words, is_number
from sleek.tables.values import Coded, Dates, Numbers, Values

LISTED = 12  # column names in a message


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of a file, whose values can be asked for as numbers, as words, or as they are.

    Attributes
    ----------
    source : str
        What to call it in messages.
    columns : mapping
        Arrow columns by name; text if the file knows no types.
    untyped : bool
        Whether text may be numbers, as in a CSV file.
    comma : bool
        Whether numbers may have a decimal comma.
    gaps : Gaps
        Which words mean that a value is missing.
    place : callable
        How a user finds a row: its line, or its number.
    notes : list of str
        What was left out while reading.
    """

    source: str
    columns: dict[str, Any]
    n_rows: int
    untyped: bool
    place: Callable[[int], str]
    comma: bool = False
    gaps: Gaps = field(default_factory=Gaps)
    notes: list[str] = field(default_factory=list)
    _read: dict[tuple[str, bool], Values] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def column(self, name: str) -> Values:
        """A column as what it holds; a slip among numbers is refused."""
        return self._values(name, words=False)

    def words(self, name: str) -> Coded:
        """A column as text, as it is written."""
        return as_words(self._values(name, words=True))

    def _values(self, name: str, words: bool) -> Values:
        key = name, words and self.untyped
        if key not in self._read:
            self._read[key] = self._converted(*key)
        return self._read[key]

    def _converted(self, name: str, words: bool) -> Values:
        column = self.columns[name]
        if not self.untyped:
            values = of_arrow(name, column)
        else:
            from sleek.tables.text import read_text

            values = read_text(column, self.gaps, self.comma, words)
        match values:
            case Numbers(array) if array.dtype.kind == "f":
                self._check_finite(name, array)
            case Coded() if self.untyped and not words:
                self._check_slips(name, values)
        return values

    def numbers(self, name: str) -> FloatArray:
        """A column that has to hold finite numbers, NaN where one is missing."""
        values = self.column(name)
        if isinstance(values, Numbers):
            return np.asarray(values.array, dtype=np.float64)
        if isinstance(values, Coded):
            if not values.values:
                return np.full(self.n_rows, np.nan)
            row = self._first_strange(name, values)
            raise self.refuse(name, row, values.values[values.array[row]])
        row = int(np.argmax(~np.isnan(values.array)))
        raise self.refuse(name, row, self.columns[name][row].as_py())

    def original(self, name: str) -> list[Any]:
        """A column to be written out again: as it was, None where it is missing."""
        found = self.columns[name].to_pylist()
        return [value or None for value in found] if self.untyped else found

    def _check_slips(self, name: str, values: Coded) -> None:
        """A column almost all of whose many values are numbers is refused: one of them is a slip."""
        if len(values.values) <= rules.FREE_LEVELS:
            return
        from sleek.tables.text import numbers_of

        some = values.values[: rules.MEDIAN_ROWS]
        import pyarrow as pa

        found = [numbers_of(pa.array([word]), self.gaps, self.comma) is not None for word in some[:2000]]
        if sum(found) < rules.NUMBER_SHARE * len(found) or sum(found) <= rules.FREE_LEVELS:
            return
        rows = np.bincount(values.array[values.array >= 0], minlength=len(values.values))[: len(found)]
        if rows[np.array(found)].sum() >= rules.NUMBER_SHARE * rows.sum():
            row = self._first_strange(name, values)
            word = values.values[values.array[row]]
            raise self.refuse(name, row, word, "almost all other rows hold numbers")

    def _first_strange(self, name: str, values: Coded) -> int:
        """The first row that holds something else than a number."""
        if not self.untyped:
            bad = np.array([not is_number(value) for value in values.values])
            return int(np.argmax(values.spread(bad, False)))
        import pyarrow.compute as pc

        from sleek.tables.text import strange_rows

        trimmed = pc.utf8_trim_whitespace(self.columns[name])
        return int(np.argmax(strange_rows(trimmed, self.gaps, self.comma)))

    def require(self, names: Sequence[str]) -> None:
        """Refuse to go on without these columns."""
        absent = [name for name in names if name not in self.columns]
        if absent:
            listed = ", ".join(self.names[:LISTED]) + (", …" if len(self.names) > LISTED else "")
            some = ", ".join(map(repr, absent[:LISTED])) + (", …" if len(absent) > LISTED else "")
            raise TableError(
                f"{self.source} has no column {some}.{suggestion(absent[0], self.names)} It has: {listed}."
            )

    def refuse(self, name: str, row: int, value: Any, rule: str = "a number is needed") -> TableError:
        """The error for one value."""
        return TableError(f"{self.source}, {self.place(row)}, column {name!r}: {rule}, got {value!r}.")

    def _check_finite(self, name: str, numbers: FloatArray) -> None:
        infinite = np.isinf(numbers)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise self.refuse(name, row, float(numbers[row]), "a finite number is needed")


def is_date(values: Values) -> bool:
    """Whether a column holds dates, or text that is dates."""
    from sleek.tables.reading import date_order

    if isinstance(values, Coded) and all(isinstance(value, str) for value in values.values):
        return date_order(values.values) is not None
    return isinstance(values, Dates)
