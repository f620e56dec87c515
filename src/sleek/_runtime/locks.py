"""Locks on files: one process at a time reads, changes and writes a file.

The lock is the operating system's, on a file beside the locked one, so that it ends with its process however
that ends. The file itself cannot carry the lock: writing replaces it.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sleek._runtime.atomic import beside

PAUSE = 0.02  # seconds between two attempts


@contextmanager
def lock(
    path: str | os.PathLike[str], waiting: Callable[[], None] | None = None, *, needed: bool = True
) -> Iterator[None]:
    """Hold the lock of a file, which need not exist; wait as long as another process or thread has it.

    Parameters
    ----------
    path : path
        Links are followed: a file has one lock, whatever it is called.
    waiting : callable, default=None
        Called once if there is a wait.
    needed : bool, default=True
        False goes on without a lock where there can be none: in a folder that cannot be written to, or on a
        file system without locks. True raises the `OSError`.
    """
    name = beside(path, "lock")
    try:
        handle = _take(name, waiting)
    except OSError:
        if needed:
            raise
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps files that are open, which does no harm
            name.unlink()  # while it is locked: whoever waits for it will see that it is gone
        os.close(handle)


def _take(name: Path, waiting: Callable[[], None] | None) -> int:
    """An open file that has the lock, and still is the one of that name."""
    while True:
        handle = os.open(name, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            if _try(handle):
                if _is_at(handle, name):
                    return handle
            else:
                if waiting is not None:
                    waiting()
                    waiting = None
                time.sleep(PAUSE)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _try(handle: int) -> bool:
    """Whether the lock was free, and is now held."""
    try:
        _lock(handle)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK):
            return False
        raise
    return True


def _is_at(handle: int, name: Path) -> bool:
    """Whether this is the file of that name; opened, not only looked up, as network drives remember names."""
    try:
        other = os.open(name, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return os.path.samestat(os.fstat(handle), os.fstat(other))
    finally:
        os.close(other)


try:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

except ImportError:  # pragma: no cover  (Windows)

    def _lock(handle: int) -> None:
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
