"""Choosing without being told: what is tried, what is kept, and that hard cases end well."""

import numpy as np
import pytest

from sleek import LowRankLSSVC, LowRankLSSVR, VariableProjection
from sleek.datasets import make_ripley


def test_everything_tried_is_reported(two_classes):
    X, y = two_classes
    model = LowRankLSSVC(random_state=0).fit(X, y)
    tried = model.selection_
    alone = {basis for basis in tried["basis"] if "+" not in basis}
    assert (
        {"gaussian_rbf", "sigmoidal", "linear"}
        <= alone
        <= {"gaussian_rbf", "sigmoidal", "box", "curves", "linear"}
    )
    assert len({len(column) for column in tried.values()}) == 1
    chosen = tried["chosen"].index(True)
    assert tried["chosen"].count(True) == 1
    assert tried["n_units"][chosen] == model.n_units_
    assert tried["C"][chosen] == model.C_
    assert tried["basis"][chosen] == model.model_.expansion.name
    assert max(tried["n_units"]) >= 30
    assert all(rows in (133, 134) for rows in tried["n_rows"])  # two thirds of 200


@pytest.mark.parametrize(
    ("fixed", "column"),
    [
        ({"C": 5.0}, "C"),
        ({"shape": 0.3}, "shape"),
        ({"n_units": 7}, "n_units"),
        ({"basis": "simplex"}, "basis"),
    ],
    ids=["C", "shape", "n_units", "basis"],
)
def test_what_is_fixed_stays_fixed(two_classes, fixed, column):
    model = LowRankLSSVC(random_state=0, **fixed).fit(*two_classes)
    assert set(model.selection_[column]) == set(fixed.values())
    free = {"C", "pull", "shape", "n_units", "basis"} - {column}
    assert any(len(set(model.selection_[other])) > 1 for other in free)


def test_a_fixed_pull_stays_fixed(two_classes):
    model = LowRankLSSVC(5, trainer=VariableProjection(pull=2e-3), random_state=0).fit(*two_classes)
    np.testing.assert_allclose(model.selection_["pull"], 2e-3)
    assert model.pull_ == pytest.approx(2e-3)
    assert len(set(model.selection_["C"])) > 1


def test_more_classes_may_have_more_units():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, size=400)
    X = 3 * rng.normal(size=(8, 2))[codes] + 0.3 * rng.normal(size=(400, 2))
    model = LowRankLSSVC(random_state=0).fit(X, codes)
    assert max(model.selection_["n_units"]) == 80
    assert model.score(X, codes) > 0.9


# -- hard cases: a sane model or a clear warning, never a NaN ------------------------------------------------


def finite(model, X):
    output = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    assert np.isfinite(output).all()
    assert np.isfinite(model.expected_error_)
    return model


def test_separable_classes():
    X = np.r_[
        np.random.default_rng(0).normal(size=(60, 3)) - 4, np.random.default_rng(1).normal(size=(60, 3)) + 4
    ]
    model = finite(LowRankLSSVC(random_state=0).fit(X, np.repeat([0, 1], 60)), X)
    assert model.score(X, np.repeat([0, 1], 60)) == 1.0
    assert model.expected_error_ == 0.0


def test_pure_noise_is_recognised():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, size=300)
    model = finite(LowRankLSSVC(random_state=0).fit(X, y), X)
    assert model.expected_error_ > 0.38


def test_noise_targets_are_predicted_by_their_mean():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.normal(size=300)
    model = finite(LowRankLSSVR(random_state=0).fit(X, y), X)
    fresh = rng.normal(size=(1000, 5))
    assert np.std(model.predict(fresh)) < 0.5


def test_five_rows():
    X, y = np.arange(10.0).reshape(5, 2), [0, 1, 0, 1, 1]
    assert finite(LowRankLSSVC(random_state=0).fit(X, y), X).n_units_ <= 1
    finite(LowRankLSSVR(random_state=0).fit(X, y), X)


def test_two_rows():
    X = np.array([[0.0], [1.0]])
    assert LowRankLSSVC(random_state=0).fit(X, [0, 1]).predict(X).shape == (2,)


def test_many_more_features_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1000))
    y = (X[:, :50].sum(axis=1) > 0).astype(int)
    model = finite(LowRankLSSVC(random_state=0).fit(X, y), X)
    assert model.score(X, y) > 0.9


def test_constant_target():
    X = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_allclose(LowRankLSSVR(random_state=0).fit(X, np.full(50, 7.0)).predict(X), 7.0)


def test_outliers_in_the_features_do_not_spoil_the_rest():
    X, y = make_ripley(1300, random_state=0)
    dirty = X[:300].copy()
    dirty[[3, 50, 200], [0, 1, 0]] = [1e6, -1e6, 1e6]
    clean = LowRankLSSVC(random_state=0).fit(X[:300], y[:300]).score(X[300:], y[300:])
    model = finite(LowRankLSSVC(random_state=0).fit(dirty, y[:300]), dirty)
    assert model.score(X[300:], y[300:]) > clean - 0.03


def test_an_outlier_in_the_target_is_pointed_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.sin(X[:, 0])
    y[17] = 1e6
    with pytest.warns(UserWarning, match=r"Row 17 of y, 1e\+06, makes up 99 % of the target's variance"):
        finite(LowRankLSSVR(random_state=0).fit(X, y), X)
