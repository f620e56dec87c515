"""The command line. Nothing here imports NumPy: each command does when it runs."""

from __future__ import annotations

import sys

from sleek.cli.commands import app


def main() -> None:
    """Run the command line."""
    try:
        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)


__all__ = ["app", "main"]
