"""`sleek show`: the units of a model as a table, one line each, in the user's units of measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from sleek._runtime.types import FloatArray
from sleek.bases.base import Basis
from sleek.bases.distance import DistanceBasis
from sleek.bases.formula import expression
from sleek.cli.applying import inputs_of
from sleek.cli.output import plain, short, signed
from sleek.model.kernel_model import KernelModel
from sleek.tables.columns import CategoryColumn, Column, Inputs

ENOUGH = 6  # columns shown even if they do not fit side by side
HIDDEN = 8  # names of columns that are not shown
WIDEST = 24  # characters of a cell
FLAT = 0.95  # a unit that keeps this much three deviations away from its centre does not look at a column
FAINT = 0.05  # a slope that changes a unit's argument by less than this per deviation is not worth printing
NOTHING = "·"
WRITTEN = {
    "add": "({} + {})".format,
    "subtract": "({} - {})".format,
    "multiply": "{}·{}".format,
    "negate": "-{}".format,
    "absolute": "|{}|".format,
    "exp": "exp({})".format,
    "tanh": "tanh({})".format,
    "maximum": "max({}, {})".format,
}


@dataclass(frozen=True)
class Part:
    """A column of the printed table: a heading, and one cell for each unit."""

    heading: str
    cells: list[str]

    @property
    def width(self) -> int:
        """Characters on the screen, with the gap to the next column."""
        return 2 + min(WIDEST, max(cell_len(text) for text in (self.heading, *self.cells)))


def show_model(model: KernelModel, console: Console, everything: bool = False) -> None:
    """Print the model's sum and its units, heaviest first, with the columns of most influence."""
    inputs = inputs_of(model)
    influence = numbers_of(model, "influence")
    order = sorted(range(len(inputs.columns)), key=lambda i: -influence.get(inputs.columns[i].name, 0.0))
    heaviest = np.argsort(-np.abs(model.theta).max(axis=1), kind="stable").tolist()
    names, *weights = _weight_parts(model)
    blocks = _blocks(names, weights, [column_part(model, inputs, i) for i in order], console.width)
    console.print(f"{len(model.units)} {model.basis.name} units: {_head(model)}\n")
    shown = 0 if not everything else len(blocks)
    while shown < len(blocks) and sum(len(block) - 1 for block in blocks[:shown]) < ENOUGH + len(weights):
        shown += 1
    for block in blocks[:shown]:
        console.print(_table(block, heaviest))
        console.print()
    hidden = [part.heading for block in blocks[shown:] for part in block[1:]]
    for sentence in _legend(model, hidden, bool(influence)):
        console.print(sentence, style="dim")


def model_as_json(model: KernelModel) -> dict[str, Any]:
    """All numbers of the model as plain values."""
    return {
        "basis": model.basis.name,
        "classes": None if model.classes is None else model.classes.tolist(),
        "features": list(inputs_of(model).feature_names),
        "theta": model.theta.tolist(),
        "b": model.b.tolist(),
        "C": model.C,
        "units": {name: array.tolist() for name, array in model.units.arrays.items()},
        "metadata": dict(model.metadata),
    }


def numbers_of(model: KernelModel, key: str) -> dict[str, float]:
    """Numbers by column from the metadata, which anybody may have written."""
    found = model.metadata.get(key)
    items = found.items() if isinstance(found, Mapping) else ()
    return {name: float(value) for name, value in items if isinstance(value, int | float)}


def column_part(model: KernelModel, inputs: Inputs, number: int) -> Part:
    """What each unit says about a column of the data."""
    column = inputs.columns[number]
    begin = sum(len(other.feature_names) for other in inputs.columns[:number])
    place = slice(begin, begin + len(column.feature_names))
    return Part(plain(column.name), _cells(model, column, place))


def _cells(model: KernelModel, column: Column, place: slice) -> list[str]:
    distances = isinstance(model.basis, DistanceBasis)
    if isinstance(column, CategoryColumn):
        levels = [plain(level) for level in column.levels]
        say = _best_levels if distances else _extreme_levels
        return [say(strengths, levels) for strengths in _level_strengths(model, place)]
    deviation = numbers_of(model, "deviation").get(column.name, 0.0)
    return _centers(model, place.start, deviation) if distances else _slopes(model, place.start, deviation)


