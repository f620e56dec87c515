"""One eigendecomposition for all strengths, against refits without each observation, strength by strength."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_sources import number_source, sample_of

from sleek import GaussianRBF
from sleek.bases.expansion import Expansion
from sleek.closed_form.leave_one_out import Trained, fixed_units_loo
from sleek.closed_form.moments import Moments
from sleek.closed_form.ridge_path import RidgePath
from sleek.closed_form.solve import Penalty, solve

STRENGTHS = [1e-3, 0.1, 3.0, 1e3]


def draw(seed, n, m, k):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) + 2.0, rng.normal(size=(n, k)), rng.uniform(0.5, 3.0, size=n), rng


def leave_one_out_path(Phi, T, s, strengths, copies=None):
    return RidgePath.of_rows(Phi, T, s).leave_one_out(Phi, T, s, strengths, copies)


def refits(Phi, T, s, copies, C):
    """Ridge regression with an intercept, solved again without one observation of each row."""
    found = np.empty_like(T)
    for n in range(len(T)):
        w = s.copy()
        w[n] -= s[n] / copies[n]
        A = np.column_stack([Phi, np.ones(len(T))])
        ridge = np.diag(np.r_[np.full(Phi.shape[1], 1.0 / C), 0.0])
        found[n] = T[n] - A[n] @ np.linalg.solve(A.T @ (A * w[:, None]) + ridge, A.T @ (w[:, None] * T))
    return found


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.sampled_from([1, 4, 11, 12, 13, 30]), k=st.integers(1, 3))
def test_it_is_refitting_without_each_observation(seed, m, k):
    """With fewer units than rows, as many, and more; strengths at which no leverage comes near 1."""
    Phi, T, s, rng = draw(seed, 12, m, k)
    copies, strengths = rng.integers(1, 4, size=12).astype(float), [1e-3, 0.03, 0.3]
    found = leave_one_out_path(Phi, T, s, strengths, copies)
    assert found.shape == (3, 12, k)
    for residuals, C in zip(found, strengths, strict=True):
        expected = refits(Phi, T, s, copies, C)
        np.testing.assert_allclose(residuals, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("m", [6, 50])
def test_solutions_and_outputs_are_those_of_solve(m):
    Phi, T, s, rng = draw(0, 40, m, 2)
    new = rng.normal(size=(7, m))
    path, moments = RidgePath.of_rows(Phi, T, s), Moments.of(Phi, T, s)
    for outputs, C in zip(path.outputs(new, STRENGTHS), STRENGTHS, strict=True):
        expected, found = solve(moments, C), path.solution(C)
        np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(found.b, expected.b, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(outputs, new @ expected.theta + expected.b, rtol=1e-8, atol=1e-9)


def test_moments_of_blocks_give_what_all_rows_do():
    Phi, T, s, _ = draw(1, 60, 5, 2)
    path = RidgePath.of_moments(Moments.of(Phi[:23], T[:23], s[:23]) + Moments.of(Phi[23:], T[23:], s[23:]))
    whole = leave_one_out_path(Phi, T, s, STRENGTHS)
    parts = [
        path.leave_one_out(Phi[rows], T[rows], s[rows], STRENGTHS) for rows in (slice(23), slice(23, 60))
    ]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), whole, rtol=1e-9, atol=1e-12)


def test_it_is_the_leave_one_out_of_fixed_units():
    X = np.random.default_rng(0).normal(size=(80, 3))
    source = number_source(X, np.column_stack([X[:, 0] ** 2, X[:, 1]]))
    start = Expansion.of(GaussianRBF(), GaussianRBF().start(X[:7], 0.5, np.random.default_rng(0)))
    sample = sample_of(source)
    rows, Phi = sample.rows, start.features(sample.rows.X)
    moments = Moments.of(Phi, rows.T, rows.s)
    found = leave_one_out_path(Phi, rows.T, rows.s, [2.0, 50.0], rows.copies)
    for residuals, C in zip(found, [2.0, 50.0], strict=True):
        trained = Trained(start, solve(moments, C), Penalty(C, 1.0), None)
        expected = fixed_units_loo(sample, trained, moments).residuals
        np.testing.assert_allclose(residuals, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n", [5, 30])
def test_units_that_coincide_and_units_that_are_constant_do_no_harm(n):
    Phi, T, s, _ = draw(2, n, 4, 1)
    double = np.column_stack([Phi, Phi, np.ones((n, 3))])
    half = leave_one_out_path(Phi, T, s, [2.0, 2e12])
    np.testing.assert_allclose(leave_one_out_path(double, T, s, [1.0, 1e12]), half, rtol=1e-5, atol=1e-5)
    assert np.isfinite(leave_one_out_path(double, T, s, [1e16, 1e300])).all()


def test_numbers_that_are_not_finite_are_refused():
    for m in (2, 9):
        Phi, T, s, _ = draw(3, 5, m, 1)
        Phi[0, 0] = np.inf
        with np.errstate(all="ignore"), pytest.raises(ValueError, match="no finite numbers"):
            leave_one_out_path(Phi, T, s, [1.0])
