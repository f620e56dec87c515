"""Intervals, quantiles and deviations of numbers: against slow oracles, and true on new rows."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

import sleek
from sleek import LSSVR, LowRankLSSVC, LowRankLSSVR, VariableProjection
from sleek.calibration.leverage import Leverage
from sleek.calibration.noise import Noise
from sleek.calibration.number_calibration import Spread
from sleek.calibration.sizes import fit_sizes
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import solve
from sleek.datasets import make_ripley
from sleek.model.saving import dumps, loads

FAST = {"n_units": 6, "basis": "gaussian_rbf", "C": 100.0, "random_state": 0}


def rows_with_noise(n, seed=0, uneven=True):
    """sin(x₀) and noise, ten times as large where x₁ > 0 if it is uneven."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    size = np.where(X[:, 1] > 0, 0.5, 0.05) if uneven else 0.3
    return X, np.sin(X[:, 0]) + size * rng.normal(size=n)


def covered(ends, y):
    return (ends[:, 0] <= y) & (y <= ends[:, 1])


@pytest.fixture(scope="module")
def uneven():
    X, y = rows_with_noise(1500)
    return LowRankLSSVR(12, basis="gaussian_rbf", C=100.0, random_state=0).fit(X, y)


# -- leverage -----------------------------------------------------------------------------------------------


def test_a_row_that_joins_has_its_residual_divided_by_one_plus_the_leverage():
    rng = np.random.default_rng(0)
    Phi, T, s, C = rng.normal(size=(30, 4)), rng.normal(size=(30, 1)), rng.uniform(0.5, 2.0, 30), 3.0
    moments = Moments.of(Phi, T, s)
    leverage = Leverage.of(moments.G, moments.mean_phi, moments.weight, C, 1.7)
    for new in rng.normal(scale=2.0, size=(5, 1, 4)):
        before = solve(moments, C)
        after = solve(moments + Moments.of(new, np.ones((1, 1)), np.array([1.7])), C)
        left, joined = (1.0 - new @ theta - b for theta, b in (before, after))
        np.testing.assert_allclose(left / joined, 1.0 + leverage.at(new)[:, None], rtol=1e-9)


def test_leverage_that_is_lost_in_rounding_is_left_out():
    assert Leverage.of(np.full((2, 2), np.nan), np.zeros(2), 1.0, 1.0) is None


# -- noise --------------------------------------------------------------------------------------------------


def test_sizes_minimise_their_loss():
    rng = np.random.default_rng(0)
    Z, s = rng.normal(size=(80, 3)), rng.uniform(0.5, 2.0, 80)
    sizes = np.abs(rng.normal(size=80)) * np.exp(0.5 * Z[:, 0])

    def loss(x):
        log_size = x[0] + Z @ x[1:]
        return sum(s * (sizes / np.exp(log_size) + log_size)) + 0.5 * 7.0 * sum(x[1:] ** 2)

    np.testing.assert_allclose(fit_sizes(Z, sizes, s, 7.0), minimize(loss, np.zeros(4)).x, atol=1e-4)


def test_noise_of_several_sizes_is_found_and_noise_of_one_size_left_alone():
    rng = np.random.default_rng(1)
    Phi, own, s = rng.normal(size=(600, 5)), np.array([0.0, 1.0, 0.0, 0.0, 0.0]), np.ones(600)
    even, nothing = rng.normal(size=600), np.zeros((600, 1))  # one column that is constant
    found, unseen = Noise.learn(even * np.exp(Phi[:, 3]), Phi, own, s, nothing)
    np.testing.assert_allclose(np.log(unseen), np.log(found.at(Phi, nothing)), atol=0.5)
    assert not np.allclose(unseen, found.at(Phi, nothing), rtol=1e-4)
    assert np.corrcoef(np.log(found.at(Phi, nothing)), np.clip(Phi[:, 3], -2, 2))[0, 1] > 0.95
    assert found.at(1e6 * Phi, nothing).max() <= np.exp(found.high) * (1 + 1e-12)
    flat, _ = Noise.learn(even, Phi, own, s, nothing)
    assert flat.weights is None
    np.testing.assert_allclose(flat.at(Phi, nothing), np.abs(even).mean())
    exact, _ = Noise.learn(np.zeros(600), Phi, own, s, nothing)
    assert exact.weights is None


# -- intervals ----------------------------------------------------------------------------------------------


