"""A model as one SELECT statement for DuckDB, PostgreSQL or SQLite.

The statement is nested: columns → features → weighted sums of the units → units → outputs → answer. Every
number is computed once, no line is longer than a unit, and no expression is deeper than the engines allow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sleek._runtime.checks import check_choice
from sleek.bases.formula import Expression, expression
from sleek.export.common import bare, call, each_column, feature_names, formula_of, labels_of, title
from sleek.model.kernel_model import KernelModel
from sleek.tables.columns import CategoryColumn, NumberColumn

CHUNK = 50  # terms of a sum in one pair of brackets: engines limit the depth of an expression to 1000


@dataclass(frozen=True)
class Dialect:
    """The words in which the engines differ."""

    real: str
    text: str
    has_nan: bool  # as a value of its own, above all numbers
    exp: str
    tanh: str
    greatest: str


DIALECTS = {
    "duckdb": Dialect("DOUBLE", "VARCHAR", True, "exp({0})", "tanh({0})", "greatest"),
    # PostgreSQL raises an error where a result underflows to 0
    "postgres": Dialect(
        "DOUBLE PRECISION",
        "TEXT",
        True,
        "CASE WHEN {0} < -600 THEN 0 ELSE exp({0}) END",
        "tanh({0})",
        "greatest",
    ),
    "sqlite": Dialect("REAL", "TEXT", False, "exp({0})", "tanh({0})", "max"),
}
# tanh with exp alone: its argument is never positive, so it cannot overflow
TANH_BY_EXP = "CASE WHEN {0} < 0 THEN -1 ELSE 1 END * (1 - {1}) / (1 + {1})"


def to_sql(
    model: KernelModel,
    dialect: str = "duckdb",
    *,
    table: str | Sequence[str] = "rows",
    keep: Sequence[str] = (),
    name: str = "prediction",
    scores: bool = False,
    tanh_by_exp: bool = False,
) -> str:
    """The model as one SELECT statement over a table.

    It reads the columns that are called like the model's features (x0, x1, … if they have no names), or like
    its `inputs`. A missing or not-a-number feature gives a NULL prediction. Labels are literals of their
    kind.

    Parameters
    ----------
    model : KernelModel
    dialect : {"duckdb", "postgres", "sqlite"}, default="duckdb"
        SQLite must be built with its mathematical functions, as almost everywhere since 2021; for "simplex"
        it need not.
    table : str or sequence of str, default="rows"
        The table, or its schema and name.
    keep : sequence of str, default=()
        Columns of the table to pass on, such as a key.
    name : str, default="prediction"
        The column of the class label or number; several targets are NAME_0, NAME_1, …
    scores : bool, default=False
        For classifiers: add the outputs that decide, as NAME_score, or NAME_score_0, … for more than two
        classes.
    tanh_by_exp : bool, default=False
        Write tanh with exp, for engines that have exp alone.

    Examples
    --------
    >>> from sleek import LowRankLSSVC, export
    >>> from sleek.datasets import make_ripley
    >>> model = LowRankLSSVC(2, basis="simplex", C=1.0, random_state=0).fit(*make_ripley(99, 0)).model_
    >>> print(export.to_sql(model, "sqlite", table="points", keep=["id"]))
    -- A kernel machine of 2 simplex units, written by sleek ...
    SELECT t."id", CASE t.sleek_y0 > 0 WHEN TRUE THEN 1 WHEN FALSE THEN 0 END AS "prediction"
    FROM (
    ...
    """
    check_choice("dialect", dialect, DIALECTS)
    return _Statement(model, DIALECTS[dialect], table, keep, tanh_by_exp).text(name, scores)


class _Statement:
    """The parts of the statement, from the inside out."""

    def __init__(
        self,
        model: KernelModel,
        dialect: Dialect,
        table: str | Sequence[str],
        keep: Sequence[str],
        tanh_by_exp: bool,
    ) -> None:
        self.model, self.dialect, self.formula = model, dialect, formula_of(model)
        self.table = ".".join(quoted(part) for part in ([table] if isinstance(table, str) else table))
        self.keep = [quoted(column) for column in keep]
        self.prefix = "sleek_"
        while any(column.lower().startswith(self.prefix) for column in keep):
            self.prefix += "_"
        self.operators = _operators(dialect, tanh_by_exp)

    def text(self, name: str, scores: bool) -> str:
        features = [f"{value} AS {self.name('x', i)}" for i, value in enumerate(self.features())]
        levels = [
            features,
            self.level("z", len(self.model.units), self.inner),
            self.level("u", len(self.model.units), lambda j: self.say(self.formula.profile, {}, j)),
            self.level("y", len(self.model.b), self.output),
            self.answer(name, scores),
        ]
        rows = f"{self.table} AS t"
        for level in levels:
            columns = ",\n  ".join([*(f"t.{column}" for column in self.keep), *level])
            rows = f"SELECT\n  {columns}\nFROM {rows}"
            if level is not levels[-1]:
                rows = f"(\n{rows}\n) AS t"
        return f"-- {title(self.model)}\n{rows}\n"

    def name(self, letter: str, number: int) -> str:
        return f"{self.prefix}{letter}{number}"

    def level(self, letter: str, size: int, value: Callable[[int], str]) -> list[str]:
        return [f"{value(number)} AS {self.name(letter, number)}" for number in range(size)]

    def features(self) -> list[str]:
        """Columns of the table as numbers; qualified, since SQLite takes an unknown "name" for text."""
        if self.model.inputs is None:
            return [self.number(name) for name in feature_names(self.model)]
        said = each_column(self.model.inputs.columns, self.filled, self.category)
        return [value for values in said for value in values]

    def number(self, name: str) -> str:
        value = f"CAST(t.{quoted(name)} AS {self.dialect.real})"
        return f"NULLIF({value}, CAST('NaN' AS {self.dialect.real}))" if self.dialect.has_nan else value

    def filled(self, column: NumberColumn) -> list[str]:
        value = self.number(column.name)
        return [value if column.fill is None else f"COALESCE({value}, {number_literal(column.fill)})"]

    def category(self, column: CategoryColumn) -> list[str]:
        value = f"CAST(t.{quoted(column.name)} AS {self.dialect.text})"
        return [f"CASE WHEN {value} = {text_literal(level)} THEN 1e0 ELSE 0e0 END" for level in column.levels]

    def inner(self, j: int) -> str:
        start = expression(self.formula.start)
        terms = [] if start == expression(0.0) else [self.say(start, {}, j)]
        terms += [
            self.say(self.formula.term, {"x": f"t.{self.name('x', i)}"}, j, i)
            for i in range(self.model.n_features)
        ]
        return _sum(terms)

    def output(self, k: int) -> str:
        weights = self.model.theta[:, k].tolist()
        units = [f"t.{self.name('u', j)}" for j in range(len(weights))]
        products = [f"{number_literal(weight)} * {unit}" for weight, unit in zip(weights, units, strict=True)]
        return _sum([number_literal(float(self.model.b[k])), *products])

    def say(self, what: Expression, names: Mapping[str, str], j: int, i: int | None = None) -> str:
        def leaf(value: str | float) -> str:
            if isinstance(value, float):
                return number_literal(value)
            if value == "z":
                return f"t.{self.name('z', j)}"
            if value in names:
                return names[value]
            array = self.model.units[value]
            return number_literal(float(array[j] if i is None or array.ndim == 1 else array[j, i]))

        return what.fold(leaf, self.operators)

    def answer(self, name: str, scores: bool) -> list[str]:
        columns = self.answers(name, scores)
        for word in columns:
            if word in self.keep:
                raise ValueError(
                    f"The column {word} cannot be both kept and predicted: choose another `name`."
                )
        return [f"{value} AS {word}" for word, value in columns.items()]

    def answers(self, name: str, scores: bool) -> dict[str, str]:
        """The predicted columns: quoted name and value."""
        outputs = [f"t.{self.name('y', k)}" for k in range(len(self.model.b))]
        labels = [label_literal(label) for label in labels_of(self.model)]
        if not labels:
            names = [name] if self.model.flat else [f"{name}_{k}" for k in range(len(outputs))]
            return {quoted(word): output for output, word in zip(outputs, names, strict=True)}
        if len(labels) == 2:
            choice = f"CASE {outputs[0]} > 0 WHEN TRUE THEN {labels[1]} WHEN FALSE THEN {labels[0]} END"
            names = [f"{name}_score"]
        else:
            whens = [f"WHEN {output} THEN {label}" for output, label in zip(outputs, labels, strict=True)]
            choice = f"CASE {self.dialect.greatest}({', '.join(outputs)}) {' '.join(whens)} END"
            names = [f"{name}_score_{k}" for k in range(len(outputs))]
        extra = {quoted(word): output for output, word in zip(outputs, names, strict=True)}
        return {quoted(name): choice, **(extra if scores else {})}


def _operators(dialect: Dialect, tanh_by_exp: bool) -> dict[str, Callable[..., str]]:
    def tanh(value: str) -> str:
        if tanh_by_exp:
            return f"({TANH_BY_EXP.format(value, dialect.exp.format(f'-2e0 * abs({value})'))})"
        return dialect.tanh.format(value)

    return {
        "add": "({} + {})".format,
        "subtract": "({} - {})".format,
        "multiply": "({} * {})".format,
        "negate": "(-{})".format,
        "absolute": call("abs"),
        "exp": lambda value: dialect.exp.format(bare(value)),
        "tanh": tanh,
        "maximum": "CASE WHEN {0} > {1} THEN {0} ELSE {1} END".format,
    }


def _sum(terms: list[str]) -> str:
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
