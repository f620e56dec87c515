"""The error to expect on new rows, and that of a constant prediction, as numbers and in words.

A kind of outputs of one's own can register its numbers and its words with the functions here.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from sleek._runtime.counting import plain
from sleek.kernels.column_statistics import ColumnMoments
from sleek.model.facts import Facts
from sleek.outputs.base import Outputs
from sleek.outputs.class_survey import ClassSurvey
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.labels import read_labels
from sleek.outputs.numbers import NumberOutputs
from sleek.report.words import rough, short


@singledispatch
def expected_error(outputs: Outputs, facts: Facts) -> dict[str, Any]:
    """The error to expect as plain values, its standard error, and how it was found.

    Classes: `error`, the share of mistakes. Numbers: `rmse` in the target's own units, and `r2`, the share of
    the variance that is explained; several targets have no unit in common, and `rmse` is None. Other losses:
    `deviance`, their mean, and `d2`, the share of that of the best constant that is explained.
    """
    expected = facts.expected
    return {"error": expected.value, "standard_error": expected.standard_error, "method": expected.method}


@expected_error.register
def _(outputs: NumberOutputs, facts: Facts) -> dict[str, Any]:
    expected, variance = facts.expected, float(np.mean(facts.variance))
    if outputs.wanted is not None:
        return {
            "loss": outputs.wanted.name,
            "deviance": expected.value,
            "standard_error": expected.standard_error,
            "d2": 1.0 - expected.value / variance if variance > 0 else None,
            "method": expected.method,
        }
    if outputs.n_outputs > 1:  # errors are relative to the variance of each target
        found = {"rmse": None, "standard_error": expected.standard_error, "r2": 1.0 - expected.value}
        return found | {"method": expected.method}
    rmse, deviation = outputs.reported_error(expected.value, expected.standard_error)
    return {
        "rmse": rmse,
        "standard_error": deviation,
        "r2": 1.0 - expected.value / variance if variance > 0 else None,
        "method": expected.method,
    }


@singledispatch
def baseline(outputs: Outputs, targets: Any) -> dict[str, Any]:
    """The error of always saying the same, by what a survey says of the targets; {} if not known.

    Classes: `baseline`, the label that weighs most, and `baseline_error`. Numbers: `baseline_rmse`, of the
    mean.

    >>> from sleek.outputs.labels import Labels
    >>> labels = Labels.of(np.array(["no", "yes", "no", "no"]))
    >>> baseline(ClassOutputs(labels.values), ClassOutputs.survey(labels, np.ones(4)))
    {'baseline': 'no', 'baseline_error': 0.25}
    """
    return {}


@baseline.register
def _(outputs: ClassOutputs, targets: ClassSurvey) -> dict[str, Any]:
    labels = read_labels(targets.labels) if targets.untyped else targets.labels
    most = int(np.argmax(targets.weights))
    error = 1.0 - targets.weights[most] / targets.weights.sum()
    return {"baseline": labels.tolist()[most], "baseline_error": float(error)}


@baseline.register
def _(outputs: NumberOutputs, targets: ColumnMoments) -> dict[str, Any]:
    if outputs.wanted is not None:
        return {}
    return {"baseline_rmse": float(np.sqrt(np.mean(targets.squares / targets.weight)))}


def in_words(numbers: dict[str, Any]) -> str:
    """What `expected_error`, and perhaps `baseline`, have found, on one line.

    >>> in_words({"error": 0.083, "standard_error": 0.012, "method": "leave-one-out"})
    '8.3 % ± 1.2 (leave-one-out)'
    >>> in_words({"error": 0.083, "standard_error": 0.012, "method": "rows held out",
    ...           "baseline": "no", "baseline_error": 0.12})
    '8.3 % ± 1.2 (rows held out; always saying "no" 12.0 %)'
    >>> in_words({"rmse": 2.812, "standard_error": 0.2, "r2": 0.871, "method": "refitted folds"})
    'RMSE 2.81 ± 0.2, R² 0.871 (refitted folds)'
    >>> in_words({"rmse": None, "standard_error": 0.02, "r2": 0.871, "method": "refitted folds"})
    'R² 0.871 ± 0.020, the mean over the targets (refitted folds)'
    >>> in_words({"loss": "poisson", "deviance": 0.83, "standard_error": 0.021, "d2": 0.25,
    ...           "method": "rows held out"})
    'mean poisson loss 0.83 ± 0.021, D² 0.250 (rows held out)'
    """
    details = [numbers["method"]]
    if "deviance" in numbers:
        d2 = "" if numbers["d2"] is None else f", D² {numbers['d2']:.3f}"
        name = numbers["loss"].replace("_", " ")
        name = name if name.endswith("error") else f"{name} loss"
        said = f"mean {name} {short(numbers['deviance'])} ± {rough(numbers['standard_error'])}{d2}"
    elif "rmse" in numbers and numbers["rmse"] is None:
        said = f"R² {numbers['r2']:.3f} ± {numbers['standard_error']:.3f}, the mean over the targets"
    elif "rmse" in numbers:
        r2 = "" if numbers["r2"] is None else f", R² {numbers['r2']:.3f}"
        said = f"RMSE {short(numbers['rmse'])} ± {rough(numbers['standard_error'])}{r2}"
        if numbers["r2"] is None and "baseline_rmse" in numbers:  # R² compares with the mean
            details.append(f"always saying the mean {short(numbers['baseline_rmse'])}")
    else:
        said = f"{100 * numbers['error']:.1f} % ± {100 * numbers['standard_error']:.1f}"
        if "baseline" in numbers:
            always = plain(str(numbers["baseline"]))
            details.append(f'always saying "{always}" {100 * numbers["baseline_error"]:.1f} %')
    return f"{said} ({'; '.join(details)})"
