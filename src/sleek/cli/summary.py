"""What `sleek fit` prints."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from sleek.cli.output import STDOUT, plain, short
from sleek.tables.columns import CategoryColumn, Inputs
from sleek.tables.target import REGRESSION

LABELS_SHOWN = 8


def show_fit(report: dict[str, Any], inputs: Inputs, console: Console) -> None:
    """The summary for people."""
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for name, text in _lines(report, inputs).items():
        grid.add_row(name, text)
    console.print(grid)


def _lines(report: dict[str, Any], inputs: Inputs) -> dict[str, str]:
    lines = {
        "target": _target(report),
        "rows": f"{report['rows']:,}",
        "inputs": _inputs(inputs),
        "model": f"{report['units']} {report['basis']} units, fitted in {report['seconds']:.1f} s",
        "expected error": _expected(report),
    }
    if "test" in report:
        lines["held out rows"] = _tested(report)
    if report["file"] not in (None, STDOUT):
        lines["written to"] = f"{plain(report['file'])} ({report['bytes'] / 1000:.1f} kB)"
    return lines


def _target(report: dict[str, Any]) -> str:
    name = plain(report["target"])
    if report["task"] == REGRESSION:
        return f"{name}, a number"
    labels = [plain(str(label)) for label in report["classes"]]
    listed = ", ".join(labels[:LABELS_SHOWN]) + (", …" if len(labels) > LABELS_SHOWN else "")
    return f"{name}, {len(labels)} classes: {listed}"


def _inputs(inputs: Inputs) -> str:
    """How many columns of which kind, and how many features they make."""
    levels = [len(column.levels) for column in inputs.columns if isinstance(column, CategoryColumn)]
    numbers = len(inputs.columns) - len(levels)
    parts = [_count(numbers, "number", "numbers")] if numbers else []
    if levels:
        word = _count(len(levels), "category", "categories")
        parts.append(f"{word} of {_count(sum(levels), 'level', 'levels')}")
    return " and ".join(parts)


def _count(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _expected(report: dict[str, Any]) -> str:
    """The leave-one-out error beside that of a model that always says the same."""
    error, baseline = report["loo_error"], report["baseline_error"]
    if report["task"] == REGRESSION:
        r2 = 1.0 - error / baseline
        return (
            f"RMSE {short(error**0.5)}, R² {r2:.3f} (leave-one-out; always the mean: {short(baseline**0.5)})"
        )
    return f"{100 * error:.1f} % (leave-one-out; always the largest class: {100 * baseline:.1f} %)"


def _tested(report: dict[str, Any]) -> str:
    test = report["test"]
    if report["task"] == REGRESSION:
        r2 = "" if test["r2"] is None else f", R² {test['r2']:.3f}"
        return f"RMSE {short(test['rmse'])}{r2} ({test['rows']:,} rows)"
    return f"{100 * test['error']:.1f} % error ({test['rows']:,} rows)"