def test_intervals_follow_the_formula():
    X, y = rows_with_noise(120)
    estimator = LowRankLSSVR(**FAST).fit(X, y)
    model, rows = estimator.model_, X[:7]
    calibration = model.calibration
    assert calibration.leverage is not None
    Phi, moments = model.features(rows), estimator.moments_
    inverse = np.linalg.inv(moments.G + np.eye(6) / model.C)
    for row, phi, prediction, ends in zip(
        rows, Phi, model.predict(rows), model.predict_interval(rows, 0.8), strict=True
    ):
        away = phi - moments.mean_phi
        h = 1 / moments.weight + away @ inverse @ away
        half = (
            calibration.sizes[0].parts[0].at_least(0.8)
            * calibration.noise[0].at(phi[None], row[None])[0]
            * np.sqrt(1 + h)
        )
        np.testing.assert_allclose(ends, [prediction - half, prediction + half], rtol=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
def test_intervals_cover_as_promised_wherever_noise_is_large_or_small(uneven, level):
    X, y = rows_with_noise(4000, seed=1)
    ends, loud = uneven.predict_interval(X, level), X[:, 1] > 0
    assert covered(ends, y).mean() == pytest.approx(level, abs=0.03)
    widths = ends[:, 1] - ends[:, 0]
    assert np.median(widths[loud]) > 3 * np.median(widths[~loud])
    for here in (loud, ~loud):
        assert covered(ends, y)[here].mean() > level - 0.1


@pytest.mark.parametrize("n", [40, 200, 1200])
def test_coverage_with_few_and_many_rows(n):
    found = []
    for seed in range(6):
        X, y = rows_with_noise(n, seed, uneven=False)
        X_new, y_new = rows_with_noise(1000, seed + 100, uneven=False)
        found.append(covered(LowRankLSSVR(**FAST).fit(X, y).predict_interval(X_new), y_new).mean())
    assert np.mean(found) > 0.86


def test_quantiles_never_cross_and_are_what_they_say(uneven):
    X, y = rows_with_noise(3000, seed=2)
    levels = np.array([0.02, 0.1, 0.37, 0.5, 0.77, 0.9, 0.98])
    Q = uneven.predict_quantiles(X, levels)
    assert Q.shape == (3000, 7)
    assert (np.diff(Q, axis=1) >= 0).all()
    np.testing.assert_allclose((y[:, None] <= Q).mean(axis=0), levels, atol=0.04)
    assert uneven.predict_quantiles(X).shape == (3000, 3)


def test_deviations_are_those_of_the_errors(uneven):
    X, y = rows_with_noise(4000, seed=3)
    errors, std = y - uneven.predict(X), uneven.predict_std(X)
    assert std.shape == (4000,)
    assert np.sqrt(np.mean((errors / std) ** 2)) == pytest.approx(1.0, abs=0.2)


def test_shapes_of_one_and_several_targets_and_levels():
    X, y = rows_with_noise(150)
    one, two = (LowRankLSSVR(**FAST).fit(X, targets) for targets in (y, np.column_stack([y, 100 * y + 7])))
    assert one.predict_interval(X).shape == (150, 2)
    assert one.predict_interval(X, [0.5, 0.9]).shape == (150, 2, 2)
    np.testing.assert_array_equal(one.predict_interval(X, [0.5, 0.9])[:, :, 1], one.predict_interval(X, 0.9))
    assert two.predict_interval(X).shape == (150, 2, 2)
    assert two.predict_interval(X, [0.5, 0.8, 0.9]).shape == (150, 2, 2, 3)
    assert two.predict_quantiles(X, [0.5]).shape == (150, 2, 1)
    assert two.predict_std(X).shape == (150, 2)
    ends = two.predict_interval(X)
    np.testing.assert_allclose(ends[:, 1], 100 * ends[:, 0] + 7, rtol=1e-6)


def test_a_row_of_weight_two_counts_as_two_rows():
    X, y = rows_with_noise(60)
    twice = np.repeat(np.arange(60), 1 + np.arange(60) % 2)
    one = LowRankLSSVR(**FAST).fit(X[twice], y[twice])
    other = LowRankLSSVR(**FAST).fit(X, y, 1 + np.arange(60) % 2)
    np.testing.assert_allclose(one.predict_interval(X), other.predict_interval(X), rtol=1e-6)


def test_exact_targets_have_no_width():
    X = np.random.default_rng(0).normal(size=(60, 2))
    ends = LowRankLSSVR(**FAST).fit(X, np.ones(60)).predict_interval(X)
    np.testing.assert_allclose(ends, 1.0, atol=1e-9)


def test_the_exact_machine_has_intervals_too():
    X, y = rows_with_noise(300, uneven=False)
    X_new, y_new = rows_with_noise(2000, seed=1, uneven=False)
    machine = LSSVR(C=3.0).fit(X, y)
    assert covered(machine.predict_interval(X_new), y_new).mean() == pytest.approx(0.9, abs=0.04)
    assert (np.diff(machine.predict_quantiles(X_new), axis=1) > 0).all()
    assert machine.predict_std(X_new).shape == (2000,)


def test_intervals_survive_file_pickle_and_any_number_of_threads(tmp_path):
    X, y = rows_with_noise(200)
    estimator = LowRankLSSVR(**FAST).fit(X, y)
    estimator.model_.save(tmp_path / "m.json")
    model, rows = sleek.load(tmp_path / "m.json"), np.tile(X, (50, 1))
    wanted = estimator.predict_interval(rows, [0.8, 0.9])
    for again in (model, pickle.loads(pickle.dumps(estimator))):
        np.testing.assert_array_equal(again.predict_interval(rows, [0.8, 0.9]), wanted)
        np.testing.assert_array_equal(again.predict_quantiles(rows), estimator.predict_quantiles(rows))
        np.testing.assert_array_equal(again.predict_std(rows), estimator.predict_std(rows))
    np.testing.assert_array_equal(model.predict_interval(rows, [0.8, 0.9], n_jobs=2), wanted)
    np.testing.assert_array_equal(wanted.mean(axis=1)[:, 0].round(9), estimator.predict(rows).round(9))


# -- where leave-one-out is rosy ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Not converged")
def test_noise_that_was_learnt_by_heart_is_not_taken_for_knowledge():
    """30 sigmoidal units with weak penalties know 300 rows by heart, and leave-one-out believes them."""
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(300, 5)), rng.normal(size=(3000, 5))
    weak = {
        "n_units": 30,
        "basis": "sigmoidal",
        "C": 1e3,
        "trainer": VariableProjection(pull=1e-6),
        "random_state": 0,
    }
    numbers = LowRankLSSVR(**weak).fit(X, rng.normal(size=300))
    assert numbers.expected_error_method_ == "refitted folds"
    assert covered(numbers.predict_interval(X_new), rng.normal(size=3000)).mean() > 0.86
    classes = LowRankLSSVC(**weak).fit(X, rng.integers(2, size=300))
    P, y = classes.predict_proba(X_new), rng.integers(2, size=3000)
    assert -np.mean(np.log(P[np.arange(3000), y])) < 0.75  # tossing a coin has 0.69
    assert classes.predict_set(X_new)[np.arange(3000), y].mean() > 0.86


