"""What printers share: expressions in words, brackets, names, precisions, functions of the language itself.

A printer of a language with arrays is a `Printer`: a word for each operator (`words`, in which C_LIKE has
those that most languages agree on), and the lines of each kind of step. See docs/extend/printer.md.
"""

from __future__ import annotations

import keyword
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from importlib.resources import files
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.formula import Element, Expression
from sleek.export.program import Program, Step
from sleek.tables.reading import texts

TRUTHS = frozenset({"greater", "equal", "is_missing"})  # operators that say what is true

# A text with {} for each operand, or the name of a function. `number` makes 1 or 0 of a truth value, `truth`
# whether a number is not 0.
C_LIKE: Mapping[str, str] = {
    "add": "({} + {})",
    "subtract": "({} - {})",
    "multiply": "({} * {})",
    "divide": "({} / {})",
    "negate": "(-{})",
    "absolute": "abs",
    "exp": "exp",
    "tanh": "tanh",
    "sqrt": "sqrt",
    "floor": "floor",
    "maximum": "max",
    "minimum": "min",
    "greater": "({} > {})",
    "equal": "({} == {})",
    "is_missing": "({0} != {0})",
    "where": "({} ? {} : {})",
    "number": "{}",
    "truth": "({} != 0)",
}


class Printer(ABC):
    """A language in which vectors are arrays: a subclass has words for operators, and lines for steps."""

    words: ClassVar[Mapping[str, str]] = C_LIKE

    def __init__(self, program: Program) -> None:
        self.program = program
        self.operators = operators(self.words)

    @abstractmethod
    def print_step(self, step: Step) -> list[str]:
        """The lines of a step."""

    def print_steps(self, steps: list[Step]) -> list[str]:
        """The lines of several."""
        return [line for step in steps for line in self.print_step(step)]

    def say(self, what: Expression) -> str:
        """An expression."""
        return bare(with_truths(what).fold(self.leaf, self.operators))

    def leaf(self, value: Element | float) -> str:
        """An element of an array, or a number."""
        if isinstance(value, Element):
            return self.element(value.array, value.place)
        return f"({self.number(value)})" if value < 0 else self.number(value)

    def element(self, array: str, place: tuple[str | int, ...]) -> str:
        """An element of a vector or of a constant array."""
        return array + "".join(f"[{index}]" for index in place)

    def number(self, value: float) -> str:
        """A number, with all its digits."""
        return repr(value)


def with_truths(what: Expression) -> Expression:
    """The same with `number` around truth values that are used as numbers, and `truth` around conditions.

    >>> from sleek.bases.formula import greater, names, where
    >>> a, b = names("a b")
    >>> with_truths(where(a, b, greater(a, b))).fold(str, {"where": "if {} then {} else {}".format,
    ...     "greater": "{} > {}".format, "number": "number({})".format, "truth": "{} is not 0".format})
    'if a is not 0 then b else number(a > b)'
    """

    def number(one: Expression) -> Expression:
        one = inner(one)
        return Expression("number", (one,)) if one.operator in TRUTHS else one

    def inner(one: Expression) -> Expression:
        if one.operator != "where":
            return Expression(one.operator, tuple(map(number, one.operands)), one.leaf)
        condition, *values = one.operands
        test = inner(condition)
        test = test if test.operator in TRUTHS else Expression("truth", (test,))
        return Expression("where", (test, *map(number, values)))

    return number(what)


def operators(words: Mapping[str, str]) -> dict[str, Callable[..., str]]:
    """A function of operands for each word.

    >>> words = operators({"add": "({} + {})", "exp": "Math.exp"})
    >>> words["exp"](words["add"]("a", "b"))
    'Math.exp(a + b)'
    """
    return {key: word.format if "{" in word else call(word) for key, word in words.items()}


def call(function: str) -> Callable[..., str]:
    """The word for applying a function."""
    return lambda *operands: f"{function}({', '.join(map(bare, operands))})"


def bare(text: str) -> str:
    """An expression without the brackets around all of it.

    >>> bare("((a + b) * c)"), bare("(a) + (b)"), bare("z")
    ('(a + b) * c', '(a) + (b)', 'z')
    """
    if not text.startswith("("):
        return text
    depth = 0
    for place, mark in enumerate(text):
        depth += (mark == "(") - (mark == ")")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1]


def functions_of(file: str, program: str) -> list[str]:
    """The functions in a file of the language itself that a program calls, and that these call.

    They stand one after the other, with a blank line between, and call none that comes later.
    """
    found: list[str] = []
    for text in reversed(files("sleek.export").joinpath(file).read_text("utf-8").strip().split("\n\n")):
        name = re.search(r"(?:def|function) (\w+)\(", text)
        assert name is not None
        if any(f"{name[1]}(" in known for known in (program, *found)):
            found.append(text)
    return found[::-1]


def narrow(name: str, array: FloatArray | float, dtype: DTypeLike) -> AnyArray:
    """An array in another precision, refused if a number is too large for it."""
    with np.errstate(over="ignore"):
        result: AnyArray = np.asarray(array).astype(dtype)
    if not np.isfinite(result).all():
        largest = np.abs(array).max()
        raise ValueError(f"`{name}` has numbers up to {largest:.3g}, too large for {dtype}: use float64.")
    return result


def check_dtype(dtype: DTypeLike) -> Any:
    """float32 or float64."""
    try:
        found: Any = np.dtype(dtype)
    except TypeError:
        found = dtype
    if not isinstance(found, np.dtype) or found.name not in ("float32", "float64"):
        raise ValueError(f"`dtype` must be 'float32' or 'float64', got {dtype!r}.")
    return found


def check_name(name: Any, reserved: Collection[str] = keyword.kwlist) -> str:
    """A word that can name things in a program."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in reserved:
        raise ValueError(
            "`name` must begin with a letter, go on with letters, digits and underscores, and not be a word "
            f"of the language, got {name!r}."
        )
    return name


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
