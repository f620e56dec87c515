"""Counts and importances are two numbers: leaving a row out leaves all of it out."""

import numpy as np
import pytest

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.datasets import make_ripley
from sleek.fit.judge import mean_and_error
from sleek.rows.weights import WeightSurvey


def rare(n, share, rng, signal=0.0):
    """Rows of which a share is positive, with or without anything to tell them by."""
    y = (np.arange(n) < share * n).astype(int)
    X = rng.normal(size=(n, 4))
    X[:, 0] += signal * y
    X[:, 1] += signal * y * np.sign(X[:, 2])
    return X, y


def balanced_error(model, X, y):
    said = model.predict(X)
    return np.mean([np.mean(said[y == label] != label) for label in (0, 1)])


@pytest.mark.parametrize("seed", range(3))
def test_noise_with_balanced_classes_is_recognised(seed):
    X, y = rare(400, 0.05, np.random.default_rng(seed))
    model = LowRankLSSVC(class_weight="balanced", random_state=0).fit(X, y)
    assert model.expected_error_ > 0.35
    assert model.expected_error_std_ > 0.02


def test_balanced_classes_are_learnt_by_leaving_whole_rows_out():
    """Rows of weight 10 that were left out by a tenth gave a balanced error of 0.37 on such data."""
    errors, expected = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rare(500, 0.07, rng, signal=1.5)
        model = LowRankLSSVC(class_weight="balanced", random_state=0).fit(X, y)
        errors.append(balanced_error(model, *rare(20_000, 0.07, rng, signal=1.5)))
        expected.append(model.expected_error_)
    assert np.mean(errors) < 0.27
    assert np.mean(expected) == pytest.approx(np.mean(errors), abs=0.08)


@pytest.mark.parametrize("estimator", [LowRankLSSVC, LowRankLSSVR])
@pytest.mark.parametrize("weight", [100.0, 1e-3, 1e300])
def test_one_weight_for_all_rows_is_none(estimator, weight):
    X, y = make_ripley(150, random_state=0)
    plain = estimator(random_state=0).fit(X, y)
    heavy = estimator(random_state=0).fit(X, y, sample_weight=np.full(150, weight))
    np.testing.assert_allclose(heavy.predict(X), plain.predict(X), rtol=1e-9)
    assert heavy.expected_error_ == pytest.approx(plain.expected_error_)
    assert heavy.expected_error_std_ == pytest.approx(plain.expected_error_std_)


def test_rows_that_all_stand_there_twice_are_no_more_observations():
    X, y = make_ripley(150, random_state=0)
    plain = LowRankLSSVC(random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="Rows stand in the table 2 times each"):
        twice = LowRankLSSVC(random_state=0).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    np.testing.assert_array_equal(twice.decision_function(X), plain.decision_function(X))
    assert twice.expected_error_ == plain.expected_error_


def test_class_weights_that_cannot_be_are_refused():
    X, y = make_ripley(60, random_state=0)
    for value in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(
            ValueError, match="`class_weight` must be positive and finite for every class, got"
        ):
            LowRankLSSVC(class_weight={0: value}).fit(X, y)


def test_whole_numbers_are_counts_in_units_of_their_divisor():
    survey = WeightSurvey.of(np.array([4.0, 6.0, 10.0]))
    assert survey.copies(np.array([4.0, 10.0])).tolist() == [2.0, 5.0]
    assert survey.n_observations == 10
    importances = WeightSurvey.of(np.array([0.5, 6.0]))
    assert importances.copies(np.array([0.5, 6.0])).tolist() == [1.0, 1.0]
    assert importances.n_observations == 2


def test_standard_errors_are_those_of_draws():
    """Of the weighted mean over observations drawn again and again; a row of 3 copies is 3 observations."""
    rng = np.random.default_rng(0)
    s, ones = rng.exponential(size=200), np.ones(200)
    drawn = [mean_and_error(rng.normal(size=200), s, ones) for _ in range(1000)]
    means, errors = zip(*drawn, strict=True)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.08)
    copies = rng.integers(1, 4, size=200).astype(float)
    whole = np.repeat(s, copies.astype(int))
    expected = mean_and_error(whole, np.ones(len(whole)), np.ones(len(whole)))
    assert mean_and_error(s, copies, copies) == pytest.approx(expected)
