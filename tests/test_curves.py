"""Curves: ramps of single features, and when a model of them is enough."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sleek import Curves, LowRankLSSVC, LowRankLSSVR
from sleek.bases.curves import KNOTS, LEAST_RANGE, ramps


def test_a_ramp_rises_between_two_values_and_is_flat_beyond():
    units = ramps([1], [10.0], [20.0], n_features=2)
    x = np.array([-1e300, 9.0, 10.0, 12.5, 20.0, 21.0, 1e300])
    found = Curves().features(np.column_stack([np.full(7, 7.0), x]), units)[:, 0]
    np.testing.assert_allclose(found, [0, 0, 0, 0.25, 1, 1, 1], atol=1e-12)


@given(
    st.lists(st.integers(-5, 5) | st.floats(-1e6, 1e6), min_size=3, max_size=60),
    st.integers(4, 200),
)
@example([0.0, 0.0, 5e-324], 4)
@settings(max_examples=60, deadline=None)
def test_ramps_of_a_feature(values, most):
    x = np.array(values, dtype=float)
    units = Curves().start_per_feature(x[:, None], np.ones(len(x)), most)
    slopes = units["slopes"][:, 0]
    assert len(units) <= max(most, 1)
    assert len(units) <= 2 * KNOTS + 2
    if np.ptp(x) > 1e-6 * np.abs(x).max() + LEAST_RANGE:
        lows = -units["offsets"] / slopes
        highs = lows + 1.0 / slopes
        close = 1e-3 * np.ptp(x) + 1e-9 * np.abs(x).max()
        assert lows.min() >= x.min() - close
        assert highs.max() <= x.max() + close
        assert (slopes > 0).all()
        Phi = Curves().features(np.sort(x)[:, None], units)
        assert (np.diff(Phi, axis=0) >= -1e-9).all()


def test_few_values_have_a_step_between_any_two():
    """So that a curve can be any function of them."""
    x = np.tile(np.arange(6.0), 5)[:, None]
    Phi = Curves().features(x, Curves().start_per_feature(x, np.ones(30), 100))
    assert np.linalg.matrix_rank(np.column_stack([Phi, np.ones(30)])) == 6


@given(st.floats(0.0, 0.99), st.floats(-1e3, 1e3), st.integers(0, 10))
@settings(max_examples=40, deadline=None)
def test_a_third_of_the_corners_lies_beside_the_most_frequent_value(share, value, seed):
    """Whatever the share of an amount that is 0, or any other value, in most rows."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([np.full(round(2000 * share), value), value + rng.normal(size=2000)])
    units = Curves().start_per_feature(x[:, None], np.ones(len(x)), 500)
    lows = -units["offsets"] / units["slopes"][:, 0]
    corners = np.unique(np.round(lows[np.abs(lows - value) > 0.02], 9))
    assert len(corners) >= KNOTS // 3


def test_amounts_that_are_mostly_0_have_a_curve():
    rng = np.random.default_rng(0)
    amount = np.where(rng.random(6000) < 0.93, 0.0, np.exp(rng.normal(size=6000)))
    y = 10.0 * ((amount > 0.6) & (amount < 2.0)) + rng.normal(size=6000)
    model = LowRankLSSVR(basis="curves", random_state=0).fit(amount[:3000, None], y[:3000])
    truth = 10.0 * ((amount > 0.6) & (amount < 2.0))[3000:]
    gained = 1 - np.mean((model.predict(amount[3000:, None]) - truth) ** 2) / np.var(truth)
    assert gained > 0.9


def test_curves_are_enough_for_a_sum_of_curves_and_not_for_a_product():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 3))
    bent = np.abs(X[:, 0]) + 0.5 * np.sin(3 * X[:, 1]) + 0.2 * rng.normal(size=400)
    model = LowRankLSSVR(basis="curves", random_state=0).fit(X, bent)
    assert model.n_units_ == 0
    assert model.n_numbers_ <= 200
    assert (
        LowRankLSSVR(random_state=0).fit(X, bent).n_numbers_ <= 120
    )  # bumps of one column may say it in fewer
    new = rng.uniform(-1, 1, size=(1000, 3))
    truth = np.abs(new[:, 0]) + 0.5 * np.sin(3 * new[:, 1])
    assert np.sqrt(np.mean((model.predict(new) - truth) ** 2)) < 0.1
    product = X[:, 0] * X[:, 1] + 0.02 * rng.normal(size=400)
    model = LowRankLSSVR(random_state=0).fit(X, product)
    assert model.n_units_ > 0
    assert model.score(new, new[:, 0] * new[:, 1]) > 0.9


def test_curves_have_exact_effects_and_nothing_else():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(np.abs(X[:, 0]) + 0.3 * rng.normal(size=300) > 0.7, "far", "near")
    model = LowRankLSSVC(basis="curves", random_state=0).fit(X, y)
    effects = model.effects()
    assert not effects.pairs
    found = effects.contributions(rng.normal(size=(50, 2)) * 3)
    np.testing.assert_allclose(found.values[:, -1], 0.0, atol=1e-12)  # no rest
    assert effects.shares["x0"] > 0.9


def test_curves_go_on():
    """Weights alone are learnt: updating is exact, and forgetting undoes it."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    y = np.abs(X[:, 0]) + 0.1 * rng.normal(size=300)
    model = LowRankLSSVR(basis="curves", random_state=0).fit(X, y)
    before = model.predict(X)
    new = rng.uniform(-1, 1, size=(50, 2))
    model.partial_fit(new, np.abs(new[:, 0]) + 1.0)
    assert np.abs(model.predict(X) - before).max() > 0.01
    model.forget(new, np.abs(new[:, 0]) + 1.0)
    np.testing.assert_allclose(model.predict(X), before, rtol=1e-9, atol=1e-9)
