"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], rest: str = "---:") -> list[str]:
    """The lines of a table and an empty one; its first column to the left, the others as `rest` says.

    >>> print("\\n".join(table(["method", "error"], [["SVM", "2.5"]])))
    | method | error |
    |---|---:|
    | SVM | 2.5 |
    <BLANKLINE>
    """
    rule = "|".join(["---", *[rest] * (len(header) - 1)])
    return [f"| {' | '.join(header)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows), ""]
