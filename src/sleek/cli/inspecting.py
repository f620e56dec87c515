"""`sleek inspect`: what is in a table, before anything is fitted."""

from __future__ import annotations

from typing import Annotated

import typer

from sleek._runtime.progress import Display
from sleek.cli import options as opt


def inspect(
    data: opt.DataFile,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="The column to predict: what foretells it, and leaks."),
    ] = None,
    missing: opt.Missing = None,
    as_json: opt.AsJson = False,
) -> None:
    """Look at a table before fitting: columns, kinds, gaps, levels, ids, leaks.

    With a target, "alone" is the share of its variance that a column foretells by itself in rows left out.

    [bold]Examples[/bold]
    sleek inspect houses.csv
    sleek inspect patients.csv --target outcome
    """
    with Display() as display:
        display(f"reading {opt.called(data)}")
        from sleek.tables.inspecting import look_at
        from sleek.tables.open import read_table

        table = read_table(str(data), opt.words(missing))
        if target is not None:
            table.require([target])
        looks = look_at(table, target)
    from rich.table import Table as RichTable
    from rich.text import Text

    from sleek.cli.output import print_json, say_notes, screen
    from sleek.report.words import percent, plain

    if as_json:
        print_json(
            {"rows": table.n_rows, "columns": [look.to_json() for look in looks], "notes": table.notes}
        )
        return
    say_notes(table.notes)
    console = screen()
    console.print(f"{table.n_rows:,} rows, {len(looks)} columns")
    shown = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in (
        "column",
        "kind",
        "missing",
        "different",
        *(["alone"] if target else []),
        "values",
        "remark",
    ):
        shown.add_column(heading, justify="right" if heading in ("missing", "different", "alone") else "left")
    for look in looks:
        alone = "" if look.foretells is None else percent(look.foretells)
        cells = [
            look.name,
            look.kind,
            f"{look.missing:,}",
            f"{look.different:,}",
            *([alone] if target else []),
        ]
        shown.add_row(*(Text(plain(cell)) for cell in (*cells, look.values[:40], look.remark)))
    console.print(shown)
