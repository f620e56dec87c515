"""`sleek fit`: from a table to a model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from sleek import Files, LowRankLSSVC, LowRankLSSVR
from sleek._runtime.checks import check_n_jobs
from sleek._runtime.counting import how_many
from sleek._runtime.progress import Display
from sleek._runtime.threads import Workers
from sleek.cli.data import as_note, expected_of, note_missing_targets
from sleek.cli.exits import InputError, blaming
from sleek.model.kernel_model import KernelModel
from sleek.model.living import batch_of_rows, require_memory, update_words
from sleek.outputs.number_losses import NUMBER_LOSSES
from sleek.report.expected import baseline, expected_error
from sleek.report.scores import scores_of_rows
from sleek.rows.checked import NoRowsError
from sleek.rows.predicting import open_features
from sleek.rows.rows import Rows, Run
from sleek.tables.inputs import Inputs
from sleek.tables.target import CLASSIFICATION, REGRESSION, TargetLook, note_classes, note_counts

WORDS = {
    "`n_units`=": "--units ",
    "`max_numbers`=": "--max-numbers ",
    "`n_jobs`=": "--jobs ",
    " rows of X": " rows",
    "by `groups`": "by --groups",
    "cv=5": "--cv 5",
}  # settings as options


@dataclass(frozen=True)
class Choices:
    """The options of `sleek fit`; None where the choice is left to sleek."""

    target: str
    task: str | None = None
    units: int | None = None
    max_numbers: int | None = None
    basis: str = "auto"
    effort: str = "normal"
    weight: str | None = None
    groups: str | None = None
    cv: str | None = None
    loss: str | None = None
    quantile: float = 0.5
    power: float = 1.5
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    jobs: int = -1
    seed: int = 0
    verbose: bool = False
    test: float | None = None
    missing: tuple[str, ...] | None = None
    decimal: str | None = None
    dates: str | None = None
    balanced: bool = False
    updatable: bool = False
    monotone: Mapping[str, int] = field(default_factory=dict)
    interactions: str | tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True, eq=False)
class FitReport:
    """The model of a fit, its summary as plain values, and notes for the user."""

    model: KernelModel
    inputs: Inputs
    values: dict[str, Any]
    notes: list[str]


def train(path: str, choices: Choices, display: Display) -> FitReport:
    """Learn a model from files, in memory that does not grow with the rows.

    With `test`, it is learnt from all rows but those held out.
    """
    with blaming(path):
        files = _files(path, choices)
        look = _look_at_target(files, choices.target)
        task = choices.task or (REGRESSION if choices.loss in LowRankLSSVR.losses else look.task)
        look.check(files.named_files, choices.target, task)
        if task == CLASSIFICATION and not look.whole:  # labels that look like fractions are words
            files = replace(files, categories=[*(files.categories or ()), choices.target])
        estimator = _estimator(task, choices)
        learnt_from, test = files, None
        if choices.test is not None:
            learnt_from, test = files.split(choices.test, choices.seed)
        display(f"fitting {look.n_values:,} rows × {how_many(len(files.features), 'column')}")
        if choices.verbose:
            display.close()  # the fit has its own to say
        with redirect_stdout(sys.stderr), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            estimator.fit(learnt_from)
        model = _with_columns(replace(estimator.model_, metadata=_metadata(choices)))
        run = Run(Workers(check_n_jobs(choices.jobs)), strangers={})
        if choices.updatable:
            model = _with_name(model, learnt_from, run)
        values = _values(model, task, choices, learnt_from.survey(type(model.outputs), run).targets)
        if test is not None:
            display("testing on the rows held out")
            values["test"] = _test(model, test, run, choices.weight)
    notes = list(files.notes)
    if choices.task is None and task == CLASSIFICATION:
        notes += note_classes(choices.target, estimator.classes_)
    if choices.loss is None and look.counts:
        notes.append(note_counts(choices.target))
    notes += note_missing_targets(files, choices.target, look.n_values)
    told = [note for note in estimator.column_notes_ if note not in files.notes]
    said = {line for note in told for line in note.split("\n")}
    rest = [warning for warning in heard if not set(str(warning.message).split("\n")) <= said]
    notes += [as_note(note) for note in told] + _notes_of(rest, estimator.n_iter_)
    return FitReport(model, expected_of(model).columns, values, notes)


def _files(path: str, choices: Choices) -> Files:
    """The rows of all columns that are learnt from."""
    special = [name for name in (choices.target, choices.weight, choices.groups) if name]
    for name in choices.columns:
        if name in special or name in choices.drop:
            raise InputError(
                f"--columns names {name!r}, which is the target, the weight, the groups or dropped."
            )
    look = Files(path)
    groups = choices.interactions if isinstance(choices.interactions, tuple) else ()
    constrained = [*choices.monotone, *(name for group in groups for name in group)]
    for name in (*special, *choices.columns, *choices.drop, *choices.categories, *constrained):
        look.tables[0].column(name)
    names = [name for name in choices.columns or look.features if name not in {*special, *choices.drop}]
    for name in constrained:
        if name not in names:
            raise InputError(f"--monotone and --interactions name {name!r}, which is not learnt from.")
    if not names:
        raise InputError(f"{look.named_files} has no column left to learn from.")
    return Files(
        path,
        target=choices.target,
        weight=choices.weight,
        groups=choices.groups,
        columns=names,
        categories=[name for name in choices.categories if name in names] or None,
        missing=None if choices.missing is None else list(choices.missing),
        decimal=choices.decimal,
        dates=choices.dates,
        drop_missing_targets=True,
    )


def _look_at_target(files: Files, name: str) -> TargetLook:
    """What the column to predict holds: one pass over it."""
    alone = replace(files, columns=[name], target=None, weight=None, groups=None, categories=None)
    look = TargetLook()
    for chunk in alone.chunks(None, True):
        look = look + TargetLook.of(chunk.X[name])
    if not files.count():
        raise InputError(f"{files.named_files} has column names but no rows.")
    return look


def _estimator(task: str, choices: Choices) -> Any:
    """The estimator that is asked for."""
    if choices.max_numbers is not None and choices.units is not None:
        raise InputError("--max-numbers chooses a size, and --units fixes it: leave one of them out.")
    settings: dict[str, Any] = {
        "n_units": "auto" if choices.units is None else choices.units,
        "max_numbers": choices.max_numbers,
        "basis": choices.basis,
        "effort": choices.effort,
        "cv": _cv(choices),
        "n_jobs": choices.jobs,
        "random_state": choices.seed,
        "interaction_cst": choices.interactions,
        "monotonic_cst": choices.monotone or None,
        "verbose": int(choices.verbose),
    }
    if task == CLASSIFICATION:
        settings["loss"] = choices.loss or ("squared_error" if choices.updatable else "auto")
        return LowRankLSSVC(class_weight="balanced" if choices.balanced else None, **settings)
    if choices.balanced:
        raise InputError("--balanced is for classes, and the target is a number.")
    settings |= {"loss": choices.loss or "squared_error"}
    if choices.updatable and choices.loss in NUMBER_LOSSES and not NUMBER_LOSSES[choices.loss].smooth:
        raise InputError(
            f"--updatable does not go with --loss {choices.loss}: no sums over rows say how a quantile "
            "moves. Use --loss huber or squared_error, or fit again when there are more rows."
        )
    return LowRankLSSVR(quantile=choices.quantile, power=choices.power, **settings)


def _cv(choices: Choices) -> int | str | None:
    """A number of folds, or "last"."""
    if choices.cv is None or choices.cv.isdecimal():
        return None if choices.cv is None else int(choices.cv)
    if choices.cv != "last":
        raise InputError(f"--cv must be a number of folds, or last, got {choices.cv!r}.")
    if choices.test is not None:
        raise InputError("--test draws rows at random, and --cv last goes by their order: leave one out.")
    return "last"


def _with_columns(model: KernelModel) -> KernelModel:
    """The model with the columns that it reads: those that are numbers as they are have a fill too."""
    return replace(model, inputs=expected_of(model).columns) if model.inputs is None else model


def _with_name(model: KernelModel, files: Files, run: Run) -> KernelModel:
    """The model with a name for the rows that it was fitted to, so that they are known if they come again."""
    batch = batch_of_rows(model, _rows(model, files), run, 1.0, named=True)
    assert batch.name is not None
    return replace(model, memory=require_memory(model).with_batch(batch.name))


def _rows(model: KernelModel, files: Files) -> Rows:
    return open_features(files, expected_of(model))


def _values(model: KernelModel, task: str, choices: Choices, targets: Any) -> dict[str, Any]:
    """The summary of a fit as plain values."""
    facts = model.facts
    assert facts is not None  # a fit always states them
    return {
        "task": task,
        "target": choices.target,
        "classes": list(model.outputs.labels) or None,
        "rows": facts.n_rows,
        "columns": len(expected_of(model).columns.columns),
        "features": model.n_features,
        "parts": [{"basis": part.basis.name, "units": len(part)} for part in model.parts],
        "units": model.n_units,
        "C": model.C,
        "expected": expected_error(model.outputs, facts) | baseline(model.outputs, targets),
        "updates": update_words(model.outputs.loss) if choices.updatable else None,
    }


def _test(model: KernelModel, files: Files, run: Run, weight: str | None) -> dict[str, Any]:
    """Scores on the rows held out."""
    try:
        return scores_of_rows(model, _rows(model, files), run, weight is not None)[0]
    except NoRowsError:
        if weight is None:
            raise
        raise InputError(f"--test: all rows held out have weight 0 in column {weight!r}.") from None


def _metadata(choices: Choices) -> dict[str, Any]:
    """What the model file remembers of the user's choices."""
    metadata: dict[str, Any] = {"target": choices.target}
    if choices.missing is not None:
        metadata["missing"] = list(choices.missing)
    if choices.decimal is not None:
        metadata["decimal"] = choices.decimal
    return metadata


def _notes_of(heard: Sequence[warnings.WarningMessage], n_iter: int) -> list[str]:
    """Warnings with the names of options in place of parameters."""
    notes = []
    for warning in heard:
        text = str(warning.message)
        if issubclass(warning.category, ConvergenceWarning):
            text = (
                f"training ended after {n_iter} iterations, before it had converged: the expected error is "
                "that of the model as it is, and fewer --units converge sooner"
            )
        for setting, option in WORDS.items():
            text = text.replace(setting, option)
        notes.append(text)
    return list(dict.fromkeys(notes))
