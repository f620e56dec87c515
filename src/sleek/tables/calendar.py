"""Parts of the calendar that days have."""

from __future__ import annotations

import numpy as np

from sleek._runtime.types import FloatArray

YEAR = 365.2425  # days, on average


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
