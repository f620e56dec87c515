"""Checks of the plain values in model files, which are not trusted: text, numbers, arrays, labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray

LABEL_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "str", "object"),
)


class ModelFileError(ValueError):
    """A file is not a model that this release of sleek can read; the message says why."""


def check_keys(
    found: Mapping[str, Any], wanted: set[str], what: str, optional: frozenset[str] = frozenset()
) -> None:
    """No key missing, none unknown."""
    missing, extra = sorted(wanted - set(found)), sorted(set(found) - wanted - optional)
    if missing:
        raise ModelFileError(f"{what} must have the key {missing[0]!r}, which is missing.")
    if extra:
        raise ModelFileError(f"{what} has an unknown key {extra[0]!r:.80}.")


def object_of(value: Any, where: str) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise ModelFileError(f"`{where}` must be an object, got {value!r:.80}.")
    return value


def list_of(value: Any, where: str) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise ModelFileError(f"`{where}` must be a list, got {value!r:.80}.")
    return value


def text_of(value: Any, where: str) -> str:
    """Text without half characters."""
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise ModelFileError(f"`{where}` must be text, got {value!r:.80}.")
    return value


def truth_of(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ModelFileError(f"`{where}` must be true or false, got {value!r:.80}.")
    return value


def count_of(value: Any, where: str, least: int = 1) -> int:
    """A whole number."""
    if type(value) is not int or value < least:
        raise ModelFileError(f"`{where}` must be a whole number of at least {least}, got {value!r:.80}.")
    return value


def number_of(value: Any, where: str) -> float:
    """A number."""
    if type(value) not in (int, float):
        raise ModelFileError(f"`{where}` must be a number, got {value!r:.80}.")
    return float(value)


def array_of(value: Any, where: str, n_dimensions: int) -> FloatArray:
    """Nested lists of one length at each level, none of them empty, of numbers."""
    items, shape = [value], []
    for _ in range(n_dimensions):
        lists = [list_of(item, where) for item in items]
        if len({len(item) for item in lists}) > 1 or not lists[0]:
            raise ModelFileError(f"`{where}` must have rows of one length, and at least one number.")
        shape.append(len(lists[0]))
        items = [item for row in lists for item in row]
    return np.array([number_of(item, where) for item in items]).reshape(shape)


def labels_to_json(classes: AnyArray) -> dict[str, Any]:
    """Class labels with their type."""
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    labels = classes.tolist()
    if kind not in LABEL_TYPES or (kind == "object" and not all(isinstance(label, str) for label in labels)):
        raise ValueError(
            "Class labels must be truth values, whole numbers, numbers or text to be saved, got "
            f"{labels!r:.80} of type {kind}."
        )
    return {"type": kind, "labels": labels}


def labels_from_json(block: Mapping[str, Any]) -> AnyArray:
    """Class labels of their type, all different."""
    kind, items = block["type"], list_of(block["labels"], "classes.labels")
    if kind not in LABEL_TYPES:
        raise ModelFileError(f"`classes.type` must be one of {', '.join(LABEL_TYPES)}, got {kind!r:.80}.")
    labels = _labels(items, kind)
    if len(set(labels.tolist())) < len(labels):
        raise ModelFileError("`classes.labels` must be different from each other.")
    return labels


def _labels(items: list[Any], kind: str) -> AnyArray:
    where = f"classes.labels of type {kind}"
    if kind in ("str", "object"):
        return np.array([text_of(item, where) for item in items], dtype=kind)
    if kind == "bool":
        return np.array([truth_of(item, where) for item in items])
    if kind.startswith("float"):
        numbers = np.array([number_of(item, where) for item in items])
        with np.errstate(over="ignore"):
            cast = numbers.astype(kind)
        if not np.array_equal(cast, numbers):
            raise ModelFileError(f"`{where}` must be numbers of that type, got {items!r:.80}.")
        return cast
    limits = np.iinfo(kind)
    for item in items:
        if type(item) is not int or not limits.min <= item <= limits.max:
            raise ModelFileError(f"`{where}` must be whole numbers of that type, got {item!r:.80}.")
    return np.array(items, dtype=kind)
