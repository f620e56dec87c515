"""Results to files and to the screen: never half a file, nothing read is overwritten."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sleek._runtime.atomic import write_atomically
from sleek._runtime.packages import need
from sleek.cli.exits import InputError, in_options
from sleek.cli.options import STANDARD
from sleek.cli.signals import interrupts
from sleek.tables.endings import PARQUET, WRITTEN, is_named_like_a_table

if TYPE_CHECKING:
    from rich.console import Console


def screen(stderr: bool = False) -> Console:
    """Standard output for people: as wide as the terminal, in colour if it is one, without markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, stderr=stderr)


def say_notes(notes: Sequence[str]) -> None:
    """What a user should know besides the result, on standard error."""
    from sleek._runtime.counting import plain

    for note in notes:
        print(f"note: {plain(in_options(note))}", file=sys.stderr)


def print_json(result: Mapping[str, Any]) -> None:
    """One JSON object on standard output, in UTF-8 whatever the terminal speaks."""
    text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    write_bytes(f"{text}\n".encode(), None)


# -- where a result may go, checked before any work is done ------------------------------------------------


def check_output(path: Path | None, *read: Path) -> None:
    """Refuse a place where no file can be written, and every file that is read, whatever it is called."""
    if path is None or is_standard_output(path):
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder: the name of a file is needed.")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{path} cannot be written: permission denied.")
    for other in read:
        if path.is_file() and _is_same_file(path, other):
            called = "standard input" if str(other) == STANDARD else other
            what = "it" if called == path else f"{called}, which is the same file,"
            raise InputError(f"{path} would be overwritten, but {what} is read: give -o another name.")


def check_model_output(path: Path | None) -> None:
    """Refuse to call a model by the name of a table."""
    if path is not None and is_named_like_a_table(path):
        raise InputError(
            f"{path} is named like a table, but a model is JSON: give -o a name such as model.json."
        )


def check_table_output(path: Path | None) -> None:
    """Refuse an ending that promises something else than what would be written."""
    if path is None or not is_replaced(path):
        return
    if path.suffix and not is_named_like_a_table(path):
        raise InputError(f"{path} must end in {', '.join(WRITTEN)} to say what to write.")
    if path.name.lower().endswith(PARQUET):
        need("pyarrow", None, f"Writing {path}")


def is_standard_output(path: Path) -> bool:
    """Whether a path means the stream, which is written to and never replaced."""
    return str(path) in (STANDARD, "/dev/stdout", "/dev/fd/1")


def is_replaced(path: Path) -> bool:
    """Whether a path is that of a file, and no stream, device or named pipe."""
    return not is_standard_output(path) and (path.is_file() or not path.exists())


def _is_same_file(path: Path, other: Path) -> bool:
    try:
        found = os.fstat(0) if str(other) == STANDARD else os.stat(other)
        return os.path.samestat(os.stat(path), found)
    except OSError:  # one of them is not there, or standard input is closed
        return False


# -- writing -----------------------------------------------------------------------------------------------


def write_bytes(data: bytes, path: Path | None) -> None:
    """Write a whole file or nothing; without a path, or to ``-``, write to standard output."""
    if path is None or is_standard_output(path):
        sys.stdout.flush()
        rest = memoryview(data)
        while rest:  # an unbuffered stream may take only a part
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
        return
    try:
        if path.exists() and not path.is_file():  # a device or a named pipe
            path.write_bytes(data)
        else:
            with interrupts.raised():
                write_atomically(path, data)
                interrupts.ignore()
    except BrokenPipeError:
        raise
    except OSError as error:  # that of a full disk does not say where
        raise OSError(error.errno, error.strerror, str(path)) from error
