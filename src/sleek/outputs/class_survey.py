"""The class labels of some rows with their counts and weights, which add up over blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.labels import positions

MOST_CLASSES = 10_000


@dataclass(frozen=True, eq=False)
class ClassSurvey:
    """The different labels of some rows, sorted, and how many rows of what weight have each of them."""

    labels: AnyArray  # (n_labels,)
    weights: FloatArray  # (n_labels,)
    counts: FloatArray  # (n_labels,)
    untyped: bool = False

    @classmethod
    def of_labels(
        cls, labels: AnyArray, weights: FloatArray, counts: FloatArray, untyped: bool = False
    ) -> ClassSurvey:
        """The sums over equal labels."""
        different, group = np.unique(labels, return_inverse=True)
        if len(different) > MOST_CLASSES:
            raise ValueError(
                f"A classifier takes at most {MOST_CLASSES} classes, but the target has more "
                "different values. Is it another column, or a number for LowRankLSSVR?"
            )
        size = len(different)
        return cls(different, sums_of(group, weights, size), sums_of(group, counts, size), untyped)

    def __add__(self, other: ClassSurvey) -> ClassSurvey:
        return ClassSurvey.of_labels(
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.counts, other.counts]),
            self.untyped,
        )

    def among(self, classes: Any) -> ClassSurvey:
        """With all of these labels, which must be all that there are."""
        wanted = np.unique(np.asarray(classes))
        codes = positions(self.labels, wanted)
        if codes.min() < 0:
            strange = self.labels[codes < 0].tolist()[0]
            raise ValueError(f"There is a class {strange!r}, which is none of `classes`, {wanted.tolist()}.")
        size = len(wanted)
        return ClassSurvey(wanted, sums_of(codes, self.weights, size), sums_of(codes, self.counts, size))


def sums_of(groups: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Σ values over each of `size` groups."""
    return np.bincount(groups, values, size).astype(np.float64, copy=False)
