"""`sleek explain`: the explanation of one prediction, as text and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from sleek._runtime.counting import plain
from sleek._runtime.types import FloatArray
from sleek.cli.exits import InputError, blaming
from sleek.cli.options import fields
from sleek.cli.process import own_process
from sleek.model.explanation import Explanation
from sleek.model.kernel_model import KernelModel
from sleek.report.shown import inputs_of
from sleek.report.words import percent, short, with_sign
from sleek.tables.columns import DateColumn, NumberColumn
from sleek.tables.errors import suggestion

BAR = 12  # characters of the longest bar
MOST = 12  # effects, units and columns shown
WIDEST = 40  # characters of a cell that is no sentence


def row_of_text(model: KernelModel, text: str) -> FloatArray:
    """The features of ``name=value,name=value``; columns that are not named count as missing."""
    inputs = inputs_of(model)
    columns = {column.name: column for column in inputs.columns}
    if any(isinstance(column, DateColumn) for column in inputs.columns):  # which pyarrow reads
        own_process.spare_pandas()
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
    from sleek.cli.data import files_for, path_of  # here: what shows a model reads no files

    path, mark, number = place.rpartition(":")
    if not mark or not number.isdecimal():
        raise InputError(f"A row is named as file:row, such as data.csv:1, got {place!r}.")
    wanted, there = int(number) - 1, 0
    with path_of(Path(path)) as place, blaming(path):
        _, rows = files_for(model, place)
        for chunk in rows.chunks(None, True):
            if wanted < there + len(chunk) and wanted >= 0:
                x: FloatArray = chunk.X[wanted - there : wanted - there + 1][0]
                return x
            there += len(chunk)
    raise InputError(f"{path} has rows 1 to {there}, got {number}.")


def explanation_as_json(model: KernelModel, explanation: Explanation) -> dict[str, Any]:
    """The explanation of a row as plain values."""
    slopes = explanation.slopes
    return {
        "prediction": np.asarray(explanation.predictions[0]).tolist(),
        "probabilities": _probabilities(model, explanation),
        "outputs": dict(zip(explanation.output_names, explanation.outputs[0].tolist(), strict=True)),
        "effects": _effects_as_json(explanation),
        "reasons": [
            {"column": reason.column, "value": _plain_value(reason.value), "effect": reason.effect}
            for reason in explanation.reasons[0]
        ],
        "flip": _flip_as_json(model, explanation),
        "familiar": _familiar_as_json(model, explanation),
        "b": explanation.b.tolist(),
        "units": explanation.units[0].tolist(),
        "contributions": explanation.contributions[0].tolist(),
        "features": dict(zip(explanation.feature_names, explanation.rows[0].tolist(), strict=True)),
        "slopes": None if slopes is None else slopes[0].tolist(),
    }


def show_explanation(
    model: KernelModel, explanation: Explanation, console: Console, everything: bool = False
) -> None:
    """The row's sum by columns, reasons, what would flip it, what is unusual; with all, units and slopes."""
    console.print(f"prediction: {_prediction(model, explanation)}", style="bold")
    if explanation.effects is not None:
        _show_effects(model, explanation, console)
        _show_sentences(model, explanation, console)
    if everything or explanation.effects is None:
        console.print("\nby units", style="bold")
        console.print(_units_table(explanation))
        if explanation.slopes is not None:
            console.print("\nslopes: what one more of a number would add to the sum", style="bold")
            console.print(_slopes_table(explanation))


def _show_effects(model: KernelModel, explanation: Explanation, console: Console) -> None:
    outputs = explanation.outputs[0]
    best = np.argsort(-outputs, kind="stable")[:2]  # of several classes the winner and the runner-up
    names = [plain(explanation.output_names[k]) for k in best]
    target = str(model.metadata.get("target", "y"))
    if model.outputs.reads == "numbers" and len(outputs) == 1:
        names = [plain(target)]
    elif len(outputs) == 1:
        console.print(plain(model.outputs.rule(target, "the sum")))
    console.print()
    table = _table("", *names)
    table.add_column("")
    lines = explanation.effect_lines(0, MOST)
    numbers = [float(line[1 + best[0]].replace(",", "")) for line in lines[1:-1]]
    top = max(map(abs, numbers), default=0.0) or 1.0
    for number, line in enumerate(lines):
        bar = _bar(numbers[number - 1] / top) if 0 < number < len(lines) - 1 else Text("")
        style = "bold" if number == len(lines) - 1 else ""
        table.add_row(Text(plain(line[0])), *(line[1 + k] for k in best), bar, style=style)
    console.print(table)


