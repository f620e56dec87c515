"""Which columns may act together, and in which outputs never fall: kept whatever happens to a model."""

import itertools
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from engines import query, skip_without
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import lsq_linear
from sklearn.base import clone
from test_export_c import compile_and_run, needs_compiler
from test_export_javascript import NODE, run
from test_export_python import function
from test_logistic import problem as two_class_problem
from typer.testing import CliRunner

import sleek
from sleek import (
    Box,
    Curves,
    Expansion,
    GaussianRBF,
    Linear,
    LowRankLSSVC,
    LowRankLSSVR,
    Part,
    Sigmoidal,
    VariableProjection,
)
from sleek.bases import known_bases
from sleek.bases.base import BOTH
from sleek.bases.constraints import Constraints, certify, unit_signs
from sleek.cli.commands import app
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Penalty, solve, solve_signed
from sleek.export import to_c, to_javascript, to_sql
from sleek.model.saving import dumps, loads
from sleek.trainers.base import Problem, Reached
from sleek.trainers.joint import Joint

BASES = ("auto", "box", "curves", "gaussian_rbf", "linear", "robust_rbf", "sigmoidal", "simplex")
TOWNS = ("Aarau", "Basel", "Chur")
MONOTONE = {"age": 1, "debt": -1}
N_PAIRS = 100_000
ROUNDING = 1e-12


@cache
def table(n=900, seed=0):
    """Rows with gaps and a category, whose target bends where it should only rise, and then its class."""
    rng = np.random.default_rng(seed)
    age, debt, dose, luck = rng.uniform(0, 10, size=(4, n))
    town = rng.integers(3, size=n)
    y = np.sin(age) + 0.4 * age - 0.1 * (debt - 6) ** 2 + (dose > 5) * (luck - 5) + town
    y += 0.3 * rng.normal(size=n)
    for column in (age, dose):
        column[rng.random(n) < 0.1] = np.nan
    words = np.array(TOWNS, dtype=object)[town]
    words[rng.random(n) < 0.05] = None
    return {"age": age, "debt": debt, "town": words, "dose": dose, "luck": luck}, y


def labels(y):
    return np.where(y > np.median(y), "yes", "no")


@cache
def fitted(basis="auto", kind="number", interactions=None, monotone=True):
    X, y = table()
    constraints = {"interaction_cst": interactions, "monotonic_cst": MONOTONE if monotone else None}
    if kind == "number":
        return LowRankLSSVR(basis=basis, random_state=0, **constraints).fit(X, y)
    return LowRankLSSVC(basis=basis, loss=kind, random_state=0, **constraints).fit(X, labels(y))


def drawn(n, seed=1):
    """Rows of the same columns, also where no row was."""
    rng = np.random.default_rng(seed)
    rows = {name: rng.uniform(-5, 15, size=n) for name in ("age", "debt", "dose", "luck")}
    rows["dose"][rng.random(n) < 0.1] = np.nan
    rows["town"] = rng.choice(np.array([*TOWNS, None], dtype=object), size=n)
    return {name: rows[name] for name in table()[0]}, rng


def worst_step(model, name, sign, n=N_PAIRS):
    """The least gain of the output among pairs of rows of which one has more of a column, as a share."""
    one, rng = drawn(n)
    two = one | {name: one[name] + rng.exponential(3.0, size=n)}
    below, above = (model.decision_function(rows) for rows in (one, two))
    return float((sign * (above - below)).min() / np.abs(below).max())


# -- weights that have signs ---------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    arrays(np.float64, (7, 5), elements=st.floats(-10, 10)),
    arrays(np.float64, 5, elements=st.floats(-10, 10)),
    arrays(np.int64, 5, elements=st.sampled_from([-1, 0, 1, BOTH])),
)
def test_signed_weights_are_those_of_bounded_least_squares(F, r, signs):
    A = F.T @ F + 0.1 * np.eye(5)
    found = solve_signed(A, r, signs)
    assert not (found[signs == BOTH]).any()
    assert (found * np.where(signs == BOTH, 0, signs) >= 0).all()
    root = np.linalg.cholesky(A).T
    free = signs != BOTH
    low, high = np.where(signs == 1, 0.0, -np.inf), np.where(signs == -1, 0.0, np.inf)
    oracle = np.zeros(5)
    if free.any():
        wanted = np.linalg.solve(root.T, r)
        oracle[free] = lsq_linear(root[:, free], wanted, (low[free], high[free]), method="bvls", tol=1e-14).x

    def value(theta):
        return 0.5 * theta @ A @ theta - r @ theta

    assert value(found) <= value(oracle) + 1e-9 * (1 + abs(value(oracle)))


