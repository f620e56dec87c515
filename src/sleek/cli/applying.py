"""`sleek predict` and `sleek evaluate`: a saved model on new rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sleek import ModelFileError
from sleek._runtime.types import FloatArray, IntArray
from sleek.cli.errors import InputError
from sleek.cli.output import short
from sleek.cli.scoring import score
from sleek.model.json_file import MAX_BYTES, loads
from sleek.model.kernel_model import KernelModel
from sleek.tables.columns import CategoryColumn, Inputs, NumberColumn
from sleek.tables.table import STDIN, Table, read_bytes
from sleek.tables.target import known_target

EVERYTHING = "*"


def load_model(path: str) -> KernelModel:
    """Read a model file; ``-`` is standard input."""
    source = "standard input" if path == STDIN else path
    data = read_bytes(path)
    if len(data) > MAX_BYTES:
        raise InputError(
            f"{source} is not a model: it has {len(data):,} bytes, a model at most {MAX_BYTES:,}."
        )
    try:
        return loads(data)
    except ModelFileError as error:
        raise InputError(f"{source} is not a model that can be used. {error}") from None


def inputs_of(model: KernelModel) -> Inputs:
    """The columns that a model reads; one that was trained on bare arrays has no fill for gaps."""
    if model.inputs is not None:
        return model.inputs
    names = model.feature_names or tuple(f"x{number}" for number in range(model.n_features))
    return Inputs(tuple(NumberColumn(name) for name in names))


def features(table: Table, inputs: Inputs) -> tuple[FloatArray, list[str]]:
    """X (n, n_features), the model's features of the table's rows, and what to note about them."""
    table.require([column.name for column in inputs.columns])
    columns: dict[str, Sequence[Any] | FloatArray] = {}
    notes = list(table.notes)
    for column in inputs.columns:
        match column:
            case CategoryColumn(name, levels):
                columns[name] = words = table.words(name)
                notes += _note_unknown(name, Counter(word for word in words if word not in (None, *levels)))
            case NumberColumn(name, fill):
                columns[name] = numbers = table.numbers(name)
                notes += _check_gaps(table, name, fill, np.flatnonzero(np.isnan(numbers)))
    return inputs.transform(columns), notes


def _note_unknown(name: str, unknown: Counter[Any]) -> list[str]:
    if not unknown:
        return []
    some = ", ".join(repr(word) for word, _ in unknown.most_common(3))
    return [f"column {name!r}: {unknown.total():,} rows hold what the model has never seen, such as {some}"]


def _check_gaps(table: Table, name: str, fill: float | None, gaps: IntArray) -> list[str]:
    if len(gaps) == 0:
        return []
    if fill is None:
        raise table.refuse(name, int(gaps[0]), None, "the model has no fill for missing values")
    return [f"column {name!r}: {len(gaps):,} missing values are taken as {short(fill)}"]


def predict(
    model: KernelModel, table: Table, scores: bool, keep: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """The columns to write, those to keep first, and notes."""
    kept = table.names if EVERYTHING in keep else list(keep)
    table.require(kept)
    X, notes = features(table, inputs_of(model))
    said = _outputs(model, X, scores)
    clash = sorted(set(kept) & set(said))
    if clash:
        raise InputError(f"{table.source} has a column {clash[0]!r} already: do not --keep it.")
    return {name: table.original(name) for name in kept} | said, notes


def _outputs(model: KernelModel, X: FloatArray, scores: bool) -> dict[str, Any]:
    predicted = model.predict(X)
    if model.classes is None and predicted.ndim == 2:
        return {f"prediction {number}": column.tolist() for number, column in enumerate(predicted.T)}
    columns: dict[str, Any] = {"prediction": predicted.tolist()}
    if not scores:
        return columns
    if model.classes is None:
        raise InputError("--scores is for classifiers: the predictions of this model are its outputs.")
    outputs = model.decision_function(X)
    if outputs.ndim == 1:
        return columns | {"score": outputs.tolist()}
    names = [f"score {label}" for label in model.classes.tolist()]
    return columns | {name: column.tolist() for name, column in zip(names, outputs.T, strict=True)}


def evaluate(model: KernelModel, table: Table, name: str | None) -> tuple[dict[str, Any], list[str]]:
    """Scores on the rows that have a target, and notes."""
    name = name or model.metadata.get("target")
    if not isinstance(name, str):
        raise InputError("The model does not say which column it predicts: name it with --target.")
    if model.classes is None and not model.flat:
        raise InputError("A model of several outputs cannot be evaluated here: use its predictions.")
    table.require([name])
    target = known_target(table, name, model.classes)
    X, notes = features(table, inputs_of(model))
    if len(target.rows) < table.n_rows:
        notes.append(f"{table.n_rows - len(target.rows)} rows without a value of {name!r} are left out")
    scores = score(model, target.y, model.predict(X[target.rows]))
    if model.classes is not None:
        known = model.classes.tolist()
        notes += _note_unknown(name, Counter(label for label in target.y.tolist() if label not in known))
    return {"target": name, **scores}, notes
