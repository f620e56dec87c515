"""What a fit promises: threads, weights, units of measurement and memory do not change the model."""

import numpy as np
import pytest

from sleek import (
    Alternating,
    GaussianRBF,
    LowRankLSSVC,
    LowRankLSSVR,
    RobustRBF,
    Sigmoidal,
    Simplex,
)
from sleek.datasets import make_ripley

# Settings that leave nothing to be chosen, trained so briefly that rounding is not amplified.
FIXED = {"basis": "robust_rbf", "C": 10.0, "shape": 0.5, "random_state": 0}
BRIEF = {**FIXED, "trainer": Alternating(max_iter=20)}

BASES = pytest.mark.parametrize(
    "basis", [RobustRBF(), Simplex(), GaussianRBF(), Sigmoidal()], ids=lambda b: b.name
)


def same_model(a, b, rtol=1e-7):
    for name in ("centers_", "shapes_", "unit_weights_", "intercept_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-9)


@BASES
@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_bit_for_bit_the_same_for_any_number_of_threads(basis, n_jobs):
    X, y = make_ripley(9000, random_state=0)
    settings = {"basis": basis, "C": 10.0, "shape": 0.5, "random_state": 0}
    one = LowRankLSSVC(5, n_jobs=1, **settings).fit(X, y)
    many = LowRankLSSVC(5, n_jobs=n_jobs, **settings).fit(X, y)
    for name, array in one.model_.parts[0].units.arrays.items():
        np.testing.assert_array_equal(array, many.model_.parts[0].units[name])
    np.testing.assert_array_equal(one.unit_weights_, many.unit_weights_)
    np.testing.assert_array_equal(one.left_out_residuals_, many.left_out_residuals_)


@BASES
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_units_of_measurement_do_not_matter(basis, scale, two_classes):
    X, y = two_classes
    plain = LowRankLSSVC(5, basis=basis, random_state=0).fit(X, y)
    scaled = LowRankLSSVC(5, basis=basis, random_state=0).fit(X * scale, y)
    np.testing.assert_array_equal(plain.predict(X), scaled.predict(X * scale))


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
    folded = LowRankLSSVC(5, **BRIEF).fit(X, y)
    by_hand = LowRankLSSVC(5, standardize=False, **BRIEF).fit((X - mean) / std, y)
    np.testing.assert_allclose(
        folded.decision_function(X), by_hand.decision_function((X - mean) / std), rtol=1e-7
    )
    np.testing.assert_allclose(folded.centers_, by_hand.centers_ * std + mean, rtol=1e-9)
    np.testing.assert_allclose(folded.shapes_, by_hand.shapes_ / std, rtol=1e-7)


def test_integer_weights_are_repeated_rows_and_zero_weight_removes(two_classes):
    X, y = two_classes
    s = np.random.default_rng(0).integers(0, 4, size=len(X))
    rows, labels = np.repeat(X, s, axis=0), np.repeat(y, s)
    weighted = LowRankLSSVC(random_state=0).fit(X, y, sample_weight=s)
    shuffle = np.random.default_rng(1).permutation(len(rows))
    for other in (
        LowRankLSSVC(random_state=0).fit(rows[shuffle], labels[shuffle]),
        LowRankLSSVC(random_state=0).fit(X[s > 0], y[s > 0], sample_weight=s[s > 0]),
    ):
        np.testing.assert_array_equal(other.decision_function(X), weighted.decision_function(X))
        assert other.expected_error_ == weighted.expected_error_
    assert len(weighted.left_out_residuals_) == np.count_nonzero(s)


def test_large_data_with_weights_are_equal_up_to_rounding(monkeypatch):
    monkeypatch.setattr("sleek.fit.policy.CANONICAL_ROWS", 0)
    monkeypatch.setattr("sleek.fit.policy.MEDOID_ROWS", 10_000)  # samples of rows are not the same
    X, y = make_ripley(300, random_state=0)
    s = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = LowRankLSSVC(5, **BRIEF).fit(X, y, sample_weight=s)
    same_model(weighted, LowRankLSSVC(5, **BRIEF).fit(np.repeat(X, s, axis=0), np.repeat(y, s)))


def test_the_scale_of_all_weights_is_absorbed_by_C(two_classes):
    X, y = two_classes
    plain = LowRankLSSVC(4, **FIXED).fit(X, y)
    light = LowRankLSSVC(4, **{**FIXED, "C": 1e4}).fit(X, y, sample_weight=np.full(len(X), 1e-3))
    np.testing.assert_allclose(plain.decision_function(X), light.decision_function(X), atol=1e-2)
    assert light.expected_error_ == pytest.approx(plain.expected_error_, abs=0.01)


def test_class_weight_is_sample_weight(two_classes):
    X, y = two_classes
    by_class = LowRankLSSVC(4, class_weight={0: 1.0, 1: 3.0}, **BRIEF).fit(X, y)
    by_row = LowRankLSSVC(4, **BRIEF).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    same_model(by_class, by_row)
    rare = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:10]]
    plain = LowRankLSSVC(4, random_state=0).fit(X[rare], y[rare])
    balanced = LowRankLSSVC(4, class_weight="balanced", random_state=0).fit(X[rare], y[rare])
    assert balanced.predict(X).sum() > plain.predict(X).sum()


