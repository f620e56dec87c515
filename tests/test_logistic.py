"""The logistic loss: values against an oracle, gradients against differences, and what refining does."""

import pickle

import numpy as np
import pytest
from made_sources import class_source, sample_of
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import sleek
from sleek import GaussianRBF, Linear, LowRankLSSVC, VariableProjection
from sleek.bases.expansion import Expansion
from sleek.closed_form.least_squares import touching_moments
from sleek.closed_form.leave_one_out import Trained, fixed_units_loo
from sleek.closed_form.solve import Penalty
from sleek.datasets import make_ripley
from sleek.model.saving import dumps
from sleek.outputs import ClassOutputs
from sleek.outputs.loss import LOGISTIC
from sleek.trainers.base import Limit, Problem, Reached
from sleek.trainers.joint import Joint

CLASSES = pytest.mark.parametrize("n_classes", [2, 3, 5])


def codes(n_classes, n=40, seed=0):
    """Targets ±1 and some outputs."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    k = 1 if n_classes == 2 else n_classes
    T = np.where(y[:, None] == (np.ones(1) if k == 1 else np.arange(k)), 1.0, -1.0)
    return y, T, rng.normal(scale=3.0, size=(n, k))


@CLASSES
def test_the_loss_is_minus_the_log_of_the_probability(n_classes):
    y, T, Y = codes(n_classes)
    odds = np.exp(np.hstack([np.zeros_like(Y), Y]) if n_classes == 2 else Y)
    p = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(LOGISTIC.values(T, Y), -np.log(p[np.arange(len(y)), y]), rtol=1e-12)


@CLASSES
def test_slopes_are_those_of_differences_and_of_the_touching_problem(n_classes):
    _, T, Y = codes(n_classes)
    slopes = LOGISTIC.slopes(T, Y)
    values, same = LOGISTIC.values_and_slopes(T, Y)
    np.testing.assert_allclose(values, LOGISTIC.values(T, Y), atol=1e-12)
    np.testing.assert_allclose(same, slopes, atol=1e-12)
    for j in range(Y.shape[1]):
        e = np.zeros_like(Y)
        e[:, j] = 1e-6
        difference = (LOGISTIC.values(T, Y + e) - LOGISTIC.values(T, Y - e)) / 2e-6
        np.testing.assert_allclose(slopes[:, j], difference, atol=1e-8)
    targets, w = LOGISTIC.working(T, Y)
    np.testing.assert_allclose(w[:, None] * (Y - targets), slopes, atol=1e-12)


@CLASSES
def test_the_touching_problem_is_nowhere_below_the_loss_or_has_its_curvature(n_classes):
    _, T, Y = codes(n_classes)
    targets, w = LOGISTIC.working(T, Y)
    if n_classes == 2:
        e = 1e-4
        second = (LOGISTIC.values(T, Y + e) - 2 * LOGISTIC.values(T, Y) + LOGISTIC.values(T, Y - e)) / e**2
        np.testing.assert_allclose(w, second, atol=1e-6)
        return
    other = Y + np.random.default_rng(1).normal(size=Y.shape)
    above = 0.5 * w * (np.sum((targets - other) ** 2, axis=1) - np.sum((targets - Y) ** 2, axis=1))
    assert (LOGISTIC.values(T, other) <= LOGISTIC.values(T, Y) + above + 1e-12).all()


def test_outputs_beyond_float64_have_finite_losses():
    T, Y = np.array([[1.0], [-1.0]]), np.array([[-1e300], [1e300]])
    assert np.isfinite(LOGISTIC.values(T, Y)).all()
    T, Y = np.array([[1.0, -1.0, -1.0]]), np.array([[-1e300, 1e300, 0.0]])
    assert np.isfinite(LOGISTIC.values(T, Y)).all()
    assert np.isfinite(LOGISTIC.working(T, Y)[0]).all()


# -- training ------------------------------------------------------------------------------------------------


def problem(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X, s = rng.normal(size=(90, 3)), rng.uniform(0.5, 2.0, size=90)
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=90), np.linspace(-0.3, 1.5, n_classes - 1))
    source = class_source(X, y, s, block_rows=23)
    source = source.with_outputs(source.outputs.refinement())
    return source, Expansion.of(GaussianRBF(), GaussianRBF().start(X[:4], 0.2, rng))


@CLASSES
def test_the_joint_gradient_is_that_of_differences(n_classes):
    source, start = problem(n_classes)
    objective = Joint(source, start.coordinates(), Penalty(3.0, 0.7), Reached(start))
    at = objective.first + 0.1 * np.random.default_rng(1).normal(size=len(objective.first))
    gradient = objective(at)[1]
    for i in range(len(at)):
        e = np.zeros(len(at))
        e[i] = 1e-6
        difference = (objective(at + e)[0] - objective(at - e)[0]) / 2e-6
        assert gradient[i] == pytest.approx(difference, rel=1e-4, abs=1e-5)


@CLASSES
def test_with_units_that_stay_it_is_penalised_logistic_regression(n_classes):
    source, start = problem(n_classes)
    start = Expansion.of(Linear(), Linear().start(np.zeros((3, 3)), 1.0, np.random.default_rng(0)))
    training = VariableProjection(max_iter=2000, tol=1e-14).train(Problem(source, start, Penalty(3.0, 1.0)))
    block = source.rows_at(np.arange(source.n_rows))
    oracle = LogisticRegression(C=3.0, max_iter=10_000, tol=1e-10)
    Phi = start.features(block.X)
    y = (block.T[:, 0] > 0) if n_classes == 2 else block.T.argmax(axis=1)
    oracle.fit(Phi, y, block.s)
    Y = training.expansion.features(block.X) @ training.solution.theta + training.solution.b
    mine, theirs = LOGISTIC.probabilities(Y), oracle.predict_proba(Phi)
    np.testing.assert_allclose(mine, theirs[:, 1:] if n_classes == 2 else theirs, atol=1e-3)


def test_it_goes_on_from_units_and_weights_that_were_reached():
    source, start = problem(3)
    trainer, penalty = VariableProjection(tol=1e-12), Penalty(3.0, 0.7)
    short = trainer.train(Problem(source, start, penalty, limit=Limit(joint=10)))
    longer = trainer.train(Problem(source, start, penalty, short.reached, limit=Limit(joint=10)))
    assert longer.history["objective"][0] <= short.history["objective"][-1]
    assert short.status == "Stopped after 10 iterations: more would not pay."


def test_more_units_weigh_nothing_at_first_and_some_can_be_taken():
    source, start = problem(3)
    reached = VariableProjection(max_iter=5).train(Problem(source, start, Penalty(3.0, 0.7))).reached
    block = source.rows_at(np.arange(source.n_rows))
    more = reached.plus(start.take(np.arange(2)))
    assert len(more.expansion) == 6

    def outputs(at):
        return at.expansion.features(block.X) @ at.solution.theta + at.solution.b

    np.testing.assert_allclose(outputs(more), outputs(reached), atol=1e-12)
    kept = reached.take(np.array([0, 2]))
    Phi = reached.expansion.features(block.X)[:, [0, 2]]
    np.testing.assert_allclose(outputs(kept), Phi @ reached.solution.theta[[0, 2]] + reached.solution.b)


def test_two_classes_leave_one_out_is_close_to_refitting():
    source, start = problem(2)
    penalty = Penalty(3.0, 1e9)
    full = VariableProjection(max_iter=500, tol=1e-13).train(Problem(source, start, penalty))
    sample = sample_of(source)
    moments = touching_moments(source, start, full.solution)
    left = fixed_units_loo(sample, Trained(start, full.solution, penalty, None), moments).outputs[:, 0]
    block = source.rows_at(np.arange(source.n_rows))
    Phi = start.features(block.X)

    def without(row):
        kept = np.arange(len(Phi)) != row

        def objective(v):
            Y = Phi[kept] @ v[:-1] + v[-1]
            return 0.5 * v[:-1] @ v[:-1] / 3.0 + block.s[kept] @ LOGISTIC.values(block.T[kept], Y[:, None])

        v = minimize(objective, np.append(full.solution.theta[:, 0], full.solution.b), tol=1e-10).x
        return Phi[row] @ v[:-1] + v[-1]

    rows = range(0, 90, 6)
    np.testing.assert_allclose(left[list(rows)], [without(row) for row in rows], atol=0.05)


# -- estimators ----------------------------------------------------------------------------------------------


def masked_classes(n=1500, seed=0):
    """Ten classes along a line: least squares masks those in the middle."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, np.minimum((10 * X[:, 0]).astype(int), 9)


