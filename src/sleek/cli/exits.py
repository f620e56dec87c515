"""Exit codes and messages of commands that fail: bad input, an interrupt, a closed pipe, a full disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from glob import has_magic
from pathlib import Path
from typing import Any, ParamSpec

import typer

from sleek._runtime.packages import MissingPackageError
from sleek.cli.signals import INTERRUPTED, interrupts, is_interrupt
from sleek.tables.errors import TableError, no_such_file

P = ParamSpec("P")

FILES = ("model", "data")  # arguments of commands that name a file to read
SETTINGS = ("decimal", "categories", "columns", "dates")  # that are options too
called: dict[str, str] = {}  # files that a user knows by another name: standard input
BAD_INPUT, CLOSED_PIPE = 2, 141  # the latter as shells number signal 13


class InputError(Exception):
    """The user's files or options do not allow what was asked; the text says why, and what to do."""


@contextmanager
def blaming(what: str) -> Iterator[None]:
    """Turn a ValueError of the library into an `InputError` that names the input `what`."""
    try:
        yield
    except (TableError, InputError):
        raise
    except FileNotFoundError as error:
        raise InputError(str(error)) from error
    except ValueError as error:
        sentence = str(error)
        raise InputError(sentence if what in sentence else f"{what}: {sentence}") from error


def with_exit_codes(command: Callable[P, None]) -> Callable[P, None]:
    """Wrap a command so that bad input ends in one sentence and exit code 2, never in a traceback."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            _check_files(kwargs.get(name) for name in FILES)
            command(*args, **kwargs)
            sys.stdout.flush()
        except BaseException as error:
            code = _end(error)
            if code is None:
                raise
            raise typer.Exit(code) from None

    return run


def _check_files(files: Iterable[Any]) -> None:
    """Refuse files that are not there, before what would read them is imported."""
    for path in files:
        if isinstance(path, Path) and str(path) != "-" and not (path.exists() or has_magic(str(path))):
            raise no_such_file(str(path))


def _end(error: BaseException) -> int | None:
    """Say what ended a command, and with which exit code; None for what is no end but a bug."""
    if interrupts.seen or is_interrupt(error):
        _say("interrupted")
        return INTERRUPTED
    match error:
        case InputError() | TableError() | MissingPackageError():
            _say(in_options(str(error)))
            return BAD_INPUT
        case BrokenPipeError():
            _forget_standard_output()
            return CLOSED_PIPE
        case OSError():
            if error.filename is None:
                _forget_standard_output()
            _say(f"{error.filename or 'standard output'}: {error.strerror or error}")
            return BAD_INPUT
    return None


def in_options(sentence: str) -> str:
    """A message about parameters with the names of options in their place.

    >>> in_options("Name the decimal mark (`decimal`).")
    'Name the decimal mark (--decimal).'
    """
    for setting in SETTINGS:
        sentence = sentence.replace(f"`{setting}`", f"--{setting}")
    for path, name in called.items():
        sentence = sentence.replace(path, name)
    return sentence


def _say(sentence: str) -> None:
    print(f"sleek: {sentence}", file=sys.stderr)


def _forget_standard_output() -> None:
    """Nothing is left to flush at exit, where it would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
