"""Effects: closed forms against averages over all combinations of values, and what they promise."""

import json
import re
from dataclasses import replace
from itertools import product

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sleek
from sleek import Box, GaussianRBF, Linear, RobustRBF, Sigmoidal, Simplex, plots
from sleek._runtime.json_values import ModelFileError
from sleek.bases.expansion import Expansion, Part
from sleek.bases.units import Units
from sleek.cli.commands import app
from sleek.closed_form.moments import Moments
from sleek.closed_form.running_sums import RunningSums
from sleek.closed_form.solve import solve
from sleek.model.distribution import LEAST_ROWS, MOST_POINTS, Distribution
from sleek.model.effect_words import curve_in_words
from sleek.model.effects import Curve, Effects
from sleek.model.facts import ExpectedError, Facts
from sleek.model.kernel_model import KernelModel
from sleek.model.memory import Memory
from sleek.model.saving import dumps, loads
from sleek.outputs.numbers import NumberOutputs

D = 3
NAMES = ("x0", "x1", "x2")
PRODUCTS = [GaussianRBF(), RobustRBF(), Box()]


def made(bases, n_outputs=1, seed=0, points=(5, 4, 3), sharpness=0.5):
    """A model of random units, and columns of a few values each."""
    rng = np.random.default_rng(seed)
    parts = []
    for basis in bases:
        units = basis.start(rng.normal(size=(4, D)), sharpness, rng)
        parts.append(Part(basis, basis.project(units.map(lambda _, a: a + 0.3 * rng.uniform(size=a.shape)))))
    expansion = Expansion(tuple(parts))
    distributions = []
    for n in points:
        weights = rng.uniform(0.5, 1.5, size=n)
        distributions.append(Distribution(np.sort(rng.normal(size=(n, 1)), axis=0), weights / weights.sum()))
    facts = Facts(
        n_rows=100,
        low=-np.ones(D),
        high=np.ones(D),
        deviation=np.ones(D),
        influence=np.ones(D),
        variance=np.ones(n_outputs),
        expected=ExpectedError(1.0, 0.1, "leave-one-out"),
        distributions=tuple(distributions),
    )
    theta, b = rng.normal(size=(len(expansion), n_outputs)), rng.normal(size=n_outputs)
    outputs = NumberOutputs(np.zeros(n_outputs), np.ones(n_outputs), one_dimensional=n_outputs == 1)
    return KernelModel(expansion, theta, b, 1.0, outputs, facts=facts)


def decomposed(model):
    """By definition: means over all combinations of values. Mean, curves, pairs, and the variance."""
    distributions = model.facts.distributions
    places = list(product(*(range(len(d)) for d in distributions)))
    rows = np.array([[d.points[i, 0] for d, i in zip(distributions, place, strict=True)] for place in places])
    weight = np.array(
        [np.prod([d.weights[i] for d, i in zip(distributions, place, strict=True)]) for place in places]
    )
    shape = [len(d) for d in distributions]
    Y = model.outputs_unchecked(rows).reshape(*shape, -1)
    W = weight.reshape(*shape, 1)

    def mean(keep):
        away = tuple(axis for axis in range(D) if axis not in keep)
        return (W * Y).sum(axis=away) / W.sum(axis=away)

    whole = mean(())
    curves = [mean((c,)) - whole for c in range(D)]
    pairs = {
        (c, d): mean((c, d)) - curves[c][:, None] - curves[d][None] - whole
        for c in range(D)
        for d in range(c + 1, D)
    }
    return whole, curves, pairs, float((W * (Y - whole) ** 2).sum())


