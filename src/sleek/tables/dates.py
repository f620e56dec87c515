"""Parsing of dates that are written as text, a million in about a second, and parts of the calendar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray

YEAR = 365.2425  # days, on average
ORDERS = ("ymd", "dmy", "mdy")
IN_WORDS = {"ymd": "year, month, day", "dmy": "day, month, year", "mdy": "month, day, year"}
TIME = r"(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}(?:\.\d+)?))?"
_PART = rf"(?:[T ]{TIME}\s*(?P<zone>Z|[+-]\d{{2}}:?\d{{2}})?)?"
_YEAR_FIRST = rf"^(?P<a>\d{{4}})(?P<one>[-/.])(?P<b>\d{{1,2}})(?P<two>[-/.])(?P<c>\d{{1,2}}){_PART}$"
_YEAR_LAST = rf"^(?P<a>\d{{1,2}})(?P<one>[-/.])(?P<b>\d{{1,2}})(?P<two>[-/.])(?P<c>\d{{4}}){_PART}$"


def days_of_texts(texts: Sequence[Any], order: str = "ymd") -> FloatArray:
    """Dates, with or without a time, as days since 1970-01-01; NaN for what is none.

    >>> days_of_texts(["1970-01-02 12:00", "red", None]), days_of_texts(["3.1.1970"], "dmy")
    (array([1.5, nan, nan]), array([2.]))
    """
    import pyarrow.compute as pc

    fields = _fields(texts, _YEAR_FIRST if order == "ymd" else _YEAR_LAST)
    places = tuple({"ymd": "abc", "dmy": "cba", "mdy": "cab"}[order])
    y, m, d, hour, minute = (_numbers(fields[part], "int64") for part in (*places, "h", "m"))
    second = _numbers(fields["s"], "double")
    start = ((y - 1970) * 12 + np.clip(m, 1, 12) - 1).astype("datetime64[M]")
    first, after = (
        month.astype("datetime64[D]").astype(np.int64) for month in (start, start + np.timedelta64(1, "M"))
    )
    same = pc.equal(fields["one"], fields["two"])
    good = (
        pc.and_(same, pc.not_equal(fields["one"], "")).to_numpy(zero_copy_only=False) & (m >= 1) & (m <= 12)
    )
    good &= (d >= 1) & (d <= after - first) & (hour <= 24) & (minute <= 59) & (second <= 60)
    seconds = 3600 * hour + 60 * minute + second - _offsets(fields["zone"])
    return np.where(good, first + d - 1 + seconds / 86_400, np.nan)


def date_order(words: Sequence[str], wanted: str | None = None) -> str | None:
    """In which order all words, at least one, write a date; None if one of them is no date.

    Dots are for day, month, year; with other marks the month comes first unless a number above 12 says no,
    or another order is `wanted`.

    >>> date_order(["2024-01-31", "2024/2/1 12:00"]), date_order(["31.1.2024"]), date_order(["1/31/2024"])
    ('ymd', 'dmy', 'mdy')
    >>> date_order(["1/2/2024"]), date_order(["1/2/2024"], "dmy"), date_order(["1.2.3"]) is None
    ('mdy', 'dmy', True)
    """
    if not words or np.isnan([days_of_texts(words[:1], order)[0] for order in ORDERS]).all():
        return None
    dots = "." in words[0].strip().split(" ")[0]
    orders: tuple[str, ...] = ("ymd", "dmy", "mdy") if dots else ("ymd", "mdy", "dmy")
    if wanted is not None:
        orders = (wanted, *(order for order in orders if order != wanted))
    return next((order for order in orders if not np.isnan(days_of_texts(words, order)).any()), None)


def other_order(words: Sequence[str], order: str) -> str | None:
    """The order that words without dots could as well be meant in; None if there is no doubt.

    >>> other_order(["1/2/2024", "3/4/2024"], "mdy"), other_order(["1/31/2024"], "mdy")
    ('dmy', None)
    """
    if order == "ymd" or not words or "." in words[0].strip().split(" ")[0]:
        return None
    other = "dmy" if order == "mdy" else "mdy"
    one, two = days_of_texts(words, order), days_of_texts(words, other)
    return None if np.isnan(two).any() or (one == two).all() else other


def note_dates(name: str, words: Sequence[str], order: str) -> list[str]:
    """A note about dates that can be read in two ways, or none.

    >>> note_dates("sold", ["1/2/2024"], "mdy")
    ["column 'sold': '1/2/2024' is taken as 2024-01-02 (month, day, year), but could be 2024-02-01: `dates`, \
or a column of dates, decides"]
    """
    other = other_order(words, order)
    if other is None:
        return []
    one, two = days_of_texts(words, order), days_of_texts(words, other)
    place = int(np.argmax(one != two))
    first, second = (np.datetime64(int(np.floor(days[place])), "D") for days in (one, two))
    return [
        f"column {name!r}: {words[place]!r} is taken as {first} ({IN_WORDS[order]}), but could be {second}: "
        "`dates`, or a column of dates, decides"
    ]


def have_zone(texts: Sequence[Any]) -> bool:
    """Whether some texts end in a time zone.

    >>> have_zone(["2024-01-31 12:00"]), have_zone(["2024-01-31T12:00Z"])
    (False, True)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pa.array([text for text in texts if isinstance(text, str)], pa.string())
    return bool(
        pc.any(pc.match_substring_regex(words, r":\d{2}(?:\.\d+)?\s*(?:Z|[+-]\d{2}:?\d{2})\s*$")).as_py()
    )


def _fields(texts: Sequence[Any], pattern: str) -> dict[str, Any]:
    """The parts of each text, "" where one is not there, all "" if it is not of this form."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pa.array([text if isinstance(text, str) else None for text in texts], pa.string())
    found = pc.extract_regex(pc.utf8_trim_whitespace(words), pattern)
    parts = zip(found.type, found.flatten(), strict=True)
    return {field.name: part.fill_null("") for field, part in parts}


def _numbers(texts: Any, kind: str) -> AnyArray:
    """Digits as numbers, 0 where there are none."""
    import pyarrow.compute as pc

    return np.asarray(pc.if_else(pc.equal(texts, ""), "0", texts).cast(kind).to_numpy())


def _offsets(zones: Any) -> AnyArray:
    """Seconds that zones such as +01:00 are ahead of UTC."""
    encoded = zones.dictionary_encode()
    offsets = [
        (-1 if zone[0] == "-" else 1) * (3600 * int(zone[1:3]) + 60 * int(zone[-2:])) if zone[1:] else 0
        for zone in encoded.dictionary.to_pylist()
    ]
    found: AnyArray = np.array(offsets or [0])[encoded.indices.to_numpy()]
    return found


def calendar_part(part: str, days: FloatArray) -> FloatArray:
    """A part of the calendar for days since 1970-01-01, which was a Thursday.

    >>> calendar_part("weekday", np.array([0.5, 4.0])), calendar_part("hour", np.array([0.5]))
    (array([3., 0.]), array([12.]))
    """
    whole = np.floor(days)
    match part:
        case "season":
            return np.asarray(days - YEAR * np.floor(days / YEAR))
        case "weekday":
            return np.asarray(whole + 3.0 - 7.0 * np.floor((whole + 3.0) / 7.0))
        case "hour":
            return np.asarray(24.0 * (days - whole))
    return days
