"""SQL dialects: where DuckDB, PostgreSQL and SQLite differ; and literals of SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SqlDialect:
    """The words in which the engines differ.

    `text` to `truth` speak of a column {0} that may be of any type, which engines know and we do not.

    Attributes
    ----------
    real : str
        The type of numbers.
    has_nan : bool
        Whether not-a-number is a value of its own, above all numbers.
    folds_case : bool
        Whether names of columns that differ by case only are the same, even in quotes.
    exp, square : str
    greatest, least : str
    text : str
        The column as text, compared letter by letter whatever its collation.
    is_real : str
        Whether it is of binary floating point, of which one number can be written in many ways.
    number : str
        Its number, if it is.
    digits : str
        Its text, without idle zeros if it is a decimal number.
    days : str
        The days since 1970-01-01 if it is a date, or text that the engine takes for one.
    truth : str or None
        Its number, 0 or 1, where an engine has no truth values of its own.
    whole_row, all_columns : str
        A row of the table as one value {0}, and the columns of that value; SQLite has the row's number.
    hints : tuple of str
        What to do before, said in comments.
    """

    real: str
    has_nan: bool
    folds_case: bool
    exp: str
    square: str
    greatest: str
    least: str
    text: str
    is_real: str
    number: str
    digits: str
    days: str
    whole_row: str
    all_columns: str
    truth: str | None = None
    hints: tuple[str, ...] = ()

    def not_nan(self, value: str) -> str:
        """A number, NULL if it is none."""
        return f"NULLIF({value}, CAST('NaN' AS {self.real}))" if self.has_nan else value


DIALECTS = {
    "duckdb": SqlDialect(
        real="DOUBLE",
        has_nan=True,
        folds_case=True,
        exp="exp({0})",
        square="({0} * {0})",
        greatest="greatest",
        least="least",
        text='CAST({0} AS VARCHAR) COLLATE "binary"',
        is_real="typeof({0}) IN ('FLOAT', 'DOUBLE')",
        number="TRY_CAST({0} AS DOUBLE)",
        digits="CASE WHEN typeof({0}) LIKE 'DECIMAL%' AND CAST({0} AS VARCHAR) LIKE '%.%' "
        "THEN rtrim(rtrim(CAST({0} AS VARCHAR), '0'), '.') ELSE CAST({0} AS VARCHAR) END COLLATE \"binary\"",
        days="epoch(CAST({0} AS TIMESTAMP)) / 86400e0",
        whole_row="{0}",
        all_columns="unnest({0})",
    ),
    # PostgreSQL raises an error where a result underflows to 0
    "postgres": SqlDialect(
        real="DOUBLE PRECISION",
        has_nan=True,
        folds_case=False,
        exp="CASE WHEN {0} < -600 THEN 0 ELSE exp({0}) END",
        square="CASE WHEN abs({0}) < 1e-150 THEN 0 ELSE {0} * {0} END",
        greatest="greatest",
        least="least",
        text='CAST({0} AS TEXT) COLLATE "C"',
        is_real="CAST(pg_typeof({0}) AS TEXT) IN ('real', 'double precision')",
        number="CAST(CAST({0} AS TEXT) AS DOUBLE PRECISION)",  # truth values cannot be cast at once
        digits="CASE WHEN CAST(pg_typeof({0}) AS TEXT) = 'numeric' AND CAST({0} AS TEXT) LIKE '%.%' "
        "THEN rtrim(rtrim(CAST({0} AS TEXT), '0'), '.') ELSE CAST({0} AS TEXT) END COLLATE \"C\"",
        days="CAST(EXTRACT(EPOCH FROM CAST({0} AS TIMESTAMP)) AS DOUBLE PRECISION) / 86400",
        whole_row="{0}",
        all_columns="({0}).*",
        hints=("SET jit = off; first: PostgreSQL may compile a large statement for many minutes.",),
    ),
    "sqlite": SqlDialect(
        real="REAL",
        has_nan=False,
        folds_case=True,
        exp="exp({0})",
        square="({0} * {0})",
        greatest="max",
        least="min",
        text="CAST({0} AS TEXT) COLLATE BINARY",
        is_real="typeof({0}) = 'real'",
        number="{0}",
        digits="CAST({0} AS TEXT) COLLATE BINARY",
        days="julianday({0}) - 2440587.5",
        whole_row="{0}.rowid",
        all_columns="",
        truth="CASE WHEN typeof({0}) IN ('integer', 'real') THEN {0} END",
    ),
}


def quote(name: str) -> str:
    """A name as an identifier.

    >>> print(quote('the "x" of it'))
    "the ""x"" of it"
    """
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(f"A table or column must be named by text without null characters, got {name!r}.")
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """Text as a literal.

    >>> text_literal("it's")
    "'it''s'"
    """
    if "\0" in text:
        raise ValueError(f"SQL has no text with null characters, got {text!r}.")
    return "'" + text.replace("'", "''") + "'"


def number_literal(number: float) -> str:
    """A number as a literal that every engine reads in double precision, which needs an exponent.

    >>> number_literal(0.1), number_literal(-1e-7)
    ('0.1e0', '(-1e-07)')
    """
    text = repr(number) if "e" in repr(number) else f"{number!r}e0"
    return f"({text})" if text.startswith("-") else text


def label_literal(label: Any) -> str:
    """A class label as a literal of its kind."""
    if isinstance(label, str):
        return text_literal(label)
    if isinstance(label, bool):
        return str(label).upper()
    if isinstance(label, float):
        return number_literal(label)
    if not -(2**63) <= label < 2**63:
        raise ValueError(f"Whole numbers in SQL have 64 bits with a sign, which is too few for {label}.")
    return str(label)


def check_case(names: list[str], dialect: str) -> None:
    """Refuse columns that the engine cannot tell apart."""
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.lower(), name)
        if other != name:
            raise ValueError(
                f"The columns {other!r} and {name!r} differ by case only, and {dialect} takes them for one: "
                "rename one of them before training."
            )
