"""Both trainers keep the promises of the contract; so do the kinds of outputs."""

import numpy as np

from sleek import Alternating, ClassOutputs, NumberOutputs, VariableProjection
from sleek.outputs import Labels
from sleek.testing import OutputsContract, TrainerContract


class TestVariableProjection(TrainerContract):
    def make(self):
        return VariableProjection(pull=1e-3, max_iter=40)


class TestAlternating(TrainerContract):
    def make(self):
        return Alternating("squared", learning_rate=1e-2, max_iter=10)


class TestTwoClasses(OutputsContract):
    kind = ClassOutputs

    def targets(self):
        return Labels.of(np.array(["no", "yes", "no"] * 20))


class TestThreeClasses(OutputsContract):
    kind = ClassOutputs

    def targets(self):
        return Labels.of(np.random.default_rng(0).permutation(np.arange(60) % 3))


class TestNumber(OutputsContract):
    kind = NumberOutputs

    def targets(self):
        return 1e3 + np.random.default_rng(0).normal(size=(50, 1))


class TestNumbers(OutputsContract):
    kind = NumberOutputs

    def targets(self):
        return np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 1e3, 1e-3]
