"""A first guess of targets of which some may be gross errors, so that least squares can begin.

A fit begins with least squares, which follow an error of twenty deviations wherever it stands. Drawing
targets in towards their median is not enough: where features explain nearly everything, a target in the
midst of all others can be as wrong. So a guess is made that gross errors hardly move, boosted trees of
medians, and targets are drawn in towards it:

    t' = guess + ψ(t - guess),

where ψ is Hampel's: r itself up to 3σ, ±3σ from there to 6σ, and falling to 0 at 12σ, with σ a robust
deviation of what the guess leaves. A gross error is replaced by the guess. The loss itself, at the end of the
fit, sees t.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.fit import policy
from sleek.outputs.number_losses import robust_deviation, weighted_quantile
from sleek.rows.sample import Sample


def drawn_in(rows: Sample) -> Sample:
    """The rows, with targets (of one output) no further from the guess than chance would have them.

    Targets are guessed from other rows: of its own rows a guess leaves too little. O(trees·rows·features·
    log rows) time, for rows up to `SELECTION_ROWS`.
    """
    block = rows.rows
    part, guess = np.arange(len(block)) % policy.PILOT_PARTS, np.empty(len(block))
    for number in range(policy.PILOT_PARTS):
        own, others = part == number, np.flatnonzero(part != number)
        guess[own] = _guess(rows.take(others).smallest(policy.SELECTION_ROWS), block.X[own])
    left = block.T[:, 0] - guess
    deviation = robust_deviation(left, block.s)
    T = (guess + hampel(left, deviation))[:, None] if deviation > 0 else block.T
    return replace(rows, rows=replace(block, T=T))


def hampel(residuals: FloatArray, deviation: float) -> FloatArray:
    """Residuals as they are, then bounded, then falling to 0, at `PILOT_DEVIATIONS` of such deviations.

    >>> hampel(np.array([2.0, -4.0, 9.0, -1e9]), 1.0)
    array([ 2. , -3. ,  1.5, -0. ])
    """
    near, middle, far = (deviations * deviation for deviations in policy.PILOT_DEVIATIONS)
    falling = near * (far - np.abs(residuals)) / (far - middle)
    found: FloatArray = np.clip(residuals, -near, near)
    return np.sign(residuals) * np.clip(falling, 0.0, np.abs(found))


def _guess(rows: Sample, X: FloatArray) -> FloatArray:
    """Targets (n,) at X, guessed from some rows: every tree divides them by the sign of what is left.

    Its leaves have medians of that, of which a share is taken. (Friedman's TreeBoost for absolute errors.)
    """
    from sklearn.tree import DecisionTreeRegressor  # here: other fits do not wait for it

    block = rows.rows
    unit = 2.0 ** np.frexp(np.abs(block.X).max(axis=0))[1]  # trees work in float32
    own, new = block.X / unit, np.clip(X / unit, -1.0, 1.0)
    middle = weighted_quantile(block.T[:, 0], block.s, 0.5)
    left, guess = block.T[:, 0] - middle, np.full(len(X), middle)
    for number in range(policy.PILOT_TREES):
        tree = DecisionTreeRegressor(
            max_leaf_nodes=policy.TREE_LEAVES,
            min_samples_leaf=max(policy.LEAST_LEAF_ROWS, len(block) // policy.MOST_TREE_LEAVES),
            random_state=number,
        )
        tree.fit(own, np.sign(left), sample_weight=block.s)
        leaf = tree.apply(own)
        values = np.zeros(tree.tree_.node_count)
        for node in np.unique(leaf):
            at = leaf == node
            values[node] = policy.PILOT_RATE * weighted_quantile(left[at], block.s[at], 0.5)
        left = left - values[leaf]
        guess += values[tree.apply(new)]
    return guess
