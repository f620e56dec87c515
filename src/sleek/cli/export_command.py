"""`sleek export`: its arguments, options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from sleek.cli import options as opt


def export(
    model: opt.ModelFile,
    to: opt.ExportTo = None,
    output: opt.ProgramOutput = None,
    name: Annotated[str | None, typer.Option(help="What to call the function, graph or result.")] = None,
    table: Annotated[str | None, typer.Option(help="SQL: the table to select from.")] = None,
    dialect: Annotated[str | None, typer.Option(help="SQL: the database's dialect.")] = None,
    dtype: Annotated[str | None, typer.Option(help="C and ONNX: float32 or float64.")] = None,
    proba: opt.Proba = False,
    interval: opt.Interval = None,
) -> None:
    """Write a model as a program that needs no sleek.

    [bold]Examples[/bold]
    sleek export model.json --to sql --table patients
    sleek export model.json -o model.h
    sleek export model.json -o model.onnx
    """
    from sleek.cli.applying import load_model
    from sleek.cli.exporting import kind_of, program
    from sleek.cli.output import check_output, write_bytes

    kind = kind_of(None if to is None else to.value, output)
    check_output(output, model)
    options = {"name": name, "table": table, "dialect": dialect, "dtype": dtype}
    more = {"interval": interval, "proba": proba or None}
    write_bytes(program(load_model(str(model)), kind, options | more), output)
