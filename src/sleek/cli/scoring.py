"""How good predictions are, as plain values and as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from sleek._runtime.types import AnyArray
from sleek.cli.output import plain, short
from sleek.model.kernel_model import KernelModel

MOST_SHOWN = 12  # classes of a confusion table on the screen


def score(model: KernelModel, y: AnyArray, predicted: AnyArray) -> dict[str, Any]:
    """The errors of predictions: of classes, or of numbers."""
    return (
        _number_scores(y, predicted) if model.classes is None else _class_scores(model.classes, y, predicted)
    )


def _number_scores(y: AnyArray, predicted: AnyArray) -> dict[str, Any]:
    residuals = y - predicted
    variance = float(np.var(y))
    mean_square = float(np.mean(residuals**2))
    return {
        "rows": len(y),
        "rmse": float(np.sqrt(mean_square)),
        "mae": float(np.mean(np.abs(residuals))),
        "r2": 1.0 - mean_square / variance if variance > 0 else None,
    }


def _class_scores(classes: AnyArray, y: AnyArray, predicted: AnyArray) -> dict[str, Any]:
    """Confusion counts with a line for each class of the rows, also for those the model does not know."""
    known = classes.tolist()
    actual, said = y.tolist(), predicted.tolist()
    labels = known + sorted(set(actual) - set(known), key=str)
    place = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(known)), dtype=np.int64)
    np.add.at(counts, ([place[label] for label in actual], [place[label] for label in said]), 1)
    right = np.diagonal(counts)
    return {
        "rows": len(y),
        "error": 1.0 - float(right.sum() / len(y)),
        "accuracy": float(right.sum() / len(y)),
        "classes": known,
        "per_class": [
            {
                "class": label,
                "rows": int(counts[number].sum()),
                "recall": _share(right[number], counts[number].sum()) if number < len(known) else 0.0,
                "precision": _share(right[number], counts[:, number].sum()) if number < len(known) else None,
                "predicted": counts[number].tolist(),
            }
            for number, label in enumerate(labels)
        ],
    }


def _share(part: int, whole: int) -> float | None:
    return float(part / whole) if whole else None


def show_scores(scores: dict[str, Any], console: Console) -> None:
    """The scores for people."""
    if "rmse" in scores:
        r2 = "" if scores["r2"] is None else f", R² {scores['r2']:.3f}"
        console.print(
            f"{scores['rows']:,} rows: RMSE {short(scores['rmse'])}, "
            f"mean absolute error {short(scores['mae'])}{r2}"
        )
        return
    mistakes = round(scores["error"] * scores["rows"])
    console.print(
        f"{scores['rows']:,} rows: {100 * scores['accuracy']:.1f} % right, {mistakes:,} mistakes "
        "(lines: actual, columns: predicted)"
    )
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("actual", style="bold")
    shown = scores["classes"][:MOST_SHOWN]
    for label in shown:
        table.add_column(plain(str(label)), justify="right")
    for heading in ("rows", "recall", "precision"):
        table.add_column(heading, justify="right", style="dim")
    for line in scores["per_class"]:
        label = line["class"]
        cells = [
            Text(
                str(count) if count else "·",
                style="bold green" if other == label else "red" if count else "dim",
            )
            for other, count in zip(shown, line["predicted"], strict=False)
        ]
        table.add_row(
            plain(str(label)),
            *cells,
            str(line["rows"]),
            _percent(line["recall"]),
            _percent(line["precision"]),
        )
    console.print(table)
    if len(scores["classes"]) > MOST_SHOWN:
        console.print(f"({len(scores['classes']) - MOST_SHOWN} more columns with --json)")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