# -- certain ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.9])
def test_conformalized_intervals_keep_the_level_over_a_thousand_draws(level):
    """(n + 1)·level is whole, so that the expected coverage is the level."""
    model = LowRankLSSVR(**FAST).fit(*rows_with_noise(60)).model_
    n, new, draws = 39, 20, 1000
    X, y = rows_with_noise(draws * (n + new), seed=5)
    found = model.uncertainty.evidence(X).reshape(draws, n + new, 1, 2)
    y = y.reshape(draws, n + new)
    hits = []
    for said, truth in zip(found, y, strict=True):
        certain = model.uncertainty.conformalize(said[:n], truth[:n], np.ones(n), None)
        hits.append(covered(certain.uncertainty.intervals(Spread(said[n:]), level), truth[n:]).mean())
    error = np.std(hits) / np.sqrt(draws)
    assert level - 3 * error < np.mean(hits) < level + 0.01 + 3 * error


@pytest.mark.parametrize("conditional", [False, True])
def test_conformalized_sets_keep_the_level_over_a_thousand_draws(conditional):
    model = LowRankLSSVC(**FAST).fit(*make_ripley(60, random_state=0)).model_
    n, new, draws, level = 59, 20, 1000, 0.9
    X, y = make_ripley(draws * (n + new), random_state=5)
    found = model.uncertainty.evidence(X).reshape(draws, n + new, 1)
    y = y.reshape(draws, n + new)
    hits = []
    for said, truth in zip(found, y, strict=True):
        calibration = model.uncertainty.conformalize(said[:n], truth[:n], np.ones(n), None).calibration
        sets = calibration.sets(calibration.probabilities(said[n:]), level, conditional)
        hits.append(sets[np.arange(new), truth[n:]].mean())
    assert np.mean(hits) > level - 3 * np.std(hits) / np.sqrt(draws)


