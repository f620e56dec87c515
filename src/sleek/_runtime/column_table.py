"""Tables as dicts of columns that notebooks show as tables."""

from __future__ import annotations

from html import escape
from itertools import zip_longest
from typing import Any

from sleek._runtime.counting import how_many, plain

MOST_LINES = 60  # of a table in a notebook
LONGEST = 80  # characters of a cell


class ColumnTable(dict[str, list[Any]]):
    """A dict of lists, the columns of a table, that a notebook shows as a table.

    It is a dict in every other way: ``pandas.DataFrame(table)`` reads it, it prints and compares as a dict.

    >>> table = ColumnTable(basis=["linear", "curves"], loss=[0.5, 0.25])
    >>> table == {"basis": ["linear", "curves"], "loss": [0.5, 0.25]}
    True
    >>> table._repr_html_().count("<tr>")
    3
    """

    def _repr_html_(self) -> str:
        lines = [*zip_longest(*self.values(), fillvalue="")]
        if not lines:
            return "<p>An empty table.</p>"
        body = [_line("td", line) for line in lines[:MOST_LINES]]
        more = len(lines) - MOST_LINES
        rest = f"<p>… and {how_many(more, 'more row')}</p>" if more > 0 else ""
        return f"<table>{_line('th', [*self])}{''.join(body)}</table>{rest}"


def _line(tag: str, cells: Any) -> str:
    return f"<tr>{''.join(f'<{tag}>{_cell(cell)}</{tag}>' for cell in cells)}</tr>"


def _cell(value: Any) -> str:
    """A number in few digits, what is not a number as nothing, any other text on one line."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    text = plain(str(value))
    return escape(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")
