"""A new loss, as somebody outside the package would write it: log cosh, a smooth absolute error."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sleek import LowRankLSSVR
from sleek.outputs.number_losses import RobustLoss
from sleek.outputs.numbers import NumbersBy


@dataclass(frozen=True, eq=False)
class LogCosh(RobustLoss):
    """ℓ(r) = log cosh r, with residuals r in robust deviations of the targets."""

    name: ClassVar[str] = "log_cosh"
    deviance_name: ClassVar[str] = "log cosh"

    def deviance(self, y, m):
        """The error of predictions m for targets y, by which models are judged."""
        r = np.abs(y - m) / self.unit_
        return r + np.log1p(np.exp(-2 * r)) - np.log(2)

    def parts(self, z, f):
        """The loss, its slope and its curvature by the output f, for which training asks."""
        r = np.tanh(z - f)
        size = np.abs(z - f)
        return size + np.log1p(np.exp(-2 * size)) - np.log(2), -r, 1 - r**2


class LogCoshRegressor(LowRankLSSVR):
    """Numbers by log cosh: an estimator says which targets it learns."""

    def _targets(self):
        return NumbersBy(LogCosh())


def test_slopes_are_differences():
    z, step = np.array([[0.3], [-2.0], [4.0]]), 1e-6
    f = np.array([[0.1], [0.5], [-0.2]])
    loss = LogCosh()
    _, slope, curvature = loss.parts(z, f)
    above, below = loss.parts(z, f + step), loss.parts(z, f - step)
    np.testing.assert_allclose(slope, (above[0] - below[0]) / (2 * step), atol=1e-8)
    np.testing.assert_allclose(curvature, (above[1] - below[1]) / (2 * step), atol=1e-8)


def test_an_estimator_of_it_is_not_moved_by_gross_errors():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(400, 1))
    truth = np.sin(2 * X[:, 0])
    y = truth + 0.1 * rng.normal(size=400) + 30.0 * (rng.random(400) < 0.05)
    robust, squared = (kind(random_state=0).fit(X, y) for kind in (LogCoshRegressor, LowRankLSSVR))
    errors = [np.median(np.abs(model.predict(X) - truth)) for model in (robust, squared)]
    assert errors[0] < 0.15
    assert errors[0] < 0.5 * errors[1]
