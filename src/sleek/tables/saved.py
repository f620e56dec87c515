"""JSON of encoded columns: written to model files, and read back with every value checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from sleek._runtime import fields
from sleek._runtime.json_values import ModelFileError, object_of
from sleek.tables.columns import PARTS, CategoryColumn, Column, DateColumn, LevelColumn, NumberColumn
from sleek.tables.dates import ORDERS

KINDS: dict[str, type[Column]] = {
    "number": NumberColumn,
    "category": CategoryColumn,
    "levels": LevelColumn,
    "date": DateColumn,
}
MOST_DAYS = 1e11  # about 1970-01-01: days beyond have no fractions, and calendars end


_TRUE, _FALSE = (fields.optional(fields.truth(), value) for value in (True, False))
FIELDS = {  # of each kind
    "number": {
        "name": fields.text(),
        "fill": fields.nullable(fields.number()),
        "indicator": _FALSE,
        "gaps": _TRUE,
    },
    "category": {
        "name": fields.text(),
        "levels": fields.texts(),
        "gap": _FALSE,
        "other": _FALSE,
    },
    "levels": {
        "name": fields.text(),
        "levels": fields.texts("level"),
        "numbers": fields.array("level", "number"),
        "other": fields.array("number"),
        "missing": fields.array("number"),
        "ordered": _FALSE,
    },
    "date": {
        "name": fields.text(),
        "parts": fields.texts(among=PARTS, least=1),
        "fill": fields.number(within=MOST_DAYS),
        "indicator": _FALSE,
        "gaps": _TRUE,
        "order": fields.text(among=ORDERS),
        "zoned": _FALSE,
    },
}


def column_to_json(column: Column) -> dict[str, Any]:
    """A column as plain values; what is as usual is not said."""
    for kind, cls in KINDS.items():
        if type(column) is cls:
            defaults = {field.name: field.default for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
            said = {field.name: getattr(column, field.name) for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
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
    kind = block.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(f'"{kind}"' for kind in KINDS)
        raise ModelFileError(f"`inputs.kind` must be one of {known}, got {block.get('kind')!r:.80}.")
    values = {key: value for key, value in block.items() if key != "kind"}
    found = fields.read(values, FIELDS[kind], "inputs", "A column of `inputs`")
    for key in ("numbers", "other", "missing") if kind == "levels" else ():
        found[key] = _tuples(found[key].tolist())
    return KINDS[kind](**found)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
