"""Mean, spread and range of columns, merged over blocks of rows by the rule of `closed_form.moments`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.kernels import column_moments

LEAST_SPREAD, MOST_SPREAD = 1e-150, 1e150  # between which a spread has a square and an inverse square


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Weighted mean, sum of squared deviations and range of every column.

    >>> X = np.array([[1.0], [2.0], [6.0]])
    >>> both = ColumnMoments.of(X[:2], np.ones(2)) + ColumnMoments.of(X[2:], np.ones(1))
    >>> both.mean, both.squares
    (array([3.]), array([14.]))
    """

    weight: float
    mean: FloatArray
    squares: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, X: FloatArray, s: FloatArray) -> ColumnMoments:
        """The moments of one block of rows with weights s > 0."""
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite spread is the caller's to report
            return cls(*column_moments(X, s))

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        weight = self.weight + other.weight
        share = other.weight / weight
        with np.errstate(over="ignore", invalid="ignore"):
            delta = other.mean - self.mean
            squares = self.squares + other.squares + delta**2 * (self.weight * share)
        return ColumnMoments(
            weight,
            self.mean + delta * share,
            squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def spread(self) -> FloatArray:
        """The standard deviation: exactly 0 where rounding leaves nothing of it, ∞ if it is too large.

        Both ends are those of float64, with room for sums of squares and for squares of scaling factors.
        """
        deviation = np.sqrt(self.squares / self.weight)
        least = np.maximum(8 * np.finfo(float).eps * np.abs(self.mean), LEAST_SPREAD)
        spread = np.where(deviation <= least, 0.0, deviation)
        return np.where(spread <= MOST_SPREAD, spread, np.inf)
