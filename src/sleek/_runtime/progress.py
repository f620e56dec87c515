"""What a long fit tells while it works: lines, and a bar on the terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

PATIENCE = 1.0  # seconds before a bar appears


class Reporter:
    """Prints lines if `verbose`, and after a second shows a bar with the last one on a terminal's stderr.

    Called with a line, `rows` with the rows done in a pass over files. Does nothing at all unless `verbose`.

    >>> with Reporter("Model", verbose=1) as report:
    ...     report("tried 3 units")
    [Model] tried 3 units
    """

    def __init__(self, name: str, verbose: int) -> None:
        self.name, self.verbose = name, bool(verbose)
        self.started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __call__(self, line: str) -> None:
        """Print a line, and show it beside the bar."""
        if not self.verbose:
            return
        print(f"[{self.name}] {line}")
        if self._is_due():
            self._bar.tasks[0].total = None  # how long this step will take is not known
            self._bar.update(self._task, description=line, completed=0)

    def rows(self, done: int, total: int | None) -> None:
        """Move the bar on; a pass over all rows begins and ends with it."""
        if self.verbose and self._is_due():
            self._bar.update(self._task, completed=done, total=total)

    def _is_due(self) -> bool:
        """Whether there is a bar: from the first call after a second on, on a terminal."""
        if self._bar is None and time.monotonic() - self.started > PATIENCE and sys.stderr.isatty():
            self._bar = _bar(self.started)
            self._task = self._bar.add_task(self.name, total=None)
            self._bar.start()
        return self._bar is not None


def _bar(started: float) -> Any:
    """A bar on stderr that vanishes when it is done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
    from rich.text import Text

    class Elapsed(ProgressColumn):
        """Seconds since the fit began: rich's own column stops when a pass over the rows is complete."""

        def render(self, task: Task) -> Text:
            return Text(f"{time.monotonic() - started:.0f} s", style="progress.elapsed")

    columns = (SpinnerColumn(), BarColumn(bar_width=20), Elapsed(), TextColumn("{task.description}"))
    return Progress(*columns, console=Console(stderr=True), transient=True)
