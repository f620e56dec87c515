"""What the objects of a model file must have, declared as tables of fields that one function reads.

A table names every key, with what its value must be: a number, an array of a shape, an object with a table of
its own. Files may have been written by anybody: whatever does not fit ends in a `ModelFileError` that says
where, what must be there and what is. Keys that are missing or unknown are refused too.

>>> POINT = {"name": text(), "x": number(least=0), "weights": array("unit"), "note": optional(text())}
>>> read({"name": "a", "x": 2, "weights": [1, 2]}, POINT, "point", unit=2)
{'name': 'a', 'x': 2.0, 'weights': array([1., 2.]), 'note': None}
>>> read({"name": "a", "x": -2, "weights": [1, 2]}, POINT, "point")
Traceback (most recent call last):
...
sleek._runtime.json_values.ModelFileError: `point.x` must not be negative, got -2.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.counting import how_many
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

Sizes = dict[str, int]  # how long axes are, by name; one that is not known is as long as it is first seen
Reader = Callable[[Any, str, Sizes], Any]  # of a value, where it stands, and the sizes
_NEEDED = object()


@dataclass(frozen=True)
class Field:
    """How the value of a key is read, and what stands for it where the key may be missing."""

    read: Reader
    default: Any = _NEEDED


def read(
    block: Any, fields: Mapping[str, Field], where: str, what: str | None = None, **sizes: int
) -> dict[str, Any]:
    """The values of an object's keys, each as its field reads it.

    Parameters
    ----------
    block : object
    fields : dict
        In the order in which values are read.
    where : str
        The path of the object in the file; empty for the file itself.
    what : str, default=None
        What a sentence about keys calls the object.
    **sizes
        The lengths of axes that are known.
    """
    return _read(block, fields, where, sizes, what)


def _read(
    block: Any, fields: Mapping[str, Field], where: str, sizes: Sizes, what: str | None = None
) -> dict[str, Any]:
    found = object_of(block, where or "the file")
    needed = {name for name, field in fields.items() if field.default is _NEEDED}
    check_keys(found, needed, what or f"`{where}`", frozenset(fields.keys() - needed))
    prefix = f"{where}." if where else ""
    return {
        name: field.read(found[name], prefix + name, sizes) if name in found else field.default
        for name, field in fields.items()
    }


# -- what a value can be -----------------------------------------------------------------------------------


def anything() -> Field:
    """Any value, which is read elsewhere."""
    return Field(lambda value, where, sizes: value)


def text(among: Sequence[str] = ()) -> Field:
    """Text, one of those given if there are any."""

    def check(value: Any, where: str, sizes: Sizes) -> str:
        found = text_of(value, where)
        if among and found not in among:
            raise ModelFileError(f"`{where}` must be one of {', '.join(among)}, got {found!r:.80}.")
        return found

    return Field(check)


def truth() -> Field:
    """True or false."""
    return Field(lambda value, where, sizes: truth_of(value, where))


def count(least: int = 1) -> Field:
    """A whole number."""
    return Field(lambda value, where, sizes: count_of(value, where, least))


def number(least: float | None = None, above: float | None = None, within: float | None = None) -> Field:
    """A number: not below `least`, `above` a limit, no larger than `within` in size."""

    def check(value: Any, where: str, sizes: Sizes) -> float:
        found = number_of(value, where)
        _check_range(found, found, where, least, above)
        if within is not None and abs(found) > within:
            raise ModelFileError(f"`{where}` must be within ±{within:g}, got {found}.")
        return found

    return Field(check)


def array(*axes: str | int, least: float | None = None, above: float | None = None) -> Field:
    """Numbers along axes, each a length or the name of one."""

    def check(value: Any, where: str, sizes: Sizes) -> Any:
        found = array_of(value, where, len(axes))
        shape = tuple(_size(axis, size, sizes) for axis, size in zip(axes, found.shape, strict=True))
        if found.shape != shape:
            wanted = how_many(shape[0], "number") if len(shape) == 1 else f"shape {shape}"
            got = len(found) if len(shape) == 1 else found.shape
            raise ModelFileError(f"`{where}` must have {wanted}, got {got}.")
        _check_range(float(found.min()), float(found.min()), where, least, above)
        return found

    return Field(check)


def triangle(axis: str, symmetric: bool = False) -> Field:
    """A lower triangle, row by row, as a square matrix with zeros, or the same numbers, above."""

    def check(value: Any, where: str, sizes: Sizes) -> Any:
        rows = [array_of(row, where, 1) for row in list_of(value, where)]
        size = _size(axis, len(rows), sizes)
        if [len(row) for row in rows] != list(range(1, size + 1)):
            raise ModelFileError(f"`{where}` must be a triangle of {how_many(size, 'row')}.")
        found = np.zeros((size, size))
        for i, row in enumerate(rows):
            found[i, : i + 1] = row
        return found + np.tril(found, -1).T if symmetric else found

    return Field(check)


def texts(axis: str | None = None, among: Sequence[str] = (), least: int = 0) -> Field:
    """Different texts, as many as an axis is long, at least so many."""

    def check(value: Any, where: str, sizes: Sizes) -> tuple[str, ...]:
        found = tuple(text_of(item, where) for item in list_of(value, where))
        if among and not (len(found) >= least and set(found) <= set(among)):
            raise ModelFileError(f"`{where}` must be some of {', '.join(among)}, got {found!r:.80}.")
        if len(set(found)) < len(found):
            raise ModelFileError(f"`{where}` must be different from each other.")
        if axis is not None and len(found) != _size(axis, len(found), sizes):
            raise ModelFileError(f"`{where}` must have {sizes[axis]} names, got {len(found)}.")
        return found

    return Field(check)


def names(axis: str | None = None) -> Field:
    """Texts that may be equal, as many as an axis is long."""

    def check(value: Any, where: str, sizes: Sizes) -> tuple[str, ...]:
        items = list_of(value, where)
        if axis is not None and len(items) != _size(axis, len(items), sizes):
            raise ModelFileError(f"`{where}` must be null or {sizes[axis]} names, got {len(items)}.")
        return tuple(text_of(item, where) for item in items)

    return Field(check)


def record(fields: Mapping[str, Field], make: Callable[..., Any] = dict) -> Field:
    """An object with a table of its own, made of its values by name."""
    return Field(lambda value, where, sizes: make(**_read(value, fields, where, sizes)))


def result_of(make: Callable[[Any, str], Any]) -> Field:
    """What a function makes of an object and its place."""
    return Field(lambda value, where, sizes: make(object_of(value, where), where))


def several(field: Field, axis: str | int | None = None) -> Field:
    """A list of values of one kind, as long as an axis."""

    def check(value: Any, where: str, sizes: Sizes) -> tuple[Any, ...]:
        found = tuple(field.read(item, where, sizes) for item in list_of(value, where))
        if axis is not None and len(found) != _size(axis, len(found), sizes):
            wanted = how_many(_size(axis, 0, sizes), "entry", "entries")
            raise ModelFileError(f"`{where}` must have {wanted}, got {len(found)}.")
        return found

    return Field(check)


def plain_object() -> Field:
    """An object of any keys."""
    return Field(lambda value, where, sizes: object_of(value, where))


def nullable(field: Field) -> Field:
    """The same, or null."""
    return Field(
        lambda value, where, sizes: None if value is None else field.read(value, where, sizes), field.default
    )


def optional(field: Field, default: Any = None) -> Field:
    """The same, where the key may be missing."""
    return Field(field.read, default)


def _size(axis: str | int, size: int, sizes: Sizes) -> int:
    return axis if isinstance(axis, int) else sizes.setdefault(axis, size)


def _check_range(lowest: float, shown: float, where: str, least: float | None, above: float | None) -> None:
    if least is not None and lowest < least:
        rule = "be negative" if least == 0 else f"be below {least:g}"
        raise ModelFileError(f"`{where}` must not {rule}, got {shown}.")
    if above is not None and not lowest > above:
        rule = "be positive" if above == 0 else f"be above {above:g}"
        raise ModelFileError(f"`{where}` must {rule}, got {shown}.")
