"""A model as one SELECT statement for DuckDB, PostgreSQL or SQLite.

Every variable of a program without vectors (`scalars`) is a column of a `query`, in the words of an engine
(`dialects`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sleek._runtime.checks import check_choice
from sleek.bases.formula import Element, Expression
from sleek.export.dialects import (
    DIALECTS,
    SqlDialect,
    check_case,
    label_literal,
    number_literal,
    quote,
    text_literal,
)
from sleek.export.printing import C_LIKE, bare, level_number, operators, with_truths
from sleek.export.program import Code, Input, Program
from sleek.export.query import Query, chunks
from sleek.export.scalars import Scalars
from sleek.export.translation import translate
from sleek.model.kernel_model import KernelModel

# tanh with exp alone: its argument is never positive, so it cannot overflow
TANH_BY_EXP = "(CASE WHEN {0} < 0 THEN -1 ELSE 1 END * (1 - {1}) / (1 + {1}))"


def to_sql(
    model: KernelModel,
    dialect: str = "duckdb",
    *,
    table: str | Sequence[str] = "rows",
    keep: str | Sequence[str] = (),
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
    truth value. Rows come back in any order: `keep` a key.

    Parameters
    ----------
    model : KernelModel
    dialect : {"duckdb", "postgres", "sqlite"}, default="duckdb"
        SQLite must be built with its mathematical functions, as almost everywhere since 2021; for "simplex"
        it need not.
    table : str or sequence of str, default="rows"
        The table, or its schema and name.
    keep : sequence of str or "*", default=()
        Columns of the table to pass on, such as a key; "*" for all (in SQLite of a table, not of a view).
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
    WITH sleek_0 AS MATERIALIZED (
    ...
    SELECT
      t."id",
      CASE WHEN t.sleek_whole THEN CASE max(t.sleek_sides_0, t.sleek_y_0) WHEN ... END END AS "prediction"
    FROM sleek_... AS t
    <BLANKLINE>
    """
    check_choice("dialect", dialect, DIALECTS)
    if proba:
        model.uncertainty.class_calibration  # noqa: B018  (whose sentence it is)
    program = translate(model, interval)
    roles = [role for role, asked in (("probabilities", proba), ("interval", interval is not None)) if asked]
    roles += ["scores"] if scores or not program.labels else []
    return Statement(program, dialect, table, keep, tanh_by_exp).text(name, roles)


