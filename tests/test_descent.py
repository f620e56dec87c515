"""The minimiser: minima with bounds against SciPy's, H against the recursion, bad places, cost."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, minimize, rosen, rosen_der

from sleek.trainers.descent import PAIRS, _Pairs, minimise


def quadratic(A, b):
    return lambda x: (0.5 * float(x @ A @ x) - float(b @ x), A @ x - b)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 25),
    spread=st.floats(0.0, 3.0),
    share=st.floats(0.0, 1.0),
)
def test_quadratics_with_bounds_end_at_their_minimum(seed, size, spread, share):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(size, size)))
    A = (Q * np.logspace(-spread, 0, size)) @ Q.T
    b = rng.normal(size=size)
    lower = np.where(rng.random(size) < share, rng.normal(size=size), -np.inf)
    begin = np.maximum(rng.normal(size=size), lower)
    objective = quadratic(A, b)
    found = minimise(objective, begin, lower, 3000, 1e-15)
    options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
    oracle = minimize(
        objective, begin, jac=True, method="L-BFGS-B", bounds=Bounds(lower, np.inf), options=options
    )
    assert (found.x >= lower).all()
    assert found.value == objective(found.x)[0]
    assert found.value <= oracle.fun + 1e-6 * max(1.0, abs(oracle.fun))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_pairs=st.integers(1, 3 * PAIRS), size=st.integers(20, 40))
def test_direction_is_that_of_the_two_loop_recursion(seed, n_pairs, size):
    rng = np.random.default_rng(seed)
    curvature = rng.uniform(0.1, 3.0, size)
    pairs, kept = _Pairs(size), []
    for _ in range(n_pairs):
        s = rng.normal(size=size)
        y = curvature * s
        pairs.add(s, y)
        kept.append((s, y))
        pairs.add(s, -y)  # shows no curvature, and is left out
    kept = kept[-PAIRS:]
    g = rng.normal(size=size)
    q, factors = g.copy(), []
    for s, y in reversed(kept):
        factors.append((s @ q) / (s @ y))
        q -= factors[-1] * y
    s, y = kept[-1]
    r = (s @ y) / (y @ y) * q
    for (s, y), factor in zip(kept, reversed(factors), strict=True):
        r += (factor - (y @ r) / (s @ y)) * s
    np.testing.assert_allclose(pairs.direction(g), -r, rtol=1e-6, atol=1e-6 * np.abs(r).max())


def test_rosenbrock_in_about_as_many_evaluations_as_scipy():
    begin, lower = np.full(20, -1.2), np.full(20, -np.inf)
    found = minimise(lambda x: (float(rosen(x)), rosen_der(x)), begin, lower, 500, 1e-14)
    oracle = minimize(rosen, begin, jac=rosen_der, method="L-BFGS-B", options={"ftol": 1e-14})
    assert found.value <= oracle.fun + 1e-9
    assert found.n_evaluations <= 1.5 * oracle.nfev


def test_kinks_do_not_stop_it():
    """Σ w|x - c| with bounds: every coordinate ends at its kink or at its bound."""
    rng = np.random.default_rng(0)
    c, w = rng.normal(size=12), rng.uniform(0.5, 2.0, 12)
    lower = np.where(np.arange(12) % 3 == 0, 0.5, -np.inf)
    found = minimise(
        lambda x: (float(w @ np.abs(x - c)), w * np.sign(x - c)), np.full(12, 5.0), lower, 400, 1e-10
    )
    best = float(w @ np.abs(np.maximum(c, lower) - c))
    assert found.value < best + 0.05 * (float(w @ np.abs(5.0 - c)) - best)


def test_places_without_a_value_are_walked_around():
    def objective(x):
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(np.sum(x - 2 * np.log(x))), 1 - 2 / x  # NaN left of 0

    found = minimise(objective, np.full(3, 0.01), np.full(3, -np.inf), 100, 1e-12)
    np.testing.assert_allclose(found.x, 2.0, rtol=1e-4)


@pytest.mark.parametrize(("max_iter", "end"), [(0, "max_iter"), (3, "max_iter"), (500, "converged")])
def test_it_says_how_it_ended_and_reports_each_iteration(max_iter, end):
    values = []
    A = np.diag(np.logspace(-4, 0, 30))
    begin, lower = np.ones(30), np.full(30, -np.inf)
    found = minimise(quadratic(A, np.zeros(30)), begin, lower, max_iter, 1e-13, values.append)
    assert (found.end, len(values)) == (end, found.n_iter)
    assert values == sorted(values, reverse=True)
    assert found.n_evaluations <= 4 * max_iter + 20


def test_a_gradient_that_lies_leaves_it_where_it_is():
    found = minimise(lambda x: (float(x @ x), -2 * x), np.ones(2), np.full(2, -np.inf), 50, 1e-9)
    assert found.end == "stuck"
    np.testing.assert_array_equal(found.x, np.ones(2))


def test_no_line_of_python_runs_for_each_coordinate():
    def lines(size):
        A, lower = np.linspace(0.5, 1.0, size), np.where(np.arange(size) % 2, 0.0, -np.inf)
        count = 0

        def trace(frame, event, argument):
            nonlocal count
            count += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            minimise(lambda x: (0.5 * float(x @ (A * x)), A * x), np.ones(size), lower, 10, 1e-30)
        finally:
            sys.settrace(before)
        return count

    assert lines(20_000) < 1.5 * lines(100)
