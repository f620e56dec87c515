"""A basis as a symbolic formula, which can be differentiated and printed in other languages.

φ_j(x) = profile(z),  z = start_j + Σ_i term(x_i, λ_ji)

A formula is built from the names of the units' arrays with ordinary operators::

    x, z, centers, shapes = names("x z centers shapes")
    Formula(term=shapes * abs(x - centers), profile=exp(-z))

A printer has a word for each operator of its language, and hands them to `Expression.fold`. Programs
(`sleek.export.program`) are made of the same expressions, whose leaves are elements of arrays: `Element`.

Units that share layers have several formulas, one after the other: x of the next one are the φ of the one
before (`layer_values`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sleek._runtime.types import FloatArray

if TYPE_CHECKING:
    from sleek.bases.units import Units

T = TypeVar("T")
ALL = slice(None)

# What every language must be able to say, with the number of operands. The last four speak of truth, as the
# numbers 1 and 0: a > b, a = b, whether a is missing, and "b where a is not 0, else c".
OPERATORS = {
    "add": 2,
    "subtract": 2,
    "multiply": 2,
    "divide": 2,
    "negate": 1,
    "absolute": 1,
    "exp": 1,
    "tanh": 1,
    "sqrt": 1,
    "floor": 1,
    "maximum": 2,
    "minimum": 2,
    "greater": 2,
    "equal": 2,
    "is_missing": 1,
    "where": 3,
}


@dataclass(frozen=True)
class Element:
    """An element of an array: the array's name, and a place on each axis, a number or the name of an index.

    >>> at("centers", "j", "i").leaf
    Element(array='centers', place=('j', 'i'))
    """

    array: str
    place: tuple[str | int, ...]


@dataclass(frozen=True)
class Expression:
    """A number, a name, an element of an array, or an operator applied to expressions.

    >>> x, c = names("x c")
    >>> (3.0 * abs(x - c)).fold(str, {"multiply": "{}*{}".format, "absolute": "|{}|".format,
    ...                               "subtract": "{}-{}".format})
    '3.0*|x-c|'
    """

    operator: str  # "leaf" for a number, a name or an element
    operands: tuple[Expression, ...] = ()
    leaf: str | float | Element = 0.0

    def __add__(self, other: Expression | float) -> Expression:
        return Expression("add", (self, expression(other)))

    def __radd__(self, other: float) -> Expression:
        return expression(other) + self

    def __sub__(self, other: Expression | float) -> Expression:
        return Expression("subtract", (self, expression(other)))

    def __rsub__(self, other: float) -> Expression:
        return expression(other) - self

    def __mul__(self, other: Expression | float) -> Expression:
        return Expression("multiply", (self, expression(other)))

    def __rmul__(self, other: float) -> Expression:
        return expression(other) * self

    def __truediv__(self, other: Expression | float) -> Expression:
        return Expression("divide", (self, expression(other)))

    def __rtruediv__(self, other: float) -> Expression:
        return expression(other) / self

    def __neg__(self) -> Expression:
        return Expression("negate", (self,))

    def __abs__(self) -> Expression:
        return Expression("absolute", (self,))

    def fold(self, leaf: Callable[[Any], T], operators: Mapping[str, Callable[..., T]]) -> T:
        """The expression in a language: `leaf` has words for leaves, `operators` for the rest."""
        if self.operator == "leaf":
            return leaf(self.leaf)
        return operators[self.operator](*(operand.fold(leaf, operators) for operand in self.operands))

    def replace(self, leaf: Callable[[Any], Expression]) -> Expression:
        """The same expression with other leaves."""
        if self.operator == "leaf":
            return leaf(self.leaf)
        return Expression(self.operator, tuple(operand.replace(leaf) for operand in self.operands))

    def leaves(self) -> Iterator[str | float | Element]:
        """Everything that is not an operator, from left to right."""
        if self.operator == "leaf":
            yield self.leaf
        for operand in self.operands:
            yield from operand.leaves()

    def names(self) -> frozenset[str]:
        """The names that occur."""
        return frozenset(leaf for leaf in self.leaves() if isinstance(leaf, str))

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The value in NumPy arithmetic, for values of the names."""
        return self.fold(lambda leaf: values[leaf] if isinstance(leaf, str) else leaf, NUMPY)

    def derivative(self, name: str) -> Expression:
        """∂/∂name; |·| has slope 0 at 0, of two equal numbers the first is followed, steps have slope 0."""
        if self.operator == "leaf":
            return expression(1.0 if self.leaf == name else 0.0)
        inner = [operand.derivative(name) for operand in self.operands]
        outer = _PARTIALS[self.operator](self, *self.operands)
        total = expression(0.0)
        for slope, change in zip(outer, inner, strict=True):
            total = _plus(total, _times(slope, change))
        return total

    def is_piecewise_linear(self, name: str) -> bool:
        """Whether it is linear in the name between kinks."""
        if name not in self.names() or self.operator == "leaf":
            return True
        if self.operator == "multiply" and all(name in operand.names() for operand in self.operands):
            return False
        if self.operator == "divide" and name in self.operands[1].names():
            return False
        return self.operator not in ("exp", "tanh", "sqrt") and all(
            operand.is_piecewise_linear(name) for operand in self.operands
        )


