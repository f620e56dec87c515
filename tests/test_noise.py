"""The size of residuals follows the noise where that depends on columns, and is one size elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.noise import NOISES, make_noisy
from sleek import LSSVR, LowRankLSSVR
from sleek._runtime.json_values import ModelFileError
from sleek.calibration.noise import LEAST_CURVE_ROWS, Noise, gains
from sleek.calibration.noise_curves import BENDS, BINS, Bins, Corner, Line, Search, Side, as_parts
from sleek.calibration.sizes import fit_sizes
from sleek.export import to_python
from sleek.model.saving import dumps, loads
from sleek.rows.arrays import ArrayRows
from sleek.rows.opening import open_rows

FAST = {"n_units": 8, "basis": "gaussian_rbf", "C": 100.0, "random_state": 0}
UNEVEN = [noise for noise in NOISES if noise != "1"]


def covered(ends, y):
    return (ends[:, 0] <= y) & (y <= ends[:, 1])


def by_fifths(key, inside):
    return np.array([inside[part].mean() for part in np.array_split(np.argsort(key, kind="stable"), 5)])


def learnt(n=800, seed=0, d=3):
    """Noise that a line and a step of two columns make, as learnt from residuals; f knows nothing of it."""
    rng = np.random.default_rng(seed)
    X, Phi = rng.normal(size=(n, d)), rng.normal(size=(n, 2))
    log_size = 0.7 * X[:, 0] + np.where(X[:, 1] > 0.4, 1.0, 0.0)
    residuals = np.exp(log_size) * rng.normal(size=n)
    return X, Phi, log_size, residuals, Noise.learn(residuals, Phi, np.array([1.0, 0.0]), np.ones(n), X)


@pytest.fixture(scope="module")
def fitted():
    """A fit whose noise is learnt as curves."""
    X, y, _ = make_noisy(UNEVEN[2], 900, 0)
    estimator = LowRankLSSVR(**FAST).fit(X, y)
    assert estimator.model_.calibration.noise[0].parts is not None
    return estimator


# -- what users see -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", UNEVEN)
def test_every_fifth_of_the_noise_is_held(noise):
    true, predicted = [], []
    for seed in range(3):
        X, y, _ = make_noisy(noise, 3000, seed)
        X_new, y_new, s = make_noisy(noise, 10_000, seed + 100)
        ends = LowRankLSSVR(5, basis="gaussian_rbf", random_state=0).fit(X, y).predict_interval(X_new, 0.9)
        true.append(by_fifths(s, covered(ends, y_new)))
        predicted.append(by_fifths(ends[:, 1] - ends[:, 0], covered(ends, y_new)))
    for shares in (np.mean(true, axis=0), np.mean(predicted, axis=0)):
        assert shares.min() >= 0.84, shares  # 0.60 and 1.00 with one width
        assert shares.max() <= 0.95, shares


def test_noise_of_one_size_has_intervals_of_one_width():
    """But for one fit of 500 rows, whose residuals happen to look different."""
    found = []
    for seed in range(4):
        for n in (500, 3000):
            X, y, _ = make_noisy("1", n, seed)
            model = LowRankLSSVR(**FAST).fit(X, y).model_
            widths = np.diff(model.predict_interval(X), axis=1)
            found.append(
                model.calibration.noise[0].weights is None and np.std(widths) < 0.03 * np.mean(widths)
            )
            assert found[-1] or n == 500
    assert sum(found) >= 7


@settings(max_examples=25, deadline=None)
@given(levels=st.lists(st.floats(0.01, 0.99), min_size=2, max_size=6))
def test_intervals_of_a_higher_level_hold_those_of_a_lower(fitted, levels):
    X, _, _ = make_noisy(UNEVEN[2], 50, 7)
    ends = fitted.predict_interval(X, sorted(levels))
    assert (np.diff(ends[:, 0], axis=-1) <= 0).all()
    assert (np.diff(ends[:, 1], axis=-1) >= 0).all()


def test_the_exact_machine_follows_the_noise_too():
    X, y, _ = make_noisy(UNEVEN[2], 900, 1)
    X_new, y_new, s = make_noisy(UNEVEN[2], 4000, 2)
    ends = LSSVR(C=1.0).fit(X, y).predict_interval(X_new)
    shares = by_fifths(s, covered(ends, y_new))
    assert shares.min() >= 0.85
    assert shares.max() <= 0.95


def test_few_rows_have_no_curves():
    X, y, _ = make_noisy(UNEVEN[2], LEAST_CURVE_ROWS - 1, 0)
    assert LowRankLSSVR(**FAST).fit(X, y).model_.calibration.noise[0].parts is None


def test_rows_far_away_have_finite_intervals(fitted):
    rows = np.concatenate([np.eye(5) * far for far in (1e9, -1e9, 1e150, -1e300, 1e300)])
    ends = fitted.predict_interval(rows)
    assert np.isfinite(ends).all()
    assert (ends[:, 1] > ends[:, 0]).all()


# -- what is learnt -----------------------------------------------------------------------------------------


def test_a_line_and_a_step_are_found():
    X, Phi, log_size, _, (noise, unseen) = learnt(4000)
    found = np.log(noise.at(Phi, X))
    assert np.corrcoef(found, log_size)[0, 1] > 0.98
    assert np.abs(found - log_size - np.log(np.sqrt(2 / np.pi))).mean() < 0.12
    np.testing.assert_allclose(np.log(unseen), found, atol=0.8)
    assert not np.array_equal(np.log(unseen), found)
    assert noise.at(Phi, 1e6 * X).max() <= np.exp(noise.high) * (1 + 1e-12)


def test_a_corner_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    inside = (X[:, 1] > 0) & (X[:, 3] < 0.5)
    sizes = np.where(inside, 5.0, 1.0) * np.abs(rng.normal(size=2000))
    search = Search(X, Bins.of(X), sizes, np.ones(2000), np.ones(2000, dtype=bool))
    for _ in range(3):
        search.extend()
    assert any(isinstance(curve, Corner) for curve in search.curves)
    found = search.log_sizes(X)
    assert abs(np.median(found[inside]) - np.median(found[~inside]) - np.log(5)) < 0.2
    np.testing.assert_allclose(found[search.rows], search.found[0] + search.seen_Z @ search.found[1:])
    expansion, weights, constant = search.parts()
    np.testing.assert_allclose(expansion.features(X) @ weights + constant, found, rtol=1e-9, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(
    factor=st.sampled_from([1e-9, 1e-3, 1.0, 1e6]),
    shift=st.sampled_from([0.0, -3.0, 1e4]),
    unit=st.sampled_from([1e-200, 1.0, 1e12]),
)
def test_units_of_columns_and_targets_do_not_matter(factor, shift, unit):
    X, Phi, _, residuals, (noise, unseen) = learnt(600)
    moved = factor * (X + shift)
    again, others = Noise.learn(unit * residuals, Phi, np.array([1.0, 0.0]), np.ones(len(X)), moved)
    np.testing.assert_allclose(again.at(Phi, moved), unit * noise.at(Phi, X), rtol=1e-6)
    np.testing.assert_allclose(others, unit * unseen, rtol=1e-6)


def test_a_row_of_weight_two_counts_as_two_rows():
    rng = np.random.default_rng(3)
    X, s = rng.normal(size=(500, 2)), 1.0 + np.arange(500) % 2
    sizes = np.abs(rng.normal(size=500)) * np.exp(X[:, 0])
    twice = np.repeat(np.arange(500), s.astype(int))
    bins = Bins.of(X)
    repeated = Bins(bins.codes[twice], bins.cuts, bins.n_cuts, bins.centers, bins.middle, bins.scale)
    one = Search(X, bins, sizes, s, np.ones(500, dtype=bool))
    other = Search(X[twice], repeated, sizes[twice], np.ones(len(twice)), np.ones(len(twice), dtype=bool))
    for _ in range(3):
        assert one.extend()
        assert other.extend()
        assert one.curves == other.curves
        np.testing.assert_allclose(one.found, other.found, rtol=1e-8)


def test_columns_that_say_nothing_are_no_curves():
    rng = np.random.default_rng(0)
    sizes, s = np.abs(rng.normal(size=300)), np.ones(300)
    nothing = np.column_stack([np.zeros(300), np.full(300, 1e300), np.arange(300) * 5e-324])
    bins = Bins.of(nothing)
    assert (bins.scale == 0).all()
    assert not Search(nothing, bins, sizes, s, np.ones(300, dtype=bool)).extend()


def test_scores_of_steps_are_those_of_their_columns():
    """(Σ gradient·f)²/Σ s (f - mean)², one cut at a time."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=400), rng.integers(5, size=400), rng.integers(2, size=400) * 7.0])
    sizes, s = np.abs(rng.normal(size=400)) * np.exp(0.5 * X[:, 0]), rng.uniform(0.5, 2.0, 400)
    rows = rng.uniform(size=400) < 0.8
    search = Search(X, Bins.of(X), sizes, s, rows)
    gradient = search._gradient()
    assert abs(gradient.sum()) < 1e-9
    scores = search._step_scores(search._sums(gradient), search._sums(s[rows]))
    for column in range(3):
        for place in range(BINS - 1):
            if place >= search.bins.n_cuts[column]:
                assert scores[column, place] == 0
                continue
            f = (X[rows, column] <= search.bins.cuts[column, place]).astype(float)
            share = np.average(f, weights=s[rows])
            wanted = (gradient @ f) ** 2 / (s[rows] @ (f - share) ** 2) if 0.02 < share < 0.98 else 0.0
            np.testing.assert_allclose(scores[column, place], wanted, rtol=1e-9, atol=1e-12)


