"""Sums merged in any way give the closed form, and that is the dense LS-SVM solution."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import solve
from sleek.kernels.column_statistics import ColumnMoments


def dense_system(Phi, t, C, s):
    """The paper's (N+1)×(N+1) system with weights, solved as it stands: b and θ = Φᵀ(a∘t)."""
    n = len(t)
    A = np.zeros((n + 1, n + 1))
    A[0, 1:] = A[1:, 0] = t
    A[1:, 1:] = np.outer(t, t) * (Phi @ Phi.T) + np.diag(1 / (C * s))
    b_a = np.linalg.solve(A, np.r_[0.0, np.ones(n)])
    return b_a[0], Phi.T @ (b_a[1:] * t)


def draw(seed, n=60, m=5, k=1):
    rng = np.random.default_rng(seed)
    Phi = np.exp(-rng.exponential(size=(n, m)))
    T = np.where(rng.uniform(size=(n, k)) < 0.4, -1.0, 1.0)
    return Phi, T, rng.uniform(0.2, 3.0, size=n)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), log_C=st.floats(-3, 4), m=st.integers(1, 8))
def test_closed_form_is_the_dense_system(seed, log_C, m):
    Phi, T, s = draw(seed, m=m)
    theta, b = solve(Moments.of(Phi, T, s), 10.0**log_C)
    b_dense, theta_dense = dense_system(Phi, T[:, 0], 10.0**log_C, s)
    np.testing.assert_allclose(theta[:, 0], theta_dense, rtol=1e-8, atol=1e-8 * abs(theta_dense).max())
    np.testing.assert_allclose(b[0], b_dense, rtol=1e-8, atol=1e-8)


def test_closed_form_is_the_papers_matrix_inversion_lemma():
    """Equation Sol2, with the lower block of q corrected to γ(N·1 - t tᵀ1)."""
    Phi, T, _ = draw(1)
    t, n, gamma = T[:, 0], len(T), 50.0
    P = (
        np.block(
            [
                [np.array([[-1 / gamma]]), t[None]],
                [t[:, None], gamma * (n * np.eye(n) - np.outer(t, t))],
            ]
        )
        / n
    )
    q = np.r_[t.sum(), gamma * (n * np.ones(n) - t * t.sum())] / n
    W = np.vstack([np.zeros(Phi.shape[1]), t[:, None] * Phi])
    b_a = q - P @ W @ np.linalg.solve(np.eye(Phi.shape[1]) + W.T @ P @ W, W.T @ q)
    theta, b = solve(Moments.of(Phi, T, np.ones(n)), gamma)
    np.testing.assert_allclose(b[0], b_a[0], rtol=1e-9)
    np.testing.assert_allclose(theta[:, 0], Phi.T @ (b_a[1:] * t), rtol=1e-9)


def test_dual_variables_are_read_off_the_residuals():
    Phi, T, s = draw(2)
    theta, b = solve(Moments.of(Phi, T, s), 7.0)
    duals = 7.0 * s[:, None] * (T - Phi @ theta - b)
    np.testing.assert_allclose(Phi.T @ duals, theta, rtol=1e-9)
    np.testing.assert_allclose(duals.sum(axis=0), 0.0, atol=1e-10)


def test_every_output_is_solved_as_if_alone():
    Phi, T, s = draw(3, k=4)
    theta, b = solve(Moments.of(Phi, T, s), 3.0)
    for k in range(4):
        alone = solve(Moments.of(Phi, T[:, k : k + 1], s), 3.0)
        np.testing.assert_allclose(theta[:, k], alone.theta[:, 0], rtol=1e-12)
        np.testing.assert_allclose(b[k], alone.b[0], rtol=1e-12)


