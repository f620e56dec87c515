"""The command line: what commands are called, what they are given, how they end, and what they print.

Here: arguments, options, help, exit codes, screens and the order of a command's steps. Not here: reading of
tables (`sleek.tables`), errors and units in words (`sleek.report`), statistics. Nothing that every command
needs imports NumPy: each imports what it works with when it runs.
"""

from __future__ import annotations

import sys

from sleek.cli.process import own_process
from sleek.cli.signals import INTERRUPTED, interrupts, leave

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    interrupts.listen()
    own_process.hides_pandas = True
    from io import TextIOWrapper

    from sleek.cli.commands import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no Greek gets question marks
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            leave()
        interrupts.ignore()  # while Python tidies up
        raise
