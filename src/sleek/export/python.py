"""A model as one Python function that imports nothing but the standard library's math."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable
from typing import Any

from sleek.bases.formula import Expression, expression
from sleek.export.common import (
    Choice,
    Numbers,
    PartFormula,
    answer_of,
    bare,
    call,
    check_name,
    each_column,
    parts_of,
    title,
)
from sleek.export.python_uncertain import interval_lines, probability_lines
from sleek.export.uncertain import Intervals, Probabilities, intervals_of, probabilities_of
from sleek.model.kernel_model import KernelModel
from sleek.tables.columns import CategoryColumn, DateColumn, NumberColumn, WordColumn
from sleek.tables.inputs import Inputs

IMPORTS = ("exp", "sqrt", "tanh")
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

# Nothing can be imported to know a decimal number by, nor NumPy's numbers.
MISSING = """def missing(value):
    return value is None or str(value == value) != "True"
"""
NUMBER = """def number(value, fill):
    return (float("nan") if fill is None else fill) if missing(value) else float(value)
"""
WORD = """def word(value):
    if missing(value):
        return None
    text = str(value)
    if not isinstance(value, str) and text in ("True", "False"):
        text = text.lower()
    elif type(value).__name__ == "Decimal":
        text = format(value, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
    elif hasattr(value, "is_integer") and value.is_integer():
        text = str(int(value))
    return text
def category(text, levels, other, gap):
    found = [float(text == level) for level in levels]
    found += [float(text is not None and text not in levels)] * other
    return found + [float(text is None)] * gap
"""
DATE = """def days(value, fill, order):
    if missing(value):
        return fill
    if hasattr(value, "astype"):
        value = value.astype("datetime64[us]").item()
    if hasattr(value, "toordinal"):
        shift = value.utcoffset() if hasattr(value, "utcoffset") else None
        value = value if shift is None else value.replace(tzinfo=None) - shift
        clock = [getattr(value, part, 0) for part in ("hour", "minute", "second", "microsecond")]
        seconds = 3600 * clock[0] + 60 * clock[1] + clock[2] + clock[3] / 1e6
        return value.toordinal() - 719163 + seconds / 86400
    from datetime import date
    day, _, clock = value.strip().replace("T", " ").partition(" ")
    clock, zone = clock.rstrip("Z"), 0
    for sign in "+-":
        if sign in clock:
            clock, _, shift = clock.partition(sign)
            zone = (1 if sign == "+" else -1) * (3600 * int(shift[:2]) + 60 * int(shift[-2:]))
    parts = [int(part) for part in day.replace("/", "-").replace(".", "-").split("-")]
    found = dict(zip(order, parts))
    scale, seconds = 3600, 0
    for part in clock.split(":") if clock else ():
        seconds, scale = seconds + scale * float(part), scale / 60
    return date(found["y"], found["m"], found["d"]).toordinal() - 719163 + (seconds - zone) / 86400
def calendar(day, parts):
    whole = day // 1
    said = {"days": day, "season": day - 365.2425 * (day / 365.2425 // 1),
            "weekday": (whole + 3) % 7, "hour": 24 * (day - whole)}
    return [float(said[part]) for part in parts]
"""


def to_python(model: KernelModel, name: str = "predict", interval: float | None = None) -> str:
    """The model as the text of a Python module with one function.

    ``NAME(row)`` is the class label or the predicted number (a list for several targets), and
    ``NAME(row, scores=True)`` the list of the model's outputs; ``NAME(row, proba=True)`` is the list of the
    classes' probabilities. A row is a sequence of numbers, or a
    dictionary by feature name. If the model has `inputs`, it holds the table's raw values, with None or NaN
    for missing ones. The function runs in any Python 3 without packages, in double precision.

    Parameters
    ----------
    model : KernelModel
    name : str, default="predict"
        The function.
    interval : float or None, default=None
        For regression: let ``NAME(row, interval=True)`` be the lower and upper ends between which the number
        is with this probability, a list of pairs for several targets.

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
    parts, answer = parts_of(model), answer_of(model)
    check_name(name, [*keyword.kwlist, *dir(builtins), *IMPORTS])
    probable, within = probabilities_of(model), intervals_of(model, interval)
    sums = [line for part in parts for line in _sum(part, keep=within is not None)]
    more = [] if probable is None else probability_lines(probable, len(model.b))
    more += [] if within is None else interval_lines(within, isinstance(answer, Numbers) and answer.alone)
    lines = [
        *(f"{key} = {_rows(array.tolist())}" for part in parts for key, array in part.named().items()),
        f"theta = {_rows(model.theta.tolist())}",
        *_read(model),
        f"outputs = {model.b.tolist()!r}",
        *(["units = []"] if within is not None else []),
        *sums,
        "if scores:",
        "    return outputs",
        *more,
        f"return {_answer(answer)}",
    ]
    imports = [word for word in IMPORTS if f"{word}(" in "\n".join([*sums, *more])]
    options = "".join(
        f", {word}=False" for word, there in (("proba", probable), ("interval", within)) if there is not None
    )
    head = f"from math import {', '.join(imports)}\n\n\n" if imports else ""
    body = "\n".join(f"    {line}" for line in "\n".join(lines).split("\n"))
    about = _docstring(model, answer, probable, within)
    return f"{head}def {name}(row, scores=False{options}):\n{about}\n{body}\n"


def _sum(part: PartFormula, keep: bool) -> list[str]:
    """Lines that add a part's units to the outputs, and keep their values if these are needed."""
    formula, arrays = part.formula, part.named()
    per_feature = [key for key, array in arrays.items() if array.ndim == 2]
    weights = f"theta[{part.first}:{part.first + len(part)}]" if part.suffix else "theta"
    return [
        f"for {', '.join([*(f'{key}_j' for key in arrays), 'theta_j'])} in "
        f"zip({', '.join([*arrays, weights])}):",
        f"    z = {_say(expression(formula.start), part)}",
        f"    for {', '.join(['x', *(f'{key}_ji' for key in per_feature)])} in "
        f"zip({', '.join(['features', *(f'{key}_j' for key in per_feature)])}):",
        f"        z += {_say(formula.term, part)}",
        f"    unit = {_say(formula.profile, part)}",
        "    for k, weight in enumerate(theta_j):",
        "        outputs[k] += weight * unit",
        *(["    units.append(unit)"] if keep else []),
    ]


def _say(what: Expression, part: PartFormula) -> str:
    def leaf(value: str | float) -> str:
        if isinstance(value, float):
            return repr(value)
        if value in ("x", "z"):
            return value
        return f"{value}{part.suffix}_{'ji' if part.arrays[value].ndim == 2 else 'j'}"

    return bare(what.fold(leaf, OPERATORS))


def _rows(values: list[Any]) -> str:
    """Nested tuples, one row a line."""
    if not isinstance(values[0], list):
        return repr(tuple(values))
    return "(\n" + "".join(f"    {tuple(row)!r},\n" for row in values) + ")"


def _docstring(
    model: KernelModel,
    answer: Choice | Numbers,
    probable: Probabilities | None,
    within: Intervals | None,
) -> str:
    """What the function takes and gives; as one literal that no name can break out of."""
    if model.inputs is None:
        takes = [f"{name!r}: a finite number" for name in model.names_of_features]
    else:
        takes = each_column(
            model.inputs.columns,
            lambda column: f"{column.name!r}: " + ("a number" if column.fill is None else "a number or None"),
            lambda column: f"{column.name!r}: one of {', '.join(map(repr, column.levels))}, else unknown",
            lambda column: f"{column.name!r}: a date or datetime, text that is one, or None",
        )
    gives = model.outputs.describe()
    if isinstance(answer, Choice):
        gives = f"one of {', '.join(map(repr, answer.labels))}"
    lines = [
        title(model),
        "",
        "row : a sequence, or a dictionary by name, of",
        *(f"    {line}" for line in takes),
        "scores : give the outputs that decide, as a list, instead of the answer",
        *(["proba : give the probability of every class, as a list"] if probable is not None else []),
        *([] if within is None else [f"interval : give ends that hold with probability {within.level:g}"]),
        "",
        f"Returns {gives}.",
    ]
    words = [line.encode("unicode_escape").decode("ascii").replace('"', '\\"') for line in lines]
    return '    """' + "\n    ".join(words).replace("\n    \n", "\n\n") + '\n    """'


def _read(model: KernelModel) -> list[str]:
    """Lines that make `features` of `row`, and refuse what is not a number."""
    columns = None if model.inputs is None else [column.name for column in model.inputs.columns]
    names = columns or model.names_of_features
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
        "features = [min(max(x, -1e150), 1e150) for x in features]  # whose squares are numbers",
    ]


def _convert(inputs: Inputs) -> list[str]:
    """Missing numbers filled, categories as 0 and 1, as `sleek.tables.reading.texts` defines."""
    places = iter(range(len(inputs.columns)))

    def indicated(lines: list[str], value: str, indicator: bool) -> list[str]:
        return [*lines, *([f"features.append(float(missing({value})))"] if indicator else [])]

    def number(column: NumberColumn) -> list[str]:
        value = f"values[{next(places)}]"
        return indicated([f"features.append(number({value}, {column.fill!r}))"], value, column.indicator)

    def words(column: WordColumn) -> list[str]:
        text = f"word(values[{next(places)}])"
        if isinstance(column, CategoryColumn):
            flags = f"{int(column.other)}, {int(column.gap)}"
            return [f"features += category({text}, {column.levels!r}, {flags})"]
        *lines, other, missing = column.table.tolist()
        table = dict(zip((*column.levels, None), (*lines, missing), strict=True))
        return [f"features += {table!r}.get({text}, {other!r})"]

    def date(column: DateColumn) -> list[str]:
        value = f"values[{next(places)}]"
        days = f"days({value}, {column.fill!r}, {column.order!r})"
        return indicated([f"features += calendar({days}, {column.parts!r})"], value, column.indicator)

    lines = [line for said in each_column(inputs.columns, number, words, date) for line in said]
    used = "\n".join(lines)
    helpers = [MISSING]
    helpers += [
        text for name, text in (("number", NUMBER), ("word", WORD), ("days", DATE)) if f"{name}(" in used
    ]
    return [*"".join(helpers).rstrip("\n").split("\n"), "features = []", *lines]


def _answer(answer: Choice | Numbers) -> str:
    match answer:
        case Numbers(alone=alone):
            return "outputs[0]" if alone else "outputs"
        case Choice((below, above)):
            return f"{above!r} if outputs[0] > 0 else {below!r}"
        case Choice(labels):
            return f"{labels!r}[outputs.index(max(outputs))]"
