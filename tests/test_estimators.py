"""What a fit promises: threads, weights, units of measurement and memory do not change the model."""

import tracemalloc

import numpy as np
import pytest

from sleek import Alternating, GaussianRBF, LowRankLSSVC, LowRankLSSVR, RobustRBF, Simplex
from sleek.datasets import make_ripley

BASES = pytest.mark.parametrize("basis", [RobustRBF(), Simplex(), GaussianRBF()], ids=lambda b: b.name)


def same_model(a, b, rtol=1e-7):
    for name in ("centers_", "shapes_", "coef_", "intercept_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-9)


@BASES
@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_bit_for_bit_the_same_for_any_number_of_threads(basis, n_jobs):
    X, y = make_ripley(9000, random_state=0)
    one = LowRankLSSVC(5, basis=basis, random_state=0, n_jobs=1).fit(X, y)
    many = LowRankLSSVC(5, basis=basis, random_state=0, n_jobs=n_jobs).fit(X, y)
    for name in ("centers_", "shapes_", "coef_", "intercept_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


@BASES
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_units_of_measurement_do_not_matter(basis, scale, two_classes):
    X, y = two_classes
    plain = LowRankLSSVC(5, basis=basis, random_state=0).fit(X, y)
    scaled = LowRankLSSVC(5, basis=basis, random_state=0).fit(X * scale, y)
    np.testing.assert_array_equal(plain.predict(X), scaled.predict(X * scale))
    np.testing.assert_allclose(plain.centers_ * scale, scaled.centers_, rtol=1e-8)


def test_units_of_a_regression_target_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.sin(X[:, 0]) + X[:, 1]
    plain = LowRankLSSVR(5, random_state=0).fit(X, y).predict(X)
    for scale, shift in [(1e-9, 0.0), (1e9, 0.0), (1.0, 1e6)]:
        other = LowRankLSSVR(5, random_state=0).fit(X, y * scale + shift).predict(X)
        np.testing.assert_allclose((other - shift) / scale, plain, rtol=1e-5, atol=1e-6)


def test_standardizing_is_folded_exactly(two_classes):
    X, y = two_classes
    X = X * [3.0, 0.02] + [100.0, -7.0]
    mean, std = X.mean(axis=0), X.std(axis=0)
    folded = LowRankLSSVC(5, random_state=0).fit(X, y)
    by_hand = LowRankLSSVC(5, standardize=False, random_state=0).fit((X - mean) / std, y)
    np.testing.assert_allclose(
        folded.decision_function(X), by_hand.decision_function((X - mean) / std), rtol=1e-7
    )
    np.testing.assert_allclose(folded.centers_, by_hand.centers_ * std + mean, rtol=1e-9)
    np.testing.assert_allclose(folded.shapes_, by_hand.shapes_ / std, rtol=1e-7)


def test_integer_weights_are_repeated_rows_and_zero_weight_removes(two_classes):
    X, y = two_classes
    s = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = LowRankLSSVC(5, random_state=0).fit(X, y, sample_weight=s)
    repeated = LowRankLSSVC(5, random_state=0).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    removed = LowRankLSSVC(5, random_state=0).fit(X[s > 0], y[s > 0], sample_weight=s[s > 0])
    same_model(weighted, repeated)
    same_model(weighted, removed)


def test_class_weight_is_sample_weight(two_classes):
    X, y = two_classes
    by_class = LowRankLSSVC(4, class_weight={0: 1.0, 1: 3.0}, random_state=0).fit(X, y)
    by_row = LowRankLSSVC(4, random_state=0).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    same_model(by_class, by_row)
    rare = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:10]]
    plain = LowRankLSSVC(4, random_state=0).fit(X[rare], y[rare])
    balanced = LowRankLSSVC(4, class_weight="balanced", random_state=0).fit(X[rare], y[rare])
    assert balanced.predict(X).sum() > plain.predict(X).sum()


def test_three_classes_share_the_units(three_classes):
    X, y = three_classes
    model = LowRankLSSVC(6, random_state=0).fit(X, y)
    assert model.centers_.shape == (6, 2)
    assert model.coef_.shape == (3, 6)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (len(X), 3)
    assert model.score(X, y) > 0.9
    assert model.classes_.tolist() == ["north", "south", "west"]


