"""The command line. Nothing here imports NumPy: each command does when it runs."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from sleek.cli.commands import app


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no Greek gets question marks
    try:
        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)


__all__ = ["app", "main"]
