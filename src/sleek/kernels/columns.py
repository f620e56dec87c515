"""Mean, spread and range of columns, merged over blocks of rows by the rule of `closed_form.moments`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.kernels import column_moments


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
        with np.errstate(over="ignore"):  # an infinite spread is the caller's to report
            return cls(*column_moments(X, s))

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        weight = self.weight + other.weight
        share = other.weight / weight
        delta = other.mean - self.mean
        return ColumnMoments(
            weight,
            self.mean + delta * share,
            self.squares + other.squares + delta**2 * (self.weight * share),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def spread(self) -> FloatArray:
        """The standard deviation, and exactly 0 where nothing but rounding is left of it."""
        deviation = np.sqrt(self.squares / self.weight)
        return np.where(deviation > 8 * np.finfo(float).eps * np.abs(self.mean), deviation, 0.0)
