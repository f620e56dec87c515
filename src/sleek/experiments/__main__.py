"""``python -m sleek.experiments``: the command ``sleek reproduce`` by itself."""

import typer

from sleek.experiments.command import command

if __name__ == "__main__":
    typer.run(command)
