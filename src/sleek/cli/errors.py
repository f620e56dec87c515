"""What ends a command early: bad input with its one sentence, an interrupt, a closed pipe, a full disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

import typer

from sleek._runtime.packages import MissingPackageError
from sleek.cli.interrupts import INTERRUPTED, interrupts, is_interrupt
from sleek.tables.errors import TableError

P = ParamSpec("P")

BAD_INPUT, CLOSED_PIPE = 2, 141  # the latter as shells number signal 13


class InputError(Exception):
    """The user's files or options do not allow what was asked; the text says why, and what to do."""


@contextmanager
def blaming(what: str) -> Iterator[None]:
    """A library's complaint about values is one about the user's input `what`."""
    try:
        yield
    except TableError:
        raise
    except FileNotFoundError as error:
        raise InputError(str(error)) from error
    except ValueError as error:
        raise InputError(f"{what}: {error}") from error


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """The command with its ends as exit codes: a sentence and 2 for bad input, never a traceback for it."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except BaseException as error:
            code = _end(error)
            if code is None:
                raise
            raise typer.Exit(code) from None

    return run


def _end(error: BaseException) -> int | None:
    """Say what ended a command, and with which exit code; None for what is no end but a bug."""
    if interrupts.seen or is_interrupt(error):
        _say("interrupted")
        return INTERRUPTED
    match error:
        case InputError() | TableError() | MissingPackageError():
            _say(str(error))
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


def _say(sentence: str) -> None:
    print(f"sleek: {sentence}", file=sys.stderr)


def _forget_standard_output() -> None:
    """Nothing is left to flush at exit, where it would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
