"""`sleek explain`: its arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sleek.cli import options as opt
from sleek.cli.exits import InputError


def explain(
    model: opt.ModelFile,
    place: Annotated[
        str | None, typer.Argument(help="A row of a file: data.csv:17.", metavar="FILE:ROW")
    ] = None,
    row: opt.RowValues = None,
    everything: Annotated[bool, typer.Option("--all", help="Units and slopes too.")] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Say why the model predicts what it does for a row.

    What each column adds to the average, the largest first. Then the reasons in a sentence,
    the smallest change of one column that would flip a decision, and whether values are unusual.

    [bold]Examples[/bold]
    sleek explain model.json data.csv:17
    sleek explain model.json --row 'age=41,colour=red' --json
    """
    from sleek.cli import explaining
    from sleek.cli.models import load_model
    from sleek.cli.output import print_json, screen

    if (row is None) == (place is None):
        raise InputError("Name one row: data.csv:17 for a row of a file, or --row age=41,colour=red.")
    opt.one_stdin(model, Path((place or "").rpartition(":")[0]))
    found = load_model(str(model))
    x = explaining.row_of_text(found, row) if row is not None else explaining.row_of_file(found, place or "")
    explanation = found.explain(x)
    if as_json:
        print_json(explaining.explanation_as_json(found, explanation))
    else:
        explaining.show_explanation(found, explanation, screen(), everything)
