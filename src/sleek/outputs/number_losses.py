"""Losses of numbers: counts, amounts, medians, quantiles, and numbers of which a few are gross errors.

A fit begins with least squares, which choose features, units and strengths in closed form, and ends with the
loss itself. So targets are coded twice over. With z = (y - center)/unit they become

    T = (code(z) - mean)/scale,

where `code` makes them fit for least squares: counts and amounts get the same noise everywhere (the power
that stabilises their variance), gross errors are drawn in. The loss of an output Y, f = mean + scale·Y, reads
z back from T. Under a link log, f is the logarithm of the expected z; else it is z itself.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.mixing import GOLDEN, mix
from sleek._runtime.sums import Sums
from sleek._runtime.types import FloatArray
from sleek.kernels.column_statistics import ColumnMoments
from sleek.outputs.loss import LEAST_CURVATURE, Loss

MOST_LOG = 40.0  # of an expectation, relative to the mean: beyond, exponentials are of no use
MOST_SKETCHED = 4096  # different targets by which medians and quartiles are estimated
QUARTILES = 1.349  # by which the distance of the quartiles is divided to be a standard deviation
FAR_OUT = 10.0  # such deviations away, targets count as the logarithm of what is beyond
FAR_ERROR = 2.5  # such deviations and more are one error where models of least squares are compared
SMOOTH = 0.2  # of a deviation of residuals: the kink of absolute errors is rounded so far, in training alone
HUBER = (
    1.345  # deviations of the residuals up to which Huber's loss is quadratic: 95 % as good for normal noise
)
LEAST_DEVIATION = 1e-6  # of residuals, in deviations of the targets
FAR = 3.0  # deviations of the residuals beyond which errors count as one where models are compared;
FAR_TAIL = 10.0  # the same for quantiles, whose business tails are


@dataclass(frozen=True, eq=False)
class Sketch:
    """Some of the different values of a column, a random sample that depends on them alone, with weights."""

    keys: Any  # (n,) sorted
    values: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray) -> Sketch:
        """Of some rows."""
        return cls._of(mix((values + 0.0).view(np.uint64) + GOLDEN), values, weights)

    @classmethod
    def _of(cls, keys: Any, values: FloatArray, weights: FloatArray) -> Sketch:
        different, first, place = np.unique(keys, return_index=True, return_inverse=True)
        summed = np.bincount(place.ravel(), weights, len(different)).astype(np.float64)
        return cls(different[:MOST_SKETCHED], values[first[:MOST_SKETCHED]], summed[:MOST_SKETCHED])

    def __add__(self, other: Sketch) -> Sketch:
        pairs = ((self.keys, other.keys), (self.values, other.values), (self.weights, other.weights))
        return self._of(*(np.concatenate(pair) for pair in pairs))

    def quantile(self, share: float) -> float:
        """The least value below or at which a share of the weight lies.

        >>> Sketch.of(np.array([3.0, 1.0, 2.0, 2.0]), np.ones(4)).quantile(0.5)
        2.0
        """
        return weighted_quantile(self.values, self.weights, share)


def weighted_quantile(values: FloatArray, weights: FloatArray, share: float) -> float:
    """The least value below or at which a share of the weight lies."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order[min(int(np.searchsorted(below, share * below[-1])), len(order) - 1)]])


def robust_deviation(residuals: FloatArray, weights: FloatArray) -> float:
    """The standard deviation of normal residuals whose sizes have the same median.

    >>> robust_deviation(np.array([-1.349, 1.349, 1e9]), np.ones(3))
    2.0
    """
    return weighted_quantile(np.abs(residuals), weights, 0.5) * 2.0 / QUARTILES


@dataclass(frozen=True, eq=False)
class TargetSurvey(Sums):
    """Targets in a few numbers: their moments, those of a power of them, and some of their values."""

    moments: ColumnMoments
    powers: ColumnMoments
    sketch: Sketch


