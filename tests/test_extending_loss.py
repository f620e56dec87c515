"""A new loss, as somebody outside the package would write it: log cosh, a smooth absolute error."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sleek import LowRankLSSVR
from sleek.outputs.number_losses import RobustLoss
from sleek.outputs.numbers import NumbersBy


@dataclass(frozen=True, eq=False)
class LogCosh(RobustLoss):
    """ℓ(r) = δ² log cosh(r/δ), with the deviation of the residuals as δ: ½ r² near 0, δ|r| far away."""

    name: ClassVar[str] = "log_cosh"
    deviance_name: ClassVar[str] = "log cosh"

    def deviance(self, y, m):
        """The error of predictions m for targets y, by which models are judged."""
        delta = self.deviation * self.unit_
        return delta**2 * log_cosh((y - m) / delta)

    def parts(self, z, f):
        """The loss by the output f, its slope, and the curvature of a quadratic that is nowhere below it."""
        delta = self.deviation
        r = (z - f) / delta
        curvature = np.divide(np.tanh(r), r, out=np.ones_like(r), where=r != 0)
        return delta**2 * log_cosh(r), -delta * np.tanh(r), curvature


def log_cosh(r):
    size = np.abs(r)
    return size + np.log1p(np.exp(-2 * size)) - np.log(2)


class LogCoshRegressor(LowRankLSSVR):
    """Numbers by log cosh, as ``LogCoshRegressor(loss="log_cosh")``."""

    losses: ClassVar[tuple[str, ...]] = (*LowRankLSSVR.losses, LogCosh.name)

    def _targets(self):
        return NumbersBy(LogCosh()) if self.loss == LogCosh.name else super()._targets()


def test_slopes_are_differences_and_the_quadratic_is_above():
    z, f, loss = np.array([[0.3], [-2.0], [4.0]]), np.array([[0.1], [0.5], [-0.2]]), LogCosh(deviation=0.7)
    values, slopes, curvature = loss.parts(z, f)
    above, below = loss.parts(z, f + 1e-6)[0], loss.parts(z, f - 1e-6)[0]
    np.testing.assert_allclose(slopes, (above - below) / 2e-6, atol=1e-8)
    steps = np.linspace(-5, 5, 101)
    quadratic = values + slopes * steps + 0.5 * curvature * steps**2
    assert np.all(quadratic >= loss.parts(z, f + steps)[0] - 1e-12)


def test_an_estimator_of_it_is_not_moved_by_gross_errors():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(400, 1))
    truth = np.sin(2 * X[:, 0])
    y = truth + 0.1 * rng.normal(size=400) + 30.0 * (rng.random(400) < 0.05)
    robust, squared = (
        LogCoshRegressor(loss=loss, random_state=0).fit(X, y) for loss in ("log_cosh", "squared_error")
    )
    errors = [np.median(np.abs(model.predict(X) - truth)) for model in (robust, squared)]
    assert errors[0] < 0.15
    assert errors[0] < 0.5 * errors[1]
