"""New bases as somebody outside the package would write them: another bump, a line, a small network."""

from typing import ClassVar

import numpy as np
import pytest

import sleek
from sleek import Basis, Coordinates, DistanceBasis, Expansion, KernelModel, LowRankLSSVR, Parameter, Units
from sleek.outputs import NumberOutputs
from sleek.testing import BasisContract


class Cauchy(DistanceBasis):
    """φ(x) = 1/(1 + Σ μ (x - c)²): a bump with long tails."""

    name: ClassVar[str] = "my_cauchy"
    power: ClassVar[int] = 2

    def profile(self, Z):
        return 1.0 / (1.0 + Z)

    def slope(self, Phi):
        return -(Phi**2)


class Axes(Basis):
    """φ_j(x) = factor_j·x_j - offset_j: the features themselves, nothing of which is learnt."""

    name: ClassVar[str] = "my_axes"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("factors", learnt=False),
        Parameter("offsets", axes=("unit",), learnt=False),
    )

    def start(self, centers, shape, rng):
        d = centers.shape[1]
        return Units({"factors": np.eye(d)[: len(centers)], "offsets": np.zeros(min(d, len(centers)))})

    def coordinates(self, start):
        return Coordinates(start, Units({}), self.lower_bounds())

    def features(self, X, units):
        return X @ units["factors"].T - units["offsets"]

    def vjp(self, X, units, Phi, dPhi):
        return Units({"factors": dPhi.T @ X, "offsets": -dPhi.sum(axis=0)})

    def jacobian(self, X, units, Phi):
        return Units({})

    def unscale(self, units, scaling):
        factors = units["factors"] * scaling.factor
        return Units({"factors": factors, "offsets": units["offsets"] + factors @ scaling.mean})


class Network(Basis):
    """φ_j(x) = tanh(w_j·tanh(H x) + v_j): a hidden layer H that all units share."""

    name: ClassVar[str] = "my_network"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("slopes", axes=("unit", "hidden")),
        Parameter("offsets", axes=("unit",)),
        Parameter("layer", axes=("hidden", "feature")),
        Parameter("layer_offsets", axes=("hidden",)),
    )

    def start(self, centers, shape, rng):
        m, d = centers.shape
        return Units(
            {
                "slopes": rng.normal(size=(m, 3)),
                "offsets": rng.normal(size=m),
                "layer": rng.normal(size=(3, d)) / np.sqrt(d),
                "layer_offsets": np.zeros(3),
            }
        )

    def coordinates(self, start):
        zero, one = (start.map(lambda _, a, v=v: np.full_like(a, v)) for v in (0.0, 1.0))
        return Coordinates(zero, one, self.lower_bounds())

    def _hidden(self, X, units):
        return np.tanh(X @ units["layer"].T + units["layer_offsets"])

    def features(self, X, units):
        return np.tanh(self._hidden(X, units) @ units["slopes"].T + units["offsets"])

    def vjp(self, X, units, Phi, dPhi):
        H, dZ = self._hidden(X, units), dPhi * (1 - Phi**2)
        dH = (dZ @ units["slopes"]) * (1 - H**2)
        return Units(
            {
                "slopes": dZ.T @ H,
                "offsets": dZ.sum(axis=0),
                "layer": dH.T @ X,
                "layer_offsets": dH.sum(axis=0),
            }
        )

    def jacobian(self, X, units, Phi):
        H, slope = self._hidden(X, units), 1 - Phi**2
        dH = slope[:, :, None] * units["slopes"] * (1 - H**2)[:, None]  # (n, m, hidden)
        return Units(
            {
                "slopes": slope[:, :, None] * H[:, None],
                "offsets": slope,
                "layer": dH[..., None] * X[:, None, None],
                "layer_offsets": dH,
            }
        )

    def unscale(self, units, scaling):
        layer = units["layer"] * scaling.factor
        shifted = units["layer_offsets"] - layer @ scaling.mean
        return Units({**units.arrays, "layer": layer, "layer_offsets": shifted})


class TestCauchy(BasisContract):
    def make(self):
        return Cauchy()


class TestNetwork(BasisContract):
    def make(self):
        return Network()


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


@pytest.mark.parametrize("basis", [Cauchy(), Network()], ids=lambda basis: basis.name)
def test_a_basis_of_ones_own_is_trained_pruned_and_saved(basis, problem, tmp_path):
    X, y = problem
    model = LowRankLSSVR(basis=basis, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    assert min(model.selection_["n_units"]) < max(model.selection_["n_units"])
    model.model_.save(tmp_path / "model.json")
    np.testing.assert_array_equal(sleek.load(tmp_path / "model.json").predict(X), model.predict(X))


def test_numbers_that_units_share_are_judged_by_refitted_folds(problem):
    X, y = problem
    model = LowRankLSSVR(4, basis=Network(), C=10.0, random_state=0).fit(X, y)
    assert model.expected_error_method_ == "refitted folds"
    fresh = np.random.default_rng(1).normal(size=(2000, 3))
    error = np.mean((model.predict(fresh) - np.sin(2 * fresh[:, 0]) - fresh[:, 1] * fresh[:, 2]) ** 2)
    assert model.expected_error_ == pytest.approx(error, rel=0.6)


def test_a_linear_part_beside_bumps(problem):
    """A basis without learnable numbers stands beside others in one model."""
    X, _ = problem
    axes, rng = Axes(), np.random.default_rng(0)
    model = LowRankLSSVR(basis=axes, C=1e6, init=X[:3], random_state=0).fit(X, 3 * X[:, 0] - X[:, 2] + 5)
    assert model.score(X, 3 * X[:, 0] - X[:, 2] + 5) > 1 - 1e-9
    bumps = Cauchy()
    both = Expansion(
        (
            *Expansion.of(axes, axes.start(X[:3], 1.0, rng)).parts,
            *Expansion.of(bumps, bumps.start(X[:2], 1.0, rng)).parts,
        )
    )
    theta = np.array([[1.0], [0.0], [2.0], [0.5], [0.0]])
    mixed = KernelModel(both, theta, np.array([7.0]), 1.0, NumberOutputs(np.zeros(1), np.ones(1)))
    expected = X[:, 0] + 2 * X[:, 2] + 0.5 / (1 + np.sum((X - X[0]) ** 2, axis=1)) + 7.0
    np.testing.assert_allclose(mixed.predict(X), expected)


def test_two_bases_of_one_name_are_refused(problem):
    class Impostor(Cauchy):
        """Another class of the same name."""

    try:
        with pytest.raises(ValueError, match="Two bases are called 'my_cauchy'"):
            LowRankLSSVR(basis="my_cauchy").fit(*problem)
    finally:
        Impostor.name = "my_impostor"
