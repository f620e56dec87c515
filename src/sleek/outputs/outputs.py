"""What the model is asked to say: class labels or numbers, as the columns T that the closed form fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.closed_form.moments import ColumnMoments
from sleek.closed_form.solve import Solution

MOST_RANGE = 10_000  # of whole numbers as labels, for a table of them


class Targets(ABC):
    """A coding of the user's target as real columns (k of them), applied block by block."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """The number of columns k."""

    @abstractmethod
    def encode(self, y: AnyArray) -> FloatArray:
        """T (n, k) for the stored targets of some rows."""

    @abstractmethod
    def decode(self, solution: Solution) -> Solution:
        """The solution for columns T as one in the user's units."""

    @abstractmethod
    def decode_residuals(self, residuals: FloatArray) -> FloatArray:
        """Residuals (n, k) of the columns T in the user's units."""

    @abstractmethod
    def row_errors(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """The training error of each row, (n,), for model outputs Y (n, k)."""

    @abstractmethod
    def losses(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """The loss of each row, (n,), by which settings are chosen."""


@dataclass(frozen=True)
class ClassTargets(Targets):
    """Class codes 0 … n_classes-1 as ±1: one column for two classes, else one for each class.

    >>> ClassTargets(2).encode(np.array([0, 1]))
    array([[-1.], [ 1.]])
    >>> ClassTargets(3).encode(np.array([2]))
    array([[-1., -1.,  1.]])
    """

    n_classes: int

    @property
    def n_outputs(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    def encode(self, y: IntArray) -> FloatArray:
        columns = np.arange(self.n_classes) if self.n_classes > 2 else np.ones(1)
        return np.where(y[:, None] == columns, 1.0, -1.0)

    def decode(self, solution: Solution) -> Solution:
        return solution

    def decode_residuals(self, residuals: FloatArray) -> FloatArray:
        return residuals

    def row_errors(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        return np.where(decide(T) != decide(Y), 1.0, 0.0)

    def losses(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Half the squared error, clipped where it is certain to be a mistake, plus 1 for a mistake.

        The squared error alone prefers models that are too smooth at the boundary, mistakes alone are too
        coarse to tell settings apart on a few hundred rows.
        """
        squared: FloatArray = np.sum((T - Y) ** 2, axis=1)
        return 0.5 * np.minimum(squared, 4.0) + self.row_errors(T, Y)


@dataclass(frozen=True, eq=False)
class RealTargets(Targets):
    """Numbers, centred and brought to unit variance per column, so that no setting depends on their units."""

    mean: FloatArray  # (k,)
    scale: FloatArray  # (k,)

    @classmethod
    def of(cls, y: FloatArray, s: FloatArray) -> RealTargets:
        """The coding for targets y (n, k) with weights s."""
        return cls.from_moments(ColumnMoments.of_blocks(y, s))

    @classmethod
    def from_moments(cls, columns: ColumnMoments) -> RealTargets:
        """The coding for targets with these moments; a constant column keeps scale 1."""
        spread = columns.spread()
        return cls(columns.mean, np.where(spread > 0, spread, 1.0))

    @property
    def n_outputs(self) -> int:
        return len(self.mean)

    def encode(self, y: FloatArray) -> FloatArray:
        T: FloatArray = (y - self.mean) / self.scale
        return T

    def decode(self, solution: Solution) -> Solution:
        return Solution(solution.theta * self.scale, solution.b * self.scale + self.mean)

    def decode_residuals(self, residuals: FloatArray) -> FloatArray:
        decoded: FloatArray = residuals * self.scale
        return decoded

    def row_errors(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Squared errors in the target's own units, averaged over the outputs."""
        errors: FloatArray = np.mean(((T - Y) * self.scale) ** 2, axis=1)
        return errors

    def losses(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Squared errors, summed over the outputs, each relative to its variance."""
        errors: FloatArray = np.sum((T - Y) ** 2, axis=1)
        return errors


def decide(Y: FloatArray) -> IntArray:
    """The class code that outputs Y (n, k) speak for; of equal outputs the first class wins."""
    codes: IntArray = (Y[:, 0] > 0).astype(np.int64) if Y.shape[1] == 1 else Y.argmax(axis=1)
    return codes


def classes_and_codes(y: AnyArray) -> tuple[AnyArray, IntArray]:
    """The sorted labels, and for each row the position of its label among them.

    That of ``np.unique``, but whole numbers of a small range are looked up in a table instead of sorted.

    >>> classes_and_codes(np.array([7, 3, 7, 4]))
    (array([3, 4, 7]), array([2, 0, 2, 1]))
    """
    if y.dtype.kind not in "iu" or int(y.max()) - int(y.min()) > MOST_RANGE:
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes
    shifted = y.astype(np.int64) - int(y.min())
    seen = np.zeros(int(shifted.max()) + 1, dtype=bool)
    seen[shifted] = True
    position = np.cumsum(seen) - 1
    return (np.flatnonzero(seen) + int(y.min())).astype(y.dtype), position[shifted]
