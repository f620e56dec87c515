"""What a weight means: how many observations a row stands for, and how much each of them matters.

Whole numbers are counts: a row of weight 3 is three equal rows, and leaving one out leaves two. Counts are
taken in units of their greatest common divisor, and equal weights in units of that weight: a weight that is
the same for all rows changes nothing. Anything else is an importance, as class weights are: leaving the row
out leaves out all of it.

The unit is that of the weights as they were given, before equal rows are merged. A row that stands in the
table 50 times is 50 observations.

In a fit an observation weighs one on average, so that no setting depends on the unit of the weights. What
was divided out belongs to a penalty C that the user has fixed.
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
    """The weights of some rows in a few numbers; `+` merges.

    >>> WeightSurvey.of(np.array([4.0, 6.0]))
    WeightSurvey(n_rows=2, total=10.0, lightest=4.0, heaviest=6.0, divisor=2)
    >>> both = WeightSurvey.of(np.array([4.0, 6.0])) + WeightSurvey.of(np.array([0.5]))
    >>> both, both.unit
    (WeightSurvey(n_rows=3, total=10.5, lightest=0.5, heaviest=6.0, divisor=0), None)
    """

    n_rows: int
    total: float
    lightest: float
    heaviest: float
    divisor: int  # greatest common divisor of the weights; 0 if one of them is not a whole number

    @classmethod
    def of(cls, s: FloatArray) -> WeightSurvey:
        """Of weights s > 0 of some rows."""
        lightest, heaviest = float(s.min(initial=np.inf)), float(s.max(initial=0.0))
        if (s == 1.0).all():
            return cls(len(s), float(len(s)), lightest, heaviest, 1)
        whole = bool((s == np.floor(s)).all()) and heaviest < MOST_COUNT
        divisor = int(np.gcd.reduce(np.unique(s).astype(np.int64))) if whole else 0
        with np.errstate(over="ignore"):
            total = float(s.sum())
        return cls(len(s), _finite(total), lightest, heaviest, divisor)

    def __add__(self, other: WeightSurvey) -> WeightSurvey:
        divisor = gcd(self.divisor, other.divisor) if self.divisor and other.divisor else 0
        return WeightSurvey(
            self.n_rows + other.n_rows,
            _finite(self.total + other.total),
            min(self.lightest, other.lightest),
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
    def unit(self) -> float | None:
        """The weight of one observation; None for importances, where every row is one."""
        return self.lightest if self.lightest == self.heaviest else float(self.divisor) or None

    @property
    def n_observations(self) -> float:
        """How many observations all rows stand for."""
        return float(self.n_rows) if self.unit is None else self.total / self.unit

    def copies(self, s: FloatArray) -> FloatArray:
        """How many observations each of some rows stands for."""
        return np.ones(len(s)) if self.unit is None else in_units(s, self.unit)


def in_units(s: FloatArray, unit: float) -> FloatArray:
    """Counts in units of one observation's weight, exactly: 0.1 + 0.1 + 0.1 is three times 0.1."""
    return s if unit == 1.0 else np.rint(s / unit)


@dataclass(frozen=True)
class Weighting:
    """How the weights of rows are made ready for a fit.

    Parameters
    ----------
    survey : WeightSurvey
        Of the weights in units of `unit`.
    unit : float
        What all weights are divided by first.
    counts : bool
        Whether weights are counts; if not, every row is one observation.
    mean : float
        The mean weight of an observation in these units, importances included.
    """

    survey: WeightSurvey
    unit: float
    counts: bool
    mean: float

    @property
    def scale(self) -> float:
        """The mean weight of an observation as the user gave it."""
        return self.unit * self.mean

    def ready(self, s: FloatArray, importance: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Weights and copies of some rows whose own weights are s."""
        s = in_units(s, self.unit) if self.counts else s
        copies = s if self.counts else np.ones(len(s))
        if importance is not None:
            s = s * importance
        return (s if self.mean == 1.0 else np.maximum(s / self.mean, LEAST)), copies


def _finite(total: float) -> float:
    """The sum of weights, if it is a number."""
    if not np.isfinite(total):
        raise ValueError(
            "Weights must add up to a finite number, but their sum overflows: divide all of them by the "
            "largest."
        )
    return total


def as_observations(s: FloatArray, copies: FloatArray) -> FloatArray:
    """Weights that add up to the number of equal observations that would tell as much.

    A row of weight s that stands for several copies is that many observations of weight s/copies. Kish's
    effective number of observations is (Σs)²/Σs²/copies: as many as there are if all weigh the same.

    >>> as_observations(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    array([1., 2.])
    >>> as_observations(np.array([1.0, 3.0]), np.ones(2))
    array([0.4, 1.2])
    """
    s = s / s.max()  # squares of weights may be beyond float64
    return np.asarray(s * (s.sum() / np.sum(s**2 / copies)), dtype=np.float64)
