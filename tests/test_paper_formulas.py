"""Every formula of the paper as printed: right, or misprinted as docs/paper.md says."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from sleek import LSSVC, LowRankLSSVC, RobustRBF, Simplex, Units

N, M, D, GAMMA = 40, 3, 2, 25.0


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    t = np.where(X[:, 0] + 0.5 * rng.normal(size=N) > 0.3, 1.0, -1.0)
    return X, t, rng.normal(size=(M, D)), rng.uniform(0.1, 0.4, size=(M, D))


def features(X, c, mu, simplex=False):
    Z = np.sum(mu * np.abs(X[:, None] - c), axis=2)
    return np.maximum(0.0, 1.0 - Z) if simplex else np.exp(-Z)


def dense_solution(Omega, t, gamma):
    """b and a of equation LSSVM-Sol."""
    n = len(t)
    A = np.block([[np.zeros((1, 1)), t[None, :]], [t[:, None], Omega + np.eye(n) / gamma]])
    solution = np.linalg.solve(A, np.concatenate([[0.0], np.ones(n)]))
    return solution[0], solution[1:]


def test_dual_of_the_svm_lacks_a_half(rows):
    """An SVM's duals minimise ½(a∘t)ᵀK(a∘t) - 1ᵀa; without the ½, smaller multiples of them are better."""
    X, t, *_ = rows
    K = rbf_kernel(X, gamma=5.0)
    machine = SVC(C=1e4, gamma=5.0, tol=1e-10).fit(X, t)
    at = np.zeros(N)
    at[machine.support_] = machine.dual_coef_[0]
    scales = np.linspace(0.3, 1.0, 71)  # all of them feasible
    correct = [0.5 * s * s * at @ K @ at - s * np.abs(at).sum() for s in scales]
    printed = [s * s * at @ K @ at - s * np.abs(at).sum() for s in scales]
    assert scales[np.argmin(correct)] == pytest.approx(1.0)
    assert scales[np.argmin(printed)] == pytest.approx(0.5)


def test_lssvm_system_is_the_optimum_of_its_primal(rows):
    """For a linear kernel: the gradient of ½‖w‖² + γ/2 Σ (1 - t y)² by w and b vanishes."""
    X, t, *_ = rows
    b, a = dense_solution(np.outer(t, t) * (X @ X.T), t, GAMMA)
    w = X.T @ (a * t)  # equation W
    eta = 1 - t * (X @ w + b)
    np.testing.assert_allclose(w - GAMMA * X.T @ (t * eta), 0.0, atol=1e-9)
    assert t @ a == pytest.approx(0.0, abs=1e-9)  # printed as tᵀ∘a, meant as an inner product
    np.testing.assert_allclose(a, GAMMA * eta, atol=1e-9)


def test_sigma_of_table_1_is_a_width_without_the_two(ripley):
    """σ = 1 is published with 9.2 %: that is exp(-‖·‖²/σ²), not exp(-‖·‖²/(2σ²))."""
    X, y, X_test, y_test = ripley
    error = {g: 100 * (1 - LSSVC(5000.0, gamma=g).fit(X, y).score(X_test, y_test)) for g in (1.0, 0.5)}
    assert error[1.0] == pytest.approx(9.2)
    assert error[0.5] != pytest.approx(9.2)


def test_simplex_model_is_locally_linear_with_the_papers_coefficients(rows):
    X, t, c, mu = rows
    model = LowRankLSSVC(
        basis="simplex", trainer="alternating", C=GAMMA, shape=0.3, init=c, standardize=False
    ).fit(X, t)
    c, mu, theta, b = model.centers_, model.shapes_, model.unit_weights_[0], model.intercept_[0]
    for x in np.random.default_rng(1).normal(size=(50, D)):
        inside = np.sum(mu * np.abs(x - c), axis=1) < 1  # S(x)
        sign = np.sign(c - x)
        beta = b + np.sum((theta * (1 - np.sum(mu * c * sign, axis=1)))[inside])
        alpha = np.sum((theta[:, None] * mu * sign)[inside], axis=0)
        assert alpha @ x + beta == pytest.approx(model.decision_function(x[None])[0])


def inversion_lemma(Phi, t, gamma):
    """Equation Sol2 with q as it has to be: P (0, 1)ᵀ."""
    n = len(t)
    P = np.block(
        [[np.array([[-1 / gamma]]), t[None, :]], [t[:, None], gamma * (n * np.eye(n) - np.outer(t, t))]]
    ) / n  # fmt: skip
    q = np.concatenate([[t.sum()], gamma * (n * np.ones(n) - t * t.sum())]) / n
    F = np.vstack([np.zeros(Phi.shape[1]), t[:, None] * Phi])
    return P, q, q - P @ F @ np.linalg.solve(np.eye(Phi.shape[1]) + F.T @ P @ F, F.T @ q)


