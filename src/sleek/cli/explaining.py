"""`sleek show --row` and `--explain`: why the model says what it says for one row."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from sleek._runtime.types import FloatArray, IntArray
from sleek.cli.applying import missing_words
from sleek.cli.errors import InputError
from sleek.cli.options import fields
from sleek.cli.show import WIDEST
from sleek.model.explanation import Explanation
from sleek.model.kernel_model import KernelModel
from sleek.report.shown import Shown, inputs_of, shown_as
from sleek.report.words import plain, short, signed
from sleek.tables.columns import NumberColumn
from sleek.tables.errors import suggestion
from sleek.tables.open import STDIN, read_table
from sleek.tables.using import features_of

BAR = 12  # characters of the longest bar
MOST = 12  # units and columns shown
LEVELS = 6  # of a category


def row_of_text(model: KernelModel, text: str) -> FloatArray:
    """The features of ``name=value,name=value``; columns that are not named count as missing."""
    inputs = inputs_of(model)
    columns = {column.name: column for column in inputs.columns}
    table: dict[str, list[Any]] = {name: [None] for name in columns}
    for item in fields(text):
        name, mark, value = item.partition("=")
        if not mark or name not in columns:
            hint = suggestion(name, list(columns))
            raise InputError(f"--row needs column=value with a column of the model, got {item!r}.{hint}")
        if not isinstance(columns[name], NumberColumn):
            table[name] = [value]
            continue
        try:
            table[name] = [float(value)]
        except ValueError:
            raise InputError(f"--row: column {name!r} needs a number, got {value!r}.") from None
    try:
        x: FloatArray = inputs.transform(table)[0]
    except ValueError as error:
        raise InputError(f"--row: {error}") from None
    return x


def row_of_file(model: KernelModel, place: str) -> FloatArray:
    """The features of row ``file:number``, counted from 1 below the column names."""
    path, mark, number = place.rpartition(":")
    if not mark or not number.isdecimal():
        raise InputError(f"--explain needs file:row, such as data.csv:1, got {place!r}.")
    from sleek.cli.large import is_large, row_of

    if is_large(path) and path != STDIN:
        found, number = row_of(model, path, int(number)), "1"
    else:
        found = read_table(path, missing_words(model))
    if not 1 <= int(number) <= found.n_rows:
        raise InputError(f"{found.source} has rows 1 to {found.n_rows}, got {number}.")
    x: FloatArray = features_of(found, inputs_of(model))[0][int(number) - 1 : int(number)][0]
    return x


def explanation_as_json(explanation: Explanation) -> dict[str, Any]:
    """The explanation of a row as plain values."""
    slopes = explanation.slopes
    return {
        "prediction": np.asarray(explanation.predictions[0]).tolist(),
        "outputs": dict(zip(explanation.output_names, explanation.outputs[0].tolist(), strict=True)),
        "b": explanation.b.tolist(),
        "units": explanation.units[0].tolist(),
        "contributions": explanation.contributions[0].tolist(),
        "features": dict(zip(explanation.feature_names, explanation.rows[0].tolist(), strict=True)),
        "slopes": None if slopes is None else slopes[0].tolist(),
    }


def show_explanation(model: KernelModel, explanation: Explanation, console: Console) -> None:
    """The row's sum, heaviest unit first, and what other values would change, most telling column first."""
    outputs = explanation.outputs[0]
    best = np.argsort(-outputs, kind="stable")[:2]  # of several classes the winner and the runner-up
    console.print(f"prediction: {_prediction(explanation)}\n", style="bold")
    if len(outputs) == 1:
        target = str(model.metadata.get("target", "y"))
        console.print(f"{plain(model.outputs.rule(target, 'the sum', model.b))}\n")
    console.print(_sum_table(explanation, best))
    console.print()
    console.print(_change_table(model, explanation, int(best[0])))


def _prediction(explanation: Explanation) -> str:
    said = np.atleast_1d(explanation.predictions[0]).tolist()
    return ", ".join(short(value) if isinstance(value, float) else plain(str(value)) for value in said)


def _sum_table(explanation: Explanation, best: IntArray) -> RichTable:
    parts = explanation.contributions[0][:, best]  # (m, 1 or 2)
    order = np.argsort(-np.abs(parts).max(axis=1), kind="stable")
    table = _table("", "value", *(explanation.output_names[k] for k in best))
    table.add_column("")
    top = np.abs(parts).max() or 1.0
    for j in order[:MOST]:
        value = short(explanation.units[0, j])
        table.add_row(f"unit {j}", value, *map(signed, parts[j]), _bar(parts[j, 0] / top))
    if len(order) > MOST:
        table.add_row(f"{len(order) - MOST} more", "", *map(signed, parts[order[MOST:]].sum(axis=0)))
    table.add_row("b", "", *map(signed, explanation.b[best]))
    table.add_row("sum", "", *map(signed, explanation.outputs[0, best]), style="bold")
    return table


def _change_table(model: KernelModel, explanation: Explanation, output: int) -> RichTable:
    """What other values of a column would do to the sum: per unit of a number, or at each level."""
    table = _table("column", "value")
    table.add_column(f"change of the sum {plain(explanation.output_names[output])}", overflow="fold")
    inputs = inputs_of(model)
    lines = [
        _change(model, explanation, shown, output)
        for column, place in zip(inputs.columns, inputs.places, strict=True)
        for shown in shown_as(column, place)
    ]
    for _, *cells in sorted(lines, key=lambda line: -line[0])[:MOST]:
        table.add_row(*cells)
    return table


def _change(
    model: KernelModel, explanation: Explanation, column: Shown, output: int
) -> tuple[float, str, str, str]:
    """How much a column matters here, its name, its value, and the changes in words."""
    x, place = explanation.rows[0], column.place
    name, value = plain(column.name), column.value(x)
    if not column.words:
        if explanation.slopes is None:
            return 0.0, name, value, ""
        slope = explanation.slopes[0, output, place.start]
        typical = 1.0 if model.facts is None else float(model.facts.deviation[place.start])
        return abs(slope) * typical, name, value, f"{signed(slope)} per {column.unit.strip(' s') or 'unit'}"
    others = np.repeat(x[None], len(column.words), axis=0)
    others[:, place] = column.table
    changes = model.outputs_unchecked(others)[:, output] - explanation.outputs[0, output]
    said = [
        f"{plain(level)} {signed(change)}"
        for level, change in sorted(zip(column.words, changes, strict=True), key=lambda pair: -abs(pair[1]))
        if plain(level) != value
    ]
    more = ", …" if len(said) > LEVELS else ""
    return float(np.abs(changes).max()), name, value, ", ".join(said[:LEVELS]) + more


def _table(first: str, *headings: str) -> RichTable:
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first, no_wrap=True, overflow="ellipsis", max_width=WIDEST)
    for heading in headings:
        table.add_column(plain(heading), justify="right", no_wrap=True, overflow="ellipsis", max_width=WIDEST)
    return table


def _bar(share: float) -> Text:
    return Text("█" * round(BAR * abs(share)), style="green" if share > 0 else "red")
