"""Columns of a table as plain values of a model file, and back."""

from __future__ import annotations

from typing import Any

from sleek._runtime.json_values import ModelFileError, check_keys, list_of, number_of, object_of, text_of
from sleek.tables.columns import CategoryColumn, Column, NumberColumn


def column_to_json(column: Column) -> dict[str, Any]:
    """A column as plain values."""
    match column:
        case NumberColumn(name, fill):
            return {"kind": "number", "name": name, "fill": fill}
        case CategoryColumn(name, levels):
            return {"kind": "category", "name": name, "levels": list(levels)}
    raise ValueError(f"A model with a column of type {type(column).__name__} cannot be saved.")


def columns_from_json(items: list[Any]) -> tuple[Column, ...]:
    """The columns that were written, all of different names."""
    columns = tuple(_column(item) for item in items)
    if len({column.name for column in columns}) < len(columns):
        raise ModelFileError("`inputs` must be columns of different names.")
    return columns


def _column(item: Any) -> Column:
    description = object_of(item, "inputs")
    match description.get("kind"):
        case "number":
            check_keys(description, {"kind", "name", "fill"}, "A column of `inputs`")
            fill = description["fill"]
            name = text_of(description["name"], "inputs.name")
            return NumberColumn(name, None if fill is None else number_of(fill, "inputs.fill"))
        case "category":
            check_keys(description, {"kind", "name", "levels"}, "A column of `inputs`")
            items = list_of(description["levels"], "inputs.levels")
            levels = tuple(text_of(level, "inputs.levels") for level in items)
            if len(set(levels)) < len(levels):
                raise ModelFileError("`inputs.levels` must be different from each other.")
            return CategoryColumn(text_of(description["name"], "inputs.name"), levels)
    raise ModelFileError(
        f'`inputs.kind` must be "number" or "category", got {description.get("kind")!r:.80}.'
    )