def _centers(model: KernelModel, feature: int, deviation: float) -> list[str]:
    """Centre ± half-width, or a dot if the unit hardly changes within three deviations."""
    basis, units = model.basis, model.units
    assert isinstance(basis, DistanceBasis)
    centers, shapes = units["centers"][:, feature], units["shapes"][:, feature]
    away = basis.profile(shapes * (3.0 * deviation) ** basis.power)
    with np.errstate(divide="ignore"):
        widths = (half_distance(basis) / shapes) ** (1.0 / basis.power)
    flat = (shapes == 0) | ((away > FLAT) & (deviation > 0))
    return [
        NOTHING if ignored else f"{short(center)} ± {short(width)}"
        for center, width, ignored in zip(centers, widths, flat, strict=True)
    ]


def half_distance(basis: DistanceBasis) -> float:
    """The distance Z at which a unit is half of what it is at its centre, by bisection.

    >>> from sleek import GaussianRBF, Simplex
    >>> round(half_distance(GaussianRBF()), 4), round(half_distance(Simplex()), 4)
    (0.6931, 0.5)
    """
    low, high = 0.0, 64.0
    half = 0.5 * float(basis.profile(np.zeros(1))[0])
    for _ in range(60):
        middle = 0.5 * (low + high)
        if float(basis.profile(np.array([middle]))[0]) > half:
            low = middle
        else:
            high = middle
    return high


def _slopes(model: KernelModel, feature: int, deviation: float) -> list[str]:
    """The unit's numbers for a feature, or a dot if all of them are small for what the feature does."""
    numbers = np.stack([array[:, feature] for array in _by_feature(model).values()], axis=1)
    faint = (np.abs(numbers).max(axis=1) * deviation < FAINT) & (deviation > 0)
    return [
        NOTHING if ignored else " / ".join(map(signed, values))
        for values, ignored in zip(numbers.tolist(), faint, strict=True)
    ]


def _level_strengths(model: KernelModel, place: slice) -> FloatArray:
    """(units, levels): for distances, the share of a unit that is left relative to its best level."""
    basis, units = model.basis, model.units
    if not isinstance(basis, DistanceBasis):
        return next(iter(_by_feature(model).values()))[:, place]
    centers, shapes = units["centers"][:, place], units["shapes"][:, place]
    levels = np.eye(centers.shape[1])
    Z = np.einsum("ml,mkl->mk", shapes, np.abs(levels - centers[:, None, :]) ** basis.power)
    return basis.profile(Z - Z.min(axis=1, keepdims=True))


def _best_levels(strengths: FloatArray, levels: list[str]) -> str:
    """The levels at which at least half of a unit is left; if that is all of them, the best and the worst.

    >>> _best_levels(np.array([1.0, 0.1, 0.2]), ["red", "blue", "green"])
    'red'
    >>> _best_levels(np.array([1.0, 0.1, 0.6]), ["red", "blue", "green"])
    'not blue'
    >>> _best_levels(np.array([1.0, 0.9, 0.8]), ["red", "blue", "green"])
    'red > green ×0.8'
    """
    kept = [level for level, strength in zip(levels, strengths, strict=True) if strength >= 0.5]
    lost = [level for level in levels if level not in kept]
    if strengths.min() > FLAT:
        return NOTHING
    if not lost:
        return (
            f"{levels[int(strengths.argmax())]} > {levels[int(strengths.argmin())]} ×{short(strengths.min())}"
        )
    return f"not {', '.join(lost)}" if len(lost) < len(kept) else ", ".join(kept)


def _extreme_levels(strengths: FloatArray, levels: list[str]) -> str:
    """The levels that raise a unit's argument most and least, and by how much they differ.

    >>> _extreme_levels(np.array([1.0, 0.1, -0.6]), ["red", "blue", "green"])
    'red > green 1.6'
    """
    best, worst = int(strengths.argmax()), int(strengths.argmin())
    difference = float(strengths[best] - strengths[worst])
    return NOTHING if difference < FAINT else f"{levels[best]} > {levels[worst]} {short(difference)}"


