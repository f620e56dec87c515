"""The comparators of the paper's Table II: their formulas against obvious oracles, their known behaviour."""

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from paper.adaboost import AdaBoostRBF
from paper.adaboost_reg import AdaBoostRegRBF, SoftBoosting
from paper.lp_adaboost import LPRegAdaBoost, largest_soft_margin
from paper.qp_adaboost import QPRegAdaBoost, smallest_votes
from paper.rbf_net import RBFNetClassifier, error_and_gradient, k_means
from sleek.datasets import make_ripley

SMALL = {"n_rounds": 8, "n_centers": 3, "iterations": 3, "random_state": 0}
ALL = [
    RBFNetClassifier(3, iterations=3, random_state=0),
    AdaBoostRBF(**SMALL),
    AdaBoostRegRBF(0.1, **SMALL),
    LPRegAdaBoost(3.0, **SMALL),
    QPRegAdaBoost(1.0, **SMALL),
]


@parametrize_with_checks(ALL)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def noisy():
    """100 rows of two well separated classes, a fifth of their labels wrong, and clean test rows."""
    rng = np.random.default_rng(0)
    t = rng.choice([-1, 1], size=1100)
    X = rng.normal(size=(1100, 2)) * 0.5 + np.column_stack([t, np.zeros(1100)])
    wrong = np.zeros(1100, dtype=bool)
    wrong[:100] = rng.random(100) < 0.2
    return X[:100], np.where(wrong, -t, t)[:100], wrong[:100], X[100:], t[100:]


# -- RBF nets ------------------------------------------------------------------------------------------------


def test_gradient_of_the_net_is_that_of_finite_differences():
    rng = np.random.default_rng(1)
    X, s = rng.normal(size=(30, 3)), rng.random(30)
    s /= s.sum()
    t = np.sign(rng.normal(size=30))
    p = np.concatenate([rng.normal(size=12), rng.normal(size=4)])

    def error(p):
        return error_and_gradient(X, t, s, 1e-3, p[:12].reshape(4, 3), p[12:])[0]

    gradient = error_and_gradient(X, t, s, 1e-3, p[:12].reshape(4, 3), p[12:])[1]
    np.testing.assert_allclose(gradient, approx_fprime(p, error, 1e-6), atol=2e-6)


def test_output_weights_of_the_net_are_the_best_for_its_units():
    X, y = make_ripley(60, random_state=0)
    net = RBFNetClassifier(4, ridge=1e-2, random_state=0).fit(X, y).net_
    t = 2.0 * y - 1

    def error(w):
        G = np.exp(-((X[:, None] - net.centers) ** 2).sum(-1) / (2 * net.widths**2))
        return 0.5 * np.mean((t - G @ w) ** 2) + 0.5 * 1e-2 * w @ w

    assert error(net.weights) == pytest.approx(minimize(error, net.weights + 1.0).fun, rel=1e-8)


def test_training_lowers_the_nets_error():
    X, y = make_ripley(250, random_state=0)
    loss = [
        np.mean(
            (2.0 * y - 1 - RBFNetClassifier(4, iterations=n, random_state=0).fit(X, y).decision_function(X))
            ** 2
        )
        for n in (0, 10)
    ]
    assert loss[1] < 0.95 * loss[0]


def test_k_means_finds_separated_clusters_and_no_more_centres_than_rows():
    rng = np.random.default_rng(0)
    clusters = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    X = np.repeat(clusters, 20, axis=0) + 0.1 * rng.normal(size=(60, 2))
    found = [k_means(X, np.full(60, 1 / 60), 3, np.random.default_rng(seed)) for seed in range(10)]
    best = min(found, key=lambda c: np.sum(np.min(((X[:, None] - c) ** 2).sum(-1), axis=1)))
    np.testing.assert_allclose(best[np.lexsort(best.T)], [[0, 0], [10, 0], [0, 10]], atol=0.2)
    assert len(k_means(np.zeros((5, 2)), np.full(5, 0.2), 3, rng)) == 1