def test_signs_that_the_free_weights_have_change_no_bit():
    rng = np.random.default_rng(0)
    moments = Moments.of(rng.normal(size=(50, 4)), rng.normal(size=(50, 1)), np.ones(50))
    free = solve(moments, 1.0)
    same = solve(moments, 1.0, np.sign(free.theta[:, 0]).astype(int))
    np.testing.assert_array_equal(same.theta, free.theta)
    other = solve(moments, 1.0, -np.sign(free.theta[:, 0]).astype(int))
    assert (other.theta * free.theta <= 0).all()


def test_many_units_that_coincide_are_solved():
    rng = np.random.default_rng(0)
    Phi = np.repeat(rng.normal(size=(200, 30)), 3, axis=1)
    moments = Moments.of(Phi, rng.normal(size=(200, 1)), np.ones(200))
    signs = rng.integers(-1, 2, size=90)
    theta = solve(moments, 1e8, signs).theta[:, 0]
    assert np.isfinite(theta).all()
    assert (theta * signs >= 0).all()


# -- what units say of themselves ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in BASES if name != "auto"])
def test_directions_are_those_of_finite_differences(name):
    basis, rng = known_bases()[name](), np.random.default_rng(0)
    centers = rng.normal(size=(12, 3))
    units = basis.start(centers, 0.4, rng)
    if name == "box":
        open_sides = {side: units[side] * (rng.random((12, 3)) < 0.5) for side in ("below", "above")}
        units = units.map(lambda key, array: open_sides.get(key, array))
    X = rng.normal(size=(4000, 3))
    directions = basis.directions(units)
    for i in range(3):
        more = X.copy()
        more[:, i] += rng.exponential(size=len(X))
        change = basis.features(more, units) - basis.features(X, units)
        for j in range(len(units)):
            rises, falls = (change[:, j] > 1e-12).any(), (change[:, j] < -1e-12).any()
            assert directions[j, i] == (BOTH if rises and falls else int(rises) - int(falls))


@pytest.mark.parametrize("name", ["box", "sigmoidal", "gaussian_rbf"])
def test_monotone_units_are_one_way(name):
    basis, rng = known_bases()[name](), np.random.default_rng(0)
    units = basis.start(rng.normal(size=(8, 3)), 0.4, rng)
    rising = np.arange(8) % 2 == 0
    kept = basis.restrict_monotone(units, np.array([1, 0, -1]), rising)
    signs = unit_signs(Expansion.of(basis, kept), (1, 0, -1))
    if name == "gaussian_rbf":
        assert signs is None
        np.testing.assert_array_equal(basis.directions(kept), np.tile([0, BOTH, 0], (8, 1)))
    else:
        np.testing.assert_array_equal(signs, np.where(rising, 1, -1))


def test_tanh_slopes_stay_on_their_side_whatever_the_step():
    basis, rng = Sigmoidal(), np.random.default_rng(0)
    units = basis.start(rng.normal(size=(6, 3)), 0.4, rng)
    rising = np.arange(6) % 2 == 0
    start = Expansion.of(basis, basis.restrict_monotone(units, np.array([1, 0, -1]), rising))
    coordinates = start.coordinates((1, 0, -1))
    u = coordinates.vector(start)
    np.testing.assert_allclose(
        coordinates.expansion(u).parts[0].units["slopes"], start.parts[0].units["slopes"]
    )
    lower = coordinates.lower_bounds()
    assert np.isfinite(lower).sum() == 12
    assert (u >= lower).all()
    far = coordinates.expansion(np.maximum(u + rng.normal(scale=50.0, size=u.shape), lower))
    signs = unit_signs(start, (1, 0, -1))
    moved = far.directions()[:, [0, 2]] * np.array([1, -1])
    assert ((moved == signs[:, None]) | (moved == 0)).all()


