"""What ends a command early: bad input with its one sentence, an interrupt, a closed pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec

import typer

P = ParamSpec("P")

BAD_INPUT, INTERRUPTED, CLOSED_PIPE = 2, 130, 141  # the last two as shells number signals 2 and 13


class InputError(Exception):
    """The user's files or options do not allow what was asked; the text says why, and what to do."""


@contextmanager
def blaming(what: str) -> Iterator[None]:
    """A library's complaint about values is one about the user's input `what`."""
    try:
        yield
    except ValueError as error:
        raise InputError(f"{what}: {error}") from error


def suggestion(word: str, known: list[str]) -> str:
    """A question that names the closest known word, or nothing."""
    spellings = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), spellings, n=1)
    return f" Did you mean {spellings[near[0]]!r}?" if near else ""


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """The command with its ends as exit codes: a sentence and 2 for bad input, never a traceback for it."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except InputError as error:
            _say(str(error))
            raise typer.Exit(BAD_INPUT) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush at exit
            raise typer.Exit(CLOSED_PIPE) from None
        except KeyboardInterrupt:
            _say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except OSError as error:
            _say(f"{error.filename or 'files'}: {error.strerror or error}")
            raise typer.Exit(BAD_INPUT) from None

    return run


def _say(sentence: str) -> None:
    print(f"sleek: {sentence}", file=sys.stderr)
