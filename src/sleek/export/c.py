"""A model as one C99 header: constant arrays and loops, no allocation, nothing but math.h."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sleek._runtime.types import AnyArray
from sleek.bases.formula import Expression, expression
from sleek.export.c_inputs import RowType
from sleek.export.c_text import C_KEYWORDS, comment, literal, string
from sleek.export.c_uncertain import interval_arrays, interval_function, probability_functions
from sleek.export.common import (
    Choice,
    Numbers,
    PartFormula,
    answer_of,
    bare,
    call,
    check_dtype,
    check_name,
    narrowed,
    parts_of,
    title,
)
from sleek.export.uncertain import Intervals, Probabilities, intervals_of, probabilities_of
from sleek.model.kernel_model import KernelModel

# beside the arrays'
NAMES = (
    *("row", "features", "labels", "larger", "outputs", "decision", "predict", "log_odds", "probabilities"),
    *("units", "interval"),
)
LARGER = """static inline {real} {name}_larger({real} a, {real} b) {{
    return a > b || a != a ? a : b; /* not a number stays so */
}}

"""


def to_c(
    model: KernelModel, dtype: DTypeLike = "float64", name: str = "model", interval: float | None = None
) -> str:
    """The model as the text of a C99 header.

    Two classes: ``real NAME_decision(x)`` and ``int NAME_predict(x)``, the index of the class in
    ``NAME_labels``. More classes: ``void NAME_decision(x, y)`` fills one number for each. Regression:
    ``real NAME_predict(x)``, or ``void NAME_predict(x, y)`` for several targets. Classifiers also have
    ``void NAME_probabilities(x, p)``, which fills one probability for each class. A class index of -1 means
    that a feature was not a number. If the model has `inputs`, x is a pointer to a struct of the table's
    columns. The code takes a few bytes for each number of the model and no memory but the stack.

    Parameters
    ----------
    model : KernelModel
    dtype : "float64" or "float32", default="float64"
    name : str, default="model"
        The beginning of every name in the header.
    interval : float or None, default=None
        For regression: add ``void NAME_interval(x, ends)``, which fills the lower and upper ends between
        which each number is with this probability.

    Examples
    --------
    >>> from sleek import LowRankLSSVC, export
    >>> from sleek.datasets import make_ripley
    >>> model = LowRankLSSVC(3, C=10.0, random_state=0).fit(*make_ripley(100, random_state=0)).model_
    >>> text = export.to_c(model, dtype="float32", name="ripley")
    >>> [line for line in text.splitlines() if line.startswith("static inline int")]
    ['static inline int ripley_predict(const float x[2]) {']
    """
    dtype, answer = check_dtype(dtype), answer_of(model)
    check_name(name, C_KEYWORDS)
    real = "double" if dtype == np.float64 else "float"
    parts = parts_of(model, dtype)
    arrays = {key: array.T for part in parts for key, array in part.named().items()}
    arrays |= {"theta": narrowed("theta", model.theta, dtype), "b": narrowed("b", model.b, dtype)}
    probable, within = probabilities_of(model), intervals_of(model, interval)
    if within is not None:
        arrays |= interval_arrays(within, dtype)
    row = None if model.inputs is None else RowType(model.inputs, name, real, dtype, [*NAMES, *arrays])
    sizes = {"N_FEATURES": model.n_features, "N_UNITS": model.n_units, "N_OUTPUTS": len(model.b)}
    labels = answer.labels if isinstance(answer, Choice) else ()
    upper = name.upper()
    texts = [
        _about(model, labels),
        f"#ifndef {upper}_H\n#define {upper}_H\n\n#include <math.h>",
        "\n".join(f"#define {upper}_{key} {size}" for key, size in (sizes | _n_classes(labels)).items()),
        *([] if row is None else [row.declaration()]),
        *([_labels(labels, name)] if labels else []),
        *(_constant(f"{name}_{key}", array, real) for key, array in arrays.items()),
        _outputs(model, parts, name, real),
        *([] if row is None else [row.conversion()]),
        *_functions(model, answer, name, real, row, probable),
        *_intervals(model, parts, name, real, row, within),
        f"#endif /* {upper}_H */\n",
    ]
    return "\n\n".join(texts)


def _n_classes(labels: tuple[Any, ...]) -> dict[str, int]:
    return {"N_CLASSES": len(labels)} if labels else {}


def _about(model: KernelModel, labels: tuple[Any, ...]) -> str:
    names = model.names_of_features if model.inputs is None else ()
    takes = f"{model.n_features} finite numbers" if model.inputs is None else "a row of a table"
    lines = [
        f"/* {title(model)} C99, needs math.h alone.",
        f" * It predicts {model.outputs.describe()} from {takes}.",
        *(f" *   x[{i}]: {comment(feature)}" for i, feature in enumerate(names)),
        *(f" *   class {i}: {comment(repr(label))}" for i, label in enumerate(labels)),
        " */",
    ]
    return "\n".join(lines)


def _labels(labels: tuple[Any, ...], name: str) -> str:
    """The labels as an array of the simplest type that holds them."""
    if isinstance(labels[0], str):
        kind, words = "char *const", [string(label) for label in labels]
    elif isinstance(labels[0], float):
        kind, words = "double", [literal(label, np.dtype(np.float64)) for label in labels]
    elif max(labels) >= 2**63:
        kind, words = "unsigned long long", [f"{label}ULL" for label in labels]
    elif min(labels) > -(2**31) and max(labels) < 2**31:
        kind, words = "long", [f"{int(label)}L" for label in labels]
    else:
        least = "(-9223372036854775807LL - 1)"
        kind = "long long"
        words = [least if label == -(2**63) else f"{label}LL" for label in labels]
    return f"static const {kind} {name}_labels[{len(labels)}] = {{{', '.join(words)}}};"


def _constant(name: str, array: AnyArray, real: str) -> str:
    dimensions = "".join(f"[{size}]" for size in array.shape)
    if array.ndim == 1:
        body = ", ".join(literal(number, array.dtype) for number in array)
    else:
        rows = [", ".join(literal(number, array.dtype) for number in row.ravel()) for row in array]
        body = "\n    {" + "},\n    {".join(rows) + "}\n"
    return f"static const {real} {name}{dimensions} = {{{body}}};"


def _outputs(model: KernelModel, parts: list[PartFormula], name: str, real: str) -> str:
    """The function that all others call: every unit once, added to every output.

    Units run in the innermost loop, where nothing waits for the sum before: about twice as fast as features.
    All x are read before the first y is written: a caller may use one array for both.
    """
    m, k = model.n_units, len(model.b)
    said = [_Words(part, name, real) for part in parts]
    sums = "\n".join(words.sums(model.n_features) for words in said)
    units = "\n".join(words.units(k) for words in said)
    helper = LARGER.format(name=name, real=real) if f"{name}_larger" in sums + units else ""
    return f"""{helper}static inline void {name}_outputs(const {real} *x, {real} *y) {{
    {real} z[{m}];
    int i, j, k;
{sums}
    for (k = 0; k < {k}; ++k) y[k] = {name}_b[k];
{units}
}}"""


class _Words:
    """The loops over one part's units."""

    def __init__(self, part: PartFormula, name: str, real: str) -> None:
        suffix = "f" if real == "float" else ""
        self.part, self.name, self.real = part, name, real
        self.j = f"{part.first} + j" if part.first else "j"  # its units among those of all parts
        self.dtype = np.dtype(np.float32 if suffix else np.float64)
        self.operators: dict[str, Callable[..., str]] = {
            "add": "({} + {})".format,
            "subtract": "({} - {})".format,
            "multiply": "({} * {})".format,
            "negate": "(-{})".format,
            "absolute": call(f"fabs{suffix}"),
            "exp": call(f"exp{suffix}"),
            "tanh": call(f"tanh{suffix}"),
            "maximum": call(f"{name}_larger"),
        }

    def leaf(self, value: str | float) -> str:
        if isinstance(value, float):
            return literal(value, self.dtype)
        if value in ("x", "z"):
            return {"x": "x[i]", "z": f"z[{self.j}]"}[value]
        place = "[i][j]" if self.part.arrays[value].ndim == 2 else "[j]"
        return f"{self.name}_{value}{self.part.suffix}{place}"

    def say(self, what: Expression) -> str:
        return bare(what.fold(self.leaf, self.operators))

    def sums(self, d: int) -> str:
        """z = start + Σ term of every unit."""
        m, formula = len(self.part), self.part.formula
        return f"""    for (j = 0; j < {m}; ++j) z[{self.j}] = {self.say(expression(formula.start))};
    for (i = 0; i < {d}; ++i)
        for (j = 0; j < {m}; ++j) z[{self.j}] += {self.say(formula.term)};"""

    def units(self, k: int) -> str:
        """Every unit's value, added to the outputs."""
        return f"""    for (j = 0; j < {len(self.part)}; ++j) {{
        const {self.real} unit = {self.say(self.part.formula.profile)};
        for (k = 0; k < {k}; ++k) y[k] += {self.name}_theta[{self.j}][k] * unit;
    }}"""


