"""Models of log-odds, counts and amounts that go on, against refits of their weights on all rows."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import sleek
from sleek import ClassOutputs, LowRankLSSVC, LowRankLSSVR
from sleek.bases.expansion import Expansion
from sleek.closed_form import touching
from sleek.closed_form.moments import Moments
from sleek.closed_form.running_sums import RunningSums
from sleek.closed_form.solve import Solution, solve
from sleek.closed_form.touching import Touching
from sleek.datasets import make_ripley
from sleek.model.kernel_model import KernelModel
from sleek.model.saving import dumps, loads
from sleek.outputs.loss import LOGISTIC, SQUARED
from sleek.outputs.number_losses import GammaLoss, HuberLoss, PoissonLoss, TweedieLoss
from sleek.outputs.numbers import NumbersBy

NUMBERS = {
    "poisson": PoissonLoss(),
    "gamma": GammaLoss(),
    "tweedie": TweedieLoss(power=1.4),
    "huber": HuberLoss(),
}
KINDS = ("two classes", "four classes", *NUMBERS)


def rows(kind, n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    score = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
    mean = np.exp(0.7 * score)
    made = {
        "two classes": lambda: (score + rng.logistic(scale=0.5, size=n) > 0).astype(int),
        "four classes": lambda: np.digitize(score + rng.logistic(scale=0.3, size=n), [-0.8, 0.0, 0.8]),
        "poisson": lambda: rng.poisson(mean).astype(float),
        "gamma": lambda: rng.gamma(2.0, 0.5 * mean) + 1e-3,
        "tweedie": lambda: np.where(rng.random(n) < 0.3, 0.0, rng.gamma(2.0, 0.5 * mean)),
        "huber": lambda: score + 0.3 * rng.standard_t(2.0, n),
    }
    return X, made[kind]()


def empty(kind, y):
    """Five bells and no row."""
    rng = np.random.default_rng(1)
    basis = sleek.GaussianRBF()
    expansion = Expansion.of(basis, basis.start(rng.normal(size=(5, 2)), 0.5, rng))
    if kind in NUMBERS:
        by = NumbersBy(NUMBERS[kind])
        outputs = by.learn(by.survey(y[:, None], np.ones(len(y))), flat=True).refinement()
    else:
        outputs = ClassOutputs(np.unique(y), loss=LOGISTIC)
    k = outputs.n_outputs
    return KernelModel(expansion, np.zeros((5, k)), np.zeros(k), 10.0, outputs).emptied()


def encoded(model, y):
    return model.outputs.encode(model.outputs.read_targets(y, len(y)))


def refit(model, X, y, s=None):
    """The weights of least loss for the model's units, by a general minimiser; in the user's units."""
    Phi, T, loss = model.features(X), encoded(model, y), model.outputs.loss
    s, (m, k) = np.ones(len(X)) if s is None else s, model.theta.shape

    def objective(v):
        theta, b = v[: m * k].reshape(m, k), v[m * k :]
        values, slopes = loss.values_and_slopes(T, Phi @ theta + b)
        slopes = s[:, None] * slopes
        by_theta = Phi.T @ slopes + theta / model.C
        value = s @ values + 0.5 * np.sum(theta**2) / model.C
        return value, np.concatenate([by_theta.ravel(), slopes.sum(axis=0)])

    found = minimize(
        objective, np.zeros(m * k + k), jac=True, method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 30},
    ).x  # fmt: skip
    return model.outputs.decode(found[: m * k].reshape(m, k), found[m * k :])


def outputs_of(model, X, theta_and_b):
    """Outputs, but for what is common to all classes, which says nothing."""
    theta, b = theta_and_b
    Y = model.features(X) @ theta + b
    return Y - Y.mean(axis=1, keepdims=True) if Y.shape[1] > 1 else Y


def apart(model, X, one, other):
    """The root mean square difference of outputs."""
    return float(np.sqrt(np.mean((outputs_of(model, X, one) - outputs_of(model, X, other)) ** 2)))


def of(model):
    return model.theta, model.b


# -- the quadratic -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_curvatures_are_second_differences(kind):
    _, y = rows(kind, 300)
    model = empty(kind, y)
    loss, k = model.outputs.loss, model.outputs.n_outputs
    Y = np.random.default_rng(2).normal(size=(300, k))
    T = encoded(model, y)
    found, e = loss.curvatures(T, Y), 1e-4
    if kind == "huber":
        r = np.abs(loss.z_of(T) - loss.mean - loss.scale * Y)[:, 0]
        away = np.abs(r - loss.delta) > 0.01  # from the kink of the slope
        T, Y, found = T[away], Y[away], found[away]
    for i in range(k):
        step = e * np.eye(k)[i]
        second = (loss.slopes(T, Y + step) - loss.slopes(T, Y - step)) / (2 * e)
        np.testing.assert_allclose(found[:, i, :], second, atol=2e-5)
    assert (np.linalg.eigvalsh(found)[:, 0] > 0).all()


def test_the_quadratic_of_squared_errors_is_their_loss():
    rng = np.random.default_rng(0)
    Phi, T, s = 1.0 - 0.1 * rng.random((60, 4)), rng.normal(size=(60, 3)), rng.uniform(0.5, 2.0, 60)
    zero = Touching.zero(Phi.mean(axis=0), 3)
    for at in (np.zeros((60, 3)), rng.normal(size=(60, 3))):  # wherever it is looked at
        h = np.broadcast_to(np.eye(3), (60, 3, 3))
        found = zero.like(Phi, at, SQUARED.slopes(T, at), SQUARED.curvatures(T, at), s)
        assert (h == SQUARED.curvatures(T, at)).all()
        expected = solve(Moments.of(Phi, T, s), 7.0)
        np.testing.assert_allclose(found.solve(7.0).theta, expected.theta, rtol=1e-8)
        np.testing.assert_allclose(found.solve(7.0).b, expected.b, rtol=1e-8)
        y = Phi @ expected.theta + expected.b
        constant = 0.5 * float(s @ (T**2).sum(axis=1))
        assert found.value(expected) + constant == pytest.approx(s @ SQUARED.values(T, y))


def test_sums_move_to_another_origin_and_solve_the_same():
    rng = np.random.default_rng(0)
    Phi, Y, g, s = rng.random((50, 3)), *rng.normal(size=(2, 50, 2)), rng.uniform(0.5, 2.0, 50)
    h = np.broadcast_to(np.array([[2.0, -0.5], [-0.5, 1.0]]), (50, 2, 2))
    here, there = (Touching.zero(o, 2).like(Phi, Y, g, h, s) for o in (np.zeros(3), rng.normal(size=3)))
    moved = here.move(there.origin)
    for a, b in zip(moved.products, there.products, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    for one, other in zip(here.solve(3.0), there.solve(3.0), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


# -- rows come in --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_rows_have_the_weights_of_a_refit(kind):
    X, y = rows(kind, 400)
    s = np.random.default_rng(3).uniform(0.2, 3.0, 400)
    model = empty(kind, y)
    found = model.partial_fit(X, y, s)
    assert apart(model, X, of(found), refit(model, X, y, s)) < 2e-5
    assert found.memory.n_rows == 400
    assert found.memory.sums.weight == pytest.approx(s.sum())


# What is left of the way from the old weights to those of a refit on all rows, as measured, and a half more.
LEFT = {
    "two classes": 0.045,
    "four classes": 0.11,
    "poisson": 0.035,
    "gamma": 0.05,
    "tweedie": 0.02,
    "huber": 0.03,
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_is_close_to_a_refit_on_all_rows(kind):
    X, y = rows(kind)
    base = empty(kind, y).partial_fit(X[:700], y[:700])
    for more in (7, 70, 700):
        whole = slice(0, 700 + more)
        found = base.partial_fit(X[700 : 700 + more], y[700 : 700 + more])
        expected = refit(base, X[whole], y[whole])
        way = apart(base, X, of(base), expected)
        assert apart(base, X, of(found), expected) < LEFT[kind] * way, more
    stream = base
    for start in range(700, 1400, 20):
        stream = stream.partial_fit(X[start : start + 20], y[start : start + 20])
    assert apart(base, X, of(stream), expected) < LEFT[kind] * way


def test_weights_are_repeated_rows():
    X, y = rows("four classes", 500)
    base = empty("four classes", y).partial_fit(X[:300], y[:300])
    s = np.array([0.0, 1.0, 2.0, 3.0] * 50)
    weighted = base.partial_fit(X[300:], y[300:], s)
    often = np.repeat(np.arange(300, 500), s.astype(int))
    repeated = base.partial_fit(X[often], y[often])
    np.testing.assert_allclose(weighted.theta, repeated.theta, atol=1e-8)
    assert weighted.memory.n_rows == 450


def test_rows_fade_by_their_age():
    X, y = rows("two classes", 400)
    model = empty("two classes", y)
    found = model.partial_fit(X, y, forgetting_factor=0.99)
    ages = 0.99 ** np.arange(399, -1, -1.0)
    assert apart(model, X, of(found), refit(model, X, y, ages)) < 2e-5
    followed = model.partial_fit(X, y)
    for start in range(0, 400, 40):  # the classes change places
        part = slice(start, start + 40)
        followed = followed.partial_fit(X[part], 1 - y[part], forgetting_factor=0.98)
    fresh = model.partial_fit(X, 1 - y)
    right = [np.mean(one.predict(X) == 1 - y) for one in (followed, fresh)]
    assert right[0] > right[1] - 0.03
    with pytest.raises(ValueError, match="have faded"):
        followed.forget(X[:5], y[:5])


def test_outputs_that_do_not_fit_into_one_matrix_have_their_own(monkeypatch):
    X, y = rows("four classes")
    whole = empty("four classes", y).partial_fit(X[:700], y[:700])
    assert len(whole.memory.touching.high) == 1
    monkeypatch.setattr(touching, "TOGETHER", 10)
    base = empty("four classes", y).partial_fit(X[:700], y[:700])
    assert [Z.shape for Z in base.memory.touching.high] == [(7, 7)] * 4
    assert apart(base, X, of(base), of(whole)) < 5e-3
    found, expected = base.partial_fit(X[700:], y[700:]), refit(base, X, y)
    assert apart(base, X, of(found), expected) < 0.4 * apart(base, X, of(base), expected)
    again = loads(dumps(found, moments=True))
    np.testing.assert_array_equal(again.forget(X[:9], y[:9]).theta, found.forget(X[:9], y[:9]).theta)


@pytest.mark.parametrize(("kind", "target"), [("poisson", -1.0), ("gamma", 0.0)])
def test_targets_must_be_such_as_the_loss_is_for(kind, target):
    X, y = rows(kind, 50)
    with pytest.raises(ValueError, match=f"loss='{kind}' needs targets"):
        empty(kind, y).partial_fit(X, y).partial_fit(X[:1], [target])


# -- rows leave ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_have_just_come_leave_no_trace(kind):
    X, y = rows(kind, 900)
    base = empty(kind, y).partial_fit(X[:600], y[:600])
    back = base.partial_fit(X[600:], y[600:]).forget(X[600:], y[600:])
    assert apart(base, X, of(back), of(base)) < 1e-6
    assert back.memory.n_rows == 600


@pytest.mark.parametrize("kind", KINDS)
def test_forgetting_is_a_newton_step_on_the_rows_that_are_left(kind):
    X, y = rows(kind, 900)
    base = empty(kind, y).partial_fit(X, y)
    found, (theta, b) = base.forget(X[:90], y[:90]), base.memory.solution
    Phi, T, loss = base.features(X[90:]), encoded(base, y[90:]), base.outputs.loss
    (m, k), Y = theta.shape, Phi @ theta + b
    one = np.column_stack([Phi, np.ones(len(Phi))])
    ridge = np.tile(np.append(np.full(m, 1.0 / base.C), 0.0), k)
    H = np.einsum("ni,nkl,nj->kilj", one, loss.curvatures(T, Y), one).reshape(len(ridge), -1)
    at = np.vstack([theta, b]).T.ravel()
    step = np.linalg.solve(H + np.diag(ridge), (loss.slopes(T, Y).T @ one).ravel() + ridge * at)
    both = (at - step).reshape(k, m + 1).T
    expected = base.outputs.decode(both[:-1], both[-1])
    assert apart(base, X, of(found), expected) < 1e-5
    left = refit(base, X[90:], y[90:])
    assert apart(base, X, of(found), left) < 0.2 * apart(base, X, of(base), left)


def test_a_step_that_no_row_can_check_is_not_larger_than_quadratics_reach():
    X, y = rows("two classes", 600)
    order = np.argsort(X[:, 0], kind="stable")
    X, y = X[order], y[order]
    base = empty("two classes", y)
    base = replace(base, C=1e4, memory=replace(base.memory, C=1e4)).partial_fit(X, y)
    found = base.forget(X[:450], y[:450])  # what is left lies in one corner
    move = outputs_of(base, X[450:], of(found)) - outputs_of(base, X[450:], of(base))
    assert 0.1 < np.sqrt(np.mean(move**2)) <= 1.0
    np.testing.assert_allclose(found.memory.solution.theta, found.theta)


def test_more_curvature_than_there_is_can_leave():
    """A row came in with other weights than those it leaves with."""
    rng = np.random.default_rng(0)
    Phi, Y, g, s = rng.random((40, 3)), rng.normal(size=(40, 1)), rng.normal(size=(40, 1)), np.ones(40)
    zero = Touching.zero(np.zeros(3), 1)
    whole = zero.like(Phi, Y, g, np.full((40, 1, 1), 0.2), s)
    gone = zero.like(Phi[:30], Y[:30], g[:30], np.full((30, 1, 1), 0.4), s[:30])
    at = whole.solve(5.0)
    sums = RunningSums.of(Phi[30:], Y[30:], np.zeros(4), s[30:])
    left = whole.without(gone, at, sums, np.inf, 5.0, None)
    Z, c = left.products[0], np.append(at.b, at.theta[:, 0])
    assert np.linalg.eigvalsh(Z[:-1, :-1])[0] > 0
    raw = whole.products[0] - gone.products[0]
    np.testing.assert_allclose(Z[:-1, :-1] @ c - Z[:-1, -1], raw[:-1, :-1] @ c - raw[:-1, -1], atol=1e-9)
    assert np.isfinite(left.solve(5.0).theta).all()


def test_rows_that_cannot_have_come_in_are_refused():
    X, y = rows("two classes", 300)
    base = empty("two classes", y).partial_fit(X, y)
    with pytest.raises(ValueError, match="something must be left"):
        base.forget(X, y)
    with pytest.raises(ValueError, match="cannot be forgotten"):
        base.forget(X[:200] + 3.0, y[:200])


# -- places, files, estimators -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["two classes", "four classes", "poisson"])
def test_places_merge_in_any_order_close_to_all_rows(kind):
    X, y = rows(kind, 1200)
    units = empty(kind, y)
    parts = np.split(np.arange(1200), [500, 800])
    places = [units.partial_fit(X[part], y[part]) for part in parts]
    found = [sleek.merge([places[i] for i in order]) for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0))]
    assert len({dumps(one, moments=True) for one in found}) == 1
    expected = refit(units, X, y)
    alone = [apart(units, X, of(place), expected) for place in places]
    assert apart(units, X, of(found[0]), expected) < 0.35 * min(alone)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_is_read_back_goes_on_to_the_bit(kind):
    X, y = rows(kind, 300)
    model = empty(kind, y).partial_fit(X[:200], y[:200])
    again = loads(dumps(model, moments=True))
    one, two = (m.partial_fit(X[200:], y[200:]).forget(X[:20], y[:20]) for m in (model, again))
    assert dumps(one, moments=True) == dumps(two, moments=True)
    with pytest.raises(ValueError, match="has no sums over rows"):
        loads(dumps(model)).partial_fit(X, y)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda block: block.pop("touching"), "must have `touching`"),
        (lambda block: block["touching"]["high"][0][1].__setitem__(1, -1.0), "negative curvatures"),
        (lambda block: block["touching"]["high"][0].pop(), "triangle of 7 rows"),
        (lambda block: block["touching"]["low"].append([[0.0]]), "triangle of 7 rows"),
        (lambda block: block["touching"]["high"][0][0].__setitem__(0, 0.0), "curvature if there are rows"),
        (lambda block: block["touching"].update(more=1), "more"),
        (lambda block: block["touching"]["origin"].pop(), "origin"),
    ],
    ids=["none", "negative", "short", "blocks", "empty", "key", "origin"],
)
def test_files_of_strangers_are_checked(change, match):
    X, y = rows("two classes", 60)
    document = json.loads(dumps(empty("two classes", y).partial_fit(X, y), moments=True))
    change(document["moments"])
    with pytest.raises(ValueError, match=match):
        loads(json.dumps(document).encode())


def test_squared_errors_have_no_other_quadratic():
    X, y = rows("two classes", 60)
    log_odds = empty("two classes", y)
    squared = replace(log_odds, outputs=ClassOutputs(np.unique(y)), memory=None).emptied().partial_fit(X, y)
    block = json.loads(dumps(log_odds.partial_fit(X, y), moments=True))["moments"]["touching"]
    document = json.loads(dumps(squared, moments=True))
    assert "touching" not in document["moments"]
    document["moments"]["touching"] = block
    with pytest.raises(ValueError, match="must not have `touching`"):
        loads(json.dumps(document).encode())


@pytest.fixture(scope="module")
def fitted():
    X, y = make_ripley(1400, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LowRankLSSVC(6, basis="gaussian_rbf", loss="log_loss", random_state=0).fit(X[:700], y[:700])
    return model.model_, X, y


def test_a_fit_stays_what_it_is_until_rows_come(fitted):
    model, _, _ = fitted
    theta, b = model.outputs.decode(*model.memory.solution)
    np.testing.assert_allclose(theta, model.theta, rtol=1e-8)
    np.testing.assert_allclose(b, model.b, rtol=1e-8)


def test_an_estimator_goes_on_and_says_how(capsys):
    X, y = make_ripley(1400, random_state=0)
    fixed = {"basis": "gaussian_rbf", "C": 10.0, "shape": 0.5, "random_state": 0}
    model = LowRankLSSVC(4, loss="log_loss", verbose=1, **fixed)
    model.partial_fit(X[:700], y[:700])  # the loss that is named
    assert model.model_.outputs.loss.name == "log_loss"
    assert "partial_fit, forget and merge: close: new rows count" in capsys.readouterr().out
    before = model.model_
    model.partial_fit(X[700:], y[700:])
    assert model.model_.memory.n_rows == 1400
    assert model.drift_.n_rows == 700
    assert not model.drift_.alarm
    expected = refit(before, X, y)
    assert apart(before, X, of(model.model_), expected) < 0.5 * apart(before, X, of(before), expected)
    assert not hasattr(model, "moments_")
    with pytest.raises(ValueError, match="Only models of squared error are edited"):
        model.model_.edited(remove=[0])
    model.partial_fit(X[:300], 1 - y[:300])
    assert model.drift_.alarm


def test_rows_of_files_and_of_dask_are_those_of_arrays(fitted, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    model, X, y = fitted
    frame = pd.DataFrame(X[700:], columns=["x0", "x1"]).assign(y=y[700:])
    frame[:300].to_parquet(tmp_path / "a.parquet")
    frame[300:].to_parquet(tmp_path / "b.parquet")
    estimator = LowRankLSSVC(loss="log_loss")
    estimator.model_, estimator.n_features_in_, estimator.classes_ = model, 2, np.array([0, 1])
    expected = model.partial_fit(X[700:], y[700:])
    parts = sleek.Files(tmp_path / "*.parquet", target="y")
    lazy = sleek.DaskRows(dd.from_pandas(frame, npartitions=3), target="y")
    for rows_of_it in (parts, lazy):
        estimator.model_ = model
        found = estimator.partial_fit(rows_of_it).model_
        np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-8)
        np.testing.assert_allclose(found.memory.sums.products, expected.memory.sums.products, rtol=1e-12)


def test_weights_of_a_monotone_model_keep_their_signs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = rng.poisson(np.exp(0.5 * X[:, 0] + 0.3 * np.sin(X[:, 1]))).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LowRankLSSVR(
            3, basis="sigmoidal", C=1.0, shape=1.0, loss="poisson", monotonic_cst=[1, 0], random_state=0
        ).fit(X[:300], y[:300])
    signs = model.model_.weight_signs()
    model.partial_fit(-X[300:], y[300:])  # falls where it must not
    fresh = model.model_
    assert ((fresh.theta[:, 0] * signs)[signs != 0] >= 0).all()
    grid = np.column_stack([np.linspace(-2.0, 2.0, 9), np.zeros(9)])
    assert (np.diff(fresh.predict(grid)) >= -1e-12).all()


def test_a_quadratic_without_a_row_solves_to_nothing():
    _, y = rows("two classes", 50)
    model = empty("two classes", y)
    assert not model.theta.any()
    solution = model.memory.solution
    assert isinstance(solution, Solution)
    assert not solution.b.any()
