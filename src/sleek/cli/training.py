"""`sleek fit`: from a table to a model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek._runtime.progress import Display
from sleek._runtime.types import FloatArray, IntArray
from sleek.cli.errors import InputError, blaming
from sleek.model.kernel_model import KernelModel
from sleek.outputs.labels import Labels
from sleek.report.expected import baseline, expected_error
from sleek.report.scores import scores_of
from sleek.rows.arrays import ArrayRows
from sleek.rows.table import targets_of
from sleek.tables.encoded import EncodedTable
from sleek.tables.errors import TableError
from sleek.tables.inputs import Inputs
from sleek.tables.learning import learn_columns
from sleek.tables.table import Table
from sleek.tables.target import CLASSIFICATION, Target, learn_target
from sleek.tables.using import column_values, counting_columns, weights_of

WORDS = {"`n_units`=": "--units ", "`n_jobs`=": "--jobs ", " rows of X": " rows"}  # settings as options


@dataclass(frozen=True)
class Choices:
    """What the user decided; None where sleek decides."""

    target: str
    task: str | None = None
    units: int | None = None
    basis: str = "auto"
    effort: str = "normal"
    weight: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    jobs: int = -1
    seed: int = 0
    verbose: bool = False
    test: float | None = None
    missing: tuple[str, ...] | None = None
    balanced: bool = False
    updatable: bool = False


@dataclass(frozen=True, eq=False)
class FitReport:
    """A model, what to tell of it as plain values, and what else the user should know."""

    model: KernelModel
    inputs: Inputs
    values: dict[str, Any]
    notes: list[str]


def train(table: Table, choices: Choices, display: Display) -> FitReport:
    """Learn inputs and model from a table; with `test`, from all rows but those held out."""
    names = _input_names(table, choices)
    everything = learn_target(table, choices.target, choices.task)
    notes, absent = list(table.notes), table.n_rows - len(everything.rows)
    if absent:
        notes.append(f"{absent} rows without a value of {choices.target!r} are left out")
    weights = weights_of(table, choices.weight, everything.rows)
    kept, held = _split(everything, choices)
    kept = kept[weights[kept] > 0]  # medians and levels are not learnt from rows of no weight either
    target, s = everything.take(kept), weights[kept]
    columns = column_values(table, names, choices.categories)
    y = Labels.of(target.y) if target.task == CLASSIFICATION else target.y[:, None]
    some = {name: values.take(target.rows) for name, values in columns.items()}
    try:
        learnt = learn_columns(some, choices.categories, targets_of(y), s)
    except TableError as error:
        raise InputError(f"{table.source} has columns that cannot be used:\n{error}") from None
    inputs = learnt.inputs
    if not inputs.columns:
        raise InputError(
            "\n".join([f"{table.source} has no column left to learn from.", *learnt.left_out.values()])
        )
    notes += learnt.notes + [
        f"{text[0].lower()}{text[1:]} It is left out" for text in learnt.left_out.values()
    ]
    notes += [
        f"column {name!r} only counts the rows: --drop it unless new rows have it in the same sense"
        for name in counting_columns(columns)
    ]
    X = EncodedTable.of(inputs, some, learnt.by_fold, learnt.folds)
    display(f"fitting {len(X):,} rows × {X.shape[1]:,} features")
    if choices.verbose:
        display.close()  # the fit has its own to say
    model, heard = _fit(X, y, target, s, inputs, table, choices)
    values = {
        "task": target.task,
        "target": choices.target,
        "classes": np.unique(target.y).tolist() if target.task == CLASSIFICATION else None,
        "rows": len(X),
        "columns": len(inputs.columns),
        "features": X.shape[1],
        "parts": [{"basis": part.basis.name, "units": len(part)} for part in model.parts],
        "units": model.n_units,
        "C": model.C,
    }
    if model.facts is not None:
        values["expected"] = expected_error(model.outputs, model.facts) | baseline(model.outputs, target.y, s)
    if len(held):
        test = everything.take(held)
        X_test = EncodedTable.of(inputs, {name: values.take(test.rows) for name, values in columns.items()})
        own = weights[held] if choices.weight else None
        if own is not None and not own.any():
            raise InputError(f"--test: all rows held out have weight 0 in column {choices.weight!r}.")
        values["test"] = scores_of(model, X_test, test.y, own)
    return FitReport(model, inputs, values, notes + heard)


def _input_names(table: Table, choices: Choices) -> list[str]:
    """The columns to learn from."""
    special = [choices.target, *([choices.weight] if choices.weight else [])]
    table.require([*special, *choices.columns, *choices.drop, *choices.categories])
    for name in choices.columns:
        if name in special or name in choices.drop:
            raise InputError(f"--columns names {name!r}, which is the target, the weight or dropped.")
    left_out = {*special, *choices.drop}
    names = [name for name in choices.columns or table.names if name not in left_out]
    if not names:
        raise InputError(f"{table.source} has no column left to learn from.")
    return names


def _split(target: Target, choices: Choices) -> tuple[IntArray, IntArray]:
    """The positions of the rows to train on and of those held out, both in order."""
    positions = np.arange(len(target.y))
    if choices.test is None:
        return positions, positions[:0]
    balanced = target.task == CLASSIFICATION and np.unique(target.y, return_counts=True)[1].min() > 1
    with blaming("--test"):
        kept, held = train_test_split(
            positions,
            test_size=choices.test,
            random_state=choices.seed,
            stratify=target.y if balanced else None,
        )
    return np.sort(kept), np.sort(held)


def estimator_for(task: str, choices: Choices) -> Any:
    """The estimator that is asked for."""
    settings: dict[str, Any] = {
        "n_units": "auto" if choices.units is None else choices.units,
        "basis": choices.basis,
        "effort": choices.effort,
        "n_jobs": choices.jobs,
        "random_state": choices.seed,
        "verbose": int(choices.verbose),
    }
    if task == CLASSIFICATION:
        settings["loss"] = "squared" if choices.updatable else "auto"
        return LowRankLSSVC(class_weight="balanced" if choices.balanced else None, **settings)
    if choices.balanced:
        raise InputError("--balanced is for classes, and the target is a number.")
    return LowRankLSSVR(**settings)


def _fit(
    X: EncodedTable, y: Any, target: Target, s: FloatArray, inputs: Inputs, table: Table, choices: Choices
) -> tuple[KernelModel, list[str]]:
    """The model with its columns, and the warnings that were heard."""
    estimator = estimator_for(target.task, choices)

    def where(row: int) -> str:
        return f"The target in {table.place(int(target.rows[row]))} of {table.source}"

    rows = ArrayRows(X, y, s, inputs.feature_names, where=where)
    with (
        blaming(table.source),
        redirect_stdout(sys.stderr),
        warnings.catch_warnings(record=True) as heard,
    ):
        warnings.simplefilter("always")
        estimator.fit(rows)
    return replace(estimator.model_, metadata=metadata_of(choices)), notes_of(heard, estimator.n_iter_)


def metadata_of(choices: Choices) -> dict[str, Any]:
    """What the model file remembers of the user's choices."""
    metadata: dict[str, Any] = {"target": choices.target}
    if choices.missing is not None:
        metadata["missing"] = list(choices.missing)
    return metadata


def notes_of(heard: Sequence[warnings.WarningMessage], n_iter: int) -> list[str]:
    """Warnings in the words of somebody who has options, not settings."""
    notes = []
    for warning in heard:
        text = str(warning.message)
        if issubclass(warning.category, ConvergenceWarning):
            text = (
                f"training ended after {n_iter} iterations, before it had settled: the expected error is "
                "that of the model as it is, and fewer --units settle sooner"
            )
        for setting, option in WORDS.items():
            text = text.replace(setting, option)
        notes.append(text)
    return list(dict.fromkeys(notes))
