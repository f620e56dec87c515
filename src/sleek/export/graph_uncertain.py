"""Probabilities and intervals as plain ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek.export.common import narrowed
from sleek.export.graph import Graph
from sleek.export.uncertain import Intervals, Probabilities


def add_probabilities(
    graph: Graph, said: Probabilities, outputs: str, n_outputs: int, name: str, dtype: Any
) -> None:
    """The probabilities (n, n_classes) of outputs (n, 1), or (n, n_classes).

    With u the part of v = y/scale that is within ±1 and o the rest, as `sleek.calibration.monotone` has it.
    """

    def number(value: float) -> str:
        return graph.constant(narrowed("slopes", value, dtype), dtype, "number")

    if n_outputs == 1:
        outputs = graph.add("Concat", graph.add("Neg", outputs), outputs, axis=1)
    v = graph.add("Div", outputs, number(said.scale))
    u = graph.add("Max", graph.add("Min", v, number(1.0)), number(-1.0))
    beyond = graph.add("Sub", v, u)
    tail = graph.add("Div", beyond, graph.add("Add", graph.add("Abs", beyond), number(1.0)))
    bend = graph.add("Mul", graph.add("Mul", u, graph.add("Abs", u)), number(0.5))  # u²/2 with the sign of u
    near = graph.add("Sub", u, bend)
    far = graph.add("Add", bend, graph.add("Mul", tail, number(said.tail)))
    low, before, after, high = map(number, said.slopes)
    terms = [
        graph.add("Mul", graph.add(end, part, number(0.0)), slope)
        for end, part, slope in (
            ("Min", far, low),
            ("Min", near, before),
            ("Max", near, after),
            ("Max", far, high),
        )
    ]
    graph.add("Softmax", graph.add("Sum", *terms), axis=1, output=name)


def add_interval(graph: Graph, said: Intervals, Phi: str, outputs: str, name: str, dtype: Any) -> None:
    """Lower and upper ends (n, k, 2), or (n, 2) for one output, from the units' values (n, m)."""

    def numbers(key: str, value: Any) -> str:
        return graph.constant(narrowed(key, np.asarray(value), dtype), dtype, key)

    size = numbers("size", said.constant[None])
    if said.weights is not None:
        size = graph.add("Add", graph.add("MatMul", Phi, numbers("weights", said.weights)), size)
    size = graph.add(
        "Max", graph.add("Min", size, numbers("high", said.high[None])), numbers("low", said.low[None])
    )
    half = graph.add("Mul", graph.add("Exp", size), numbers("half", said.half[None]))
    if said.leverage is not None:
        away = graph.add("MatMul", Phi, numbers("leverage", said.leverage.factor.T))
        away = graph.add("Sub", away, numbers("center", said.leverage.center[None]))
        axes = graph.constant([1], np.int64, "axes")
        h = graph.add("ReduceSum", graph.add("Mul", away, away), axes, keepdims=1)
        wider = graph.add("Sqrt", graph.add("Add", h, numbers("one", 1.0 + said.leverage.least)))
        half = graph.add("Mul", half, wider)
    below, above = graph.add("Sub", outputs, half), graph.add("Add", outputs, half)
    if len(said.half) == 1:
        graph.add("Concat", below, above, axis=1, output=name)
        return
    axes = graph.constant([2], np.int64, "axes")
    graph.add(
        "Concat",
        graph.add("Unsqueeze", below, axes),
        graph.add("Unsqueeze", above, axes),
        axis=2,
        output=name,
    )