MIXTURES = [
    *([basis] for basis in PRODUCTS),
    [Linear()],
    PRODUCTS,
    [GaussianRBF(), Linear()],
    [Box(), Linear()],
]


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("bases", MIXTURES, ids=lambda bases: "+".join(basis.name for basis in bases))
def test_closed_forms_are_averages_over_all_values(bases, n_outputs):
    model = made(bases, n_outputs)
    effects, (mean, curves, pairs, variance) = Effects(model), decomposed(model)
    np.testing.assert_allclose(effects.mean, mean, rtol=1e-10)
    for name, curve in zip(NAMES, curves, strict=True):
        np.testing.assert_allclose(effects.curves[name].outputs, curve, rtol=1e-9, atol=1e-12)
        weights = effects.curves[name].weights
        share = float(weights @ (curve**2).sum(axis=1)) / variance
        np.testing.assert_allclose(effects.curves[name].share, share, rtol=1e-9)
    weights = [d.weights for d in model.facts.distributions]
    shares = {
        (f"x{c}", f"x{d}"): float(np.einsum("a,b,abk->", weights[c], weights[d], f**2)) / variance
        for (c, d), f in pairs.items()
    }
    assert set(effects.pairs) == {names for names, share in shares.items() if share >= 0.001}
    for (c, d), f in pairs.items():
        if (f"x{c}", f"x{d}") in effects.pairs:
            pair = effects.pairs[f"x{c}", f"x{d}"]
            np.testing.assert_allclose(pair.outputs, f, rtol=1e-8, atol=1e-12)
            np.testing.assert_allclose(pair.share, shares[f"x{c}", f"x{d}"], rtol=1e-8)
    np.testing.assert_allclose(sum(effects.shares.values()), 1.0, rtol=1e-9)


@pytest.mark.parametrize("bases", [[Sigmoidal()], [Simplex()], [Sigmoidal(), Box(), Linear()]])
def test_units_that_are_no_products_are_averaged_by_a_sample(bases):
    model = made(bases)
    effects, (mean, curves, pairs, variance) = Effects(model), decomposed(model)
    close = 0.05 * np.sqrt(variance)
    np.testing.assert_allclose(effects.mean, mean, atol=close)
    for name, curve in zip(NAMES, curves, strict=True):
        np.testing.assert_allclose(effects.curves[name].outputs, curve, atol=close)
    for (c, d), f in pairs.items():
        if (f"x{c}", f"x{d}") in effects.pairs:
            np.testing.assert_allclose(effects.pairs[f"x{c}", f"x{d}"].outputs, f, atol=close)


