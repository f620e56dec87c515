"""`sleek report`: a model as a page to look at, to try out and to pass on."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sleek.cli import options as opt
from sleek.cli.exits import InputError, blaming

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel
    from sleek.report.measured import Measured

ENDINGS = (".html", ".htm", ".md")
MARK, HEAD = b'"sleek-model"', 200  # which a model's file has at its beginning


def report(
    model: opt.ModelFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write: report.html, or report.md.")
    ],
    data: Annotated[
        Path | None,
        typer.Argument(help="Rows with their true values, to measure the model on; or a newer model."),
    ] = None,
    target: opt.TrueTargetName = None,
    decimal: opt.Decimal = None,
    include_rows: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Put the first N rows of the data into the page, for what if.",
        ),
    ] = 0,
) -> None:
    """Write a model as one page: how good it is, what each column does, and what if.

    The page opens from disk, needs no network and reads without JavaScript.
    It carries the model and binned counts of its training rows, and no rows unless asked for.

    [bold]Examples[/bold]
    sleek report model.json -o report.html
    sleek report model.json test.csv -o report.html
    sleek report model.json test.csv --include-rows 20 -o report.html
    sleek report old.json new.json -o changes.html
    """
    from sleek._runtime.progress import Display
    from sleek.cli.output import check_output, is_standard_output, say_notes, write_bytes
    from sleek.report.included_rows import check_include_rows

    if output.suffix.lower() not in ENDINGS and not is_standard_output(output):
        raise InputError(f"{output} must end in {', '.join(ENDINGS)} to say what to write.")
    if data is not None:
        opt.one_stdin(model, data)
    there_are_rows = data is not None and not _is_model(data)
    try:
        check_include_rows(include_rows, there_are_rows, output.suffix.lower() != ".md")
    except ValueError as error:
        raise InputError(str(error)) from None
    check_output(output, model, *([] if data is None else [data]))
    notes: list[str] = []
    with Display() as display:
        display(f"reading {opt.name_in_messages(model)}")
        from sleek.cli.models import load_model
        from sleek.report.report_files import KINDS

        found, measured, old = load_model(str(model)), None, None
        if data is not None and not there_are_rows:
            old, found = found, load_model(str(data))
        elif data is not None:
            display(f"measuring on {opt.name_in_messages(data)}")
            measured, notes = measure_file(found, data, target, decimal, include_rows)
        kind = KINDS.get(output.suffix.lower(), KINDS[".html"])
        content = kind(found, measured, old).encode("utf-8")
    write_bytes(content, output)
    say_notes(notes)


def _is_model(path: Path) -> bool:
    """Whether a file is a model, and no table."""
    if opt.is_stream(path) or not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK in file.read(HEAD)


def measure_file(
    model: KernelModel, data: Path, target: str | None, decimal: str | None, include_rows: int
) -> tuple[Measured, list[str]]:
    """What the rows of a file say of a model, and notes."""
    from sleek.cli.data import all_cores, files_for, note_missing_targets, notes_on_rows, path_of, target_of
    from sleek.report.measured import measure_rows
    from sleek.rows.rows import Run

    name = target_of(model, target)
    with path_of(data) as path, blaming(path), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        files, rows = files_for(model, path, decimal, target=name, drop_missing_targets=True)
        run = Run(all_cores(), strangers={})
        measured = measure_rows(model, rows, run, include_rows)
        notes = notes_on_rows(files, model, run, heard)
        notes += note_missing_targets(files, name, measured.scores["rows"])
    return measured, notes
