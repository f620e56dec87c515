"""Probabilities and sets of classes: against slow oracles, consistent, and true on new rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

import sleek
from sleek import LSSVC, LowRankLSSVC
from sleek.calibration import MonotoneCalibrator
from sleek.calibration.groups import Grouped
from sleek.calibration.quantiles import LEVELS, Quantiles
from sleek.datasets import make_ripley

FAST = {"n_units": 4, "basis": "gaussian_rbf", "C": 10.0, "random_state": 0}


def scores_and_classes(n, n_classes, seed=0):
    """Scores that tell something, and classes drawn as a known function of them says."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, 1 if n_classes == 2 else n_classes))
    logits = np.concatenate([-F, F], axis=1) if n_classes == 2 else 2.0 * F
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    codes = (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return F, codes, P


def slow_g(f, scale, slopes):
    """g at one score, by adding up its slope in small steps."""
    at = [-1.0, -1e-12, 1e-12, 1.0]
    v = f / scale
    u = min(max(v, -1.0), 1.0)
    steps = np.linspace(0.0, u, 20001)
    middle = (steps[1:] + steps[:-1]) / 2
    inside = float(np.sum(np.interp(middle, at, slopes) * np.diff(steps)))
    beyond = v - u
    return inside + 0.1 * (slopes[3] if beyond > 0 else slopes[0]) * beyond / (1 + abs(beyond))


# -- the map ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_follow_the_formula(n_classes):
    F, codes, _ = scores_and_classes(60, n_classes)
    map_ = MonotoneCalibrator().fit(F, codes, np.ones(60))
    for row in 2.5 * F[:10]:
        scores = [-row[0], row[0]] if n_classes == 2 else row
        g = np.array([slow_g(f, map_.scale, map_.slopes) for f in scores])
        wanted = np.exp(g) / np.exp(g).sum()
        np.testing.assert_allclose(map_.predict_proba(row[None])[0], wanted, atol=1e-6)
        np.testing.assert_allclose(map_.predict_log_proba(row[None])[0], np.log(wanted), atol=1e-6)


@pytest.mark.parametrize("log_odds", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_other_slopes_are_better(n_classes, log_odds):
    F, codes, _ = scores_and_classes(150, n_classes, seed=3)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 150)
    map_ = MonotoneCalibrator(log_odds).fit(F, codes, weights)
    assert not log_odds or map_.scale == np.abs(F).max()
    counts = [weights[codes == k].sum() for k in range(n_classes)]

    def loss(slopes):
        other = MonotoneCalibrator()
        other.scale, other.slopes = map_.scale, np.asarray(slopes)
        total = 0.015 * float(np.sum(np.diff(slopes) ** 2))
        if log_odds:  # drawn towards g(f) = f, or f/2 for f and -f
            own = map_.scale / 2 if n_classes == 2 else map_.scale
            total += 1.5 * float(np.sum((slopes / own - 1) ** 2))
        for log_p, c, w in zip(other.predict_log_proba(F), codes, weights, strict=True):
            for k in range(n_classes):
                doubt = (0.1 if log_odds else 0.5) / (counts[c] + 1)
                target = 1 - doubt if k == c else doubt / (n_classes - 1)
                total -= w * target * log_p[k]
        return total

    found = minimize(loss, np.ones(4), bounds=[(1e-3, None)] * 4, method="L-BFGS-B")
    assert loss(map_.slopes) <= found.fun + 1e-4


@pytest.mark.parametrize("n_classes", [2, 5])
def test_known_probabilities_are_found_again(n_classes):
    F, codes, P = scores_and_classes(4000, n_classes)
    found = MonotoneCalibrator().fit(F, codes, np.ones(4000)).predict_proba(F)
    assert np.abs(found - P).mean() < 0.02


@pytest.mark.parametrize("n_classes", [2, 5])
def test_log_odds_are_believed_unless_rows_say_otherwise(n_classes):
    F, codes, P = scores_and_classes(4000, n_classes)
    odds = 2.0 * F  # whose probabilities are P
    few = MonotoneCalibrator(log_odds=True).fit(odds[:8], codes[:8], np.ones(8)).predict_proba(odds)
    plain = MonotoneCalibrator().fit(odds[:8], codes[:8], np.ones(8)).predict_proba(odds)
    assert np.abs(few - P).mean() < 0.7 * np.abs(plain - P).mean()
    many = MonotoneCalibrator(log_odds=True).fit(5.0 * odds, codes, np.ones(4000)).predict_proba(5.0 * odds)
    assert np.abs(many - P).mean() < 0.02


def test_a_row_of_weight_two_counts_as_two_rows():
    F, codes, _ = scores_and_classes(50, 3)
    twice = np.repeat(np.arange(50), 1 + (np.arange(50) % 2))
    one = MonotoneCalibrator().fit(F[twice], codes[twice], np.ones(75))
    other = MonotoneCalibrator().fit(F, codes, 1.0 + (np.arange(50) % 2))
    assert one.scale == other.scale
    np.testing.assert_allclose(one.predict_proba(F), other.predict_proba(F), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_larger_scores_are_larger_probabilities_and_never_certain(n_classes):
    F, codes, _ = scores_and_classes(200, n_classes)
    map_ = MonotoneCalibrator().fit(F, codes, np.ones(200))
    f = np.concatenate([-np.logspace(8, -3, 60), np.logspace(-3, 8, 60)])
    rows = f[:, None] if n_classes == 2 else np.column_stack([f, np.zeros_like(f), np.zeros_like(f)])
    P = map_.predict_proba(rows)[:, 1 if n_classes == 2 else 0]
    assert (np.diff(P) > 0).all()
    assert 0 < P.min() < P.max() < 1
    assert np.isfinite(map_.predict_log_proba(np.array([[1e300] * (1 if n_classes == 2 else 3)]))).all()


def test_scores_without_a_difference_are_frequencies_at_best():
    map_ = MonotoneCalibrator().fit(np.zeros((20, 1)), np.arange(20) % 2, np.ones(20))
    np.testing.assert_allclose(map_.predict_proba(np.zeros((1, 1))), 0.5)


# -- quantiles ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [9, 19, 100, 777, 5000])
def test_quantiles_are_the_order_statistics_of_split_conformal_prediction(n):
    values = np.random.default_rng(n).normal(size=n)
    found = Quantiles.of(values, np.ones(n))
    assert len(found.levels) <= len(LEVELS) + 1
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        rank = int(np.ceil(round(level * (n + 1), 9)))
        if rank <= n:
            assert found.at_least(level) == np.sort(values)[rank - 1]
        else:
            with pytest.raises(ValueError, match=f"{level:g} needs at least .* there were {n}"):
                found.at_least(level)


def test_levels_between_those_kept_promise_more():
    values = np.random.default_rng(0).normal(size=3000)
    found = Quantiles.of(values, np.ones(3000))
    for level in np.random.default_rng(1).uniform(0.5, 0.99, 50):
        least = np.sort(values)[int(np.ceil(level * 3001)) - 1]
        assert (
            least <= found.at_least(level) <= np.quantile(values, level + (0.026 if level < 0.9 else 0.011))
        )


def test_weights_of_quantiles_are_counts():
    values, counts = np.array([3.0, 1.0, 2.0]), np.array([2.0, 5.0, 13.0])
    one, other = (
        Quantiles.of(np.repeat(values, counts.astype(int)), np.ones(20)),
        Quantiles.of(values, counts),
    )
    for level in (0.1, 0.2, 0.3, 0.7, 0.9, 0.95):
        assert one.at_least(level) == other.at_least(level)


def test_groups_are_judged_by_themselves():
    rng = np.random.default_rng(0)
    values, groups = rng.normal(size=90), rng.integers(3, size=90)
    found = Grouped.of(values, np.ones(90), groups)
    for g in range(3):
        alone = Quantiles.of(values[groups == g], np.ones((groups == g).sum()))
        assert found.at_least(0.8, np.array([g]), 1)[0] == alone.at_least(0.8)
    with pytest.raises(ValueError, match="say of which each row is"):
        found.at_least(0.8, None, 2)
    with pytest.raises(ValueError, match="groups 0, 1, 2, got 7"):
        found.at_least(0.8, np.array([1, 7]), 2)
    with pytest.raises(ValueError, match="one label for each of 3 rows"):
        found.at_least(0.8, np.array([1, 2]), 3)


# -- the exact machine --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_exact_machine_leaves_rows_out_exactly(kernel):
    X, y = make_ripley(40, random_state=0)
    T, s = np.where(y == 1, 1.0, -1.0)[:, None], np.random.default_rng(0).uniform(0.5, 2.0, 40)
    machine = LSSVC(C=3.0, kernel=kernel, gamma=2.0)
    left_out = machine._solve(X, T, s)
    for i in range(0, 40, 3):
        rest = np.delete(np.arange(40), i)
        other = LSSVC(C=3.0, kernel=kernel, gamma=2.0).fit(X[rest], y[rest], s[rest])
        np.testing.assert_allclose(other.decision_function(X[[i]]), left_out[i], atol=1e-9)


# -- estimators ---------------------------------------------------------------------------------------------


def three_classes(n, seed=0):
    X, y = make_blobs(n, centers=[[0, 0], [2, 0], [1, 2]], cluster_std=0.9, random_state=seed)
    return X, np.array(["red", "green", "blue"])[y]


@pytest.mark.parametrize("make", [lambda: LowRankLSSVC(**FAST), lambda: LSSVC(C=10.0)], ids=["few", "all"])
@pytest.mark.parametrize("data", [lambda: make_ripley(200, random_state=0), lambda: three_classes(200)],
                         ids=["two", "three"])  # fmt: skip
def test_the_most_probable_class_is_the_one_predicted(make, data):
    X, y = data()
    model = make().fit(X, y)
    rows = np.concatenate([X, np.random.default_rng(0).normal(scale=50.0, size=(500, 2))])
    P = model.predict_proba(rows)
    assert P.shape == (700, len(model.classes_))
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(rows))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), P, atol=1e-12)


