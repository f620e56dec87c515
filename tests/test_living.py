"""Models that go on: rows come in, leave, and are merged, against one pass over all rows."""

import importlib
import json
import pickle
import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import sleek
from sleek import LowRankLSSVC, LowRankLSSVR
from sleek._runtime.sums import total
from sleek.closed_form.moments import Moments
from sleek.closed_form.running_sums import RunningSums
from sleek.datasets import make_ripley
from sleek.model.saving import dumps, loads

FIXED = {"basis": "gaussian_rbf", "C": 10.0, "shape": 0.5, "random_state": 0}
trainer = sleek.VariableProjection(pull=1e-3, tol=0.1)


def wave(n, seed=0, k=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.column_stack([np.sin(X[:, 0]) + (j + 1) * X[:, 1] for j in range(k)])
    Y += 0.1 * rng.normal(size=Y.shape)
    return X, Y[:, 0] if k == 1 else Y


@pytest.fixture(scope="module")
def classes():
    X, y = make_ripley(700, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = LowRankLSSVC(6, trainer=trainer, **FIXED).fit(X[:200], y[:200])
    return fitted, X, y


@pytest.fixture(scope="module")
def numbers():
    X, y = wave(700)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = LowRankLSSVR(6, trainer=trainer, **FIXED).fit(X[:200], y[:200])
    return fitted, X, y


def again(estimator):
    return pickle.loads(pickle.dumps(estimator))


def batch(estimator, X, y, s=None, C=None):
    """theta and b of one pass over all rows by the textbook, in the target's own units."""
    model = estimator.model_ if hasattr(estimator, "model_") else estimator
    Phi, s = model.features(X), np.ones(len(X)) if s is None else s
    if isinstance(model.outputs, sleek.ClassOutputs):
        labels = model.outputs.classes
        T = np.where(y[:, None] == (labels[1:] if len(labels) == 2 else labels), 1.0, -1.0)
    else:
        T = (y.reshape(len(X), -1) - model.outputs.mean) / model.outputs.scale
    one = np.column_stack([Phi, np.ones(len(X))])
    A = one.T @ (s[:, None] * one) + np.diag(np.append(np.full(Phi.shape[1], 1.0 / model.C), 0.0))
    both = np.linalg.solve(A, one.T @ (s[:, None] * T))
    return model.outputs.decode(both[:-1], both[-1])


def assert_same_model(model, expected, tol=1e-9):
    theta, b = expected
    np.testing.assert_allclose(model.theta, theta, rtol=0, atol=tol * np.abs(theta).max())
    np.testing.assert_allclose(model.b, b, rtol=0, atol=tol * max(1.0, np.abs(b).max()))


# -- sums ---------------------------------------------------------------------------------------------------


def draw(seed, n=60, m=3, k=2):
    rng = np.random.default_rng(seed)
    Phi = 1.0 - 10.0 ** rng.integers(-6, 0) * rng.random((n, m))
    return Phi, rng.normal(size=(n, k)) * 10.0 ** rng.integers(-3, 4), rng.uniform(0.1, 3.0, n)


def exactly(Phi, T, s, origin):
    """Σ s wwᵀ with 60 digits."""
    with mpmath.workdps(60):
        W = [
            [mpmath.mpf(1)] + [mpmath.mpf(v) for v in row] for row in (np.hstack([Phi, T]) - origin).tolist()
        ]
        size = len(W[0])
        return [
            [
                mpmath.fsum(mpmath.mpf(float(c)) * w[i] * w[j] for w, c in zip(W, s, strict=True))
                for j in range(size)
            ]
            for i in range(size)
        ]


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_arithmetic_with_sixty_digits(weighted):
    Phi, T, s = draw(0, n=40)
    s, origin = (s if weighted else np.ones(40)), np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    found, expected = RunningSums.of(Phi, T, origin, s), exactly(Phi, T, s, origin)
    size, m = len(expected), 3
    for i in range(size):
        for j in range(size):
            if i == j or min(i, j) <= m:
                near = mpmath.sqrt(expected[i][i] * expected[j][j])
                assert abs(mpmath.mpf(float(found.products[i, j])) - expected[i][j]) < 1e-14 * near, (i, j)


@pytest.mark.parametrize("seed", range(4))
def test_additions_lose_nothing(seed):
    """Ten thousand are added, and half of them taken out again: 24 digits."""
    Phi, T, s = draw(seed, n=20, k=1)
    origin = np.zeros(4)
    parts = [RunningSums.of(Phi[i : i + 1], T[i : i + 1], origin, s[i : i + 1]) for i in range(20)]
    places = np.random.default_rng(seed).permutation(np.repeat(np.arange(20), 500))
    found = RunningSums.zero(origin, 3)
    for place in places:
        found = found + parts[place]
    for place in places[:5000]:
        found = found - parts[place]
    counts = np.bincount(places[5000:], minlength=20).tolist()
    for i, j in np.ndindex(5, 5):
        expected = sum(count * Fraction(part.high[i, j]) for count, part in zip(counts, parts, strict=True))
        error = Fraction(found.high[i, j]) + Fraction(found.low[i, j]) - expected
        assert abs(error) <= 1e-24 * sum(500 * abs(part.high[i, j]) for part in parts)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.randoms(use_true_random=False), cuts=st.sets(st.integers(1, 59)))
def test_sums_of_batches_in_any_order_are_those_of_one_pass(seed, order, cuts):
    Phi, T, s = draw(seed)
    origin = np.concatenate([Phi[0], T[0]])
    edges = [0, *sorted(cuts), 60]
    parts = [slice(a, b) for a, b in pairwise(edges)]
    order.shuffle(parts)
    found = total(RunningSums.of(Phi[p], T[p], origin, s[p]) for p in parts).moments
    whole = RunningSums.of(Phi, T, origin, s).moments
    for name in ("weight", "mean_phi", "mean_t", "G", "R", "tt"):
        scale = np.abs(getattr(whole, name)).max()
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-12, atol=1e-13 * scale)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 59), factor=st.floats(0.01, 1.0))
def test_sums_are_taken_out_faded_and_moved(seed, cut, factor):
    Phi, T, s = draw(seed, k=1)
    origin, other = np.concatenate([Phi[0], T[0]]), np.concatenate([Phi[1], T[1]]) * 1.5
    whole = RunningSums.of(Phi, T, origin, s)
    left = (whole - RunningSums.of(Phi[:cut], T[:cut], origin, s[:cut])).fade(factor).move(other)
    plain = RunningSums.of(Phi[cut:], T[cut:], other, s[cut:])
    scale = np.sqrt(np.outer(np.diag(plain.products), np.diag(plain.products)))
    assert (np.abs(left.products - factor * plain.products) <= 1e-12 * factor * (scale + 1e-300)).all()
    assert left.products.tolist() == left.products.T.tolist()


