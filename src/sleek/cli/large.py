"""`sleek fit` and `sleek predict` on files that do not fit into memory, on folders and on patterns."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from contextlib import closing, redirect_stdout
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np

from sleek import Files
from sleek._runtime.checks import check_n_jobs
from sleek._runtime.memory import machine_memory
from sleek._runtime.progress import Display
from sleek._runtime.threads import Workers
from sleek.cli.applying import Wanted
from sleek.cli.errors import InputError, blaming
from sleek.cli.training import Choices, FitReport, estimator_for, notes_of
from sleek.model.kernel_model import KernelModel
from sleek.report.expected import expected_error
from sleek.report.units import inputs_of
from sleek.rows.files.batches import chunks
from sleek.rows.files.columns import values_in, wanted_columns
from sleek.rows.rows import Run
from sleek.tables.target import CLASSIFICATION, MOST_CLASSES, REGRESSION
from sleek.tables.values import Numbers

SHARE = 0.05  # of the memory: a file of text takes up to ten times its size while it is read and fitted
COMPRESSED = 5  # times as large is a file when it is unpacked
ENDINGS = (".parquet", ".pq", ".gz")


def is_large(path: str) -> bool:
    """Whether a path is better read in pieces: a folder, a pattern, or a file of some size."""
    place = Path(path)
    if place.is_dir() or (has_magic(path) and not place.exists()):
        return True
    if not place.is_file():
        return False
    size = place.stat().st_size * (COMPRESSED if path.lower().endswith(ENDINGS) else 1)
    return size > SHARE * (machine_memory() or 2**33)


def train_large(path: str, choices: Choices, display: Display) -> FitReport:
    """Learn a model from files, in memory that does not grow with the rows."""
    if choices.test is not None:
        raise InputError("--test needs a table that fits into memory: hold out files instead.")
    if choices.missing is not None:
        raise InputError("--missing needs a table that fits into memory.")
    with blaming(path):
        files = _files(path, choices)
        task = choices.task or _task(files, choices.target)
        display(f"fitting {files!r}")
        estimator = estimator_for(task, choices)
        with redirect_stdout(sys.stderr), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            estimator.fit(files)
    model = replace(estimator.model_, metadata={"target": choices.target})
    facts = model.facts
    assert facts is not None  # a fit always states them
    values = {
        "task": task,
        "target": choices.target,
        "classes": estimator.classes_.tolist() if task == CLASSIFICATION else None,
        "rows": facts.n_rows,
        "columns": len(inputs_of(model).columns),
        "features": model.n_features,
        "parts": [{"basis": part.basis.name, "units": len(part)} for part in model.parts],
        "units": model.n_units,
        "C": model.C,
        "expected": expected_error(model.outputs, facts),
    }
    told = [note for note in getattr(estimator, "column_notes_", []) if "left out" not in note]
    return FitReport(model, inputs_of(model), values, [*told, *notes_of(heard, estimator.n_iter_)])


def _files(path: str, choices: Choices) -> Files:
    first = Files(path, target=choices.target, weight=choices.weight)
    columns = list(choices.columns or first.features)
    for name in (*columns, *choices.drop, *choices.categories):
        first.tables[0].column(name)
    kept = [name for name in columns if name not in choices.drop]
    return Files(
        path,
        target=choices.target,
        weight=choices.weight,
        columns=kept,
        categories=[name for name in choices.categories if name in kept] or None,
    )


def _task(files: Files, target: str) -> str:
    """Whether the first rows' targets look like classes or like numbers."""
    with closing(chunks(wanted_columns(files, None, [target]))) as found:
        first = next(found, None)
    if first is None:
        raise InputError(f"There are no rows in {files.named_files}.")
    values = values_in(first.batch, target, files, words=False)
    if not isinstance(values, Numbers):
        return CLASSIFICATION
    y = values.array[~np.isnan(values.array)] if values.array.dtype.kind == "f" else values.array
    return CLASSIFICATION if len(np.unique(y)) <= MOST_CLASSES and (y == np.round(y)).all() else REGRESSION


def predict_large(
    model: KernelModel, path: str, output: Path | None, keep: Sequence[str], jobs: int, wanted: Wanted
) -> int:
    """Predict files into a file, in memory that does not grow with the rows; the number of rows."""
    if output is None:
        raise InputError(f"{path} is read in pieces: name a file for the predictions with -o.")
    with blaming(path):
        if model.inputs is not None:
            rows: Any = Files(path, columns=list(model.inputs.names)).read_by(model.inputs)
        else:
            rows = Files(path, columns=list(model.names_of_features))
        said = model.saying(wanted.proba, wanted.interval)
        return int(rows.write(said, output, list(keep), Run(Workers(check_n_jobs(jobs)))))