@pytest.mark.parametrize("bases", [PRODUCTS, [Sigmoidal()], [Sigmoidal(), Box(), Linear()]])
def test_effects_have_mean_zero_and_sum_to_the_outputs(bases):
    model = made(bases, n_outputs=2, points=(9, 9, 9))
    effects = Effects(model)
    weights = dict(zip(NAMES, (d.weights for d in model.facts.distributions), strict=True))
    close = 1e-3 if Sigmoidal in map(type, bases) else 1e-12
    for name, curve in effects.curves.items():
        np.testing.assert_allclose(weights[name] @ curve.outputs, 0.0, atol=close)
    for (one, two), pair in effects.pairs.items():
        np.testing.assert_allclose(np.tensordot(weights[one], pair.outputs, 1), 0.0, atol=close)
        np.testing.assert_allclose(np.einsum("b,abk->ak", weights[two], pair.outputs), 0.0, atol=close)
    X = np.random.default_rng(1).normal(size=(500, D))
    found = effects.contributions(X)
    np.testing.assert_allclose(found.outputs, model.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(found.mean + found.values.sum(axis=1), found.outputs, atol=1e-9)
    assert found.names == (*effects.curves, *effects.pairs, "rest")


def test_contributions_at_the_points_are_the_curves():
    model = made(PRODUCTS, points=(4, 4, 4))
    effects = Effects(model)
    rows = np.column_stack([d.points[:, 0] for d in model.facts.distributions])
    found = effects.contributions(rows)
    for c, curve in enumerate(effects.curves.values()):
        np.testing.assert_allclose(found.values[:, c], curve.outputs, atol=1e-12)


@pytest.mark.parametrize("sharpness", [50.0, 3000.0])
def test_narrow_units_have_tiny_means(sharpness):
    """Π_c E_jc is below 1e-300: in logarithms it is a number like any other."""
    model = made([GaussianRBF()], sharpness=sharpness, points=(3, 3, 3))
    effects = Effects(model)
    assert all(np.isfinite(curve.outputs).all() for curve in effects.curves.values())
    assert all(np.isfinite(share) for share in effects.shares.values())
    mean, curves, _, _ = decomposed(model)
    np.testing.assert_allclose(effects.mean, mean, rtol=1e-9)
    for curve, expected in zip(effects.curves.values(), curves, strict=True):
        np.testing.assert_allclose(curve.outputs, expected, rtol=1e-7, atol=1e-15)


def test_shares_are_sobol_indices_of_drawn_rows():
    """Pick and freeze: Cov(y(a), y(a with other columns of b)) is the variance of what kept columns say."""
    model = made([GaussianRBF(), Linear()], points=(9, 9, 9))
    effects, rng, n = Effects(model), np.random.default_rng(0), 200_000
    a, b = (
        np.column_stack([rng.choice(d.points[:, 0], n, p=d.weights) for d in model.facts.distributions])
        for _ in range(2)
    )
    y = model.outputs_unchecked(a)[:, 0]

    def index(*columns):
        mixed = b.copy()
        mixed[:, columns] = a[:, columns]
        return np.cov(y, model.outputs_unchecked(mixed)[:, 0])[0, 1] / y.var()

    for c, name in enumerate(NAMES):
        assert abs(effects.curves[name].share - index(c)) < 0.01
    for c, d in ((0, 1), (0, 2), (1, 2)):
        found = effects.pairs.get((f"x{c}", f"x{d}"))
        assert abs((found.share if found else 0.0) - (index(c, d) - index(c) - index(d))) < 0.01


def test_effects_are_orthogonal():
    model = made(PRODUCTS)
    effects, distributions = Effects(model), model.facts.distributions
    places = list(product(*(range(len(d)) for d in distributions)))
    rows = np.array([[d.points[i, 0] for d, i in zip(distributions, place, strict=True)] for place in places])
    weight = np.array(
        [np.prod([d.weights[i] for d, i in zip(distributions, place, strict=True)]) for place in places]
    )
    values = effects.contributions(rows).values[:, :, 0]
    covariances = values.T @ (weight[:, None] * values)
    np.testing.assert_allclose(covariances, np.diag(np.diag(covariances)), atol=1e-12)
    shares = [effects.shares[name] for name in (*effects.curves, *effects.pairs, "rest")]
    np.testing.assert_allclose(np.diag(covariances) / covariances.trace(), shares, atol=1e-9)


class Cubic(Sigmoidal):
    """A basis without a formula."""

    name = "cubic without a formula"
    formula = None


def test_bases_without_a_formula_are_averaged_by_a_sample():
    plain = made([Sigmoidal()])
    model = replace(plain, expansion=Expansion((Part(Cubic(), plain.parts[0].units),)))
    effects, (mean, curves, _, variance) = Effects(model), decomposed(model)
    np.testing.assert_allclose(effects.mean, mean, atol=0.05 * np.sqrt(variance))
    for name, curve in zip(NAMES, curves, strict=True):
        np.testing.assert_allclose(effects.curves[name].outputs, curve, atol=0.05 * np.sqrt(variance))


def test_units_of_few_columns_have_effects_of_these_alone():
    model = made([Box(), Sigmoidal()])
    parts = []
    for part, names in zip(model.parts, (("below", "above"), ("slopes",)), strict=True):
        arrays = {name: array.copy() for name, array in part.units.arrays.items()}
        for name in names:
            arrays[name][:, 2] = 0.0
            arrays[name][:2, 1] = 0.0
        parts.append(Part(part.basis, Units(arrays)))
    model = replace(model, expansion=Expansion(tuple(parts)))
    effects, (mean, curves, _, variance) = Effects(model), decomposed(model)
    assert effects.shares["x2"] == 0.0
    assert set(effects.pairs) == {("x0", "x1")}
    np.testing.assert_allclose(effects.mean, mean, atol=0.02 * np.sqrt(variance))
    for name, curve in zip(NAMES, curves, strict=True):
        np.testing.assert_allclose(effects.curves[name].outputs, curve, atol=0.02 * np.sqrt(variance))
    assert effects.shares["rest"] < 0.01


def test_many_rows_have_the_effects_of_each():
    model = made(PRODUCTS, n_outputs=2)
    effects, rng = Effects(model), np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 5000), rng.integers(0, 9, 5000), rng.normal(size=5000)]).astype(
        float
    )
    found, few = effects.contributions(X, n_jobs=2), effects.contributions(X[:50])
    np.testing.assert_allclose(found.values[:50], few.values, atol=1e-12)


