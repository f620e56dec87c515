"""Optional packages: imported when needed, with one error message if they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingPackageError(ImportError):
    """An optional package is not installed; the message says what needs it and how to get it."""


def need(package: str, extra: str | None, purpose: str) -> Any:
    """Import a package, or say what to install: an extra of sleek's, or the package itself.

    >>> need("math", "none", "Counting").sqrt(4.0)
    2.0
    >>> need("no_such_package", "plot", "Drawing")
    Traceback (most recent call last):
    sleek._runtime.packages.MissingPackageError: Drawing needs no_such_package, which is not installed: ...
    """
    try:
        return import_module(package)
    except ImportError:
        name = package.partition(".")[0]
        what = name if extra is None else f"'sleek-svm[{extra}]'"
        raise MissingPackageError(
            f"{purpose} needs {name}, which is not installed: pip install {what}."
        ) from None