def test_sums_come_from_moments_and_go_back():
    Phi, T, s = draw(3)
    moments = Moments.of(Phi, T, s)
    found = RunningSums.from_moments(moments, scale=2.0).moments
    for name in ("mean_phi", "mean_t"):
        np.testing.assert_array_equal(getattr(found, name), getattr(moments, name))
    for name in ("weight", "G", "R", "tt"):
        np.testing.assert_allclose(getattr(found, name), 2.0 * np.asarray(getattr(moments, name)), rtol=1e-15)


def test_a_model_without_sums_begins_near_its_units(numbers):
    """Units that are nearly constant have small variances: sums about 0 would lose half of their digits."""
    fitted, X, y = numbers
    flat = replace(
        fitted.model_,
        expansion=sleek.Expansion(
            tuple(
                sleek.Part(part.basis, part.units.map(lambda name, a: a * 1e-6 if name == "shapes" else a))
                for part in fitted.model_.parts
            )
        ),
    )
    model = loads(dumps(flat)).emptied().partial_fit(X, y)
    Phi = model.features(X).astype(np.longdouble)
    G = (Phi - Phi.mean(0)).T @ (Phi - Phi.mean(0))
    np.testing.assert_allclose(
        model.memory.moments.G, G.astype(float), rtol=0, atol=1e-8 * float(np.abs(G).max())
    )


