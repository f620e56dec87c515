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

    Of files that are large, or many, at most 100,000 rows drawn at random are looked at.
    With a target, "alone" is the share of its variance that a column foretells by itself in rows left out.

    [bold]Examples[/bold]
    sleek inspect houses.csv
    sleek inspect patients.csv --target outcome
    """
    with Display() as display:
        display(f"reading {opt.called(data)}")
        from sleek.cli.large import is_large, table_to_look_at
        from sleek.tables.inspecting import look_at
        from sleek.tables.open import read_table

        if not opt.is_stream(data) and is_large(str(data)):
            table, n_rows = table_to_look_at(str(data), opt.words(missing))
        else:
            table = read_table(str(data), opt.words(missing))
            n_rows = table.n_rows
        if target is not None:
            table.require([target])
        looks = look_at(table, target)
    from rich.table import Table as RichTable
    from rich.text import Text

    from sleek.cli.output import print_json, say_notes, screen
    from sleek.report.words import percent, plain

    if as_json:
        report = {"rows": n_rows, "looked_at": table.n_rows, "columns": [look.to_json() for look in looks]}
        print_json(report | {"notes": table.notes})
        return
    say_notes(table.notes)
    console = screen()
    some = "" if table.n_rows == n_rows else f"; what follows is of {table.n_rows:,} drawn at random"
    console.print(f"{n_rows:,} rows, {len(looks)} columns{some}")
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