def expression(value: Expression | float) -> Expression:
    """A number as an expression."""
    return value if isinstance(value, Expression) else Expression("leaf", leaf=float(value))


def names(words: str) -> tuple[Expression, ...]:
    """One name for each word."""
    return tuple(Expression("leaf", leaf=word) for word in words.split())


def exp(operand: Expression) -> Expression:
    """The exponential function."""
    return Expression("exp", (operand,))


def tanh(operand: Expression) -> Expression:
    """The hyperbolic tangent."""
    return Expression("tanh", (operand,))


def maximum(first: Expression | float, second: Expression | float) -> Expression:
    """The larger of two."""
    return Expression("maximum", (expression(first), expression(second)))


def minimum(first: Expression | float, second: Expression | float) -> Expression:
    """The smaller of two."""
    return Expression("minimum", (expression(first), expression(second)))


def sqrt(operand: Expression) -> Expression:
    """The square root."""
    return Expression("sqrt", (operand,))


def floor(operand: Expression) -> Expression:
    """The largest whole number that is not above."""
    return Expression("floor", (operand,))


def greater(first: Expression | float, second: Expression | float) -> Expression:
    """1 where the first is greater than the second, else 0: a step."""
    return Expression("greater", (expression(first), expression(second)))


def equal(first: Expression | float, second: Expression | float) -> Expression:
    """1 where both are the same number, else 0."""
    return Expression("equal", (expression(first), expression(second)))


def is_missing(operand: Expression) -> Expression:
    """1 where there is no number, else 0."""
    return Expression("is_missing", (operand,))


def where(condition: Expression, then: Expression | float, other: Expression | float) -> Expression:
    """`then` where the condition is not 0, else `other`."""
    return Expression("where", (condition, expression(then), expression(other)))


def at(array: str, *place: str | int) -> Expression:
    """An element of an array."""
    return Expression("leaf", leaf=Element(array, place))


@dataclass(frozen=True)
class Formula:
    """φ_j(x) = profile(z) with z = start_j + Σ_i term(x_i, λ_ji).

    Parameters
    ----------
    term : Expression
        In x and the arrays that have one number for each unit and feature.
    profile : Expression
        In z.
    start : Expression or float, default=0
        In the arrays that have one number for each unit.

    Examples
    --------
    >>> from sleek.bases.units import Units
    >>> x, z, slopes, offsets = names("x z slopes offsets")
    >>> formula = Formula(term=slopes * x, start=offsets, profile=tanh(z))
    >>> units = Units({"slopes": np.array([[2.0, 0.0]]), "offsets": np.array([-2.0])})
    >>> formula.values(np.array([[1.0, 5.0], [2.0, 5.0]]), units).round(3)
    array([[0.   ], [0.964]])
    >>> formula.gradient(np.array([[1.0, 5.0]]), units)
    array([[[2., 0.]]])
    """

    term: Expression
    profile: Expression
    start: Expression | float = 0.0

    def of(self, units: Units) -> dict[str, FloatArray]:
        """The arrays that it speaks of."""
        spoken = self.term.names() | expression(self.start).names()
        return {name: array for name, array in units.arrays.items() if name in spoken}

    def values(self, X: FloatArray, units: Units) -> FloatArray:
        """Phi (n, m), in O(n·m·d) time and memory: the definition, not the fast way."""
        Phi = self.profile.evaluate({"z": self.inner(X, units)})
        return np.broadcast_to(np.asarray(Phi, dtype=np.float64), (len(X), len(units))).copy()

    def gradient(self, X: FloatArray, units: Units) -> FloatArray:
        """∂φ_j/∂x_i at every row, (n, m, d), in O(n·m·d) time and memory."""
        slope = np.asarray(self.profile.derivative("z").evaluate({"z": self.inner(X, units)}))
        term = self.term.derivative("x").evaluate({**units.arrays, "x": X[:, None, :]})
        gradient: FloatArray = np.broadcast_to(
            slope[..., None] * term, (len(X), len(units), X.shape[1])
        ).astype(np.float64)
        return gradient

    def is_piecewise_linear(self) -> bool:
        """Whether models of it are linear between kinks, so that a gradient is exact on a whole piece."""
        return self.term.is_piecewise_linear("x") and self.profile.is_piecewise_linear("z")

    def terms(self, X: FloatArray, units: Units, features: slice = ALL) -> FloatArray:
        """The terms of some features, (n, m, d), given the rows' values of these features."""
        arrays = {
            name: array[:, features] if array.ndim == 2 else array[:, None]
            for name, array in units.arrays.items()
        }
        term = self.term.evaluate({**arrays, "x": X[:, None, :]})
        terms: FloatArray = np.broadcast_to(term, (len(X), len(units), X.shape[1]))
        return terms

    def inner(self, X: FloatArray, units: Units) -> FloatArray:
        """z (n, m), in O(n·m·d) time and memory."""
        terms = self.terms(X, units)
        z: FloatArray = expression(self.start).evaluate(units.arrays) + terms.sum(axis=2)
        return z


