"""Where the targets say that units belong: leaves of small regression trees on what is left to explain.

A tree of a few leaves is grown on the residuals, takes half of them away, and the next one is grown on the
rest, until there are different leaves enough. They are only a start: units are trained, pruned and counted
like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.fit import policy
from sleek.rows.sample import Sample


def leaves(
    sample: Sample, n_leaves: int, left: FloatArray, depth: int | None = None
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
    """
    from sklearn.tree import DecisionTreeRegressor  # here: small fits of other bases do not wait for it

    X, s = sample.rows.X, sample.rows.s
    n, d = X.shape
    unit = 2.0 ** np.frexp(np.abs(X).max(axis=0))[1]  # trees work in float32: raw features may be beyond it
    X = X / unit
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
        ).fit(X, left, sample_weight=s)
        left = left - policy.TREE_RATE * tree.predict(X).reshape(left.shape)
        for low, high in _sides(tree.tree_, unit):
            found.setdefault(low.tobytes() + high.tobytes(), (low, high))
        if len(found) >= n_leaves or tree.tree_.node_count == 1:  # without a cut nothing is left to be found
            break
    lows, highs = zip(*list(found.values())[:n_leaves], strict=True)
    return np.array(lows), np.array(highs)


def _mixtures(n_outputs: int, n_mixtures: int) -> FloatArray:
    """Random combinations of outputs: cuts that divide these divide the outputs (Johnson, Lindenstrauss)."""
    return np.random.default_rng(0).normal(scale=n_mixtures**-0.5, size=(n_outputs, n_mixtures))


def _sides(tree: Any, unit: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The lower and upper sides of every leaf of a tree whose features are in these units."""
    stack = [(0, np.full(len(unit), -np.inf), np.full(len(unit), np.inf))]
    while stack:
        node, low, high = stack.pop()
        if tree.children_left[node] < 0:
            yield low, high
            continue
        feature = tree.feature[node]
        cut = tree.threshold[node] * unit[feature]
        below, above = high.copy(), low.copy()
        below[feature], above[feature] = min(high[feature], cut), max(low[feature], cut)
        stack += [(tree.children_left[node], low, below), (tree.children_right[node], above, high)]