def test_several_targets_share_the_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    Y = np.column_stack([np.sin(X[:, 0]), 100 + X[:, 1] ** 2, X.sum(axis=1)])
    model = LowRankLSSVR(15, random_state=0).fit(X, Y)
    assert model.predict(X).shape == (150, 3)
    assert model.coef_.shape == (3, 15)
    assert model.score(X, Y) > 0.8
    assert LowRankLSSVR(5).fit(X, Y[:, :1]).predict(X).shape == (150, 1)
    assert LowRankLSSVR(5).fit(X, Y[:, 0]).predict(X).shape == (150,)


def test_start_centers_can_be_given_in_raw_units(two_classes):
    X, y = two_classes
    centers = np.array([[-0.5, 0.3], [0.2, 0.8], [0.1, 0.1]])
    still = LowRankLSSVC(init=centers, trainer=Alternating(max_iter=0)).fit(X, y)
    np.testing.assert_allclose(still.centers_, centers, rtol=1e-12)
    assert still.n_units_ == 3


def test_constant_features_are_ignored(two_classes):
    X, y = two_classes
    wide = np.column_stack([X[:, 0], np.full(len(X), 42.0), X[:, 1]])
    model = LowRankLSSVC(4, shape=0.5, random_state=0).fit(wide, y)
    plain = LowRankLSSVC(4, shape=0.5, random_state=0).fit(X, y)
    elsewhere = wide.copy()
    elsewhere[:, 1] = -1e6
    np.testing.assert_array_equal(model.predict(elsewhere), model.predict(wide))
    np.testing.assert_allclose(model.decision_function(wide), plain.decision_function(X), rtol=1e-9)
    assert model.centers_[:, 1].tolist() == [42.0] * 4


def test_rows_all_alike_give_the_majority():
    y = np.array([0, 1, 1, 1, 0])
    assert LowRankLSSVC().fit(np.ones((5, 3)), y).predict(np.zeros((2, 3))).tolist() == [1, 1]
    assert LowRankLSSVR().fit(np.ones((5, 3)), y).predict(np.zeros((1, 3))) == pytest.approx(0.6)


def test_duplicated_rows_and_few_rows(two_classes):
    X, _ = two_classes
    few = LowRankLSSVC(random_state=0).fit(np.repeat(X[:6], 30, axis=0), np.tile([0, 1, 0, 1, 1, 0], 30))
    assert few.n_units_ <= 6
    assert np.isfinite(few.decision_function(X)).all()


def test_float32_rows_give_the_model_of_the_same_rows_in_float64(two_classes):
    X, y = two_classes
    single = LowRankLSSVC(4, random_state=0).fit(X.astype(np.float32), y)
    double = LowRankLSSVC(4, random_state=0).fit(X.astype(np.float32).astype(np.float64), y)
    same_model(single, double, rtol=0)


def test_the_model_is_frozen_and_predicts_like_the_estimator(two_classes):
    X, y = two_classes
    estimator = LowRankLSSVC(4, random_state=0).fit(X, y)
    model = estimator.model_
    np.testing.assert_array_equal(model.decision_function(X), estimator.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), estimator.predict(X))
    Phi = model.features(X)
    np.testing.assert_allclose(Phi @ estimator.coef_[0] + estimator.intercept_, model.decision_function(X))
    np.testing.assert_allclose(model.kernel(X[:3], X), Phi[:3] @ Phi.T)
    with pytest.raises(ValueError, match="read-only"):
        estimator.centers_[0, 0] = 1.0
    with pytest.raises(AttributeError):
        model.C = 3.0


def test_memory_beyond_the_data_does_not_grow_with_rows():
    """The issue is N×N or N×M×D: at 40,000 rows even an N×M temporary of 20 units would take 6.4 MB."""
    peaks = []
    for n in (10_000, 40_000):
        X, y = make_ripley(n, random_state=0)
        s = np.ones(n)
        model = LowRankLSSVC(20, random_state=0)
        model.fit(X[:500], y[:500], sample_weight=s[:500])
        tracemalloc.start()
        model.fit(X, y, sample_weight=s)
        model.predict(X)
        peaks.append(tracemalloc.get_traced_memory()[1] - 60 * n)  # codes, masks and labels: O(n) by right
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 1_000_000


def test_verbose_reports_progress(two_classes, capsys):
    LowRankLSSVC(3, verbose=1, random_state=0).fit(*two_classes)
    out = capsys.readouterr().out
    assert "iteration 1/" in out
    assert "training error" in out
    LowRankLSSVC(3, random_state=0).fit(*two_classes)
    assert capsys.readouterr().out == ""