def test_the_most_probable_class_is_predicted_where_rounding_makes_two_equal():
    X, y = make_ripley(200, random_state=0)
    calibration = LowRankLSSVC(**FAST).fit(X, y).model_.calibration
    P = calibration.probabilities(np.array([[1e-300], [-1e-300], [0.0]]))
    np.testing.assert_array_equal(P.argmax(axis=1), [1, 0, 0])


@pytest.mark.parametrize("n", [250, 1500])
def test_probabilities_are_better_than_frequencies_and_true_on_new_rows(n):
    X, y = make_ripley(n + 4000, random_state=1)
    model = LowRankLSSVC(8, basis="gaussian_rbf", random_state=0).fit(X[:n], y[:n])
    P = model.predict_proba(X[n:])[:, 1]
    y = y[n:]
    assert -np.mean(np.log(np.where(y == 1, P, 1 - P))) < 0.30
    for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.0)):
        here = (low <= P) & (high >= P)
        assert y[here].mean() == pytest.approx(P[here].mean(), abs=0.12)


def test_under_balanced_classes_probabilities_are_those_of_balanced_rows():
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.1).astype(int)
    X = rng.normal(size=(3000, 2)) + 1.2 * y[:, None]
    plain, balanced = (
        LowRankLSSVC(4, basis="sigmoidal", C=1.0, class_weight=w, random_state=0).fit(X[:1500], y[:1500])
        for w in (None, "balanced")
    )
    assert plain.predict_proba(X[1500:])[:, 1].mean() == pytest.approx(0.1, abs=0.03)
    share = balanced.predict_proba(X[1500:])[:, 1]
    assert 0.5 * (share[y[1500:] == 0].mean() + share[y[1500:] == 1].mean()) == pytest.approx(0.5, abs=0.06)


