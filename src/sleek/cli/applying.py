"""`sleek predict` and `sleek evaluate`: a saved model on new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sleek import ModelFileError
from sleek.cli.errors import InputError
from sleek.model.kernel_model import KernelModel
from sleek.model.saving import MAX_BYTES, loads
from sleek.outputs.classes import ClassOutputs
from sleek.report.scores import scores_of
from sleek.report.shown import inputs_of
from sleek.tables.encoded import EncodedTable
from sleek.tables.open import name_of, read_bytes
from sleek.tables.table import Table
from sleek.tables.target import known_target
from sleek.tables.using import features_of, note_unknown, weights_of

EVERYTHING = "*"


def load_model(path: str) -> KernelModel:
    """Read a model file; ``-`` is standard input."""
    data = read_bytes(path, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"{name_of(path)} is not a model: it has more than {MAX_BYTES:,} bytes.")
    try:
        return loads(data)
    except ModelFileError as error:
        raise InputError(f"{name_of(path)} is not a model that can be used. {error}") from None


def missing_words(model: KernelModel) -> list[str] | None:
    """The words that meant a missing value when the model was fitted; None: the usual ones."""
    found = model.metadata.get("missing")
    return [str(word) for word in found] if isinstance(found, list) else None


@dataclass(frozen=True)
class Wanted:
    """What to write beside predictions."""

    scores: bool = False
    proba: bool = False
    interval: float | None = None


def predict(
    model: KernelModel, table: Table, wanted: Wanted, keep: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """The columns to write, those to keep first, and notes."""
    kept = table.names if EVERYTHING in keep else list(keep)
    table.require(kept)
    X, notes = features_of(table, inputs_of(model))
    said = _answers(model, X, wanted)
    clash = sorted(set(kept) & set(said))
    if clash:
        raise InputError(f"{table.source} has a column {clash[0]!r} already: do not --keep it.")
    return {name: table.original(name) for name in kept} | said, notes


def _answers(model: KernelModel, X: EncodedTable, wanted: Wanted) -> dict[str, Any]:
    outputs = model.outputs
    Y = model.outputs_unchecked(X)
    answers = outputs.answer(Y)
    if answers.ndim == 2:
        columns = {f"prediction {word}": answers[:, k].tolist() for k, word in enumerate(outputs.words)}
    else:
        columns = {"prediction": answers.tolist()}
    try:
        if wanted.proba or wanted.scores or wanted.interval is not None:
            more = model.saying(wanted.proba, wanted.interval, wanted.scores)(X)
            columns |= {f"prediction{end}": column.tolist() for end, column in more.items() if end}
    except ValueError as error:  # the sentence is the model's
        raise InputError(str(error)) from None
    return columns


def evaluate(
    model: KernelModel, table: Table, name: str | None, weight: str | None
) -> tuple[dict[str, Any], list[str]]:
    """Scores on the rows that have a target, and notes."""
    name, outputs = target_of(model, name), model.outputs
    table.require([name, *([weight] if weight else [])])
    classes = outputs.classes if isinstance(outputs, ClassOutputs) else None
    target = known_target(table, name, classes)
    X, notes = features_of(table, inputs_of(model))
    if len(target.rows) < table.n_rows:
        notes.append(f"{table.n_rows - len(target.rows)} rows without a value of {name!r} are left out")
    s = weights_of(table, weight, target.rows) if weight else None
    scores = scores_of(model, X.take(target.rows), target.y, s)
    if classes is not None:
        notes += note_unknown(name, target.y.tolist(), classes.tolist())
    return {"target": name, **scores}, notes


def target_of(model: KernelModel, name: str | None) -> str:
    """The column that a model predicts: the one that is named, or that of the fit."""
    name = name or model.metadata.get("target")
    if not isinstance(name, str):
        raise InputError("The model does not say which column it predicts: name it with --target.")
    if model.outputs.reads == "numbers" and model.outputs.n_outputs > 1:
        raise InputError("A model of several outputs cannot be evaluated here: use its predictions.")
    return name
