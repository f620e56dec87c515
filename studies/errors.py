"""What somebody who runs a study can get wrong, and the sentence for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

INSTALL = "pip install 'sleek-svm[experiments]'"


class StudyError(Exception):
    """An input that a study cannot work with; its text is a sentence for the user."""


@contextmanager
def told(command: str) -> Iterator[None]:
    """End a command with a sentence instead of a traceback when its input is bad or it is interrupted."""
    try:
        yield
    except StudyError as error:
        print(f"{command}: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print(
            "\nInterrupted. What is finished is kept; the same command goes on from there.", file=sys.stderr
        )
        raise SystemExit(130) from None


def need(module: str, purpose: str) -> Any:
    """The module, or the sentence that says how to get its package.

    >>> need("math", "roots").sqrt(4.0)
    2.0
    >>> need("no_such_package", "Ripley's data")
    Traceback (most recent call last):
    ...
    studies.errors.StudyError: Ripley's data need the package no_such_package, which is not ...
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise StudyError(
            f"{purpose} need the package {package}, which is not installed. Run: {INSTALL}"
        ) from None


def writable_folder(path: Path) -> Path:
    """The folder, made if need be, once a file could be written into it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise StudyError(
            f"The results folder must be writable, but {path} is not: {error.strerror}. "
            "Choose another with --results."
        ) from None
    return path
