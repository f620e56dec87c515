"""Results to files and to the screen: never half a file, nothing but the result on standard output."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from sleek._runtime.atomic import write_atomically
from sleek.cli.errors import InputError
from sleek.tables.table import STDIN

SPINNER_AFTER = 1.0  # seconds
STDOUT = STDIN


def screen(stderr: bool = False) -> Console:
    """Standard output for people: as wide as the terminal, in colour if it is one, without markup."""
    return Console(highlight=False, markup=False, emoji=False, stderr=stderr)


def plain(text: str) -> str:
    """A name or value of the user's on one line: control characters are not let through to a terminal."""
    return text if text.isprintable() else repr(text)[1:-1]


def short(number: float) -> str:
    """Three digits, and no exponent where people do not expect one.

    >>> short(0.0123456), short(-1234.5), short(2.0), short(12345678.0)
    ('0.0123', '-1234', '2', '1.23e+07')
    """
    return f"{number:.0f}" if 1000 <= abs(number) < 1e6 else f"{number:.3g}"


def signed(number: float) -> str:
    """As `short`, with a plus.

    >>> signed(0.5), signed(-1234.5)
    ('+0.5', '-1234')
    """
    return f"{'+' if number >= 0 else ''}{short(number)}"


def say_notes(notes: Sequence[str]) -> None:
    """What a user should know besides the result, on standard error."""
    for note in notes:
        print(f"note: {plain(note)}", file=sys.stderr)


def print_json(result: Mapping[str, Any]) -> None:
    """One JSON object on standard output, in UTF-8 whatever the terminal speaks."""
    text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    write_bytes(f"{text}\n".encode(), None)


@contextmanager
def spinner(text: str, wanted: bool = True) -> Iterator[None]:
    """A sign of life on standard error, if that is a terminal and the work takes longer than a second."""
    console = screen(stderr=True)
    if not (wanted and console.is_terminal):
        yield
        return
    status = console.status(text)
    timer = threading.Timer(SPINNER_AFTER, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may just be starting
        status.stop()


def check_output(path: Path | None) -> None:
    """Refuse, before any work is done, a place where no file can be written."""
    if path is None or str(path) == STDOUT:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder: the name of a file is needed.")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{path} cannot be written: permission denied.")
    if _is_parquet(path):
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise InputError(f"{path}: Parquet files need pyarrow: pip install 'sleek[files]'.") from None


def write_bytes(data: bytes, path: Path | None) -> None:
    """Write a whole file or nothing; without a path, or to ``-``, write to standard output."""
    if path is None or str(path) == STDOUT:
        sys.stdout.flush()
        rest = memoryview(data)
        while rest:  # an unbuffered stream may take only a part
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    elif path.exists() and not path.is_file():  # a device or a named pipe
        path.write_bytes(data)
    else:
        write_atomically(path, data)


def write_columns(columns: Mapping[str, Sequence[Any]], path: Path | None) -> None:
    """Columns as CSV, or as Parquet if the path says so."""
    write_bytes(_parquet(columns) if path is not None and _is_parquet(path) else _csv(columns), path)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _csv(columns: Mapping[str, Sequence[Any]]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue().encode("utf-8")


def _parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), stream)
    return stream.getvalue()
