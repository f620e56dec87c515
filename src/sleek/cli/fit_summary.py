"""What `sleek fit` prints."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from sleek._runtime.counting import how_many, plain
from sleek.bases import known_bases
from sleek.cli.options import STANDARD
from sleek.report.expected import in_words
from sleek.report.words import percent, short
from sleek.tables.columns import DateColumn, NumberColumn, WordColumn
from sleek.tables.inputs import Inputs
from sleek.tables.target import REGRESSION

LABELS_SHOWN = 8


def show_fit(report: dict[str, Any], inputs: Inputs, console: Console) -> None:
    """The summary for people."""
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in _lines(report, inputs).items():
        grid.add_row(name, text)
    console.print(grid)


def _lines(report: dict[str, Any], inputs: Inputs) -> dict[str, str]:
    lines = {
        "target": _target(report),
        "rows": f"{report['rows']:,}",
        "inputs": _inputs(inputs),
        "model": f"{_model(report['parts'])}, fitted in {report['seconds']:.1f} s",
    }
    if "expected" in report:
        lines["expected error"] = in_words(report["expected"])
    if "test" in report:
        lines["held out rows"] = _test_scores(report["test"])
    if report["updates"] is not None:
        lines["updates"] = report["updates"]
    if report["file"] not in (None, STANDARD):
        lines["written to"] = f"{plain(report['file'])} ({report['bytes'] / 1000:.1f} kB)"
    return lines


def _model(parts: list[dict[str, Any]]) -> str:
    """How many units of which bases."""
    if [part["basis"] for part in parts] == ["linear"]:
        return f"linear in {how_many(parts[0]['units'], 'feature')}, no units"
    known = known_bases()
    return " + ".join(how_many(part["units"], known[part["basis"]]().label) for part in parts)


def _target(report: dict[str, Any]) -> str:
    name = plain(report["target"])
    if report["task"] == REGRESSION:
        return f"{name}, a number"
    labels = [plain(str(label)) for label in report["classes"]]
    listed = ", ".join(labels[:LABELS_SHOWN]) + (", …" if len(labels) > LABELS_SHOWN else "")
    return f"{name}, {len(labels)} classes: {listed}"


def _inputs(inputs: Inputs) -> str:
    """How many columns of which kind, and how many features they make."""
    levels = [len(column.levels) for column in inputs.columns if isinstance(column, WordColumn)]
    numbers = sum(isinstance(column, NumberColumn) for column in inputs.columns)
    dates = sum(isinstance(column, DateColumn) for column in inputs.columns)
    parts = [how_many(numbers, "number")] if numbers else []
    parts += [how_many(dates, "date")] if dates else []
    if levels:
        parts.append(f"{how_many(len(levels), 'category', 'categories')} of {how_many(sum(levels), 'level')}")
    return ", ".join([*parts[:-2], " and ".join(parts[-2:])])


def _test_scores(test: dict[str, Any]) -> str:
    if "rmse" in test:
        r2 = "" if test["r2"] is None else f", R² {test['r2']:.3f}"
        return f"RMSE {short(test['rmse'])}{r2} ({how_many(test['rows'], 'row')})"
    auc = "" if test.get("auc") is None else f", AUC {test['auc']:.3f}"
    return f"{percent(test['error'])}{auc} ({how_many(test['rows'], 'row')})"
