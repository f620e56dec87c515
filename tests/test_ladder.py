"""The ladder: the simplest model that is as good, from one linear feature to units of any features."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_sources import number_source, sample_of

import sleek
from sleek import Box, Curves, GaussianRBF, LowRankLSSVC, LowRankLSSVR, Sigmoidal, Units, VariableProjection
from sleek.bases import known_bases
from sleek.bases.base import Basis
from sleek.bases.box import from_sides
from sleek.bases.curves import ramps
from sleek.bases.expansion import Expansion
from sleek.closed_form.least_squares import unit_moments
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import solve
from sleek.datasets import make_ripley
from sleek.fit import fewer, policy
from sleek.fit.fewer import shorter
from sleek.fit.judge import Split, folds_of, worth
from sleek.fit.ladder import place
from sleek.fit.plan import Request
from sleek.fit.race import best_strength
from sleek.fit.simple import Dictionary, forward_selection
from sleek.fit.start import Family, _at_leaves, _Leaves
from sleek.fit.trials import Candidate, Trials
from sleek.plots import plot_path
from sleek.trainers.base import Training

REQUEST = Request((Box(),), VariableProjection(), *(None,) * 5, True, True, "auto", None)


def linear_problem(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * np.array([1.0, 20.0, 0.1, 3.0, 1.0])
    return X, X @ np.array([1.0, 0.1, 10.0, 0.0, -1.0]) + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("n", [80, 400, 2000])
def test_a_linear_problem_ends_as_a_linear_model_without_units(n):
    X, y = linear_problem(n)
    model = LowRankLSSVR(random_state=0).fit(X, y)
    assert model.n_units_ == 0
    assert model.status_ == "A linear model: the features have weights, and there are no units to learn."
    assert model.model_.expansion.name == "linear"
    slopes = (model.unit_weights_ @ model.model_.parts[0].units["slopes"])[0]
    np.testing.assert_allclose(slopes * X.std(axis=0), [1, 2, 1, 0, -1], atol=4 * 0.5 / np.sqrt(n) + 0.02)


def test_it_is_ridge_regression():
    X, y = linear_problem(60)
    model = LowRankLSSVR(basis="linear", C=2.0, random_state=0).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    t = (y - y.mean()) / y.std()
    beta = np.linalg.solve(Z.T @ Z + np.eye(5) / 2.0, Z.T @ t)
    np.testing.assert_allclose(model.predict(X), y.mean() + y.std() * (Z @ beta), rtol=1e-9)


def test_a_trend_under_a_rule_gets_curves_beside_units():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(1500, 3))
    y = 5 * X[:, 0] - 4 * X[:, 1] + 3 * ((X[:, 0] > 0.5) & (X[:, 2] > 0)) + 0.1 * rng.normal(size=1500)
    model = LowRankLSSVR(random_state=0).fit(X, y)
    assert "curves" in model.model_.expansion.name
    assert 0 < model.n_units_ <= 40
    assert model.score(X, y) > 0.99


def test_a_parabola_of_one_feature_is_said_in_few_numbers_of_that_feature():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(500, 4))
    y = X[:, 1] ** 2 + 0.2 * rng.normal(size=500)
    model = LowRankLSSVR(random_state=0).fit(X, y)
    assert model.n_numbers_ <= 150
    assert model.feature_importances_[1] > 0.95
    assert model.score(X, y) > 0.95


def test_one_step_across_a_direction_ends_as_few_steps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=2000) > 0
    model = LowRankLSSVC(random_state=0).fit(X, y)
    assert model.n_numbers_ <= 80
    assert model.score(X, y) > 0.9


def test_features_that_do_not_vary_are_no_part_of_it():
    X, y = linear_problem(100)
    X = np.column_stack([X, np.full(100, 7.0)])
    model = LowRankLSSVR(basis="linear", random_state=0).fit(X, y)
    assert len(model.model_.expansion) == 5


def test_a_linear_basis_has_a_unit_for_every_feature():
    X, y = linear_problem(50)
    for options in ({"n_units": 3}, {"init": X[:2]}):
        with pytest.raises(ValueError, match="has a unit for every feature"):
            LowRankLSSVR(basis="linear", **options).fit(X, y)


def test_noise_of_many_features_promises_nothing():
    """Weights that fit every row would have no leave-one-out error at all; folds are not deceived."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), rng.normal(size=40)
    for basis in ("auto", "linear"):
        model = LowRankLSSVR(basis=basis, random_state=0).fit(X, y)
        assert min(model.selection_["loss"]) > 0.3  # of 0.5 for noise that nothing foretells
        assert model.expected_error_ > 0.6


