"""A model as a short program, which every exported language is a printing of.

A program is a list of steps, `name = expression`. Every name stands for a vector of numbers that belongs to
one row of the data, and is given once. `x` is the row itself, one element for each declared input. There are
seven kinds of steps:

    Each     name[j] = value                           for j = 0 … size - 1
    Total    name[j] = start + Σ_i value               i = 0 … over - 1, or only i ≤ j for a triangle
    Largest  name[0] = the largest element of a vector
    Listed   name = [value, value, …]                  one expression for each element
    Joined   name = one vector after another
    Code     name[0] = which line a text input has among the known texts
    Pick     name = the line of a constant table that a code says

Expressions are those of `sleek.bases.formula`: numbers, operators, and elements of vectors (`at("z", "j")`)
or of constant arrays (`at("centers", "j", "i")`). What comes out is declared by role (`Program.outputs`).

A printer supplies a word for each operator, a line for each kind of step, and how its language reads a row
and answers. `Program.evaluate` is the definition that printed programs are compared with.
docs/extend/printer.md shows how to write a printer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.formula import NUMPY, Element, Expression, expression


@dataclass(frozen=True)
class Input:
    """A value of a row.

    Attributes
    ----------
    name : str
        The column's own name, which may be any text.
    kind : {"number", "optional", "date", "text"}
        A row without a number has no answer; an optional number may be missing, and steps say what happens
        then. A date is the number of days since 1970-01-01, or missing. A text is read by `Code` steps alone.
    levels : tuple of str
        The known texts.
    order : str
        Year, month and day in dates that are written as text: "ymd", "dmy" or "mdy".
    """

    name: str
    kind: str = "number"
    levels: tuple[str, ...] = ()
    order: str = "ymd"


@dataclass(frozen=True)
class Each:
    """name[j] = value, for every j."""

    name: str
    size: int
    value: Expression

    def reads(self) -> Iterator[str]:
        """The vectors and constants that are needed."""
        return _arrays(self.value)


@dataclass(frozen=True)
class Total:
    """name[j] = start + Σ_i value over i = 0 … over - 1, or over i ≤ j alone if it is a triangle."""

    name: str
    size: int
    over: int
    value: Expression
    start: Expression = field(default_factory=lambda: expression(0.0))
    triangle: bool = False

    def reads(self) -> Iterator[str]:
        """The vectors and constants that are needed."""
        yield from _arrays(self.start)
        yield from _arrays(self.value)

    def product(self) -> tuple[str, str] | None:
        """The constant array A and the vector v if value is A[j, i]·v[i], a product of matrix and vector."""
        match self.value:
            case Expression(
                "multiply",
                (Expression(leaf=Element(array, ("j", "i"))), Expression(leaf=Element(vector, ("i",)))),
            ):
                return array, vector
        return None


@dataclass(frozen=True)
class Largest:
    """name[0] = the largest element of a vector."""

    name: str
    of: str
    size: int = 1

    def reads(self) -> Iterator[str]:
        """The vector."""
        yield self.of


@dataclass(frozen=True)
class Listed:
    """name = one value after another, each an expression of its own; every place is a number."""

    name: str
    values: tuple[Expression, ...]

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    def reads(self) -> Iterator[str]:
        """The vectors and constants that are needed."""
        for value in self.values:
            yield from _arrays(value)


@dataclass(frozen=True)
class Joined:
    """name = all elements of some vectors, one vector after another."""

    name: str
    parts: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements there are."""
        return sum(self.sizes)

    def reads(self) -> Iterator[str]:
        """The vectors."""
        return iter(self.parts)

    def offsets(self) -> dict[str, int]:
        """Where each vector begins."""
        return {part: sum(self.sizes[:k]) for k, part in enumerate(self.parts)}


@dataclass(frozen=True)
class Code:
    """name[0] = the line of a text: that of its `lines`, `other` for an unknown text, `missing` for none.

    Attributes
    ----------
    input : int
        Which element of the row it is.
    lines : tuple of (str, int)
        Known texts; two of them may have the same line.
    """

    name: str
    input: int
    lines: tuple[tuple[str, int], ...]
    other: int
    missing: int
    size: int = 1

    def reads(self) -> Iterator[str]:
        """The row."""
        yield "x"


@dataclass(frozen=True)
class Pick:
    """name[k] = table[code[0], k], of a constant table."""

    name: str
    table: str
    code: str
    size: int

    def reads(self) -> Iterator[str]:
        """The table and the code."""
        yield from (self.table, self.code)


Step = Each | Total | Largest | Listed | Joined | Code | Pick


