"""Packages that sleek can do without: one sentence for all that are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingPackageError(ImportError):
    """An optional package is not installed; the message says what needs it and how to get it."""


def need(package: str, extra: str, purpose: str) -> Any:
    """Import an optional package, or say what to install.

    >>> need("math", "none", "Counting").sqrt(4.0)
    2.0
    >>> need("no_such_package", "files", "Reading Parquet files")
    Traceback (most recent call last):
    sleek._runtime.packages.MissingPackageError: Reading Parquet files needs no_such_package, which is ...
    """
    try:
        return import_module(package)
    except ImportError:
        raise MissingPackageError(
            f"{purpose} needs {package.partition('.')[0]}, which is not installed: "
            f"pip install 'sleek-svm[{extra}]'."
        ) from None
