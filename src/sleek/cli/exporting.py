"""`sleek export`: a saved model as a program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sleek._runtime.packages import need
from sleek.cli import options as opt
from sleek.cli.exits import InputError, blaming

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel

ENDINGS = {".onnx": "onnx", ".h": "c", ".sql": "sql", ".py": "python", ".mjs": "javascript"}
OPTIONS = {
    "onnx": ("name", "dtype", "interval"),
    "c": ("name", "dtype", "interval"),
    "sql": ("name", "table", "dialect", "keep", "proba", "interval"),
    "python": ("name", "interval"),
    "javascript": ("interval",),
}


def export(
    model: opt.ModelFile,
    to: opt.ExportTo = None,
    output: opt.ProgramOutput = None,
    name: Annotated[str | None, typer.Option(help="What to call the function, graph or result.")] = None,
    table: Annotated[str | None, typer.Option(help="SQL: the table to select from.")] = None,
    dialect: Annotated[str | None, typer.Option(help="SQL: the database's dialect.")] = None,
    keep: Annotated[
        str | None, typer.Option(help="SQL: columns of the table to pass on: id,name; '*' for all.")
    ] = None,
    dtype: Annotated[str | None, typer.Option(help="C and ONNX: float32 or float64.")] = None,
    proba: opt.Proba = False,
    interval: opt.Interval = None,
) -> None:
    """Write a model as a program that needs no sleek.

    [bold]Examples[/bold]
    sleek export model.json --to sql --table patients --keep id
    sleek export model.json -o model.h
    sleek export model.json -o model.onnx
    """
    from sleek.cli.models import load_model
    from sleek.cli.output import check_output, say_notes, write_bytes

    kind = kind_of(None if to is None else to.value, output)
    check_output(output, model)
    options = {"name": name, "table": table, "dialect": dialect, "dtype": dtype}
    kept = opt.fields(keep) if keep is not None and keep != "*" else keep
    more = {"keep": kept, "interval": interval, "proba": proba or None}
    write_bytes(program(load_model(str(model)), kind, options | more), output)
    if kind == "sql" and dialect is not None:
        from sleek.export.dialects import DIALECTS

        say_notes(DIALECTS[dialect].hints)


def kind_of(kind: str | None, path: Path | None) -> str:
    """The language asked for, or that of the file's ending."""
    if kind is None:
        kind = ENDINGS.get(path.suffix.lower()) if path is not None else None
        if kind is None:
            raise InputError(f"Say --to {', '.join(OPTIONS)}, or let -o end in {', '.join(ENDINGS)}.")
    from sleek.cli.output import is_standard_output

    if kind == "onnx" and (path is None or is_standard_output(path)):
        raise InputError("ONNX is not text: name a file with -o model.onnx.")
    return kind


def program(model: KernelModel, kind: str, options: dict[str, Any]) -> bytes:
    """The bytes of the program, with those options that are not None."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in OPTIONS[kind]:
            takers = ", ".join(taker for taker, names in OPTIONS.items() if name in names)
            raise InputError(f"--{name} is for {takers}, not for {kind}.")
    with blaming(f"export to {kind}"):
        if kind == "onnx":
            return _onnx(model, given)
        from sleek.export import to_c, to_javascript, to_python, to_sql

        writers: dict[str, Callable[..., str]] = {
            "c": to_c,
            "javascript": to_javascript,
            "python": to_python,
            "sql": to_sql,
        }
        return writers[kind](model, **given).encode("utf-8")


def _onnx(model: KernelModel, options: dict[str, Any]) -> bytes:
    need("onnx", "onnx", "Export to ONNX")
    from sleek.export import to_onnx

    return bytes(to_onnx(model, **options).SerializeToString())
