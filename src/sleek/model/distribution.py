"""Binned distribution of one column in the training data, which reveals no single row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.json_values import ModelFileError
from sleek._runtime.types import FloatArray, IntArray

MOST_POINTS = 32  # of a number,
MOST_LEVELS = 1024  # and of a category
LEAST_ROWS = 5  # of a bin: fewer could be told apart


FIELDS = {"points": fields.array("point", "feature"), "weights": fields.array("point", above=0)}


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values of one column and how common they are.

    A category has a point for each level. A number with many values is cut at its quantiles, and each bin is
    the mean of its rows; rows with a gap are a bin of their own.

    Attributes
    ----------
    points : array of shape (n_points, n_features)
        What the column's features are at each point.
    weights : array of shape (n_points,)
        The share of the training rows, which add up to 1.

    Examples
    --------
    >>> colours = Distribution.of(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    >>> colours.points, colours.weights
    (array([[1., 0.], [0., 1.]]), array([0.25, 0.75]))
    >>> len(Distribution.of(np.random.default_rng(0).normal(size=(1000, 1))))
    32
    """

    points: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, values: FloatArray, s: FloatArray | None = None, most: int = MOST_POINTS) -> Distribution:
        """The distribution of a column's features (n, n_features), with weights `s` or all alike."""
        s = np.ones(len(values)) if s is None else s
        axis = None if values.shape[1] == 1 else 0  # of single numbers it takes a third of the time
        points, number, rows = np.unique(values, axis=axis, return_inverse=True, return_counts=True)
        points = points.reshape(len(points), -1)
        weight = _sums_by_group(number.ravel(), s)
        if points.shape[1] > 1 and np.isin(points, (0.0, 1.0)).all():  # the first level first
            points, weight, rows = points[::-1], weight[::-1], rows[::-1]
        bins = _bins(points, weight, rows, most)
        total = _sums_by_group(bins, weight)
        if len(total) == len(points):
            middle = points
        elif points.shape[1] == 1:
            middle = np.stack([_sums_by_group(bins, weight * x) for x in points.T], axis=1) / total[:, None]
        else:  # parts of a date, a number and its gap: no mean, but a value that there is
            places = [np.flatnonzero(bins == b) for b in range(len(total))]
            middle = points[[place[len(place) // 2] for place in places]]
        return cls(middle, total / total.sum())

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {"points": self.points.tolist(), "weights": self.weights.tolist()}

    @classmethod
    def from_json(cls, block: Any, where: str) -> Self:
        """What `to_json` has written, checked."""
        found = fields.read(block, FIELDS, where)
        points, weights = found["points"], found["weights"]
        if abs(weights.sum() - 1.0) > 1e-6:
            raise ModelFileError(f"`{where}.weights` must add up to 1.")
        return cls(points, weights)

    def __len__(self) -> int:
        return len(self.weights)

    def mean(self, values: FloatArray) -> FloatArray:
        """The mean of something that has a value at each point (axis 0)."""
        found: FloatArray = np.tensordot(self.weights, values, axes=1)
        return found


def _bins(points: FloatArray, weight: FloatArray, rows: IntArray, most: int) -> IntArray:
    """The bin of each point: as they are if they are few, else cut by quantiles of the first feature."""
    if len(points) <= most:
        return np.arange(len(points))
    last = points[:, -1]
    flagged = points.shape[1] > 1 and set(np.unique(last)) <= {0.0, 1.0}  # a feature that says "is missing"
    gap = (last == 1.0) if flagged else np.zeros(len(points), dtype=bool)
    place = np.cumsum(np.where(gap, 0.0, weight)) - 0.5 * weight
    n_bins = max(1, min(most - int(gap.any()), int(rows[~gap].sum()) // LEAST_ROWS))
    cut = np.minimum((place / weight[~gap].sum() * n_bins).astype(np.int64), n_bins - 1)
    if not flagged:  # in order already
        return np.cumsum(np.diff(cut, prepend=cut[0]) > 0)
    bins: IntArray = np.unique(np.where(gap, n_bins, cut), return_inverse=True)[1].ravel()
    return bins


def _sums_by_group(groups: IntArray, values: FloatArray) -> FloatArray:
    """The sum of the values of each group."""
    return np.bincount(groups, values).astype(np.float64)
