"""Trees whose leaves units start at: compiled loops against their definition, and against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from sleek.kernels import can_compile
from sleek.kernels.trees import Tree, grow_slowly, grow_tree, sort_rows


def rows(seed: int, n: int = 400, d: int = 4, k: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features with and without ties, targets with steps, weights of all sizes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] = rng.integers(0, 4, size=n)
    T = np.column_stack([X[:, 0] > 0.3, X[:, 1] * X[:, -1]][:k]).astype(float) + 0.1 * rng.normal(size=(n, k))
    return X, T, rng.random(n) + 0.1


def grown(X: np.ndarray, T: np.ndarray, s: np.ndarray, n_leaves: int, depth: int | None, least: int) -> Tree:
    allowed = np.ones((2 * n_leaves - 1, X.shape[1]), dtype=bool)
    return grow_tree(X, sort_rows(X), T, s, allowed, depth, least)


@pytest.mark.skipif(not can_compile(), reason="numba is not installed")
@pytest.mark.parametrize("seed", range(6))
def test_compiled_trees_are_the_same(seed: int) -> None:
    X, T, s = rows(seed, k=1 + seed % 2)
    allowed = np.random.default_rng(seed).random((15, X.shape[1])) < 0.7
    depth = 2 if seed == 3 else 99
    fast = grow_tree(X, sort_rows(X), T, s, allowed, depth, 5)
    slow = grow_slowly(X, T, s, allowed, depth, 5)
    np.testing.assert_array_equal(fast.feature, slow.feature)
    np.testing.assert_array_equal(fast.leaf, slow.leaf)
    np.testing.assert_array_equal(fast.children, slow.children)
    np.testing.assert_allclose(fast.cut, slow.cut, rtol=1e-15)
    np.testing.assert_allclose(fast.means, slow.means, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("n_leaves", "depth", "least"), [(8, None, 5), (5, 2, 1), (12, None, 30)])
@pytest.mark.parametrize("seed", range(3))
def test_trees_lower_the_error_as_those_of_scikit_learn_do(
    seed: int, n_leaves: int, depth: int | None, least: int
) -> None:
    X, T, s = rows(seed)
    X = X.astype(np.float32).astype(float)
    tree = grown(X, T, s, n_leaves, depth, least)
    theirs = DecisionTreeRegressor(
        max_leaf_nodes=n_leaves, max_depth=depth, min_samples_leaf=least, random_state=0
    ).fit(X, T, sample_weight=s)
    predictions = tree.means[tree.leaf], theirs.predict(X)
    ours, other = (float(s @ np.sum((T - P) ** 2, axis=1)) for P in predictions)
    assert ours == pytest.approx(other, rel=1e-9)
    assert np.count_nonzero(tree.feature < 0) == theirs.get_n_leaves()
    assert np.bincount(tree.leaf)[np.unique(tree.leaf)].min() >= least


def test_rows_lie_where_the_cuts_of_their_leaf_say() -> None:
    X, T, s = rows(1)
    tree = grown(X, T, s, 8, None, 5)
    for row, leaf in zip(X, tree.leaf, strict=True):
        node = 0
        while tree.feature[node] >= 0:
            node = int(tree.children[node][int(row[tree.feature[node]] > tree.cut[node])])
        assert node == leaf


def test_without_anything_to_explain_there_is_no_cut() -> None:
    X, _, s = rows(2)
    for T in (np.zeros((len(X), 1)), np.full((len(X), 1), 3.7)):
        assert len(grown(X, T, s, 8, None, 5).feature) == 1
    assert len(grown(np.ones((50, 2)), np.arange(50.0)[:, None], np.ones(50), 8, None, 5).feature) == 1


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_units_of_features_do_not_matter(size: float) -> None:
    X, T, s = rows(4)
    tree, other = grown(X, T, s, 8, None, 5), grown(X * size, T, s, 8, None, 5)
    np.testing.assert_array_equal(tree.leaf, other.leaf)


@pytest.mark.parametrize("n", [40, 400])
def test_rows_of_hardly_any_weight_are_no_leaf(n: int) -> None:
    X, T, s = rows(5, n=n)
    light = X[:, 0] > 1.0
    T[light] += 100.0
    s[light] = 1e-300
    tree = grown(X, T, s, 8, None, 5)
    assert np.isfinite(tree.means).all()
    assert np.abs(tree.means).max() < 50.0
    for leaf in np.unique(tree.leaf):
        assert s[tree.leaf == leaf].sum() > 1e-6
