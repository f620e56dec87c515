"""The promises every basis makes, as tests that a new one inherits.

Supply a factory and run pytest::

    from sleek.testing import BasisContract

    class TestMyBasis(BasisContract):
        def make(self):
            return MyBasis()
"""

from __future__ import annotations

import pickle

import numpy as np
from sklearn.base import clone

from sleek._runtime.types import FloatArray
from sleek.bases.base import BOTH, Basis
from sleek.bases.formula import layer_gradient, layer_values
from sleek.bases.units import Units
from sleek.rows.scaling import Scaling

N, M, D = 40, 5, 3


class BasisContract:
    """Subclass it and define `make`."""

    def make(self) -> Basis:
        """A basis to be tested."""
        raise TypeError(f"{type(self).__name__} must define make(self), which returns the basis to test.")

    def problem(self, seed: int = 0) -> tuple[Basis, FloatArray, Units]:
        """A basis, rows, and units in general position that satisfy the constraints."""
        rng = np.random.default_rng(seed)
        basis, X = self.make(), rng.normal(size=(N, D))
        units = basis.start(rng.normal(size=(M, D)), 0.3, rng)
        moved = units.map(lambda _, array: array + 0.1 * rng.uniform(size=array.shape))
        return basis, X, basis.project(moved)

    def test_parameters_are_declared(self) -> None:
        basis, _, units = self.problem()
        assert {parameter.name for parameter in basis.parameters} == set(units.arrays)
        assert len(units) == M
        assert not basis.parameters[0].shared
        sizes = {"unit": M, "feature": D, **basis.sizes}
        for parameter in basis.parameters:
            array = units[parameter.name]
            assert array.ndim == len(parameter.axes)
            for axis, size in zip(parameter.axes, array.shape, strict=True):
                assert sizes.setdefault(axis, size) == size

    def test_features_are_one_finite_number_per_row_and_unit(self) -> None:
        basis, X, units = self.problem()
        Phi = basis.features(X, units)
        assert Phi.shape == (N, M)
        assert Phi.dtype == np.float64
        assert np.isfinite(Phi).all()

    def test_rows_and_units_do_not_interact(self) -> None:
        basis, X, units = self.problem()
        Phi = basis.features(X, units)
        one = basis.take(units, np.array([2]))
        np.testing.assert_allclose(basis.features(X[7:8], one)[0, 0], Phi[7, 2], rtol=1e-13)

    def test_features_far_away_stay_finite(self) -> None:
        basis, X, units = self.problem()
        assert np.isfinite(basis.features(1e9 * X, units)).all()

    def test_gradient_is_that_of_finite_differences(self) -> None:
        for seed in range(3):
            basis, X, units = self.problem(seed)
            dPhi = np.random.default_rng(seed + 100).normal(size=(N, M))
            gradient = basis.vjp(X, units, basis.features(X, units), dPhi)
            for name, array in units.arrays.items():
                np.testing.assert_allclose(
                    gradient[name], _differences(basis, X, units, name, dPhi), rtol=1e-5, atol=1e-6
                )
                assert gradient[name].shape == array.shape

    def test_jacobian_sums_to_the_gradient(self) -> None:
        basis, X, units = self.problem()
        Phi, dPhi = basis.features(X, units), np.random.default_rng(1).normal(size=(N, M))
        gradient, jacobian = basis.vjp(X, units, Phi, dPhi), basis.jacobian(X, units, Phi)
        for name in units.arrays:
            shared = next(parameter for parameter in basis.parameters if parameter.name == name).shared
            summed = np.einsum("nm,nm...->..." if shared else "nm,nm...->m...", dPhi, jacobian[name])
            np.testing.assert_allclose(summed, gradient[name], rtol=1e-9, atol=1e-12)

    def test_coordinates_can_be_inverted_and_keep_the_constraints(self) -> None:
        basis, _, units = self.problem()
        coordinates = basis.coordinates(self.problem(seed=1)[2])
        u = coordinates.vector(units)
        back = coordinates.units(u)
        for parameter in basis.parameters:
            if parameter.learnt:
                array = units[parameter.name]
                np.testing.assert_allclose(back[parameter.name], array, rtol=1e-12, atol=1e-13)
        least = coordinates.units(np.maximum(coordinates.lower_bounds(), -1e9))
        for parameter in basis.parameters:
            assert least[parameter.name].min() >= parameter.lower

    def test_gradient_adds_up_over_rows(self) -> None:
        basis, X, units = self.problem()
        dPhi = np.random.default_rng(1).normal(size=(N, M))
        Phi = basis.features(X, units)
        whole = basis.vjp(X, units, Phi, dPhi)
        parts = basis.vjp(X[:9], units, Phi[:9], dPhi[:9]) + basis.vjp(X[9:], units, Phi[9:], dPhi[9:])
        for name in units.arrays:
            np.testing.assert_allclose(whole[name], parts[name], rtol=1e-12, atol=1e-14)

    def test_inputs_are_left_alone(self) -> None:
        basis, X, units = self.problem()
        X_before = X.copy()
        units_before = units.map(lambda _, array: array.copy())
        Phi = basis.features(X, units)
        Phi_before, dPhi = Phi.copy(), np.ones((N, M))
        basis.vjp(X, units, Phi, dPhi)
        np.testing.assert_array_equal(X, X_before)
        np.testing.assert_array_equal(Phi, Phi_before)
        np.testing.assert_array_equal(dPhi, np.ones((N, M)))
        for name, array in units.arrays.items():
            np.testing.assert_array_equal(array, units_before[name])

    def test_start_owns_its_arrays(self) -> None:
        centers = np.zeros((M, D))
        units = self.make().start(centers, 0.3, np.random.default_rng(0))
        for array in units.arrays.values():
            array += 1.0
        np.testing.assert_array_equal(centers, 0.0)

    def test_projection_satisfies_the_constraints_and_keeps_what_does(self) -> None:
        basis, _, units = self.problem()
        wild = units.map(lambda _, array: array - 10.0)
        once = basis.project(wild)
        for parameter in basis.parameters:
            assert once[parameter.name].min() >= parameter.lower
            np.testing.assert_array_equal(basis.project(units)[parameter.name], units[parameter.name])

    def test_scaling_folded_is_scaling_applied(self) -> None:
        basis, X, units = self.problem()
        for magnitude in (1e-12, 1.0, 1e12):
            scaling = Scaling(magnitude * np.array([0.3, -2.0, 5.0]), np.array([2.0, 0.5, 1.0]) / magnitude)
            raw = scaling.invert(X)
            np.testing.assert_allclose(
                basis.features(raw, basis.unscale(units, scaling)), basis.features(X, units), rtol=1e-9
            )

    def test_coordinates_move_what_is_declared_as_learnt(self) -> None:
        basis, _, units = self.problem()
        learnt = {parameter.name for parameter in basis.parameters if parameter.learnt}
        assert set(basis.coordinates(units).scale.arrays) == learnt

    def test_a_feature_with_factor_zero_is_ignored(self) -> None:
        basis, X, units = self.problem()
        scaling = Scaling(np.zeros(D), np.array([1.0, 0.0, 1.0]))
        units = basis.start(scaling.apply(X[:M]), 0.3, np.random.default_rng(0))
        raw = basis.unscale(units, scaling)
        other = X.copy()
        other[:, 1] += 100.0
        np.testing.assert_array_equal(basis.features(other, raw), basis.features(X, raw))
        np.testing.assert_allclose(basis.features(X, raw), basis.features(scaling.apply(X), units))

    def test_formula_says_what_features_say(self) -> None:
        basis, X, units = self.problem()
        if basis.layers:
            np.testing.assert_allclose(
                layer_values(basis.layers, X, units)[-1], basis.features(X, units), rtol=1e-9, atol=1e-12
            )

    def test_formula_has_the_slopes_of_finite_differences(self) -> None:
        basis, X, units = self.problem()
        if basis.layers:
            gradient, step = layer_gradient(basis.layers, X, units), 1e-6
            for i, e in enumerate(step * np.eye(D)):
                rise = basis.features(X + e, units) - basis.features(X - e, units)
                np.testing.assert_allclose(gradient[:, :, i], rise / (2 * step), rtol=1e-5, atol=1e-7)

    def test_units_go_in_the_directions_that_they_say(self) -> None:
        """What models certify rests on it."""
        basis, X, units = self.problem()
        directions, far = basis.directions(units), 3.0 * np.random.default_rng(2).uniform(size=N)
        assert directions.shape == (M, D)
        for i in range(D):
            other = X.copy()
            other[:, i] += far
            change = basis.features(other, units) - basis.features(X, units)
            for j, direction in enumerate(directions[:, i].tolist()):
                assert direction in (-1, 0, 1, BOTH)
                assert direction in (-1, BOTH) or change[:, j].min() >= -1e-12
                assert direction in (1, BOTH) or change[:, j].max() <= 1e-12

    def test_features_that_a_unit_is_kept_from_play_no_part(self) -> None:
        basis, X, units = self.problem()
        if basis.switches:
            on = np.random.default_rng(3).uniform(size=(M, D)) < 0.5
            kept = basis.restrict(units, on)
            assert (basis.directions(kept)[~on] == 0).all()
            other = np.where(on[0], X, X + 5.0)
            np.testing.assert_array_equal(basis.features(other, kept)[:, 0], basis.features(X, kept)[:, 0])

    def test_it_can_be_cloned_and_pickled(self) -> None:
        basis, X, units = self.problem()
        for copy in (clone(basis), pickle.loads(pickle.dumps(basis))):
            np.testing.assert_array_equal(copy.features(X, units), basis.features(X, units))


def _differences(basis: Basis, X: FloatArray, units: Units, name: str, dPhi: FloatArray) -> FloatArray:
    """Central differences of Σ dPhi∘Phi by every number of one array."""
    step, result = 1e-6, np.empty_like(units[name])

    def value(moved: FloatArray) -> float:
        return float(np.sum(dPhi * basis.features(X, Units({**units.arrays, name: moved}))))

    for index in np.ndindex(result.shape):
        up, down = units[name].copy(), units[name].copy()
        up[index] += step
        down[index] -= step
        result[index] = (value(up) - value(down)) / (2 * step)
    return result