def test_classes_between_others_are_not_masked():
    (X, y), (X_new, y_new) = masked_classes(), masked_classes(seed=1)
    options = {"n_units": 6, "basis": "sigmoidal", "random_state": 0}
    squared = LowRankLSSVC(**options, loss="squared_error").fit(X, y)
    refined = LowRankLSSVC(**options).fit(X, y)
    assert refined.model_.outputs.loss is LOGISTIC
    assert 1 - refined.score(X_new, y_new) < 0.5 * (1 - squared.score(X_new, y_new))


def test_log_odds_are_saved_loaded_and_said(tmp_path):
    X, y = masked_classes()
    model = LowRankLSSVC(4, basis="sigmoidal", loss="log_loss", random_state=0).fit(X, y).model_
    path = tmp_path / "model.json"
    model.save(path)
    again = sleek.load(path)
    assert again.outputs.loss is LOGISTIC
    assert again.outputs.describe() == "one of 10 classes by log-odds"
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"`classes\.loss` must be one of log_loss, logistic"):
        ClassOutputs.from_json({**model.outputs.to_json(), "loss": "hinge"}, 10)


@pytest.mark.parametrize("n", [120, 1200])
def test_it_can_be_asked_for_on_any_number_of_rows(n):
    X, y = masked_classes(n)
    y = np.where(y > 4, "b", "a")
    model = LowRankLSSVC(loss="log_loss", basis="gaussian_rbf", random_state=0).fit(X, y)
    assert model.model_.outputs.loss is LOGISTIC
    assert model.score(X, y) > 0.95
    assert model.expected_error_ < 0.1


