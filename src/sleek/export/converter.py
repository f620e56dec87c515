"""sleek's estimators in pipelines that skl2onnx converts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.packages import need
from sleek.export.common import Choice, answer_of
from sleek.export.graph import Graph, add_answer, add_outputs, onnx_labels
from sleek.export.graph_uncertain import add_probabilities
from sleek.export.onnx import OPSET, attributes, element
from sleek.export.uncertain import probabilities_of


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
    second = "scores" if probabilities_of(model.model_) is None else "probabilities"
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

    model = operator.raw_operator.model_
    answer = answer_of(model)
    rows = operator.inputs[0].get_first_dimension()
    numbers = DoubleTensorType if _dtype(operator) == np.float64 else FloatTensorType
    if isinstance(answer, Choice):
        label = StringTensorType if onnx_labels(answer.labels).dtype == object else Int64TensorType
        operator.outputs[0].set_type(label([rows]))
    probable = isinstance(answer, Choice) and probabilities_of(model) is not None
    size = len(answer.labels) if isinstance(answer, Choice) and probable else len(model.b)
    operator.outputs[-1].set_type(numbers([rows, size]))


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Put the model's graph into skl2onnx's, under names that are free there."""
    model, dtype, graph = operator.raw_operator.model_, _dtype(operator), Graph()
    source = operator.inputs[0].full_name
    X = graph.add("Cast", source, to=dtype)
    outputs = [variable.full_name for variable in operator.outputs]
    _, Y = add_outputs(graph, model, X, dtype)
    add_answer(graph, answer_of(model), Y, outputs[0], dtype)
    probable = probabilities_of(model)
    if probable is not None:
        add_probabilities(graph, probable, Y, len(model.b), outputs[1], dtype)
    elif len(outputs) > 1:
        graph.add("Identity", Y, output=outputs[1])
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
