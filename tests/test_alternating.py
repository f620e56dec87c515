"""Algorithm 1: its gradients are the paper's matrix formulas, its results the paper's figures."""

from functools import partial

import numpy as np
import pytest
from made_sources import class_source

from sleek import Alternating, GaussianRBF, LowRankLSSVC, LowRankLSSVR, RobustRBF, Simplex, Units
from sleek.bases.expansion import Expansion
from sleek.closed_form.least_squares import fit_outputs
from sleek.trainers.alternating import _Step
from sleek.trainers.criteria import OBJECTIVES


def paper_gradient(basis, X, t, units, C, objective, name, index):
    """vᵀ(∂K/∂ν)(a∘t) (absolute, target) and equation 35c (squared) with explicit N×N matrices.

    ∂φ_j/∂ν by central differences; a and b from the dense (N+1)×(N+1) system.
    """
    n, step, j = len(X), 1e-6, index[0]
    Phi = basis.features(X, units)
    K = Phi @ Phi.T
    A = np.zeros((n + 1, n + 1))
    A[0, 1:] = A[1:, 0] = t
    A[1:, 1:] = np.outer(t, t) * K + np.eye(n) / C
    solution = np.linalg.solve(A, np.r_[0.0, np.ones(n)])
    b, at = solution[0], solution[1:] * t
    y = K @ at + b
    up, down = units[name].copy(), units[name].copy()
    up[index] += step
    down[index] -= step
    higher = basis.features(X, Units({**units.arrays, name: up}))
    lower = basis.features(X, Units({**units.arrays, name: down}))
    d_phi = (higher[:, j] - lower[:, j]) / (2 * step)
    dK = np.outer(d_phi, Phi[:, j]) + np.outer(Phi[:, j], d_phi)
    if objective == "squared":
        return at @ (K @ dK + dK @ K) @ at + 2 * b * (at @ dK @ np.ones(n))
    return (np.sign(y) if objective == "absolute" else t) @ dK @ at


@pytest.mark.parametrize("objective", ["absolute", "target", "squared"])
@pytest.mark.parametrize("basis", [RobustRBF(), Simplex(), GaussianRBF()], ids=lambda basis: basis.name)
def test_gradient_is_the_papers_formula(objective, basis):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    codes = (X[:, 0] + 0.5 * rng.normal(size=50) > 0).astype(int)
    units = basis.start(rng.normal(size=(4, 3)), 0.15, rng)
    source, expansion = class_source(X, codes, block_rows=17), Expansion.of(basis, units)
    solution = fit_outputs(source, expansion, 20.0).solution
    step = _Step(expansion, solution, OBJECTIVES[objective], 20.0, source.outputs)
    sums = source.map_reduce(step.sums)
    (gradient,) = source.map_reduce(partial(step.gradient, sums.p)).parts
    for name in ("centers", "shapes"):
        for index in np.ndindex(4, 3):
            expected = paper_gradient(basis, X, 2.0 * codes - 1, units, 20.0, objective, name, index)
            np.testing.assert_allclose(gradient[name][index], expected, rtol=2e-5, atol=1e-4)


def paper_model(objective, n_units, shape, C, learning_rate, basis="robust_rbf", **options):
    return LowRankLSSVC(
        n_units,
        basis=basis,
        C=C,
        shape=shape,
        standardize=False,
        trainer=Alternating(objective, learning_rate=learning_rate, max_iter=100),
        **options,
    )


@pytest.mark.parametrize(
    ("model", "measured"),
    [
        (paper_model("absolute", 3, 0.2, 150.0, 0.0008, random_state=0), 8.1),
        (paper_model("squared", 3, 0.2, 20.0, 0.0005, random_state=0), 8.5),
        (paper_model("target", 3, 0.2, 150.0, 0.0008, random_state=0), 9.0),
    ],
    ids=["absolute", "squared", "target"],
)
def test_ripley_error_of_the_papers_settings(ripley, model, measured):
    """Published: 8.0, 8.3 and 8.0 % of 1000 test rows."""
    X, y, X_test, y_test = ripley
    error = 100 * (1 - model.fit(X, y).score(X_test, y_test))
    assert abs(error - measured) < 0.31


def test_each_step_has_the_length_of_the_learning_rate(two_classes):
    X, y = two_classes
    still = (
        paper_model("absolute", 4, 0.5, 10.0, 0.01, random_state=0).set_params(trainer__max_iter=0).fit(X, y)
    )
    moved = (
        paper_model("absolute", 4, 0.5, 10.0, 0.01, random_state=0).set_params(trainer__max_iter=1).fit(X, y)
    )
    np.testing.assert_allclose(np.linalg.norm(moved.centers_ - still.centers_, axis=1), 0.01)
    np.testing.assert_allclose(np.linalg.norm(moved.shapes_ - still.shapes_, axis=1), 0.01)
    assert still.n_iter_ == 0
    assert still.history_ == {"objective": [], "error": []}


def test_shapes_never_become_negative(two_classes):
    model = paper_model("target", 4, 0.01, 10.0, 0.1, random_state=0).fit(*two_classes)
    assert model.shapes_.min() >= 0.0


@pytest.mark.parametrize("objective", ["absolute", "target", "squared"])
def test_history_tells_objective_and_training_error(two_classes, objective):
    X, y = two_classes
    model = paper_model(objective, 3, 0.5, 10.0, 1e-3, random_state=0).fit(X, y)
    start = (
        paper_model(objective, 3, 0.5, 10.0, 1e-3, random_state=0).set_params(trainer__max_iter=0).fit(X, y)
    )
    output, t = start.decision_function(X), 2.0 * y - 1
    value = {"absolute": np.abs(output), "target": t * output, "squared": output**2}[objective].sum()
    assert model.history_["objective"][0] == pytest.approx(value)
    assert model.history_["error"][0] == pytest.approx(1 - start.score(X, y))
    assert model.n_iter_ == len(model.history_["error"]) == 100


def test_settings_can_be_chosen_by_plain_leave_one_out(two_classes):
    """Algorithm 1 does not fit the units to the targets, so only theta and b count as learnt."""
    X, y = two_classes
    model = LowRankLSSVC(4, basis="simplex", trainer="alternating", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    assert len(set(model.selection_["C"])) > 2
    assert sum(model.selection_["chosen"]) == 1
    assert model.expected_error_ == pytest.approx(1 - model.score(X, y), abs=0.03)


def test_the_objective_grows(two_classes):
    history = paper_model("squared", 4, 0.5, 10.0, 2e-3, random_state=0).fit(*two_classes).history_
    assert history["objective"][-1] > history["objective"][0]


def test_regression_history_is_the_mean_squared_error_in_the_users_units():
    x = np.linspace(-2, 2, 80)[:, None]
    y = 1000 + 50 * np.sin(2 * x[:, 0])
    settings = {"basis": "robust_rbf", "C": 10.0, "random_state": 0, "shape": 1.0}
    model = LowRankLSSVR(6, trainer=Alternating(max_iter=1), **settings).fit(x, y)
    start = LowRankLSSVR(6, trainer=Alternating(max_iter=0), **settings).fit(x, y)
    assert model.history_["error"][0] == pytest.approx(np.mean((start.predict(x) - y) ** 2))