def test_log_odds_have_bounds_and_the_right_gradient():
    source, _ = two_class_problem(2)
    start = Expansion.of(Linear(), Linear().start(np.zeros((3, 3)), 1.0, np.random.default_rng(0)))
    penalty = Penalty(3.0, 0.7, (-1, 1, 0))
    objective = Joint(source, start.coordinates(penalty.signs), penalty, Reached(start))
    np.testing.assert_array_equal(objective.lower_bounds(), [0.0, 0.0, -np.inf, -np.inf])
    at = np.array([0.3, 0.2, -0.4, 0.1])
    differences = [(objective(at + e)[0] - objective(at - e)[0]) / 2e-6 for e in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(objective(at)[1], differences, rtol=1e-5)
    trainer = VariableProjection(max_iter=500, tol=1e-14)
    free = trainer.train(Problem(source, start, replace(penalty, signs=None))).solution.theta[:, 0]
    assert free[0] > 0  # so that the bound holds it
    theta = trainer.train(Problem(source, start, penalty)).solution.theta[:, 0]
    alone = Expansion.of(Linear(), Linear().take(start.parts[0].units, np.array([1, 2])))
    without = trainer.train(Problem(source, alone, replace(penalty, signs=None))).solution.theta[:, 0]
    np.testing.assert_allclose(theta, [0.0, *without], atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_what_is_certified_holds_whatever_the_units(seed, honest):
    rng = np.random.default_rng(seed)
    parts = []
    for basis in (Box(), Sigmoidal(), GaussianRBF(), Linear(), Curves()):
        units = basis.start(rng.normal(size=(4, 3)), float(rng.uniform(0.1, 1.0)), rng)
        off = {name: rng.random((4, 3)) < 0.6 for name in basis.switches}
        parts.append(
            Part(basis, units.map(lambda name, a, off=off: np.where(off[name], 0, a) if name in off else a))
        )
    expansion, names = Expansion(tuple(parts)), ("a", "b", "c")
    monotone = {name: int(rng.choice([-1, 1])) for name in names if rng.random() < 0.6}
    constraints = Constraints(None, monotone)
    signs = constraints.on_features(None, names, 3).signs
    wanted = unit_signs(expansion, signs)
    theta = rng.normal(size=len(expansion))
    if honest and wanted is not None:
        theta = np.where(wanted == 0, theta, np.where(wanted == BOTH, 0.0, wanted * np.abs(theta)))
    X = 3 * rng.normal(size=(500, 3))
    falls = False
    for name, sign in monotone.items():
        more = X.copy()
        more[:, names.index(name)] += rng.exponential(size=500)
        falls |= (sign * ((expansion.features(more) - expansion.features(X)) @ theta)).min() < -1e-12
    try:
        certify(expansion, theta[:, None], None, names, constraints)
    except ValueError:
        assert not honest
    else:
        assert not falls


# -- monotone: every basis, gaps and categories beside -------------------------------------------------------


@pytest.mark.parametrize("basis", BASES)
def test_numbers_never_fall_where_they_should_rise(basis):
    model = fitted(basis).model_
    for name, sign in MONOTONE.items():
        assert worst_step(model, name, sign) >= -ROUNDING
    free = fitted(basis, monotone=False).model_
    if basis != "linear":
        assert min(worst_step(free, name, sign, 2000) for name, sign in MONOTONE.items()) < -1e-3


@pytest.mark.parametrize("kind", ["auto", "squared_error", "log_loss"])
@pytest.mark.parametrize("basis", ["auto", "box", "curves", "gaussian_rbf", "sigmoidal"])
def test_classes_never_fall_and_neither_do_probabilities(basis, kind):
    estimator = fitted(basis, kind)
    for name, sign in MONOTONE.items():
        assert worst_step(estimator.model_, name, sign) >= -ROUNDING
    rows, rng = drawn(2000)
    more = rows | {"age": rows["age"] + rng.exponential(3.0, size=2000)}
    gain = estimator.predict_proba(more)[:, 1] - estimator.predict_proba(rows)[:, 1]
    assert gain.min() >= -1e-9


def test_it_has_learnt_something():
    rest, target = table(2000, seed=7)
    for basis in ("auto", "box", "sigmoidal"):
        assert fitted(basis).score(rest, target) > 0.7  # free ones have 0.88: the target bends
    assert fitted("gaussian_rbf").score(rest, target) > 0.6
    assert fitted("auto", "auto").score(rest, labels(target)) > 0.8


def test_bumps_have_ramps_beside_them_for_columns_that_they_may_not_see():
    names = [part.basis.name for part in fitted("gaussian_rbf").model_.parts]
    assert names == ["gaussian_rbf", "curves"]


def test_a_gap_is_no_value_to_compare():
    X, y = table()
    gap = np.isnan(X["age"])
    raised = np.where(gap, y + 20.0, y)
    model = LowRankLSSVR(random_state=0, monotonic_cst={"age": 1}).fit(X, raised).model_
    rows, _ = drawn(500)
    missing = rows | {"age": np.full(500, np.nan)}
    most = rows | {"age": np.full(500, 9.0)}
    assert (model.decision_function(missing) > model.decision_function(most) + 5.0).mean() > 0.9
    assert worst_step(model, "age", 1) >= -ROUNDING


def test_ordered_categories_are_numbers():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    sizes = pandas.Categorical.from_codes(rng.integers(4, size=600), ["S", "M", "L", "XL"], ordered=True)
    X = pandas.DataFrame({"size": sizes, "x": rng.normal(size=600)})
    y = np.array([0.0, 3.0, 1.0, 2.0])[sizes.codes] + X["x"] + 0.1 * rng.normal(size=600)
    model = LowRankLSSVR(random_state=0, monotonic_cst={"size": 1}).fit(X, y).model_
    found = model.predict({"size": ["S", "M", "L", "XL"], "x": [0.0] * 4})
    assert (np.diff(found) >= 0).all()


def test_columns_of_an_array_are_constrained_by_place():
    X, y = table()
    Z = np.column_stack([X["age"], X["debt"], X["luck"]])
    model = LowRankLSSVR(random_state=0, monotonic_cst=[1, -1, 0]).fit(Z, y).model_
    assert model.constraints.monotone == {"x0": 1, "x1": -1}
    rows = np.random.default_rng(0).uniform(-5, 15, size=(N_PAIRS, 3))
    more = rows + np.array([3.0, 0.0, 0.0])
    assert (model.predict(more) - model.predict(rows)).min() >= -ROUNDING * 10
    few = model.predict(rows.astype(np.float32)), model.predict(more.astype(np.float32))
    assert (few[1] - few[0]).min() >= -1e-4


# -- interactions --------------------------------------------------------------------------------------------

GROUPS = (("age", "debt"), ("town", "dose", "luck"))


def may(interactions, one, two):
    if interactions == "pairwise":
        return True
    return interactions != "no_interactions" and any({one, two} <= set(group) for group in interactions)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("interactions", ["no_interactions", "pairwise", GROUPS])
@pytest.mark.parametrize("basis", ["auto", "box", "gaussian_rbf", "sigmoidal", "simplex"])
def test_columns_act_together_only_where_they_may(basis, interactions, monotone):
    model = fitted(basis, "number", interactions, monotone).model_
    effects = model.effects()
    assert all(may(interactions, *pair) for pair in effects.pairs)
    rows, _ = drawn(300)
    other, _ = drawn(300, seed=2)

    def f(**moved):
        return model.decision_function(rows | {name: other[name] for name in moved})

    size = np.abs(f()).max()
    for a, b in itertools.combinations(rows, 2):  # differences of differences are 0 where columns only add up
        mixed = f(**{a: 1, b: 1}) - f(**{a: 1}) - f(**{b: 1}) + f()
        assert may(interactions, a, b) or np.abs(mixed).max() < 1e-12 * size
    if interactions == "pairwise":
        for names in itertools.combinations(rows, 3):
            mixed = sum(
                (-1) ** len(some) * f(**dict.fromkeys(some, 1))
                for k in range(4)
                for some in itertools.combinations(names, k)
            )
            assert np.abs(mixed).max() < 1e-11 * size
    if monotone:
        assert worst_step(model, "age", 1, 5000) >= -ROUNDING


def test_pairs_that_matter_are_found():
    rest, target = table(2000, seed=7)
    free = fitted("auto", monotone=False).score(rest, target)
    for interactions in ("pairwise", GROUPS):
        assert fitted("auto", "number", interactions, False).score(rest, target) > free - 0.03
    apart = fitted("auto", "number", "no_interactions", False).score(rest, target)
    assert apart < free - 0.1  # dose and luck say little without each other


def test_more_classes_keep_columns_apart_too():
    X, y = table()
    classes = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = LowRankLSSVC(random_state=0, interaction_cst=[{"dose", "luck"}]).fit(X, classes).model_
    assert model.constraints.interactions == (("dose", "luck"), ("age", "debt", "town"))
    assert all(may(model.constraints.interactions, *pair) for pair in model.effects().pairs)


# -- whatever happens to a model afterwards ------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["number", "squared_error"])
def test_rows_that_come_and_go_keep_it(kind):
    model = fitted("box", kind, "pairwise").model_
    more, target = table(300, seed=3)
    against = -3.0 * np.nan_to_num(more["age"])  # rows that say the opposite
    target = against if kind == "number" else labels(against)
    later = model.partial_fit(more, target)
    assert (later.theta != model.theta).any()
    there = model.emptied().partial_fit(more, target)
    merged = sleek.merge([model, there])
    np.testing.assert_allclose(merged.theta, later.theta, rtol=1e-6, atol=1e-9)
    back = later.forget(more, target)
    np.testing.assert_allclose(back.theta, model.theta, rtol=1e-5, atol=1e-7)
    faded = model.partial_fit(more, target, forgetting_factor=0.99)
    for one in (
        later,
        there,
        merged,
        back,
        faded,
        loads(dumps(later, moments=True)).partial_fit(more, target),
    ):
        assert one.constraints == model.constraints
        assert worst_step(one, "age", 1, 5000) >= -ROUNDING
        loads(dumps(one))


def test_models_of_other_constraints_are_not_merged():
    model = fitted("box", "number", "pairwise").model_
    other = replace(model.emptied(), constraints=None)
    with pytest.raises(ValueError, match="different constraints"):
        sleek.merge([model, other])


def test_warm_start_goes_on_under_the_same_constraints():
    X, y = table()
    Z = {name: X[name] for name in ("debt", "luck")}
    estimator = LowRankLSSVR(8, basis="box", warm_start=True, random_state=0, monotonic_cst={"debt": -1})
    before = estimator.fit(Z, y).model_
    after = estimator.fit(Z, y + 5 * X["debt"]).model_
    rows = {"debt": np.linspace(-5, 15, 500), "luck": np.full(500, 3.0)}
    assert np.ptp(before.predict(Z)) > 0.1
    assert np.diff(after.predict(rows)).max() <= 1e-9
    with pytest.raises(ValueError, match="other constraints"):
        estimator.set_params(monotonic_cst=None).fit(Z, y)


def test_truncated_models_claim_what_they_keep():
    model = fitted("box").model_
    cut = model.effects().truncated(order=1).model
    certify(cut.expansion, cut.theta, cut.inputs, cut.feature_names, cut.constraints)
    apart = fitted("box", "number", "pairwise").model_.effects().truncated(order=1).model
    assert apart.constraints.interactions == "pairwise"


# -- files ---------------------------------------------------------------------------------------------------


def tampered(model, change):
    document = json.loads(dumps(model, moments=True))
    change(document)
    return json.dumps(document).encode()


def test_files_carry_the_certificate():
    model = fitted("auto", "number", "pairwise").model_
    assert loads(dumps(model)).constraints == model.constraints
    assert json.loads(dumps(model))["constraints"] == {"interactions": "pairwise", "monotone": MONOTONE}
    assert json.loads(dumps(fitted("linear", monotone=False).model_))["constraints"] is None


def test_files_without_a_word_about_constraints_are_read():
    data = tampered(fitted("linear", monotone=False).model_, lambda document: document.pop("constraints"))
    assert loads(data).constraints is None


def flip(document):
    signs = np.sign(np.ravel(document["theta"]))
    assert signs.any()
    document["theta"] = [[-weight[0]] for weight in document["theta"]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (flip, "does not keep .*Unit .* in which the model claims to be monotone"),
        (lambda d: d["constraints"]["monotone"].update(agee=1), "no column 'agee'.* Did you mean 'age'"),
        (lambda d: d["constraints"]["monotone"].update(town=1), "'town' is a category"),
        (lambda d: d["constraints"]["monotone"].update(luck=2), "must be -1 or 1 for 'luck'"),
        (lambda d: d["constraints"]["monotone"].update(luck=True), "must be -1 or 1 for 'luck'"),
        (lambda d: d["constraints"].update(interactions="no_interactions"), "Unit .* act together"),
        (lambda d: d["constraints"].update(interactions=[["age"], ["luck"]]), "Unit .* act together"),
        (lambda d: d["constraints"].update(interactions="threes"), "is unknown here: 'threes'"),
        (lambda d: d["constraints"].update(interactions=[["age", 3]]), "must be text"),
        (lambda d: d["constraints"].update(interactions=7), "must be a list"),
        (lambda d: d["constraints"].update(more=1), "must have the fields"),
        (lambda d: d.update(constraints=[]), "must be an object"),
    ],
)
def test_files_that_claim_what_they_do_not_keep_are_refused(change, words):
    model = fitted("box", "number", "pairwise").model_
    with pytest.raises(sleek.ModelFileError, match=f"(?s){words}"):
        loads(tampered(model, change))


def test_no_model_is_made_that_breaks_its_word():
    model = fitted("box").model_
    with pytest.raises(ValueError, match="claims to be monotone"):
        replace(model, theta=-model.theta)
    X, y = table()
    numbers = np.column_stack([X["debt"], X["luck"]])
    several = LowRankLSSVR(4, basis="box", random_state=0).fit(numbers, np.column_stack([y, -y])).model_
    with pytest.raises(ValueError, match="only where there is one"):
        replace(several, constraints=Constraints(None, {"x0": 1}))


# -- exports, words, the shell -------------------------------------------------------------------------------


def numbers_model():
    X, y = table()
    Z = np.column_stack([np.nan_to_num(X["age"]), X["debt"], X["luck"]])
    estimator = LowRankLSSVR(6, basis="box", random_state=0, monotonic_cst=[1, -1, 0])
    return estimator.fit(Z, y).model_


def steps():
    rows = np.random.default_rng(0).uniform(-2, 12, size=(200, 3))
    return rows, rows + np.array([2.5, 0.0, 0.0])


def test_python_and_sql_keep_it():
    model, (rows, more) = numbers_model(), steps()
    predict = function(model)
    found = [np.array([predict(row) for row in form.tolist()]) for form in (rows, more)]
    np.testing.assert_allclose(found[0], model.predict(rows), rtol=1e-11)
    assert (found[1] - found[0]).min() >= -1e-9
    skip_without("duckdb", "box")
    text = to_sql(model, "duckdb", keep=["id"])
    asked = [
        np.array([row[1] for row in query("duckdb", text, {f"x{i}": form[:, i].tolist() for i in range(3)})])
        for form in (rows, more)
    ]
    np.testing.assert_allclose(asked[0], model.predict(rows), rtol=1e-11)
    assert (asked[1] - asked[0]).min() >= -1e-9


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
def test_javascript_keeps_it(tmp_path):
    model, (rows, more) = numbers_model(), steps()
    text = to_javascript(model)
    found = [
        np.array(run(tmp_path, text, form.tolist(), "rows.map((r) => model.predict(r))"))
        for form in (rows, more)
    ]
    np.testing.assert_allclose(found[0], model.predict(rows), rtol=1e-11)
    assert (found[1] - found[0]).min() >= -1e-9


@needs_compiler
def test_c_keeps_it(tmp_path):
    model, (rows, more) = numbers_model(), steps()
    both = np.vstack([rows, more])
    lines = ",".join("{" + ",".join(map(repr, row)) + "}" for row in both.tolist())
    main = (
        '#include <stdio.h>\n#include "model.h"\n'
        f"static const double rows[][3] = {{{lines}}};\n"
        f"int main(void) {{ for (int n = 0; n < {len(both)}; n++) "
        'printf("%.17g\\n", model_predict(rows[n])); return 0; }\n'
    )
    found = np.array(compile_and_run(tmp_path, to_c(model), main, b"").split(), dtype=float)
    np.testing.assert_allclose(found, model.predict(both), rtol=1e-11)
    assert (found[len(rows) :] - found[: len(rows)]).min() >= -1e-9


def test_it_is_said_in_words():
    text = fitted("auto", "number", "pairwise").model_.in_words(width=200)
    assert "y never falls as age rises; y never rises as debt rises; at most two columns act together" in text
    assert "the output for yes never falls as age rises" in fitted("auto", "auto").model_.in_words(width=200)
    assert "certified" not in fitted("auto", monotone=False).model_.in_words()
    assert str(Constraints((("a", "b", "c"), ("d",)))) == "only these columns act together: a, b and c"
    assert str(Constraints((("a",), ("d",)))) == str(Constraints("no_interactions"))


@pytest.fixture
def csv(tmp_path):
    X, y = table()
    names = [*X, "y"]
    lines = [
        ",".join("" if v is None or v != v else str(v) for v in row)
        for row in zip(*X.values(), y.tolist(), strict=True)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([",".join(names), *lines]) + "\n")
    return path


def shell(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_shell_fits_and_shows_them(csv, tmp_path):
    path = tmp_path / "m.json"
    options = ("--monotone", "age+", "--monotone", "debt-", "--pairwise", "--effort", "quick")
    done = shell("fit", csv, "-t", "y", "-o", path, *options)
    assert done.exit_code == 0, done.stderr
    assert "y never falls as age rises" in " ".join(shell("show", path).stdout.split())
    shown = json.loads(shell("show", path, "--json").stdout)
    assert shown["constraints"] == {"interactions": "pairwise", "monotone": MONOTONE}
    assert worst_step(sleek.load(path), "age", 1, 5000) >= -ROUNDING
    groups = ("--interactions", "age,debt", "--interactions", "dose,luck", "--units", "4", "--basis", "box")
    assert shell("fit", csv, "-t", "y", "-o", path, *groups).exit_code == 0
    assert sleek.load(path).constraints.interactions == (("age", "debt"), ("dose", "luck"), ("town",))
    assert shell("fit", csv, "-t", "y", "-o", path, "--no-interactions", "--basis", "curves").exit_code == 0
    assert sleek.load(path).constraints.interactions == "no_interactions"


def test_the_shell_knows_columns_that_are_numbers_throughout(tmp_path):
    X, y = table()
    path = tmp_path / "numbers.csv"
    rows = np.column_stack([X["debt"], X["luck"], y])
    np.savetxt(path, rows, delimiter=",", header="debt,luck,y", comments="")
    options = ("--monotone", "debt-", "--no-interactions", "--basis", "box", "--units", "6", "--updatable")
    assert shell("fit", path, "-t", "y", "-o", tmp_path / "m.json", *options).exit_code == 0
    assert shell("update", tmp_path / "m.json", path, "--again").exit_code == 0
    model = sleek.load(tmp_path / "m.json")
    assert model.constraints == Constraints("no_interactions", {"debt": -1})
    found = model.predict({"debt": np.linspace(-5, 15, 100), "luck": np.full(100, 2.0)})
    assert np.ptp(found) > 0.1
    assert np.diff(found).max() <= 1e-9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--monotone", "age"), "--monotone takes a column and + or -, such as age+, got 'age'"),
        (("--monotone", "+"), "--monotone takes a column and + or -"),
        (("--monotone", "agee+"), "no column 'agee'"),
        (("--monotone", "y+"), "--monotone and --interactions name 'y', which is not learnt from"),
        (("--pairwise", "--monotone", "age+", "--drop", "age"), "name 'age', which is not learnt from"),
        (("--monotone", "town+"), "'town' is a category"),
        (("--pairwise", "--no-interactions"), "exclude each other"),
        (("--interactions", "age,nobody"), "no column 'nobody'"),
    ],
)
def test_the_shell_says_what_is_wrong(csv, options, words):
    done = shell("fit", csv, "-t", "y", *options)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())


