"""Where the targets say that units belong: leaves of small regression trees on what is left to explain.

A tree of a few leaves is grown on the residuals, takes half of them away, and the next one is grown on the
rest, until there are different leaves enough. They are only a start: units are trained, pruned and counted
like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek.fit import policy
from sleek.rows.sample import Sample


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
    from sklearn.base import clone
    from sklearn.tree import DecisionTreeRegressor  # here: small fits of other bases do not wait for it

    X, s = sample.rows.X, sample.rows.s
    n, d = X.shape
    unit = 2.0 ** np.frexp(np.abs(X).max(axis=0))[1]  # trees work in float32: raw features may be beyond it
    X, everything = X / unit, np.arange(d)
    if left.shape[1] > policy.MOST_TREE_OUTPUTS:
        left = left @ _mixtures(left.shape[1], policy.MOST_TREE_OUTPUTS)
    found: dict[bytes, tuple[FloatArray, FloatArray]] = {}
    for number in range(n_leaves // policy.TREE_LEAVES + policy.MORE_TREES):
        tree = DecisionTreeRegressor(
            max_leaf_nodes=policy.TREE_LEAVES,
            max_depth=depth,
            min_samples_leaf=max(policy.LEAST_LEAF_ROWS, n // policy.MOST_TREE_LEAVES),
            max_features=None if d < policy.MANY_FEATURES else policy.FEATURE_SHARE,
            random_state=number,
        )
        seen = everything
        if groups:
            cut = clone(tree).set_params(max_depth=1).fit(X, left, sample_weight=s).tree_.feature[0]
            own, wide = (
                [group for group in groups if cut in group],
                [group for group in groups if len(group) > 1],
            )
            some = (wide if number % 2 else own) or own or groups
            seen = some[number // 2 % len(some)]
        tree.fit(X[:, seen], left, sample_weight=s)
        left = left - policy.TREE_RATE * tree.predict(X[:, seen]).reshape(left.shape)
        for low, high in _sides(tree.tree_, seen, unit):
            found.setdefault(low.tobytes() + high.tobytes(), (low, high))
        if len(found) >= n_leaves:
            break
        if tree.tree_.node_count == 1 and not groups:  # without a cut nothing is left to be found
            break
    lows, highs = zip(*list(found.values())[:n_leaves], strict=True)
    return np.array(lows), np.array(highs)


def _mixtures(n_outputs: int, n_mixtures: int) -> FloatArray:
    """Random combinations of outputs: cuts that divide these divide the outputs (Johnson, Lindenstrauss)."""
    return np.random.default_rng(0).normal(scale=n_mixtures**-0.5, size=(n_outputs, n_mixtures))


def _sides(tree: Any, seen: IntArray, unit: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The lower and upper sides of every leaf of a tree of `seen` features, which are in these units."""
    stack = [(0, np.full(len(unit), -np.inf), np.full(len(unit), np.inf))]
    while stack:
        node, low, high = stack.pop()
        if tree.children_left[node] < 0:
            yield low, high
            continue
        feature = seen[tree.feature[node]]
        cut = tree.threshold[node] * unit[feature]
        below, above = high.copy(), low.copy()
        below[feature], above[feature] = min(high[feature], cut), max(low[feature], cut)
        stack += [(tree.children_left[node], low, below), (tree.children_right[node], above, high)]
