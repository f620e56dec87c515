"""Values read as what a column is: numbers, words, or days."""

from __future__ import annotations

import re
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.errors import TableError
from sleek.tables.frames import values_of
from sleek.tables.values import Coded, Dates, Numbers, Values, days_of

_TIME = r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*(Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}")


def as_numbers(name: str, values: Values) -> AnyArray:
    """Numbers of any type with NaN where one is missing; refused if one is text or infinite."""
    match values:
        case Numbers(array):
            numbers = array
        case Coded() as coded:
            strange = [code for code, value in enumerate(coded.values) if not is_number(value)]
            if strange:
                rows = np.isin(coded.array, strange)
                if rows.any():
                    row = int(np.argmax(rows))
                    value = coded.values[coded.array[row]]
                    raise TableError(f"Column {name!r} must hold numbers, got {value!r} in row {row}.")
            found = [float(value) if is_number(value) else np.nan for value in coded.values]
            numbers = coded.spread(np.array(found, dtype=np.float64), np.nan)
        case _:
            raise TableError(f"Column {name!r} must hold numbers, got dates.")
    if numbers.dtype.kind == "f":
        infinite = np.isinf(numbers)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise TableError(f"Column {name!r} must hold finite numbers, got {numbers[row]} in row {row}.")
    return numbers


def as_words(values: Values) -> Coded:
    """Codes of texts: whole numbers without a decimal point, true and false."""
    match values:
        case Coded(array, found):
            return Coded(array, [text_of(value) for value in found])
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
            days = np.array([days_of_text(value, order) for value in coded.values], dtype=np.float64)
            strange = np.isnan(days)
            if strange.any():
                rows = coded.spread(strange, False)
                if rows.any():
                    row = int(np.argmax(rows))
                    value = coded.values[coded.array[row]]
                    raise TableError(f"Column {name!r} must hold dates, got {value!r} in row {row}.")
            return np.asarray(coded.spread(days, np.nan))
        case Numbers(array) if array.dtype.kind == "f" and np.isnan(array).all():
            return np.asarray(array, dtype=np.float64)
    raise TableError(f"Column {name!r} must hold dates, got numbers.")


def days_of_text(text: Any, order: str = "ymd") -> float:
    """A date, with or without a time, as days since 1970-01-01; NaN if it is none.

    >>> days_of_text("1970-01-02 12:00"), days_of_text("3.1.1970", "dmy"), days_of_text("red")
    (1.5, 2.0, nan)
    """
    found = _match(text, order)
    if found is None:
        return np.nan
    first, _, second, third, hour, minute, second_of, zone = found.groups()
    year, month, day = {"ymd": (first, second, third), "dmy": (third, second, first)}.get(
        order, (third, first, second)
    )
    try:
        whole = np.datetime64(f"{year}-{int(month):02d}-{int(day):02d}", "D")
    except ValueError:
        return np.nan
    seconds = 3600 * int(hour or 0) + 60 * int(minute or 0) + float(second_of or 0)
    if zone and zone != "Z":
        sign = -1 if zone[0] == "-" else 1
        seconds -= sign * (3600 * int(zone[1:3]) + 60 * int(zone[-2:]))
    if not 0 <= int(hour or 0) <= 24 or int(minute or 0) > 59:
        return np.nan
    return float(days_of(np.array([whole]))[0] + seconds / 86_400)


def _match(text: Any, order: str) -> re.Match[str] | None:
    if not isinstance(text, str):
        return None
    return (_YEAR_FIRST if order == "ymd" else _YEAR_LAST).fullmatch(text.strip())


def date_order(words: list[str]) -> str | None:
    """In which order all words, at least one, write a date; None if one of them is no date.

    Dots are for day, month, year; with other marks the month comes first unless a number above 12 says no.

    >>> date_order(["2024-01-31", "2024/2/1 12:00"]), date_order(["31.1.2024"]), date_order(["1/31/2024"])
    ('ymd', 'dmy', 'mdy')
    >>> date_order(["1.2.3"]) is None
    True
    """
    if not words:
        return None
    if _match(words[0], "ymd") is not None:
        orders = ("ymd",)
    else:
        dots = any("." in word.split(" ")[0] for word in words[:1])
        orders = ("dmy", "mdy") if dots else ("mdy", "dmy")  # type: ignore[assignment]
    return next((order for order in orders if _all_dates(words, order)), None)


def _all_dates(words: list[str], order: str) -> bool:
    return all(not np.isnan(days_of_text(word, order)) for word in words)


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
