"""Curves: ramps of single features, whose weights alone are learnt."""

from itertools import pairwise
from typing import ClassVar

import numpy as np

from sleek import kernels
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.base import Basis
from sleek.bases.formula import Formula, maximum, names
from sleek.bases.units import Coordinates, Parameter, Units, round_places
from sleek.rows.scaling import Scaling

_x, _z, _slopes, _offsets = names("x z slopes offsets")

NARROW = 1e-4  # of a feature's range: no ramp is steeper, so that slopes and offsets lose no digits
LEAST_RANGE = 1e-290  # of a feature: slopes of steps across less are beyond float64
KNOTS = 16  # of a feature, if it has more values and there are rows enough


class Curves(Basis):
    """φ_j(x) = min(1, max(0, w_j·x + v_j)): a ramp from 0 to 1 between two values of one feature.

    With low and high the two values, w = 1/(high - low) and v = -low/(high - low). Beyond them a ramp is
    flat, and so are curves beyond the data. What a ramp weighs is what it adds from low to high. A feature's
    curve is a sum of ramps: over its whole range, from each knot to the next, and across each knot, between
    two neighbouring values of the data, which is a step. Nothing but weights is learnt, in closed form.

    Examples
    --------
    >>> from sleek import Curves
    >>> units = ramps(columns=[1], lows=[10.0], highs=[20.0], n_features=2)
    >>> Curves().features(np.array([[0.0, 5.0], [0.0, 12.5], [0.0, 99.0]]), units)
    array([[0.  ], [0.25], [1.  ]])
    """

    name: ClassVar[str] = "curves"
    noun: ClassVar[str] = "ramp"
    per_feature: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("slopes", learnt=False),
        Parameter("offsets", axes=("unit",), learnt=False),
    )
    draft_iterations: ClassVar[int] = 1
    formula: ClassVar[Formula] = Formula(
        term=_slopes * _x, start=_offsets, profile=-maximum(-1.0, -maximum(0.0, _z))
    )

    @property
    def label(self) -> str:
        return self.noun

    def start(self, centers: FloatArray, shape: float, rng: np.random.Generator) -> Units:
        """As many ramps as centres, each upwards from its centre, over one feature after another."""
        m, d = centers.shape
        columns = np.arange(m) % d
        lows = centers[np.arange(m), columns]
        return ramps(columns, lows, lows + 1.0 / (d * shape), d)

    def start_per_feature(self, X: FloatArray, s: FloatArray, most: int) -> Units:
        """Ramps of all features that vary, at most so many; knots are quantiles of these rows."""
        varied = np.flatnonzero(np.ptp(X, axis=0) > LEAST_RANGE).tolist()
        n_knots = min(KNOTS, (most // max(1, len(varied)) - 2) // 2)
        found = [(i, *ramp) for i in varied for ramp in _ramps_of(X[:, i], s, n_knots)]
        columns, lows, highs = np.array(found or [(0, 0.0, 1.0)]).T
        return ramps(columns.astype(np.int64), lows, highs, X.shape[1])

    def count_numbers(self, units: Units) -> IntArray:
        """Where a ramp begins and ends, if no ramp before it begins or ends there: a curve is its corners."""
        columns, lows, highs = ends(units)
        places = np.round(np.column_stack([lows, highs]).ravel(), 12)
        _, first = np.unique(
            np.repeat(columns, 2) + 1j * places, return_index=True
        )  # as numbers, not as rows
        return np.bincount(first // 2, minlength=len(units))

    def coordinates(self, start: Units) -> Coordinates:
        return Coordinates(start, Units({}), self.lower_bounds())

    def directions(self, units: Units) -> IntArray:
        return np.sign(units["slopes"]).astype(np.int64)

    def features(self, X: FloatArray, units: Units) -> FloatArray:
        Z = kernels.projection(X, units["slopes"], units["offsets"])
        return np.clip(Z, 0.0, 1.0, out=Z)

    def vjp(self, X: FloatArray, units: Units, Phi: FloatArray, dPhi: FloatArray) -> Units:
        d_slopes, d_offsets = kernels.projection_vjp(X, dPhi * _between(Phi))
        return Units({"slopes": d_slopes, "offsets": d_offsets})

    def jacobian(self, X: FloatArray, units: Units, Phi: FloatArray) -> Units:
        slope = _between(Phi)
        return Units({"slopes": slope[:, :, None] * X[:, None, :], "offsets": slope})

    def round(self, units: Units, mean: FloatArray, spread: FloatArray, digits: int) -> Units:
        """Both ends of a ramp, to digits of its width."""
        columns, lows, highs = ends(units)
        width = np.minimum(np.abs(highs - lows), spread[columns])
        lows, highs = (round_places(end, width, digits + 1) for end in (lows, highs))
        return ramps(columns, lows, highs, units["slopes"].shape[1])

    def unscale(self, units: Units, scaling: Scaling) -> Units:
        slopes = units["slopes"] * scaling.factor
        return Units({"slopes": slopes, "offsets": units["offsets"] - slopes @ scaling.mean})


def ramps(columns: AnyArray, lows: AnyArray, highs: AnyArray, n_features: int) -> Units:
    """Ramps by their feature and the values between which they rise.

    >>> ramps([0], [2.0], [4.0], n_features=1).arrays
    {'slopes': array([[0.5]]), 'offsets': array([-1.])}
    """
    low, high = np.asarray(lows, dtype=np.float64), np.asarray(highs, dtype=np.float64)
    steep = 1.0 / (high - low)
    slopes = np.zeros((len(low), n_features))
    slopes[np.arange(len(low)), columns] = steep
    return Units({"slopes": slopes, "offsets": -low * steep})


def ends(units: Units) -> tuple[IntArray, FloatArray, FloatArray]:
    """The feature of every ramp, and the values where it is 0 and 1.

    >>> ends(ramps([1], [2.0], [4.0], n_features=2))
    (array([1]), array([2.]), array([4.]))
    """
    slopes, offsets = units["slopes"], units["offsets"]
    columns = np.argmax(np.abs(slopes), axis=1)
    steep = slopes[np.arange(len(slopes)), columns]
    return columns, -offsets / steep, (1.0 - offsets) / steep


def _ramps_of(x: FloatArray, s: FloatArray, n_knots: int) -> list[tuple[float, float]]:
    """Over the whole range, from knot to knot, and across each: a knot is the gap after a value.

    Knots are quantiles, but a third of them is for the rows beside the most frequent value: amounts that are
    0 in nine of ten rows have corners among the others. (Adult: 14.0 instead of 14.7 % of mistakes.)

    >>> x = np.append(np.zeros(95), np.arange(1.0, 6.0))
    >>> [low for low, high in _ramps_of(x, np.ones(100), 3)[1:4]]
    [0.0, 0.5, 2.5]
    """
    values, number = np.unique(x, return_inverse=True)
    knots = np.arange(len(values) - 1)
    if len(knots) > n_knots:
        weights = np.bincount(number, s)
        weights = np.minimum(weights, 2.0 * (weights.sum() - weights))  # two thirds of all for one value
        shares = np.cumsum(weights) / weights.sum()
        knots = np.unique(np.searchsorted(shares, np.arange(1, n_knots + 1) / (n_knots + 1)))
        knots = knots[knots < len(values) - 1]
    whole = (float(values[0]), float(values[-1]))
    if len(values) == 2 or not len(knots):
        return [whole]
    least = NARROW * (whole[1] - whole[0])
    middles = 0.5 * values[knots] + 0.5 * values[knots + 1]
    halves = 0.5 * np.maximum(values[knots + 1] - values[knots], least)
    steps = zip((middles - halves).tolist(), (middles + halves).tolist(), strict=True)
    ends = [whole[0], *middles.tolist(), whole[1]]
    return [whole, *((low, high) for low, high in pairwise(ends) if high - low >= least), *steps]


def _between(Phi: FloatArray) -> FloatArray:
    """1 where a ramp rises, 0 where it is flat."""
    return ((Phi > 0.0) & (Phi < 1.0)).astype(np.float64)
