"""Units that start where the targets say, and as many of them as pay."""

import numpy as np
import pytest
from made_sources import class_source, number_source, sample_of

from sleek import Box, LowRankLSSVC, LowRankLSSVR
from sleek.bases.box import sides
from sleek.fit.leaves import leaves


def cut_rows(n, rng):
    """Classes cut along two of six features."""
    X = rng.uniform(-1, 1, size=(n, 6))
    return X, ((X[:, 0] > 0.3) & (X[:, 1] < 0.5) | (X[:, 2] > 0.8)).astype(int)


def test_leaves_are_those_of_trees_on_what_is_left():
    X, y = cut_rows(800, np.random.default_rng(0))
    sample = sample_of(class_source(X, y))
    lows, highs = leaves(sample, 8, sample.rows.T - sample.rows.T.mean(axis=0))
    inside = ((X[:, None] > lows) & (X[:, None] <= highs)).all(axis=2)  # (n, leaves)
    assert np.mean(inside.any(axis=1)) > 0.99  # trees compare in float32
    purity = [abs(sample.rows.T[rows, 0].mean()) for rows in inside.T]
    assert np.average(purity, weights=inside.sum(axis=0)) > 0.95


def test_no_two_leaves_are_the_same():
    rng = np.random.default_rng(0)
    sample = sample_of(number_source(rng.normal(size=(500, 3)), rng.normal(size=(500, 1))))
    lows, highs = leaves(sample, 20, sample.rows.T)
    assert len(np.unique(np.hstack([lows, highs]), axis=0)) == len(lows) == 20


def test_nothing_left_is_one_leaf_without_sides():
    sample = sample_of(number_source(np.random.default_rng(0).normal(size=(50, 2)), np.zeros((50, 1))))
    lows, highs = leaves(sample, 8, sample.rows.T)
    assert lows.shape == highs.shape == (1, 2)
    assert np.isinf(lows).all()


def test_a_box_at_a_leaf_is_one_inside_and_blind_to_open_sides():
    lows, highs = np.array([[0.0, -np.inf]]), np.array([[np.inf, 0.5]])
    units = Box().start_at_leaves(lows, highs, np.array([8.0, 8.0]), np.zeros(2))
    rows = np.array([[0.5, 0.0], [9.0, -9.0], [-0.5, 0.0], [0.5, 1.0]])
    np.testing.assert_allclose(
        Box().features(rows, units)[:, 0], [1.0, 1.0, np.exp(-4.0), np.exp(-4.0)], rtol=1e-4
    )
    low, high = sides(units)
    assert (low <= high).all()


def test_classes_that_are_cut_along_features_are_learnt_by_boxes():
    rng = np.random.default_rng(0)
    (X, y), (X_new, y_new) = cut_rows(2000, rng), cut_rows(20_000, rng)
    model = LowRankLSSVC(random_state=0).fit(X, y)
    smooth = LowRankLSSVC(basis="gaussian_rbf", random_state=0).fit(X, y)
    assert "box" in model.model_.expansion.name
    assert "box" not in smooth.model_.expansion.name
    assert 1 - model.score(X_new, y_new) < 0.5 * (1 - smooth.score(X_new, y_new))
    assert model.expected_error_ == pytest.approx(1 - model.score(X_new, y_new), abs=0.015)
    top = np.argsort(model.feature_importances_)[-3:]
    assert set(top) == {0, 1, 2}


def test_units_are_added_as_long_as_that_pays_and_max_units_bounds_them():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4000, 2))
    y = np.sin(9 * X[:, 0]) * np.sign(X[:, 1] - 0.2) + 0.05 * rng.normal(size=4000)
    free = LowRankLSSVR(random_state=0).fit(X, y)
    few = LowRankLSSVR(max_units=12, random_state=0).fit(X, y)
    assert few.n_units_ <= 12
    assert max(free.selection_["n_units"]) > 30
    assert free.expected_error_ < few.expected_error_


def test_boxes_of_ones_own_choice_on_few_rows_are_judged_without_a_look_at_the_targets():
    """Leaves that had seen the rows left out would promise 0.36 on pure noise."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, size=300)
    assert LowRankLSSVC(basis="box", random_state=0).fit(X, y).expected_error_ > 0.42