def test_linear_models_are_saved(tmp_path):
    X, y = linear_problem(100)
    model = LowRankLSSVC(basis="linear", random_state=0).fit(X, y > 0)
    model.model_.save(tmp_path / "m.json")
    np.testing.assert_array_equal(sleek.load(tmp_path / "m.json").predict(X), model.predict(X))


# -- the path ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [150, 1100])
def test_the_path_is_the_ladder_and_says_which_rung_was_chosen(n):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    y = np.hypot(*X.T) > 1.2
    model = LowRankLSSVC(random_state=0).fit(X, y)
    path = model.path_
    assert path["n_numbers"] == sorted(path["n_numbers"])
    assert len(path["loss"]) >= 6
    assert sum(path["chosen"]) == 1
    assert "curves" in path["basis"]
    assert all(0 <= error <= 1 for error in path["error"])
    assert LowRankLSSVC(3, random_state=0).fit(X, y).path_ == {}


@given(st.integers(1, 10**5), st.integers(1, 10**5), st.integers(1, 10**5))
def test_fewer_numbers_are_worth_more_and_least_where_nobody_reads_them(a, b, c):
    few, some, many = sorted([a, b, c])
    assert worth(few, few) == 0.0
    assert 0.0 <= worth(some, few) <= worth(many, few) <= policy.MOST_SHARE
    assert worth(many, few) <= worth(many, some) + worth(some, few) + 1e-12
    assert worth(2 * many, many) <= policy.SHARE_PER_HALVING
    if few >= policy.READ_ONE_BY_ONE:
        assert worth(2 * few, few) == pytest.approx(policy.SHARE_BEYOND)


