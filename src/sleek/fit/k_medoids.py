"""Where the units start: k-medoids of the rows (or of a bounded sample of them).

The swap step is FasterPAM (Schubert and Rousseeuw, 2021): the change of the loss for exchanging any medoid
with a candidate is found for all medoids at once, from each row's nearest and second nearest medoid, and
an improving swap is made as soon as it is seen. Of many rows distances are computed for a few candidates at a
time and never stored, so memory is O(rows), not O(rows²).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from sleek._runtime.types import FloatArray, IntArray
from sleek.fit import policy
from sleek.rows.sample import Sample

CANDIDATES = 32  # candidate medoids examined together
KEPT_ROWS = 1024  # up to which all distances are computed once, 8 MB


def distinct_rows(sample: Sample, n_units: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """The distinct rows among some of a sample to place `n_units`, and the weight of each.

    They come sorted, so that neither the order of the rows nor writing a row twice instead of giving it
    weight two makes a difference.
    """
    sample = sample.smallest(max(policy.MEDOID_ROWS, policy.MEDOID_ROWS_PER_UNIT * n_units), seed)
    rows, inverse = np.unique(sample.rows.X, axis=0, return_inverse=True)
    weights = np.zeros(len(rows))
    np.add.at(weights, inverse.ravel(), sample.rows.s)
    return rows, weights


def k_medoids(rows: FloatArray, weights: FloatArray, n_medoids: int, rng: np.random.Generator) -> IntArray:
    """Indices of the rows that minimise Σ weight·(distance to the nearest of them), a local minimum.

    Euclidean distance, as in the paper. The best of a few starts, each seeded like k-means++ and improved by
    swaps until no single swap helps. O(rows²·(features + n_medoids)) time for each of the few passes.

    >>> rows = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> k_medoids(rows, np.ones(6), 2, np.random.default_rng(0))
    array([1, 4])
    """
    if n_medoids == len(rows):
        return np.arange(len(rows))
    far = _distances(rows)
    best_loss, best = np.inf, np.arange(n_medoids)
    for _ in range(policy.MEDOID_RESTARTS if n_medoids <= policy.FEW_MEDOIDS else 1):
        medoids, loss = _swap_until_stable(far, weights, _seed(far, weights, n_medoids, rng))
        if loss < best_loss * (1 - 1e-12):  # a tie goes to the earlier start, whatever the rounding
            best_loss, best = loss, medoids
    return np.sort(best)


Distances = Callable[[IntArray], FloatArray]  # of some rows from all rows


def _distances(rows: FloatArray) -> Distances:
    if len(rows) > KEPT_ROWS:
        return lambda some: cdist(rows[some], rows)
    all_distances = cdist(rows, rows)
    return lambda some: all_distances[some]


def _seed(far: Distances, weights: FloatArray, n_medoids: int, rng: np.random.Generator) -> IntArray:
    """Start medoids, each drawn with probability weight·(distance to those drawn before)."""
    medoids = np.empty(n_medoids, dtype=np.int64)
    chance = weights
    distance = np.full(len(weights), np.inf)
    for j in range(n_medoids):
        cumulated = np.cumsum(chance)
        medoids[j] = np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right")
        np.minimum(distance, far(medoids[j : j + 1])[0], out=distance)
        chance = weights * distance
    return medoids


def _swap_until_stable(far: Distances, weights: FloatArray, medoids: IntArray) -> tuple[IntArray, float]:
    """Swap medoids with other rows as long as that lowers the loss; the medoids and their loss."""
    medoids = medoids.copy()
    D, n = far(medoids), len(weights)  # (m, n)
    near = _Near.of(D)
    loss = float(weights @ near.first)
    position, unchanged = 0, 0
    while unchanged < n:
        candidates = np.arange(position, min(position + CANDIDATES, n))
        distances = far(candidates)  # (candidates, n)
        while True:
            change = _swap_changes(distances, near, weights)  # (candidates, m)
            best, j = np.unravel_index(change.argmin(), change.shape)
            if change[best, j] >= -1e-12 * loss:
                break
            medoids[j], D[j] = candidates[best], distances[best]
            near.swap(D, int(j))
            loss = float(weights @ near.first)
            unchanged = 0
        unchanged += len(candidates)
        position = 0 if candidates[-1] == n - 1 else position + CANDIDATES
    return medoids, loss


@dataclass(eq=False)
class _Near:
    """How far the two nearest medoids are from every row, and which rows each medoid is nearest to."""

    nearest: IntArray  # (n,) the number of the nearest medoid
    next: IntArray  # (n,) and of the second nearest
    first: FloatArray  # (n,) the distances of both
    second: FloatArray  # (n,) infinite if there is one medoid
    members: FloatArray  # (n, m) 1 for the nearest medoid

    @classmethod
    def of(cls, D: FloatArray) -> _Near:
        n_medoids, n = D.shape
        (nearest, after), (first, second) = np.zeros((2, n), np.int64), np.empty((2, n))
        near = cls(nearest, after, first, second, np.empty((n, n_medoids)))
        near._look(D, np.arange(n))
        return near

    def swap(self, D: FloatArray, j: int) -> None:
        """Medoid j has become another row: only rows that it was near to look at all medoids again."""
        d, was_near = D[j], (self.nearest == j) | (self.next == j)
        closer = ~was_near & (d < self.first)
        between = ~was_near & ~closer & (d < self.second)
        self.next[closer], self.second[closer] = self.nearest[closer], self.first[closer]
        self.nearest[closer], self.first[closer] = j, d[closer]
        self.next[between], self.second[between] = j, d[between]
        self.members[closer] = 0.0
        self.members[closer, j] = 1.0
        self._look(D, np.flatnonzero(was_near))

    def _look(self, D: FloatArray, rows: IntArray) -> None:
        left, at = D[:, rows], np.arange(len(rows))
        nearest = left.argmin(axis=0)
        self.nearest[rows], self.first[rows] = nearest, left[nearest, at]
        left[nearest, at] = np.inf
        self.next[rows] = left.argmin(axis=0)
        self.second[rows] = left[self.next[rows], at]
        self.members[rows] = 0.0
        self.members[rows, nearest] = 1.0


def _swap_changes(distances: FloatArray, near: _Near, weights: FloatArray) -> FloatArray:
    """The change of the loss when candidate c replaces medoid j, for all c and j: (candidates, m).

    A row whose nearest medoid stays goes over to c if that is nearer: min(0, d_c - d₁). A row whose nearest
    medoid leaves goes to c or to its second nearest: min(d_c, d₂) - d₁. The first is summed for all rows, and
    corrected in column j for the rows that j was nearest to.
    """
    stays = np.minimum(distances - near.first, 0.0) * weights
    leaves = (np.minimum(distances, near.second) - near.first) * weights
    change: FloatArray = stays.sum(axis=1)[:, None] + (leaves - stays) @ near.members
    return change