def test_probabilities_survive_file_pickle_and_any_number_of_threads(tmp_path):
    X, y = three_classes(300)
    estimator = LowRankLSSVC(**FAST).fit(X, y)
    estimator.model_.save(tmp_path / "m.json")
    model, rows = sleek.load(tmp_path / "m.json"), np.tile(X, (40, 1))
    P = estimator.predict_proba(rows)
    np.testing.assert_array_equal(model.predict_proba(rows), P)
    np.testing.assert_array_equal(model.predict_proba(rows, n_jobs=2), P)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(estimator)).predict_proba(rows), P)
    for conditional in (False, True):
        np.testing.assert_array_equal(
            model.predict_set(X, 0.9, conditional), estimator.predict_set(X, 0.9, conditional)
        )


def test_another_calibrator_can_be_handed_in(tmp_path):
    X, y = make_ripley(200, random_state=0)
    other = LogisticRegression()
    for machine in (LowRankLSSVC(**FAST, calibrator=other), LSSVC(C=10.0, calibrator=other)):
        model = clone(machine).fit(X, y)
        P = model.predict_proba(X)
        np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X))
        assert not np.allclose(P, clone(machine).set_params(calibrator=None).fit(X, y).predict_proba(X))
    assert not hasattr(other, "coef_")
    with pytest.raises(ValueError, match="`calibrator` must have the methods `fit` and `predict_proba`"):
        LowRankLSSVC(**FAST, calibrator="isotonic").fit(X, y)
    few = LowRankLSSVC(**FAST, calibrator=other).fit(X, y)
    with pytest.raises(ValueError, match="a calibrator of your own, LogisticRegression, cannot be saved"):
        few.model_.save(tmp_path / "m.json")


# -- sets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_sets_have_the_true_class_as_often_as_promised(level):
    X, y = three_classes(4000)
    model = LowRankLSSVC(10, basis="gaussian_rbf", C=10.0, random_state=0).fit(X[:800], y[:800])
    codes = np.searchsorted(model.classes_, y[800:])
    sets = model.predict_set(X[800:], level)
    assert sets.dtype == bool
    assert sets.any(axis=1).all()
    assert sets[np.arange(3200), codes].mean() > level - 0.03
    each = model.predict_set(X[800:], level, class_conditional=True)
    for k in range(3):
        assert each[codes == k, k].mean() > level - 0.05
    assert (model.predict_set(X, 0.95) >= model.predict_set(X, 0.8)).all()


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 1.5, "0.9", None, True, float("nan")])
def test_levels_are_between_0_and_1(level):
    X, y = make_ripley(100, random_state=0)
    with pytest.raises(ValueError, match="`confidence_level` must be a number between 0 and 1"):
        LowRankLSSVC(**FAST).fit(X, y).predict_set(X, level)


def test_a_model_of_an_old_file_says_that_it_has_no_calibration():
    from dataclasses import replace

    X, y = make_ripley(100, random_state=0)
    old = replace(LowRankLSSVC(**FAST).fit(X, y).model_, calibration=None)
    assert len(old.predict(X)) == 100
    for method in (old.predict_proba, old.predict_log_proba, old.predict_set):
        with pytest.raises(ValueError, match="This model has no calibration"):
            method(X)
