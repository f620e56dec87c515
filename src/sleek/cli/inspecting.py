"""`sleek inspect`: what is in a table, before anything is fitted."""

from __future__ import annotations

from typing import Annotated

import typer

from sleek._runtime.counting import how_many
from sleek._runtime.progress import Display
from sleek.cli import options as opt

LOOKED_AT = 100_000  # rows of a table that is looked at


def inspect(
    data: opt.DataFile,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="The column to predict: which columns explain it, and leaks."),
    ] = None,
    missing: opt.Missing = None,
    decimal: opt.Decimal = None,
    as_json: opt.AsJson = False,
) -> None:
    """Look at a table before fitting: columns, kinds, gaps, levels, ids, leaks.

    Of files that are large, or many, at most 100,000 rows drawn at random are looked at.
    With a target, "alone" is the share of its variance that a column explains by itself in held-out folds.

    [bold]Examples[/bold]
    sleek inspect houses.csv
    sleek inspect patients.csv --target outcome
    """
    with Display() as display:
        display(f"reading {opt.name_in_messages(data)}")
        from sleek.cli.data import path_of
        from sleek.cli.exits import blaming
        from sleek.rows.files.files import Files
        from sleek.rows.files.sampling import sample_files
        from sleek.tables.column_looks import look_at

        with path_of(data) as path, blaming(path):
            missing_words = opt.words(missing)
            words = None if missing_words is None else list(missing_words)
            table = sample_files(Files(path, missing=words, decimal=decimal), LOOKED_AT)
            if target is not None:
                table.files.tables[0].column(target)
            looks = look_at(table.columns, table.unusable, target)
        n_rows, notes = table.n_rows, [*table.files.notes, *looks.notes]
    from rich.table import Table as RichTable
    from rich.text import Text

    from sleek._runtime.counting import plain
    from sleek.cli.output import print_json, say_notes, screen
    from sleek.report.words import percent

    if as_json:
        columns = [look.to_json() for look in looks.columns]
        print_json({"rows": n_rows, "looked_at": len(table.columns), "columns": columns, "notes": notes})
        return
    say_notes(notes)
    console = screen()
    some = (
        "" if len(table.columns) == n_rows else f"; what follows is of {len(table.columns):,} drawn at random"
    )
    console.print(f"{how_many(n_rows, 'row')}, {how_many(len(looks.columns), 'column')}{some}")
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
    for look in looks.columns:
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
