"""Warnings that point to the user's own line, however deep in the house they are said."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

HOUSES = ("sleek", "sklearn", "joblib")  # whose lines are nobody's fault


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the line that called into the house.

    `warnings.warn` counts levels, and how many there are depends on who calls whom.
    """
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in HOUSES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
