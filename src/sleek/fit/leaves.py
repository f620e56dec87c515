"""Where the targets say that units belong: leaves of small regression trees on what is left to explain.

A tree of a few leaves is grown on the residuals, takes half of them away, and the next one is grown on the
rest, until there are different leaves enough. They are only a start: units are trained, pruned and counted
like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sleek._runtime.memo import ByArray
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.fit import policy
from sleek.kernels.trees import Tree, grow_tree, sort_rows
from sleek.rows.sample import Sample

_orders: ByArray[IntArray] = ByArray()  # the rows of a sample are sorted once, whatever trees are grown on


def leaves(
    sample: Sample,
    n_leaves: int,
    left: FloatArray,
    depth: int | None = None,
    groups: Sequence[IntArray] = (),
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper sides of leaves, each (n_leaves, d) at most, infinite where a leaf is open.

    Parameters
    ----------
    sample : Sample
        The rows, in training units.
    n_leaves : int
    left : array of shape (n_rows, n_outputs)
        What is left to explain of the sample's targets.
    depth : int or None
        Of trees at most: as many features a leaf has at most.
    groups : sequence of arrays of int
        Numbers of features that may be in one leaf. A tree then sees one group: that of the best cut, of
        several those in turn, and every second tree the next group of several features, so that those which
        matter only together are found too.
    """
    X, s = sample.rows.X, sample.rows.s
    n, d = X.shape
    order, most_nodes = _orders.of(X, lambda: sort_rows(X)), 2 * policy.TREE_LEAVES - 1
    least_rows = max(policy.LEAST_LEAF_ROWS, n // policy.MOST_TREE_LEAVES)
    if left.shape[1] > policy.MOST_TREE_OUTPUTS:
        left = left @ _mixtures(left.shape[1], policy.MOST_TREE_OUTPUTS)
    found: dict[bytes, tuple[FloatArray, FloatArray]] = {}
    for number in range(n_leaves // policy.TREE_LEAVES + policy.MORE_TREES):
        allowed = _some_features(most_nodes, d, number)
        if groups:
            stump = grow_tree(X, order, left, s, np.ones((3, d), dtype=bool), 1, least_rows)
            own = [group for group in groups if stump.feature[0] in group]
            wide = [group for group in groups if len(group) > 1]
            some = (wide if number % 2 else own) or own or groups
            allowed &= np.isin(np.arange(d), some[number // 2 % len(some)])
        tree = grow_tree(X, order, left, s, allowed, depth, least_rows)
        left = left - policy.TREE_RATE * tree.means[tree.leaf]
        for low, high in _sides(tree, d):
            found.setdefault(low.tobytes() + high.tobytes(), (low, high))
        if len(found) >= n_leaves:
            break
        if len(tree.feature) == 1 and not groups:  # without a cut nothing is left to be found
            break
    lows, highs = zip(*list(found.values())[:n_leaves], strict=True)
    return np.array(lows), np.array(highs)


def _mixtures(n_outputs: int, n_mixtures: int) -> FloatArray:
    """Random combinations of outputs: cuts that divide these divide the outputs (Johnson, Lindenstrauss)."""
    return np.random.default_rng(0).normal(scale=n_mixtures**-0.5, size=(n_outputs, n_mixtures))


def _some_features(n_nodes: int, n_features: int, seed: int) -> AnyArray:
    """(n_nodes, d) the features that each node may be cut by: all of few, a share of many."""
    if n_features < policy.MANY_FEATURES:
        return np.ones((n_nodes, n_features), dtype=bool)
    draws = np.random.default_rng(seed).random((n_nodes, n_features))
    n_seen = round(policy.FEATURE_SHARE * n_features)
    return np.asarray(draws <= np.sort(draws, axis=1)[:, n_seen - 1 : n_seen])


def _sides(tree: Tree, n_features: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The lower and upper sides of every leaf of a tree."""
    stack = [(0, np.full(n_features, -np.inf), np.full(n_features, np.inf))]
    while stack:
        node, low, high = stack.pop()
        feature, cut = tree.feature[node], tree.cut[node]
        if feature < 0:
            yield low, high
            continue
        below, above = high.copy(), low.copy()
        below[feature], above[feature] = min(high[feature], cut), max(low[feature], cut)
        left, right = tree.children[node]
        stack += [(left, low, below), (right, above, high)]
