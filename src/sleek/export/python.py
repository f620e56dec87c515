"""A model as one Python function that imports nothing but the standard library's math."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable
from typing import Any

from sleek.bases.formula import Expression, expression
from sleek.export.common import (
    bare,
    call,
    check_name,
    each_column,
    feature_names,
    formula_of,
    labels_of,
    task,
    title,
)
from sleek.model.kernel_model import KernelModel
from sleek.tables.columns import Inputs

IMPORTS = ("exp", "tanh")
OPERATORS: dict[str, Callable[..., str]] = {
    "add": "({} + {})".format,
    "subtract": "({} - {})".format,
    "multiply": "({} * {})".format,
    "negate": "(-{})".format,
    "absolute": call("abs"),
    "exp": call("exp"),
    "tanh": call("tanh"),
    "maximum": call("max"),
}


def to_python(model: KernelModel, name: str = "predict") -> str:
    """The model as the text of a Python module with one function.

    ``NAME(row)`` is the class label or the predicted number (a list for several targets), and
    ``NAME(row, scores=True)`` the list of the model's outputs. A row is a sequence of numbers, or a
    dictionary by feature name. If the model has `inputs`, it holds the table's raw values, with None or NaN
    for missing ones. The function runs in any Python 3 without packages, in double precision.

    Examples
    --------
    >>> from sleek import LowRankLSSVC, export
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = LowRankLSSVC(3, C=10.0, random_state=0).fit(X, y).model_
    >>> module = {}
    >>> exec(export.to_python(model, name="ripley"), module)
    >>> [module["ripley"](row) for row in X.tolist()] == model.predict(X).tolist()
    True
    """
    formula = formula_of(model)
    check_name(name, [*keyword.kwlist, *dir(builtins), *IMPORTS])
    imports = [word for word in IMPORTS if f"{word}(" in _say(formula.profile, model)]
    per_feature = [key for key, array in model.units.arrays.items() if array.ndim == 2]
    loop = ", ".join(["x", *(f"{key}_ji" for key in per_feature)])
    over = ", ".join(["features", *(f"{key}_j" for key in per_feature)])
    lines = [
        *(f"{key} = {_rows(array.tolist())}" for key, array in model.units.arrays.items()),
        f"theta = {_rows(model.theta.tolist())}",
        *_read(model),
        f"outputs = {model.b.tolist()!r}",
        f"for {', '.join([*(f'{key}_j' for key in model.units.arrays), 'theta_j'])} in "
        f"zip({', '.join([*model.units.arrays, 'theta'])}):",
        f"    z = {_say(expression(formula.start), model)}",
        f"    for {loop} in zip({over}):",
        f"        z += {_say(formula.term, model)}",
        f"    unit = {_say(formula.profile, model)}",
        "    for k, weight in enumerate(theta_j):",
        "        outputs[k] += weight * unit",
        "if scores:",
        "    return outputs",
        f"return {_answer(model)}",
    ]
    head = f"from math import {', '.join(imports)}\n\n\n" if imports else ""
    body = "\n".join(f"    {line}" for line in "\n".join(lines).split("\n"))
    return f"{head}def {name}(row, scores=False):\n{_docstring(model)}\n{body}\n"


def _say(what: Expression, model: KernelModel) -> str:
    def leaf(value: str | float) -> str:
        if isinstance(value, float):
            return repr(value)
        if value in ("x", "z"):
            return value
        return f"{value}_ji" if model.units[value].ndim == 2 else f"{value}_j"

    return bare(what.fold(leaf, OPERATORS))


def _rows(values: list[Any]) -> str:
    """Nested tuples, one row a line."""
    if not isinstance(values[0], list):
        return repr(tuple(values))
    return "(\n" + "".join(f"    {tuple(row)!r},\n" for row in values) + ")"


def _docstring(model: KernelModel) -> str:
    """What the function takes and gives; as one literal that no name can break out of."""
    if model.inputs is None:
        takes = [f"{name!r}: a finite number" for name in feature_names(model)]
    else:
        takes = each_column(
            model.inputs.columns,
            lambda column: f"{column.name!r}: " + ("a number" if column.fill is None else "a number or None"),
            lambda column: f"{column.name!r}: one of {', '.join(map(repr, column.levels))}, else unknown",
        )
    gives = f"one of {', '.join(map(repr, labels_of(model)))}" if labels_of(model) else task(model)
    lines = [
        title(model),
        "",
        "row : a sequence, or a dictionary by name, of",
        *(f"    {line}" for line in takes),
        "scores : give the outputs that decide, as a list, instead of the answer",
        "",
        f"Returns {gives}.",
    ]
    words = [line.encode("unicode_escape").decode("ascii").replace('"', '\\"') for line in lines]
    return '    """' + "\n    ".join(words).replace("\n    \n", "\n\n") + '\n    """'


def _read(model: KernelModel) -> list[str]:
    """Lines that make `features` of `row`, and refuse what is not a number."""
    names = feature_names(model) if model.inputs is None else [column.name for column in model.inputs.columns]
    lines = [
        f"names = {tuple(names)!r}",
        "values = [row[name] for name in names] if isinstance(row, dict) else list(row)",
        "if len(values) != len(names):",
        '    raise ValueError("A row must have %d values, got %d." % (len(names), len(values)))',
    ]
    lines += (
        ["features = [float(value) for value in values]"] if model.inputs is None else _convert(model.inputs)
    )
    return [
        *lines,
        "if not all(abs(x) <= 1.7976931348623157e308 for x in features):",
        '    raise ValueError("A row must be finite numbers, got %r." % (values,))',
    ]


def _convert(inputs: Inputs) -> list[str]:
    """Missing numbers filled, categories as 0 and 1; text of a value as sleek's `Inputs` reads it."""
    places = iter(range(len(inputs.columns)))
    lines = each_column(
        inputs.columns,
        lambda column: f"features.append(number(values[{next(places)}], {column.fill!r}))",
        lambda column: f"features += category(values[{next(places)}], {column.levels!r})",
    )
    return [
        "def number(value, fill):",
        "    missing = value is None or value != value",
        '    return (float("nan") if fill is None else fill) if missing else float(value)',
        "def category(value, levels):",
        "    if isinstance(value, bool):",
        "        value = str(value).lower()",
        "    elif isinstance(value, float) and value.is_integer():",
        "        value = int(value)",
        "    known = value is not None and value == value",
        "    return [float(known and str(value) == level) for level in levels]",
        "features = []",
        *lines,
    ]


def _answer(model: KernelModel) -> str:
    labels = labels_of(model)
    if not labels:
        return "outputs[0]" if model.flat else "outputs"
    if len(labels) == 2:
        return f"{labels[1]!r} if outputs[0] > 0 else {labels[0]!r}"
    return f"{tuple(labels)!r}[outputs.index(max(outputs))]"
