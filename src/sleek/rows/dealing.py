"""Stratified folds and held-out rows: each class has its share, and groups stay together.

A row of three copies is three observations, which may go to three folds. The rows of a group, whatever their
copies, always go the same way: equal rows of a table that was pasted twice are such groups.

Observations are numbered one class after the other, in random order within a class. Dealing them in turn,
or holding out every third, then gives each class its share to within one observation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Hands:
    """Rows of so many copies, or groups of rows, in random order, to be split into folds.

    Parameters
    ----------
    copies : array of shape (n,)
        The observations that each row stands for.
    order : array of shape (n,)
        Random numbers: rows are taken from the smallest to the largest.
    strata : array of shape (n,) or None
        The class of each row; None: all are of one kind. A group has the class of its first row.
    groups : array of shape (n,) or None
        Rows of the same number stay together; None: each row is by itself.
    """

    copies: FloatArray
    order: FloatArray | IntArray
    strata: IntArray | None = None
    groups: IntArray | None = None

    def deal(self, n_folds: int) -> FloatArray:
        """The copies of every row that each fold has, (n_folds, n).

        >>> Hands(np.array([1.0, 12.0]), np.arange(2)).deal(5).sum(axis=0)
        array([ 1., 12.])
        >>> Hands(np.ones(4), np.arange(4), groups=np.array([7, 3, 7, 3])).deal(2)
        array([[1., 0., 1., 0.], [0., 1., 0., 1.]])
        """
        first, whole, _ = self._number_observations()
        folds = np.arange(n_folds)[:, None]
        # how many of the numbers first … first + whole - 1 leave the fold's remainder
        count = (first + whole - 1 - folds) // n_folds - (first - 1 - folds) // n_folds
        return self._copies(count, whole)

    def hold_out(self, share: float) -> FloatArray:
        """The copies of every row that are held out, (n,): a share of each class, but never all of it.

        >>> Hands(np.ones(9), np.arange(9), np.array([0, 0, 0, 0, 0, 0, 1, 1, 1])).hold_out(1 / 3)
        array([0., 0., 1., 0., 0., 1., 0., 0., 1.])
        """
        first, whole, stratum = self._number_observations()
        counts = np.bincount(stratum, whole).astype(np.int64)
        held = apportion(round(share * counts.sum()), counts)
        first = first - (np.cumsum(counts) - counts)[stratum]  # in its own class
        h, n = held[stratum], counts[stratum]
        return self._copies((first + whole) * h // n - first * h // n, whole)

    def _number_observations(self) -> tuple[IntArray, IntArray, IntArray]:
        """The first number of each row's, or group's, observations, how many they are, and its class."""
        strata = np.zeros(len(self.copies), dtype=np.int64) if self.strata is None else self.strata
        order = self.order
        if self.groups is None:
            whole = np.maximum(1, np.floor(self.copies)).astype(np.int64)
        else:
            _, one = np.unique(self.groups, return_index=True)
            strata, order, whole = strata[one], order[one], np.ones(len(one), dtype=np.int64)
        turn = np.lexsort((order, strata))
        first = np.empty(len(whole), dtype=np.int64)
        first[turn] = np.cumsum(whole[turn]) - whole[turn]
        return first, whole, strata

    def _copies(self, count: IntArray, whole: IntArray) -> FloatArray:
        """So many of a row's whole observations, or of a group's one, in copies of the rows."""
        if self.groups is None:
            return np.asarray(count * (self.copies / whole))
        _, group = np.unique(self.groups, return_inverse=True)
        return np.asarray(count[..., group.ravel()] * self.copies)


def apportion(total: int, counts: IntArray) -> IntArray:
    """`total` of the rows, by class in proportion to its rows, one of each class at least left over.

    Fractions go to the classes with the largest (Hamilton's method).

    >>> apportion(10, np.array([24, 5, 1]))
    array([8, 2, 0])
    """
    most = np.maximum(counts - 1, 0)
    exact = total * counts / max(1, counts.sum())
    found: IntArray = np.minimum(np.floor(exact).astype(np.int64), most)
    for stratum in np.lexsort((np.arange(len(counts)), found - exact)):
        if found.sum() >= total:
            break
        found[stratum] = min(found[stratum] + 1, most[stratum])
    return found
