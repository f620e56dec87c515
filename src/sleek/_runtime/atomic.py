"""Writing files so that a reader sees the old one or the new one, never half of it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LONGEST = (
    100  # bytes of a file's name that go into the names of files beside it: all of them have at most 255
)


def beside(path: str | os.PathLike[str], ending: str) -> Path:
    """A hidden name in the folder of a file, where its links end.

    >>> beside("model.json", "lock").name
    '.model.json.lock'
    """
    target = Path(os.path.realpath(path))
    return target.with_name(f".{os.fsencode(target.name)[:LONGEST].decode(errors='ignore')}.{ending}")


@contextmanager
def appears_when_complete(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside the target: renamed to it at the end, removed after an error or an interrupt.

    A link keeps pointing where it points, and a file that is replaced keeps its permissions.
    """
    target = Path(os.path.realpath(path))
    unfinished = beside(path, f"{secrets.token_hex(6)}.unfinished")
    try:
        yield unfinished
        _keep_permissions(target, unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    _sync_folder(target.parent)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write beside the target, then rename.

    When this returns the file is on the disk, with the permissions of the file that it replaces or, if it is
    new, those that the process gives to new files.

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


def _keep_permissions(target: Path, fresh: Path) -> None:
    """Mode and, as far as that is allowed, group of the file that is about to be replaced."""
    try:
        before = target.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "chown") and before.st_gid != fresh.stat().st_gid:
        with suppress(OSError):  # not a member of the group
            os.chown(fresh, -1, before.st_gid)
    mode = stat.S_IMODE(before.st_mode)
    if fresh.stat().st_gid != before.st_gid:
        mode &= ~(stat.S_IRWXG | stat.S_ISGID)  # the rights were another group's
    fresh.chmod(mode)


def _sync_folder(folder: Path) -> None:
    """The new name, too, is on the disk; not every system can say so."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
