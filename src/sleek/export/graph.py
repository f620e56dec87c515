"""A model as a graph of plain ONNX operators, not yet in ONNX's own classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray
from sleek.bases.formula import Expression, expression
from sleek.export.common import Choice, Numbers, PartFormula, each_column, narrowed, parts_of
from sleek.model.kernel_model import KernelModel
from sleek.tables.calendar import YEAR
from sleek.tables.columns import CategoryColumn, DateColumn, WordColumn
from sleek.tables.inputs import Inputs


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

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Apply an operator; the name of its result."""
        result = output or f"{self.prefix}{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(Node(operator, inputs, result, attributes))
        return result

    def constant(self, value: Any, dtype: Any, name: str = "constant") -> str:
        """A constant; its name."""
        result = f"{self.prefix}{name}_{len(self.constants)}"
        self.constants[result] = np.asarray(value, dtype=dtype)
        return result


def add_features(graph: Graph, inputs: Inputs, names: list[str], dtype: Any) -> str:
    """The features (n, d) of the table's columns, each (n, 1): numbers, and categories as strings."""
    places = iter(names)

    def number(column: Any) -> str:
        value = next(places)
        if column.fill is None:
            return value
        return filled(value, column)[0] if not column.indicator else side_by_side(*filled(value, column))

    def constant(value: float) -> str:
        return graph.constant(narrowed("inputs", value, dtype), dtype, "number")

    def side_by_side(*values: str) -> str:
        return values[0] if len(values) == 1 else graph.add("Concat", *values, axis=1)

    def filled(value: str, column: Any) -> tuple[str, str]:
        gap = graph.add("IsNaN", value)
        return graph.add("Where", gap, constant(column.fill), value), graph.add("Cast", gap, to=dtype)

    def words(column: WordColumn) -> str:
        value = next(places)
        levels = graph.constant([column.levels], object, "levels")
        found = graph.add("Cast", graph.add("Equal", value, levels), to=dtype)
        if isinstance(column, CategoryColumn) and not (column.gap or column.other):
            return found
        empty = graph.constant([[""]], object, "empty")
        gap = graph.add("Cast", graph.add("Equal", value, empty), to=dtype)
        axes = graph.constant([1], np.int64, "axes")
        known = graph.add("Add", graph.add("ReduceSum", found, axes, keepdims=1), gap)
        other = graph.add("Sub", constant(1.0), known)
        table = graph.constant(narrowed("inputs", column.table, dtype), dtype, "table")
        return graph.add("MatMul", side_by_side(found, other, gap), table)

    def date(column: DateColumn) -> str:
        day, gap = filled(next(places), column)

        def within(value: str, period: float) -> str:
            """What is left of a value after whole periods."""
            whole = graph.add("Floor", graph.add("Div", value, constant(period)))
            return graph.add("Sub", value, graph.add("Mul", constant(period), whole))

        said = []
        for part in column.parts:
            if part == "season":
                said.append(within(day, YEAR))
            elif part == "weekday":
                said.append(within(graph.add("Add", graph.add("Floor", day), constant(3.0)), 7.0))
            elif part == "hour":
                said.append(graph.add("Mul", constant(24.0), within(day, 1.0)))
            else:
                said.append(day)
        return side_by_side(*said, *([gap] if column.indicator else []))

    return graph.add("Concat", *each_column(inputs.columns, number, words, date), axis=1)


def add_outputs(graph: Graph, model: KernelModel, X: str, dtype: Any) -> tuple[str, str]:
    """The units' values (n, m) and the outputs (n, k) for features X (n, d); O(n·m·d) memory."""
    theta, b = (
        graph.constant(narrowed(name, array, dtype), dtype, name)
        for name, array in (("theta", model.theta), ("b", model.b))
    )
    x = graph.add("Unsqueeze", X, graph.constant([1], np.int64, "axes"))  # (n, 1, d)
    values = [_add_units(graph, part, x, dtype) for part in parts_of(model, dtype)]
    Phi = values[0] if len(values) == 1 else graph.add("Concat", *values, axis=1)
    return Phi, graph.add("Add", graph.add("MatMul", Phi, theta), b)


def _add_units(graph: Graph, part: PartFormula, x: str, dtype: Any) -> str:
    """The values (n, m) of one part's units."""
    formula, names = part.formula, {"x": x}
    names |= {key: graph.constant(array, dtype, key) for key, array in part.arrays.items()}
    operators: dict[str, Callable[..., str]] = {
        "add": lambda a, b: graph.add("Add", a, b),
        "subtract": lambda a, b: graph.add("Sub", a, b),
        "multiply": lambda a, b: graph.add("Mul", a, b),
        "negate": lambda a: graph.add("Neg", a),
        "absolute": lambda a: graph.add("Abs", a),
        "exp": lambda a: graph.add("Exp", a),
        "tanh": lambda a: graph.add("Tanh", a),
        "maximum": lambda a, b: graph.add("Max", a, b),
    }

    def say(what: Expression) -> str:
        return what.fold(
            lambda leaf: names[leaf] if isinstance(leaf, str) else graph.constant(leaf, dtype, "number"),
            operators,
        )

    axes = graph.constant([2], np.int64, "axes")
    names["z"] = graph.add("ReduceSum", say(formula.term), axes, keepdims=0)  # (n, m)
    if expression(formula.start) != expression(0.0):
        names["z"] = graph.add("Add", names["z"], say(expression(formula.start)))
    return say(formula.profile)


def add_answer(graph: Graph, answer: Choice | Numbers, outputs: str, name: str, dtype: Any) -> None:
    """What scikit-learn's converters give first: the label, or the numbers (n, k)."""
    match answer:
        case Numbers():
            graph.add("Identity", outputs, output=name)
            return
        case Choice(labels) if len(labels) == 2:
            column = graph.add("Squeeze", outputs, graph.constant([1], np.int64, "axes"))
            above = graph.add("Greater", column, graph.constant(0.0, dtype, "number"))
            code = graph.add("Cast", above, to=np.dtype(np.int64))
        case Choice(labels):
            code = graph.add("ArgMax", outputs, axis=1, keepdims=0)
    values = onnx_labels(labels)
    graph.add("Gather", graph.constant(values, values.dtype, "labels"), code, output=name)


def onnx_labels(labels: Sequence[Any]) -> AnyArray:
    """Class labels as scikit-learn's converters have them: text or 64-bit whole numbers."""
    if isinstance(labels[0], str):
        return np.array(labels, dtype=object)
    whole = [int(label) for label in labels]
    if whole != list(labels) or not -(2**63) <= min(whole) <= max(whole) < 2**63:
        raise ValueError(f"ONNX labels are text or 64-bit whole numbers, got {list(labels)}.")
    return np.array(whole, dtype=np.int64)
