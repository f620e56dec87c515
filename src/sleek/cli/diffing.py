"""`sleek diff`: what changed from one model to another, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sleek.cli import options as opt

DIFFERENT = 1


def diff(
    model: Annotated[Path, typer.Argument(help="The model as it was.", metavar="OLD")],
    data: Annotated[Path, typer.Argument(help="The model as it is.", metavar="NEW")],
    as_json: opt.AsJson = False,
) -> None:
    """Say what changed from one model to another, in words.

    Size, error, columns, curves, units, and how often decisions flip on the training distribution.
    Exit codes are those of diff: 0 if both are the same, 1 if they differ, 2 if something is wrong.

    [bold]Examples[/bold]
    sleek diff yesterday.json today.json
    sleek diff model.json edited.json --json
    """
    from sleek.cli.models import load_model
    from sleek.cli.output import print_json, screen
    from sleek.report.comparison import compare

    opt.one_stdin(model, data)
    found = compare(load_model(str(model)), load_model(str(data)))
    if as_json:
        told = {"identical": found.identical, "changed": found.changed, "moved": found.moved}
        print_json(told | {"sentences": found.sentences})
    else:
        screen().print(str(found), soft_wrap=True)
    if not found.identical:
        raise typer.Exit(DIFFERENT)
