"""`sleek predict` and `sleek evaluate`: a saved model on new rows."""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sleek._runtime.atomic import appears_when_complete
from sleek.cli.data import all_cores, files_for, note_missing_targets, notes_on_rows, target_of
from sleek.cli.exits import InputError, blaming
from sleek.cli.output import is_replaced, is_standard_output
from sleek.cli.signals import interrupts
from sleek.cli.spreadsheets import guard_file
from sleek.model.kernel_model import KernelModel
from sleek.report.scores import scores_of_rows
from sleek.rows.rows import Run
from sleek.tables.endings import is_named_like_a_table
from sleek.tables.unusual import note_strangers

EVERYTHING = "*"


def predict(
    model: KernelModel,
    path: str,
    output: Path | None,
    keep: Sequence[str],
    decimal: str | None = None,
    spreadsheet: bool = False,
    **wanted: Any,
) -> list[str]:
    """Write predictions of all rows, in memory that does not grow with them; notes.

    `wanted` is what to write beside predictions (`KernelModel.prediction_columns`).
    """
    with blaming(path), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        said = model.prediction_columns(**wanted)
        files, rows = files_for(model, path, decimal)
        run = Run(all_cores(), strangers={})
        kept = list(files.tables[0].columns) if EVERYTHING in keep else list(keep)
        named = output is not None and is_named_like_a_table(output)
        if output is not None and named and is_replaced(output) and not spreadsheet:
            with interrupts.raised():
                rows.write(said, output, kept, run)
                interrupts.ignore()
        else:  # a stream gets all rows or none
            with tempfile.TemporaryDirectory() as folder, interrupts.raised():
                ending = ".tsv" if output is not None and output.suffix.lower() == ".tsv" else ".csv"
                spool = Path(folder) / f"predictions{ending}"
                rows.write(said, spool, kept, run)
                _copy(guard_file(spool) if spreadsheet else spool, output)
    return notes_on_rows(files, model, run, heard)


def _copy(spool: Path, output: Path | None) -> None:
    with spool.open("rb") as source:
        if output is None or is_standard_output(output):
            sys.stdout.flush()
            shutil.copyfileobj(source, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        if is_replaced(output):
            with appears_when_complete(output) as unfinished:
                shutil.copyfile(spool, unfinished)
            return
        try:
            with output.open("wb") as target:  # a device or a named pipe
                shutil.copyfileobj(source, target)
        except BrokenPipeError:
            raise
        except OSError as error:  # that of a full disk does not say where
            raise OSError(error.errno, error.strerror, str(output)) from error


def evaluate(
    model: KernelModel, path: str, name: str | None, weight: str | None, decimal: str | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Scores on the rows that have a target, and notes."""
    name = target_of(model, name)
    with blaming(path), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        files, rows = files_for(model, path, decimal, target=name, weight=weight, drop_missing_targets=True)
        run = Run(all_cores(), strangers={})
        scores, strangers = scores_of_rows(model, rows, run, weight is not None)
    if not np.isfinite(scores.get("rmse", 0.0)):
        raise InputError(
            f"{path}: values of the target {name!r} are too large for float64 arithmetic (their squares "
            "overflow). Express it in larger units."
        )
    notes = notes_on_rows(files, model, run, heard)
    if weight is None:
        notes += note_missing_targets(files, name, scores["rows"])
    return {"target": name, **scores}, notes + note_strangers(name, strangers)
