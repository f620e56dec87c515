"""The example of a torch module as a basis, where torch is installed."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import sleek
from sleek.testing import BasisContract

pytest.importorskip("torch")
EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"


@pytest.fixture(scope="module")
def basis():
    sys.path.insert(0, str(EXAMPLES))
    try:
        return import_module("torch_basis").TorchNetwork
    finally:
        sys.path.remove(str(EXAMPLES))


class TestTorchNetwork(BasisContract):
    @pytest.fixture(autouse=True)
    def _basis(self, basis):
        self.basis = basis

    def make(self):
        return self.basis()


def test_a_torch_module_is_trained_and_saved(basis, tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    trainer = sleek.VariableProjection(pull=1e-4, tol=1e-4)
    model = sleek.LowRankLSSVR(6, basis=basis(), C=100.0, trainer=trainer, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    model.model_.save(tmp_path / "model.json")
    np.testing.assert_array_equal(sleek.load(tmp_path / "model.json").predict(X), model.predict(X))
