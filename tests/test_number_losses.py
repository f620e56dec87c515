"""Losses of numbers: formulas against scikit-learn's metrics and differences, and fits by every door."""

import json

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_sources import number_source, sample_of
from scipy.optimize import minimize
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import (
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_tweedie_deviance,
)
from typer.testing import CliRunner

import sleek
from sleek import DaskRows, Files, Linear, LowRankLSSVC, LowRankLSSVR
from sleek.bases.expansion import Expansion
from sleek.cli.commands import app
from sleek.closed_form.least_squares import fit_weights
from sleek.closed_form.solve import Penalty, Solution
from sleek.fit.pilot import drawn_in
from sleek.model.saving import dumps, loads
from sleek.outputs.number_losses import (
    FAR,
    FAR_ERROR,
    AbsoluteLoss,
    GammaLoss,
    HuberLoss,
    PoissonLoss,
    QuantileLoss,
    Sketch,
    TweedieLoss,
)
from sleek.outputs.numbers import NumberOutputs, NumbersBy
from sleek.rows.arrays import array_source

LOSSES = [
    PoissonLoss(),
    GammaLoss(),
    TweedieLoss(power=1.5),
    TweedieLoss(power=1.9),
    TweedieLoss(power=3.0),
    AbsoluteLoss(),
    QuantileLoss(quantile=0.9),
    HuberLoss(delta=0.7),
]
NAMES = ["poisson", "gamma", "tweedie", "absolute_error", "quantile", "huber"]


def targets_for(loss, n=200, seed=0):
    y = np.random.default_rng(seed).gamma(2.0, 3.0, size=(n, 1))
    return np.round(y) if isinstance(loss, PoissonLoss) else y


def learnt(loss, y):
    return NumbersBy(loss).learn(loss.survey(y, np.ones(len(y))), True).refinement()


def metric(loss, y, m):
    match loss:
        case PoissonLoss():
            return mean_poisson_deviance(y, m)
        case GammaLoss():
            return mean_gamma_deviance(y, m)
        case TweedieLoss():
            return mean_tweedie_deviance(y, m, power=loss.power)
        case AbsoluteLoss():
            return mean_absolute_error(y, m)
        case QuantileLoss():
            return mean_pinball_loss(y, m, alpha=loss.quantile)
        case HuberLoss():
            r, delta = np.abs(y - m), loss.delta * loss.unit_
            return np.mean([a * a / 2 if a <= delta else delta * (a - delta / 2) for a in r.tolist()])


