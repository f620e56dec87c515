"""The columns of a table in SQL, and the features they become.

A database may hold a category as text, whole or binary or decimal numbers, or truth values, and a statement
is written before anybody knows which. What a value's text is, is for `sleek.tables.columns.texts` to define:
whole numbers are written without a decimal point, truth values are true and false. Numbers in binary
floating point are compared as such, since engines write them differently; all else is compared as text.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from sleek.export.common import each_column
from sleek.export.sql_text import Dialect, number_literal, quoted, text_literal
from sleek.tables.columns import CategoryColumn, Inputs, NumberColumn, texts

TRUTH = {"false": 0.0, "true": 1.0}


class TableColumns:
    """Two levels of a statement: columns as the table has them → numbers and texts → features."""

    def __init__(self, inputs: Inputs, dialect: Dialect, name: Callable[[str, int], str]) -> None:
        self.columns, self.dialect, self.name = inputs.columns, dialect, name

    def read(self) -> list[str]:
        """Every column as its number or text, and where levels may be numbers as number and text."""
        places = iter(range(len(self.columns)))

        def number(column: NumberColumn) -> list[str]:
            return [f"{real(column.name, self.dialect)} AS {self.name('c', next(places))}"]

        def category(column: CategoryColumn) -> list[str]:
            place, value = next(places), f"t.{quoted(column.name)}"
            text, own_number = self.forms(column)
            said = [f"{text.format(value)} AS {self.name('c', place)}"]
            return said + ([f"{own_number.format(value)} AS {self.name('n', place)}"] if own_number else [])

        return [line for said in each_column(self.columns, number, category) for line in said]

    def forms(self, column: CategoryColumn) -> tuple[str, str | None]:
        """How the column's text and, if any level is a number, its number are found."""
        words = self.dialect
        if self.dialect.truth is not None and is_truth(column):
            return words.text, words.truth
        if all(level_number(level) is None for level in column.levels):
            return words.text, None
        text = f"CASE WHEN {words.is_real} THEN NULL ELSE {words.digits} END"
        return text, f"CASE WHEN {words.is_real} THEN {words.number} END"

    def features(self) -> list[str]:
        """The features, of what `read` has given."""
        places = iter(range(len(self.columns)))

        def number(column: NumberColumn) -> list[str]:
            value = f"t.{self.name('c', next(places))}"
            return [value if column.fill is None else f"COALESCE({value}, {number_literal(column.fill)})"]

        def category(column: CategoryColumn) -> list[str]:
            place = next(places)
            return [
                f"CASE WHEN {self.is_level(column, place, level)} THEN {self.dialect.one} ELSE 0e0 END"
                for level in column.levels
            ]

        return [value for said in each_column(self.columns, number, category) for value in said]

    def is_level(self, column: CategoryColumn, place: int, level: str) -> str:
        same = f"t.{self.name('c', place)} = {text_literal(level)}"
        _, has_number = self.forms(column)
        number = TRUTH[level] if has_number and is_truth(column) else level_number(level)
        return same if number is None else f"{same} OR t.{self.name('n', place)} = {number_literal(number)}"


def real(name: str, dialect: Dialect) -> str:
    """A column as a number, NULL if it is missing or not a number.

    Columns are qualified, since SQLite takes an unknown "name" for text.
    """
    value = f"CAST(t.{quoted(name)} AS {dialect.real})"
    return f"NULLIF({value}, CAST('NaN' AS {dialect.real}))" if dialect.has_nan else value


def is_truth(column: CategoryColumn) -> bool:
    """Whether all levels are truth values."""
    return set(column.levels) <= set(TRUTH)


def level_number(level: str) -> float | None:
    """The number whose text is this level, if there is one.

    >>> level_number("1"), level_number("2.5"), level_number("1.0"), level_number("one")
    (1.0, 2.5, None, None)
    """
    try:
        number = float(level)
    except ValueError:
        return None
    return number if isfinite(number) and texts([number]) == [level] else None
