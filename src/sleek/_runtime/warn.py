"""Warnings that point to the line of the user's program that called sleek."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

PACKAGES = ("sleek", "sklearn", "joblib", "functools")  # whose lines are not the user's


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line that is not one of these packages.

    `warnings.warn` takes a number of calls to go back, which depends on where the warning is raised.
    """
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