# -- formulas ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_errors_are_those_of_scikit_learn(loss):
    y = targets_for(loss)
    outputs = learnt(loss, y)
    T, Y = outputs.encode(y), np.random.default_rng(1).normal(size=(200, 1))
    theta, b = outputs.decode(np.eye(1), np.zeros(1))
    predicted = outputs.answer(Y @ theta + b)
    found = outputs.row_errors(T, Y).mean()
    assert found == pytest.approx(metric(outputs.loss, y[:, 0], predicted))
    np.testing.assert_allclose(outputs.left_out(T, Y)[:, 0], y[:, 0] - predicted, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_slopes_are_differences_and_the_quadratic_touches(loss, seed):
    y = targets_for(loss, 40, seed)
    outputs = learnt(loss, y)
    loss, T = outputs.loss, outputs.encode(y)
    Y, eps = 0.7 * np.random.default_rng(seed).normal(size=T.shape), 1e-6
    difference = (loss.values(T, Y + eps) - loss.values(T, Y - eps)) / (2 * eps)
    np.testing.assert_allclose(loss.slopes(T, Y)[:, 0], difference, rtol=1e-4, atol=1e-4)
    values, slopes = loss.values_and_slopes(T, Y)
    np.testing.assert_array_equal(values, loss.values(T, Y))
    targets, w = loss.working(T, Y)
    assert (w > 0).all()
    np.testing.assert_allclose(w[:, None] * (Y - targets), slopes, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_coding_is_read_back(loss):
    y = np.concatenate([targets_for(loss), [[1000.0], [1e-3 if not isinstance(loss, PoissonLoss) else 0.0]]])
    outputs = learnt(loss, y)
    np.testing.assert_allclose(outputs.loss.targets_of(outputs.encode(y)), y, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_best_constant_is_the_mean_or_the_quantile(loss):
    y = targets_for(loss, 1001)[:, 0]
    outputs = learnt(loss, y[:, None])
    best = outputs.loss.best_constant(y, np.ones(1001))
    around = best * np.array([0.97, 1.0, 1.03])
    errors = [outputs.loss.deviance(y, np.full(1001, m)).mean() for m in around]
    assert min(errors) == errors[1] or errors[1] == pytest.approx(min(errors))
    if isinstance(loss, TweedieLoss):
        assert best == pytest.approx(y.mean())
    elif isinstance(loss, QuantileLoss):
        assert best == np.sort(y)[int(np.ceil(loss.quantile * 1001)) - 1]
    null = outputs.null_errors(outputs.encode(y[:, None]), np.ones(1001))
    assert null[0] == pytest.approx(errors[1])


def test_a_sketch_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    y = rng.normal(size=20_000)
    whole = Sketch.of(y, np.ones(20_000))
    parts = Sketch.of(y[15_000:], np.ones(5000)) + Sketch.of(y[:15_000], np.ones(15_000))
    np.testing.assert_array_equal(np.sort(whole.values), np.sort(parts.values))
    assert whole.quantile(0.5) == pytest.approx(0.0, abs=0.06)
    assert whole.quantile(0.75) - whole.quantile(0.25) == pytest.approx(1.349, abs=0.1)


@pytest.mark.parametrize("loss", [AbsoluteLoss(), QuantileLoss(quantile=0.9), HuberLoss()], ids=repr)
def test_the_quadratic_is_nowhere_below_a_loss_that_resists(loss):
    """So every round of least squares descends."""
    y = targets_for(loss, 40)
    loss = learnt(loss, y).loss.after(np.full((40, 1), 0.2), np.ones(40))
    T = loss.encode_targets(y)
    Y = 0.7 * np.random.default_rng(0).normal(size=T.shape)
    targets, w = loss.working(T, Y)
    touching = 0.5 * w * ((targets - Y) ** 2)[:, 0]
    for other in np.linspace(-4.0, 4.0, 101):
        elsewhere = np.full_like(T, other)
        above = loss.values(T, Y) + 0.5 * w * ((targets - elsewhere) ** 2)[:, 0] - touching
        assert (loss.values(T, elsewhere) <= above + 1e-9).all()


@pytest.mark.parametrize(
    "loss", [AbsoluteLoss(), QuantileLoss(quantile=0.1), HuberLoss(), PoissonLoss()], ids=repr
)
def test_rounds_of_least_squares_come_close_to_the_least_loss(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.round(np.exp(0.3 * X[:, :1] + rng.normal(scale=0.3, size=(300, 1))) * 3.0)
    outputs = learnt(loss, y)
    source = array_source(X, y, outputs=outputs)
    expansion = Expansion.of(Linear(), Linear().start(np.zeros((2, 2)), 1.0, rng))
    found = fit_weights(source, expansion, Solution(np.zeros((2, 1)), np.zeros(1)), Penalty(10.0, 0.0))
    T = outputs.encode(y)

    def objective(v):
        return outputs.loss.values(T, X @ v[:2, None] + v[2]).sum() + 0.05 * np.sum(v[:2] ** 2)

    best = minimize(objective, np.zeros(3)).fun
    at = objective(np.append(found.theta[:, 0], found.b))
    assert at < 1.05 * best < 0.9 * objective(np.zeros(3))


def test_models_are_compared_by_errors_that_are_not_gross():
    y = np.random.default_rng(0).normal(size=(501, 1))
    y[0] = 1e6
    outputs = NumbersBy(AbsoluteLoss()).learn(AbsoluteLoss().survey(y, np.ones(501)), True)
    T, Y = outputs.encode(y), np.zeros((501, 1))
    assert outputs.losses(T, Y).max() == FAR_ERROR
    final = outputs.refinement(T - Y, np.ones(501))
    far = FAR * np.median(np.abs(T)) * 2.0 / 1.349 * final.loss.unit_
    predicted = final.loss.predictions(final.loss.raw(Y))
    expected = np.minimum(np.abs(y - predicted), far)[:, 0]
    np.testing.assert_allclose(final.losses(T, Y), expected)
    assert final.row_errors(T, Y).max() == pytest.approx(1e6, rel=1e-5)  # what is reported leaves out nothing


def test_targets_are_drawn_in_towards_a_guess_that_gross_errors_do_not_move():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    truth = np.sign(X[:, 0]) + X[:, 1]
    y = truth + 0.1 * rng.normal(size=600)
    wrong = rng.permutation(600)[:60]
    clean, y[wrong] = y.copy(), 5.0 * rng.normal(size=60)
    found = drawn_in(sample_of(number_source(X, y[:, None])))
    scale, mean = found.outputs.scale[0], found.outputs.mean[0]
    cleaned = found.rows.T[:, 0] * scale + mean
    assert np.mean((cleaned - clean) ** 2) < 0.1 * np.mean((y - clean) ** 2)
    right = np.setdiff1d(np.arange(600), wrong)
    assert np.mean(np.abs(cleaned - y)[right] < 1e-9) > 0.9  # others stay what they are


# -- fits --------------------------------------------------------------------------------------------------


def data(kind, n, seed=0):
    """Counts, amounts, or numbers, whose mean is a smooth function."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    f = 0.5 * X[:, 0] + np.sin(1.5 * X[:, 1])
    if kind == "poisson":
        return X, rng.poisson(np.exp(f)).astype(float), np.exp(f)
    if kind == "gamma":
        return X, rng.gamma(2.0, np.exp(f) / 2.0), np.exp(f)
    if kind == "tweedie":
        return X, rng.gamma(2.0, np.exp(f) / 2.0) * (rng.random(n) < 0.7), 0.7 * np.exp(f)
    return X, f + 0.3 * rng.normal(size=n), f


def small(loss, **options):
    trainer = sleek.VariableProjection(pull=0.01, max_iter=10, tol=0.5)
    fixed = {"basis": "gaussian_rbf", "C": 10.0, "shape": 0.3, "trainer": trainer, "random_state": 0}
    return LowRankLSSVR(4, loss=loss, **fixed, **options)


@pytest.mark.parametrize(("loss", "slack"), [("poisson", 1.06), ("gamma", 1.1), ("tweedie", 1.1)])
def test_means_are_found_and_their_error_is_foretold(loss, slack):
    X, y, _ = data(loss, 1200)
    X_new, y_new, mean = data(loss, 20_000, 1)
    model = LowRankLSSVR(loss=loss, random_state=0).fit(X, y)
    made = model.model_.outputs.loss
    found, best = metric(made, y_new, model.predict(X_new)), metric(made, y_new, mean)
    assert found < slack * best
    assert model.expected_error_ == pytest.approx(found, rel=0.1)
    null = metric(made, y_new, np.full(len(y_new), y.mean()))
    assert model.expected_d2_ == pytest.approx(1.0 - found / null, abs=0.08)
    with pytest.raises(AttributeError, match="expected_d2_"):
        model.expected_r2_  # noqa: B018
    ends = model.predict_interval(X_new, 0.9)
    assert ends.min() >= 0.0
    assert np.mean((ends[:, 0] <= y_new) & (y_new <= ends[:, 1])) == pytest.approx(0.9, abs=0.035)
    assert model.predict(X_new).mean() == pytest.approx(y_new.mean(), rel=0.1)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_quantiles_lie_where_they_should(quantile):
    X, y, _ = data("normal", 1200)
    X_new, y_new, _ = data("normal", 20_000, 1)
    model = LowRankLSSVR(loss="quantile", quantile=quantile, random_state=0, effort="quick").fit(X, y)
    assert np.mean(y_new <= model.predict(X_new)) == pytest.approx(quantile, abs=0.05)
    found = mean_pinball_loss(y_new, model.predict(X_new), alpha=quantile)
    assert model.expected_error_ == pytest.approx(found, rel=0.12)


@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
def test_gross_errors_do_little_harm(loss):
    X_new, y_new, _ = data("normal", 10_000, 1)
    errors = {}
    for dirty in (False, True):
        found = []
        for seed in range(3):
            X, y, _ = data("normal", 1000, seed)
            if dirty:
                wrong = np.random.default_rng(seed).permutation(1000)[:50]
                y[wrong] += 30.0 * np.random.default_rng(seed + 9).normal(size=50)
            model = LowRankLSSVR(loss=loss, random_state=0, effort="quick").fit(X, y)
            found.append(np.median(np.abs(model.predict(X_new) - y_new)))
        errors[dirty] = np.mean(found)
    assert errors[True] < 1.05 * errors[False]  # squared errors: about 2


@pytest.mark.parametrize("loss", NAMES)
def test_constant_targets_and_noise_are_answered_by_a_constant(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.gamma(2.0, size=300)
    model = LowRankLSSVR(loss=loss, random_state=0, effort="quick").fit(X, y)
    best = model.model_.outputs.loss.best_constant(y, np.ones(300))
    assert np.median(model.predict(X)) == pytest.approx(best, rel=0.15)


def test_units_of_the_target_change_nothing():
    X, y, _ = data("gamma", 300)
    for loss in NAMES:
        one, other = (small(loss).fit(X, factor * y) for factor in (1.0, 1024.0))
        np.testing.assert_allclose(other.predict(X), 1024.0 * one.predict(X), rtol=1e-6)


def test_a_linear_poisson_model_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = rng.poisson(np.exp(0.3 + 0.5 * X[:, 0] - 0.4 * X[:, 1]))
    options = {"basis": "linear", "C": 1e6, "loss": "poisson", "max_samples": None}
    model = LowRankLSSVR(**options, random_state=0).fit(X, y)
    other = PoissonRegressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=0.02)


def test_exposure_is_a_weight_of_rates():
    """Claims in years: the rate weighted by the years has the same minimum as the count has."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    years = rng.uniform(0.1, 2.0, 2000)
    claims = rng.poisson(years * np.exp(-0.5 + 0.6 * X[:, 0]))
    options = {"basis": "linear", "C": 1e6, "loss": "poisson", "max_samples": None}
    model = LowRankLSSVR(**options, random_state=0).fit(X, claims / years, sample_weight=years)
    np.testing.assert_allclose(np.log(model.predict(X)), -0.5 + 0.6 * X[:, 0], atol=0.12)


@pytest.mark.parametrize(
    ("loss", "y", "words"),
    [
        ("poisson", [1.0, -2.0, 3.0, 1.0], "not negative, got -2"),
        ("gamma", [1.0, 0.0, 3.0, 1.0], "above 0, got 0"),
        ("tweedie", [1.0, -1.0, 3.0, 1.0], "not negative, got -1"),
        ("poisson", [0.0, 0.0, 0.0, 0.0], "some targets above 0"),
        ("huber", [[1.0, 2.0]] * 4, "is for one target, got 2"),
    ],
)
def test_targets_that_a_loss_is_not_for_are_refused(loss, y, words):
    with pytest.raises(ValueError, match=words):
        LowRankLSSVR(loss=loss).fit(np.arange(8.0).reshape(4, 2), y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "hinge"}, "`loss` must be one of"),
        ({"loss": "quantile", "quantile": 1.0}, "`quantile` must be between 0 and 1"),
        ({"loss": "tweedie", "power": 0.5}, "`power` must be from 1 to 3"),
        ({"loss": "poisson", "trainer": "alternating"}, "needs a trainer"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        LowRankLSSVR(**options).fit(np.arange(8.0).reshape(4, 2), [1.0, 2.0, 3.0, 5.0])


# -- by every door -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", NAMES)
@pytest.mark.parametrize("n", [300, 21_000])
def test_same_bits_by_every_door(tmp_path, loss, n):
    X, y, _ = data("gamma", n)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=777)
    reference = small(loss).fit(frame[list("abc")], y)
    rows = DaskRows(dd.from_pandas(frame, npartitions=3, sort=False), target="y")
    for source in (Files(tmp_path / "rows.parquet", target="y"), rows):
        found = small(loss).fit(source)
        np.testing.assert_array_equal(found.unit_weights_, reference.unit_weights_)
        assert found.expected_error_ == reference.expected_error_


@pytest.mark.parametrize("loss", NAMES)
def test_models_are_saved_and_read_and_go_on(tmp_path, loss):
    X, y, _ = data("gamma", 300)
    model = small(loss, warm_start=True).fit(X, y)
    again = loads(dumps(model.model_))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    assert again.outputs.loss.name == loss
    assert "loss" in str(again) or "error" in str(again)
    before = model.predict(X)
    assert np.corrcoef(model.fit(X, y).predict(X), before)[0, 1] > 0.99


def test_effects_of_counts_are_factors():
    X, y, _ = data("poisson", 300)
    model = small("poisson").fit(X, y).model_
    effects = model.effects()
    found = effects.contributions(X)
    factors = np.exp(np.concatenate([np.full((300, 1), found.mean), found.values[:, :, 0]], axis=1))
    np.testing.assert_allclose(np.prod(factors, axis=1), model.predict(X))
    assert "log y" in str(effects)
    cut = effects.truncated(1)
    assert cut.model.facts.expected.value > model.facts.expected.value
    loss = mean_poisson_deviance(model.predict(X), cut.model.predict(X))
    assert cut.model.facts.expected.value - model.facts.expected.value == pytest.approx(loss, rel=0.5)
    assert "mean poisson" in str(cut)


def test_old_names_of_losses_are_read():
    X, y, _ = data("normal", 200)
    model = LowRankLSSVC(3, basis="gaussian_rbf", loss="log_loss", random_state=0).fit(X, y > 0).model_
    text = dumps(model).decode()
    assert '"log_loss"' in text
    old = text.replace('"log_loss"', '"logistic"')
    again = loads(old.encode())
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.outputs.loss.name == "log_loss"


def test_outputs_of_a_file_that_are_wrong_are_refused():
    for block, words in (
        ({"name": "hinge", "center": 0.0, "unit": 1.0}, "name"),
        ({"name": "quantile", "center": 0.0, "unit": 1.0}, "quantile"),
        ({"name": "poisson", "center": 0.0, "unit": 0.0}, "unit"),
    ):
        with pytest.raises(ValueError, match=words):
            NumberOutputs.from_json({"flat": True, "mean": [0.0], "scale": [1.0], "loss": block}, 1)


def test_command_line_takes_a_loss_and_proposes_one_for_counts(tmp_path):
    X, y, _ = data("poisson", 400)
    table = pd.DataFrame(X, columns=list("abc")).assign(visits=y.astype(int))
    table.to_csv(tmp_path / "a.csv", index=False)
    path, model = str(tmp_path / "a.csv"), str(tmp_path / "model.json")

    def run(*options):
        result = CliRunner().invoke(app, [*options])
        assert result.exit_code == 0, result.stderr
        return result

    plain = run("fit", path, "-t", "visits", "--effort", "quick")
    assert "--loss poisson" in plain.stdout + plain.stderr
    found = run("fit", path, "-t", "visits", "--loss", "poisson", "--effort", "quick", "--json", "-o", model)
    expected = json.loads(found.stdout)["expected"]
    assert expected["loss"] == "poisson"
    assert 0.0 < expected["d2"] < 1.0
    assert "--loss poisson" not in found.stderr
    scores = json.loads(run("evaluate", model, path, "--json").stdout)
    predicted = sleek.load(model).predict(table[list("abc")])
    assert scores["deviance"] == pytest.approx(mean_poisson_deviance(y, predicted))
    assert "mean poisson" in run("evaluate", model, path).stdout
    assert "D²" in run("show", model).stdout
