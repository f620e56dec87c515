"""An explanation for a notebook: what the columns of a row add, as bars, and all of it in tables to open."""

from __future__ import annotations

import numpy as np

from sleek.model.effect_words import number_in_words, signed_in_words
from sleek.model.explanation import LEAST_EFFECT, MOST_EFFECTS, SHOWN_ROWS, Explanation
from sleek.report.html_report import in_notebook
from sleek.report.svg import say


def explanation_html(explanation: Explanation, tables: str) -> str:
    """The bars of the first rows; `tables` are those of all that is known."""
    rows = range(min(len(explanation), SHOWN_ROWS))
    cards = [_card(explanation, row) for row in rows] if explanation.effects is not None else []
    inner = f'<div class="grid">{"".join(cards)}</div>' if cards else ""
    opened = "" if cards else " open"
    return in_notebook(f"{inner}<details{opened}><summary>In numbers</summary>{tables}</details>")


def _card(explanation: Explanation, row: int) -> str:
    """One row: what is predicted, and what each column adds to one output."""
    found = explanation.effects
    assert found is not None
    order = np.argsort(-explanation.outputs[row], kind="stable")
    first, against = int(order[0]), ""
    values = found.values[row, :, first]
    if len(order) > 1 and explanation.predictions.ndim == 1:  # the winner and the runner-up
        values = values - found.values[row, :, int(order[1])]
        against = f", against {say(explanation.output_names[int(order[1])].removeprefix('for '))}"
    mean = number_in_words(float(found.mean[first]))
    note = f"{say(explanation.output_names[first])}{against}" if len(order) > 1 else f"average {mean}"
    most = float(np.abs(values).max()) or 1.0
    lines = []
    for i in np.argsort(-np.abs(values), kind="stable")[:MOST_EFFECTS].tolist():
        if abs(values[i]) >= LEAST_EFFECT * most:
            lines.append(_line(explanation.effect_name(row, found.names[i]), float(values[i]), most))
    predicted = say(explanation.prediction(row).strip("'"))
    return (
        f'<div class="card"><p class="eyebrow">Row {row}</p><p class="prediction">{predicted}</p>'
        f'<p class="toward">{note}</p>{"".join(lines)}</div>'
    )


def _line(name: str, value: float, most: float) -> str:
    wide = 50.0 * abs(value) / most
    side, left = ("up", 50.0) if value >= 0 else ("down", 50.0 - wide)
    return (
        f'<div class="reason"><span class="name" title="{say(name, 200)}">{say(name)}</span>'
        f'<span class="bar"><i class="{side}" style="left:{left:.1f}%;width:{wide:.1f}%"></i></span>'
        f'<span class="value">{signed_in_words(value)}</span></div>'
    )
