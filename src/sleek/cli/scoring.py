"""What `sleek evaluate` prints."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from sleek._runtime.counting import how_many, plain
from sleek.report.words import percent, short

MOST_SHOWN = 12  # classes of a confusion table on the screen
NEVER_SEEN = "(never seen)"


def show_scores(scores: dict[str, Any], console: Console) -> None:
    """The scores for people."""
    console.print(
        f"{headline(scores)}{'' if 'per_class' not in scores else ' (lines: actual, columns: predicted)'}"
    )
    for interval in scores.get("intervals", ()):
        console.print(interval_in_words(**interval))
    if "per_class" not in scores:
        return
    console.print(_confusion(scores))
    if len(scores["classes"]) > MOST_SHOWN:
        console.print(f"({len(scores['classes']) - MOST_SHOWN} more columns with --json)")
    if scores.get("auc") is not None:
        positive = plain(str(scores["classes"][1]))
        console.print(
            f"AUC {scores['auc']:.3f}, average precision {scores['average_precision']:.3f} (for {positive})"
        )
    if "log_loss" in scores:
        console.print(f"probabilities: log loss {scores['log_loss']:.3f}, Brier score {scores['brier']:.3f}")


def interval_in_words(level: float, coverage: float, width: float) -> str:
    """How many rows intervals hold.

    >>> interval_in_words(0.9, 0.913, 2.5)
    '90 % intervals hold 91.3 % of the rows, mean width 2.5'
    """
    return f"{100 * level:g} % intervals hold {percent(coverage)} of the rows, mean width {short(width)}"


def headline(scores: dict[str, Any]) -> str:
    """How good predictions are on one line.

    >>> headline({"rows": 1000, "accuracy": 0.952, "error": 0.048})
    '1,000 rows: 95.2 % right, 4.8 % wrong'
    >>> headline({"rows": 90, "weight": 120.0, "rmse": 0.25, "mae": 0.125, "r2": 0.9})
    '90 rows of weight 120: RMSE 0.25, mean absolute error 0.125, R² 0.900'
    """
    weight = f" of weight {short(scores['weight'])}" if "weight" in scores else ""
    if "rmse" in scores:
        r2 = "" if scores["r2"] is None else f", R² {scores['r2']:.3f}"
        said = f"RMSE {short(scores['rmse'])}, mean absolute error {short(scores['mae'])}{r2}"
        if "deviance" in scores:
            said = f"mean {scores['loss']} {short(scores['deviance'])}; {said}"
    elif "accuracy" in scores:
        said = f"{percent(scores['accuracy'])} right, {percent(scores['error'])} wrong"
    else:
        said = f"score {short(scores['score'])}"
    return f"{how_many(scores['rows'], 'row')}{weight}: {said}"


def _confusion(scores: dict[str, Any]) -> RichTable:
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("actual", style="bold")
    shown = scores["classes"][:MOST_SHOWN]
    for label in shown:
        table.add_column(plain(str(label)), justify="right")
    for heading in ("weight" if "weight" in scores else "rows", "recall", "precision"):
        table.add_column(heading, justify="right", style="dim")
    for number, line in enumerate(scores["per_class"]):
        table.add_row(
            plain(str(line["class"])),
            *(_cell(count, other == number) for other, count in enumerate(line["predicted"][:MOST_SHOWN])),
            short(line["total"]),
            percent(line["recall"]),
            percent(line["precision"]),
        )
    if "never_seen" in scores:
        line = scores["never_seen"]
        table.add_row(
            NEVER_SEEN, *(_cell(n, False) for n in line["predicted"][:MOST_SHOWN]), short(line["total"])
        )
    return table


def _cell(count: float, right: bool) -> Text:
    text = f"{count:,}" if isinstance(count, int) else short(count)
    return Text(text if count else "·", style="bold green" if right else "red" if count else "dim")