# -- what is asked for ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"monotonic_cst": {"agee": 1}}, "names 'agee', and X has no such column. Did you mean 'age'"),
        (
            {"monotonic_cst": {"age": 2}},
            r"must be 1 \(never falls\), -1 \(never rises\) or 0, got 2 for 'age'",
        ),
        ({"monotonic_cst": {"age": True}}, "got True for 'age'"),
        ({"monotonic_cst": [1, 0]}, "one of -1, 0 and 1 for each of 5 columns"),
        ({"monotonic_cst": "age"}, "one of -1, 0 and 1 for each of 5 columns"),
        ({"monotonic_cst": {"town": 1}}, "'town' is a category, and outputs can be monotone only in numbers"),
        ({"monotonic_cst": {9: 1}}, "names 9"),
        ({"interaction_cst": "threes"}, "must be 'pairwise', 'no_interactions', or groups"),
        ({"interaction_cst": ["age", "luck"]}, "must be 'pairwise', 'no_interactions', or groups"),
        ({"interaction_cst": 3}, "must be 'pairwise', 'no_interactions', or groups"),
        ({"interaction_cst": [{"age", "luc"}]}, "names 'luc', and X has no such column. Did you mean 'luck'"),
        ({"interaction_cst": "pairwise", "trainer": "alternating"}, "use trainer='varpro'"),
    ],
)
def test_bad_settings_are_refused(settings_, words):
    X, y = table()
    with pytest.raises(ValueError, match=words):
        LowRankLSSVR(4, basis="box", **settings_).fit(X, y)


