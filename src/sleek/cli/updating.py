"""`sleek update` and `sleek merge`: rows added to or taken out of a model file, and models merged."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as RichTable

from sleek._runtime.counting import how_many, plain
from sleek._runtime.locks import lock
from sleek.cli.data import (
    all_cores,
    files_for,
    note_missing_targets,
    notes_on_rows,
    path_of,
    target_of,
)
from sleek.cli.exits import InputError, blaming
from sleek.cli.models import model_in, read_bytes
from sleek.cli.options import STANDARD, is_stream
from sleek.cli.output import is_standard_output, write_bytes
from sleek.cli.signals import interrupts
from sleek.model.kernel_model import KernelModel
from sleek.model.living import (
    add,
    batch_of_rows,
    check_forgetting_factor,
    require_memory,
    take_out,
)
from sleek.model.memory import Memory
from sleek.model.merging import merge_models
from sleek.model.saving import MAX_BYTES, dumps
from sleek.report.words import percent, short
from sleek.rows.rows import Run

# How an error is written, by what it measures: the words before it, its number, the words after it.
MEASURES: dict[str, tuple[str, Callable[[float], str], str]] = {
    "rmse": ("RMSE ", short, ""),
    "share of mistakes": ("", percent, " wrong"),
    "share of variance": ("", percent, " of the variance"),
    "deviance": ("mean deviance ", short, ""),
    "error": ("error ", short, ""),
}


@dataclass(frozen=True)
class Change:
    """The options of `sleek update`."""

    target: str | None = None
    weight: str | None = None
    forget: bool = False
    alone: bool = False
    forgetting_factor: float = 1.0
    again: bool = False


@dataclass(frozen=True, eq=False)
class Changed:
    """The updated model, a summary as plain values, and notes for the user."""

    model: KernelModel
    values: dict[str, Any]
    notes: list[str]


def update_file(
    model: Path, data: Path, place: Path, change: Change, waiting: Callable[[], None]
) -> tuple[Changed, bytes]:
    """Update the model of a file, write it to `place`, and return it with the bytes that were written.

    From reading to writing nobody else can write to `place`: updates of one file at a time wait for each
    other. What does not ask for the lock, such as a copy, is noticed before the file is replaced.
    """
    in_place = not is_stream(model) and place.is_file() and place.samefile(model)
    with interrupts.raised(), _lock(place, waiting, needed=in_place):
        before = read_bytes(str(model), MAX_BYTES + 1)
        with path_of(data) as path:
            found = update(model_in(before, str(model)), path, change)
        content = dumps(found.model, moments=True)
        if in_place and read_bytes(str(model)) != before:
            raise InputError(
                f"{model} was changed by another program meanwhile, and is left as it is: run again."
            )
        write_bytes(content, place)
    return found, content


def write(content: bytes, place: Path) -> None:
    """Write a model, not in the middle of an update of the same file."""
    with interrupts.raised(), _lock(place, None, needed=False):
        write_bytes(content, place)


@contextmanager
def _lock(place: Path, waiting: Callable[[], None] | None, needed: bool) -> Iterator[None]:
    if is_standard_output(place) or (place.exists() and not place.is_file()):  # a stream, a device, a pipe
        yield
        return
    with ExitStack() as held:
        try:
            held.enter_context(lock(place, waiting, needed=needed))
        except OSError as error:
            raise InputError(
                f"{place} cannot be updated in its place: {error.strerror} when its folder was to lock it "
                "against other updates. Name another file with -o."
            ) from None
        yield


def update(model: KernelModel, path: str, change: Change) -> Changed:
    """The model with the rows of a table, or without them."""
    with blaming("The model"):
        model = model.emptied() if change.alone else model
        memory = require_memory(model)
    name = target_of(model, change.target)
    with blaming("--forgetting-factor"):
        fading = check_forgetting_factor(change.forgetting_factor)
    if change.forget and fading < 1.0:
        raise InputError("--forgetting-factor lets rows fade when others come in: not with --forget.")
    options: dict[str, Any] = {"target": name, "weight": change.weight, "drop_missing_targets": True}
    with blaming(path), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        files, found = files_for(model, path, **options)
        run = Run(all_cores(), strangers={})
        go = partial(batch_of_rows, model, found, run, fading)
        rows = go(named=True)
        if not change.again:
            _check_name(memory, rows.name, path, change.forget)
        fresh = take_out(model, rows) if change.forget else add(model, rows, go)
    values = {
        "target": name,
        "rows": rows.n_rows,
        "forgotten": change.forget,
        "all_rows": require_memory(fresh).n_rows,
        "weight": require_memory(fresh).sums.weight,
        "change": _change(model, fresh),
        "drift": None if change.forget else _drift(fresh),
    }
    notes = notes_on_rows(files, model, run, heard)
    if change.weight is None:
        notes += note_missing_targets(files, name, rows.n_rows)
    return Changed(fresh, values, notes)


def _check_name(memory: Memory, name: str | None, path: str, forget: bool) -> None:
    """No batch comes in while it is in, and none leaves that has left, or never came in."""
    if not forget and name in memory.origins:
        raise InputError(f"{path} came into this model before: --again adds its rows once more.")
    if forget and name not in memory.origins:
        left = name in memory.forgotten
        why = "left this model before" if left else "did not come into this model as it is"
        raise InputError(f"{path} {why}. --again takes out equal rows that came in with another file.")


def merge(models: Sequence[KernelModel], names: Sequence[str]) -> Changed:
    """The model of the rows of all models."""
    for model, name in zip(models, names, strict=True):
        with blaming(name):
            require_memory(model)
    if len(models) < 2:
        raise InputError("There must be at least two models to merge, got one.")
    with blaming(", ".join(names)):
        whole = merge_models(models)
    memory = require_memory(whole)
    values = {
        "models": [
            {"file": name, "rows": require_memory(model).n_rows}
            for model, name in zip(models, names, strict=True)
        ],
        "all_rows": memory.n_rows,
        "weight": memory.sums.weight,
        "change": _change(models[0], whole),
        "drift": _drift(whole),
    }
    return Changed(whole, values, [])


def _change(before: KernelModel, after: KernelModel) -> float | None:
    """How far outputs have moved on average over all rows, in standard deviations of themselves.

    With Δ = θ' - θ and d = b' - b for encoded targets, the mean square of the move is, by the moments of all
    rows, Δᵀ(G/S)Δ + (d + φ̄Δ)², and that of the outputs about their mean θᵀ(G/S)θ.
    """
    if require_memory(before).n_rows == 0:
        return None
    old, new, moments = (
        require_memory(before).solution,
        require_memory(after).solution,
        require_memory(after).moments,
    )
    delta, b = new.theta - old.theta, new.b - old.b
    G = moments.G / moments.weight
    moved = np.einsum("mk,mn,nk->", delta, G, delta) + np.sum((b + moments.mean_phi @ delta) ** 2)
    spread = np.einsum("mk,mn,nk->", new.theta, G, new.theta)
    return float(np.sqrt(max(0.0, moved) / spread)) if spread > 0 else None


def _drift(model: KernelModel) -> dict[str, Any] | None:
    """The errors of new rows and those promised: the share of mistakes, the RMSE, or a share of variance."""
    drift = require_memory(model).drift
    if drift is None:
        return None
    errors = {"error": drift.error, "promised": drift.promised, "limit": drift.limit}
    if not drift.n_rows:
        del errors["error"]
    found = {name: model.outputs.reported_error(value)[0] for name, value in errors.items()}
    measure = model.outputs.error_measure
    return {"alarm": drift.alarm, "rows": drift.n_rows, "measure": measure, **found, "rate": drift.rate}


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
            lines["merged" if number == 0 else " " * number] = (
                f"{plain(one['file'])}: {how_many(one['rows'], 'row')}"
            )
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
    before, number, after = MEASURES[drift["measure"]]
    promise = f"{number(drift['promised'])} was promised, up to {number(drift['limit'])} is no drift"
    if not drift["rows"]:
        return f"no new rows since the fit; {promise}"
    error = f"{before}{number(drift['error'])}{after}"
    found = f"{error} over {how_many(drift['rows'], 'new row')} since the fit; {promise}"
    return f"ALARM: {found}. Fit again with recent rows" if drift["alarm"] else f"no sign of it: {found}"
