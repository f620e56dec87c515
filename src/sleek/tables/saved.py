"""Columns of a table as plain values of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sleek._runtime.json_values import (
    ModelFileError,
    array_of,
    check_keys,
    list_of,
    number_of,
    object_of,
    text_of,
    truth_of,
)
from sleek.tables.columns import PARTS, CategoryColumn, Column, DateColumn, LevelColumn, NumberColumn

KINDS: dict[str, type[Column]] = {
    "number": NumberColumn,
    "category": CategoryColumn,
    "levels": LevelColumn,
    "date": DateColumn,
}
ORDERS = ("ymd", "dmy", "mdy")


def column_to_json(column: Column) -> dict[str, Any]:
    """A column as plain values; what is as usual is not said."""
    for kind, cls in KINDS.items():
        if type(column) is cls:
            defaults = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
            said = {field.name: getattr(column, field.name) for field in fields(cls)}  # type: ignore[arg-type]
            return {"kind": kind} | {
                key: list(map(list, value))
                if key == "numbers"
                else list(value)
                if isinstance(value, tuple)
                else value
                for key, value in said.items()
                if not (isinstance(value, bool) and value is defaults[key])
            }
    raise ValueError(f"A model with a column of type {type(column).__name__} cannot be saved.")


def columns_from_json(items: list[Any]) -> tuple[Column, ...]:
    """The columns that were written, all of different names."""
    columns = tuple(_column(object_of(item, "inputs")) for item in items)
    if len({column.name for column in columns}) < len(columns):
        raise ModelFileError("`inputs` must be columns of different names.")
    return columns


def _column(block: Mapping[str, Any]) -> Column:
    match block.get("kind"):
        case "number":
            _check(block, "name", "fill", optional=("indicator", "gaps"))
            fill = block["fill"]
            return NumberColumn(
                _name(block),
                None if fill is None else number_of(fill, "inputs.fill"),
                _truth(block, "indicator"),
                _truth(block, "gaps", True),
            )
        case "category":
            _check(block, "name", "levels", optional=("gap", "other"))
            return CategoryColumn(_name(block), _levels(block), _truth(block, "gap"), _truth(block, "other"))
        case "levels":
            _check(block, "name", "levels", "numbers", "other", "missing")
            return _level_column(block)
        case "date":
            _check(block, "name", "parts", "fill", "order", optional=("indicator", "gaps"))
            return _date_column(block)
    known = ", ".join(f'"{kind}"' for kind in KINDS)
    raise ModelFileError(f"`inputs.kind` must be one of {known}, got {block.get('kind')!r:.80}.")


def _level_column(block: Mapping[str, Any]) -> LevelColumn:
    levels = _levels(block)
    numbers = array_of(block["numbers"], "inputs.numbers", 2)
    other, missing = (array_of(block[key], f"inputs.{key}", 1) for key in ("other", "missing"))
    if len(numbers) != len(levels) or not numbers.shape[1] == len(other) == len(missing) > 0:
        raise ModelFileError("`inputs.numbers` must have a line for each of `levels`, as long as `other`.")
    lines = tuple(tuple(line) for line in numbers.tolist())
    return LevelColumn(_name(block), levels, lines, tuple(other.tolist()), tuple(missing.tolist()))


def _date_column(block: Mapping[str, Any]) -> DateColumn:
    parts = tuple(text_of(part, "inputs.parts") for part in list_of(block["parts"], "inputs.parts"))
    if not parts or len(set(parts)) < len(parts) or not set(parts) <= set(PARTS):
        raise ModelFileError(f"`inputs.parts` must be some of {', '.join(PARTS)}, got {parts!r:.80}.")
    order = text_of(block["order"], "inputs.order")
    if order not in ORDERS:
        raise ModelFileError(f"`inputs.order` must be one of {', '.join(ORDERS)}, got {order!r:.80}.")
    fill = number_of(block["fill"], "inputs.fill")
    return DateColumn(
        _name(block), parts, fill, _truth(block, "indicator"), _truth(block, "gaps", True), order
    )


def _check(block: Mapping[str, Any], *wanted: str, optional: tuple[str, ...] = ()) -> None:
    check_keys(block, {"kind", *wanted}, "A column of `inputs`", frozenset(optional))


def _name(block: Mapping[str, Any]) -> str:
    return text_of(block["name"], "inputs.name")


def _truth(block: Mapping[str, Any], key: str, otherwise: bool = False) -> bool:
    return truth_of(block.get(key, otherwise), f"inputs.{key}")


def _levels(block: Mapping[str, Any]) -> tuple[str, ...]:
    levels = tuple(text_of(level, "inputs.levels") for level in list_of(block["levels"], "inputs.levels"))
    if len(set(levels)) < len(levels):
        raise ModelFileError("`inputs.levels` must be different from each other.")
    return levels
