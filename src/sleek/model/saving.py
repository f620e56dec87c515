"""Saving and loading models as JSON files: written atomically, checked when read.

The format is described in docs/format.md. Nothing in a file is ever executed: reading it builds numbers and
words, or fails with a `ModelFileError` whose sentence says where the file is wrong.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sleek import __version__
from sleek._runtime.atomic import write_atomically
from sleek._runtime.json_values import ModelFileError
from sleek._runtime.locks import lock
from sleek._runtime.strict_json import MAX_DEPTH, parse
from sleek.bases.saved_parts import parts_to_json
from sleek.model.kernel_model import KernelModel
from sleek.model.living import require_memory
from sleek.model.reader import VERSIONS, model_of
from sleek.tables.saved import column_to_json

FORMAT = "sleek-model"
VERSION = 3
MAX_BYTES = 16 * 2**20  # a model of 10 units and 8 features has about 4,000


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> KernelModel:
    """Read a model that `KernelModel.save` has written: the same numbers, to the bit.

    The file may have been written by anybody: reading it executes nothing, takes O(bytes) time and memory,
    and whatever is wrong with it ends in a `ModelFileError` that says so.

    Parameters
    ----------
    path : path of a file
    max_bytes : int, default=16 MiB
        Larger files are refused before they are read.

    Examples
    --------
    >>> import sleek, tempfile
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> model = sleek.LowRankLSSVC(4, basis="robust_rbf", C=10.0, random_state=0).fit(X, y).model_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.json", metadata={"data": "Ripley"})
    ...     again = sleek.load(f"{folder}/model.json")
    >>> again
    KernelModel(4 robust_rbf units, 2 features, classes [0, 1])
    >>> bool((again.decision_function(X) == model.decision_function(X)).all()), again.metadata["data"]
    (True, 'Ripley')
    """
    try:
        return loads(_read(Path(path), max_bytes))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None


def loads(data: bytes) -> KernelModel:
    """The model in the bytes of a file; see `load`."""
    document = parse(data)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f'This is not a sleek model: it has no "format": "{FORMAT}".')
    version = document.get("version")
    if type(version) is not int or version not in VERSIONS:
        raise ModelFileError(
            f"The file has format version {version!r:.50}, and sleek {__version__} reads versions "
            f"{VERSIONS[0]} to {VERSIONS[-1]}: use the release of sleek that wrote it, or a newer one."
        )
    return model_of(document, version)


def save(
    model: KernelModel,
    path: str | os.PathLike[str],
    metadata: Mapping[str, Any] | None = None,
    moments: bool = False,
) -> None:
    """Write a model; see `KernelModel.save`."""
    data = dumps(model, metadata, moments)
    with lock(path, needed=False):  # not in the middle of an update of the same file
        write_atomically(path, data)


def dumps(model: KernelModel, metadata: Mapping[str, Any] | None = None, moments: bool = False) -> bytes:
    """The bytes of a model's file, one line for each row of numbers."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"sleek {__version__}",
        "n_features": model.n_features,
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "inputs": None
        if model.inputs is None
        else [column_to_json(column) for column in model.inputs.columns],
        "outputs": {"kind": model.outputs.kind, **model.outputs.to_json()},
        "C": float(model.C),
        "parts": parts_to_json(model.expansion),
        "theta": model.theta.tolist(),
        "b": model.b.tolist(),
        "facts": None if model.facts is None else model.facts.to_json(),
        "calibration": None
        if model.calibration is None
        else {"kind": model.calibration.kind, **model.calibration.to_json()},
        "constraints": None if model.constraints is None else model.constraints.to_json(),
        "trained_by": None if model.trained_by is None else dict(model.trained_by),
        "metadata": dict(model.metadata if metadata is None else metadata),
    }
    if model.edits.history:
        document["edits"] = model.edits.to_json()
    if moments:
        document["moments"] = require_memory(model).to_json()
    lines = [f'"{key}": {_layout(_check(value, key))}' for key, value in document.items()]
    data = ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")
    _check_readable(data, model)
    return data


def _check(value: Any, where: str, depth: int = 2) -> Any:
    """A value that JSON can say and that `load` will read back equal."""
    if isinstance(value, np.generic):
        value = value.item()
    if depth > MAX_DEPTH:
        raise ValueError(f"`{where}` is nested more than {MAX_DEPTH} levels deep and cannot be saved.")
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {_check(key, where): _check(item, f"{where}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_check(item, where, depth + 1) for item in value]
    plain = value is None or isinstance(value, bool)
    number = isinstance(value, int) and -(2**63) <= value < 2**64
    real = isinstance(value, float) and np.isfinite(value)
    if (
        plain
        or number
        or real
        or (isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value))
    ):
        return value
    raise ValueError(
        f"`{where}` must be finite numbers, text, truth values, None, and lists and dictionaries of them to "
        f"be saved, got {value!r:.80}."
    )


def _layout(value: Any) -> str:
    """JSON with the rows of a matrix, and the columns of a table, on lines of their own."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n  " + ",\n  ".join(json.dumps(row) for row in value) + "\n]"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(_layout(item) for item in value) + "\n]"
    if isinstance(value, dict) and any(item and isinstance(item, list | dict) for item in value.values()):
        return (
            "{\n" + ",\n".join(f"{json.dumps(key)}: {_layout(item)}" for key, item in value.items()) + "\n}"
        )
    return json.dumps(value)


def _check_readable(data: bytes, model: KernelModel) -> None:
    """A file that cannot be read back is refused here, not when it is needed."""
    try:
        loads(data)
    except ModelFileError as error:
        raise ValueError(f"{model!r} cannot be saved. {error}") from error


def _read(path: Path, max_bytes: int) -> bytes:
    with _open(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = b"" if size > max_bytes else file.read(max_bytes + 1)
    if max(size, len(data)) > max_bytes:
        raise ModelFileError(
            f"The file has {max(size, len(data)):,} bytes, and more than {max_bytes:,} are refused: pass a "
            "larger `max_bytes` if you trust it."
        )
    return data


def _open(path: Path) -> Any:
    if not stat.S_ISREG(path.stat().st_mode):
        raise ModelFileError("A model is read from a regular file, and this is none.")
    return path.open("rb")
