"""Variable projection: the gradient is that of finite differences, theta and b are eliminated exactly."""

import numpy as np
import pytest
from made_sources import number_source
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from sleek import LowRankLSSVC, LowRankLSSVR, VariableProjection
from sleek.bases import known_bases
from sleek.bases.expansion import Expansion, Part
from sleek.closed_form.solve import Penalty
from sleek.trainers.base import Reached
from sleek.trainers.varpro import _Reduced

NAMES = ["gaussian_rbf", "robust_rbf", "sigmoidal", "simplex"]
BASES = pytest.mark.parametrize("name", NAMES)
MIXED = pytest.mark.parametrize("name", [*NAMES, "gaussian_rbf+sigmoidal"])
PENALTY = Penalty(C=3.0, prior=0.7)


def problem(name, k=2, seed=0):
    rng = np.random.default_rng(seed)
    X, Y, s = rng.normal(size=(60, 3)), rng.normal(size=(60, k)), rng.uniform(0.5, 2.0, size=60)
    source = number_source(X, Y, s, block_rows=23)
    parts = []
    for word in name.split("+"):
        basis = known_bases()[word]()
        parts.append(Part(basis, basis.start(X[:4], 0.2, rng)))
    coordinates = Expansion(tuple(parts)).coordinates()
    return source, coordinates, 0.1 * rng.normal(size=len(coordinates.owners))


@MIXED
def test_gradient_is_that_of_finite_differences(name):
    source, coordinates, u = problem(name)
    objective = _Reduced(source, coordinates, PENALTY, Reached(coordinates.start))
    gradient = objective(u)[1]
    for i in range(len(u)):
        e = np.zeros(len(u))
        e[i] = 1e-6
        difference = (objective(u + e)[0] - objective(u - e)[0]) / 2e-6
        assert gradient[i] == pytest.approx(difference, rel=1e-4, abs=1e-8)


@MIXED
def test_value_is_the_minimum_over_theta_and_b(name):
    source, coordinates, u = problem(name, k=1)
    Phi = coordinates.expansion(u).features(source.X)
    T, s = source.outputs.encode(source.y), source.s

    def full(parameters):
        theta, b = parameters[:-1], parameters[-1]
        r = T[:, 0] - Phi @ theta - b
        return 0.5 * theta @ theta / PENALTY.C + 0.5 * s @ r**2 + 0.5 * PENALTY.prior * u @ u

    least = minimize(full, np.zeros(Phi.shape[1] + 1), tol=1e-12).fun
    total = s @ (T[:, 0] - np.average(T[:, 0], weights=s)) ** 2
    assert _Reduced(source, coordinates, PENALTY, Reached(coordinates.start))(u)[0] == pytest.approx(
        least / total, rel=1e-6
    )


@MIXED
def test_keeping_unit_values_between_passes_changes_nothing(name, monkeypatch):
    source, coordinates, u = problem(name)
    kept = _Reduced(source, coordinates, PENALTY, Reached(coordinates.start))(u)
    monkeypatch.setattr("sleek.trainers.varpro.KEEP_PHI", 0)
    again = _Reduced(source, coordinates, PENALTY, Reached(coordinates.start))(u)
    assert kept[0] == again[0]
    np.testing.assert_array_equal(kept[1], again[1])


@BASES
def test_training_lowers_the_objective_and_says_that_it_converged(name, two_classes):
    trainer = VariableProjection(pull=1e-3, max_iter=500)
    model = LowRankLSSVC(5, basis=name, C=10.0, shape=0.3, trainer=trainer, random_state=0).fit(*two_classes)
    objective = model.history_["objective"]
    assert objective[-1] < objective[0]
    assert np.all(np.diff(objective) <= 1e-12)
    assert model.status_.startswith("Converged")
    assert model.n_iter_ == len(objective)
    assert model.pull_ == pytest.approx(1e-3)
    assert model.C_ == 10.0
    assert model.selection_ == {}


def test_too_few_iterations_warn_with_the_status(two_classes):
    trainer = VariableProjection(pull=1e-5, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations were not enough"):
        model = LowRankLSSVC(5, basis="robust_rbf", C=10.0, shape=0.3, trainer=trainer).fit(*two_classes)
    assert model.status_.startswith("Not converged")


def test_no_iterations_leave_the_units_at_their_start(two_classes):
    X, y = two_classes
    trainer = VariableProjection(pull=1e-3, max_iter=0)
    centers = X[:3]
    model = LowRankLSSVC(init=centers, basis="simplex", C=1.0, shape=0.2, trainer=trainer).fit(X, y)
    np.testing.assert_allclose(model.centers_, centers)
    assert model.status_ == "Not trained: max_iter is 0."


def test_a_strong_pull_holds_the_units(two_classes):
    X, y = two_classes
    fit = {"basis": "gaussian_rbf", "C": 10.0, "shape": 0.3, "init": X[:4]}
    held = LowRankLSSVC(trainer=VariableProjection(pull=1e6), **fit).fit(X, y)
    free = LowRankLSSVC(trainer=VariableProjection(pull=1e-4), **fit).fit(X, y)
    np.testing.assert_allclose(held.centers_, X[:4], atol=1e-4)
    assert np.abs(free.centers_ - X[:4]).max() > 0.1


def test_shapes_stay_non_negative_and_can_become_exactly_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.sin(2 * X[:, 0])
    trainer = VariableProjection(pull=1e-5, max_iter=500)
    model = LowRankLSSVR(6, basis="robust_rbf", C=100.0, shape=0.5, trainer=trainer, random_state=0).fit(X, y)
    assert model.shapes_.min() == 0.0
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pull": 0.0}, "`pull` must be a positive number or 'loo', got 0.0"),
        ({"pull": "auto"}, "`pull` must be a positive number or 'loo', got 'auto'"),
        ({"max_iter": -1}, "`max_iter` must be a whole number of at least 0, got -1"),
        ({"tol": 0}, "`tol` must be a positive number, got 0"),
    ],
)
def test_bad_settings(two_classes, options, message):
    with pytest.raises(ValueError, match=message):
        LowRankLSSVC(3, trainer=VariableProjection(**options)).fit(*two_classes)