def test_three_classes_share_the_units(three_classes):
    X, y = three_classes
    model = LowRankLSSVC(6, basis="robust_rbf", random_state=0).fit(X, y)
    assert model.centers_.shape == (6, 2)
    assert model.unit_weights_.shape == (3, 6)
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
    assert model.unit_weights_.shape == (3, 15)
    assert model.score(X, Y) > 0.8
    assert LowRankLSSVR(5).fit(X, Y[:, :1]).predict(X).shape == (150, 1)
    assert LowRankLSSVR(5).fit(X, Y[:, 0]).predict(X).shape == (150,)


def test_start_centers_can_be_given_in_raw_units(two_classes):
    X, y = two_classes
    centers = np.array([[-0.5, 0.3], [0.2, 0.8], [0.1, 0.1]])
    trainer = Alternating(max_iter=0)
    still = LowRankLSSVC(init=centers, basis="simplex", shape=0.2, trainer=trainer).fit(X, y)
    np.testing.assert_allclose(still.centers_, centers, rtol=1e-12)
    assert still.n_units_ == 3


def test_constant_features_are_ignored(two_classes):
    X, y = two_classes
    wide = np.column_stack([X[:, 0], np.full(len(X), 42.0), X[:, 1]])
    model = LowRankLSSVC(4, **BRIEF).fit(wide, y)
    plain = LowRankLSSVC(4, **BRIEF).fit(X, y)
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
    single = LowRankLSSVC(4, **FIXED).fit(X.astype(np.float32), y)
    double = LowRankLSSVC(4, **FIXED).fit(X.astype(np.float32).astype(np.float64), y)
    same_model(single, double, rtol=0)


def test_the_model_is_frozen_and_predicts_like_the_estimator(two_classes):
    X, y = two_classes
    estimator = LowRankLSSVC(4, random_state=0).fit(X, y)
    model = estimator.model_
    np.testing.assert_array_equal(model.decision_function(X), estimator.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), estimator.predict(X))
    Phi = model.features(X)
    np.testing.assert_allclose(
        Phi @ estimator.unit_weights_[0] + estimator.intercept_, model.decision_function(X)
    )
    np.testing.assert_allclose(model.kernel(X[:3], X), Phi[:3] @ Phi.T)
    with pytest.raises(ValueError, match="read-only"):
        estimator.unit_weights_[0, 0] = 1.0
    with pytest.raises(AttributeError):
        model.C = 3.0


def test_verbose_reports_progress(two_classes, capsys):
    LowRankLSSVC(3, verbose=1, random_state=0).fit(*two_classes)
    out = capsys.readouterr().out
    assert "tried 3 gaussian_rbf units" in out
    assert "iteration 1: objective" in out
    LowRankLSSVC(3, verbose=1, **BRIEF).fit(*two_classes)
    assert "iteration 20/20: absolute objective" in capsys.readouterr().out
    LowRankLSSVC(3, random_state=0).fit(*two_classes)
    assert capsys.readouterr().out == ""


def test_a_basis_without_centers_says_what_it_has(two_classes):
    model = LowRankLSSVC(3, basis="sigmoidal", random_state=0).fit(*two_classes)
    assert model.model_.parts[0].units["slopes"].shape == (3, 2)
    with pytest.raises(
        AttributeError, match=r"no centers in common: see model_\.parts \(sigmoidal: slopes, offsets\)"
    ):
        model.centers_  # noqa: B018