# -- rows come in -------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(order=st.randoms(use_true_random=False), cuts=st.sets(st.integers(201, 699), max_size=8))
def test_batches_in_any_order_equal_one_pass(numbers, order, cuts):
    fitted, X, y = numbers
    s = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    edges = [200, *sorted(cuts), 700]
    parts = [slice(a, b) for a, b in pairwise(edges)]
    order.shuffle(parts)
    one = fitted.model_.partial_fit(X[200:], y[200:], s[200:])
    model = fitted.model_
    for part in parts:
        model = model.partial_fit(X[part], y[part], s[part])
    assert_same_model(model, (one.theta, one.b), tol=1e-12)
    assert model.memory.n_rows == 700


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_an_update_is_the_closed_form_of_all_rows(request, kind):
    fitted, X, y = request.getfixturevalue(kind)
    estimator = again(fitted).partial_fit(X[200:450], y[200:450]).partial_fit(X[450:], y[450:])
    assert_same_model(estimator.model_, batch(fitted, X, y))
    np.testing.assert_array_equal(estimator.unit_weights_, estimator.model_.theta.T)
    assert estimator.moments_.weight == 700.0
    assert fitted.moments_.weight == 200.0  # the other is its own


def test_several_targets_and_several_classes():
    X, Y = wave(300, k=3)
    several = LowRankLSSVR(4, trainer=trainer, **FIXED).fit(X[:150], Y[:150])
    expected = batch(several, X, Y)
    assert_same_model(several.partial_fit(X[150:], Y[150:]).model_, expected)
    y = np.array(["a", "b", "c"])[np.digitize(Y[:, 0], [-0.5, 0.5])]
    classes = LowRankLSSVC(4, trainer=trainer, **FIXED).fit(X[:150], y[:150])
    expected = batch(classes, X, y)
    assert_same_model(classes.partial_fit(X[150:], y[150:]).model_, expected)


def test_a_hundred_thousand_rows_one_by_one():
    """Within 1e-9 of the batch solution; tests take 5,000 of them (benchmarks/living.py has the rest)."""
    X, y = make_ripley(5200, random_state=1)
    fitted = LowRankLSSVC(10, trainer=trainer, **FIXED).fit(X[:200], y[:200])
    expected = batch(fitted, X, y)
    for i in range(200, len(X)):
        fitted.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same_model(fitted.model_, expected, tol=1e-10)


def test_the_same_calls_give_the_same_bits(numbers):
    fitted, X, y = numbers
    one, two = (again(fitted).partial_fit(X[200:], y[200:]).forget(X[:50], y[:50]) for _ in range(2))
    assert dumps(one.model_, moments=True) == dumps(two.model_, moments=True)


def test_many_rows_on_several_threads():
    X, y = wave(9000)
    fitted = LowRankLSSVR(5, trainer=trainer, **FIXED).fit(X[:200], y[:200])
    one, two = (again(fitted).set_params(n_jobs=n).partial_fit(X[200:], y[200:]) for n in (1, 2))
    assert dumps(one.model_, moments=True) == dumps(two.model_, moments=True)
    assert_same_model(one.model_, batch(fitted, X, y))


def test_weights_are_repeated_rows_and_zero_leaves_out(classes):
    fitted, X, y = classes
    s = np.array([0.0, 1.0, 2.0] * 20)
    weighted = fitted.model_.partial_fit(X[200:260], y[200:260], s)
    repeated = fitted.model_.partial_fit(
        np.repeat(X[200:260], s.astype(int), 0), np.repeat(y[200:260], s.astype(int))
    )
    assert_same_model(weighted, (repeated.theta, repeated.b), tol=1e-12)
    assert weighted.memory.n_rows == 240


