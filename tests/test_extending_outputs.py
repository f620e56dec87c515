"""A new kind of outputs, written as somebody outside the package would: counts, fitted on a log scale."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import RegressorMixin

import sleek
from sleek import LowRankLSSVM, NumberOutputs, Outputs
from sleek.testing import OutputsContract


class LogNumbers(NumberOutputs):
    """Positive numbers: log y is fitted, exp of it is said."""

    kind: ClassVar[str] = "log_numbers"

    @classmethod
    def survey(cls, y, s):
        return super().survey(np.log(y), s)

    def encode(self, y):
        return super().encode(np.log(y))

    def answer(self, Y):
        return np.exp(super().answer(Y))


class LogRegressor(RegressorMixin, LowRankLSSVM):
    outputs_kind: ClassVar[type[Outputs]] = LogNumbers


class TestLogNumbers(OutputsContract):
    kind = LogNumbers

    def targets(self):
        return np.exp(np.random.default_rng(0).normal(size=(60, 2)))


def test_an_estimator_of_it_fits_predicts_and_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.exp(2 * np.sin(X[:, 0]) + 0.1 * rng.normal(size=300))
    model = LogRegressor(random_state=0).fit(X[:200], y[:200])
    assert model.predict(X).min() > 0
    assert model.score(X[200:], y[200:]) > 0.9
    model.model_.save(tmp_path / "model.json")
    np.testing.assert_array_equal(sleek.load(tmp_path / "model.json").predict(X), model.predict(X))


def test_two_kinds_of_one_name_are_refused(tmp_path):
    class Impostor(LogNumbers):
        """Another class of the same kind."""

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    model = LogRegressor(3, C=1.0, random_state=0).fit(X, np.exp(X[:, 0])).model_
    try:
        with pytest.raises(ValueError, match="Two kinds of outputs are called 'log_numbers'"):
            model.save(tmp_path / "model.json")
    finally:
        Impostor.kind = "impostor"