@dataclass(frozen=True, eq=False)
class NumberLoss(Loss):
    """A loss of one number, and how that is coded for least squares."""

    center: float = 0.0
    unit_: float = 1.0
    mean: float = 0.0
    scale: float = 1.0

    chooses: ClassVar[bool] = True
    resists: ClassVar[bool] = False  # whether some targets may be gross errors
    link: ClassVar[str] = "identity"  # or "log": outputs are logarithms of what is predicted
    settings: ClassVar[tuple[str, ...]] = ()  # names of fields that the user sets
    found: ClassVar[
        tuple[str, ...]
    ] = ()  # those of fields that a fit finds for training, which are not saved
    deviance_name: ClassVar[str]  # in reports
    least: ClassVar[float] = -np.inf  # of what is predicted

    # -- learnt from targets

    def survey(self, y: FloatArray, s: FloatArray) -> TargetSurvey:
        """Statistics of some rows' targets y (n, 1)."""
        if y.shape[1] != 1:
            raise ValueError(
                f"loss={self.name!r} is for one target, got {y.shape[1]}: fit a model for each of them."
            )
        self.check(y)
        powers = ColumnMoments.of(self.power_of(y), s)
        return TargetSurvey(ColumnMoments.of(y, s), powers, Sketch.of(y[:, 0].copy(), s))

    def check(self, y: FloatArray) -> None:
        """Refuse targets that the loss is not for."""
        return None

    def power_of(self, y: FloatArray) -> FloatArray:
        """What the coding needs the moments of."""
        return y

    @abstractmethod
    def learn(self, survey: TargetSurvey) -> Self:
        """The loss with the coding that suits these targets."""

    # -- coding

    @abstractmethod
    def code(self, z: FloatArray) -> FloatArray:
        """z as least squares see it."""

    @abstractmethod
    def decode(self, v: FloatArray) -> FloatArray:
        """The inverse."""

    def encode_targets(self, y: FloatArray) -> FloatArray:
        """T for targets y."""
        coded: FloatArray = (self.code((y - self.center) / self.unit_) - self.mean) / self.scale
        return coded

    def z_of(self, T: FloatArray) -> FloatArray:
        """z for coded targets."""
        return self.decode(self.mean + self.scale * T)

    def targets_of(self, T: FloatArray) -> FloatArray:
        """y for coded targets."""
        return self.center + self.unit_ * self.z_of(T)

    def raw(self, Y: FloatArray) -> FloatArray:
        """The model's outputs in the user's units, logarithms under that link, for outputs Y of a fit."""
        return self.raw_constant + self.raw_factor * Y

    @property
    def raw_factor(self) -> float:
        """By which outputs of a fit are multiplied to be those of the model."""
        return self.scale if self.link == "log" else self.unit_ * self.scale

    @property
    def raw_constant(self) -> float:
        """What is added to them then."""
        if self.link == "log":
            return self.mean + float(np.log(self.unit_))
        return self.center + self.unit_ * self.mean

    def predictions(self, raw: FloatArray) -> FloatArray:
        """What is predicted where the model's outputs are `raw`: the inverse of the link."""
        return np.exp(raw) if self.link == "log" else raw

    # -- the loss

    def judged(self, y: FloatArray, m: FloatArray) -> FloatArray:
        """The error by which models are compared."""
        return self.deviance(y, m)

    @abstractmethod
    def deviance(self, y: FloatArray, m: FloatArray) -> FloatArray:
        """The error of predictions m for targets y, in the user's units, as scikit-learn measures it."""

    def best_constant(self, y: FloatArray, s: FloatArray) -> float:
        """The one number that has the least mean deviance."""
        return float(np.average(y, weights=s))

    @abstractmethod
    def parts(self, z: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The loss of f for z, as training sees it, its slope and its curvature by f."""

    def values(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        return self._parts(T, Y)[0][:, 0]

    def slopes(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        return self.scale * self._parts(T, Y)[1]

    def values_and_slopes(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        values, slopes, _ = self._parts(T, Y)
        return values[:, 0], self.scale * slopes

    def working(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        _, slopes, curvature = self._parts(T, Y)
        w = self.scale**2 * np.maximum(curvature[:, 0], LEAST_CURVATURE)
        return Y - self.scale * slopes / w[:, None], w

    def _parts(self, T: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.parts(self.z_of(T), self.mean + self.scale * np.asarray(Y, dtype=np.float64))

    def curvature(self, n_outputs: int) -> float:
        return self.scale**2

    def unit(self, n_outputs: int) -> float:
        return 0.5 * self.scale**2

    @property
    def reach(self) -> float:
        """Under the link log no mean becomes another then, but for a factor of 2.7."""
        return 1.0 / self.scale if self.link == "log" else np.inf

    def after(self, residuals: FloatArray, s: FloatArray) -> Self:
        """The loss for residuals like those that least squares leave, T - Y of rows that took no part."""
        return self

    def expectation(self, Y: FloatArray) -> FloatArray:
        return self.predictions(self.raw(Y))

    # -- saved

    def to_json(self) -> dict[str, Any]:
        """Its name and numbers."""
        numbers = {name: getattr(self, name) for name in self.settings}
        return {"name": self.name, **numbers, "center": self.center, "unit": self.unit_}


# -- counts and amounts --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TweedieLoss(NumberLoss):
    """Half the Tweedie deviance of a power p ≥ 1 under the link log: the variance grows as the mean to the p.

    With f the logarithm of the expectation,

        ℓ = z^(2-p)/((1-p)(2-p)) - z·exp((1-p)f)/(1-p) + exp((2-p)f)/(2-p),

    its slope is exp((1-p)f)·(exp f - z). z is y divided by its mean, and code(z) = (z^λ - 1)/λ with
    λ = 1 - p/2 has the same noise everywhere, where it is small.

    >>> loss = TweedieLoss(power=1.5)
    >>> loss.values(loss.encode_targets(np.array([[2.0]])), np.log([[2.0]])).round(12)
    array([0.])
    """

    power: float = 1.5

    name: ClassVar[str] = "tweedie"
    link: ClassVar[str] = "log"
    settings: ClassVar[tuple[str, ...]] = ("power",)
    deviance_name: ClassVar[str] = "Tweedie deviance"
    least: ClassVar[float] = 0.0

    @property
    def _lambda(self) -> float:
        return 1.0 - self.power / 2.0

    def check(self, y: FloatArray) -> None:
        positive = self.power >= 2.0
        bad = ~(y[:, 0] > 0) if positive else ~(y[:, 0] >= 0)
        if bad.any():
            rule = "above 0" if positive else "not negative"
            raise ValueError(f"loss={self.name!r} needs targets that are {rule}, got {y[bad][0, 0]:.6g}.")

    def power_of(self, y: FloatArray) -> FloatArray:
        return np.log(y) if self._lambda == 0.0 else y**self._lambda

    def learn(self, survey: TargetSurvey) -> Self:
        """In units of the mean; then code(z) has mean 0 and variance 1."""
        mean, power = float(survey.moments.mean[0]), self._lambda
        if not mean > 0:
            raise ValueError(f"loss={self.name!r} needs some targets above 0, and all of them are 0.")
        middle, spread = float(survey.powers.mean[0]), float(survey.powers.spread()[0])
        if power == 0.0:
            middle -= float(np.log(mean))
        else:
            middle, spread = (middle / mean**power - 1.0) / power, spread / mean**power / abs(power)
        return replace(self, unit_=mean, mean=middle, scale=spread if spread > 0 else 1.0)

    def code(self, z: FloatArray) -> FloatArray:
        power = self._lambda
        return np.log(z) if power == 0.0 else (z**power - 1.0) / power

    def decode(self, v: FloatArray) -> FloatArray:
        power = self._lambda
        if power == 0.0:
            return np.exp(v)
        z: FloatArray = np.maximum(1.0 + power * v, 0.0) ** (1.0 / power)
        return np.where(z < 1e-12, 0.0, z) if power > 0 else z  # what was 0 is 0 again

    def parts(self, z: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        p = self.power
        m = np.exp(np.clip(f, -MOST_LOG, MOST_LOG))
        slope = m ** (1.0 - p) * (m - z)
        return 0.5 * self.deviance(z, m), slope, m ** (2.0 - p)

    def curvatures(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """(2 - p)·m^(2-p) + (p - 1)·z·m^(1-p), where `working` has what is to be expected of it, m^(2-p)."""
        p, z = self.power, self.z_of(T)
        m = np.exp(np.clip(self.mean + self.scale * Y, -MOST_LOG, MOST_LOG))
        found = (2.0 - p) * m ** (2.0 - p) + (p - 1.0) * z * m ** (1.0 - p)
        return self.scale**2 * np.maximum(found, LEAST_CURVATURE)[:, :, None]

    def deviance(self, y: FloatArray, m: FloatArray) -> FloatArray:
        p = self.power
        found = y ** (2.0 - p) / ((1.0 - p) * (2.0 - p))
        found = found - y * m ** (1.0 - p) / (1.0 - p) + m ** (2.0 - p) / (2.0 - p)
        return 2.0 * np.maximum(found, 0.0)


@dataclass(frozen=True, eq=False)
class PoissonLoss(TweedieLoss):
    """Half the Poisson deviance: counts, whose variance grows as their mean.

    >>> loss = PoissonLoss()
    >>> T, Y = loss.encode_targets(np.array([[2.0], [0.0]])), np.array([[0.0], [0.0]])
    >>> loss.values(T, Y).round(4), loss.slopes(T, Y)[:, 0]
    (array([0.3863, 1.    ]), array([-1.,  1.]))
    """

    power: float = 1.0

    name: ClassVar[str] = "poisson"
    settings: ClassVar[tuple[str, ...]] = ()
    deviance_name: ClassVar[str] = "Poisson deviance"

    def deviance(self, y: FloatArray, m: FloatArray) -> FloatArray:
        logs = np.log(np.where(y > 0, y / m, 1.0))
        return 2.0 * np.maximum(y * logs - y + m, 0.0)


@dataclass(frozen=True, eq=False)
class GammaLoss(TweedieLoss):
    """Half the gamma deviance: amounts above 0, whose deviation grows as their mean.

    >>> loss = GammaLoss()
    >>> loss.slopes(loss.encode_targets(np.array([[2.0], [0.5]])), np.array([[0.0], [0.0]]))[:, 0].round(12)
    array([-1. ,  0.5])
    """

    power: float = 2.0

    name: ClassVar[str] = "gamma"
    settings: ClassVar[tuple[str, ...]] = ()
    deviance_name: ClassVar[str] = "gamma deviance"

    def deviance(self, y: FloatArray, m: FloatArray) -> FloatArray:
        return 2.0 * np.maximum(np.log(m / y) + y / m - 1.0, 0.0)


# -- numbers with gross errors, medians and quantiles --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RobustLoss(NumberLoss):
    """Losses that grow no faster than the distance: z counts in robust deviations from the median.

    In training they are multiplied by the deviation σ of the residuals, so that at a residual of σ they have
    the curvature of least squares, and the strength that suits these is about right.
    """

    deviation: float = 1.0  # of residuals, robust, in units of z; that of targets before there are any

    resists: ClassVar[bool] = True
    far: ClassVar[float] = FAR
    found: ClassVar[tuple[str, ...]] = ("deviation",)

    def learn(self, survey: TargetSurvey) -> Self:
        """By the median and the quartiles, or the standard deviation if more than half of all are equal."""
        low, middle, high = (survey.sketch.quantile(share) for share in (0.25, 0.5, 0.75))
        unit = (high - low) / QUARTILES or float(survey.moments.spread()[0]) or 1.0
        return replace(self, center=middle, unit_=unit)

    def code(self, z: FloatArray) -> FloatArray:
        """Itself; what is beyond `FAR_OUT` as its logarithm, so that squares of it are finite."""
        far = np.maximum(np.abs(z) - FAR_OUT, 0.0)
        return np.where(far > 0, np.sign(z) * (FAR_OUT + np.log1p(far)), z)

    def decode(self, v: FloatArray) -> FloatArray:
        far = np.maximum(np.abs(v) - FAR_OUT, 0.0)
        return np.where(far > 0, np.sign(v) * (FAR_OUT + np.expm1(far)), v)

    def unit(self, n_outputs: int) -> float:
        return 0.5 * self.deviation

    def start(self, theta: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The median: weights of least squares follow gross errors, rounds from here do not."""
        return np.zeros_like(theta), np.zeros_like(b)

    def after(self, residuals: FloatArray, s: FloatArray) -> Self:
        return replace(self, deviation=max(robust_deviation(residuals[:, 0], s), LEAST_DEVIATION))

    def judged(self, y: FloatArray, m: FloatArray) -> FloatArray:
        """What is far beyond all other errors has no more say than others that are."""
        far = self.far * self.deviation * self.unit_
        return self.deviance(m + np.clip(y - m, -far, far), m)


@dataclass(frozen=True, eq=False)
class QuantileLoss(RobustLoss):
    """The pinball loss, whose least value has the quantile: q·r for residuals r above 0, (q - 1)·r below.

    In training the kink is rounded, r²/2ε instead of |r| - ε/2 up to ε. The quadratic that touches it has the
    steeper side's curvature, and is nowhere below it: rounds of least squares always descend.

    >>> QuantileLoss(quantile=0.9).deviance(np.array([3.0, 3.0]), np.array([1.0, 4.0]))
    array([1.8, 0.1])
    """

    quantile: float = 0.5

    name: ClassVar[str] = "quantile"
    settings: ClassVar[tuple[str, ...]] = ("quantile",)
    deviance_name: ClassVar[str] = "pinball loss"
    far: ClassVar[float] = FAR_TAIL
    factor: ClassVar[float] = 1.0
    smooth: ClassVar[bool] = False

    def deviance(self, y: FloatArray, m: FloatArray) -> FloatArray:
        r = y - m
        return self.factor * np.where(r > 0, self.quantile * r, (self.quantile - 1.0) * r)

    def best_constant(self, y: FloatArray, s: FloatArray) -> float:
        return weighted_quantile(y, s, self.quantile)

    def parts(self, z: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        r = z - f
        size, side = np.abs(r), 2.0 * np.where(r > 0, self.quantile, 1.0 - self.quantile)
        side, smooth = side * self.deviation, SMOOTH * self.deviation
        values = side * np.where(size < smooth, 0.5 * r**2 / smooth, size - 0.5 * smooth)
        slopes = -side * np.clip(r / smooth, -1.0, 1.0)
        steeper = 2.0 * max(self.quantile, 1.0 - self.quantile) * self.deviation
        return values, slopes, steeper / np.maximum(size, smooth)


@dataclass(frozen=True, eq=False)
class AbsoluteLoss(QuantileLoss):
    """The absolute error, whose least value has the median.

    >>> AbsoluteLoss().deviance(np.array([3.0, 3.0]), np.array([1.0, 4.0]))
    array([2., 1.])
    """

    name: ClassVar[str] = "absolute_error"
    settings: ClassVar[tuple[str, ...]] = ()
    deviance_name: ClassVar[str] = "absolute error"
    far: ClassVar[float] = FAR
    factor: ClassVar[float] = 2.0


@dataclass(frozen=True, eq=False)
class HuberLoss(RobustLoss):
    """Huber's loss: ½ r² for residuals up to δ, δ(|r| - ½ δ) beyond, where a gross error pulls no harder.

    δ is 1.345 robust deviations of the residuals that least squares leave.

    >>> HuberLoss(delta=1.0).deviance(np.array([3.0, 3.0]), np.array([1.0, 2.5]))
    array([1.5  , 0.125])
    """

    delta: float = HUBER  # in units of z

    name: ClassVar[str] = "huber"
    settings: ClassVar[tuple[str, ...]] = ("delta",)
    deviance_name: ClassVar[str] = "Huber loss"

    def after(self, residuals: FloatArray, s: FloatArray) -> Self:
        found = super().after(residuals, s)
        return replace(found, delta=HUBER * found.deviation)

    def deviance(self, y: FloatArray, m: FloatArray) -> FloatArray:
        delta, size = self.delta * self.unit_, np.abs(y - m)
        return np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))

    def best_constant(self, y: FloatArray, s: FloatArray) -> float:
        """By reweighting: a residual beyond δ weighs δ/|r|."""
        m = weighted_quantile(y, s, 0.5)
        for _ in range(100):
            w = s * np.minimum(1.0, self.delta * self.unit_ / np.maximum(np.abs(y - m), 1e-300))
            m = float(np.average(y, weights=w))
        return m

    def parts(self, z: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        r, delta = z - f, self.delta
        size = np.abs(r)
        values = np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))
        return values, -np.clip(r, -delta, delta), delta / np.maximum(size, delta)

    def curvatures(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """None beyond δ, where `working` has more, to be safe."""
        near = np.abs(self.z_of(T) - self.mean - self.scale * Y) <= self.delta
        return self.scale**2 * np.where(near, 1.0, LEAST_CURVATURE)[:, :, None]


NUMBER_LOSSES: dict[str, type[NumberLoss]] = {
    loss.name: loss for loss in (AbsoluteLoss, HuberLoss, QuantileLoss, PoissonLoss, GammaLoss, TweedieLoss)
}
FIELDS = {
    "name": fields.text(tuple(NUMBER_LOSSES)),
    "power": fields.optional(fields.number()),
    "quantile": fields.optional(fields.number(above=0)),
    "delta": fields.optional(fields.number(above=0)),
    "center": fields.number(),
    "unit": fields.number(above=0),
}


def loss_from_json(block: Mapping[str, Any], mean: float, scale: float) -> NumberLoss:
    """What `to_json` wrote."""
    found = fields.read(block, FIELDS, "outputs.loss")
    kind = NUMBER_LOSSES[found["name"]]
    numbers = {name: found[name] for name in kind.settings}
    missing = [name for name, value in numbers.items() if value is None]
    if missing:
        raise ValueError(f"`outputs.loss` must have `{missing[0]}` for {kind.name!r}.")
    return kind(center=found["center"], unit_=found["unit"], mean=mean, scale=scale, **numbers)