def layer_values(layers: Sequence[Formula], X: FloatArray, units: Units) -> list[FloatArray]:
    """What each layer gives, of what the one before gives; the last is Phi (n, m).

    >>> from sleek import Network
    >>> basis, X = Network(hidden=(3,)), np.zeros((4, 2))
    >>> units = basis.start(X[:1], 1.0, np.random.default_rng(0))
    >>> [values.shape for values in layer_values(basis.layers, X, units)]
    [(4, 3), (4, 1)]
    """
    found = []
    for layer in layers:
        X = layer.values(X, type(units)(layer.of(units)))
        found.append(X)
    return found


def layer_gradient(layers: Sequence[Formula], X: FloatArray, units: Units) -> FloatArray:
    """∂φ_j/∂x_i at every row, (n, m, d), by the chain rule."""
    inputs = [X, *layer_values(layers[:-1], X, units)]
    slopes = [
        layer.gradient(x, type(units)(layer.of(units))) for layer, x in zip(layers, inputs, strict=True)
    ]
    found = slopes[0]
    for slope in slopes[1:]:
        found = np.matmul(slope, found)
    return found


def _plus(a: Expression, b: Expression) -> Expression:
    if a == expression(0.0):
        return b
    return a if b == expression(0.0) else a + b


def _times(a: Expression, b: Expression) -> Expression:
    if expression(0.0) in (a, b):
        return expression(0.0)
    if b == expression(1.0):
        return a
    return b if a == expression(1.0) else a * b


def _sign(a: Expression) -> Expression:
    return Expression("sign", (a,))


def _at_least(a: Expression, b: Expression) -> Expression:
    return Expression("at_least", (a, b))


# The derivative of each operator by its operands; `this` is the whole expression.
_PARTIALS: Mapping[str, Callable[..., tuple[Expression, ...]]] = {
    "add": lambda this, a, b: (expression(1.0), expression(1.0)),
    "subtract": lambda this, a, b: (expression(1.0), expression(-1.0)),
    "multiply": lambda this, a, b: (b, a),
    "negate": lambda this, a: (expression(-1.0),),
    "absolute": lambda this, a: (_sign(a),),
    "exp": lambda this, a: (this,),
    "tanh": lambda this, a: (1.0 - this * this,),
    "divide": lambda this, a, b: (1.0 / b, -this / b),
    "sqrt": lambda this, a: (0.5 / this,),
    "floor": lambda this, a: (expression(0.0),),
    "minimum": lambda this, a, b: (_at_least(b, a), 1.0 - _at_least(b, a)),
    "greater": lambda this, a, b: (expression(0.0), expression(0.0)),
    "equal": lambda this, a, b: (expression(0.0), expression(0.0)),
    "is_missing": lambda this, a: (expression(0.0),),
    "where": lambda this, c, a, b: (expression(0.0), where(c, 1.0, 0.0), where(c, 0.0, 1.0)),
    "maximum": lambda this, a, b: (_at_least(a, b), 1.0 - _at_least(a, b)),
}

NUMPY: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "negate": np.negative,
    "absolute": np.abs,
    "exp": np.exp,
    "tanh": np.tanh,
    "divide": np.divide,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "greater": lambda a, b: np.greater(a, b).astype(np.float64),
    "equal": lambda a, b: np.equal(a, b).astype(np.float64),
    "is_missing": lambda a: np.isnan(a).astype(np.float64),
    "where": lambda c, a, b: np.where(np.not_equal(c, 0.0), a, b),
    "sign": np.sign,
    "at_least": lambda a, b: np.greater_equal(a, b).astype(np.float64),
}
