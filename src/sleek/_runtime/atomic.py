"""Writing files so that a reader sees the old one or the new one, never half of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appears_when_complete(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside the target: renamed to it at the end, removed after an error or an interrupt.

    A link keeps pointing where it points.
    """
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.unfinished")
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write beside the target, then rename.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "a.txt", b"hello")
    ...     [(file.name, file.read_bytes()) for file in Path(folder).iterdir()]
    [('a.txt', b'hello')]
    """
    with appears_when_complete(path) as unfinished, open(unfinished, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