# -- AdaBoost ------------------------------------------------------------------------------------------------


def test_adaboost_weights_and_votes_are_the_textbooks(noisy):
    """Replayed from the published nets: votes log((1-ε)/ε), weights multiplied by exp(b) where wrong."""
    X, t, *_ = noisy
    model = AdaBoostRBF(15, n_centers=3, random_state=0).fit(X, t)
    weights = np.full(len(t), 1 / len(t))
    for net, vote in zip(model.nets_, model.votes_, strict=True):
        wrong = np.where(net.outputs(X) > 0, 1, -1) != t
        error = weights[wrong].sum()
        assert vote == pytest.approx(np.log((1 - error) / error), rel=1e-6)
        weights = weights * np.where(wrong, np.exp(vote), 1.0)
        weights /= weights.sum()
        assert weights[wrong].sum() == pytest.approx(0.5)  # the net is no better than chance afterwards
    agreement = np.mean(model.predict(X) == t)
    assert agreement == np.mean(model.margins_ > 0)


def test_adaboost_learns_wrong_labels_by_heart_and_the_regularised_ones_do_not(noisy):
    X, t, wrong, X_test, t_test = noisy
    settings = {"n_rounds": 80, "n_centers": 10, "random_state": 0}
    base = AdaBoostRBF(**settings).fit(X, t)
    plain = 1 - base.score(X_test, t_test)
    assert base.score(X, t) > 0.97  # its training error goes to zero ...
    assert base.score(X[wrong], t[wrong]) > 0.9  # ... wrong labels included ...
    assert base.margins_.min() > -0.1  # ... because their margins are driven up ...
    assert plain > 0.1  # ... which costs errors on clean rows
    soft = AdaBoostRegRBF(3.0, **settings).fit(X, t)
    lp = LPRegAdaBoost(2.0).revote(base, X, t)
    qp = QPRegAdaBoost(0.3).revote(base, X, t)
    for model in (soft, lp, qp):
        assert 1 - model.score(X_test, t_test) < 0.75 * plain
        assert model.score(X[wrong], t[wrong]) < base.score(X[wrong], t[wrong])
        assert np.mean(model.margins_[wrong]) < np.mean(base.margins_[wrong])


def test_a_perfect_net_ends_boosting():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = AdaBoostRBF(20, n_centers=2, random_state=0).fit(X, ["a", "a", "b", "b"])
    assert len(model.nets_) == 1
    assert model.predict([[0.05], [5.05]]).tolist() == ["a", "b"]


def test_a_problem_that_no_net_can_solve_still_gives_a_model():
    X, y = np.zeros((6, 2)), np.array([0, 1, 0, 1, 0, 1])
    assert AdaBoostRBF(5, n_centers=2, random_state=0).fit(X, y).score(X, y) == 0.5


def test_no_forgiveness_is_adaboost(noisy):
    X, t, *_ = noisy
    settings = {"n_rounds": 10, "n_centers": 3, "random_state": 0}
    plain, soft = AdaBoostRBF(**settings).fit(X, t), AdaBoostRegRBF(0.0, **settings).fit(X, t)
    np.testing.assert_array_equal(plain.votes_, soft.votes_)


def test_soft_votes_minimise_the_soft_loss():
    rng = np.random.default_rng(0)
    n = 20
    state = SoftBoosting(np.full(n, 1 / n), 0.2)
    given, margins, total = np.zeros(n), np.zeros(n), 0.0
    for _ in range(3):
        agreement = np.where(rng.random(n) < 0.3, -1.0, 1.0)
        weights = state.weights.copy()

        def loss(b, agreement=agreement, weights=weights, given=given, margins=margins, total=total):
            influence = (given + b * weights) / (total + b)
            soft = margins + b * agreement + 0.2 * (total + b) * (n * influence) ** 2
            return np.sum(np.exp(-0.5 * soft))

        error = float(weights @ (agreement < 0))
        vote = state.vote(agreement, error)
        grid = np.linspace(1e-6, np.log((1 - error) / error), 4000)
        assert loss(vote) <= min(loss(b) for b in grid) + 1e-6
        state.add(agreement, vote)
        given, margins, total = given + vote * weights, margins + vote * agreement, total + vote
        soft = margins + 0.2 * total * (n * given / total) ** 2
        np.testing.assert_allclose(state.weights, np.exp(-0.5 * soft) / np.exp(-0.5 * soft).sum())