# -- truncated models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("bases", [PRODUCTS, [GaussianRBF(), Linear()]])
def test_a_truncated_model_has_the_same_curves_and_pairs(bases, order):
    model = made(bases, n_outputs=2)
    effects = Effects(model)
    found = effects.truncated(order)
    X = np.random.default_rng(1).normal(size=(200, D))
    there = effects.contributions(X)
    kept = D + (len(effects.pairs) if order == 2 else 0)
    np.testing.assert_allclose(
        found.model.decision_function(X), there.mean + there.values[:, :kept].sum(axis=1), atol=1e-9
    )
    lost = 1.0 - sum(share for name, share in effects.shares.items() if _order(name) <= order)
    np.testing.assert_allclose(found.share, lost, atol=0.03)
    again = Effects(found.model)
    assert again.shares["rest"] < 1e-9
    for name, curve in effects.curves.items():
        np.testing.assert_allclose(again.curves[name].outputs, curve.outputs, atol=1e-9)


def _order(name):
    return 3 if name == "rest" else len(name) if isinstance(name, tuple) else 1


def test_units_of_few_columns_are_solved_again_from_the_sums():
    """tanh units of three columns cannot be cut: they are left out, and the others take over."""
    model, rng = made([Box(), Sigmoidal()]), np.random.default_rng(0)
    arrays = {name: array.copy() for name, array in model.parts[0].units.arrays.items()}
    for name in ("below", "above"):
        arrays[name][:, 2] = 0.0
    model = replace(model, expansion=Expansion((Part(Box(), Units(arrays)), model.parts[1])))
    X = rng.normal(size=(500, D))
    T, ones = model.outputs_unchecked(X) + rng.normal(size=(500, 1)), np.ones(500)
    sums = RunningSums.from_moments(Moments.of(model.features(X), T, ones))
    found = Effects(replace(model, memory=Memory(sums, 500, 1.0, C=2.0))).truncated(2)
    assert found.how == "weights solved again from the sums over rows"
    theta, b = solve(Moments.of(model.features(X)[:, :4], T, ones), C=2.0)
    np.testing.assert_allclose(found.model.theta, theta, rtol=1e-8)
    np.testing.assert_allclose(found.model.b, b, rtol=1e-8)
    assert re.search(r"Expect an RMSE of [\d.]+ instead of 1\.", str(found))
    assert found.model.facts.expected.value > model.facts.expected.value
    with pytest.raises(ValueError, match="`order` must be 1"):
        Effects(model).truncated(3)


def test_tanh_units_of_many_columns_cannot_be_cut():
    with pytest.raises(ValueError, match="no products"):
        Effects(made([Sigmoidal()])).truncated(2)


def test_a_model_without_distributions_says_so():
    model = made([Box()])
    with pytest.raises(ValueError, match="older version of sleek"):
        Effects(replace(model, facts=replace(model.facts, distributions=None)))


# -- distributions ------------------------------------------------------------------------------------------


def test_bins_have_rows_enough_and_means_of_their_rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 1))
    found = Distribution.of(x)
    assert len(found) == MOST_POINTS
    assert (found.weights * 400 >= LEAST_ROWS).all()
    np.testing.assert_allclose(found.weights @ found.points[:, 0], x.mean())
    assert len(Distribution.of(x[:60])) == 60 // LEAST_ROWS
    np.testing.assert_allclose(Distribution.of(x[:60]).weights.sum(), 1.0)