def test_bends_have_the_values_of_their_curves():
    rng = np.random.default_rng(1)
    X = rng.integers(20, size=(500, 2)) * 3.0
    bins = Bins.of(X)
    F = bins.bends(np.arange(2))
    assert F.shape[2] == 2 * len(BENDS) * 5
    for column in range(2):
        for number in range(F.shape[2]):
            values = bins.bend(column, number).values(X)
            np.testing.assert_allclose(F[column, bins.codes[:, column], number], values, atol=1e-12)


curves = st.one_of(
    st.builds(Line, st.integers(0, 2), st.floats(-3, 3), st.floats(0.1, 10)),
    st.builds(Side, st.integers(0, 2), st.floats(-3, 3), st.floats(0.1, 100)),
    st.builds(Side, st.integers(0, 2), st.floats(-3, 3), st.floats(-100, -0.1)),
    st.builds(
        lambda at, sharpness: Corner((Side(0, at, sharpness), Side(2, -at, 5.0))),
        st.floats(-3, 3),
        st.sampled_from([-7.0, 7.0]),
    ),
)


@settings(max_examples=40, deadline=None)
@given(found=st.lists(curves, min_size=1, max_size=6), seed=st.integers(0, 99))
def test_curves_as_units_are_the_same_function(found, seed):
    rng = np.random.default_rng(seed)
    X, weights = 3 * rng.normal(size=(20, 3)), rng.normal(size=len(found))
    expansion, ordered = as_parts(found, weights, 3)
    wanted = sum(w * curve.values(X) for w, curve in zip(weights, found, strict=True))
    np.testing.assert_allclose(expansion.features(X) @ ordered, wanted, rtol=1e-9, atol=1e-9)