def test_weights_of_the_fit_and_of_classes_count_on():
    X, y = make_ripley(400, random_state=0)
    s = np.random.default_rng(0).uniform(0.5, 20.0, 400)
    for weights in ("balanced", {0: 3.0, 1: 0.5}):
        fitted = LowRankLSSVC(4, class_weight=weights, trainer=trainer, **FIXED).fit(
            X[:200], y[:200], s[:200]
        )
        own = fitted.model_.memory.class_weights[y]
        expected = batch(fitted, X, y, s * own)
        assert_same_model(fitted.partial_fit(X[200:], y[200:], sample_weight=s[200:]).model_, expected)


def test_the_first_call_fits_and_squared_loss_stays():
    X, y = make_ripley(1200, random_state=0)
    first = LowRankLSSVC(5, random_state=0).partial_fit(X, y)
    whole = LowRankLSSVC(5, loss="squared_error", random_state=0).fit(X, y)
    np.testing.assert_array_equal(first.model_.theta, whole.model_.theta)
    assert first.fit(X[:100], y[:100]).moments_.weight == 100.0  # a fit begins anew


def test_classes_that_come_later_are_named_in_the_first_call():
    X, Y = wave(300)
    y = np.digitize(Y, [-0.5, 0.5])
    early = y < 2
    model = LowRankLSSVC(4, trainer=trainer, **FIXED).partial_fit(X[early], y[early], classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert set(model.predict(X).tolist()) <= {0, 1}
    model.partial_fit(X[~early], y[~early], classes=[2, 1, 0])
    assert (model.predict(X) == y).mean() > 0.65
    assert 2 in model.predict(X)
    with pytest.raises(ValueError, match=r"must be those of the first call, \[0, 1, 2\]"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="The class 3 is none of the model's"):
        model.partial_fit(X[:1], [3])
    with pytest.raises(ValueError, match="none of `classes`"):
        LowRankLSSVC().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="rows of every class"):
        LowRankLSSVC(4, class_weight="balanced").partial_fit(X[early], y[early], classes=[0, 1, 2])


def test_quantiles_say_that_they_cannot():
    X, y = wave(300)
    median = LowRankLSSVR(3, loss="absolute_error", trainer=trainer, **FIXED)
    with pytest.raises(ValueError, match="loss='absolute_error' has no partial_fit"):
        median.partial_fit(X, y)
    median.fit(X, y)
    for act in (median.partial_fit, median.forget, median.model_.partial_fit):
        with pytest.raises(ValueError, match=r"by the absolute error, and no sums.*'huber'"):
            act(X, y)
    with pytest.raises(ValueError, match="no sums over rows say how"):
        dumps(median.model_, moments=True)
    with pytest.raises(ValueError, match="no sums over rows say how"):
        median.model_.emptied()
    assert not hasattr(median, "moments_")
    assert not hasattr(median, "drift_")
    assert not hasattr(LowRankLSSVC(), "moments_")


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        (np.zeros((2, 3)), [0, 1], "3 features"),
        (np.full((2, 2), np.inf), [0, 1], "infinity"),
        (np.zeros((2, 2)), [0, 1, 0], "a class label for each of 2 rows"),
        (np.zeros((2, 2)), None, "y is None"),
        (np.zeros((0, 2)), [], "at least one row, got none"),
        (np.zeros((2, 2)), [0, None], "class label in every row"),
    ],
    ids=["features", "infinite", "labels", "none", "no rows", "a gap"],
)
def test_bad_rows_change_nothing(classes, X, y, match):
    estimator = again(classes[0])
    before = dumps(estimator.model_, moments=True)
    with pytest.raises(ValueError, match=match):
        estimator.partial_fit(X, y)
    assert dumps(estimator.model_, moments=True) == before


