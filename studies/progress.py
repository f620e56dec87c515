"""How far a long run is."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Bar:
    """A progress bar that is on the screen while its body runs, with a line about what is being done.

    Parameters
    ----------
    console : rich Console
    title : str
    total : int
        Steps. With none there is no bar.
    """

    def __init__(self, console: Any, title: str, total: int) -> None:
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[line]}"),
            console=console,
            transient=True,
            disable=total == 0,
        )
        self.task = self.progress.add_task(title, total=total, line="")

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def show(self, line: str) -> None:
        """Say what is being done."""
        self.progress.update(self.task, line=line)

    def done(self, line: str) -> None:
        """Say that a step is done, and which."""
        self.progress.update(self.task, advance=1, line=line)
