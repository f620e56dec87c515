"""Numbers, text, names and formulas in SQL, and the words in which engines differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek.export.common import bare, call

CHUNK = 50  # terms of a sum in one pair of brackets: engines limit the depth of an expression to 1000
# tanh with exp alone: its argument is never positive, so it cannot overflow
TANH_BY_EXP = "CASE WHEN {0} < 0 THEN -1 ELSE 1 END * (1 - {1}) / (1 + {1})"
ZERO = "0.0e0"
Word = str | float  # a number stays one as long as it can, so that what is known is computed beforehand


@dataclass(frozen=True)
class Dialect:
    """The words in which the engines differ.

    The last five speak of a column {0} that may be of any type, which engines know and we do not.

    Attributes
    ----------
    real : str
        The type of numbers.
    has_nan : bool
        Whether not-a-number is a value of its own, above all numbers.
    exp, tanh, greatest : str
    one : str
        The number 1 in double precision.
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
    """

    real: str
    has_nan: bool
    exp: str
    tanh: str
    greatest: str
    one: str
    text: str
    is_real: str
    number: str
    digits: str
    days: str
    truth: str | None = None


DIALECTS = {
    "duckdb": Dialect(
        real="DOUBLE",
        has_nan=True,
        exp="exp({0})",
        tanh="tanh({0})",
        greatest="greatest",
        one="1e0",
        text='CAST({0} AS VARCHAR) COLLATE "binary"',
        is_real="typeof({0}) IN ('FLOAT', 'DOUBLE')",
        number="TRY_CAST({0} AS DOUBLE)",
        digits="CASE WHEN typeof({0}) LIKE 'DECIMAL%' AND CAST({0} AS VARCHAR) LIKE '%.%' "
        "THEN rtrim(rtrim(CAST({0} AS VARCHAR), '0'), '.') ELSE CAST({0} AS VARCHAR) END COLLATE \"binary\"",
        days="epoch(CAST({0} AS TIMESTAMP)) / 86400e0",
    ),
    # PostgreSQL raises an error where a result underflows to 0
    "postgres": Dialect(
        real="DOUBLE PRECISION",
        has_nan=True,
        exp="CASE WHEN {0} < -600 THEN 0 ELSE exp({0}) END",
        tanh="tanh({0})",
        greatest="greatest",
        one="CAST(1 AS DOUBLE PRECISION)",  # 1e0 is a decimal number, in which all that follows would be slow
        text='CAST({0} AS TEXT) COLLATE "C"',
        is_real="CAST(pg_typeof({0}) AS TEXT) IN ('real', 'double precision')",
        number="CAST(CAST({0} AS TEXT) AS DOUBLE PRECISION)",  # truth values cannot be cast at once
        digits="CASE WHEN CAST(pg_typeof({0}) AS TEXT) = 'numeric' AND CAST({0} AS TEXT) LIKE '%.%' "
        "THEN rtrim(rtrim(CAST({0} AS TEXT), '0'), '.') ELSE CAST({0} AS TEXT) END COLLATE \"C\"",
        days="CAST(EXTRACT(EPOCH FROM CAST({0} AS TIMESTAMP)) AS DOUBLE PRECISION) / 86400",
    ),
    "sqlite": Dialect(
        real="REAL",
        has_nan=False,
        exp="exp({0})",
        tanh="tanh({0})",
        greatest="max",
        one="1e0",
        text="CAST({0} AS TEXT) COLLATE BINARY",
        is_real="typeof({0}) = 'real'",
        number="{0}",
        digits="CAST({0} AS TEXT) COLLATE BINARY",
        days="julianday({0}) - 2440587.5",
        truth="CASE WHEN typeof({0}) IN ('integer', 'real') THEN {0} END",
    ),
}


def operators(dialect: Dialect, tanh_by_exp: bool) -> dict[str, Callable[..., Word]]:
    """The words of formulas."""

    def tanh(value: str) -> str:
        if tanh_by_exp:
            return f"({TANH_BY_EXP.format(value, dialect.exp.format(f'-2e0 * abs({value})'))})"
        return dialect.tanh.format(value)

    words: dict[str, tuple[Callable[..., Any], Callable[..., Word]]] = {
        "add": (np.add, _add),
        "subtract": (np.subtract, "({} - {})".format),
        "multiply": (np.multiply, _multiply),
        "negate": (np.negative, "(-{})".format),
        "absolute": (np.abs, call("abs")),
        "exp": (np.exp, lambda value: dialect.exp.format(bare(value))),
        "tanh": (np.tanh, tanh),
        "maximum": (np.maximum, _maximum),
    }
    return {key: _folding(value, word) for key, (value, word) in words.items()}


def _folding(value: Callable[..., Any], word: Callable[..., Word]) -> Callable[..., Word]:
    """The number where all operands are numbers, else the words."""

    def say(*operands: Word) -> Word:
        if all(isinstance(operand, float) for operand in operands):
            return float(value(*operands))
        return word(*map(spelt, operands))

    return say


def _add(first: str, second: str) -> str:
    if ZERO in (first, second):
        return second if first == ZERO else first
    return f"({first} + {second})"


def _multiply(first: str, second: str) -> Word:
    return 0.0 if ZERO in (first, second) else f"({first} * {second})"


def _maximum(first: str, second: str) -> str:
    """NULL where one of the two is, which the engines' own functions are not."""
    if first == ZERO:
        return f"CASE WHEN {first} > {second} THEN {first} ELSE {second} END"
    return f"CASE WHEN {first} > {second} THEN {first} WHEN {first} <= {second} THEN {second} END"


def spelt(word: Word) -> str:
    """Words as they are, and a number as a literal."""
    return word if isinstance(word, str) else number_literal(word)


def total(terms: list[str]) -> str:
    """A sum in brackets of at most CHUNK terms each."""
    while len(terms) > CHUNK:
        terms = [f"({' + '.join(terms[i : i + CHUNK])})" for i in range(0, len(terms), CHUNK)]
    return " + ".join(terms)


def quoted(name: str) -> str:
    """A name as an identifier.

    >>> print(quoted('the "x" of it'))
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
