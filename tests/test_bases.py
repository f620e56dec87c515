"""Every basis keeps the contract; the three of the paper are what their formulas say."""

import numpy as np
import pytest

from sleek import Basis, GaussianRBF, Parameter, RobustRBF, Simplex, Units
from sleek.bases import known_bases
from sleek.testing import BasisContract

OURS = sorted(name for name, basis in known_bases().items() if basis.__module__.startswith("sleek."))


@pytest.mark.parametrize("name", OURS)
class TestEveryBasis(BasisContract):
    @pytest.fixture(autouse=True)
    def _name(self, name):
        self.name = name

    def make(self):
        return known_bases()[self.name]()


def brute_force(profile, power, X, centers, shapes):
    Phi = np.empty((len(X), len(centers)))
    for n, x in enumerate(X):
        for j, (c, mu) in enumerate(zip(centers, shapes, strict=True)):
            Phi[n, j] = profile(sum(mu[i] * abs(x[i] - c[i]) ** power for i in range(len(x))))
    return Phi


@pytest.mark.parametrize(
    ("basis", "profile", "power"),
    [
        (RobustRBF(), lambda z: np.exp(-z), 1),
        (GaussianRBF(), lambda z: np.exp(-z), 2),
        (Simplex(), lambda z: max(0.0, 1.0 - z), 1),
    ],
    ids=["robust_rbf", "gaussian_rbf", "simplex"],
)
def test_features_are_the_papers_formula(basis, profile, power):
    rng = np.random.default_rng(0)
    X, centers, shapes = rng.normal(size=(30, 4)), rng.normal(size=(6, 4)), rng.uniform(0, 0.5, size=(6, 4))
    Phi = basis.features(X, Units({"centers": centers, "shapes": shapes}))
    np.testing.assert_allclose(Phi, brute_force(profile, power, X, centers, shapes), rtol=1e-13)


def test_gaussian_keeps_its_digits_far_from_the_origin():
    rng = np.random.default_rng(0)
    X, basis = rng.normal(size=(20, 2)), GaussianRBF()
    near, far = basis.start(X[:3], 1.0, rng), basis.start(X[:3] + 2.0**20, 1.0, rng)
    np.testing.assert_allclose(basis.features(X + 2.0**20, far), basis.features(X, near), rtol=1e-8)


def test_a_user_defined_basis_is_known_by_its_name_and_trains():
    from sleek import LowRankLSSVC
    from sleek.datasets import make_ripley

    class Bump(RobustRBF):
        name = "bump"

    X, y = make_ripley(100, random_state=0)
    assert known_bases()["bump"] is Bump
    assert LowRankLSSVC(n_units=3, basis="bump").fit(X, y).score(X, y) > 0.8


def test_the_contract_notices_a_wrong_gradient():
    class Wrong(RobustRBF):
        name = "wrong"

        def slope(self, Phi):
            return -0.9 * Phi

    class Contract(BasisContract):
        def make(self):
            return Wrong()

    with pytest.raises(AssertionError):
        Contract().test_gradient_is_that_of_finite_differences()


def test_an_abstract_basis_is_not_offered():
    assert Basis not in known_bases().values()
    assert Parameter("shapes", lower=0.0).lower == 0.0
