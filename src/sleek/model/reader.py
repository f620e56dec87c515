"""A stranger's JSON as a model: every value is checked before it is used.

Version 2 of the format has parts, outputs and facts; version 1 had one basis, `classes` and `flat` instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sleek._runtime.json_values import (
    ModelFileError,
    array_of,
    check_keys,
    count_of,
    list_of,
    number_of,
    object_of,
    text_of,
    truth_of,
)
from sleek._runtime.types import FloatArray
from sleek.bases import known_bases
from sleek.bases.base import Basis
from sleek.bases.expansion import Expansion, Part
from sleek.bases.units import Units
from sleek.calibration import Calibration, calibration_from_json
from sleek.model.facts import Facts
from sleek.model.kernel_model import KernelModel
from sleek.model.memory import Memory
from sleek.outputs.base import Outputs, known_outputs
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.numbers import NumberOutputs
from sleek.tables.inputs import Inputs
from sleek.tables.saved import columns_from_json

_COMMON = {
    "format",
    "version",
    "written_by",
    "n_features",
    "feature_names",
    "inputs",
    "C",
    "theta",
    "b",
    "trained_by",
    "metadata",
}
_KEYS = {1: _COMMON | {"basis", "units", "classes", "flat"}, 2: _COMMON | {"parts", "outputs", "facts"}}
_OPTIONAL = {1: frozenset[str](), 2: frozenset({"calibration", "moments"})}  # that not all files have
VERSIONS = tuple(_KEYS)


def model_of(document: Mapping[str, Any], version: int) -> KernelModel:
    """The model that a parsed document describes, or a `ModelFileError`."""
    check_keys(document, _KEYS[version], "The file", _OPTIONAL[version])
    text_of(document["written_by"], "written_by")
    d = count_of(document["n_features"], "n_features")
    parts = _parts(document, version)
    theta, b = array_of(document["theta"], "theta", 2), array_of(document["b"], "b", 1)
    m, k = theta.shape
    if len(b) != k:
        raise ModelFileError(f"`b` must have a number for each of the {k} columns of `theta`, got {len(b)}.")
    C = number_of(document["C"], "C")
    if C <= 0:
        raise ModelFileError(f"`C` must be positive, got {C}.")
    outputs = _outputs(document, k) if version > 1 else _outputs_of_version_1(document, k)
    inputs = _inputs(document, d)
    expansion = Expansion(
        tuple(_part(block, m if version == 1 else None, d, where) for where, block in parts)
    )
    if len(expansion) != m:
        raise ModelFileError(f"`theta` must have a row for each of {len(expansion)} units, got {m}.")
    facts = document.get("facts")
    n_columns = d if inputs is None else len(inputs.columns)
    return KernelModel(
        expansion=expansion,
        theta=theta,
        b=b,
        C=C,
        outputs=outputs,
        feature_names=_feature_names(document, d),
        inputs=inputs,
        facts=None if facts is None else Facts.from_json(object_of(facts, "facts"), d, n_columns, k),
        calibration=_calibration(document, m, k, outputs),
        trained_by=_optional_object(document["trained_by"], "trained_by"),
        memory=_memory(document, m, k, C, outputs),
        metadata=object_of(document["metadata"], "metadata"),
    )


def _parts(document: Mapping[str, Any], version: int) -> list[tuple[str, dict[str, Any]]]:
    """The blocks that describe parts, and where they stand."""
    if version == 1:
        return [("", {"basis": document["basis"], "units": document["units"]})]
    blocks = list_of(document["parts"], "parts")
    if not blocks:
        raise ModelFileError("`parts` must have at least one part.")
    found = []
    for number, item in enumerate(blocks):
        block = object_of(item, f"parts[{number}]")
        check_keys(block, {"basis", "units"}, f"`parts[{number}]`")
        found.append((f"parts[{number}].", block))
    return found


def _part(block: Mapping[str, Any], m: int | None, d: int, where: str) -> Part:
    basis = _basis(block["basis"], f"{where}basis")
    return Part(basis, _units(basis, object_of(block["units"], f"{where}units"), m, d, f"{where}units"))


def _basis(value: Any, where: str) -> Basis:
    description, bases = object_of(value, where), known_bases()
    check_keys(description, {"name", "settings"}, f"`{where}`")
    name = text_of(description["name"], f"{where}.name")
    if name not in bases:
        known = ", ".join(map(repr, sorted(bases)))
        raise ModelFileError(
            f"The basis {name!r:.80} is unknown here; known are {known}. If it is yours, import it first."
        )
    basis, settings = bases[name](), object_of(description["settings"], f"{where}.settings")
    check_keys(settings, set(basis.get_params(deep=False)), f"`{where}.settings`")
    for key, setting in settings.items():
        if not isinstance(setting, int | float | str | None):
            raise ModelFileError(f"`{where}.settings.{key}` must be a number, text or null.")
    return basis.set_params(**settings) if settings else basis


def _units(basis: Basis, block: Mapping[str, Any], m: int | None, d: int, where: str) -> Units:
    """Arrays of the shapes that the basis declares."""
    check_keys(block, {parameter.name for parameter in basis.parameters}, f"`{where}`")
    sizes: dict[str, int] = {"feature": d} | ({} if m is None else {"unit": m})
    arrays: dict[str, FloatArray] = {}
    for parameter in basis.parameters:
        place = f"{where}.{parameter.name}"
        array = array_of(block[parameter.name], place, len(parameter.axes))
        for axis, size in zip(parameter.axes, array.shape, strict=True):
            sizes.setdefault(axis, size)
        shape = tuple(sizes[axis] for axis in parameter.axes)
        if array.shape != shape:
            raise ModelFileError(f"`{place}` must have shape {shape}, got {array.shape}.")
        if array.min() < parameter.lower:
            raise ModelFileError(f"`{place}` must not be below {parameter.lower}, got {array.min()}.")
        arrays[parameter.name] = array
    return Units(arrays)


def _outputs(document: Mapping[str, Any], k: int) -> Outputs:
    block, kinds = dict(object_of(document["outputs"], "outputs")), known_outputs()
    kind = block.pop("kind", None)
    if not isinstance(kind, str) or kind not in kinds:
        known = ", ".join(map(repr, sorted(kinds)))
        raise ModelFileError(
            f"The kind of outputs {kind!r:.80} is unknown here; known are {known}. If it is yours, import it "
            "first."
        )
    try:
        return kinds[kind].from_json(block, k)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(str(error)) from None


def _outputs_of_version_1(document: Mapping[str, Any], k: int) -> Outputs:
    outputs: Outputs | None = None
    if document["classes"] is not None:
        try:
            outputs = ClassOutputs.from_json(object_of(document["classes"], "classes"), k)
        except ModelFileError:
            raise
        except ValueError as error:
            raise ModelFileError(str(error)) from None
    flat = truth_of(document["flat"], "flat")
    if flat != (k == 1) and (flat or outputs is not None):
        raise ModelFileError(
            f"`flat` must be {str(k == 1).lower()} for {k} outputs, got {str(flat).lower()}."
        )
    return outputs or NumberOutputs(np.zeros(k), np.ones(k), flat)


def _calibration(document: Mapping[str, Any], m: int, k: int, outputs: Outputs) -> Calibration | None:
    block = document.get("calibration")
    if block is None:
        return None
    return calibration_from_json(object_of(block, "calibration"), m, k, outputs.kind)


def _memory(document: Mapping[str, Any], m: int, k: int, C: float, outputs: Outputs) -> Memory | None:
    block = document.get("moments")
    if block is None:
        return None
    if not outputs.loss.quadratic:
        raise ModelFileError("`moments` cannot be those of log-odds, which sums over rows do not determine.")
    n_classes = len(outputs.classes) if isinstance(outputs, ClassOutputs) else None
    return Memory.from_json(object_of(block, "moments"), m, k, C, n_classes)


def _feature_names(document: Mapping[str, Any], d: int) -> tuple[str, ...] | None:
    if document["feature_names"] is None:
        return None
    items = list_of(document["feature_names"], "feature_names")
    if len(items) != d:
        raise ModelFileError(f"`feature_names` must be null or {d} names, got {len(items)}.")
    return tuple(text_of(name, "feature_names") for name in items)


def _inputs(document: Mapping[str, Any], d: int) -> Inputs | None:
    if document["inputs"] is None:
        return None
    inputs = Inputs(columns_from_json(list_of(document["inputs"], "inputs")))
    if len(inputs.feature_names) != d:
        raise ModelFileError(f"`inputs` make {len(inputs.feature_names)} features, the model has {d}.")
    return inputs


def _optional_object(value: Any, where: str) -> dict[str, Any] | None:
    return None if value is None else object_of(value, where)