def _show_sentences(model: KernelModel, explanation: Explanation, console: Console) -> None:
    said = []
    if explanation.reasons[0]:
        said.append(("most of all because of", ", ".join(plain(str(one)) for one in explanation.reasons[0])))
    if model.outputs.reads == "labels":
        flip = model.flip(explanation.rows[0])
        none = "no change of one column alone would change it"
        said.append(("the smallest change", none if flip is None else plain(str(flip))))
    said.append(("familiar", plain(str(model.familiar(explanation.rows[0])[0]))))
    console.print()
    for head, sentence in said:
        console.print(Text.assemble((f"{head}: ", "bold"), sentence))


def _prediction(model: KernelModel, explanation: Explanation) -> str:
    said = np.atleast_1d(explanation.predictions[0]).tolist()
    text = ", ".join(short(value) if isinstance(value, float) else plain(str(value)) for value in said)
    probabilities = _probabilities(model, explanation)
    if probabilities is None:
        return text
    return f"{text} (probability {percent(max(probabilities.values()))})"


def _probabilities(model: KernelModel, explanation: Explanation) -> dict[str, float] | None:
    """The probability of every class, if the model has any."""
    labels = list(map(str, model.outputs.labels))
    if not labels or model.calibration is None:
        return None
    return dict(zip(labels, model.predict_proba(explanation.rows)[0].tolist(), strict=True))


def _effects_as_json(explanation: Explanation) -> dict[str, Any] | None:
    found = explanation.effects
    if found is None:
        return None
    return {
        "mean": found.mean.tolist(),
        "values": [
            {"columns": [name] if isinstance(name, str) else list(name), "effect": effect.tolist()}
            for name, effect in zip(found.names, found.values[0], strict=True)
        ],
        "in_words": explanation.values[0],
    }


def _flip_as_json(model: KernelModel, explanation: Explanation) -> dict[str, Any] | None:
    if explanation.effects is None or model.outputs.reads != "labels":
        return None
    flip = model.flip(explanation.rows[0])
    if flip is None:
        return None
    return {
        "column": flip.column,
        "value": _plain_value(flip.value),
        "new_value": _plain_value(flip.new_value),
        "new_prediction": flip.new_prediction,
        "distance": flip.distance,
    }


def _familiar_as_json(model: KernelModel, explanation: Explanation) -> dict[str, Any] | None:
    if explanation.effects is None:
        return None
    found = model.familiar(explanation.rows[0])[0]
    return {"shares": found.shares, "unusual": list(found.unusual), "in_words": found.words}


def _plain_value(value: Any) -> Any:
    return str(value) if isinstance(value, np.datetime64) else value


def _units_table(explanation: Explanation) -> RichTable:
    """The units that contribute, the largest first."""
    best = np.argsort(-explanation.outputs[0], kind="stable")[:2]
    parts = explanation.contributions[0][:, best]  # (m, 1 or 2)
    order = np.argsort(-np.abs(parts).max(axis=1), kind="stable")
    table = _table("", "value", *(plain(explanation.output_names[k]) for k in best))
    table.add_column("")
    top = np.abs(parts).max() or 1.0
    for j in order[:MOST]:
        value = short(explanation.units[0, j])
        table.add_row(f"unit {j}", value, *map(with_sign, parts[j]), _bar(parts[j, 0] / top))
    if len(order) > MOST:
        table.add_row(f"{len(order) - MOST} more", "", *map(with_sign, parts[order[MOST:]].sum(axis=0)))
    table.add_row("b", "", *map(with_sign, explanation.b[best]))
    table.add_row("sum", "", *map(with_sign, explanation.outputs[0, best]), style="bold")
    return table


def _slopes_table(explanation: Explanation) -> RichTable:
    """Slopes of the features that are no levels of categories."""
    assert explanation.slopes is not None
    best = np.argsort(-explanation.outputs[0], kind="stable")[:2]
    table = _table("", "value", *(plain(explanation.output_names[k]) for k in best))
    for i, name in enumerate(explanation.words):
        if not (explanation.levels and explanation.levels[i]):
            slopes = explanation.slopes[0, best, i]
            table.add_row(Text(plain(name)), short(explanation.rows[0, i]), *map(with_sign, slopes))
    return table


def _table(first: str, *headings: str) -> RichTable:
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first, no_wrap=True, overflow="ellipsis", max_width=WIDEST)
    for heading in headings:
        table.add_column(Text(heading), justify="right", no_wrap=True, overflow="ellipsis", max_width=WIDEST)
    return table


def _bar(share: float) -> Text:
    return Text("█" * round(BAR * abs(share)), style="green" if share > 0 else "red")
