"""``python -m paper``: the paper's tables and figures, measured beside published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paper import reproduce
from studies.errors import told


def command(
    what: Annotated[
        str, typer.Argument(help="table1, table2, figure1, figure2, readings, or all.", show_default=True)
    ] = "all",
    quick: Annotated[
        bool, typer.Option("--quick", help="A few partitions and boosting rounds: about a minute.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", help="Processes; all cores if not given.")
    ] = None,
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder for records, tables and figures.")
    ] = Path("results"),
    ida: Annotated[
        Path | None,
        typer.Option(
            "--ida",
            metavar="PATH",
            help="Original realisations: a folder of ida_NAME.npz, or benchmarks.mat.",
        ),
    ] = None,
) -> None:
    """Rerun the paper's tables and figures, measured beside published.

    An interrupted run goes on where it was when the same command is given again.
    """
    with told("paper"):
        reproduce.reproduce(what, quick=quick, jobs=jobs, results=results, ida=ida)


if __name__ == "__main__":
    typer.run(command)
