"""The columns of a table in SQL, and the features they become.

A database may hold a category as text, whole or binary or decimal numbers, or truth values, and a statement
is written before anybody knows which. What a value's text is, is for `sleek.tables.reading.texts` to define:
whole numbers are written without a decimal point, truth values are true and false. Numbers in binary
floating point are compared as such, since engines write them differently; all else is compared as text.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from sleek.export.common import each_column
from sleek.export.sql_text import Dialect, number_literal, quoted, text_literal
from sleek.tables.calendar import YEAR
from sleek.tables.columns import CategoryColumn, DateColumn, NumberColumn, WordColumn
from sleek.tables.inputs import Inputs
from sleek.tables.reading import texts

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

        def words(column: WordColumn) -> list[str]:
            place, value = next(places), f"t.{quoted(column.name)}"
            text, own_number = self.forms(column)
            said = [f"{text.format(value)} AS {self.name('c', place)}"]
            if own_number is None:
                return said
            found = not_nan(own_number.format(value), self.dialect)
            return [*said, f"{found} AS {self.name('n', place)}"]

        def date(column: DateColumn) -> list[str]:
            days = self.dialect.days.format(f"t.{quoted(column.name)}")
            return [f"{days} AS {self.name('c', next(places))}"]

        return [line for said in each_column(self.columns, number, words, date) for line in said]

    def forms(self, column: WordColumn) -> tuple[str, str | None]:
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

        def flag(condition: str) -> str:
            return f"CASE WHEN {condition} THEN {self.dialect.one} ELSE 0e0 END"

        def number(column: NumberColumn) -> list[str]:
            value = f"t.{self.name('c', next(places))}"
            said = value if column.fill is None else f"COALESCE({value}, {number_literal(column.fill)})"
            return [said, *([flag(f"{value} IS NULL")] if column.indicator else [])]

        def words(column: WordColumn) -> list[str]:
            place = next(places)
            is_level = [self.is_level(column, place, level) for level in column.levels]
            if isinstance(column, CategoryColumn):
                known = " OR ".join([self.is_gap(column, place), *is_level])
                others = [f"CASE WHEN {known} THEN 0e0 ELSE {self.dialect.one} END"] if column.other else []
                gaps = [flag(self.is_gap(column, place))] if column.gap else []
                return [*map(flag, is_level), *others, *gaps]
            conditions = [*is_level, self.is_gap(column, place)]
            *lines, other, missing = column.table.tolist()
            return [
                "CASE "
                + " ".join(
                    f"WHEN {condition} THEN {number_literal(line[k])}"
                    for condition, line in zip(conditions, [*lines, missing], strict=True)
                )
                + f" ELSE {number_literal(other[k])} END"
                for k in range(len(other))
            ]

        def date(column: DateColumn) -> list[str]:
            value = f"t.{self.name('c', next(places))}"
            day = f"COALESCE({value}, {number_literal(column.fill)})"
            year, week = number_literal(YEAR), number_literal(7.0)
            parts = {
                "days": day,
                "season": f"{day} - {year} * floor({day} / {year})",
                "weekday": f"floor({day}) + 3e0 - {week} * floor((floor({day}) + 3e0) / {week})",
                "hour": f"24e0 * ({day} - floor({day}))",
            }
            said = [parts[part] for part in column.parts]
            return [*said, *([flag(f"{value} IS NULL")] if column.indicator else [])]

        return [value for said in each_column(self.columns, number, words, date) for value in said]

    def is_gap(self, column: WordColumn, place: int) -> str:
        """Whether a category has no value."""
        empty = f"t.{self.name('c', place)} IS NULL"
        return f"{empty} AND t.{self.name('n', place)} IS NULL" if self.forms(column)[1] else empty

    def is_level(self, column: WordColumn, place: int, level: str) -> str:
        same = f"t.{self.name('c', place)} = {text_literal(level)}"
        _, has_number = self.forms(column)
        number = TRUTH[level] if has_number and is_truth(column) else level_number(level)
        return same if number is None else f"{same} OR t.{self.name('n', place)} = {number_literal(number)}"


def real(name: str, dialect: Dialect) -> str:
    """A column as a number, NULL if it is missing or not a number.

    Columns are qualified, since SQLite takes an unknown "name" for text.
    """
    return not_nan(f"CAST(t.{quoted(name)} AS {dialect.real})", dialect)


def not_nan(value: str, dialect: Dialect) -> str:
    """A number, NULL if it is none."""
    return f"NULLIF({value}, CAST('NaN' AS {dialect.real}))" if dialect.has_nan else value


def is_truth(column: WordColumn) -> bool:
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