def test_bad_targets_and_settings_of_numbers(numbers):
    fitted, X, _ = numbers
    for y, match in (
        ([np.nan, 1.0], "with NaN"),
        (["a", "b"], "must be numbers"),
        ([[1.0, 2.0]] * 2, "1 for each"),
    ):
        with pytest.raises(ValueError, match=match):
            again(fitted).partial_fit(X[:2], y)
    with pytest.raises(ValueError, match="`forgetting_factor` must be above 0"):
        again(fitted).set_params(forgetting_factor=1.5).partial_fit(X[:2], [1.0, 2.0])
    with pytest.raises(ValueError, match="`forgetting_factor` must be above 0"):
        LowRankLSSVR(forgetting_factor=0.0).fit(X, X[:, 0])


def test_rows_of_files_and_frames(numbers, tmp_path):
    _, X, y = numbers
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = LowRankLSSVR(6, trainer=trainer, **FIXED).fit(frame[:200], y[:200])
    (frame.assign(y=y)[200:]).to_parquet(tmp_path / "rows.parquet")
    from_files = again(fitted).partial_fit(sleek.Files(str(tmp_path / "rows.parquet"), target="y"))
    from_frame = again(fitted).partial_fit(frame[200:], y[200:])
    np.testing.assert_array_equal(from_files.model_.theta, from_frame.model_.theta)
    with pytest.raises(ValueError, match="have their targets"):
        from_files.partial_fit(sleek.Files(str(tmp_path / "rows.parquet"), target="y"), y)
    with pytest.raises(ValueError, match="feature names"):
        from_frame.partial_fit(frame.rename(columns={"a": "z"}), y)


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    age, town = rng.normal(40, 9, n), rng.choice(["Aarau", "Basel", "Chur"], n)
    y = np.where(age + 10 * (town == "Basel") + rng.normal(0, 5, n) > 42, "yes", "no")
    age[rng.random(n) < 0.1] = np.nan
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    return pd.DataFrame({"age": age, "town": town, "day": day}), y


def test_tables_go_through_the_columns_of_the_fit():
    frame, y = table(400)
    fitted = LowRankLSSVC(4, trainer=trainer, **FIXED).fit(frame[:200], y[:200])
    inputs = fitted.model_.inputs
    estimator = again(fitted).partial_fit(frame[200:], y[200:])
    assert estimator.model_.inputs is not None
    np.testing.assert_array_equal(estimator.model_.inputs.transform(frame), inputs.transform(frame))
    assert_same_model(estimator.model_, batch(fitted, inputs.transform(frame), y))
    strange = frame[:2].assign(town="Davos")
    with pytest.warns(UserWarning, match="Davos"):
        estimator.partial_fit(strange, y[:2])
    back = estimator.forget(frame[200:], y[200:])
    assert back.model_.memory.n_rows == 202


def test_levels_that_stand_for_targets_are_not_forgotten():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"zip": [f"z{i}" for i in rng.integers(0, 60, 900)], "x": rng.normal(size=900)})
    y = frame["zip"].str[1:].astype(int) % 7 + frame["x"].to_numpy()
    fitted = LowRankLSSVR(3, trainer=trainer, **FIXED).fit(frame, y)
    with pytest.raises(ValueError, match="Column 'zip' has many levels"):
        fitted.forget(frame[:5], y[:5])
    assert fitted.partial_fit(frame[:5], y[:5]).moments_.weight == 905.0


# -- rows fade ----------------------------------------------------------------------------------------------


def test_a_forgetting_factor_weighs_rows_by_their_age(numbers):
    fitted, X, y = numbers
    fading = 0.98
    ages = fading ** np.arange(499, -1, -1.0)
    s = np.concatenate([np.full(200, fading**500), ages])
    one = fitted.model_.partial_fit(X[200:], y[200:], forgetting_factor=fading)
    assert_same_model(one, batch(fitted, X, y, s))
    estimator = again(fitted).set_params(forgetting_factor=fading)
    for i in range(200, 700, 7):
        estimator.partial_fit(X[i : min(700, i + 7)], y[i : min(700, i + 7)])
    assert_same_model(estimator.model_, (one.theta, one.b), tol=1e-11)
    with pytest.raises(ValueError, match="have faded"):
        estimator.forget(X[:2], y[:2])


