"""Units that compiled loops train are those that their bases define."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sleek import Box, GaussianRBF, Linear, RobustRBF, Sigmoidal, Units
from sleek.bases.base import Basis
from sleek.bases.expansion import Expansion, Part
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import solve
from sleek.kernels import COMPILED_KINDS, can_compile, output_gradient
from sleek.rows.source import Block, OneBlock
from sleek.trainers.descent import minimise, minimise_compiled
from sleek.trainers.moving_units import MovingUnits

pytestmark = pytest.mark.skipif(not can_compile(), reason="numba is not installed")

KNOWN: tuple[type[Basis], ...] = (GaussianRBF, RobustRBF, Box, Sigmoidal)


def part_of(basis: Basis, n_units: int, n_features: int, rng: np.random.Generator) -> Part:
    """Units with numbers of usual sizes, some of which look at some features only."""
    units = basis.start(rng.normal(size=(n_units, n_features)), 0.4, rng)
    off = rng.random((n_units, n_features)) < 0.3
    arrays = {
        name: np.where(off, 0.0, array) if name in basis.switches else array
        for name, array in units.arrays.items()
    }
    if "half_widths" in arrays:
        arrays["half_widths"] = rng.random((n_units, n_features))
        arrays["below"] = np.where(rng.random(off.shape) < 0.3, 0.0, arrays["below"])
    return Part(basis, Units(arrays))


def moved(parts: Sequence[Part], rng: np.random.Generator, n_rows: int) -> tuple[MovingUnits, np.ndarray]:
    coordinates = Expansion(tuple(parts)).coordinates()
    u = coordinates.vector(coordinates.start)
    u = np.maximum(u + 0.1 * rng.normal(size=len(u)), coordinates.lower_bounds())
    return MovingUnits(coordinates, n_rows), u


def models(rng: np.random.Generator) -> list[list[Part]]:
    """One basis alone, all of them beside linear features, and widths that do not move."""
    d = 5
    single = [[part_of(basis(), 7, d, rng)] for basis in KNOWN]
    linear = Part(Linear(), Linear().start(np.zeros((3, d)), 1.0, rng))
    fixed = [replace(one[0], fixed=one[0].basis.widths) for one in single if one[0].basis.widths]
    everything = [single[0][0], linear, *(one[0] for one in single[1:])]
    return [*single, everything, *([one] for one in fixed)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_rows", [1100, 512, 7])
def test_values_and_gradients_are_those_of_the_bases(n_rows: int, dtype: type) -> None:
    rng = np.random.default_rng(n_rows)
    tol = 1e-12 if dtype is np.float64 else 2e-5
    for parts in models(rng):
        moving, u = moved(parts, rng, 10_000)
        assert moving.layout is not None
        X = np.asfortranarray(rng.normal(size=(n_rows, 5)), dtype=dtype)
        units, expansion = moving.at(u), moving.coordinates.expansion(u)
        Phi, expected = units.features(X), expansion.features(X)
        np.testing.assert_allclose(Phi, expected, rtol=0, atol=tol)
        dPhi = np.asfortranarray(rng.normal(size=Phi.shape), dtype=dtype)
        slow = expansion.vjp(*(array.astype(float) for array in (X, expected, dPhi)))
        by_u = moving.coordinates.by_u(slow)
        found = units.gradient(X, Phi, dPhi)
        np.testing.assert_allclose(found, by_u, rtol=0, atol=10 * tol * np.abs(by_u).max())


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_reduced_objective_is_that_of_the_closed_form(n_outputs: int) -> None:
    rng = np.random.default_rng(n_outputs)
    n, C = 700, 3.0
    X, T = np.asfortranarray(rng.normal(size=(n, 5))), rng.normal(size=(n, n_outputs))
    s = rng.random(n) + 0.1
    for parts in models(rng):
        moving, u = moved(parts, rng, n)
        expansion = moving.coordinates.expansion(u)
        Phi = expansion.features(X)
        moments = Moments.of(Phi, T, s)
        theta, b = solve(moments, C)
        left = T - Phi @ theta - b
        slow = 0.5 * float(np.sum(theta**2)) / C + 0.5 * float(s @ left**2 @ np.ones(n_outputs))
        by_u = moving.coordinates.by_u(expansion.vjp(X, Phi, output_gradient(Phi, T, s, theta, b)))
        objective = moving.reduced_of(Block(0, X, T, s, np.ones(n)), C)
        assert objective is not None
        found = objective(moving.at(u).numbers)
        assert found is not None
        total, gain, by_numbers = found
        assert 0.5 * (total - gain) == pytest.approx(slow, rel=1e-10)
        fast = moving.coordinates.flat.by_u_of_numbers(by_numbers)
        np.testing.assert_allclose(fast, by_u, rtol=0, atol=1e-9 * np.abs(by_u).max())


def test_units_that_coincide_are_left_to_the_slow_way() -> None:
    rng = np.random.default_rng(0)
    part = part_of(GaussianRBF(), 1, 5, rng)
    twice = Part(part.basis, part.basis.join(part.units, part.units))
    coordinates = Expansion((twice,)).coordinates()
    moving = MovingUnits(coordinates, 10_000)
    X, T = np.asfortranarray(rng.normal(size=(300, 5))), rng.normal(size=(300, 1))
    objective = moving.reduced_of(Block(0, X, T, np.ones(300), np.ones(300)), 1e30)
    assert objective is not None
    assert objective(moving.at(coordinates.vector(coordinates.start)).numbers) is None


def test_values_beyond_the_range_of_exp_are_nothing_and_no_warning() -> None:
    units = Units({"centers": np.zeros((2, 1)), "shapes": np.array([[1e3], [1e300]])})
    moving = MovingUnits(Expansion.of(GaussianRBF(), units).coordinates(), 10_000)
    Phi = moving.at(np.zeros(4)).features(np.asfortranarray([[0.0], [1.0], [50.0], [1e10]]))
    np.testing.assert_allclose(Phi, [[1, 1], [0, 0], [0, 0], [0, 0]], atol=1e-300)


def test_every_kind_has_its_basis_and_no_unknown_one() -> None:
    assert sorted(basis.kind or "" for basis in KNOWN) == sorted(COMPILED_KINDS)
    coordinates = Expansion.of(GaussianRBF(), part_of(GaussianRBF(), 2, 5, np.random.default_rng(0)).units)
    assert MovingUnits(coordinates.coordinates(), 10).layout is None  # few numbers: no compiler is asked


@pytest.mark.parametrize("max_iter", [1, 30])
def test_a_descent_in_compiled_code_goes_the_same_way(max_iter: int) -> None:
    rng = np.random.default_rng(max_iter)
    n, prior = 300, 0.01
    X, s = np.asfortranarray(rng.normal(size=(n, 5))), rng.random(n) + 0.1
    T = np.sin(2 * X[:, :1]) + X[:, 1:2] * X[:, 2:3]
    for parts in models(rng):
        moving, u = moved(parts, rng, 10_000)
        flat, lower = moving.coordinates.flat, moving.coordinates.lower_bounds()
        objective = moving.reduced_of(Block(0, X, T, s, np.ones(n)), 3.0)
        assert objective is not None

        def value_and_slope(u, objective=objective, flat=flat):
            total, gain, by_numbers = objective(flat.numbers(u))
            by_u = flat.by_u_of_numbers(by_numbers) + prior * u
            return (0.5 * (total - gain) + 0.5 * prior * u @ u) / total, by_u / total

        slow, fast = [], []
        expected = minimise(value_and_slope, u, lower, max_iter, 1e-4, slow.append, 0.04)
        found = minimise_compiled(objective, flat, prior, u, lower, max_iter, 1e-4, fast.append, 0.04)
        assert found is not None
        assert (found.n_iter, found.n_evaluations, found.end) == expected[2:]
        np.testing.assert_allclose(fast, slow, rtol=1e-8)
        np.testing.assert_allclose(found.x, expected.x, rtol=0, atol=1e-6)
        assert (found.x >= lower).all()


def test_a_descent_that_rounding_spoils_is_left_to_the_slow_way() -> None:
    rng = np.random.default_rng(0)
    part = part_of(GaussianRBF(), 1, 5, rng)
    twice = Part(part.basis, part.basis.join(part.units, part.units))
    moving = MovingUnits(Expansion((twice,)).coordinates(), 10_000)
    X, T = np.asfortranarray(rng.normal(size=(300, 5))), rng.normal(size=(300, 1))
    objective = moving.reduced_of(Block(0, X, T, np.ones(300), np.ones(300)), 1e30)
    assert objective is not None
    flat = moving.coordinates.flat
    u, lower = np.zeros(len(flat.step)), moving.coordinates.lower_bounds()
    assert minimise_compiled(objective, flat, 0.0, u, lower, 10, 1e-5, [].append, 0.04) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_passes_for_any_loss_are_those_of_the_bases(n_outputs: int, dtype: type) -> None:
    rng = np.random.default_rng(n_outputs)
    n, tol = 700, 1e-10 if dtype is np.float64 else 1e-4
    X = np.asfortranarray(rng.normal(size=(n, 5)), dtype=dtype)
    g, b = rng.normal(size=(n, n_outputs)), rng.normal(size=n_outputs)
    for parts in models(rng):
        moving, u = moved(parts, rng, n)
        passes = moving.passes(OneBlock(Block(0, X, g, np.ones(n), np.ones(n)), None))
        assert passes is not None
        expansion, numbers = moving.coordinates.expansion(u), moving.at(u).numbers
        theta = rng.normal(size=(len(expansion), n_outputs))
        Phi = expansion.features(X.astype(float))
        np.testing.assert_allclose(passes.outputs(numbers, theta, b), Phi @ theta + b, rtol=0, atol=10 * tol)
        by_numbers, by_theta = passes.gradient(numbers, theta, g)
        np.testing.assert_allclose(by_theta, Phi.T @ g, rtol=0, atol=100 * tol)
        by_u = moving.coordinates.by_u(expansion.vjp(X.astype(float), Phi, g @ theta.T))
        fast = moving.coordinates.flat.by_u_of_numbers(by_numbers)
        np.testing.assert_allclose(fast, by_u, rtol=0, atol=tol * np.abs(by_u).max())


@pytest.mark.parametrize(("dtype", "lowest", "error"), [(np.float64, -700, 4e-16), (np.float32, -87, 2e-7)])
def test_exponentials_are_those_of_numpy_and_far_ones_are_nearly_0(
    dtype: type, lowest: float, error: float
) -> None:
    from sleek.kernels.compiled_units import ROWS, _exp

    z = -np.abs(np.random.default_rng(0).gamma(1.0, 20.0, ROWS)).astype(dtype)
    z[:6] = 0.0, -1e-9, -np.log(2.0), lowest, 10 * lowest, -1e30
    found = z.copy()
    _exp(found, ROWS, np.empty(ROWS, np.int64))
    np.testing.assert_allclose(found, np.exp(np.maximum(z.astype(float), lowest)), rtol=error)