def test_several_outputs_cannot_be_monotone():
    X, y = table()
    with pytest.raises(ValueError, match="`monotonic_cst` is for two classes, or for one number"):
        LowRankLSSVC(4, monotonic_cst=MONOTONE).fit(X, np.digitize(y, np.quantile(y, [0.3, 0.6])))
    with pytest.raises(ValueError, match="`monotonic_cst` is for two classes, or for one number"):
        LowRankLSSVR(4, monotonic_cst=MONOTONE).fit(X, np.column_stack([y, y]))


def test_dates_have_a_season_and_are_refused():
    days = np.datetime64("2020-01-01") + np.arange(900).astype("timedelta64[D]")
    with pytest.raises(ValueError, match=r"'when' is a date, .* Give it as a number of days"):
        LowRankLSSVR(4, basis="box", monotonic_cst={"when": 1}).fit({"when": days}, np.arange(900.0))


def test_columns_that_are_left_out_need_no_constraint():
    X, y = table()
    with pytest.warns(UserWarning, match="same"):
        model = LowRankLSSVR(
            4,
            basis="box",
            random_state=0,
            monotonic_cst={"same": 1, "age": 1},
            interaction_cst=[{"same", "age"}, {"debt", "luck"}],
        ).fit(X | {"same": [None] * len(y)}, y)
    assert model.model_.constraints == Constraints((("age",), ("debt", "luck"), ("town", "dose")), {"age": 1})