def test_a_fit_with_slack_is_nearly_the_fit():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 2))
    sizes, s = np.abs(rng.normal(size=300)) * np.exp(Z[:, 0]), np.ones(300)

    def loss(x):
        log_size = x[0] + Z @ x[1:]
        return np.sum(sizes / np.exp(log_size) + log_size) + 1.5 * np.sum(x[1:] ** 2)

    assert 0 <= loss(fit_sizes(Z, sizes, s, 3.0, slack=0.1)) - loss(fit_sizes(Z, sizes, s, 3.0)) < 0.1


def test_the_simpler_stays_unless_the_gain_is_larger_than_its_error():
    s = np.ones(100)
    noise = np.tile([1.0, -1.0], 50)
    assert not gains(np.zeros(100), noise - 0.09, s)
    assert gains(np.zeros(100), noise - 0.11, s)
    assert not gains(np.zeros(100), np.zeros(100), s)


# -- files and programs -------------------------------------------------------------------------------------


def test_files_keep_every_bit(fitted):
    model = fitted.model_
    again = loads(dumps(model))
    assert dumps(again) == dumps(model)
    X, _, _ = make_noisy(UNEVEN[0], 300, 5)
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    np.testing.assert_array_equal(again.predict_std(X), fitted.predict_std(X))