def test_groups_have_levels_of_their_own(tmp_path):
    X, y = rows_with_noise(300, uneven=False)
    estimator = LowRankLSSVR(**FAST).fit(X, y)
    X, y = rows_with_noise(2000, seed=1)
    groups = np.where(X[:, 1] > 0, "loud", "quiet")
    assert estimator.conformalize(X[:1000], y[:1000], groups=groups[:1000]) is estimator
    ends = estimator.predict_interval(X[1000:], 0.9, groups=groups[1000:])
    for group in ("loud", "quiet"):
        here = groups[1000:] == group
        assert covered(ends, y[1000:])[here].mean() == pytest.approx(0.9, abs=0.04)
    estimator.model_.save(tmp_path / "m.json")
    again = sleek.load(tmp_path / "m.json").predict_interval(X[1000:], 0.9, groups=groups[1000:])
    np.testing.assert_array_equal(again, ends)
    with pytest.raises(ValueError, match="say of which each row is"):
        estimator.predict_interval(X)
    with pytest.raises(ValueError, match="got 'silent'"):
        estimator.predict_interval(X[:1], groups=["silent"])
    with pytest.raises(ValueError, match="one label for each of 2 rows"):
        estimator.predict_interval(X[:2], groups=["loud"])


def test_a_model_makes_another_and_stays_what_it_is():
    X, y = rows_with_noise(100)
    model = LowRankLSSVR(**FAST).fit(X, y).model_
    before = model.predict_interval(X)
    certain = model.conformalize(X, y)
    np.testing.assert_array_equal(model.predict_interval(X), before)
    np.testing.assert_array_equal(certain.predict(X), model.predict(X))
    assert not np.array_equal(certain.predict_interval(X), before)


# -- memory and files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [LowRankLSSVC, LowRankLSSVR])
def test_memory_on_the_way_does_not_grow_with_the_rows(make):
    X, y = make_ripley(300, random_state=0)
    model = make(**FAST).fit(X, y)
    rows = np.tile(X, (700, 1))
    methods = [model.predict_proba, model.predict_log_proba] if make is LowRankLSSVC else [model.predict_std]
    methods += (
        [model.predict_set] if make is LowRankLSSVC else [model.predict_interval, model.predict_quantiles]
    )
    for method in methods:
        method(rows[:5000])
        tracemalloc.start()
        found = method(rows)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(found) == 210_000
        assert peak < 6 * 16 * len(rows) + 2**23  # a few numbers a row; training rows × rows would be 500 MB