def test_fading_follows_what_drifts(numbers):
    fitted, X, _ = numbers
    later = np.sin(X[:, 0]) - X[:, 1]  # the sign has changed
    follows = again(fitted).set_params(forgetting_factor=0.97).partial_fit(X[200:], later[200:])
    stays = again(fitted).partial_fit(X[200:], later[200:])
    errors = [np.mean((m.predict(X) - later) ** 2) for m in (follows, stays)]
    assert errors[0] < 0.8 * errors[1]


# -- rows leave ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_forgotten_rows_leave_weights_and_constants_exactly(request, kind):
    fitted, X, y = request.getfixturevalue(kind)
    estimator = again(fitted).partial_fit(X[200:], y[200:])
    assert_same_model(estimator.forget(X[100:300], y[100:300]).model_, batch(fitted, *left(X, y)), tol=1e-11)
    assert estimator.model_.memory.n_rows == 500
    came_back = estimator.partial_fit(X[100:300], y[100:300]).model_
    assert_same_model(came_back, batch(fitted, X, y), tol=1e-11)


def left(X, y):
    kept = np.r_[0:100, 300:700]
    return X[kept], y[kept]


def test_nearly_all_rows_can_be_forgotten():
    X, y = wave(5000)
    fitted = LowRankLSSVR(6, trainer=trainer, **FIXED).fit(X, y)
    assert_same_model(fitted.forget(X[:-12], y[:-12]).model_, batch(fitted, X[-12:], y[-12:]), tol=1e-8)


def test_rows_that_were_never_learnt(classes, numbers):
    fitted, X, y = classes
    with pytest.raises(ValueError, match="something must be left"):
        fitted.model_.forget(X[:200], y[:200])
    ones = np.flatnonzero(y == 1)[:150]
    with pytest.raises(ValueError, match="Rows of class 1 of weight 150 cannot be forgotten"):
        fitted.model_.forget(X[ones], y[ones])
    fitted, X, y = numbers
    for strange, target in ((np.full((50, 3), 0.1), np.full(50, 30.0)), (X[:20], np.full(20, 1e3))):
        with pytest.raises(ValueError, match="never learnt"):
            fitted.model_.forget(strange, target)
    with pytest.raises(ValueError, match=r"190 rows .* something must be left"):
        fitted.model_.forget(X[:20], y[:20]).forget(X[:190], y[:190], np.full(190, 0.1))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_what_is_left_are_sums_over_rows_or_nothing_is_forgotten(numbers, data):
    """Rows that came in can always leave; of any rows, what is left can be the sums of some."""
    fitted, X, y = numbers
    there = data.draw(st.lists(st.integers(0, 199), min_size=1, max_size=199, unique=True))
    left = fitted.model_.forget(X[there], y[there])
    assert left.memory.n_rows == 200 - len(there)
    some = data.draw(st.lists(st.integers(0, 699), min_size=1, max_size=40))
    try:
        model = left.forget(X[some], y[some])
    except ValueError:
        return
    moments = model.memory.moments
    both = np.block([[moments.G, moments.R], [moments.R.T, np.diag(moments.tt)]])
    assert moments.weight > 0
    assert np.linalg.eigvalsh(both)[0] > -1e-6 * np.trace(both)


def test_rows_whose_squares_have_no_end_change_nothing(numbers):
    fitted, X, _ = numbers
    with pytest.raises(ValueError, match=r"within 1e\+140 standard deviations"):
        fitted.model_.partial_fit(X[:2], [1e200, 1.0])


