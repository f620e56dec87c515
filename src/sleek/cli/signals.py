"""Ctrl-C: it ends a command with exit code 130 and nothing left behind.

Python turns the signal into an exception, and libraries swallow it (in a callback, while a module is loaded)
or turn it into another one. So a command ends at once while there is nothing to clean up; where there is, the
exception is let through, and remembered: nothing is written any more, and whatever ends the command is the
interrupt's doing.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130  # as shells number signal 2
CLEAN_LINE = b"\r\x1b[2K\x1b[?25h"  # without the line of progress, with the cursor that it hides


class Interrupts:
    """Whether Ctrl-C was pressed, and whether anything needs cleaning up after it."""

    def __init__(self) -> None:
        self.seen = self.at_work = False

    def listen(self) -> None:
        """Hear of every Ctrl-C from now on."""
        signal.signal(signal.SIGINT, self._on_interrupt)

    def ignore(self) -> None:
        """Hear no more of it: what was asked for is done, and saying so takes no time."""
        if signal.getsignal(signal.SIGINT) == self._on_interrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Let an interrupt through as an exception, for work that cleans up after itself."""
        before, self.at_work = self.at_work, True
        try:
            if self.seen:
                raise KeyboardInterrupt
            yield
        finally:
            self.at_work = before

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        if self.at_work:
            raise KeyboardInterrupt
        os.write(2, (CLEAN_LINE if os.isatty(2) else b"") + b"sleek: interrupted\n")
        leave()


interrupts = Interrupts()  # a process has one, as it has one handler of the signal


def leave() -> NoReturn:
    """End the process now: CPython, on its way out, may take a handled interrupt for one that was not."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # closed, or full
            stream.flush()
    os._exit(INTERRUPTED)


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error came of Ctrl-C: compiled code wraps it into a `SystemError`.

    >>> wrapped = SystemError("returned a result with an exception set")
    >>> wrapped.__cause__ = KeyboardInterrupt()
    >>> is_interrupt(wrapped), is_interrupt(SystemError("a bug"))
    (True, False)
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
