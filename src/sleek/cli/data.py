"""The data of a command: a file, a folder, a pattern or standard input, all of them read as `Files`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sleek import Files
from sleek._runtime.counting import are, how_many
from sleek._runtime.threads import Workers
from sleek.cli.exits import InputError, called
from sleek.cli.options import is_stream
from sleek.cli.process import own_process
from sleek.cli.signals import interrupts
from sleek.model.kernel_model import KernelModel
from sleek.model.rows_to_predict import expected_by
from sleek.rows.predicting import Expected, open_features
from sleek.rows.rows import Rows, Run


@contextmanager
def path_of(data: Path) -> Iterator[str]:
    """Where the data are: standard input is written to a temporary file, which can be read more than once.

    Ctrl-C ends the work at once, unless that file has to go first.
    """
    own_process.spare_pandas()
    if not is_stream(data):
        yield str(data)
        return
    with tempfile.NamedTemporaryFile(prefix="sleek-") as spool, interrupts.raised():
        shutil.copyfileobj(sys.stdin.buffer, spool)
        spool.flush()
        called[spool.name] = "standard input"
        yield spool.name


def all_cores() -> Workers:
    """A thread for each core that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Workers(cores or 1)


# -- the rows that a model reads -----------------------------------------------------------------------------


def expected_of(model: KernelModel) -> Expected:
    """The columns that a model reads, by name; those of bare arrays are called x0, x1, …"""
    expected = expected_by(model)
    if expected.names is not None:
        return expected
    return Expected(model.names_of_features, model.n_features, model.n_features, None, expected.typical)


def files_for(
    model: KernelModel, path: str, decimal: str | None = None, **options: Any
) -> tuple[Files, Rows]:
    """Files as a model's were read when it was fitted, and their rows with its features."""
    expected, mark = expected_of(model), decimal or model.metadata.get("decimal")
    missing = model.metadata.get("missing")
    target, weight = options.get("target"), options.get("weight")
    if weight in expected.columns.names:
        raise InputError(f"The model reads {weight!r} itself: it cannot be the weight too.")
    classes = getattr(model.outputs, "classes", None)
    words = target is not None and classes is not None and classes.dtype.kind not in "iufb"
    files = Files(
        path,
        columns=list(expected.columns.names),
        categories=[str(target)] if words else None,
        missing=[str(word) for word in missing] if isinstance(missing, list) else None,
        decimal=str(mark) if mark in (".", ",") else None,
        **options,
    )
    return files, open_features(files, expected)


def target_of(model: KernelModel, name: str | None) -> str:
    """The column that a model predicts: the one that is named, or that of the fit."""
    name = name or model.metadata.get("target")
    if not isinstance(name, str):
        raise InputError("The model does not say which column it predicts: name it with --target.")
    if model.outputs.reads == "numbers" and model.outputs.n_outputs > 1:
        raise InputError("A model of several outputs cannot be evaluated here: use its predictions.")
    if name in expected_of(model).columns.names:
        raise InputError(f"The model reads {name!r} itself: name the column of true values with --target.")
    return name


# -- what a user should know besides the result --------------------------------------------------------------


def as_note(sentence: str) -> str:
    """A warning as a note.

    >>> as_note("Column 'a': 2 missing values.")
    "column 'a': 2 missing values"
    """
    return f"{sentence[0].lower()}{sentence[1:].rstrip('.')}"


def notes_on_rows(files: Files, model: KernelModel, run: Run, heard: Sequence[Any]) -> list[str]:
    """What is strange about rows to predict: in their files, in their columns, and what was warned of."""
    strangers = run.strangers or {}
    columns = [column for column in expected_of(model).columns.columns if column.name in strangers]
    found = [
        note
        for column in columns
        for note in strangers[column.name].notes(column.name, column.fill_in_words, everything=True)
    ]
    return [*files.notes, *found, *(as_note(str(warning.message)) for warning in heard)]


def note_missing_targets(files: Files, name: str, n_rows: int) -> list[str]:
    """How many rows are left out because they have no target, of which `n_rows` have one."""
    gone = files.count() - n_rows
    return [f"{how_many(gone, 'row')} without a value of {name!r} {are(gone)} left out"] if gone else []