class Statement:
    """A program over a table."""

    def __init__(
        self,
        program: Program,
        dialect: str,
        table: str | Sequence[str],
        keep: str | Sequence[str] = (),
        tanh_by_exp: bool = False,
    ) -> None:
        self.program, self.dialect, self.scalars = program, DIALECTS[dialect], Scalars(program)
        self.query = Query(self.dialect, table, keep)
        self.prefix = self.query.prefix
        if self.dialect.folds_case:
            check_case([input.name for input in program.inputs], dialect)
        self.operators = {**_operators(self.dialect, tanh_by_exp), "label": self.label}
        self.read_rows()
        for element, value in self.scalars.values.items():
            name = self.name(element)
            if isinstance(value, Code):
                self.query.add(name, *self.code(value))
            else:
                self.query.add(name, bare(self.say(value)), self.reads(value))

    # -- columns --------------------------------------------------------------------------------------------

    def name(self, element: Element) -> str:
        """The column of a variable or an input."""
        return f"{self.prefix}{element.array}_{element.place[0]}"

    def say(self, what: Expression) -> str:
        """An expression."""

        def leaf(value: Element | float) -> str:
            return f"t.{self.name(value)}" if isinstance(value, Element) else number_literal(value)

        return with_truths(what).fold(leaf, self.operators)

    def reads(self, *values: Expression) -> list[str]:
        """The columns that expressions are made of."""
        leaves = (leaf for value in values for leaf in value.leaves() if isinstance(leaf, Element))
        return list(dict.fromkeys(map(self.name, leaves)))

    def read_rows(self) -> None:
        """The first level: numbers, texts, and whether all that is required is there."""
        required = []
        for k, input in enumerate(self.program.inputs):
            value, x = f"{self.prefix}source.{quote(input.name)}", f"{self.prefix}x_{k}"
            if input.kind == "text":
                text, number = self.forms(input)
                self.query.add(f"{self.prefix}text_{k}", text.format(value))
                if number is not None:
                    self.query.add(f"{self.prefix}number_{k}", self.dialect.not_nan(number.format(value)))
            elif input.kind == "date":
                self.query.add(x, self.dialect.days.format(value))
            else:
                self.query.add(x, self.dialect.not_nan(f"CAST({value} AS {self.dialect.real})"))
            required += [x] if input.kind == "number" else []
        if required:
            there = [f"t.{name} IS NOT NULL" for name in required]
            self.query.add(f"{self.prefix}whole", chunks(there, " AND "), required)

    def forms(self, input: Input) -> tuple[str, str | None]:
        """How the text of a column and, if any level is a number, its number are found."""
        words = self.dialect
        if words.truth is not None and set(input.levels) <= {"false", "true"}:
            return words.text, words.truth
        if all(level_number(level) is None for level in input.levels):
            return words.text, None
        text = f"CASE WHEN {words.is_real} THEN NULL ELSE {words.digits} END"
        return text, f"CASE WHEN {words.is_real} THEN {words.number} END"

    def code(self, step: Code) -> tuple[str, list[str]]:
        """The line of a text, or of a number that is one of the known texts; and what is read for it."""
        input = self.program.inputs[step.input]
        truth = self.dialect.truth is not None and set(input.levels) <= {"false", "true"}
        reads = [f"{self.prefix}{form}_{step.input}" for form in ("text", "number")]
        reads = [name for name in reads if name in self.query.columns]
        text, number, whens = f"t.{reads[0]}", f"t.{reads[-1]}", []
        for level, line in step.lines:
            same, value = f"{text} = {text_literal(level)}", level_number(level)
            if truth:
                value = {"false": 0.0, "true": 1.0}.get(level)
            if len(reads) == 2 and value is not None:
                same += f" OR {number} = {number_literal(value)}"
            whens.append(f"WHEN {same} THEN {line}")
        gap = " AND ".join(f"t.{name} IS NULL" for name in reads)
        return f"CASE {' '.join(whens)} WHEN {gap} THEN {step.missing} ELSE {step.other} END", reads

    # -- the statement --------------------------------------------------------------------------------------

    def answers(self, name: str, roles: Sequence[str]) -> dict[str, Expression]:
        """Name and value of the columns that are asked for."""
        program, found = self.program, dict[str, Expression]()
        vectors = {role: self.scalars.vector(vector) for role, vector in program.outputs.items()}
        places = range(len(vectors["scores"]))
        names = {"scores": [name] if program.alone else [f"{name}_{k}" for k in places]}
        names["interval"] = [f"{stem}_{end}" for stem in names["scores"] for end in ("low", "high")]
        if program.labels:
            found[name] = Expression("label", tuple(vectors["choice"]))
            names["scores"] = [f"{name}_score" if len(places) == 1 else f"{name}_score_{k}" for k in places]
            names["probabilities"] = [f"{name}_probability_{k}" for k in range(len(program.labels))]
        for role in ("scores", "probabilities", "interval"):
            if role in roles and role in vectors:
                found |= dict(zip(names[role], vectors[role], strict=True))
        return found

    def text(self, name: str, roles: Sequence[str]) -> str:
        """The statement, with the answer and some roles as columns."""
        answers = self.answers(name, roles)
        columns = {word: self.say(value) for word, value in answers.items()}
        wanted, whole = self.reads(*answers.values()), f"{self.prefix}whole"
        if whole in self.query.columns:
            columns = {word: f"CASE WHEN t.{whole} THEN {value} END" for word, value in columns.items()}
            wanted.append(whole)
        head = "".join(f"-- {line}\n" for line in (self.program.title, *self.dialect.hints))
        return f"{head}{self.query.text(columns, wanted)}"

    def label(self, *values: str) -> str:
        """The label of the class whose value is largest, of equal ones the first."""
        pairs = zip(values, self.program.labels, strict=True)
        whens = " ".join(f"WHEN {value} THEN {label_literal(label)}" for value, label in pairs)
        return f"CASE {self.dialect.greatest}({', '.join(values)}) {whens} END"


def _operators(dialect: SqlDialect, tanh_by_exp: bool) -> dict[str, Callable[..., str]]:
    """The words of expressions; truth values are not numbers."""

    def multiply(first: str, second: str) -> str:
        square = first == second and first.startswith("t.")
        return dialect.square.format(first) if square else f"({first} * {second})"

    def lookup(code: str, *values: str) -> str:
        whens = " ".join(f"WHEN {line} THEN {value}" for line, value in enumerate(values))
        return f"CAST(CASE {code} {whens} END AS {dialect.real})"

    words = {
        **C_LIKE,
        "maximum": dialect.greatest,
        "minimum": dialect.least,
        "greater": "{} > {}",
        "equal": "{} = {}",
        "is_missing": "{} IS NULL",
        "truth": "{} <> 0",
        "number": f"CAST(CASE WHEN {{}} THEN 1 ELSE 0 END AS {dialect.real})",
        "where": f"CAST(CASE WHEN {{}} THEN {{}} ELSE {{}} END AS {dialect.real})",
        "largest": dialect.greatest,
    }
    found = operators(words) | {"multiply": multiply, "lookup": lookup}
    found["exp"] = lambda value: dialect.exp.format(bare(value))
    found["sum"] = lambda *terms: f"({chunks(terms, ' + ')})"
    if tanh_by_exp:
        found["tanh"] = lambda a: TANH_BY_EXP.format(a, dialect.exp.format(f"-2e0 * abs({a})"))
    return found
