"""What options and arguments may be, and how their texts are taken apart."""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sleek.cli.errors import InputError

Model = Annotated[Path, typer.Argument(help="A model file that [bold]sleek fit[/bold] has written, or -.")]
Data = Annotated[Path, typer.Argument(help="A CSV or Parquet file, or - for standard input.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


class Task(StrEnum):
    """What a target is."""

    classification = "classification"
    regression = "regression"


class BasisName(StrEnum):
    """The bases by name, written out so that help and completion need not import them."""

    auto = "auto"
    gaussian_rbf = "gaussian_rbf"
    sigmoidal = "sigmoidal"
    robust_rbf = "robust_rbf"
    simplex = "simplex"


class Kind(StrEnum):
    """The languages of exported programs."""

    onnx = "onnx"
    c = "c"
    sql = "sql"
    python = "python"


def names(text: str | None) -> tuple[str, ...]:
    """Names separated by commas; one that holds a comma in double quotes."""
    if text is None:
        return ()
    return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True)) if name.strip())


def check_numbers(jobs: int, test: float | None) -> None:
    """Refuse numbers that typer cannot."""
    if jobs == 0:
        raise InputError("--jobs must be a number of threads, or -1 for all cores, got 0.")
    if test is not None and not 0 < test < 1:
        raise InputError(f"--test must be a share of the rows between 0 and 1, got {test}.")


def one_stdin(model: Path, data: Path) -> None:
    """Refuse to read two things from standard input."""
    if str(model) == str(data) == "-":
        raise InputError("Model and data cannot both be standard input (-).")
