"""`trees.grow_tree`, compiled: a cut divides sorted lists of rows, and nothing is sorted again.

A node is a stretch of `order`, the same for every feature: its rows in the order of that feature's values.
The rows that go left are the first ones in the list of the feature that is cut, and keep their order in the
others.
"""

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.kernels.compiled import _jit
from sleek.kernels.trees import LEAST_GAIN, LEAST_WEIGHT


def grow(
    X: FloatArray,
    order: IntArray,
    T: FloatArray,
    s: FloatArray,
    allowed: AnyArray,
    depth: int,
    least_rows: int,
) -> tuple[IntArray, FloatArray, IntArray, IntArray, FloatArray]:
    """The fields of a `trees.Tree`."""
    n_nodes, k = len(allowed), T.shape[1]
    feature, cut, children = np.full(n_nodes, -1), np.zeros(n_nodes), np.full((n_nodes, 2), -1)
    leaf, means = np.empty(len(X), dtype=np.int64), np.zeros((n_nodes, k))
    weighted = np.ascontiguousarray(s[:, None] * T)
    least_gain = LEAST_GAIN * float(np.vdot(weighted, T))
    made = _grow(
        np.ascontiguousarray(X.T, dtype=np.float64),
        order.astype(np.int32),
        weighted,
        np.ascontiguousarray(s),
        np.ascontiguousarray(allowed),
        depth,
        least_rows,
        least_gain,
        feature,
        cut,
        children,
        leaf,
        means,
    )
    return feature[:made], cut[:made], children[:made], leaf, means[:made]


@_jit
def _grow(X, order, T, s, allowed, depth, least_rows, least_gain, feature, cut, children, leaf, means):  # type: ignore[no-untyped-def]
    """Fill the last five arrays; T is weighted. Returns the number of nodes."""
    d, n = X.shape
    n_nodes, k = means.shape
    begin, end, level = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    gains, features, places = np.zeros(n_nodes), np.zeros(n_nodes, np.int64), np.zeros(n_nodes)
    weight, sums = np.zeros(n_nodes), np.zeros((n_nodes, k))
    goes_left, aside = np.zeros(n, np.bool_), np.empty(n, np.int32)
    left = np.zeros(k)
    end[0] = n
    made, fresh = 1, 0
    while True:
        for node in range(fresh, made):  # sums and the best cut of new nodes
            for r in range(begin[node], end[node]):
                row = order[0, r]
                weight[node] += s[row]
                for j in range(k):
                    sums[node, j] += T[row, j]
            for j in range(k):
                means[node, j] = sums[node, j] / weight[node]
            if level[node] < depth and end[node] - begin[node] >= 2 * least_rows:
                _find_cut(
                    X, order, T, s, allowed[node], begin[node], end[node], least_rows, least_gain,
                    weight[node], sums[node], left, node, gains, features, places,
                )  # fmt: skip
        fresh = made
        node = 0
        for other in range(1, made):
            if gains[other] > gains[node]:
                node = other
        if made + 2 > n_nodes or gains[node] <= 0:
            break
        i, place = features[node], places[node]
        start, stop = begin[node], end[node]
        middle = start
        for r in range(start, stop):
            row = order[i, r]
            goes_left[row] = X[i, row] <= place
            if goes_left[row]:
                middle += 1
        for other in range(d):
            if other == i:
                continue
            rows = order[other]
            at, later = start, 0
            for r in range(start, stop):
                row = rows[r]
                if goes_left[row]:
                    rows[at] = row
                    at += 1
                else:
                    aside[later] = row
                    later += 1
            for r in range(later):
                rows[at + r] = aside[r]
        feature[node], cut[node], gains[node] = i, place, 0.0
        children[node, 0], children[node, 1] = made, made + 1
        begin[made], end[made], begin[made + 1], end[made + 1] = start, middle, middle, stop
        level[made] = level[made + 1] = level[node] + 1
        made += 2
    for node in range(made):
        if feature[node] < 0:
            for r in range(begin[node], end[node]):
                leaf[order[0, r]] = node
    return made


@_jit
def _find_cut(X, order, T, s, allowed, start, stop, least_rows, least_gain, weight, sums, left, node, gains, features, places):  # type: ignore[no-untyped-def]  # fmt: skip  # noqa: E501
    """The cut of a node that gains most, into the last three arrays; `left` (k,) is to work in."""
    d, k = X.shape[0], T.shape[1]
    without = 0.0
    for j in range(k):
        without += sums[j] * sums[j]
    without /= weight
    best = least_gain
    for i in range(d):
        rows, x = order[i], X[i]
        if not allowed[i] or x[rows[start]] == x[rows[stop - 1]]:
            continue
        w = 0.0
        for j in range(k):
            left[j] = 0.0
        following = x[rows[start]]
        for r in range(start, stop - least_rows):
            row, here = rows[r], following
            following = x[rows[r + 1]]
            w += s[row]
            for j in range(k):
                left[j] += T[row, j]
            weighs = min(w, weight - w) > LEAST_WEIGHT * weight
            if following > here and r + 1 - start >= least_rows and weighs:
                inside = outside = 0.0
                for j in range(k):
                    inside += left[j] * left[j]
                    rest = sums[j] - left[j]
                    outside += rest * rest
                gain = inside / w + outside / (weight - w) - without
                if gain > best:
                    best = gain
                    middle = 0.5 * here + 0.5 * following
                    gains[node], features[node] = gain, i
                    places[node] = middle if here <= middle < following else here
