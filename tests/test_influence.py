"""Influence of columns: many of them at once are what one after the other gives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sleek import Box, GaussianRBF, Linear, Sigmoidal
from sleek.bases.expansion import Expansion, Part
from sleek.model import facts


def one_after_the_other(expansion, theta, rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    outputs = expansion.features(rows) @ theta
    found = []
    for column in columns:
        order = rng.permutation(len(rows))
        shuffled = rows.copy()
        shuffled[order, column] = rows[np.roll(order, 1), column]
        moved = expansion.features(shuffled) @ theta - outputs
        found.append(np.sqrt(np.mean(moved**2, axis=0).sum() / (2 * outputs.var(axis=0).sum())))
    return found


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    widths=st.lists(st.integers(1, 4), min_size=1, max_size=12),
    n_outputs=st.integers(1, 3),
    at_once=st.integers(1, 2000),
)
def test_columns_side_by_side_are_columns_one_by_one(seed, widths, n_outputs, at_once):
    rng = np.random.default_rng(seed)
    ends = np.cumsum(widths).tolist()
    columns = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
    rows = rng.normal(size=(20, ends[-1]))
    bases = (GaussianRBF(), Sigmoidal(), Box(), Linear())
    expansion = Expansion(tuple(Part(b, b.start(rows[:3], 1 / ends[-1], rng)) for b in bases))
    theta = rng.normal(size=(len(expansion), n_outputs))
    before = facts.TERMS_AT_ONCE
    try:
        facts.TERMS_AT_ONCE = at_once
        found = facts.influence(expansion, theta, rows, columns)
    finally:
        facts.TERMS_AT_ONCE = before
    np.testing.assert_allclose(found, one_after_the_other(expansion, theta, rows, columns), atol=1e-10)