def test_solution_by_the_inversion_lemma_with_the_misprint_mended(rows):
    """P is the inverse that it should be; q = P(0, 1)ᵀ is a vector, its lower block γ(N·1 - t tᵀ1)/N."""
    X, t, c, mu = rows
    Phi = features(X, c, mu)
    P, q, solution = inversion_lemma(Phi, t, GAMMA)
    system = np.block([[np.zeros((1, 1)), t[None, :]], [t[:, None], np.eye(N) / GAMMA]])
    np.testing.assert_allclose(P @ system, np.eye(N + 1), atol=1e-10)
    np.testing.assert_allclose(q, P @ np.concatenate([[0.0], np.ones(N)]))
    b, a = dense_solution(np.outer(t, t) * (Phi @ Phi.T), t, GAMMA)
    np.testing.assert_allclose(solution, np.concatenate([[b], a]), rtol=1e-8)
    theta = Phi.T @ (a * t)
    centred = Phi - Phi.mean(axis=0)
    np.testing.assert_allclose(  # what sleek solves instead: M numbers from centred sums
        theta, np.linalg.solve(centred.T @ centred + np.eye(M) / GAMMA, centred.T @ t)
    )


@pytest.mark.parametrize("basis", [RobustRBF(), Simplex()], ids=lambda basis: basis.name)
def test_derivatives_of_the_units(rows, basis):
    """∂φ/∂μ = -|x - c|φ and ∂φ/∂c = μ sign(x - c)φ for the robust RBF; without the φ for the simplex."""
    X, _, c, mu = rows
    Phi = basis.features(X, Units({"centers": c, "shapes": mu}))
    slope = Phi if basis.name == "robust_rbf" else (Phi > 0).astype(float)
    jacobian = basis.jacobian(X, Units({"centers": c, "shapes": mu}), Phi)
    difference = X[:, None] - c
    np.testing.assert_allclose(jacobian["shapes"], -np.abs(difference) * slope[:, :, None])
    np.testing.assert_allclose(jacobian["centers"], mu * np.sign(difference) * slope[:, :, None])


@pytest.mark.parametrize("criterion", ["absolute", "target", "squared"])
def test_printed_gradients_are_the_derivatives_of_the_criteria(rows, criterion):
    """Equations 35, 36 and 35c, with a and b held, against finite differences of the criterion itself."""
    X, t, c, mu = rows
    Phi = features(X, c, mu)
    b, a = dense_solution(np.outer(t, t) * (Phi @ Phi.T), t, GAMMA)
    u = a * t

    def value(p):
        Phi = features(X, p[: M * D].reshape(M, D), p[M * D :].reshape(M, D))
        y = Phi @ (Phi.T @ u) + b
        return {"absolute": np.abs(y), "target": t * y, "squared": y**2}[criterion].sum()

    expected = approx_fprime(np.concatenate([c.ravel(), mu.ravel()]), value, 1e-7)
    K, y = Phi @ Phi.T, Phi @ (Phi.T @ u) + b
    printed = []
    for name in ("centers", "shapes"):
        for j, i in np.ndindex(M, D):
            distance = X[:, i] - c[j, i]
            slope = mu[j, i] * np.sign(distance) if name == "centers" else -np.abs(distance)
            d_phi = slope * Phi[:, j]
            dK = np.outer(d_phi, Phi[:, j]) + np.outer(Phi[:, j], d_phi)
            if criterion == "squared":
                dF = np.outer(u, u) @ K + K @ np.outer(u, u) + 2 * b * np.outer(np.ones(N), u)  # 35a
                by_sum, by_trace = np.sum(dF * dK), np.trace(dF @ dK)  # 35b
                assert by_sum == pytest.approx(by_trace)
                printed.append(u @ (K @ dK + dK @ K) @ u + 2 * b * (u @ dK @ np.ones(N)))  # 35c
                assert printed[-1] == pytest.approx(by_sum)
            else:
                printed.append((np.sign(y) if criterion == "absolute" else t) @ dK @ u)
    np.testing.assert_allclose(printed, expected, rtol=1e-4, atol=1e-3 * np.abs(expected).max())


def test_the_squared_criterion_is_its_expansion(rows):
    X, t, c, mu = rows
    Phi = features(X, c, mu)
    K = Phi @ Phi.T
    b, a = dense_solution(np.outer(t, t) * K, t, GAMMA)
    u = a * t
    expanded = u @ K @ K @ u + 2 * b * np.ones(N) @ K @ u + N * b**2
    assert np.sum((K @ u + b) ** 2) == pytest.approx(expanded)


def test_the_simplex_is_the_first_order_of_the_robust_rbf(rows):
    X, _, c, mu = rows
    gaps = [np.abs(features(X, c, h * mu) - features(X, c, h * mu, simplex=True)).max() for h in (0.1, 0.01)]
    assert gaps[1] < gaps[0] / 80  # the difference is of second order
