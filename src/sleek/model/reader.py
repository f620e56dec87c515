"""Reading a model from parsed JSON, which is not trusted: every value is checked before it is used.

Version 3 of the format has distributions of columns among the facts, and constraints, which version 2 had
not; version 1 had one basis, `classes` and `flat` instead of parts and outputs, and no facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sleek._runtime import fields
from sleek._runtime.json_values import ModelFileError, list_of, object_of, truth_of
from sleek.bases.constraints import Constraints
from sleek.bases.expansion import Expansion
from sleek.bases.saved_parts import part_from_json, parts_from_json
from sleek.calibration import Calibration, calibration_from_json
from sleek.model.edits import NO_EDITS, Edits
from sleek.model.facts import Facts
from sleek.model.kernel_model import KernelModel
from sleek.model.memory import Memory
from sleek.outputs.base import Outputs, known_outputs
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.numbers import NumberOutputs
from sleek.tables.inputs import Inputs
from sleek.tables.saved import columns_from_json

_COMMON = {
    "format": fields.anything(),
    "version": fields.anything(),
    "written_by": fields.text(),
    "n_features": fields.count(),
    "theta": fields.array("unit", "output"),
    "b": fields.array("output"),
    "C": fields.number(above=0),
    "trained_by": fields.nullable(fields.plain_object()),
    "metadata": fields.plain_object(),
    **{name: fields.anything() for name in ("feature_names", "inputs")},
}
_FIELDS = {
    1: _COMMON | {name: fields.anything() for name in ("basis", "units", "classes", "flat")},
    2: _COMMON
    | {name: fields.anything() for name in ("parts", "outputs", "facts")}
    | {name: fields.optional(fields.anything()) for name in ("calibration", "moments")},
}
_FIELDS[3] = _FIELDS[2] | {name: fields.optional(fields.anything()) for name in ("constraints", "edits")}
VERSIONS = tuple(_FIELDS)


def model_of(document: Mapping[str, Any], version: int) -> KernelModel:
    """The model that a parsed document describes, or a `ModelFileError`.

    What describes parts, columns, outputs, facts and so on is read where these are defined, as soon as the
    numbers of units, outputs and features are known.
    """
    found = fields.read(document, _FIELDS[version], "", "The file")
    d, theta, C = found["n_features"], found["theta"], found["C"]
    m, k = theta.shape
    outputs = _outputs(found, k) if version > 1 else _outputs_of_version_1(found, k)
    inputs = _inputs(found, d)
    expansion = _expansion(found, version, m, d)
    if len(expansion) != m:
        raise ModelFileError(f"`theta` must have a row for each of {len(expansion)} units, got {m}.")
    names = fields.nullable(fields.names("feature")).read(
        found["feature_names"], "feature_names", {"feature": d}
    )
    facts, n_columns = found.get("facts"), d if inputs is None else len(inputs.columns)
    model = KernelModel(
        expansion=expansion,
        theta=theta,
        b=found["b"],
        C=C,
        outputs=outputs,
        feature_names=names,
        inputs=inputs,
        facts=None if facts is None else Facts.from_json(facts, d, n_columns, k),
        calibration=_calibration(found, m, k, d, outputs),
        trained_by=found["trained_by"],
        memory=_memory(found, m, k, C, outputs),
        edits=_edits(found, m, k),
        metadata=found["metadata"],
    )
    return model if found.get("constraints") is None else _constrained(model, found["constraints"])


def _constrained(model: KernelModel, block: Any) -> KernelModel:
    """The model with its constraints, if it keeps them."""
    constraints = Constraints.from_json(block)
    try:
        return replace(model, constraints=constraints)
    except ValueError as error:
        raise ModelFileError(
            f"`constraints` say what the model does not keep ({constraints}). {error}"
        ) from None


def _expansion(document: Mapping[str, Any], version: int, m: int, d: int) -> Expansion:
    if version == 1:
        block = {"basis": document["basis"], "units": document["units"]}
        return Expansion((part_from_json(block, d, "", m),))
    return parts_from_json(document["parts"], d, "parts")


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


def _calibration(document: Mapping[str, Any], m: int, k: int, d: int, outputs: Outputs) -> Calibration | None:
    block = document.get("calibration")
    if block is None:
        return None
    return calibration_from_json(object_of(block, "calibration"), m, k, d, outputs.kind)


def _memory(document: Mapping[str, Any], m: int, k: int, C: float, outputs: Outputs) -> Memory | None:
    block = document.get("moments")
    if block is None:
        return None
    if not outputs.loss.smooth:
        raise ModelFileError(
            f"`moments` cannot be those of {outputs.describe()}, which sums over rows do not determine."
        )
    n_classes = len(outputs.labels) or None
    return Memory.from_json(object_of(block, "moments"), m, k, C, n_classes, outputs.loss.quadratic)


def _edits(document: Mapping[str, Any], m: int, k: int) -> Edits:
    block = document.get("edits")
    return NO_EDITS if block is None else Edits.from_json(object_of(block, "edits"), m, k)


def _inputs(document: Mapping[str, Any], d: int) -> Inputs | None:
    if document["inputs"] is None:
        return None
    inputs = Inputs(columns_from_json(list_of(document["inputs"], "inputs")))
    if len(inputs.feature_names) != d:
        raise ModelFileError(f"`inputs` make {len(inputs.feature_names)} features, the model has {d}.")
    return inputs
