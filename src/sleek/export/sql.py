"""A model as one SELECT statement for DuckDB, PostgreSQL or SQLite.

The statement is nested: columns → features → weighted sums of the units → units → outputs → answer. Every
number is computed once, no line is longer than a unit, and no expression is deeper than the engines allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sleek._runtime.checks import check_choice
from sleek.bases.formula import Expression, expression
from sleek.export.common import Choice, Numbers, PartFormula, answer_of, parts_of, title
from sleek.export.sql_inputs import TableColumns, real
from sleek.export.sql_text import (
    DIALECTS,
    Dialect,
    Word,
    label_literal,
    number_literal,
    operators,
    quoted,
    spelt,
    total,
)
from sleek.export.sql_uncertain import More
from sleek.export.uncertain import intervals_of, needed_probabilities, probabilities_of
from sleek.model.kernel_model import KernelModel


def to_sql(
    model: KernelModel,
    dialect: str = "duckdb",
    *,
    table: str | Sequence[str] = "rows",
    keep: Sequence[str] = (),
    name: str = "prediction",
    scores: bool = False,
    proba: bool = False,
    interval: float | None = None,
    tanh_by_exp: bool = False,
) -> str:
    """The model as one SELECT statement over a table.

    It reads the columns that are called like the model's features (x0, x1, … if they have no names), or like
    its `inputs`. A missing or not-a-number feature gives a NULL prediction. Labels are literals of their
    kind. A category's column may be of any type: the level "1" is the number 1 or 1.0 too, and "true" a
    truth value.

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
    proba : bool, default=False
        For classifiers: add the probability of every class, as NAME_probability_0, NAME_probability_1, …
    interval : float or None, default=None
        For regression: add the ends between which the number is with this probability, as NAME_low and
        NAME_high, or NAME_0_low, … for several targets.
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
    more = More(
        needed_probabilities(model) if proba else None, intervals_of(model, interval), DIALECTS[dialect]
    )
    probabilities_of(model)  # a model that decides by probabilities of another's making is refused
    return _Statement(model, DIALECTS[dialect], table, keep, tanh_by_exp, more).text(name, scores)


class _Statement:
    """The parts of the statement, from the inside out."""

    def __init__(
        self,
        model: KernelModel,
        dialect: Dialect,
        table: str | Sequence[str],
        keep: Sequence[str],
        tanh_by_exp: bool,
        more: More,
    ) -> None:
        self.more = more
        self.model, self.dialect, self.answer = model, dialect, answer_of(model)
        self.units = [(part, j) for part in parts_of(model) for j in range(len(part))]
        self.table = ".".join(quoted(part) for part in ([table] if isinstance(table, str) else table))
        self.keep = [quoted(column) for column in keep]
        self.prefix = "sleek_"
        while any(column.lower().startswith(self.prefix) for column in keep):
            self.prefix += "_"
        self.operators = operators(dialect, tanh_by_exp)

    def text(self, name: str, scores: bool) -> str:
        levels = [
            *self.columns(),
            self.level("z", len(self.units), self.inner),
            self.level("u", len(self.units), self.value),
            [*self.level("y", len(self.model.b), self.output), *self.more.beside(len(self.units), self.name)],
            *self.more.levels(len(self.model.b), self.name),
            self.answers(name, scores),
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

    def columns(self) -> list[list[str]]:
        """The table's columns as features: one level, or two if the model has `inputs`."""
        if self.model.inputs is None:
            names = self.model.names_of_features
            return [self.level("x", len(names), lambda i: real(names[i], self.dialect))]
        table = TableColumns(self.model.inputs, self.dialect, self.name)
        features = table.features()
        return [table.read(), self.level("x", len(features), lambda i: features[i])]

    def inner(self, number: int) -> str:
        """z of a unit. Terms that are always 0 are left out of all units but the first.

        So every feature occurs, and where one is missing the outputs, to which all units add, are NULL.
        """
        part, j = self.units[number]
        features = [f"t.{self.name('x', i)}" for i in range(self.model.n_features)]
        words = [self.say(part.formula.term, part, j, i, x=feature) for i, feature in enumerate(features)]
        terms = [spelt(word) for word in (self.say(part.formula.start, part, j), *words) if word != 0.0]
        if number == 0:
            pairs = zip(words, features, strict=True)
            terms += [f"0e0 * {feature}" for word, feature in pairs if isinstance(word, float)]
        return total(terms) or number_literal(0.0)

    def value(self, number: int) -> str:
        part, j = self.units[number]
        return spelt(self.say(part.formula.profile, part, j, z=f"t.{self.name('z', number)}"))

    def output(self, k: int) -> str:
        weights = self.model.theta[:, k].tolist()
        units = [f"t.{self.name('u', j)}" for j in range(len(weights))]
        products = [f"{number_literal(weight)} * {unit}" for weight, unit in zip(weights, units, strict=True)]
        return total([number_literal(float(self.model.b[k])), *products])

    def say(
        self, what: Expression | float, part: PartFormula, j: int, i: int | None = None, **names: str
    ) -> Word:
        """An expression for unit j of a part and feature i, computed as far as it can be."""

        def leaf(value: str | float) -> Word:
            if isinstance(value, float):
                return value
            if value in names:
                return names[value]
            array = part.arrays[value]
            return float(array[j] if i is None or array.ndim == 1 else array[j, i])

        return expression(what).fold(leaf, self.operators)

    def answers(self, name: str, scores: bool) -> list[str]:
        """The predicted columns."""
        columns = self.predicted(name, scores)
        alone = not isinstance(self.answer, Numbers) or self.answer.alone
        columns |= self.more.columns(name, len(self.model.b), alone, self.name)
        for word in columns:
            if word in self.keep:
                raise ValueError(
                    f"The column {word} cannot be both kept and predicted: choose another `name`."
                )
        return [f"{value} AS {word}" for word, value in columns.items()]

    def predicted(self, name: str, scores: bool) -> dict[str, str]:
        """Quoted name and value."""
        outputs = [f"t.{self.name('y', k)}" for k in range(len(self.model.b))]
        match self.answer:
            case Numbers(alone=alone):
                names = [name] if alone else [f"{name}_{k}" for k in range(len(outputs))]
                return {quoted(word): output for output, word in zip(outputs, names, strict=True)}
            case Choice((below, above)):
                words = f"WHEN TRUE THEN {label_literal(above)} WHEN FALSE THEN {label_literal(below)}"
                choice, names = f"CASE {outputs[0]} > 0 {words} END", [f"{name}_score"]
            case Choice(labels):
                whens = [
                    f"WHEN {output} THEN {label_literal(label)}"
                    for output, label in zip(outputs, labels, strict=True)
                ]
                choice = f"CASE {self.dialect.greatest}({', '.join(outputs)}) {' '.join(whens)} END"
                names = [f"{name}_score_{k}" for k in range(len(outputs))]
        extra = {quoted(word): output for output, word in zip(outputs, names, strict=True)}
        return {quoted(name): choice, **(extra if scores else {})}
