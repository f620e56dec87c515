"""`sleek fit`: from a table to a model."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.cli.errors import InputError, blaming
from sleek.cli.output import spinner
from sleek.cli.scoring import score
from sleek.model.kernel_model import KernelModel
from sleek.tables.columns import Column, Inputs, NumberColumn
from sleek.tables.table import Table
from sleek.tables.target import CLASSIFICATION, REGRESSION, Target, learn_target

INFLUENCE_ROWS = 1000


@dataclass(frozen=True)
class Choices:
    """What the user decided; None where sleek decides."""

    target: str
    task: str | None = None
    units: int | None = None
    basis: str = "auto"
    weight: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    jobs: int = -1
    seed: int = 0
    verbose: bool = False
    test: float | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, what to report of it as plain values, and what else the user should know."""

    model: KernelModel
    inputs: Inputs
    report: dict[str, Any]
    notes: list[str]


def train(table: Table, choices: Choices) -> Fitted:
    """Learn inputs and model from a table; with `test`, from all rows but those held out."""
    names = _input_names(table, choices)
    everything = learn_target(table, choices.target, choices.task)
    notes, absent = list(table.notes), table.n_rows - len(everything.rows)
    if absent:
        notes.append(f"{absent} rows without a value of {choices.target!r} are left out")
    weights = _weights(table, choices.weight, everything)
    kept, held = _split(everything, choices)
    kept = kept[weights[kept] > 0]  # medians and levels are not learnt from rows of no weight either
    target, s = everything.part(kept), weights[kept]
    columns, inputs = _learn_inputs(table, names, choices, target.rows)
    X = inputs.transform({name: values[target.rows] for name, values in columns.items()})
    begin = time.perf_counter()
    estimator, heard = _fit(X, target, s, table, choices)
    seconds = time.perf_counter() - begin
    model = replace(
        estimator.model_,
        feature_names=inputs.feature_names,
        inputs=inputs,
        metadata={
            "target": choices.target,
            "task": target.task,
            "rows": len(X),
            "loo_error": estimator.loo_error_,
            "influence": _influence(estimator.model_, X, inputs, choices.seed),
            "deviation": _deviation(X, inputs),
        },
    )
    report = {
        "task": target.task,
        "target": choices.target,
        "classes": None if model.classes is None else model.classes.tolist(),
        "rows": len(X),
        "columns": len(inputs.columns),
        "features": X.shape[1],
        "basis": model.basis.name,
        "units": estimator.n_units_,
        "C": model.C,
        "loo_error": estimator.loo_error_,
        "baseline_error": target.baseline(s),
        "seconds": round(seconds, 3),
    }
    if len(held):
        test = everything.part(held)
        X_test = inputs.transform({name: values[test.rows] for name, values in columns.items()})
        report["test"] = score(model, test.y, model.predict(X_test))
    return Fitted(model, inputs, report, notes + _note_counters(columns) + heard)


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
    alone = target.task == REGRESSION or np.unique(target.y, return_counts=True)[1].min() < 2
    with blaming("--test"):
        kept, held = train_test_split(
            positions, test_size=choices.test, random_state=choices.seed, stratify=None if alone else target.y
        )
    return np.sort(kept), np.sort(held)


def _learn_inputs(
    table: Table, names: list[str], choices: Choices, rows: IntArray
) -> tuple[dict[str, AnyArray], Inputs]:
    """The columns in full, and what is learnt of some rows; one error for all columns that cannot be used."""
    columns: dict[str, AnyArray] = {}
    learnt: list[Column] = []
    refusals: dict[str, str] = {}
    for name in names:
        try:
            forced = name in choices.categories
            columns[name] = np.array(table.words(name), dtype=object) if forced else table.values(name)
            learnt += Inputs.learn({name: columns[name][rows]}, categories=choices.categories).columns
        except (InputError, ValueError) as refusal:
            refusals[name] = str(refusal)
    if refusals:
        reasons = "".join(f"\n  {reason}" for reason in refusals.values())
        raise InputError(
            f"{table.source} has columns that cannot be used:{reasons}\n"
            f"To leave out what is of no use: --drop '{','.join(refusals)}'"
        )
    return columns, Inputs(tuple(learnt))


def _note_counters(columns: Mapping[str, AnyArray]) -> list[str]:
    """A warning for columns that number the rows: sorted files give the answer away by them."""
    return [
        f"column {name!r} only counts the rows: --drop it unless new rows have it in the same sense"
        for name, values in columns.items()
        if values.dtype.kind == "f" and len(values) > 2 and np.all(np.diff(values) == 1)
    ]


def _weights(table: Table, name: str | None, target: Target) -> FloatArray:
    """A weight for each row of the target."""
    if name is None:
        return np.ones(len(target.rows))
    weights = table.numbers(name)[target.rows]
    bad = ~(weights >= 0)
    if bad.any():
        position = int(np.argmax(bad))
        value = weights[position].item()
        raise table.refuse(name, int(target.rows[position]), value, "a weight of at least 0 is needed")
    if not weights.any():
        raise InputError(f"{table.source}: the weight {name!r} is 0 in every row.")
    return weights


def _fit(
    X: FloatArray, target: Target, s: FloatArray, table: Table, choices: Choices
) -> tuple[LowRankLSSVC | LowRankLSSVR, list[str]]:
    """The fitted estimator, and the warnings that were heard."""
    estimator = (LowRankLSSVC if target.task == CLASSIFICATION else LowRankLSSVR)(
        "auto" if choices.units is None else choices.units,
        basis=choices.basis,
        n_jobs=choices.jobs,
        random_state=choices.seed,
        verbose=int(choices.verbose),
    )
    with (
        blaming(table.source),
        redirect_stdout(sys.stderr),
        warnings.catch_warnings(record=True) as heard,
        spinner(f"fitting {len(X):,} rows × {X.shape[1]} features", wanted=not choices.verbose),
    ):
        warnings.simplefilter("always")
        estimator.fit(X, target.y, sample_weight=s)
    return estimator, [str(warning.message) for warning in heard]


def _influence(model: KernelModel, X: FloatArray, inputs: Inputs, seed: int) -> dict[str, float]:
    """How far the outputs move when one column is shuffled, relative to their own spread.

    √(mean (y(x) - y(x'))² / 2 Var y), x' a row with the column of another row: 0 for a column that does not
    matter, about 1 for one that alone decides. O(columns · 1,000 rows · units · features).
    """
    rng = np.random.default_rng(seed)
    rows = X[rng.choice(len(X), size=min(len(X), INFLUENCE_ROWS), replace=False)]
    outputs = model.decision_function(rows).reshape(len(rows), -1)
    spread = 2.0 * outputs.var(axis=0).sum()
    influence, begin = {}, 0
    for column in inputs.columns:
        end = begin + len(column.feature_names)
        shuffled = rows.copy()
        shuffled[:, begin:end] = rows[rng.permutation(len(rows)), begin:end]
        change = model.decision_function(shuffled).reshape(outputs.shape) - outputs
        moved = float(np.mean(change**2, axis=0).sum())
        influence[column.name] = round(float(np.sqrt(moved / spread)), 4) if spread > 0 else 0.0
        begin = end
    return influence


def _deviation(X: FloatArray, inputs: Inputs) -> dict[str, float]:
    """The standard deviation of every column of numbers."""
    names, spread = inputs.feature_names, X.std(axis=0)
    numbers = {column.name for column in inputs.columns if isinstance(column, NumberColumn)}
    return {name: float(spread[names.index(name)]) for name in names if name in numbers}
