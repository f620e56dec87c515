"""Small regression trees for weighted rows, grown best cut first: their definition in NumPy, and a door.

Every tree of a series is grown on the same rows for other targets, so rows are sorted once, by each feature
(`sort_rows`), and a cut divides the sorted lists without sorting again: O(n·d·k) for a tree of a few leaves.
The usual way sorts the rows of every node anew (20 trees of 8 leaves, 7,000 rows × 28: ten times the time).

A cut of a node with rows of weight W and sums S = Σ s t divides them into W = W₁ + W₂, S = S₁ + S₂, and takes

    gain = ‖S₁‖²/W₁ + ‖S₂‖²/W₂ - ‖S‖²/W

off the squared error. The node whose best cut gains most is cut next.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sleek._runtime.interrupts import interruptible
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.kernels import can_compile

COMPILED_FROM = 2**10  # numbers of rows from which compiled loops are worth their import
LEAST_GAIN = 1e-12  # share of Σ s t² that a cut must gain: less is rounding
LEAST_WEIGHT = 1e-12  # share of a node's weight that both sides of a cut must have: less is rounding, too


class Tree(NamedTuple):
    """Nodes in the order in which they were made, the root first; rows that are at most `cut` go left.

    Attributes
    ----------
    feature : array of int (n_nodes,)
        By which a node is cut; -1 for a leaf.
    cut : array (n_nodes,)
        Half-way between two values of the feature.
    children : array of int (n_nodes, 2)
    leaf : array of int (n,)
        The leaf that each row has come to.
    means : array (n_nodes, k)
        Of the targets in each node.
    """

    feature: IntArray
    cut: FloatArray
    children: IntArray
    leaf: IntArray
    means: FloatArray


class Cut(NamedTuple):
    """The best cut of a node: what it gains, its feature and its place."""

    gain: float
    feature: int
    place: float


def sort_rows(X: FloatArray) -> IntArray:
    """(d, n) the numbers of the rows in the order of each feature's values."""
    return np.argsort(np.ascontiguousarray(X.T), axis=1, kind="stable")


@interruptible
def grow_tree(
    X: FloatArray,
    order: IntArray,
    T: FloatArray,
    s: FloatArray,
    allowed: AnyArray,
    depth: int | None,
    least_rows: int,
) -> Tree:
    """A tree of at most ``(len(allowed) + 1) // 2`` leaves.

    Parameters
    ----------
    X : array of shape (n, d)
    order : array of int of shape (d, n)
        Of `sort_rows`.
    T : array of shape (n, k)
    s : array of shape (n,)
        Weights, all positive.
    allowed : array of bool of shape (n_nodes, d)
        The features by which the first, second, … node that is made may be cut.
    depth : int or None
        Cuts on the way from the root to a leaf at most.
    least_rows : int
        Of a leaf.

    Examples
    --------
    >>> X, T = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([[0.0], [0.0], [5.0], [5.0]])
    >>> tree = grow_tree(X, sort_rows(X), T, np.ones(4), np.ones((3, 1), dtype=bool), None, 1)
    >>> float(tree.cut[0]), tree.leaf, tree.means[:, 0]
    (2.5, array([1, 1, 2, 2]), array([2.5, 0. , 5. ]))
    """
    depth = len(allowed) if depth is None else depth
    if can_compile() and X.size >= COMPILED_FROM:
        from sleek.kernels.compiled_trees import grow

        return Tree(*grow(X, order, T, s, allowed, depth, least_rows))
    return grow_slowly(X, T, s, allowed, depth, least_rows)


def grow_slowly(
    X: FloatArray, T: FloatArray, s: FloatArray, allowed: AnyArray, depth: int, least_rows: int
) -> Tree:
    """The same tree, in NumPy; `order` would not help."""
    rows = [np.arange(len(X))]
    feature, place, children, level = [-1], [0.0], [(-1, -1)], [0]
    least_gain = LEAST_GAIN * float(s @ np.sum(T**2, axis=1))

    def best(node: int) -> Cut:
        own = rows[node]
        if level[node] >= depth or len(own) < 2 * least_rows:
            return Cut(0.0, -1, 0.0)
        return _best_cut(X[own], T[own], s[own], allowed[node], least_rows, least_gain)

    cuts = [best(0)]
    while len(rows) + 2 <= len(allowed):
        node = int(np.argmax([cut.gain for cut in cuts]))
        found = cuts[node]
        if found.feature < 0:
            break
        own = rows[node]
        left = X[own, found.feature] <= found.place
        feature[node], place[node] = found.feature, found.place
        children[node] = (len(rows), len(rows) + 1)
        cuts[node] = Cut(0.0, -1, 0.0)
        for part in (own[left], own[~left]):
            rows.append(part)
            feature.append(-1)
            place.append(0.0)
            children.append((-1, -1))
            level.append(level[node] + 1)
            cuts.append(best(len(rows) - 1))
    leaf = np.empty(len(X), dtype=np.int64)
    for node, own in enumerate(rows):
        if feature[node] < 0:
            leaf[own] = node
    means = np.array([np.average(T[own], axis=0, weights=s[own]) for own in rows])
    return Tree(np.array(feature), np.array(place), np.array(children), leaf, means)


def _best_cut(
    X: FloatArray, T: FloatArray, s: FloatArray, allowed: AnyArray, least_rows: int, least_gain: float
) -> Cut:
    """The cut of these rows that gains most; of equal ones the first."""
    best = Cut(least_gain, -1, 0.0)
    weight, sums = s.sum(), s @ T
    without = sums @ sums / weight
    for i in np.flatnonzero(allowed):
        order = np.argsort(X[:, i], kind="stable")
        x, w = X[order, i], np.cumsum(s[order])[:-1]
        left = np.cumsum(s[order, None] * T[order], axis=0)[:-1]
        right = sums - left
        at = np.arange(1, len(x))
        possible = (x[1:] > x[:-1]) & (at >= least_rows) & (len(x) - at >= least_rows)
        possible &= np.minimum(w, weight - w) > LEAST_WEIGHT * weight
        if not possible.any():
            continue
        gains = np.full(len(w), -np.inf)
        inside, outside = (np.sum(side[possible] ** 2, axis=1) for side in (left, right))
        gains[possible] = inside / w[possible] + outside / (weight - w[possible]) - without
        j = int(np.argmax(gains))
        if gains[j] > best.gain:
            best = Cut(float(gains[j]), int(i), between(x[j], x[j + 1]))
    return best if best.feature >= 0 else Cut(0.0, -1, 0.0)


def between(low: float, high: float) -> float:
    """Half-way, and below the higher one where rounding would make them the same.

    >>> between(1.0, 2.0), between(1.0, np.nextafter(1.0, 2.0)), between(1e308, 1.2e308) < 1.2e308
    (1.5, 1.0, True)
    """
    middle = 0.5 * low + 0.5 * high
    return float(middle if low <= middle < high else low)
