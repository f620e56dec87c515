"""The measurements of the speed comparison, and what may be asked of them.

>>> results = Results([
...     {"part": "fit", "problem": "smooth", "rows": 10, "method": "sleek", "round": 0, "seconds": 2.0},
...     {"part": "fit", "problem": "smooth", "rows": 10, "method": "sleek", "round": 1, "seconds": 1.0},
... ])
>>> results.least("seconds", part="fit", method="sleek")
1.0
>>> results.least("seconds", part="fit", method="svc") is None
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from studies.store import Record

# methods by their keys in jobs and results, in the order of the tables
FIT_METHODS = {
    "sleek": "sleek",
    "lightgbm": "LightGBM",
    "hgb": "HistGradientBoosting",
    "svc": "SVC",
    "nystroem": "Nystroem (100) + ridge",
    "mlp": "MLP (10)",
    "neo": "neo-ls-svm",
}
BASES = ("gaussian_rbf", "robust_rbf", "simplex", "sigmoidal")
PREDICT_METHODS = {
    **{f"sleek:{basis}": f"sleek, {basis}" for basis in BASES},
    "lightgbm": "LightGBM",
    "hgb": "HistGradientBoosting",
    "svc": "SVC",
    "nystroem": "Nystroem (100) + ridge",
    "mlp": "MLP (10)",
    "logistic": "LogisticRegression",
}
COLD_BASES = {"auto": "defaults", "robust_rbf": "robust_rbf units"}
GENERATED = ("smooth", "rotated")
CAP = 20_000  # rows that SVC and neo-ls-svm are given at most
CAPPED = ("svc", "neo")


def rows_given(method: str, rows: int | None) -> int | None:
    """How many rows of a problem a method is given (None: all)."""
    return CAP if method in CAPPED and rows is not None and rows > CAP else rows


@dataclass(frozen=True)
class Results:
    """Records of all parts."""

    records: Sequence[Record]

    def find(self, **fields: Any) -> list[Record]:
        """The records with these values."""
        return [r for r in self.records if all(r.get(name) == value for name, value in fields.items())]

    def reduce(self, choose: Callable[[list[float]], float], value: str, **fields: Any) -> float | None:
        """One of the measured values of all turns, or None if there is none."""
        values = [record[value] for record in self.find(**fields) if value in record]
        return choose(values) if values else None

    def least(self, value: str, **fields: Any) -> float | None:
        """The least of the measured values of all turns."""
        return self.reduce(min, value, **fields)

    def most(self, value: str, **fields: Any) -> float | None:
        """The greatest of the measured values of all turns."""
        return self.reduce(max, value, **fields)

    def sizes(self, part: str, problem: str) -> list[int]:
        """The numbers of rows that sleek was given."""
        return sorted({r["rows"] for r in self.find(part=part, problem=problem, method="sleek")})

    def first_fit(self, basis: str, state: str) -> tuple[float, float] | None:
        """Import and first fit in seconds, with state "cold" or "warm": the turn with the least sum."""
        turns = [record[state] for record in self.find(part="cold", basis=basis) if state in record]
        return min(((t["import_s"], t["fit_s"]) for t in turns), key=sum, default=None)


def ratio(above: float | None, below: float | None) -> float | None:
    """above / below, or None if either was not measured."""
    return None if above is None or below is None else above / below


def number(value: float | None, unit: str = "") -> str:
    """Two or three significant digits without exponents, and a dash for what was not measured.

    >>> number(1234.5), number(12.34), number(0.01234, " s"), number(None)
    ('1,234', '12.3', '0.0123 s', '–')
    """
    if value is None:
        return "–"
    return (f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}") + unit


def small(text: str) -> str:
    return f"<sub>{text}</sub>"
