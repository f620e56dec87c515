"""A model as an ONNX file of plain operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sleek import __version__
from sleek._runtime.packages import need
from sleek.export.common import Choice, Numbers, answer_of, check_dtype, check_name, each_column, title
from sleek.export.graph import Graph, add_answer, add_features, add_outputs, onnx_labels
from sleek.export.graph_uncertain import add_interval, add_probabilities
from sleek.export.uncertain import intervals_of, probabilities_of
from sleek.model.kernel_model import KernelModel

OPSET = 13  # the first with all operators in their present form
OPSET_TEXT = 19  # the first that compares text


def to_onnx(
    model: KernelModel,
    dtype: DTypeLike = "float32",
    name: str = "sleek",
    interval: float | None = None,
) -> Any:
    """The model as an ``onnx.ModelProto`` that any ONNX runtime can run.

    A classifier has the outputs ``label`` (n,), 64-bit whole numbers or text, ``probabilities``
    (n, n_classes), as those of scikit-learn's converters, and ``scores``, (n, 1) for two classes and else
    (n, n_classes); regression has ``variable`` (n, n_outputs). The input is ``X``
    (n, n_features), or one column (n, 1) for each of the model's `inputs`: numbers with NaN for missing,
    categories as text, empty for missing, dates as days since 1970-01-01. Where a feature is NaN, so are the
    scores, and the label means nothing.

    Parameters
    ----------
    model : KernelModel
    dtype : "float32" or "float64", default="float32"
    name : str, default="sleek"
        The name of the graph.
    interval : float or None, default=None
        For regression: add the output ``interval``, (n, 2), or (n, n_outputs, 2) for several targets: the
        ends between which each number is with this probability.

    Examples
    --------
    >>> from sleek import LowRankLSSVC, export
    >>> from sleek.datasets import make_ripley
    >>> model = LowRankLSSVC(3, C=10.0, random_state=0).fit(*make_ripley(100, random_state=0)).model_
    >>> [output.name for output in export.to_onnx(model).graph.output]
    ['label', 'probabilities', 'scores']
    """
    onnx = _onnx()
    dtype, answer = check_dtype(dtype), answer_of(model)
    check_name(name)
    probable, within = probabilities_of(model), intervals_of(model, interval)
    outputs = _output_types(answer, len(model.b), dtype, probable is not None, within is not None)
    graph = Graph(_prefix(model, list(outputs)))
    if model.inputs is None:
        inputs, X = {"X": (dtype, model.n_features)}, "X"
    else:
        kinds = each_column(
            model.inputs.columns, lambda _: dtype, lambda _: np.dtype(object), lambda _: dtype
        )
        names = [column.name for column in model.inputs.columns]
        inputs = {word: (kind, 1) for word, kind in zip(names, kinds, strict=True)}
        X = add_features(graph, model.inputs, names, dtype)
    Phi, Y = add_outputs(graph, model, X, dtype)
    add_answer(graph, answer, Y, next(iter(outputs)), dtype)
    if probable is not None:
        add_probabilities(graph, probable, Y, len(model.b), "probabilities", dtype)
    if within is not None:
        add_interval(graph, within, Phi, Y, "interval", dtype)
    if "scores" in outputs:
        graph.add("Identity", Y, output="scores")
    proto = onnx.helper.make_model(
        onnx.helper.make_graph(
            nodes(graph),
            name,
            [_value(word, kind, [None, size]) for word, (kind, size) in inputs.items()],
            [_value(word, kind, [None, *shape]) for word, (kind, *shape) in outputs.items()],
            initializers(graph),
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET if model.inputs is None else OPSET_TEXT)],
        ir_version=8 if model.inputs is None else 9,
        producer_name="sleek",
        producer_version=__version__,
        doc_string=title(model),
    )
    onnx.checker.check_model(proto, full_check=True)
    return proto


def _onnx() -> Any:
    return need("onnx", "onnx", "Writing ONNX files")


def _output_types(
    answer: Choice | Numbers, k: int, dtype: Any, probable: bool, within: bool
) -> dict[str, tuple[Any, ...]]:
    """The outputs by name: the type of their elements, and their shape beside the rows."""
    match answer:
        case Choice(labels):
            more = {"probabilities": (dtype, len(labels))} if probable else {}
            return {"label": (onnx_labels(labels).dtype,), **more, "scores": (dtype, k)}
        case Numbers():
            ends = {"interval": (dtype, 2) if k == 1 else (dtype, k, 2)} if within else {}
            return {"variable": (dtype, k), **ends}


def _prefix(model: KernelModel, outputs: list[str]) -> str:
    """How names inside the graph begin, none of them a column's."""
    columns = [] if model.inputs is None else [column.name for column in model.inputs.columns]
    for word in columns:
        if word in outputs or not word:
            raise ValueError(
                f"A column named {word!r} cannot be an ONNX input, since outputs are called "
                f"{' and '.join(map(repr, outputs))} and no name is empty: rename it before training."
            )
    prefix = "sleek_"
    while any(word.startswith(prefix) for word in columns):
        prefix += "_"
    return prefix


def nodes(graph: Graph) -> list[Any]:
    """The graph's nodes in ONNX's class."""
    helper = _onnx().helper
    return [
        helper.make_node(node.operator, list(node.inputs), [node.output], **attributes(node.attributes))
        for node in graph.nodes
    ]


def attributes(found: dict[str, Any]) -> dict[str, Any]:
    """Attributes with array types as ONNX numbers them."""
    return {key: element(value) if isinstance(value, np.dtype) else value for key, value in found.items()}


def element(dtype: Any) -> int:
    """ONNX's number for the type of an array's elements."""
    onnx = _onnx()
    if dtype.kind == "O":
        return int(onnx.TensorProto.STRING)
    return int(onnx.helper.np_dtype_to_tensor_dtype(dtype))


def initializers(graph: Graph) -> list[Any]:
    """The graph's constants in ONNX's class."""
    return [_onnx().numpy_helper.from_array(array, key) for key, array in graph.constants.items()]


def _value(name: str, dtype: Any, shape: list[int | None]) -> Any:
    return _onnx().helper.make_tensor_value_info(name, element(dtype), shape)
