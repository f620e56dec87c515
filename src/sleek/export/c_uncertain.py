"""Probabilities and intervals in C."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from sleek._runtime.types import AnyArray
from sleek.export.c_text import literal
from sleek.export.common import narrowed
from sleek.export.uncertain import Intervals, Probabilities


def probability_functions(
    said: Probabilities, n_classes: int, name: str, real: str, argument: str, call: str
) -> list[str]:
    """The function that fills one probability for each class."""
    dtype = np.dtype(np.float64 if real == "double" else np.float32)
    f = "f" if real == "float" else ""

    def number(value: float) -> str:
        return literal(value, dtype)

    low, before, after, high = map(number, said.slopes)
    half, one, tail = number(0.5), number(1.0), number(said.tail)
    sure = f"""/* An increasing function of a class's number, of which probabilities are made. */
static inline {real} {name}_log_odds({real} y) {{
    const {real} v = y / {number(said.scale)};
    if (v > {one}) return {after} * {half} + {high} * ({half} + {tail} * (v - {one}) / v);
    if (v > {number(0.0)}) return {after} * (v - {half} * v * v) + {high} * {half} * v * v;
    if (v < -{one}) return -{before} * {half} - {low} * ({half} + {tail} * (v + {one}) / v);
    return {before} * (v + {half} * v * v) - {low} * {half} * v * v;
}}"""
    head = (
        "/* The probability of each class, into p. */\n"
        f"static inline void {name}_probabilities({argument}, {real} p[{n_classes}]) {{\n"
    )
    if n_classes == 2:
        body = f"""    {real} y[1];
{call}    y[0] = {name}_log_odds(y[0]) - {name}_log_odds(-y[0]);
    p[0] = {one} / ({one} + exp{f}(y[0]));
    p[1] = {one} / ({one} + exp{f}(-y[0]));
}}"""
    else:
        body = f"""    {real} y[{n_classes}], most, total = {number(0.0)};
    int k;
{call}    for (k = 0; k < {n_classes}; ++k) y[k] = {name}_log_odds(y[k]);
    most = y[0];
    for (k = 1; k < {n_classes}; ++k) if (y[k] > most) most = y[k];
    for (k = 0; k < {n_classes}; ++k) total += y[k] = exp{f}(y[k] - most);
    for (k = 0; k < {n_classes}; ++k) p[k] = y[k] / total;
}}"""
    return [sure, head + body]


def interval_arrays(said: Intervals, dtype: DTypeLike) -> dict[str, AnyArray]:
    """The constants of an interval, by name; the triangle of the leverage row by row."""
    found = {"half": said.half, "size_constant": said.constant, "size_low": said.low, "size_high": said.high}
    if said.weights is not None:
        found["size_weights"] = said.weights
    if said.leverage is not None:
        found["leverage"] = said.leverage.factor[np.tril_indices(len(said.leverage.factor))]
        found["leverage_center"] = said.leverage.center
    return {key: narrowed(key, array, dtype) for key, array in found.items()}


def interval_function(
    said: Intervals,
    sizes: tuple[int, int],
    name: str,
    real: str,
    argument: str,
    prepare: str,
    units: Callable[[], str],
) -> str:
    """The function that fills lower and upper ends; `sizes` are the numbers of units and outputs."""
    m, k = sizes
    dtype, f = np.dtype(np.float64 if real == "double" else np.float32), "f" if real == "float" else ""
    declared, leverage = f"    {real} u[{m}];\n    int j, k;\n", ""
    wider = ""
    if said.leverage is not None:
        one = literal(1.0 + said.leverage.least, dtype)
        declared = f"    {real} u[{m}], v, wider = {one};\n    int i, j, k, t = 0;\n"
        leverage = f"""    for (j = 0; j < {m}; ++j) {{
        v = -{name}_leverage_center[j];
        for (i = 0; i <= j; ++i) v += {name}_leverage[t++] * u[i];
        wider += v * v;
    }}
    wider = sqrt{f}(wider);
"""
        wider = " * wider"
    size = ""
    if said.weights is not None:
        size = f"        for (j = 0; j < {m}; ++j) s += {name}_size_weights[j][k] * u[j];\n"
    what = "the number is" if k == 1 else "each number is"
    return f"""{units()}

/* Ends between which {what} with a probability of {said.level:g}, into ends: lower and upper. */
static inline void {name}_interval({argument}, {real} ends[{2 * k}]) {{
{declared}{prepare}    {name}_units(x, u);
{leverage}    for (k = 0; k < {k}; ++k) {{
        {real} y = {name}_b[k], s = {name}_size_constant[k];
        for (j = 0; j < {m}; ++j) y += {name}_theta[j][k] * u[j];
{size}        if (s < {name}_size_low[k]) s = {name}_size_low[k];
        if (s > {name}_size_high[k]) s = {name}_size_high[k];
        s = {name}_half[k] * exp{f}(s){wider};
        ends[2 * k] = y - s;
        ends[2 * k + 1] = y + s;
    }}
}}"""
