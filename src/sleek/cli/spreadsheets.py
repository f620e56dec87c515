"""CSV files for spreadsheets, which take a text that begins with ``=`` or ``@`` for a formula to be run."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from sleek.cli.exits import InputError

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # beginnings of what may be run
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def check_spreadsheet(path: Path | None) -> None:
    """Refuse other files than plain text."""
    if path is not None and path.suffix.lower() not in ("", ".csv", ".tsv"):
        raise InputError(f"--spreadsheet writes a .csv or .tsv file, got {path}.")


def guard_file(path: Path) -> Path:
    """The table in a file beside it, with an apostrophe before every text that a spreadsheet could run."""
    guarded = path.with_name(f"guarded{path.suffix}")
    with (
        path.open(encoding="utf-8", newline="") as source,
        guarded.open("w", encoding="utf-8", newline="") as target,
    ):
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
        writer.writerows([_guard(cell) for cell in row] for row in csv.reader(source, delimiter=delimiter))
    return guarded


def _guard(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) and not NUMBER.fullmatch(cell) else cell