def test_it_can_be_asked_for_with_every_setting_fixed():
    X, y = masked_classes(200)
    fixed = {"basis": "gaussian_rbf", "C": 10.0, "shape": 0.5, "trainer": VariableProjection(pull=1e-3)}
    assert LowRankLSSVC(5, **fixed, random_state=0).fit(X, y > 4).model_.outputs.loss is not LOGISTIC
    model = LowRankLSSVC(5, **fixed, loss="log_loss", random_state=0).fit(X, y > 4)
    assert model.model_.outputs.loss is LOGISTIC
    assert model.C_ == 10.0
    assert model.score(X, y > 4) > 0.95


def test_a_trainer_without_a_pull_cannot_refine():
    X, y = masked_classes(60)
    with pytest.raises(ValueError, match="use trainer='varpro'"):
        LowRankLSSVC(3, trainer="alternating", loss="log_loss").fit(X, y)
    with pytest.raises(ValueError, match="loss"):
        LowRankLSSVC(loss="hinge").fit(X, y)


def test_weights_are_solved_on_all_rows_of_large_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 2))
    y = rng.uniform(size=60_000) < 1 / (1 + np.exp(-3 * np.sin(2 * X[:, 0])))
    model = LowRankLSSVC(5, basis="gaussian_rbf", loss="log_loss", max_samples=9000, random_state=0).fit(X, y)
    p = LOGISTIC.probabilities(model.decision_function(X)[:, None])[:, 0]
    slope = model.model_.expansion.features(X).T @ (p - y) + model.unit_weights_[0] / model.C_
    assert np.abs(slope).max() < 1e-3 * len(X)
    assert abs((p - y).mean()) < 1e-3


def test_a_model_that_was_pickled_is_saved_with_its_own_loss():
    X, y = make_ripley(150, random_state=0)
    for loss in ("squared_error", "log_loss"):
        fitted = LowRankLSSVC(2, basis="gaussian_rbf", C=1.0, shape=0.5, loss=loss, random_state=0).fit(X, y)
        model = pickle.loads(pickle.dumps(fitted)).model_
        assert dumps(model) == dumps(fitted.model_)
        assert repr(model.outputs.describe()) == repr(fitted.model_.outputs.describe())
