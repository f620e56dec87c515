"""Linear models where nothing else is there, linear parts where they pay, and sizes down to one unit."""

import numpy as np
import pytest

import sleek
from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.plots import plot_path


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


def test_a_trend_under_bumps_gets_a_linear_part():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(1500, 3))
    y = 5 * X[:, 0] - 4 * X[:, 1] + 3 * ((X[:, 0] > 0.5) & (X[:, 2] > 0)) + 0.1 * rng.normal(size=1500)
    model = LowRankLSSVR(random_state=0).fit(X, y)
    assert "linear" in model.model_.expansion.name
    assert model.n_units_ <= 40
    assert model.score(X, y) > 0.99


def test_one_step_ends_as_one_unit_or_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=600) > 0
    model = LowRankLSSVC(random_state=0).fit(X, y)
    assert model.n_units_ <= 7
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


def test_more_features_than_rows_are_no_linear_model_by_mistake():
    """Weights that fit every row would have no leave-one-out error at all."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), rng.normal(size=40)
    auto = LowRankLSSVR(random_state=0).fit(X, y)
    assert "linear" not in auto.selection_["basis"]
    asked = LowRankLSSVR(basis="linear", random_state=0).fit(X, y)
    assert min(asked.selection_["loss"]) > 0.3  # of 0.5 for noise that nothing foretells
    assert asked.expected_error_ > 0.6


def test_linear_models_are_saved(tmp_path):
    X, y = linear_problem(100)
    model = LowRankLSSVC(basis="linear", random_state=0).fit(X, y > 0)
    model.model_.save(tmp_path / "m.json")
    np.testing.assert_array_equal(sleek.load(tmp_path / "m.json").predict(X), model.predict(X))


# -- the path ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [150, 1100])
def test_the_path_has_every_size_once_and_says_which_was_chosen(n):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    y = np.hypot(*X.T) > 1.2
    model = LowRankLSSVC(random_state=0).fit(X, y)
    path = model.path_
    sizes = list(zip(path["n_units"], path["n_linear"], strict=True))
    assert sizes == sorted(set(sizes))
    assert len(sizes) >= 3
    assert sum(path["chosen"]) == 1
    assert path["n_units"][path["chosen"].index(True)] == model.n_units_
    assert all(0 <= error <= 1 for error in path["error"])
    assert LowRankLSSVC(3, random_state=0).fit(X, y).path_ == {}


def test_the_path_as_a_picture():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib.figure import Figure

    X, y = linear_problem(120)
    model = LowRankLSSVR(random_state=0).fit(X, y)
    ax = plot_path(model, Figure().subplots())
    assert ax.get_ylabel() == "mean squared error"
    assert (
        "chosen: 0 units"
        in ax.get_legend().get_texts()[-1].get_text() + ax.get_legend().get_texts()[0].get_text()
    )
    with pytest.raises(ValueError, match="one size only"):
        plot_path(LowRankLSSVR(2, random_state=0).fit(X, y))