def test_a_rung_is_preferred_to_every_simpler_one_that_was_chosen_before():
    """The chosen one gains over all simpler ones, and no larger one gains enough over it."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=400)
    path = LowRankLSSVR(random_state=0).fit(X, y).path_
    chosen = path["chosen"].index(True)
    loss, numbers = path["loss"][chosen], path["n_numbers"][chosen]
    for simpler, less in list(zip(path["loss"], path["n_numbers"], strict=True))[:chosen][:3]:
        assert loss < (1 - worth(numbers, less)) * simpler
    assert min(path["loss"]) > 0.8 * loss


# -- few numbers ---------------------------------------------------------------------------------------------


def test_conditions_that_say_nothing_go():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 10))
    y = np.sign(X[:, 2]) * np.sign(X[:, 7]) + 0.2 * rng.normal(size=1500)
    model = LowRankLSSVR(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.n_units_ > 0
    for part in model.model_.parts:
        on = part.basis.features_on(part.units)
        if part.basis.learns:
            assert np.median(on.sum(axis=1)) <= 3
    assert model.feature_importances_[[2, 7]].sum() > 0.9


def test_numbers_are_counted_as_a_person_would():
    units = Units({"centers": np.array([[1.0, 0.0]]), "shapes": np.array([[2.0, 0.0]])})
    assert GaussianRBF().count_numbers(units).tolist() == [2]  # a centre and a width
    box = from_sides([[0.0, 1.0]], [[1.0, 2.0]], [[3.0, 0.0]], [[0.0, 0.0]])
    assert Box().count_numbers(box).tolist() == [2]  # one side: where, and how soft
    slopes = Units({"slopes": np.array([[1.0, 0.0, 2.0]]), "offsets": np.array([0.5])})
    assert Sigmoidal().count_numbers(slopes).tolist() == [3]
    assert Curves().count_numbers(ramps([0], [0.0], [1.0], 1)).tolist() == [2]
    X, y = linear_problem(200)
    model = LowRankLSSVR(random_state=0).fit(X, y)
    assert model.n_numbers_ == len(model.model_.theta) + 1


def test_numbers_of_a_chosen_model_have_few_digits_and_weights_are_solved_for_them():
    X, y = make_ripley(400, random_state=0)
    model = LowRankLSSVC(random_state=0).fit(X, y)
    for part in model.model_.parts:
        for array in (part.units["centers"], part.units["shapes"]) if "centers" in part.units.arrays else ():
            written = [
                len(f"{value:.12g}".replace("-", "").replace(".", "").lstrip("0")) for value in array.ravel()
            ]
            assert max(written) <= 5
    Phi, t = model.model_.features(X), np.where(y == 1, 1.0, -1.0)
    Pc = Phi - Phi.mean(axis=0)
    theta = np.linalg.solve(Pc.T @ Pc + np.eye(Phi.shape[1]) / model.C_, Pc.T @ (t - t.mean()))
    np.testing.assert_allclose(model.unit_weights_[0], theta, rtol=1e-6, atol=1e-9)


def test_a_removed_condition_costs_what_the_formula_says():
    """The estimate for one condition against the loss with the best weight for the changed unit."""
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(300, 3)), rng.normal(size=(300, 1))
    source = sample_of(number_source(X, T))
    units = GaussianRBF().start(X[:4], 0.2, rng)
    expansion = Expansion.of(GaussianRBF(), units)
    solution = solve(unit_moments(source, expansion), 5.0)
    training = Training(expansion, solution, 0, {}, "", True, None)
    items = fewer._items(training, source, 5.0)
    T = source.rows.T
    Phi, theta = expansion.features(source.rows.X), solution.theta
    residuals = T - Phi @ theta - solution.b
    for i in np.flatnonzero(items.switches >= 0):
        j, f = items.units[i], items.features[i]
        shapes = units["shapes"].copy()
        shapes[j, f] = 0.0
        new = GaussianRBF().features(source.rows.X, Units({"centers": units["centers"], "shapes": shapes}))[
            :, j
        ]
        old, new = Phi[:, j] - Phi[:, j].mean(), new - new.mean()
        delta = (new * (old @ new) / (new @ new) - old) * theta[j, 0]
        cost = 0.5 * np.sum((residuals[:, 0] - delta) ** 2) - 0.5 * np.sum(residuals**2)
        np.testing.assert_allclose(items.costs[i], cost, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", sorted(known_bases()))
def test_units_without_a_feature_are_units_whose_switch_is_0(name):
    """The quick way of a basis, which takes one term off a sum, against units in which a number is 0."""
    basis, rng = known_bases()[name](), np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    units = basis.start(X[:4], 0.7, rng)
    for switch in basis.switches if basis.learns else ():
        unit, feature = np.nonzero(units[switch])
        found = basis.features_without(X, units, switch, unit, feature)
        slow = Basis.features_without(basis, X, units, switch, unit, feature)
        np.testing.assert_allclose(found, slow, rtol=1e-9, atol=1e-12)


def test_a_unit_costs_what_it_costs_to_solve_without_it():
    rng = np.random.default_rng(1)
    X, T = rng.normal(size=(200, 2)), rng.normal(size=(200, 1))
    source = sample_of(number_source(X, T))
    expansion = Expansion.of(GaussianRBF(), GaussianRBF().start(X[:5], 0.3, rng))
    moments, C = unit_moments(source, expansion), 2.0
    training = Training(expansion, solve(moments, C), 0, {}, "", True, None)
    items = fewer._items(training, source, C)

    def objective(kept):
        some = moments.units(kept)
        return 0.5 * float(some.tt.sum() - np.sum(solve(some, C).theta * some.R))

    for j in range(5):
        without = objective(np.delete(np.arange(5), j)) - objective(np.arange(5))
        np.testing.assert_allclose(items.costs[j], without, rtol=1e-8)


def test_forward_selection_takes_what_lowers_the_objective_most():
    rng = np.random.default_rng(0)
    Phi, T = rng.normal(size=(80, 7)), rng.normal(size=(80, 2))
    moments, C, kept = Moments.of(Phi, T, np.ones(80)), 2.0, []

    def objective(columns):
        some = moments.units(np.array(columns))
        return some.tt.sum() - np.sum(solve(some, C).theta * some.R)

    for _ in range(4):
        kept.append(min(set(range(7)) - set(kept), key=lambda j: objective([*kept, j])))
    np.testing.assert_array_equal(forward_selection(moments, C, 4), kept)


@pytest.mark.parametrize("seed", range(4))
def test_pieces_that_follow_all_of_them_are_the_same_in_another_order_and_come_closer_to_them(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(300, 4))
    y = np.sin(2 * X[:, :1]) + X[:, 1:2] ** 2 + rng.normal(size=(300, 1))
    rows, strength, C = sample_of(number_source(X, y)), 3.0, 0.1
    by_targets = Dictionary(Curves(), strength, None)
    both = by_targets.of(rows), by_targets.following(C).of(rows)
    assert both[0].expansion is both[1].expansion
    assert sorted(both[0].order) == sorted(both[1].order) == list(range(len(both[0].expansion)))
    Phi, block = both[0].expansion.features(rows.rows.X), rows.rows
    theta, b = solve(Moments.of(Phi, block.T, block.s), C)
    smooth = Phi @ theta + b

    moments = Moments.of(Phi, smooth, block.s)

    def left(order, size):
        """The penalised error of so many pieces as a model of what all of them say."""
        some = moments.units(np.asarray(order[:size]))
        return float(some.tt.sum() - np.sum(solve(some, 1.0 / strength).theta * some.R))

    targets, follow = (np.array([left(one.order, size) for size in policy.PIECES]) for one in both)
    assert np.mean(follow / targets) < 0.99
    assert np.all(follow < 1.1 * targets)
    assert not np.array_equal(*(one.order for one in both))


# -- folds ---------------------------------------------------------------------------------------------------


def trials_on(X, y):
    sample = sample_of(number_source(X, y[:, None]))
    folds = folds_of(sample)
    trials = Trials([*folds, Split(sample, None)], [range(len(folds))], False, REQUEST, lambda line: None)
    start = partial(_at_leaves, Box(), np.full(X.shape[1], 8.0), _Leaves(12, None, None))
    return trials, Candidate(partial(place, Family(Box(), 8.0, start), None), 0, sample.outputs)


def test_models_of_folds_do_not_know_the_targets_they_leave_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    y = np.where(X[:, 0] > 0.3, 1.0, -1.0) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=160)
    y -= y.mean()
    trials, candidate = trials_on(X, y)
    out = trials.splits[0].out.numbers
    other = y.copy()
    other[out] = y[out][::-1]  # the same mean and spread
    others, same = trials_on(X, other)
    chains = [(candidate, *shorter(trials, candidate)[:2]), (same, *shorter(others, same)[:2])]
    for one, two in zip(*chains, strict=True):
        thetas = [t.draft(c, 0).training.solution.theta for t, c in ((trials, one), (others, two))]
        np.testing.assert_allclose(*thetas, rtol=1e-6)
        whole = [t.draft(c, t.main).training.solution.theta for t, c in ((trials, one), (others, two))]
        assert whole[0].shape != whole[1].shape or not np.allclose(*whole)


def test_nothing_is_trained_twice():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = np.tanh(3 * X[:, 0]) + 0.1 * rng.normal(size=120)
    trials, candidate = trials_on(X, y - y.mean())
    first = trials.judge(candidate)
    assert trials.judge(candidate) is first
    assert trials.draft(candidate, 0) is trials.draft(candidate, 0)
    stronger = candidate.stronger(1)
    assert trials.draft(stronger, 0).start is trials.draft(candidate, 0).start
    assert trials.draft(stronger, 0).training.n_iter <= policy.GOING_ON
    best = best_strength(trials, candidate)
    assert trials.judge(best).loss <= min(first.loss, trials.judge(stronger).loss)


def test_the_path_as_a_picture():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib.figure import Figure

    X, y = linear_problem(120)
    model = LowRankLSSVR(random_state=0).fit(X, y)
    ax = plot_path(model, Figure().subplots())
    assert ax.get_ylabel() == "mean squared error"
    assert ax.get_xlabel() == "numbers to read"
    assert f"chosen: {model.n_numbers_} numbers" in [text.get_text() for text in ax.get_legend().get_texts()]
    with pytest.raises(ValueError, match="one size only"):
        plot_path(LowRankLSSVR(2, random_state=0).fit(X, y))


@pytest.mark.parametrize("seed", range(600, 608))
def test_the_model_itself_is_as_good_as_those_of_folds(seed):
    """The way of all rows may end in a poor minimum, as that of the sixth sample does (42 % of mistakes)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20_600, 10))
    chances = 1.0 / (1.0 + np.exp(-4.0 * np.tanh(2.0 * X[:, 0] * X[:, 1]) - X[:, 2]))
    y = rng.random(len(X)) < chances
    model = LowRankLSSVC(random_state=seed).fit(X[:600], y[:600])
    error = np.mean(model.predict(X[600:]) != y[600:])
    assert error < 1.3 * max(model.expected_error_, 0.16)  # 0.16 is what the best possible one has
    path = model.path_
    assert path["n_numbers"][path["chosen"].index(True)] >= model.n_numbers_  # rounding may take some away
    assert path["n_units"][path["chosen"].index(True)] == model.n_units_
