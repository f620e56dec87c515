"""A stranger's JSON as a model: every value is checked before it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.base import Basis, Units
from sleek.model.kernel_model import KernelModel
from sleek.model.strict_json import ModelFileError
from sleek.tables.columns import CategoryColumn, Column, Inputs, NumberColumn

_KEYS = {
    "format",
    "version",
    "written_by",
    "basis",
    "n_features",
    "feature_names",
    "inputs",
    "classes",
    "flat",
    "C",
    "units",
    "theta",
    "b",
    "trained_by",
    "metadata",
}


class ModelReader:
    """The parts of a parsed document, checked and then put together."""

    def __init__(
        self, document: Mapping[str, Any], bases: Mapping[str, type[Basis]], label_types: Sequence[str]
    ) -> None:
        _check_keys(document, _KEYS, "The file")
        self.document, self.bases, self.label_types = document, bases, label_types

    def model(self) -> KernelModel:
        """The model, or a `ModelFileError`."""
        document = self.document
        _text(document["written_by"], "written_by")
        d = _count(document["n_features"], "n_features")
        basis = self._basis()
        theta, b = _matrix(document["theta"], "theta"), _vector(document["b"], "b")
        m, k = theta.shape
        if len(b) != k:
            raise ModelFileError(
                f"`b` must have a number for each of the {k} columns of `theta`, got {len(b)}."
            )
        C = _number(document["C"], "C")
        if C <= 0:
            raise ModelFileError(f"`C` must be positive, got {C}.")
        classes = self._classes(k)
        flat = _truth(document["flat"], "flat")
        if flat != (k == 1) and (flat or classes is not None):
            raise ModelFileError(
                f"`flat` must be {str(k == 1).lower()} for {k} outputs, got {str(flat).lower()}."
            )
        inputs = self._inputs(d)
        return KernelModel(
            basis=basis,
            units=self._units(basis, m, d),
            theta=theta,
            b=b,
            C=C,
            classes=classes,
            flat=flat,
            feature_names=self._feature_names(d),
            inputs=inputs,
            trained_by=_optional_object(document["trained_by"], "trained_by"),
            metadata=_object_of(document["metadata"], "metadata"),
        )

    def _basis(self) -> Basis:
        description = _object_of(self.document["basis"], "basis")
        _check_keys(description, {"name", "settings"}, "`basis`")
        name = _text(description["name"], "basis.name")
        if name not in self.bases:
            known = ", ".join(map(repr, sorted(self.bases)))
            raise ModelFileError(
                f"The basis {name!r:.80} is unknown here; known are {known}. If it is yours, import it first."
            )
        basis, settings = self.bases[name](), _object_of(description["settings"], "basis.settings")
        _check_keys(settings, set(basis.get_params(deep=False)), "`basis.settings`")
        for key, value in settings.items():
            if not isinstance(value, int | float | str | None):
                raise ModelFileError(f"`basis.settings.{key}` must be a number, text or null.")
        return basis.set_params(**settings) if settings else basis

    def _units(self, basis: Basis, m: int, d: int) -> Units:
        """Arrays of the shapes that the basis itself gives to units of 7 × 11 numbers."""
        description = _object_of(self.document["units"], "units")
        lower = basis.lower_bounds()
        _check_keys(description, set(lower), "`units`")
        example = basis.start(np.zeros((7, 11)), 1.0, np.random.default_rng(0))
        arrays = {}
        for name in example.arrays:
            shape = tuple({7: m, 11: d}.get(size, size) for size in example[name].shape)
            where = f"units.{name}"
            array = _array(description[name], where, len(shape))
            if array.shape != shape:
                raise ModelFileError(f"`{where}` must have shape {shape}, got {array.shape}.")
            if array.min() < lower[name]:
                raise ModelFileError(f"`{where}` must not be below {lower[name]}, got {array.min()}.")
            arrays[name] = array
        return Units(arrays)

    def _classes(self, k: int) -> AnyArray | None:
        if self.document["classes"] is None:
            return None
        description = _object_of(self.document["classes"], "classes")
        _check_keys(description, {"type", "labels"}, "`classes`")
        kind, items = description["type"], _list(description["labels"], "classes.labels")
        if kind not in self.label_types:
            raise ModelFileError(
                f"`classes.type` must be one of {', '.join(self.label_types)}, got {kind!r:.80}."
            )
        if len(items) < 2 or k != (1 if len(items) == 2 else len(items)):
            raise ModelFileError(f"{k} outputs do not fit {len(items)} class labels.")
        labels = _labels(items, kind)
        if len(set(labels.tolist())) < len(labels):
            raise ModelFileError("`classes.labels` must be different from each other.")
        return labels

    def _feature_names(self, d: int) -> tuple[str, ...] | None:
        if self.document["feature_names"] is None:
            return None
        items = _list(self.document["feature_names"], "feature_names")
        if len(items) != d:
            raise ModelFileError(f"`feature_names` must be null or {d} names, got {len(items)}.")
        return tuple(_text(name, "feature_names") for name in items)

    def _inputs(self, d: int) -> Inputs | None:
        if self.document["inputs"] is None:
            return None
        columns = tuple(_column(item) for item in _list(self.document["inputs"], "inputs"))
        inputs = Inputs(columns)
        if len({column.name for column in columns}) < len(columns):
            raise ModelFileError("`inputs` must be columns of different names.")
        if len(inputs.feature_names) != d:
            raise ModelFileError(f"`inputs` make {len(inputs.feature_names)} features, the model has {d}.")
        return inputs


def _column(item: Any) -> Column:
    description = _object_of(item, "inputs")
    match description.get("kind"):
        case "number":
            _check_keys(description, {"kind", "name", "fill"}, "A column of `inputs`")
            fill = description["fill"]
            name = _text(description["name"], "inputs.name")
            return NumberColumn(name, None if fill is None else _number(fill, "inputs.fill"))
        case "category":
            _check_keys(description, {"kind", "name", "levels"}, "A column of `inputs`")
            items = _list(description["levels"], "inputs.levels")
            levels = tuple(_text(level, "inputs.levels") for level in items)
            if len(set(levels)) < len(levels):
                raise ModelFileError("`inputs.levels` must be different from each other.")
            return CategoryColumn(_text(description["name"], "inputs.name"), levels)
    raise ModelFileError(
        f'`inputs.kind` must be "number" or "category", got {description.get("kind")!r:.80}.'
    )


def _labels(items: list[Any], kind: str) -> AnyArray:
    where = f"classes.labels of type {kind}"
    if kind in ("str", "object"):
        return np.array([_text(item, where) for item in items], dtype=kind)
    if kind == "bool":
        return np.array([_truth(item, where) for item in items])
    if kind.startswith("float"):
        numbers = np.array([_number(item, where) for item in items])
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


def _check_keys(found: Mapping[str, Any], wanted: set[str], what: str) -> None:
    missing, extra = sorted(wanted - set(found)), sorted(set(found) - wanted)
    if missing:
        raise ModelFileError(f"{what} must have the key {missing[0]!r}, which is missing.")
    if extra:
        raise ModelFileError(f"{what} has an unknown key {extra[0]!r:.80}.")


def _object_of(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ModelFileError(f"`{where}` must be an object, got {value!r:.80}.")
    return value


def _optional_object(value: Any, where: str) -> dict[str, Any] | None:
    return None if value is None else _object_of(value, where)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ModelFileError(f"`{where}` must be a list, got {value!r:.80}.")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise ModelFileError(f"`{where}` must be text, got {value!r:.80}.")
    return value


def _truth(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise ModelFileError(f"`{where}` must be true or false, got {value!r:.80}.")
    return value


def _count(value: Any, where: str) -> int:
    if type(value) is not int or value < 1:
        raise ModelFileError(f"`{where}` must be a whole number of at least 1, got {value!r:.80}.")
    return value


def _number(value: Any, where: str) -> float:
    if type(value) not in (int, float):
        raise ModelFileError(f"`{where}` must be a number, got {value!r:.80}.")
    return float(value)


def _vector(value: Any, where: str) -> FloatArray:
    return _array(value, where, 1)


def _matrix(value: Any, where: str) -> FloatArray:
    return _array(value, where, 2)


def _array(value: Any, where: str, n_dimensions: int) -> FloatArray:
    """Nested lists of one length at each level, none of them empty, of numbers."""
    items, shape = [value], []
    for _ in range(n_dimensions):
        lists = [_list(item, where) for item in items]
        if len({len(item) for item in lists}) > 1 or not lists[0]:
            raise ModelFileError(f"`{where}` must have rows of one length, and at least one number.")
        shape.append(len(lists[0]))
        items = [item for row in lists for item in row]
    return np.array([_number(item, where) for item in items]).reshape(shape)