def test_batches_are_known_by_their_rows_in_any_order(numbers):
    fitted, X, y = numbers
    one, two = (
        fitted.model_.emptied().partial_fit(X[order], y[order])
        for order in (slice(300), slice(299, None, -1))
    )
    assert one.memory.origins == two.memory.origins
    assert one.memory.origins != fitted.model_.emptied().partial_fit(X[:299], y[:299]).memory.origins
    with pytest.raises(ValueError, match="would count twice"):
        sleek.merge([one, two])


# -- merged -------------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(order=st.permutations(range(4)))
def test_merged_models_are_those_of_all_rows_in_any_order(numbers, order):
    fitted, X, y = numbers
    parts = [fitted.model_] + [
        fitted.model_.emptied().partial_fit(X[a:b], y[a:b]) for a, b in ((200, 300), (300, 310), (310, 700))
    ]
    merged = sleek.merge([parts[i] for i in order])
    assert_same_model(merged, batch(fitted, X, y), tol=1e-11)
    straight = sleek.merge(parts)
    np.testing.assert_array_equal(merged.theta, straight.theta)
    assert merged.memory.n_rows == 700


def test_estimators_merge_and_predict(classes):
    fitted, X, y = classes
    other = again(fitted)
    other.model_ = fitted.model_.emptied()
    other.partial_fit(X[200:], y[200:])
    both = sleek.merge([fitted, other])
    assert isinstance(both, LowRankLSSVC)
    assert_same_model(both.model_, batch(fitted, X, y))
    assert fitted.moments_.weight == 200.0
    assert both.predict_proba(X[:5]).shape == (5, 2)


def test_fixed_units_make_models_that_merge():
    X, y = make_ripley(600, random_state=0)
    still = sleek.VariableProjection(pull=1e-3, max_iter=0)
    settings = {"trainer": still, "init": X[:5], "standardize": False, "shape": 2.0, "C": 10.0}
    sites = [LowRankLSSVC(basis="gaussian_rbf", **settings).fit(X[i::3], y[i::3]) for i in range(3)]
    assert_same_model(sleek.merge(sites).model_, batch(sites[0], X, y), tol=1e-11)


def test_what_cannot_be_merged(classes, numbers):
    fitted, X, y = classes
    model = fitted.model_
    refit = LowRankLSSVC(6, trainer=trainer, **FIXED).fit(X[100:400], y[100:400]).model_
    with pytest.raises(ValueError, match="Models 0 and 1 cannot be merged: they have different units"):
        sleek.merge([model, refit])
    with pytest.raises(ValueError, match="different units"):
        sleek.merge([model, numbers[0].model_])
    with pytest.raises(ValueError, match="would count twice"):
        sleek.merge([model, model.partial_fit(X[200:], y[200:])])
    labels = np.array(["no", "yes"])[y]
    still = {"trainer": sleek.VariableProjection(pull=1e-3, max_iter=0), "init": X[:5], "standardize": False}
    base = LowRankLSSVC(basis="gaussian_rbf", shape=2.0, C=10.0, loss="squared_error", **still)
    one = clone(base).fit(X, y)
    for other, match in (
        (clone(base).fit(X, labels), "coded differently"),
        (clone(base).set_params(C=3.0).fit(X, y), "different penalties"),
        (clone(base).set_params(class_weight={0: 2.0, 1: 1.0}).fit(X, y), "different weights"),
        (clone(base).fit(pd.DataFrame(X, columns=["a", "b"]), y), "different columns"),
    ):
        with pytest.raises(ValueError, match=match):
            sleek.merge([one, other])
    with pytest.raises(ValueError, match="at least one model"):
        sleek.merge([])
    with pytest.raises(TypeError, match="got KernelModel, LowRankLSSVC"):
        sleek.merge([fitted, model])
    with pytest.raises(ValueError, match="save it with moments=True"):
        sleek.merge([loads(dumps(model))])


