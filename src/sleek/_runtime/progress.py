"""Progress of long work: a line on the terminal that vanishes, and lines that stay with `verbose`.

`Display` is the only thing that draws; a verbose fit and every command use it. It imports nothing before it
has something to show.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

PATIENCE = 1.0  # seconds before a fit shows that it is working


class Display:
    """A line on a terminal's standard error: a spinner, how far, for how long, and what is being done.

    It appears with the first text after `patience` seconds and vanishes at the end. Where standard error is
    no terminal there is nothing.

    >>> with Display() as display:
    ...     display("reading data.csv")
    ...     display.rows(500, 1000)
    """

    def __init__(self, patience: float = 0.0) -> None:
        self.patience, self.started = patience, time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __call__(self, text: str) -> None:
        """What is being done now; how long it will take is not known."""
        if self._is_due():
            self._bar.tasks[0].total = None
            self._bar.update(0, description=text, completed=0, refresh=True)

    def rows(self, done: int, total: int | None) -> None:
        """How many rows of a pass over all of them have been seen."""
        if self._is_due():
            self._bar.update(0, completed=done, total=total)

    def close(self) -> None:
        """Vanish. Whatever is said next appears again."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _is_due(self) -> bool:
        """Whether there is a line to write to."""
        patient = time.monotonic() - self.started >= self.patience
        if self._bar is None and patient and sys.stderr.isatty():
            self._bar = _bar(self.started)
            self._bar.add_task("", total=None)
            self._bar.start()
        return self._bar is not None


class Reporter:
    """What a fit tells if it is `verbose`: lines on standard output, the last one of them on a `Display`.

    Called with a line; `rows` with the rows done in a pass over files. Does nothing at all unless `verbose`.

    >>> with Reporter("Model", verbose=1) as report:
    ...     report("tried 3 units")
    [Model] tried 3 units
    """

    def __init__(self, name: str, verbose: int) -> None:
        self.name, self.verbose = name, bool(verbose)
        self.display = Display(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.display.close()

    def __call__(self, line: str) -> None:
        """Print a line, and show it on the display."""
        if self.verbose:
            print(f"[{self.name}] {line}")
            self.display(line)

    def rows(self, done: int, total: int | None) -> None:
        """Move the display on."""
        if self.verbose:
            self.display.rows(done, total)


def _bar(started: float) -> Any:
    """A bar on standard error that vanishes when it is done; without a total it is not drawn."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
    from rich.text import Text

    class Elapsed(ProgressColumn):
        """Seconds since the work began: rich's own column stops when a pass over the rows is complete."""

        def render(self, task: Task) -> Text:
            return Text(f"{time.monotonic() - started:.0f} s", style="progress.elapsed")

    class Share(BarColumn):
        """The share of the rows that is done, where it is known."""

        def render(self, task: Task) -> Any:
            return Text("") if task.total is None else super().render(task)

    text = TextColumn("{task.description}", markup=False)
    return Progress(
        SpinnerColumn(), Share(bar_width=20), Elapsed(), text, console=Console(stderr=True), transient=True
    )
