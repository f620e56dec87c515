"""Commands on files that do not fit into memory, on folders and on patterns."""

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
from sleek._runtime.types import FloatArray
from sleek.cli.applying import EVERYTHING, Wanted, missing_words, target_of
from sleek.cli.errors import InputError, blaming
from sleek.cli.output import is_standard_output
from sleek.cli.training import Choices, FitReport, estimator_for, metadata_of, notes_of
from sleek.model.kernel_model import KernelModel
from sleek.report.expected import expected_error
from sleek.report.scores import scores_of_rows
from sleek.report.shown import inputs_of
from sleek.rows.files.batches import chunks
from sleek.rows.files.columns import values_in, wanted_columns
from sleek.rows.files.taken import row_at, sampled
from sleek.rows.rows import Rows, Run
from sleek.tables.table import Table
from sleek.tables.target import CLASSIFICATION, MOST_CLASSES, REGRESSION
from sleek.tables.using import note_strangers
from sleek.tables.values import Numbers

SHARE = 0.05  # of the memory: a file of text takes up to ten times its size while it is read and fitted
COMPRESSED = 5  # times as large is a file when it is unpacked
ENDINGS = (".parquet", ".pq", ".gz", ".feather")
LOOKED_AT = 100_000  # rows of a table that is looked at


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
    with blaming(path):
        files = _files(path, choices)
        task = choices.task or _task(files, choices.target)
        train, test = files, None
        if choices.test is not None:
            train, test = files.split(choices.test, choices.seed)
        display(f"fitting {files!r}")
        estimator = estimator_for(task, choices)
        with redirect_stdout(sys.stderr), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            estimator.fit(train)
    model = replace(estimator.model_, metadata=metadata_of(choices))
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
    told = [note for note in getattr(estimator, "column_notes_", files.notes) if "left out" not in note]
    if test is not None:
        display("testing on the rows held out")
        with blaming(path), warnings.catch_warnings(record=True) as later:
            warnings.simplefilter("always")
            run = Run(Workers(check_n_jobs(choices.jobs)))
            values["test"] = scores_of_rows(model, _read_by(model, test), run, choices.weight is not None)[0]
            told += [_as_note(str(warning.message)) for warning in later]
    return FitReport(model, inputs_of(model), values, [*told, *notes_of(heard, estimator.n_iter_)])


def _read_by(model: KernelModel, files: Files) -> Rows:
    """The files' rows with the features that a model reads."""
    if model.inputs is not None:
        return files.read_by(model.inputs)
    return files.with_features(model.names_of_features)


def _as_note(sentence: str) -> str:
    return f"{sentence[0].lower()}{sentence[1:].rstrip('.')}"


def _files(path: str, choices: Choices) -> Files:
    missing = None if choices.missing is None else list(choices.missing)
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
        missing=missing,
        drop_missing_targets=True,
    )


def _task(files: Files, target: str) -> str:
    """Whether the targets look like classes or like numbers."""
    different: FloatArray = np.empty(0)
    with closing(chunks(wanted_columns(files, None, [target]))) as found:
        for chunk in found:
            values = values_in(chunk.batch, target, files, words=False)
            if not isinstance(values, Numbers):
                return CLASSIFICATION
            y = values.array.astype(np.float64)
            different = np.unique(np.concatenate([different, y[~np.isnan(y)]]))
            if len(different) > MOST_CLASSES or (different != np.round(different)).any():
                return REGRESSION
    if len(different) == 0:
        raise InputError(f"{files.named_files}: the target {target!r} has no value in any row.")
    return CLASSIFICATION


def predict_large(
    model: KernelModel, path: str, output: Path | None, keep: Sequence[str], wanted: Wanted
) -> list[str]:
    """Predict files into a file, in memory that does not grow with the rows; notes."""
    if output is None or is_standard_output(output):
        raise InputError(f"{path} is read in pieces: name a file for the predictions with -o.")
    with blaming(path), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        files = Files(path, columns=_columns(model), missing=missing_words(model))
        said = model.saying(wanted.proba, wanted.interval, wanted.scores)
        kept = list(files.tables[0].columns) if EVERYTHING in keep else list(keep)
        _read_by(model, files).write(said, output, kept, Run(Workers(check_n_jobs(-1))))
    return files.notes + [_as_note(str(warning.message)) for warning in heard]


def _columns(model: KernelModel) -> list[str]:
    return list(model.names_of_features if model.inputs is None else model.inputs.names)


def evaluate_large(
    model: KernelModel, path: str, name: str | None, weight: str | None
) -> tuple[dict[str, Any], list[str]]:
    """Scores on the rows of files that have a target, and notes."""
    name = target_of(model, name)
    if name in _columns(model):
        raise InputError(f"The model reads {name!r} itself: name the column of true values with --target.")
    with blaming(path), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        files = Files(
            path,
            target=name,
            columns=_columns(model),
            weight=weight,
            missing=missing_words(model),
            drop_missing_targets=True,
        )
        run = Run(Workers(check_n_jobs(-1)))
        scores, strangers = scores_of_rows(model, _read_by(model, files), run, weight is not None)
    notes = files.notes + [_as_note(str(warning.message)) for warning in heard]
    if files.n_rows is not None and weight is None and scores["rows"] < files.n_rows:
        notes.append(f"{files.n_rows - scores['rows']} rows without a value of {name!r} are left out")
    return {"target": name, **scores}, notes + note_strangers(name, strangers)


def table_to_look_at(path: str, missing: Sequence[str] | None) -> tuple[Table, int]:
    """Some rows of files, as a table in memory, and how many there are in all."""
    with blaming(path):
        return sampled(Files(path, missing=None if missing is None else list(missing)), LOOKED_AT)


def row_of(model: KernelModel, path: str, number: int) -> Table:
    """Row `number` of files, counted from 1, as a table."""
    with blaming(path):
        found, there = row_at(Files(path, columns=_columns(model), missing=missing_words(model)), number - 1)
    if found is None:
        raise InputError(f"{path} has rows 1 to {there}, got {number}.")
    return found