def test_the_papers_extremes_keep_their_digits():
    """μ = 0.0001 makes every φ almost 1; γ = 500000. Checked against 50-digit arithmetic."""
    mpmath.mp.dps = 50
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    Phi = np.exp(-1e-4 * np.abs(X[:, None] - X[:3]).sum(axis=2))
    t, C = np.where(X[:, 0] + 0.3 * rng.normal(size=150) > 0, 1.0, -1.0), 500000.0
    halves = Moments.of(Phi[:70], t[:70, None], np.ones(70)) + Moments.of(Phi[70:], t[70:, None], np.ones(80))
    theta, b = solve(halves, C)
    P, T = mpmath.matrix(Phi.tolist()), mpmath.matrix(t.tolist())
    ones = mpmath.ones(150, 1)
    A = mpmath.matrix(4, 4)
    gram, cross, right = P.T * P, P.T * ones, P.T * T
    for i in range(3):
        for j in range(3):
            A[i, j] = gram[i, j] + (1 / mpmath.mpf(C) if i == j else 0)
        A[i, 3] = A[3, i] = cross[i]
    A[3, 3] = 150
    exact = mpmath.lu_solve(A, mpmath.matrix([right[0], right[1], right[2], sum(t)]))
    outputs = Phi @ theta[:, 0] + b[0]
    expected = Phi @ np.array([float(exact[i]) for i in range(3)]) + float(exact[3])
    np.testing.assert_allclose(outputs, expected, rtol=0, atol=1e-6)


def test_units_that_coincide_are_solved_even_without_regularisation():
    Phi, T, s = draw(4, m=2)
    twice = np.hstack([Phi, Phi, Phi])
    theta, b = solve(Moments.of(twice, T, s), 1e18)
    single = solve(Moments.of(Phi, T, s), 1e18)
    np.testing.assert_allclose(twice @ theta + b, Phi @ single.theta + single.b, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 59), max_size=6))
def test_moments_do_not_depend_on_how_rows_are_cut(seed, cuts):
    Phi, T, s = draw(seed, k=2)
    edges = [0, *sorted(set(cuts)), 60]
    parts = [Moments.of(Phi[a:b], T[a:b], s[a:b]) for a, b in pairwise(edges)]
    merged, whole = parts[0], Moments.of(Phi, T, s)
    for part in parts[1:]:
        merged = merged + part
    for name in ("weight", "mean_phi", "mean_t", "G", "R", "tt"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-10, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 59))
def test_rows_that_are_taken_out_leave_the_moments_of_the_rest(seed, cut):
    Phi, T, s = draw(seed, k=2)
    left = Moments.of(Phi, T, s) - Moments.of(Phi[:cut], T[:cut], s[:cut])
    rest = Moments.of(Phi[cut:], T[cut:], s[cut:])
    for name in ("weight", "mean_phi", "mean_t", "G", "R", "tt"):
        np.testing.assert_allclose(getattr(left, name), getattr(rest, name), rtol=1e-8, atol=1e-10)


def test_not_all_rows_can_be_taken_out():
    moments = Moments.of(*draw(0))
    with pytest.raises(ValueError, match="something must be left"):
        _ = moments - moments


def test_integer_weights_are_repeated_rows():
    Phi, T, _ = draw(5)
    s = np.random.default_rng(0).integers(1, 5, size=60)
    weighted = Moments.of(Phi, T, s.astype(float))
    repeated = Moments.of(np.repeat(Phi, s, 0), np.repeat(T, s, 0), np.ones(s.sum()))
    for name in ("weight", "mean_phi", "mean_t", "G", "R", "tt"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-12, atol=1e-13)


def test_a_constant_column_has_no_spread_whatever_its_size():
    X = np.full((7, 3), [0.1, 1e12, -3e-12])
    parts = ColumnMoments.of(X[:2], np.ones(2)) + ColumnMoments.of(X[2:], np.ones(5))
    np.testing.assert_array_equal(parts.spread(), 0.0)


def test_a_small_spread_on_a_large_mean_is_seen():
    x = 1.7e9 + np.random.default_rng(0).uniform(size=1000)
    np.testing.assert_allclose(ColumnMoments.of(x[:, None], np.ones(1000)).spread(), x.std(), rtol=1e-6)