def _intervals(
    model: KernelModel,
    parts: list[PartFormula],
    name: str,
    real: str,
    row: RowType | None,
    said: Intervals | None,
) -> list[str]:
    """The function of intervals, if it is asked for, and that of the units' values."""
    if said is None:
        return []
    argument = f"const {real} x[{model.n_features}]" if row is None else row.argument
    prepare = "" if row is None else row.prepare

    def units() -> str:
        words = [_Words(part, name, real) for part in parts]
        sums = "\n".join(word.sums(model.n_features) for word in words)
        values = "\n".join(
            f"    for (j = 0; j < {len(part)}; ++j) u[{word.j}] = {word.say(part.formula.profile)};"
            for part, word in zip(parts, words, strict=True)
        )
        return f"""static inline void {name}_units(const {real} *x, {real} *u) {{
    {real} z[{model.n_units}];
    int i, j;
{sums}
{values}
}}"""

    sizes = (model.n_units, len(model.b))
    return [interval_function(said, sizes, name, real, argument, prepare, units)]


def _functions(
    model: KernelModel,
    answer: Choice | Numbers,
    name: str,
    real: str,
    row: RowType | None,
    probable: Probabilities | None,
) -> list[str]:
    """The documented functions: decision and predict for classes, predict for numbers."""
    k = len(model.b)
    argument = f"const {real} x[{model.n_features}]" if row is None else row.argument
    call = f"{'' if row is None else row.prepare}    {name}_outputs(x, y);\n"
    single = f"    {real} y[1];\n{call}    return y[0];\n}}"
    labels = answer.labels if isinstance(answer, Choice) else ()
    more = (
        [] if probable is None else probability_functions(probable, len(labels), name, real, argument, call)
    )
    match answer:
        case Numbers(alone=True):
            return [
                f"/* The predicted number. */\nstatic inline {real} {name}_predict({argument}) {{\n{single}"
            ]
        case Numbers():
            about = f"/* The {k} predicted numbers, into y. */\n"
            return [f"{about}static inline void {name}_predict({argument}, {real} y[{k}]) {{\n{call}}}"]
        case Choice(labels) if len(labels) == 2:
            return [
                f"/* Above 0 speaks for class 1, else for class 0. */\n"
                f"static inline {real} {name}_decision({argument}) {{\n{single}",
                "/* The class, 0 or 1; -1 if a feature is not a number. */\n"
                f"static inline int {name}_predict({argument}) {{\n"
                f"    {real} y[1];\n{call}    return y[0] > 0 ? 1 : y[0] <= 0 ? 0 : -1;\n}}",
                *more,
            ]
        case Choice():
            return [
                "/* One number for each class, into y: the largest wins. */\n"
                f"static inline void {name}_decision({argument}, {real} y[{k}]) {{\n{call}}}",
                "/* The class with the largest number, of equal ones the first; -1 if a feature is not a "
                "number. */\n"
                f"static inline int {name}_predict({argument}) {{\n"
                f"    {real} y[{k}];\n    int k, best = 0;\n{call}"
                f"    for (k = 1; k < {k}; ++k) if (y[k] > y[best]) best = k;\n"
                "    return y[best] == y[best] ? best : -1;\n}",
                *more,
            ]
