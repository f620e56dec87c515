"""JSON of the parts of a model: written, and read back with every value checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sleek._runtime.json_values import ModelFileError, array_of, check_keys, list_of, object_of, text_of
from sleek._runtime.types import FloatArray
from sleek.bases import known_bases
from sleek.bases.base import Basis
from sleek.bases.expansion import Expansion, Part
from sleek.bases.units import Units


def parts_to_json(expansion: Expansion) -> list[dict[str, Any]]:
    """All parts as plain values."""
    return [_part_to_json(part) for part in expansion.parts]


def parts_from_json(value: Any, d: int, where: str) -> Expansion:
    """What `parts_to_json` wrote, for rows of d features."""
    blocks, found = list_of(value, where), []
    if not blocks:
        raise ModelFileError(f"`{where}` must have at least one part.")
    for number, item in enumerate(blocks):
        block = object_of(item, f"{where}[{number}]")
        check_keys(block, {"basis", "units"}, f"`{where}[{number}]`")
        found.append(part_from_json(block, d, f"{where}[{number}]."))
    return Expansion(tuple(found))


def part_from_json(block: Mapping[str, Any], d: int, where: str, m: int | None = None) -> Part:
    """One part for rows of d features; with m, it must have so many units."""
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
        several = setting if isinstance(setting, list) else [setting]
        if not all(isinstance(one, int | float | str | None) for one in several):
            raise ModelFileError(f"`{where}.settings.{key}` must be a number, text, null or a list of these.")
        basis.set_params(**{key: tuple(setting) if isinstance(setting, list) else setting})
    return basis


def _units(basis: Basis, block: Mapping[str, Any], m: int | None, d: int, where: str) -> Units:
    """Arrays of the shapes that the basis declares."""
    try:
        parameters, own = basis.parameters, dict(basis.sizes)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"The settings of the basis of `{where}` are refused: {error}") from None
    check_keys(block, {parameter.name for parameter in parameters}, f"`{where}`")
    sizes: dict[str, int] = {"feature": d} | own | ({} if m is None else {"unit": m})
    arrays: dict[str, FloatArray] = {}
    for parameter in parameters:
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


def _part_to_json(part: Part) -> dict[str, Any]:
    known = known_bases().get(part.basis.name)
    if known is not type(part.basis):
        raise ValueError(
            f"The basis {part.basis.name!r} of this model is not the one that this name stands for here, "
            f"{known}: a saved model could not be read back."
        )
    settings = part.basis.get_params(deep=False)
    arrays = {name: array.tolist() for name, array in part.units.arrays.items()}
    return {"basis": {"name": part.basis.name, "settings": settings}, "units": arrays}