# -- linear and quadratic programme --------------------------------------------------------------------------


def test_linear_programme_reaches_the_brute_force_margin():
    """For given votes the best ϱ and ξ are elementary: search all votes on a fine simplex grid."""
    rng = np.random.default_rng(0)
    H = np.where(rng.random((12, 3)) < 0.3, -1.0, 1.0)
    s, C, steps = np.full(12, 1 / 12), 3.0, 200
    best = -np.inf
    for i, j in itertools.product(range(steps + 1), repeat=2):
        if i + j <= steps:
            margins = H @ (np.array([i, j, steps - i - j]) / steps)
            # concave and piecewise linear in ϱ, so a maximum lies at a margin
            values = [rho - C * s @ np.maximum(0.0, rho - margins) for rho in margins]
            best = max(best, *values)
    votes, value = largest_soft_margin(H, s, C)
    assert votes.sum() == pytest.approx(1.0)
    assert value == pytest.approx(best, abs=2.0 / steps)
    margins = H @ votes
    assert value == pytest.approx(max(rho - C * s @ np.maximum(0.0, rho - margins) for rho in margins))


def test_hard_linear_programme_maximises_the_least_margin():
    rng = np.random.default_rng(1)
    H = np.where(rng.random((10, 4)) < 0.25, -1.0, 1.0)
    votes, value = largest_soft_margin(H, np.full(10, 0.1), 1e6)
    assert np.min(H @ votes) == pytest.approx(value, abs=1e-6)
    others = rng.dirichlet(np.ones(4), size=2000)
    assert np.min(H @ others.T, axis=0).max() <= value + 1e-9


def test_quadratic_programme_is_the_minimum_of_its_objective():
    rng = np.random.default_rng(0)
    H = np.where(rng.random((15, 4)) < 0.3, -1.0, 1.0)
    s, C = np.full(15, 1 / 15), 2.0

    def objective(b):
        return 0.5 * b @ b + C * s @ np.maximum(0.0, 1.0 - H @ b)

    votes = smallest_votes(H, s, C)
    assert votes.min() >= 0
    trials = np.abs(votes + 0.3 * rng.normal(size=(5000, 4)))
    near = np.abs(votes + 1e-3 * rng.normal(size=(5000, 4)))
    assert objective(votes) <= min(map(objective, np.vstack([trials, near]))) + 1e-7


def test_revoting_is_fitting(noisy):
    X, t, *_ = noisy
    for model in (LPRegAdaBoost(2.5, **SMALL), QPRegAdaBoost(1.0, **SMALL)):
        revoted = clone(model).revote(model.base().fit(X, t), X, t)
        np.testing.assert_array_equal(
            revoted.decision_function(X), clone(model).fit(X, t).decision_function(X)
        )


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LPRegAdaBoost(1.0, **SMALL), "`C` must be above 1, or the margin has no bound, got 1.0"),
        (QPRegAdaBoost(-1.0, **SMALL), "`C` must be a positive number, got -1.0"),
        (AdaBoostRegRBF(-1.0, **SMALL), "`C` must be a number of at least 0, got -1.0"),
        (AdaBoostRBF(0), "`n_rounds` must be a whole number of at least 1, got 0"),
        (RBFNetClassifier(0), "`n_centers` must be a whole number of at least 1, got 0"),
        (RBFNetClassifier(ridge=0.0), "`ridge` must be a positive number, got 0.0"),
    ],
)
def test_bad_settings_get_a_sentence(noisy, model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(*noisy[:2])
