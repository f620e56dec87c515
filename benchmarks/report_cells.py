"""What the accuracy tables are made of: one method on one set, and how two of them compare.

Errors are compared on the splits that both methods have, unless one of them failed on a split. A cell is
complete if the method succeeded on every split of its set that any method has run; ranks need complete
cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.rivals import RIVALS
from studies.problems import REGRESSION, Problem

MEASURES = ("terms", "fit_s", "cpu_s", "predict_us", "auc", "average_precision")
EXTRA_POINTS = 0.5  # per cent of rows, added to both errors of a ratio: some sets are solved without errors


@dataclass(frozen=True)
class Cell:
    """What one method did on one set: errors by split, and means over the splits that succeeded."""

    errors: dict[int, float]
    means: dict[str, float]
    complete: bool
    failed: bool

    @property
    def mean(self) -> float:
        """The mean error."""
        return float(np.mean(list(self.errors.values()))) if self.errors else np.nan

    def text(self) -> str:
        """Mean ± standard deviation over splits, or why there is none."""
        if not self.errors:
            return "failed"
        std = f" ± {np.std(list(self.errors.values()), ddof=1):.1f}" if len(self.errors) > 1 else ""
        return f"{self.mean:.2f}{std}" + ("" if self.complete else f" ({len(self.errors)} splits only)")


Cells = dict[str, dict[str, Cell]]  # set -> method -> cell


def collect(
    problems: Sequence[Problem], records: Sequence[Mapping[str, Any]], methods: Iterable[str] = RIVALS
) -> Cells:
    """Group the results by set and method, in the order of the problems and of the methods."""
    methods = list(methods)
    cells: Cells = {}
    for problem in problems:
        here = [record for record in records if record["set"] == problem.name]
        splits = {record["split"] for record in here}
        cells[problem.name] = {}
        for method in methods:
            mine = [record for record in here if record["method"] == method]
            good = [record for record in mine if "failed" not in record]
            if mine:
                errors = {record["split"]: record["error"] for record in good}
                means = {
                    name: float(np.mean([record[name] for record in good]))
                    for name in MEASURES
                    if good and all(name in record for record in good)
                }
                cells[problem.name][method] = Cell(
                    errors, means, set(errors) == splits, len(good) < len(mine)
                )
    return cells


def ratio(problem: Problem, cell: Cell, reference: Cell) -> float | None:
    """Error over the reference's error on the splits that both have; None if there are none, or one failed.

    Half a per cent is added to both errors of a classification.
    """
    gaps = shared(cell, reference)
    if not gaps or cell.failed or reference.failed:
        return None
    extra = 0.0 if problem.kind == REGRESSION else EXTRA_POINTS
    ours, theirs = np.mean(gaps, axis=0)
    return float((ours + extra) / (theirs + extra))


def shared(cell: Cell, other: Cell) -> list[tuple[float, float]]:
    """The errors of both on every split that both have."""
    return [(cell.errors[split], other.errors[split]) for split in cell.errors if split in other.errors]


def geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def number(value: float) -> str:
    """Three significant digits without exponents.

    >>> number(1234.5), number(0.01234), number(0.00012), number(float("nan"))
    ('1234', '0.0123', '0.0001', '–')
    """
    if not np.isfinite(value):
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else f"{value:.4f}"


def complete(problems: Sequence[Problem], cells: Cells, methods: Sequence[str]) -> list[Problem]:
    """The sets on which all these methods are complete."""
    return [p for p in problems if all(m in cells[p.name] and cells[p.name][m].complete for m in methods)]


def ran_on(problems: Sequence[Problem], cells: Cells) -> list[str]:
    """The methods that have any result on these sets."""
    return [m for m in RIVALS if any(m in cells[p.name] for p in problems)]