# -- saved --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_model_that_is_read_back_goes_on_to_the_bit(request, kind, tmp_path):
    fitted, X, y = request.getfixturevalue(kind)
    fitted.model_.save(tmp_path / "m.json", moments=True)
    read = sleek.load(tmp_path / "m.json")
    one, two = (model.partial_fit(X[200:], y[200:]) for model in (fitted.model_, read))
    assert dumps(one, moments=True) == dumps(two, moments=True)
    np.testing.assert_array_equal(
        read.forget(X[:20], y[:20]).theta, fitted.model_.forget(X[:20], y[:20]).theta
    )
    assert dumps(read) == dumps(fitted.model_)  # without moments as before


def test_a_file_without_moments_says_so(classes):
    fitted, X, y = classes
    read = loads(dumps(fitted.model_))
    with pytest.raises(ValueError, match=r"no sums over rows with it: save it with moments=True"):
        read.partial_fit(X, y)
    assert_same_model(read.emptied().partial_fit(X, y), batch(fitted, X, y))


def test_the_size_of_a_file_is_as_stated(classes):
    fitted, X, y = classes
    model = fitted.model_.partial_fit(X[200:], y[200:])
    more = len(dumps(model, moments=True)) - len(dumps(model))
    assert 12 * 8**2 < more < 30 * 8**2 + 600


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m: m.update(n_rows=-1), "n_rows"),
        (lambda m: m.update(n_rows=0), "must have weight"),
        (lambda m: m.update(observation=0), "`moments.observation` must be positive"),
        (lambda m: m.update(class_weights=[1.0]), "`moments.class_weights` must have 2 numbers"),
        (lambda m: m["sums"]["high"].pop(), "triangle"),
        (lambda m: m["sums"]["origin"].pop(), "origin"),
        (lambda m: m["sums"]["high"][1].__setitem__(1, -1.0), "negative"),
        (lambda m: m["drift"].update(limit=0), "`moments.drift.limit` must be positive"),
        (lambda m: m["drift"].update(stakes=[1.0]), "`moments.drift.stakes` must have 5 numbers"),
        (lambda m: m.update(more=1), "unknown key"),
    ],
    ids=[
        "count",
        "weight",
        "observation",
        "classes",
        "triangle",
        "origin",
        "negative",
        "limit",
        "stakes",
        "key",
    ],
)
def test_moments_of_strangers_are_checked(classes, change, match):
    document = json.loads(dumps(classes[0].model_, moments=True))
    change(document["moments"])
    with pytest.raises(sleek.ModelFileError, match=match):
        loads(json.dumps(document).encode())


# -- how sure -----------------------------------------------------------------------------------------------


def test_intervals_go_on_with_the_leverage_of_the_rows_there_are():
    X, y = wave(60)
    more, truth = wave(3000, seed=1)
    fitted = LowRankLSSVR(12, trainer=trainer, **FIXED).fit(X, y)
    assert fitted.model_.calibration.leverage is not None
    h = fitted.model_.calibration.leverage.at(fitted.model_.features(more)).mean()
    updated = again(fitted).partial_fit(more[:40], truth[:40]).model_
    assert updated.calibration.leverage.at(updated.features(more)).mean() < h
    many = again(fitted).partial_fit(more, truth).model_
    assert many.calibration.leverage is None
    assert many.calibration.deviations.tolist() == fitted.model_.calibration.deviations.tolist()
    back = many.forget(more, truth)
    np.testing.assert_allclose(
        back.calibration.leverage.factor, fitted.model_.calibration.leverage.factor, rtol=1e-6, atol=1e-9
    )
    ends = many.predict_interval(more)
    assert 0.8 < ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() <= 1.0


def test_three_sites_without_pooled_rows():
    federated = importlib.import_module("benchmarks.federated")
    make, sites, test = federated.problems(60)["Friedman 1, RMSE, by a feature"]
    found = federated.compare(make, sites, test, rounds=[2])
    together, alone = found["A's units, everyone's sums"], found["site A alone"]
    assert found["and 2 rounds of units"] < together < alone
    assert found["2 rounds: exchanges"] >= 4  # for every evaluation the sums, then the gradient
