"""A program without vectors: every element is a variable of its own, `name = expression`.

For languages that have no arrays, such as SQL or the cells of a spreadsheet. Constants are put in, what is
known is computed, and terms that are 0 are left out: a unit has no term for a feature that it does not read.
Three operators with any number of operands come to those of `sleek.bases.formula`:

    sum(a, b, …), largest(a, b, …), and lookup(code, v0, v1, …), the value whose number the code is
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sleek.bases.formula import NUMPY, Element, Expression, expression
from sleek.export.program import Code, Each, Joined, Largest, Listed, Pick, Program, Step, Total


class Scalars:
    """The variables of a program, each an element of one of its vectors.

    Attributes
    ----------
    values : dict
        In order, what each variable is: an expression of earlier ones and of inputs, or a `Code`. There is
        none for an element that is another one, or a number; `element` says which.

    Examples
    --------
    >>> import numpy as np
    >>> from sleek.bases.formula import at
    >>> from sleek.export.program import Input
    >>> total = Total("z", 2, 2, at("A", "j", "i") * at("x", "i"))
    >>> program = Program("", (Input("a"), Input("b")), False, {"A": np.array([[0.0, 2.0], [0.0, 0.0]])},
    ...                   (total,), {"scores": "z"})
    >>> scalars = Scalars(program)
    >>> list(scalars.values), scalars.element("z", 1).leaf
    ([Element(array='z', place=(0,))], 0.0)
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values: dict[Element, Expression | Code] = {}
        self.same: dict[Element, Expression] = {}
        for step in program.steps:
            for k, value in enumerate(self._elements(step)):
                place = Element(step.name, (k,))
                if isinstance(value, Expression) and value.operator == "leaf":
                    self.same[place] = value
                else:
                    self.values[place] = value

    def element(self, vector: str, k: int) -> Expression:
        """A variable, an input or a number: what an element of a vector is."""
        place = Element(vector, (k,))
        return self.same.get(place, Expression("leaf", leaf=place))

    def vector(self, name: str) -> list[Expression]:
        """All elements of a vector."""
        return [self.element(name, k) for k in range(self.program.size(name))]

    def _elements(self, step: Step) -> Sequence[Expression | Code]:
        match step:
            case Each():
                return [self._at(step.value, j) for j in range(step.size)]
            case Total():
                return [self._total(step, j) for j in range(step.size)]
            case Largest():
                found = self.vector(step.of)
                return [found[0] if len(found) == 1 else Expression("largest", tuple(found))]
            case Listed():
                return [self._at(value) for value in step.values]
            case Joined():
                return [value for part in step.parts for value in self.vector(part)]
            case Pick():
                code, table = self.element(step.code, 0), self.program.constants[step.table].T
                return [Expression("lookup", (code, *map(expression, column.tolist()))) for column in table]
            case Code():
                return [step]

    def _total(self, step: Total, j: int) -> Expression:
        """Start and terms; what is known of them is one number."""
        count = j + 1 if step.triangle else step.over
        terms = [self._at(step.start, j), *(self._at(step.value, j, i) for i in range(count))]
        known = sum(term.leaf for term in terms if isinstance(term.leaf, float) and term.operator == "leaf")
        others = [term for term in terms if term.operator != "leaf" or isinstance(term.leaf, Element)]
        if not others:
            return expression(known)
        terms = [expression(known), *others] if known else others
        return terms[0] if len(terms) == 1 else Expression("sum", tuple(terms))

    def _at(self, what: Expression, j: int = 0, i: int = 0) -> Expression:
        """An expression at indices, computed as far as it can be."""
        indices, constants = {"j": j, "i": i}, self.program.constants

        def leaf(value: Any) -> Expression:
            if not isinstance(value, Element):
                return expression(value)
            place = tuple(indices[at] if isinstance(at, str) else at for at in value.place)
            if value.array in constants:
                return expression(constants[value.array][place])
            return self.element(value.array, place[0])

        return simplify(what.replace(leaf))


def simplify(what: Expression) -> Expression:
    """The same with known numbers put together, and without what is multiplied by 0.

    >>> from sleek.bases.formula import names
    >>> (a,) = names("a")
    >>> simplify((expression(2.0) + 3.0) * a), simplify(0.0 * a + 1.0) == expression(1.0)
    (Expression(operator='multiply', operands=(..., leaf=5.0), ..., leaf='a')), leaf=0.0), True)
    """
    if what.operator == "leaf":
        return what
    zero, operands = expression(0.0), tuple(map(simplify, what.operands))
    known = [one.leaf for one in operands if one.operator == "leaf" and isinstance(one.leaf, float)]
    if len(known) == len(operands):
        return expression(float(NUMPY[what.operator](*known)))
    if what.operator == "multiply" and zero in operands:
        return zero
    if what.operator == "add" and zero in operands:
        return operands[1] if operands[0] == zero else operands[0]
    if what.operator == "where" and operands[0].operator == "leaf" and isinstance(operands[0].leaf, float):
        return operands[1] if operands[0].leaf else operands[2]
    return Expression(what.operator, operands)
