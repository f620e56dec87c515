"""Tables: measured beside published, on the screen, as CSV and as Markdown."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from paper.methods import Method
from paper.settings import TITLES, Published
from studies.markdown import table
from studies.problems import Problem
from studies.store import Record

TOLERANCE = 0.5  # points, where there is one realisation and so no standard deviation
MARK = "*"
COLUMNS = (
    "set", "partitions", "method", "n", "error", "std", "published", "published_std", "inside", "size",
    "published_size", "cpu_seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One method on one problem: errors in per cent over partitions, and what the paper says.

    >>> cell = Cell("titanic", "Titanic", "seeded", "svm", "SVM", (22.0, 23.0), 90.0, 0.1, Published(24.0))
    >>> cell.mean, round(cell.std, 2), cell.inside
    (22.5, 0.71, False)
    """

    set: str
    title: str
    partitions: str
    method: str
    label: str
    errors: tuple[float, ...]
    size: float
    seconds: float
    published: Published | None

    @property
    def mean(self) -> float:
        return float(np.mean(self.errors))

    @property
    def std(self) -> float:
        """The standard deviation over partitions; NaN for a single one."""
        return float(np.std(self.errors, ddof=1)) if len(self.errors) > 1 else float("nan")

    @property
    def inside(self) -> bool | None:
        """Whether the published mean lies within measured mean ± std; None without a published figure."""
        if self.published is None:
            return None
        reach = self.std if len(self.errors) > 1 else TOLERANCE
        return bool(abs(self.published.mean - self.mean) <= reach + 1e-9)

    @property
    def measured_text(self) -> str:
        return f"{self.mean:.1f}" if len(self.errors) == 1 else f"{self.mean:.1f} ± {self.std:.1f}"

    @property
    def published_text(self) -> str:
        if self.published is None:
            return ""
        mark = "" if self.inside else f" {MARK}"
        deviation = "" if self.published.std is None else f" ± {self.published.std:.1f}"
        return f"{self.published.mean:.1f}{deviation}{mark}"

    @property
    def size_text(self) -> str:
        whole = self.size >= 100 or float(self.size).is_integer()
        return f"{self.size:.0f}" if whole else f"{self.size:.1f}"


def make_cells(
    problem: Problem, methods: Sequence[Method], records: Sequence[Record], published: dict[str, Published]
) -> list[Cell]:
    """A cell for each method, from all records of its fits to the problem."""
    cells = []
    for method in methods:
        own = [record for record in records if record["method"] == method.key]
        cells.append(
            Cell(
                problem.name,
                TITLES[problem.name],
                problem.origin,
                method.key,
                method.label,
                tuple(record["error"] for record in own),
                float(np.mean([record["size"] for record in own])),
                float(np.mean([record["seconds"] for record in own])),
                published.get(method.key),
            )
        )
    return cells


def as_csv(cells: Sequence[Cell]) -> str:
    """One line for each cell."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell in cells:
        published = cell.published or Published(float("nan"))
        numbers = (cell.mean, cell.std, published.mean, published.std)
        mean, std, published_mean, published_std = (_number(value) for value in numbers)
        inside = "" if cell.inside is None else ("yes" if cell.inside else "no")
        writer.writerow(
            [
                *(cell.set, cell.partitions, cell.label, len(cell.errors)),
                *(mean, std, published_mean, published_std, inside, cell.size_text),
                *(published.size or "", f"{cell.seconds:.3f}"),
            ]
        )
    return text.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None or np.isnan(value) else f"{value:.2f}"


def as_markdown(title: str, cells: Sequence[Cell]) -> str:
    """A table with a row for each method and three columns for each problem, and its legend."""
    lines = [f"# {title}", "", *legend(cells), ""]
    header, rows = as_grid(cells)
    lines += [line.replace(MARK, f"\\{MARK}") for line in table(header, rows)]
    return "\n".join(lines)


def as_grid(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: a method, then measured error, published error and size for each problem."""
    titles = list(dict.fromkeys(cell.title for cell in cells))
    header = ["model"]
    for title in titles:
        header += [title, "published", "size"]
    rows = []
    for label in dict.fromkeys(cell.label for cell in cells):
        row = [label]
        for title in titles:
            cell = next(cell for cell in cells if (cell.title, cell.label) == (title, label))
            row += [cell.measured_text, cell.published_text, cell.size_text]
        rows.append(row)
    return header, rows


def legend(cells: Sequence[Cell]) -> list[str]:
    """What the numbers are: which partitions, how many, and what the mark means."""
    lines = []
    for title in dict.fromkeys(cell.title for cell in cells):
        own = next(cell for cell in cells if cell.title == title)
        count = len(own.errors)
        lines.append(f"- {title}: {own.partitions}" + (f", {count} of them" if count > 1 else ""))
    reach = "measured mean ± std" if len(cells[0].errors) > 1 else f"{TOLERANCE} points of the measured error"
    lines.append(f"- Test errors in per cent. {MARK} the published mean lies outside {reach}.")
    return lines


def show(console: Any, title: str, cells: Sequence[Cell]) -> None:
    """Print a table for each problem, narrow enough for any screen, and the legend."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    for problem in dict.fromkeys(cell.title for cell in cells):
        table = Table(
            title=f"{title}: {problem}", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
        )
        for heading in ("model", "measured", "published", "size", "published", "CPU s"):
            table.add_column(heading, justify="left" if heading == "model" else "right", no_wrap=True)
        for cell in cells:
            if cell.title == problem:
                published = cell.published_text
                table.add_row(
                    cell.label,
                    cell.measured_text,
                    f"[red]{published}[/red]" if cell.inside is False else published,
                    cell.size_text,
                    str((cell.published and cell.published.size) or ""),
                    f"{cell.seconds:.2f}",
                )
        console.print(table)
    console.print(*legend(cells), sep="\n", highlight=False)
