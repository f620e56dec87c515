"""A program as a graph of plain ONNX operators, not yet in ONNX's own classes.

A vector of a program is a tensor (n, size). Inside a sum over i it is (n, size, 1) for the index j and
(n, 1, over) for the index i: so operators broadcast, and sums run over the last axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray
from sleek.bases.formula import Element, Expression, expression
from sleek.export.printing import narrow, with_truths
from sleek.export.program import Code, Each, Joined, Largest, Listed, Pick, Program, Step, Total

WORDS = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "negate": "Neg",
    "absolute": "Abs",
    "exp": "Exp",
    "tanh": "Tanh",
    "sqrt": "Sqrt",
    "floor": "Floor",
    "maximum": "Max",
    "minimum": "Min",
    "greater": "Greater",
    "equal": "Equal",
    "is_missing": "IsNaN",
    "where": "Where",
}


@dataclass(frozen=True)
class Node:
    """One operator: what it reads, what it writes, and its attributes."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Graph:
    """Nodes in order, and the constants they read. Results are known by the names that `add` gives."""

    prefix: str = ""
    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, AnyArray] = field(default_factory=dict)
    known: dict[Any, str] = field(default_factory=dict)

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Apply an operator; the name of its result. What is there already is not computed again."""
        key = (operator, inputs, *sorted((name, str(value)) for name, value in attributes.items()))
        if output is None and key in self.known:
            return self.known[key]
        result = output or f"{self.prefix}{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(Node(operator, inputs, result, attributes))
        return self.known.setdefault(key, result)

    def constant(self, value: Any, dtype: Any, name: str = "constant") -> str:
        """A constant; its name."""
        array = np.asarray(value, dtype=dtype)
        key = (array.shape, str(array.dtype), repr(array.tolist()))
        if key not in self.known:
            self.known[key] = f"{self.prefix}{name}_{len(self.constants)}"
            self.constants[self.known[key]] = array
        return self.known[key]


class GraphPrinter:
    """The steps of a program as nodes.

    Parameters
    ----------
    graph : Graph
        What nodes are added to.
    program : Program
    x : str or sequence of str
        The tensor (n, n_inputs) of a row, or one tensor (n, 1) for each input.
    dtype : numpy dtype
    """

    def __init__(self, graph: Graph, program: Program, x: str | Sequence[str], dtype: Any) -> None:
        self.graph, self.program, self.x, self.dtype = graph, program, x, dtype
        self.vectors = {"x": x} if isinstance(x, str) else {}
        self.operators = {key: partial(graph.add, word) for key, word in WORDS.items()}
        self.operators["number"] = partial(graph.add, "Cast", to=dtype)
        self.operators["truth"] = partial(graph.add, "Cast", to=np.dtype(np.bool_))

    def vector(self, name: str) -> str:
        """The tensor of a vector, with all that it needs."""
        for step in self.program.steps_to(name):
            if step.name not in self.vectors:
                self.vectors[step.name] = self.step(step)
        return self.vectors[name]

    def step(self, step: Step) -> str:
        """The tensor of a step."""
        add = self.graph.add
        match step:
            case Each():
                return self.say(step.value, "j")
            case Total():
                total = self.total(step)
                return (
                    total if step.start == expression(0.0) else add("Add", total, self.say(step.start, "j"))
                )
            case Largest():
                best = add("ArgMax", self.vectors[step.of], axis=1, keepdims=1)
                return add("GatherElements", self.vectors[step.of], best, axis=1)
            case Listed():
                return self.side_by_side([self.say(value, "") for value in step.values])
            case Joined():
                return self.side_by_side([self.vectors[part] for part in step.parts])
            case Code():
                return self.code(step)
            case Pick():
                line = add("Cast", self.vectors[step.code], to=np.dtype(np.int64))
                line = add("Squeeze", line, self.axes(1))
                return add(
                    "Gather", self.constant(step.table, self.program.constants[step.table]), line, axis=0
                )

    def total(self, step: Total) -> str:
        """Σ_i value: a product of matrices where it is one."""
        product, triangle = step.product(), np.tril(np.ones((step.size, step.over)))
        if product is not None:
            array = self.program.constants[product[0]]
            array = array * triangle if step.triangle else array
            return self.graph.add("MatMul", self.vectors[product[1]], self.constant(product[0], array.T))
        terms = self.say(step.value, "ji")
        if step.triangle:
            terms = self.graph.add("Mul", terms, self.constant("triangle", triangle))
        return self.graph.add("ReduceSum", terms, self.axes(2), keepdims=0)

    def code(self, step: Code) -> str:
        """The line of a text; the empty text is a missing one, unless it is known."""
        add, text = self.graph.add, self.x[step.input]
        lines = dict(step.lines)
        lines.setdefault("", step.missing)
        texts = self.graph.constant([list(lines)], object, "texts")
        found = add("Cast", add("Equal", text, texts), to=self.dtype)
        further = np.array([[line - step.other] for line in lines.values()], dtype=np.float64)
        line = add("MatMul", found, self.constant("lines", further))
        return add("Add", line, self.constant("other", np.array(float(step.other))))

    def constant(self, name: str, array: AnyArray) -> str:
        """A constant in the precision of the graph."""
        return self.graph.constant(narrow(name, array, self.dtype), self.dtype, name)

    def axes(self, axis: int) -> str:
        """An axis, as operators take it."""
        return self.graph.constant([axis], np.int64, "axes")

    def side_by_side(self, tensors: list[str]) -> str:
        """(n, a), (n, b), … as (n, a + b + …)."""
        return tensors[0] if len(tensors) == 1 else self.graph.add("Concat", *tensors, axis=1)

    # -- expressions ----------------------------------------------------------------------------------------

    def say(self, what: Expression, axes: str) -> str:
        """An expression with the indices "", "j" or "ji" as axes beside the rows'."""

        def leaf(value: Any) -> str:
            if not isinstance(value, Element):
                return self.constant("number", np.array(float(value)))
            if value.array in self.program.constants:
                array = self.program.constants[value.array]
                for axis, place in enumerate(value.place):
                    array = np.take(array, [place], axis=axis) if isinstance(place, int) else array
                wide = axes == "ji" and value.place == ("j",)
                return self.constant(value.array, array[:, None] if wide else array)
            (place,) = value.place
            tensor = self.element(value.array, place) if isinstance(place, int) else self.vectors[value.array]
            if axes != "ji":
                return tensor
            return self.graph.add("Unsqueeze", tensor, self.axes(1 if place == "i" else 2))

        return with_truths(what).fold(leaf, self.operators)

    def element(self, vector: str, place: int) -> str:
        """One element, (n, 1)."""
        if vector == "x" and not isinstance(self.x, str):
            return self.x[place]
        if self.program.size(vector) == 1:
            return self.vectors[vector]
        return self.graph.add("Gather", self.vectors[vector], self.axes(place), axis=1)


def add_answer(graph: Graph, printer: GraphPrinter, name: str) -> None:
    """What scikit-learn's converters give first: the label, or the numbers (n, k)."""
    program = printer.program
    if not program.labels:
        graph.add("Identity", printer.vector(program.outputs["scores"]), output=name)
        return
    code = graph.add("ArgMax", printer.vector(program.outputs["choice"]), axis=1, keepdims=0)
    values = onnx_labels(program.labels)
    graph.add("Gather", graph.constant(values, values.dtype, "labels"), code, output=name)


def onnx_labels(labels: Sequence[Any]) -> AnyArray:
    """Class labels as scikit-learn's converters have them: text or 64-bit whole numbers."""
    if isinstance(labels[0], str):
        return np.array(labels, dtype=object)
    whole = [int(label) for label in labels]
    if whole != list(labels) or not -(2**63) <= min(whole) <= max(whole) < 2**63:
        raise ValueError(f"ONNX labels are text or 64-bit whole numbers, got {list(labels)}.")
    return np.array(whole, dtype=np.int64)
