"""A model as an ONNX file of plain operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sleek import __version__
from sleek._runtime.packages import need
from sleek.export.graph import Graph, GraphPrinter, add_answer, onnx_labels
from sleek.export.printing import check_dtype, check_name
from sleek.export.program import Program
from sleek.export.translation import translate
from sleek.model.kernel_model import KernelModel
from sleek.tables.columns import WordColumn

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
    dtype = check_dtype(dtype)
    check_name(name)
    _check_gaps(model)
    program = translate(model, interval)
    outputs = _output_types(program, dtype)
    names = [input.name for input in program.inputs] if program.table else []
    graph = Graph(_prefix(names, list(outputs)))
    inputs: dict[str, tuple[Any, int]] = {"X": (dtype, len(program.inputs))}
    if program.table:
        kinds = (np.dtype(object) if input.kind == "text" else dtype for input in program.inputs)
        inputs = {word: (kind, 1) for word, kind in zip(names, kinds, strict=True)}
    printer = GraphPrinter(graph, program, names or "X", dtype)
    add_answer(graph, printer, next(iter(outputs)))
    for role, (_, *shape) in list(outputs.items())[1:]:
        found = printer.vector(program.outputs[role])
        if len(shape) == 2:
            found = graph.add("Reshape", found, graph.constant([-1, *shape], np.int64, "shape"))
        graph.add("Identity", found, output=role)
    proto = onnx.helper.make_model(
        onnx.helper.make_graph(
            nodes(graph),
            name,
            [_value(word, kind, [None, size]) for word, (kind, size) in inputs.items()],
            [_value(word, kind, [None, *shape]) for word, (kind, *shape) in outputs.items()],
            initializers(graph),
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET_TEXT if program.table else OPSET)],
        ir_version=9 if program.table else 8,
        producer_name="sleek",
        producer_version=__version__,
        doc_string=program.title,
    )
    onnx.checker.check_model(proto, full_check=True)
    return proto


def _onnx() -> Any:
    return need("onnx", "onnx", "Writing ONNX files")


def _output_types(program: Program, dtype: Any) -> dict[str, tuple[Any, ...]]:
    """The outputs by name: the type of their elements, and their shape beside the rows."""
    k = program.size(program.outputs["scores"])
    if program.labels:
        shares = {"probabilities": (dtype, len(program.labels))} if "probabilities" in program.outputs else {}
        return {"label": (onnx_labels(program.labels).dtype,), **shares, "scores": (dtype, k)}
    ends = {"interval": (dtype, 2) if k == 1 else (dtype, k, 2)} if "interval" in program.outputs else {}
    return {"variable": (dtype, k), **ends}


def _check_gaps(model: KernelModel) -> None:
    """Refuse categories in which the empty text is a level beside missing values."""
    for column in () if model.inputs is None else model.inputs.columns:
        if isinstance(column, WordColumn) and "" in column.levels and column.knows_gaps:
            raise ValueError(
                f"Column {column.name!r} has the empty text as a level beside missing values, and ONNX has "
                "the empty text for both: write a word for one of them before training."
            )


def _prefix(columns: list[str], outputs: list[str]) -> str:
    """How names inside the graph begin, none of them a column's."""
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