def test_a_program_computes_the_same(fitted):
    X, _, _ = make_noisy(UNEVEN[0], 60, 5)
    module = {}
    exec(to_python(fitted.model_, interval=0.9), module)
    found = [module["predict"](row, interval=True) for row in X.tolist()]
    np.testing.assert_allclose(found, fitted.predict_interval(X, 0.9), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda noise: noise.update(parts=[]), "`calibration.noise.parts` must have at least one part"),
        (lambda noise: noise.update(parts=None), "`calibration.noise.parts` must be a list"),
        (lambda noise: noise.update(weights=[]), "`calibration.noise.weights`"),
        (lambda noise: noise["weights"].append(1.0), "a weight for each of"),
        (lambda noise: noise.update(weights=None, high=noise["low"]), "a weight for each of"),
        (lambda noise: noise.update(more=1), "unknown key 'more'"),
        (lambda noise: noise["parts"][0]["basis"].update(name="what"), "The basis 'what' is unknown here"),
        (lambda noise: noise["parts"][0].update(more=1), "unknown key 'more'"),
    ],
)
def test_what_is_wrong_with_parts_of_the_noise_is_said(fitted, change, message):
    document = json.loads(dumps(fitted.model_))
    change(document["calibration"]["noise"][0])
    with pytest.raises(ModelFileError, match=message.replace("[", r"\[")):
        loads(json.dumps(document).encode())


# -- levels that are rated by targets -----------------------------------------------------------------------


def prices(n, seed):
    """An exact rule of one column of 40 words and one of four, to which rare exceptions are made."""
    rng = np.random.default_rng(seed)
    words, sizes = rng.integers(40, size=n), rng.integers(4, size=n)
    price = np.random.default_rng(0).uniform(8, 20, size=40)[words] + 4.0 * sizes
    frame = {"what": np.array([f"w{word}" for word in words]), "size": np.array(list("SMLX"))[sizes]}
    return frame, price + np.where(rng.uniform(size=n) < 0.01, 0.5, 0.0)


def test_rows_to_learn_from_are_known_as_new_rows():
    table, y = prices(2000, 1)
    rows = open_rows(table, y, None, "numbers").rows
    X = rows.X[:]
    assert not np.allclose(X, rows.inputs.transform(table))
    np.testing.assert_array_equal(rows.as_new(X), rows.inputs.transform(table))


def test_intervals_of_exact_rules_hold_as_promised():
    (table, y), (new, y_new) = prices(1200, 0), prices(4000, 10)
    model = LowRankLSSVR(60, basis="box", C=1e4, random_state=0).fit(table, y)
    assert 0.87 < covered(model.predict_interval(new, 0.9), y_new).mean() < 0.97


def test_intervals_hold_rows_that_are_read_otherwise_than_those_learnt_from(monkeypatch):
    def read(X):
        return X + 0.1 * np.sign(X)

    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(600, 2)), rng.normal(size=(2000, 2))
    y, y_new = (np.sin(2 * rows[:, 0]) + 0.02 * rng.normal(size=len(rows)) for rows in (X, X_new))

    def share():
        return covered(LowRankLSSVR(**FAST).fit(X, y).predict_interval(read(X_new)), y_new).mean()

    assert share() < 0.5
    monkeypatch.setattr(ArrayRows, "as_new", lambda rows, X: read(X))
    assert 0.86 < share() < 0.99