def test_gaps_are_a_bin_of_their_own():
    rng = np.random.default_rng(0)
    gap = rng.random(500) < 0.1
    x = np.column_stack([np.where(gap, 7.0, rng.normal(size=500)), gap])
    found = Distribution.of(x)
    missing = found.points[:, 1] == 1.0
    assert missing.sum() == 1
    np.testing.assert_allclose(found.weights[missing], gap.mean())


def test_weights_count():
    found = Distribution.of(np.array([[1.0], [2.0]]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(found.weights, [0.25, 0.75])


# -- tables, files, the shell, pictures ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def flats():
    """Numbers with gaps, a category, a truth value and a date; and a model of them."""
    rng = np.random.default_rng(0)
    n = 400
    table = pd.DataFrame(
        {
            "area": np.where(rng.random(n) < 0.15, np.nan, rng.normal(80, 20, n)),
            "town": rng.choice(["Aarau", "Basel", "Chur"], n, p=[0.5, 0.3, 0.2]),
            "garden": rng.random(n) < 0.3,
            "built": pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), unit="D"),
        }
    )
    rent = 10 * table.area.fillna(40) + 300 * (table.town == "Basel") + 90 * table.garden
    rent += rng.normal(0, 10, n)
    return table, sleek.LowRankLSSVR(12, basis="box", C=10.0, random_state=0).fit(table, rent).model_


def test_columns_of_tables_are_one_effect_each(flats):
    table, model = flats
    effects = model.effects()
    assert list(effects.curves) == ["area", "town", "garden", "built"]
    assert effects.curves["town"].values == ["Aarau", "Basel", "Chur"]
    assert effects.curves["area"].values.count("(missing)") == 1
    assert isinstance(effects.curves["built"].values[0], np.datetime64)
    np.testing.assert_allclose(
        effects.curves["town"].weights, table.town.value_counts(normalize=True).sort_index(), atol=1e-12
    )
    town = effects.curves["town"].outputs[:, 0]
    np.testing.assert_allclose(town[1] - town[0], 300, rtol=0.1)
    assert list(effects.shares)[:2] == ["area", "town"]
    found = effects.contributions(table)
    np.testing.assert_allclose(
        found.mean[0] + found.values[:, :, 0].sum(axis=1), model.predict(table), rtol=1e-9
    )
    one = effects.contributions(
        {"area": [None], "town": ["Basel"], "garden": [True], "built": ["2001-02-03"]}
    )
    assert one.values.shape[0] == 1


def test_effects_are_read_back_from_files(flats, tmp_path):
    _, model = flats
    model.save(tmp_path / "m.json")
    again, effects = sleek.load(tmp_path / "m.json").effects(), model.effects()
    assert again.shares == effects.shares
    assert str(again) == str(effects)


def test_files_say_distributions_as_they_must_be(flats):
    document = json.loads(dumps(flats[1]))
    for spoil, sentence in [
        (lambda d: d.pop(), "must have 4 entries, got 3"),
        (lambda d: d[0].update(weights=[2.0] * len(d[0]["weights"])), "add up to 1"),
        (lambda d: d[0].update(weights=d[0]["weights"][1:]), "must have 32 numbers, got 31"),
        (lambda d: d[0].update(extra=1), "extra"),
    ]:
        bad = json.loads(json.dumps(document))
        spoil(bad["facts"]["distributions"])
        with pytest.raises(ModelFileError, match=sentence):
            loads(json.dumps(bad).encode())
    del document["facts"]["distributions"]
    with pytest.raises(ValueError, match="older version"):
        loads(json.dumps(document).encode()).effects()