def _by_feature(model: KernelModel) -> dict[str, FloatArray]:
    """The units' arrays that have a number for every feature."""
    return {name: array for name, array in model.units.arrays.items() if array.ndim == 2}


def _weight_parts(model: KernelModel) -> list[Part]:
    """The units' names, what they weigh, and what else is one number per unit."""
    numbers = [
        Part(name, [short(value) for value in array])
        for name, array in model.units.arrays.items()
        if array.ndim == 1
    ]
    names = Part("unit", [str(j) for j in range(len(model.units))])
    if len(model.b) == 1:
        return [names, Part("weight", [signed(weight) for weight in model.theta[:, 0]]), *numbers]
    labels = _output_names(model)
    most, least = model.theta.argmax(axis=1), model.theta.argmin(axis=1)
    return [
        names,
        Part("most for", [f"{labels[k]} {model.theta[j, k]:+.2g}" for j, k in enumerate(most)]),
        Part("most against", [f"{labels[k]} {model.theta[j, k]:+.2g}" for j, k in enumerate(least)]),
        *numbers,
    ]


def _output_names(model: KernelModel) -> list[str]:
    if model.classes is None:
        return [str(k) for k in range(len(model.b))]
    return [plain(str(label)) for label in model.classes.tolist()]


def _head(model: KernelModel) -> str:
    target = plain(str(model.metadata.get("target", "y")))
    labels = _output_names(model)
    if len(model.b) == 1:
        sum_of_units = f"{short(model.b[0])} + Σ weight · unit"
        return (
            f"{target} = {sum_of_units}"
            if model.classes is None
            else f"{target} is {labels[1]} where {sum_of_units} > 0, else {labels[0]}"
        )
    constants = ", ".join(f"{label} {b:+.2g}" for label, b in zip(labels, model.b, strict=True))
    rule = "is the class with the largest" if model.classes is not None else "are"
    return f"{target} {rule} b + Σ weight · unit; b: {constants}"


def _blocks(names: Part, weights: list[Part], parts: list[Part], room: int) -> list[list[Part]]:
    """Parts side by side, as many as there is room for: the names in each block, the weights in the first."""
    blocks = [[names, *weights]]
    for number, part in enumerate(parts):
        if number and sum(other.width for other in (*blocks[-1], part)) > room:
            blocks.append([names])
        blocks[-1].append(part)
    return blocks


def _table(parts: list[Part], units: list[int]) -> RichTable:
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for part in parts:
        table.add_column(Text(part.heading), no_wrap=True, overflow="ellipsis", max_width=WIDEST)
    for j in units:
        texts = [part.cells[j] for part in parts]
        table.add_row(*(Text(text, style="dim" if text == NOTHING else "") for text in texts))
    return table


def _legend(model: KernelModel, hidden: list[str], ordered: bool) -> list[str]:
    sentences = []
    if isinstance(model.basis, DistanceBasis):
        sentences.append(
            f"centre ± distance at which the unit is half as strong; {NOTHING} it does not matter"
        )
        if any(isinstance(column, CategoryColumn) for column in inputs_of(model).columns):
            sentences.append("levels: at least half as strong there; a > b ×0.8: at b 0.8 as strong as at a")
    else:
        names = " / ".join(_by_feature(model))
        sentences.append(f"{_formula(model.basis)}{names} in the columns; {NOTHING} too small to matter")
    if ordered:
        sentences.append("columns in the order of their influence: what shuffling one does to the outputs")
    if hidden:
        listed = ", ".join(hidden[:HIDDEN]) + (", …" if len(hidden) > HIDDEN else "")
        sentences.append(f"not shown without --all: {listed}")
    return sentences


def _formula(basis: Basis) -> str:
    """What a unit computes, if the basis has a formula.

    >>> from sleek import Sigmoidal
    >>> _formula(Sigmoidal())
    'unit = tanh(z), z = offsets + Σ slopes·x; '
    """
    if basis.formula is None:
        return ""
    start, term, profile = (
        expression(part).fold(str, WRITTEN)
        for part in (basis.formula.start, basis.formula.term, basis.formula.profile)
    )
    return f"unit = {profile}, z = {start} + Σ {term}; "