def test_settings_are_cloned_and_said_to_be_without_effect_if_all_are_zero():
    estimator = LowRankLSSVR(4, basis="box", monotonic_cst={"age": 1}, interaction_cst=[{"age", "luck"}])
    again = clone(estimator)
    assert again.get_params()["monotonic_cst"] == {"age": 1}
    assert again.get_params()["interaction_cst"] == [{"age", "luck"}]
    X, y = table()
    free, zero = (
        LowRankLSSVR(4, basis="box", random_state=0, monotonic_cst=given).fit(X, y)
        for given in (None, [0] * 5)
    )
    assert zero.model_.constraints is None
    np.testing.assert_array_equal(free.model_.theta, zero.model_.theta)


def test_a_basis_without_switches_is_refused():
    class Stiff(GaussianRBF):
        name = "stiff"
        parameters = tuple(replace(one, switch=False) for one in GaussianRBF.parameters)

    with pytest.raises(ValueError, match="look at all features"):
        Stiff().restrict(
            Stiff().start(np.zeros((2, 2)), 1.0, np.random.default_rng(0)), np.ones((2, 2), bool)
        )
    units = Stiff().start(np.zeros((2, 2)), 1.0, np.random.default_rng(0))
    np.testing.assert_array_equal(Stiff().directions(units), np.full((2, 2), BOTH))
    known_bases().pop("stiff", None)


def test_parts_side_by_side_have_one_sign_each():
    ramps = Curves().start_per_feature(np.random.default_rng(0).normal(size=(50, 2)), np.ones(50), 20)
    boxes = Box().start(np.zeros((2, 2)), 1.0, np.random.default_rng(0))
    both = Expansion((Part(Curves(), ramps), Part(Box(), boxes)))
    signs = unit_signs(both, (0, -1))
    on = both.directions()[:, 1]
    np.testing.assert_array_equal(signs, np.where(on == BOTH, BOTH, -on))
    assert unit_signs(both, None) is None
