"""Whole-model leave-one-out against refits without each row, and its three routes against each other."""

from dataclasses import replace

import numpy as np
import pytest
from made_sources import class_source, number_source, sample_of
from scipy.stats import spearmanr

import sleek.closed_form.leave_one_out as module
from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.bases import known_bases
from sleek.bases.expansion import Expansion
from sleek.closed_form.leave_one_out import Trained, whole_model_loo
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Penalty, solve
from sleek.datasets import make_ripley
from sleek.fit.judge import folds_of, pool
from sleek.rows.dealing import Hands
from sleek.trainers.base import Problem
from sleek.trainers.varpro import VariableProjection


def trained_on(source, name, n_units, penalty, tol=1e-10, seed=0):
    basis, rng = known_bases()[name](), np.random.default_rng(seed)
    start = Expansion.of(basis, basis.start(source.X[:n_units], 0.5, rng))
    trainer = VariableProjection(max_iter=2000, tol=tol)
    training = trainer.train(Problem(source, start, penalty))
    trained = Trained(training.expansion, training.solution, penalty, training.coordinates)
    return trained, start, trainer, training


def two_class_source(n=40, seed=0):
    X, y = make_ripley(n, random_state=seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return class_source(X, y)


def without(source, n):
    keep = np.arange(source.n_rows) != n
    return class_source(source.X[keep], source.y.codes[keep], source.s[keep])


@pytest.mark.parametrize("name", ["gaussian_rbf", "sigmoidal", "robust_rbf"])
def test_it_is_close_to_refitting_without_each_row(name):
    """Refits warm-started from the full fit: rank correlation above 0.97, mean square within 15 %.

    The leave-one-out that is blind to the units' learning is far off on the same problem.
    """
    source, penalty = two_class_source(), Penalty(C=3.0, prior=0.5)
    trained, start, trainer, full = trained_on(source, name, 3, penalty, tol=1e-8)
    formula = whole_model_loo(sample_of(source), trained).residuals[:, 0]
    brute = np.empty(source.n_rows)
    for n in range(source.n_rows):
        again = trainer.train(Problem(without(source, n), start, penalty, full.reached))
        output = again.expansion.features(source.X[n : n + 1]) @ again.solution.theta + again.solution.b
        brute[n] = source.outputs.encode(source.y[n : n + 1])[0, 0] - output[0, 0]
    assert spearmanr(formula, brute)[0] > 0.97
    assert np.mean(formula**2) == pytest.approx(np.mean(brute**2), rel=0.15)
    blind = whole_model_loo(sample_of(source), replace(trained, coordinates=None)).residuals
    assert np.mean(blind**2) < 0.95 * np.mean(brute**2)


def test_it_is_exact_for_units_that_are_not_learnt():
    source, penalty = two_class_source(), Penalty(C=3.0, prior=1.0)
    trained, *_ = trained_on(source, "gaussian_rbf", 4, penalty)
    fixed = replace(trained, coordinates=None)
    formula = whole_model_loo(sample_of(source), fixed).residuals[:, 0]
    Phi, t = trained.expansion.features(source.X), source.outputs.encode(source.y)[:, 0]
    for n in range(source.n_rows):
        keep = np.arange(source.n_rows) != n
        P = Phi[keep] - Phi[keep].mean(axis=0)
        theta = np.linalg.solve(P.T @ P + np.eye(4) / 3.0, P.T @ t[keep])
        expected = t[n] - t[keep].mean() - (Phi[n] - Phi[keep].mean(axis=0)) @ theta
        assert formula[n] == pytest.approx(expected, rel=1e-9)


def linearised_refits(source, trained):
    """The definition: ridge regression on [Φ, J] about the trained point, refitted without each row.

    A row whose residual the linear model shrinks keeps its own, divided by the same 1 - h.
    """
    X, s, T = source.X, source.s, source.outputs.encode(source.y)
    Phi = trained.expansion.features(X)
    theta, b = solve(Moments.of(Phi, T, s), trained.penalty.C)
    now = T[:, 0] - Phi @ theta[:, 0] - b
    theta = theta[:, 0]
    J = np.hstack([Phi, trained.derivatives(X, Phi) * theta[trained.owners]])
    u = np.r_[np.zeros(len(theta)), trained.u]
    R = np.r_[np.full(len(theta), 1 / trained.penalty.C), np.full(len(trained.u), trained.penalty.prior)]
    target = T[:, 0] + J @ u
    centred = J - s @ J / s.sum()
    beta = np.linalg.solve(centred.T @ (centred * s[:, None]) + np.diag(R), centred.T @ (s * target))
    stepped = target - s @ target / s.sum() - centred @ beta
    residuals = np.empty(len(X))
    for n in range(len(X)):
        w = s.copy()
        w[n] -= 1.0  # one observation less
        mean_J, mean_t = w @ J / w.sum(), w @ target / w.sum()
        A = (J - mean_J).T @ ((J - mean_J) * w[:, None]) + np.diag(R)
        beta = np.linalg.solve(A, (J - mean_J).T @ (w * (target - mean_t)))
        residuals[n] = target[n] - mean_t - (J[n] - mean_J) @ beta
    return np.where(np.abs(now) > np.abs(stepped), residuals * now / stepped, residuals)


@pytest.mark.parametrize("integer_weights", [False, True])
@pytest.mark.parametrize("n_units", [3, 25], ids=["numbers", "rows"])
def test_both_routes_are_the_linearised_refits(n_units, integer_weights):
    """3 units: fewer learnt numbers than rows; 25 units: more. Stopped early, so that the step counts."""
    source = two_class_source(40)
    if integer_weights:
        s = np.random.default_rng(0).integers(1, 4, size=40).astype(float)
        source = class_source(source.X, source.y.codes, s)
    trained, *_ = trained_on(source, "gaussian_rbf", n_units, Penalty(C=3.0, prior=0.5), tol=1e-3)
    assert (len(trained.owners) > 40) == (n_units == 25)
    formula = whole_model_loo(sample_of(source), trained).residuals[:, 0]
    np.testing.assert_allclose(formula, linearised_refits(source, trained), rtol=1e-6, atol=1e-9)


def test_row_route_and_number_route_agree():
    source = two_class_source(50)
    trained, *_ = trained_on(source, "robust_rbf", 20, Penalty(C=2.0, prior=0.3), tol=1e-3)
    rows = whole_model_loo(sample_of(source), trained).residuals
    sample = sample_of(source)
    numbers = sample.map_reduce(module._InNumberSpace(sample, trained).residuals).residuals
    np.testing.assert_allclose(rows, numbers, rtol=1e-6, atol=1e-8)


def test_block_size_and_pieces_do_not_matter(monkeypatch):
    source, penalty = two_class_source(100), Penalty(C=2.0, prior=0.3)
    trained, *_ = trained_on(source, "gaussian_rbf", 4, penalty, tol=1e-4)
    whole = whole_model_loo(sample_of(source), trained).residuals
    monkeypatch.setattr(module, "PIECE", 200)
    cut = sample_of(source, block_rows=33, n_jobs=2)
    np.testing.assert_allclose(whole_model_loo(cut, trained).residuals, whole, rtol=1e-8)


def test_refitted_folds_say_the_same_as_leave_one_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]]) + 0.2 * rng.normal(size=(300, 2))
    source = number_source(X, Y)
    trained, start, trainer, _ = trained_on(source, "gaussian_rbf", 8, Penalty(C=5.0, prior=0.5), tol=1e-5)
    sample = sample_of(source)
    closed, splits = whole_model_loo(sample, trained).residuals, folds_of(sample, 5)
    models = [trainer.train(Problem(split.rest, start, trained.penalty)) for split in splits]
    judged = [split.residuals(model) for split, model in zip(splits, models, strict=True)]
    folds = pool(sample, judged, splits)[1].residuals
    assert np.mean(folds**2) == pytest.approx(np.mean(closed**2), rel=0.25)
    assert np.corrcoef(folds.ravel(), closed.ravel())[0, 1] > 0.9


