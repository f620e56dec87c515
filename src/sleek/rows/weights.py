"""What a weight means: how many observations a row stands for, and how much each of them matters.

Whole numbers are counts: a row of weight 3 is three equal rows, and leaving one out leaves two. Anything
else is an importance, as class weights are: leaving the row out leaves out all of it. Counts are taken in
units of their greatest common divisor: rows that are all written down twice, or all have weight 100, are no
more observations than rows that stand there once.

Weights are brought to a mean of one per observation, so that no setting depends on their unit; the scale
that was divided out belongs to a penalty C that the user has fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from sleek._runtime.types import FloatArray

MOST_COUNT = 2.0**53  # whole numbers beyond are not exact
NOTHING = 1e-12  # of all weight is what sums do not see
LEAST = 1e-100  # of the mean: a row of less weighs nothing in any sum, and 1/s must be a number


@dataclass(frozen=True)
class WeightSurvey:
    """What the weights of some rows tell; `+` merges.

    >>> WeightSurvey.of(np.array([4.0, 6.0]))
    WeightSurvey(n_rows=2, total=10.0, heaviest=6.0, divisor=2)
    >>> WeightSurvey.of(np.array([4.0, 6.0])) + WeightSurvey.of(np.array([0.5]))
    WeightSurvey(n_rows=3, total=10.5, heaviest=6.0, divisor=0)
    """

    n_rows: int
    total: float
    heaviest: float
    divisor: int  # greatest common divisor of the weights; 0 if one of them is not a whole number

    @classmethod
    def of(cls, s: FloatArray) -> WeightSurvey:
        """Of weights s > 0 of some rows."""
        heaviest = float(s.max(initial=0.0))
        if (s == 1.0).all():
            return cls(len(s), float(len(s)), heaviest, 1)
        whole = bool((s == np.floor(s)).all()) and heaviest < MOST_COUNT
        divisor = int(np.gcd.reduce(np.unique(s).astype(np.int64))) if whole else 0
        with np.errstate(over="ignore"):
            total = float(s.sum())
        return cls(len(s), _finite(total), heaviest, divisor)

    def __add__(self, other: WeightSurvey) -> WeightSurvey:
        divisor = gcd(self.divisor, other.divisor) if self.divisor and other.divisor else 0
        return WeightSurvey(
            self.n_rows + other.n_rows,
            _finite(self.total + other.total),
            max(self.heaviest, other.heaviest),
            divisor,
        )

    def check_spread(self) -> None:
        """That no row has all weight."""
        if self.n_rows > 1 and self.total - self.heaviest <= NOTHING * self.total:
            raise ValueError(
                f"One row has a weight of {self.heaviest:.6g}, and all {self.n_rows} rows together have "
                f"{self.total:.6g}: nothing can be learnt from the others. Give weights of one magnitude."
            )

    @property
    def n_observations(self) -> float:
        """How many observations all rows stand for."""
        return self.total / self.divisor if self.divisor else float(self.n_rows)

    def copies(self, s: FloatArray) -> FloatArray:
        """How many observations each of some rows stands for."""
        return s / self.divisor if self.divisor else np.ones(len(s))


@dataclass(frozen=True)
class Weighting:
    """How the weights of rows are made ready: copies by the survey, importances divided by `scale`."""

    survey: WeightSurvey
    scale: float  # the mean importance of an observation

    def ready(self, s: FloatArray, importance: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Weights and copies of some rows whose own weights are s."""
        copies = self.survey.copies(s)
        if importance is not None:
            s = s * importance
        return (s if self.scale == 1.0 else np.maximum(s / self.scale, LEAST)), copies


def _finite(total: float) -> float:
    """The sum of weights, if it is a number."""
    if not np.isfinite(total):
        raise ValueError(
            "Weights must add up to a finite number, but their sum overflows: divide all of them by the "
            "largest."
        )
    return total
