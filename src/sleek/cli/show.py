"""`sleek show`: the units of a model as tables, one for each part, one line for each unit."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from sleek.model.kernel_model import KernelModel
from sleek.report.expected import expected_error, in_words
from sleek.report.shown import inputs_of
from sleek.report.units import NOTHING, PrintedColumn, View, by_unit, columns_of, legend_of
from sleek.report.words import plain, short, signed

ENOUGH = 6  # columns shown even if they do not fit side by side
HIDDEN = 8  # names of columns that are not shown
MOST_INFLUENCES = 8
WIDEST = 24  # characters of a cell that is no sentence


def show_model(model: KernelModel, console: Console, everything: bool = False) -> None:
    """Print what the model adds up and its units, heaviest first, with the columns of most influence."""
    view = View.of(model)
    target = str(model.metadata.get("target", "y"))
    if model.expansion.name == "linear" and len(model.b) == 1:
        console.print(f"a linear model: {plain(model.outputs.rule(target, _equation(model), model.b))}")
        if model.facts is not None:
            console.print(f"expected error {in_words(expected_error(model.outputs, model.facts))}")
        return
    b = short(model.b[0]) if len(model.b) == 1 else "b"
    rule = model.outputs.rule(target, f"{b} + Σ weight · unit", model.b)
    console.print(f"{model.expansion}: {plain(rule)}")
    if model.facts is not None:
        console.print(f"expected error {in_words(expected_error(model.outputs, model.facts))}")
    categories = any(column.words for column in view.columns)
    sentences: list[str] = []
    for part, place in zip(model.parts, model.expansion.places(), strict=True):
        units, *weights = _weights(model, place) + [
            PrintedColumn(name, list(map(short, numbers)))
            for name, numbers in by_unit(part.basis, part.units).items()
        ]
        blocks = _blocks(units, weights, columns_of(part.basis, part.units, view), console.width)
        heaviest = np.argsort(-np.abs(model.theta[place]).max(axis=1), kind="stable").tolist()
        shown = len(blocks) if everything else _enough(blocks, len(weights))
        console.print(f"\n{part}" if len(model.parts) > 1 else "")
        for number, block in enumerate(blocks[:shown]):
            if number:
                console.print()
            console.print(_table(block, heaviest))
        sentences += legend_of(part.basis, part.units, categories)
        sentences += _not_shown([column for block in blocks[shown:] for column in block[1:]])
    if model.facts is not None:
        sentences.append("columns in the order of their influence: what shuffling one does to the outputs")
        sentences.append(f"influence: {_influences(model, everything)}")
    console.print()
    for sentence in dict.fromkeys(sentences):
        console.print(sentence, style="dim")


def _influences(model: KernelModel, everything: bool) -> str:
    """How much each column matters, as a share of all, the most first."""
    assert model.facts is not None
    influence, names = model.facts.influence, inputs_of(model).names
    order = np.argsort(-influence, kind="stable")
    shown = order if everything else order[:MOST_INFLUENCES]
    shares = influence / (influence.sum() or 1.0)
    said = ", ".join(f"{plain(names[i])} {100 * shares[i]:.0f} %" for i in shown)
    return said + ("" if len(shown) == len(order) else f" and {len(order) - len(shown)} more")


def _equation(model: KernelModel) -> str:
    """A linear model of one output written out, what a standard deviation changes most first."""
    theta, units = model.theta[:, 0], model.parts[0].units
    slopes = theta @ units["slopes"]
    effects = np.abs(slopes) * (1.0 if model.facts is None else model.facts.deviation)
    names = inputs_of(model).feature_names
    terms = [
        f"{'+' if slopes[i] > 0 else '-'} {short(abs(slopes[i]))}·{names[i]}" for i in np.argsort(-effects)
    ]
    return " ".join([short(model.b[0] + theta @ units["offsets"]), *terms])


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
        "metadata": dict(model.metadata),
    }


def _weights(model: KernelModel, place: slice) -> list[PrintedColumn]:
    """The numbers of a part's units, counted through all parts, and what they weigh."""
    theta = model.theta[place]
    units = PrintedColumn("unit", [str(j) for j in range(place.start, place.stop)])
    if len(model.b) == 1:
        return [units, PrintedColumn("weight", list(map(signed, theta[:, 0])))]
    words = [plain(word) for word in model.outputs.words]

    def told(outputs: list[int]) -> list[str]:
        return [f"{words[k]} {theta[j, k]:+.2g}" for j, k in enumerate(outputs)]

    return [
        units,
        PrintedColumn("most for", told(theta.argmax(axis=1).tolist())),
        PrintedColumn("most against", told(theta.argmin(axis=1).tolist())),
    ]


def _blocks(
    units: PrintedColumn, weights: list[PrintedColumn], columns: list[PrintedColumn], room: int
) -> list[list[PrintedColumn]]:
    """Columns side by side as there is room: the units' numbers in each block, weights in the first."""
    blocks = [[units, *weights]]
    for number, column in enumerate(columns):
        if number and sum(map(_width, (*blocks[-1], column))) > room:
            blocks.append([units])
        blocks[-1].append(column)
    return blocks


def _enough(blocks: list[list[PrintedColumn]], n_weights: int) -> int:
    """How many blocks have the columns that are always shown."""
    shown = 0
    while shown < len(blocks) and sum(len(block) - 1 for block in blocks[:shown]) < ENOUGH + n_weights:
        shown += 1
    return shown


def _width(column: PrintedColumn) -> int:
    """Characters on the screen, with the gap to the next column."""
    return 2 + min(WIDEST, max(cell_len(text) for text in (column.heading, *column.cells)))


def _table(columns: list[PrintedColumn], units: list[int]) -> RichTable:
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        if column.wraps:
            table.add_column(Text(column.heading), overflow="fold")
        else:
            table.add_column(Text(column.heading), no_wrap=True, overflow="ellipsis", max_width=WIDEST)
    for j in units:
        texts = [column.cells[j] for column in columns]
        table.add_row(*(Text(text, style="dim" if text == NOTHING else "") for text in texts))
    return table


def _not_shown(columns: list[PrintedColumn]) -> list[str]:
    if not columns:
        return []
    listed = ", ".join(column.heading for column in columns[:HIDDEN])
    return [f"not shown without --all: {listed}{', …' if len(columns) > HIDDEN else ''}"]
