"""Losses: each owns its slopes, curvature, start and link; checked against differences and plain sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleek.outputs import ClassOutputs
from sleek.outputs.loss import LOSSES
from sleek.outputs.number_losses import GammaLoss


def case(loss, k, seed):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(7, k))
    if loss.log_odds:
        classes = rng.integers(max(2, k), size=7)
        T = 2.0 * (classes[:, None] if k == 1 else np.eye(k)[classes]) - 1.0
    else:
        T = rng.normal(size=(7, k))
    return T, Y


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=20, deadline=None)
@given(k=st.sampled_from([1, 3, 4]), seed=st.integers(0, 10**6))
def test_slopes_are_differences_and_the_quadratic_touches(name, k, seed):
    loss = LOSSES[name]
    T, Y = case(loss, k, seed)
    slopes, eps = loss.slopes(T, Y), 1e-6
    for j in range(k):
        step = np.zeros_like(Y)
        step[:, j] = eps
        difference = (loss.values(T, Y + step) - loss.values(T, Y - step)) / (2 * eps)
        np.testing.assert_allclose(slopes[:, j], difference, atol=1e-7)
    values, again = loss.values_and_slopes(T, Y)
    np.testing.assert_allclose(values, loss.values(T, Y), rtol=1e-12)
    np.testing.assert_allclose(again, slopes, atol=1e-12)
    targets, w = loss.working(T, Y)
    np.testing.assert_allclose(w[:, None] * (Y - targets), slopes, atol=1e-9)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("k", [1, 3, 5])
def test_unit_and_curvature_are_those_of_a_model_without_knowledge(name, k):
    """Outputs of 0 for classes that are equally frequent, or for targets of mean 0 and variance 1."""
    loss = LOSSES[name]
    if loss.log_odds:
        T = np.array([[1.0], [-1.0]]) if k == 1 else 2.0 * np.eye(k) - 1.0
    else:
        T = np.vstack([np.ones(k), -np.ones(k)])
    Y = np.zeros_like(T)
    assert loss.unit(k) == pytest.approx(loss.values(T, Y).mean())
    step = np.zeros_like(Y)
    step[:, 0] = 1e-4
    second = (loss.values(T, Y + step) + loss.values(T, Y - step) - 2 * loss.values(T, Y)) / 1e-8
    assert loss.curvature(k) == pytest.approx(second.mean(), rel=1e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_the_start_expects_what_least_squares_do(name):
    loss, Y = LOSSES[name], 0.01 * np.random.default_rng(0).normal(size=(20, 1))
    theta, b = loss.start(np.eye(1), np.zeros(1))
    np.testing.assert_allclose(loss.expectation(Y @ theta + b), Y, atol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_the_minimum_over_a_constant_expects_the_mean_target(name):
    """Slopes add up to 0 where `expected` is the mean of the targets."""
    loss, T = LOSSES[name], np.array([[1.0], [1.0], [1.0], [-1.0]])
    low, high = -20.0, 20.0
    for _ in range(80):
        y = 0.5 * (low + high)
        low, high = (y, high) if loss.slopes(T, np.full((4, 1), y)).sum() < 0 else (low, y)
    assert loss.expectation(np.array([[y]]))[0, 0] == pytest.approx(T.mean())


def test_outputs_have_the_losses_that_they_can_have():
    outputs = ClassOutputs(np.array([0, 1]))
    assert outputs.with_loss(LOSSES["log_loss"]).loss is LOSSES["log_loss"]
    assert outputs.with_loss(LOSSES["squared_error"]) is outputs
    with pytest.raises(ValueError, match="cannot be fitted with loss='gamma'"):
        outputs.with_loss(GammaLoss())
