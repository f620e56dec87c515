"""`sleek show`: a model in words, or all its numbers as JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from sleek.model.kernel_model import KernelModel
from sleek.report.model_words import text_of
from sleek.report.shown import inputs_of


def show_model(model: KernelModel, console: Console, everything: bool = False) -> None:
    """Print what the model is, what each column does, and its numbers."""
    console.print(text_of(model, console.width, everything), soft_wrap=True)


def model_as_json(model: KernelModel) -> dict[str, Any]:
    """All numbers of the model as plain values."""
    inputs = inputs_of(model)
    facts = None if model.facts is None else model.facts.to_json()
    return {
        "outputs": {"kind": model.outputs.kind, **model.outputs.to_json()},
        "columns": [column.name for column in inputs.columns],
        "features": list(inputs.feature_names),
        "parts": [
            {
                "basis": part.basis.name,
                "units": {name: array.tolist() for name, array in part.units.arrays.items()},
            }
            for part in model.parts
        ],
        "theta": model.theta.tolist(),
        "b": model.b.tolist(),
        "C": model.C,
        "facts": facts,
        "effects": _effects_as_json(model),
        "constraints": None if model.constraints is None else model.constraints.to_json(),
        "metadata": dict(model.metadata),
    }


def _effects_as_json(model: KernelModel) -> dict[str, Any] | None:
    """The mean, shares and curves; None if distributions of columns are not known."""
    if model.facts is None or model.facts.distributions is None:
        return None
    effects = model.effects()
    return {
        "mean": effects.mean.tolist(),
        "shares": [
            {"columns": [name] if isinstance(name, str) else list(name), "share": share}
            for name, share in effects.shares.items()
        ],
        "curves": {
            name: {
                "values": [value if isinstance(value, str | float) else str(value) for value in curve.values],
                "outputs": curve.outputs.tolist(),
                "weights": curve.weights.tolist(),
            }
            for name, curve in effects.curves.items()
        },
    }