def test_weights_are_dealt_evenly_and_completely():
    s = np.r_[np.ones(37), 12.0, 2.5, 0.3, 7.0]
    hands = Hands(s, np.random.default_rng(0).random(len(s))).deal(5)
    np.testing.assert_allclose(hands.sum(axis=0), s)
    assert hands.min() == 0.0
    assert np.ptp(hands[:, 37]) <= 1.0
    assert np.ptp(hands.sum(axis=1)) <= 2.0
    assert np.count_nonzero(hands[:, :37]) == 37


def test_published_errors_are_honest():
    """Within three standard errors of the error on 20,000 fresh rows; the training error is not below."""
    X, y = make_ripley(20_300, random_state=0)
    model = LowRankLSSVC(random_state=0).fit(X[:300], y[:300])
    fresh = 1 - model.score(X[300:], y[300:])
    assert abs(model.expected_error_ - fresh) < 3 * np.sqrt(fresh * (1 - fresh) / 300)
    assert model.left_out_residuals_.shape == (300,)
    assert model.left_out_rows_.tolist() == list(range(300))
    t = 2.0 * y[:300] - 1
    assert np.mean((t - model.left_out_residuals_ > 0) != (t > 0)) * model.optimism_ == pytest.approx(
        model.expected_error_
    )


def test_regression_errors_are_in_the_users_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = 1000 + 50 * (np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=200))
    model = LowRankLSSVR(random_state=0).fit(X, y)
    assert model.expected_error_ == pytest.approx(model.optimism_ * np.mean(model.left_out_residuals_**2))
    assert 15 < np.sqrt(model.expected_error_) < 25


@pytest.mark.parametrize(
    ("n_rows", "judged", "how"), [(490, 490, "refitted folds"), (5000, 1667, "rows held out")]
)
def test_large_data_are_judged_on_a_stated_sample(n_rows, judged, how):
    X, y = make_ripley(n_rows, random_state=0)
    model = LowRankLSSVC(5, basis="gaussian_rbf", C=10.0, shape=0.5, random_state=0).fit(X, y)
    assert len(model.left_out_rows_) == len(model.left_out_residuals_) == judged
    assert len(set(model.left_out_rows_)) == judged
    assert model.expected_error_method_ == how
