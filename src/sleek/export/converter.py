"""sleek's estimators in pipelines that skl2onnx converts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.packages import need
from sleek.export.graph import Graph, GraphPrinter, add_answer, onnx_labels
from sleek.export.onnx import OPSET, attributes, element
from sleek.export.translation import translate


def register_skl2onnx() -> None:
    """Teach skl2onnx to convert `LowRankLSSVC` and `LowRankLSSVR`, alone or in a pipeline.

    Afterwards ``skl2onnx.to_onnx(pipeline, X[:1])`` works as for scikit-learn's own estimators: in double
    precision if X is double, and else in single. Calling it again does no harm.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skl2onnx import to_onnx
    >>> from sleek import LowRankLSSVC, export
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> pipeline = make_pipeline(StandardScaler(), LowRankLSSVC(3, C=10.0, random_state=0)).fit(X, y)
    >>> export.register_skl2onnx()
    >>> [output.name for output in to_onnx(pipeline, X[:1]).graph.output]
    ['label', 'probabilities']
    """
    skl2onnx = need("skl2onnx", "onnx", "Converting pipelines")
    from sleek.estimators.low_rank import LowRankLSSVC, LowRankLSSVR

    # "zipmap", which turns probabilities into dictionaries, is set by skl2onnx itself for every classifier:
    # here they stay a matrix
    skl2onnx.update_registered_converter(
        LowRankLSSVC,
        "SleekLowRankLSSVC",
        _shapes,
        _convert,
        parser=_parse_classifier,
        options={"zipmap": [True, False, "columns"]},
    )
    skl2onnx.update_registered_converter(LowRankLSSVR, "SleekLowRankLSSVR", _shapes, _convert)


def _parse_classifier(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Two outputs, whose types `_shapes` sets."""
    from skl2onnx.common.data_types import Int64TensorType, guess_tensor_type

    operator = scope.declare_local_operator("SleekLowRankLSSVC", model)
    operator.inputs = inputs
    operator.outputs.append(scope.declare_local_variable("label", Int64TensorType()))
    second = "probabilities" if "probabilities" in translate(model.model_).outputs else "scores"
    operator.outputs.append(scope.declare_local_variable(second, guess_tensor_type(inputs[0].type)))
    return operator.outputs


def _shapes(operator: Any) -> None:
    """Types and shapes of the outputs."""
    from skl2onnx.common.data_types import (
        DoubleTensorType,
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )

    program = translate(operator.raw_operator.model_)
    rows = operator.inputs[0].get_first_dimension()
    numbers = DoubleTensorType if _dtype(operator) == np.float64 else FloatTensorType
    if program.labels:
        label = StringTensorType if onnx_labels(program.labels).dtype == object else Int64TensorType
        operator.outputs[0].set_type(label([rows]))
    second = program.outputs.get("probabilities", program.outputs["scores"])
    operator.outputs[-1].set_type(numbers([rows, program.size(second)]))


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Put the model's graph into skl2onnx's, under names that are free there."""
    dtype, graph, program = _dtype(operator), Graph(), translate(operator.raw_operator.model_)
    source = operator.inputs[0].full_name
    printer = GraphPrinter(graph, program, graph.add("Cast", source, to=dtype), dtype)
    outputs = [variable.full_name for variable in operator.outputs]
    add_answer(graph, printer, outputs[0])
    if len(outputs) > 1:
        second = program.outputs.get("probabilities", program.outputs["scores"])
        graph.add("Identity", printer.vector(second), output=outputs[1])
    names = {name: name for name in [source, *outputs]}
    for key, array in graph.constants.items():
        names[key] = scope.get_unique_variable_name(key)
        container.add_initializer(names[key], element(array.dtype), array.shape, array.ravel().tolist())
    for node in graph.nodes:
        names.setdefault(node.output, scope.get_unique_variable_name(node.output))
        container.add_node(
            node.operator,
            [names[name] for name in node.inputs],
            [names[node.output]],
            name=scope.get_unique_operator_name(node.operator),
            op_version=OPSET,
            **attributes(node.attributes),
        )


def _dtype(operator: Any) -> Any:
    """Double for double input, else single."""
    from skl2onnx.common.data_types import DoubleTensorType

    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    return np.dtype(np.float64 if double else np.float32)
