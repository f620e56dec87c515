"""Coercion of values to the kind of their column: numbers, levels as text, or days since 1970."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.dates import days_of_texts, have_zone
from sleek.tables.errors import TableError
from sleek.tables.frames import values_of
from sleek.tables.values import TRUTHS, Coded, Dates, Numbers, Values


def as_numbers(name: str, values: Values) -> AnyArray:
    """Numbers of any type with NaN where one is missing; refused if one is text or infinite. True is 1."""
    match values:
        case Numbers(array):
            numbers = array
        case Coded() as coded if coded.values and all(map(is_truth, coded.values)):
            truths = [float(str(value).lower() == "true") for value in coded.values]
            numbers = coded.spread(np.array(truths), np.nan)
        case Coded() as coded:
            strange = [code for code, value in enumerate(coded.values) if not is_number(value)]
            if strange:
                rows = np.isin(coded.array, strange)
                if rows.any():
                    row = int(np.argmax(rows))
                    value = coded.values[coded.array[row]]
                    raise TableError.of(name, "hold numbers", value, row)
            found = [float(value) if is_number(value) else np.nan for value in coded.values]
            numbers = coded.spread(np.array(found, dtype=np.float64), np.nan)
        case _:
            raise TableError(f"Column {name!r} must hold numbers, got dates.")
    if numbers.dtype.kind == "f":
        infinite = np.isinf(numbers)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise TableError.of(name, "hold finite numbers", float(numbers[row]), row)
    return numbers


def as_words(values: Values) -> Coded:
    """Codes of texts: whole numbers without a decimal point, true and false."""
    match values:
        case Coded(values=found):
            if all(type(value) is str for value in found):
                return values
            return replace(values, values=[text_of(value) for value in found])
        case Numbers(array):
            gaps = np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), dtype=bool)
            distinct, codes = np.unique(array[~gaps], return_inverse=True)
            spread = np.full(len(array), -1, dtype=np.int32)
            spread[~gaps] = codes
            return Coded(spread, [text_of(value) for value in distinct.tolist()])
    gaps = np.isnan(values.array)
    distinct, codes = np.unique(values.array[~gaps], return_inverse=True)
    spread = np.full(len(gaps), -1, dtype=np.int32)
    spread[~gaps] = codes
    return Coded(spread, [str(_instant(day)) for day in distinct])


def _instant(day: float) -> np.datetime64:
    whole = np.datetime64(int(np.floor(day)), "D")
    return whole if day == np.floor(day) else whole + np.timedelta64(round((day % 1) * 86_400), "s")


def as_days(name: str, values: Values, order: str) -> FloatArray:
    """Days since 1970-01-01, NaN where a date is missing; text is read in the order of its parts."""
    match values:
        case Dates(array):
            return np.asarray(array, dtype=np.float64)
        case Coded() as coded:
            days = days_of_texts(coded.values, order)
            strange = np.isnan(days)
            if strange.any():
                rows = coded.spread(strange, False)
                if rows.any():
                    row = int(np.argmax(rows))
                    value = coded.values[coded.array[row]]
                    raise TableError.of(name, "hold dates", value, row)
            return np.asarray(coded.spread(days, np.nan))
        case Numbers(array) if array.dtype.kind == "f" and np.isnan(array).all():
            return np.asarray(array, dtype=np.float64)
    raise TableError(f"Column {name!r} must hold dates, got numbers.")


def has_zone(values: Values) -> bool:
    """Whether dates have a time zone."""
    match values:
        case Dates(zoned=zoned):
            return zoned
        case Coded(values=texts):
            return have_zone(texts)
    return False


def text_of(value: Any) -> str:
    """A value as the text of a level."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, Decimal):  # 1.00 is 1 whatever the scale of its column
        digits = format(value, "f")
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    return str(value)


def is_truth(value: Any) -> bool:
    """Whether it is true or false, perhaps as text."""
    return value in TRUTHS if isinstance(value, str) else isinstance(value, bool | np.bool_)


def is_number(value: Any) -> bool:
    """Whether it is a number, and no truth value."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_)


def texts(values: Any) -> list[str | None]:
    """Values as levels: None for missing ones, whole numbers without a decimal point, true and false.

    >>> from decimal import Decimal
    >>> texts(["red", None, 1.0, 2.5, True, Decimal("1.00")])
    ['red', None, '1', '2.5', 'true', '1']
    """
    coded = as_words(values_of("", values))
    return [None if code < 0 else coded.values[code] for code in coded.array.tolist()]