@cache
def saved(kind):
    """The bytes of a model's file."""
    if kind == "numbers":
        return dumps(LowRankLSSVR(**FAST).fit(*rows_with_noise(120)).model_)
    return dumps(LowRankLSSVC(**FAST).fit(*make_ripley(60, random_state=0)).model_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(kind="classes"), "`calibration.kind` must be 'numbers'"),
        (lambda c: c.update(extra=1), "unknown key 'extra'"),
        (lambda c: c.pop("noise"), "must have the key 'noise'"),
        (lambda c: c.update(noise=[]), "noise` must have 1 entry, got 0"),
        (lambda c: c["noise"][0].update(weights=[1.0]), "a weight for each of 6 units"),
        (lambda c: c["noise"][0].update(low=9.0, high=1.0), "the lowest not above the highest"),
        (lambda c: c["noise"][0].update(high=1e9), "sizes within float64"),
        (lambda c: c["noise"][0].update(constant="a"), "must be a number"),
        (lambda c: c["leverage"]["factor"].pop(), "factor` must be a triangle of 6 rows"),
        (lambda c: c["leverage"].update(least=-1.0), "least` must not be negative"),
        (lambda c: c["sizes"][0].update(quantiles=[]), "one entry of quantiles"),
        (lambda c: c["sizes"][0]["quantiles"][0]["levels"].reverse(), "increasing levels between 0 and 1"),
        (lambda c: c["sizes"][0]["quantiles"][0].update(n=-3), "quantiles.n` must be positive"),
        (lambda c: c["sizes"][0].update(groups={"type": "str", "labels": ["b", "a"]}), "must be in order"),
        (lambda c: c["signed"][0]["values"].pop(), "signed.values` must have 24 numbers, got 23"),
        (lambda c: c.update(deviations=[-1.0]), "deviations` must not be negative"),
        (lambda c: c.update(deviations=[1.0, 2.0]), "deviations` must have 1 number, got 2"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_intervals_in_files_are_sentences(change, message):
    document = json.loads(saved("numbers"))
    change(document["calibration"])
    with pytest.raises(sleek.ModelFileError, match=message):
        loads(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["probabilities"].update(scale=0), "scale` must be positive"),
        (lambda c: c["probabilities"].update(slopes=[1.0, 2.0]), "slopes` must have 4 numbers, got 2"),
        (lambda c: c["probabilities"]["slopes"].__setitem__(1, -2.0), "slopes` must be positive"),
        (lambda c: c["misfits_by_class"].pop(), "must have 2 entries"),
        (lambda c: c.update(misfits=None), "must be an object"),
        (lambda c: c.update(kind=None), "`calibration.kind` must be 'classes'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_probabilities_in_files_are_sentences(change, message):
    document = json.loads(saved("classes"))
    change(document["calibration"])
    with pytest.raises(sleek.ModelFileError, match=message):
        loads(json.dumps(document).encode())


def test_files_without_calibration_are_read():
    document = json.loads(saved("classes"))
    del document["calibration"]
    assert loads(json.dumps(document).encode()).calibration is None


# -- sentences ----------------------------------------------------------------------------------------------


def test_too_few_rows_for_a_level_is_a_sentence():
    X, y = rows_with_noise(100)
    estimator = LowRankLSSVR(**FAST).fit(X, y).conformalize(X[:8], y[:8])
    with pytest.raises(
        ValueError, match=r"level of 0\.9 needs at least 9 rows .* there were 8: ask for at most 0\.889"
    ):
        estimator.predict_interval(X, 0.9)
    with pytest.raises(ValueError, match="needs at least 99 rows"):
        estimator.predict_quantiles(X, [0.01])
    estimator.conformalize(X[:9], y[:9]).predict_interval(X, 0.9)


@pytest.mark.parametrize("level", [0.0, 1.0, -1, "0.9", None, [0.9, 1.1], []])
def test_levels_are_between_0_and_1(uneven, level):
    X, _ = rows_with_noise(3)
    with pytest.raises(ValueError, match="`confidence_level` must be a number between 0 and 1"):
        uneven.predict_interval(X, level)


@pytest.mark.parametrize("level", [0.0, 1.0, "half", None, [0.5, 2.0]])
def test_quantiles_are_between_0_and_1(uneven, level):
    X, _ = rows_with_noise(3)
    with pytest.raises(ValueError, match="`quantiles` must be numbers between 0 and 1"):
        uneven.predict_quantiles(X, level)


def test_bad_rows_to_conformalize_with_are_sentences(uneven):
    X, y = rows_with_noise(30)
    model = uneven.model_
    for call, message in (
        (lambda: model.conformalize(X, y[:5]), "a target for each of 30 rows, got 5"),
        (lambda: model.conformalize(X, None), "a target for each of 30 rows, got none"),
        (lambda: model.conformalize(X, np.full(30, np.nan)), "Targets must be finite numbers"),
        (
            lambda: model.conformalize(X, np.ones((30, 2))),
            "finite numbers, 1 for each of 30 rows",
        ),
        (lambda: model.conformalize(X, y, groups=[1, 2]), "one label for each of 30 rows"),
        (lambda: model.conformalize(X[:0], y[:0]), "There must be rows"),
        (lambda: model.predict_interval(X, groups=np.ones(30)), "Groups were given, but none when"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_the_wrong_kind_of_model_and_old_files_are_sentences(uneven):
    X, y = make_ripley(60, random_state=0)
    classifier = LowRankLSSVC(**FAST).fit(X, y).model_
    for method in (classifier.predict_interval, classifier.predict_quantiles, classifier.predict_std):
        with pytest.raises(ValueError, match="Intervals and quantiles are for numbers"):
            method(X)
    for method in (uneven.model_.predict_proba, uneven.model_.predict_set):
        with pytest.raises(ValueError, match="Probabilities and sets are for classifiers"):
            method(X)
    old = replace(uneven.model_, calibration=None)
    for call in (
        old.predict_interval,
        old.predict_quantiles,
        old.predict_std,
        lambda X: old.conformalize(X, y),
    ):
        with pytest.raises(ValueError, match="This model has no calibration"):
            call(X)
    with pytest.raises(ValueError, match="The class 7 is none of the model's classes"):
        classifier.conformalize(X, np.full(60, 7))