def test_words(flats):
    said = str(flats[1].effects())
    assert re.match(r"\d+ % of what this model says is in \d curves", said)
    assert re.search(r"area +[-+]\d+ (at|up to) \d+.*rises to \+\d+.*missing -\d+", said)
    assert re.search(r"town +Basel \+\d+, (Chur|Aarau) -\d+", said)
    assert re.search(r"garden +true \+[\d.]+, false -[\d.]+", said)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([0, 1, 2, 3], "+0 at 0, rises to +3 at 3"),
        ([3, 2, 1, 0], "+3 at 0, falls to +0 at 3"),
        ([0, 0, 0, 1, 2], "+0 up to 2, then rises to +2 at 4"),
        ([0, 1, 2, 2, 2], "+0 at 0, rises to +2 at 2, then flat"),
        ([0, 2, 0], "+0 at 0, rises to +2 at 1, falls to +0 at 2"),
        ([1, 1, 1], "+1"),
        ([0, 1, 0.98, 2], "+0 at 0, rises to +2 at 3"),
        ([5], "+5"),
        (
            [0, 1, 0, 1, 0, 9, 0, 1, 0, 2],
            "+0 at 0, rises to +9 at 5, falls to +0 at 8, rises to +2 at 9",
        ),
    ],
)
def test_curves_in_words(y, said):
    values = [float(i) for i in range(len(y))]
    curve = Curve("x", values, np.array(y, dtype=float)[:, None], np.ones(len(y)), 1.0)
    assert curve_in_words(curve) == said


def test_the_shell_shows_effects(flats, tmp_path):
    flats[1].save(tmp_path / "m.json", metadata={"target": "rent"})
    printed = CliRunner().invoke(app, ["show", str(tmp_path / "m.json")]).stdout
    assert "of what this model says is in" in printed
    assert re.search(r"rent: [\d,]+ on average, and", printed)


def test_categories_of_many_levels_are_one_curve():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"zip": rng.choice([f"z{i}" for i in range(60)], 900), "x": rng.normal(size=900)})
    y = table.zip.str[1:].astype(int) / 10 + table.x + rng.normal(scale=0.1, size=900)
    model = sleek.LowRankLSSVR(8, basis="gaussian_rbf", C=100.0, random_state=0).fit(table, y).model_
    effects = model.effects()
    curve = effects.curves["zip"]
    assert set(curve.values) <= {f"z{i}" for i in range(60)} | {"(another)", "(missing)"}
    order = [int(v[1:]) for v in curve.values if v.startswith("z")]
    known = [i for i, v in enumerate(curve.values) if v.startswith("z")]
    assert np.corrcoef(order, curve.outputs[known, 0])[0, 1] > 0.95
    np.testing.assert_allclose(curve.weights @ curve.outputs, 0.0, atol=1e-9)


def test_effects_as_probabilities(flats):
    table, _ = flats
    labels = np.where(table.town == "Basel", "dear", "cheap")
    labels[::17] = "dear"
    model = sleek.LowRankLSSVC(6, basis="box", C=10.0, random_state=0).fit(table, labels)
    found = model.effects().contributions(table[:9])
    without = found.outputs[:, None] - found.values
    calibration = model.model_.calibration
    P = model.predict_proba(table[:9])
    expected = P[3] - calibration.probabilities(without[3, 1][None])[0]
    np.testing.assert_allclose(found.probabilities()[3, 1], expected)
    np.testing.assert_allclose(found.probabilities().sum(axis=2), 0.0, atol=1e-12)
    town = found.probabilities()[:, list(found.names).index("town"), 1]
    assert (town[table.town[:9] == "Basel"] > 0).all()
    with pytest.raises(ValueError, match="for classifiers"):
        flats[1].effects().contributions(table[:2]).probabilities()


@pytest.mark.parametrize("n_columns", [3, 60])
def test_pictures(n_columns):
    matplotlib.use("agg")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, n_columns))
    model = sleek.LowRankLSSVR(5, basis="gaussian_rbf", C=1.0, random_state=0).fit(
        X, X[:, 0] * X[:, 1] + X[:, 2]
    )
    figure = plots.plot_effects(model)
    drawn = [ax for ax in figure.axes if ax.get_xlabel()]
    assert 3 <= len(drawn) <= 12
    with pytest.raises(ValueError, match="reads no column 'y'"):
        plots.plot_effect(model, "y")
    for name in list(model.effects().pairs)[:1]:
        assert plots.plot_effect(model, name).get_ylabel() == name[1]
    plt.close("all")