@dataclass(frozen=True, eq=False)
class Program:
    """Steps in order, with what goes in and what comes out.

    Attributes
    ----------
    title : str
        A sentence about the model.
    inputs : tuple of Input
        The elements of `x`.
    table : bool
        Whether inputs are columns of a table; else all are required numbers.
    constants : mapping
        Arrays by name: one or two axes.
    steps : tuple of Step
    outputs : mapping
        The vector of each role. "scores": the model's outputs, which for regression are the answer;
        "choice": the class is the one whose element is largest, of equal ones the first;
        "probabilities": one for each class; "interval": lower and upper end of each number, in turn.
    labels : tuple
        The classes, in the order of "choice"; empty for regression.
    alone : bool
        Whether the answer of a regression is one number instead of a list.
    level : float or None
        The probability with which numbers are between the ends of "interval".
    features : str
        The vector that units are functions of.

    Examples
    --------
    >>> from sleek.bases.formula import at
    >>> double = Each("y", 2, 2.0 * at("x", "j"))
    >>> program = Program("Twice.", (Input("a"), Input("b")), False, {}, (double,), {"scores": "y"})
    >>> program.evaluate([[1.0, 3.0], [2.0, 4.0]])["scores"]
    array([[2., 4.],
           [6., 8.]])
    """

    title: str
    inputs: tuple[Input, ...]
    table: bool
    constants: Mapping[str, FloatArray]
    steps: tuple[Step, ...]
    outputs: Mapping[str, str]
    labels: tuple[Any, ...] = ()
    alone: bool = False
    level: float | None = None
    features: str = "x"

    def size(self, name: str) -> int:
        """The number of elements of a vector."""
        if name == "x":
            return len(self.inputs)
        return next(step.size for step in self.steps if step.name == name)

    def steps_to(self, *names: str, given: str | None = None) -> list[Step]:
        """The steps that lead to some vectors, if another one is there already."""
        wanted, found = set(names), []
        for step in reversed(self.steps):
            if step.name in wanted and step.name != given:
                found.append(step)
                wanted.update(step.reads())
        return found[::-1]

    def after_scores(self, name: str) -> list[Step] | None:
        """The steps that lead to a vector from the scores alone; None if they need more than these."""
        scores = self.outputs["scores"]
        steps = self.steps_to(name, given=scores)
        known = {scores, *self.constants, *(step.name for step in steps)}
        return steps if all(read in known for step in steps for read in step.reads()) else None

    def arrays(self, steps: Sequence[Step]) -> dict[str, FloatArray]:
        """The constants that some steps need, in the programs' order."""
        read = {name for step in steps for name in step.reads()}
        return {name: array for name, array in self.constants.items() if name in read}

    def evaluate(self, columns: Sequence[Any]) -> dict[str, FloatArray]:
        """The vector of every role for n rows, (n, size): slow and obvious.

        Parameters
        ----------
        columns : one sequence of n values for each input
            Numbers with NaN for missing ones, or texts with None.
        """
        texts = [input.kind == "text" for input in self.inputs]
        n = len(columns[0])
        numbers = [
            np.full(n, np.nan) if text else column for text, column in zip(texts, columns, strict=True)
        ]
        values: dict[str, AnyArray] = {
            "x": np.column_stack([np.asarray(c, dtype=np.float64) for c in numbers])
        }
        with np.errstate(all="ignore"):
            for step in self.steps:
                found = self._step(step, values, columns)
                values[step.name] = np.broadcast_to(found, (n, step.size))
        return {role: values[name] for role, name in self.outputs.items()}

    def _step(self, step: Step, values: Mapping[str, AnyArray], columns: Sequence[Any]) -> Any:
        match step:
            case Each():
                return self._value(step.value, values, {"j": -1})
            case Total():
                terms = self._value(step.value, values, {"j": -2, "i": -1})
                terms = np.broadcast_to(terms, (len(values["x"]), step.size, step.over))
                terms = np.tril(terms) if step.triangle else terms
                return self._value(step.start, values, {"j": -1}) + terms.sum(axis=2)
            case Largest():
                return values[step.of].max(axis=1, keepdims=True)
            case Listed():
                return np.column_stack([self._value(value, values, {})[:, 0] for value in step.values])
            case Joined():
                return np.concatenate([values[part] for part in step.parts], axis=1)
            case Code():
                lines: dict[str | None, int] = {None: step.missing, **dict(step.lines)}
                return np.array([[float(lines.get(text, step.other))] for text in columns[step.input]])
            case Pick():
                return self.constants[step.table][values[step.code][:, 0].astype(int)]

    def _value(self, what: Expression, values: Mapping[str, AnyArray], axes: Mapping[str, int]) -> Any:
        """An expression with indices on their axes, counted from the end; rows are the first axis."""

        def leaf(value: Any) -> AnyArray:
            if not isinstance(value, Element):
                return np.full((len(values["x"]), *([1] * max(1, len(axes)))), float(value))
            constant = value.array in self.constants
            array = self.constants[value.array] if constant else values[value.array]
            for axis, place in enumerate(value.place, start=0 if constant else 1):
                if isinstance(place, int):
                    array = np.take(array, [place], axis=axis)
            if not axes:
                return array if not constant else array.reshape(1, 1)
            if len(axes) == 2 and value.place not in (("j", "i"), ("i",)):
                array = array[..., None]
            if not constant and len(axes) == 2 and value.place == ("i",):
                array = array[:, None, :]
            return array

        return what.fold(leaf, NUMPY)


def _arrays(what: Expression) -> Iterator[str]:
    return (leaf.array for leaf in what.leaves() if isinstance(leaf, Element))
