"""What `sleek update` and `sleek merge` do, and what they print."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as RichTable

from sleek import Files
from sleek import merge as merge_models
from sleek._runtime.checks import check_n_jobs
from sleek._runtime.threads import Workers
from sleek.cli.applying import missing_words, target_of
from sleek.cli.errors import InputError, blaming
from sleek.cli.large import is_large
from sleek.cli.options import STANDARD
from sleek.model.kernel_model import KernelModel
from sleek.model.memory import name_of
from sleek.model.new_rows import Added, check_fading, known_targets, that_count
from sleek.outputs.classes import ClassOutputs
from sleek.report.shown import inputs_of
from sleek.report.words import percent, plain, short
from sleek.rows.rows import Run
from sleek.tables.open import read_table
from sleek.tables.target import known_target
from sleek.tables.using import features_of, weights_of


@dataclass(frozen=True)
class Change:
    """What to do with the rows."""

    target: str | None = None
    weight: str | None = None
    forget: bool = False
    alone: bool = False
    forgetting_factor: float = 1.0
    again: bool = False


@dataclass(frozen=True, eq=False)
class Changed:
    """A model, what to tell of it as plain values, and what else the user should know."""

    model: KernelModel
    values: dict[str, Any]
    notes: list[str]


def update(model: KernelModel, path: str, is_stream: bool, change: Change) -> Changed:
    """The model with the rows of a table, or without them."""
    with blaming("The model"):
        model = model.emptied() if change.alone else model
        memory = model.remembered()
    name = target_of(model, change.target)
    with blaming("--forgetting-factor"):
        fading = check_fading(change.forgetting_factor)
    if change.forget and fading < 1.0:
        raise InputError("--forgetting-factor lets rows fade when others come in: not with --forget.")
    large = not is_stream and is_large(path)
    with blaming(path), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        rows, notes = (
            _of_files(model, path, name, change, fading)
            if large
            else _of_table(model, path, name, change, fading)
        )
        called = name_of(rows.sums)
        if not change.forget and not change.again and called in memory.origins:
            raise InputError(f"{path} came into this model before: --again adds its rows once more.")
        fresh = model.without_rows(rows) if change.forget else model.with_rows(rows)
    names = [one for one in memory.origins if one != called] + ([] if change.forget else [called])
    fresh = replace(fresh, memory=replace(fresh.remembered(), origins=tuple(names)))
    values = {
        "target": name,
        "rows": rows.n_rows,
        "forgotten": change.forget,
        "all_rows": fresh.remembered().n_rows,
        "weight": fresh.remembered().sums.weight,
        "change": _change(model, fresh),
        "drift": None if change.forget else _drift(fresh),
    }
    said = [f"{str(warning.message)[0].lower()}{str(warning.message)[1:].rstrip('.')}" for warning in heard]
    return Changed(fresh, values, notes + said)


def merge(models: Sequence[KernelModel], names: Sequence[str]) -> Changed:
    """The model of the rows of all models."""
    for model, name in zip(models, names, strict=True):
        with blaming(name):
            model.remembered()
    if len(models) < 2:
        raise InputError("There must be at least two models to merge, got one.")
    with blaming(", ".join(names)):
        merged = merge_models(models)
    memory = merged.remembered()
    values = {
        "models": [
            {"file": name, "rows": model.remembered().n_rows}
            for model, name in zip(models, names, strict=True)
        ],
        "all_rows": memory.n_rows,
        "weight": memory.sums.weight,
        "change": _change(models[0], merged),
        "drift": _drift(merged),
    }
    return Changed(merged, values, [])


def _of_table(
    model: KernelModel, path: str, name: str, change: Change, fading: float
) -> tuple[Added, list[str]]:
    """What the rows of a table bring, and notes."""
    table = read_table(path, missing_words(model))
    table.require([name, *([change.weight] if change.weight else [])])
    classes = model.outputs.classes if isinstance(model.outputs, ClassOutputs) else None
    target = known_target(table, name, classes)
    X, notes = features_of(table, inputs_of(model))
    if len(target.rows) < table.n_rows:
        notes.append(f"{table.n_rows - len(target.rows)} rows without a value of {name!r} are left out")
    rows, y, s = X.take(target.rows), known_targets(model.outputs, target.y, len(target.rows)), None
    if change.weight:
        rows, y, s = that_count(rows, y, weights_of(table, change.weight, target.rows))
    return model.brought(rows, y, s, fading, -1), notes


def _of_files(
    model: KernelModel, path: str, name: str, change: Change, fading: float
) -> tuple[Added, list[str]]:
    """What the rows of files bring that are read in pieces, and notes."""
    columns = list(model.names_of_features if model.inputs is None else model.inputs.names)
    files = Files(
        path,
        target=name,
        columns=columns,
        weight=change.weight,
        missing=missing_words(model),
        drop_missing_targets=True,
    )
    rows = files.with_features(tuple(columns)) if model.inputs is None else files.read_by(model.inputs)
    return model.brought_by(rows, Run(Workers(check_n_jobs(-1))), fading), list(files.notes)


def _change(before: KernelModel, after: KernelModel) -> float | None:
    """How far outputs have moved on average over all rows, in standard deviations of themselves.

    With Δ = θ' - θ and d = b' - b for encoded targets, the mean square of the move is, by the moments of all
    rows, Δᵀ(G/S)Δ + (d + φ̄Δ)², and that of the outputs about their mean θᵀ(G/S)θ.
    """
    if before.remembered().n_rows == 0:
        return None
    old, new, moments = before.remembered().solution, after.remembered().solution, after.remembered().moments
    delta, b = new.theta - old.theta, new.b - old.b
    G = moments.G / moments.weight
    moved = np.einsum("mk,mn,nk->", delta, G, delta) + np.sum((b + moments.mean_phi @ delta) ** 2)
    spread = np.einsum("mk,mn,nk->", new.theta, G, new.theta)
    return float(np.sqrt(max(0.0, moved) / spread)) if spread > 0 else None


def _drift(model: KernelModel) -> dict[str, Any] | None:
    """The errors of new rows and those promised: the share of mistakes, or the RMSE."""
    drift = model.remembered().drift
    if drift is None:
        return None
    numbers = model.outputs.reads == "numbers"
    errors = {"error": drift.error, "promised": drift.promised, "limit": drift.limit}
    if not drift.n_rows:
        del errors["error"]
    found = {name: float(np.sqrt(value)) if numbers else value for name, value in errors.items()}
    kind = "rmse" if numbers else "share of mistakes"
    return {"alarm": drift.alarm, "rows": drift.n_rows, "measure": kind, **found, "rate": drift.rate}


def show(report: dict[str, Any], console: Console) -> None:
    """The summary for people."""
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in _lines(report).items():
        grid.add_row(name, text)
    console.print(grid)


def _lines(report: dict[str, Any]) -> dict[str, str]:
    lines = {}
    if "models" in report:
        for number, one in enumerate(report["models"]):
            lines["merged" if number == 0 else " " * number] = f"{plain(one['file'])}: {one['rows']:,} rows"
        lines["rows"] = f"{report['all_rows']:,}"
    else:
        what = "taken out" if report["forgotten"] else "added"
        lines["rows"] = f"{report['rows']:,} {what}, {report['all_rows']:,} in all"
    if report["change"] is not None:
        lines["change"] = f"outputs have moved by {percent(report['change'])} of their spread"
    if report["drift"] is not None:
        lines["drift"] = _in_words(report["drift"])
    if report["file"] != STANDARD:
        lines["written to"] = f"{plain(report['file'])} ({report['bytes'] / 1000:.1f} kB)"
    return lines


def _in_words(drift: dict[str, Any]) -> str:
    """What errors say, on a line.

    >>> drift = {"alarm": False, "rows": 90, "measure": "rmse", "error": 2.5, "promised": 2.4, "limit": 3.0}
    >>> _in_words(drift)
    'no sign of it: RMSE 2.5 over 90 new rows since the fit; 2.4 was promised, up to 3 is no drift'
    """
    numbers = drift["measure"] == "rmse"

    def said(value: float) -> str:
        return short(value) if numbers else percent(value)

    promise = f"{said(drift['promised'])} was promised, up to {said(drift['limit'])} is no drift"
    if not drift["rows"]:
        return f"no new rows since the fit; {promise}"
    error = f"{'RMSE ' if numbers else ''}{said(drift['error'])}{'' if numbers else ' wrong'}"
    found = f"{error} over {drift['rows']:,} new rows since the fit; {promise}"
    return f"ALARM: {found}. Fit again with recent rows" if drift["alarm"] else f"no sign of it: {found}"
