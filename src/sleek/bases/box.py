"""Box units: 1 inside a box, falling off outside, and how such a unit is said as a rule."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sleek import kernels
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.base import BOTH, Basis
from sleek.bases.formula import Formula, exp, maximum, names
from sleek.bases.units import Coordinates, Parameter, Units, round_places, round_to_digits
from sleek.rows.scaling import Scaling

_x, _z, _centers, _half_widths, _below, _above = names("x z centers half_widths below above")

NEARLY_OPEN = 1e-12  # the share of a leaf's sharpness that open sides begin with if training may close them
NEGLIGIBLE = 0.1  # a side that takes less than this off log φ anywhere in the data is not worth a word


class Box(Basis):
    """φ_j(x) = exp(-Σ_i [above_ji (x_i - high_ji)₊ + below_ji (low_ji - x_i)₊]): a box with soft sides.

    low = centers - half_widths and high = centers + half_widths, so that half_widths ≥ 0 is all that keeps
    low ≤ high. Centre and half width, rather than low and width, treat the two sides alike: mirrored features
    give mirrored units, and ‖Δcenters‖² + ‖Δhalf_widths‖² = ½‖Δlow‖² + ½‖Δhigh‖², a pull on one is a pull on
    the other. Every side has a sharpness of its own; where all of them are 0 a feature plays no part. With
    half_widths = 0 and below = above it is the robust RBF, which is where units start.

    On a side, where the function has a kink, the gradient is taken as that of the inside.

    Examples
    --------
    >>> units = from_sides(lows=[[-1.0, 0.0]], highs=[[1.0, 0.0]], below=[[0.5, 0.0]], above=[[2.0, 0.0]])
    >>> Box().features(np.array([[0.0, 7.0], [1.0, 7.0], [2.0, 7.0], [-2.0, 7.0]]), units).round(3)
    array([[1.   ], [1.   ], [0.135], [0.607]])
    """

    name: ClassVar[str] = "box"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("centers"),
        Parameter("half_widths", lower=0.0),
        Parameter("below", lower=0.0, switch=True),
        Parameter("above", lower=0.0, switch=True),
    )
    widths: ClassVar[tuple[str, ...]] = ("below", "above")
    kind: ClassVar[str] = "box"
    auto_shapes: ClassVar[tuple[float, ...]] = (0.5, 2.0)
    leaf_shapes: ClassVar[tuple[float, ...]] = (2.0, 8.0)
    formula: ClassVar[Formula] = Formula(
        term=_above * maximum(0.0, _x - (_centers + _half_widths))
        + _below * maximum(0.0, (_centers - _half_widths) - _x),
        profile=exp(-_z),
    )

    def start(self, centers: FloatArray, shape: float, rng: np.random.Generator) -> Units:
        """Boxes of width 0 with the same sharpness on all sides: robust RBFs."""
        return Units(
            {
                "centers": centers.copy(),
                "half_widths": np.zeros_like(centers),
                "below": np.full_like(centers, shape),
                "above": np.full_like(centers, shape),
            }
        )

    def start_at_leaves(
        self, lows: FloatArray, highs: FloatArray, shape: FloatArray, middle: FloatArray, closing: bool = True
    ) -> Units:
        """Boxes with the sides of the leaves; an open side is put at the middle of the data.

        Its sharpness there is next to nothing if training may close it, else 0.
        """
        has_low, has_high = np.isfinite(lows), np.isfinite(highs)
        low = np.where(has_low, lows, np.minimum(middle, highs))
        high = np.where(has_high, highs, np.maximum(middle, low))
        least = NEARLY_OPEN if closing else 0.0
        below, above = (shape * np.where(has, 1.0, least) for has in (has_low, has_high))
        return from_sides(low, high, below, above)

    def directions(self, units: Units) -> IntArray:
        """A box with a lower side alone rises, one with an upper side alone falls."""
        below, above = units["below"] != 0, units["above"] != 0
        return np.where(below & above, BOTH, below.astype(np.int64) - above)

    def restrict_monotone(self, units: Units, signs: IntArray, rising: AnyArray) -> Units:
        """One side alone in such features.

        Where that is nearly open in all of them the unit is kept from them, and its weight is free.
        """
        below, above = units["below"], units["above"]
        lower = np.where(rising[:, None], signs, -signs) > 0
        left = np.where(signs == 0, 0.0, np.where(lower, below, above))
        there = left.max(axis=1) > np.sqrt(NEARLY_OPEN) * np.maximum(below, above).max(axis=1)
        low, high = ((signs == 0) | (there[:, None] & side) for side in (lower, ~lower))
        arrays = dict(units.arrays)
        return Units(arrays | {"below": np.where(low, below, 0.0), "above": np.where(high, above, 0.0)})

    def count_numbers(self, units: Units) -> IntArray:
        """A place for every side, and how soft sides are."""
        places: IntArray = np.sum((units["below"] != 0) * 1 + (units["above"] != 0), axis=1)
        return places + self.count_widths(units)

    def coordinates(self, start: Units) -> Coordinates:
        """Displacements of the box, and changes of sharpness in units of 1/√features, pulled to the start.

        A side that starts with sharpness 0 must be able to grow, so its start is no scale. 1/√features is the
        step that moves log φ by about 1 when all sides change at random. It lies between the sharpness of
        units that start at a centre, about 1/features, too small a step for a side to become a cut, and
        that of the few sides of a tree's leaf, about 1, with which small data of many features overfit.
        """
        step = np.ones_like(start["centers"])
        sharpness = step * step.shape[1] ** -0.5
        scale = Units({"centers": step, "half_widths": step, "below": sharpness, "above": sharpness})
        return Coordinates(start, scale, self.lower_bounds())

    def features(self, X: FloatArray, units: Units) -> FloatArray:
        Z = kernels.box_distance(X, *sides(units), units["below"], units["above"])
        Phi: FloatArray = np.exp(np.negative(Z, out=Z), out=Z)
        return Phi

    def features_without(
        self, X: FloatArray, units: Units, switch: str, unit: IntArray, feature: IntArray
    ) -> FloatArray:
        (lows, highs), x = sides(units), X[:, feature]
        Z = kernels.box_distance(X, lows, highs, units["below"], units["above"])[:, unit]
        out = lows[unit, feature] - x if switch == "below" else x - highs[unit, feature]
        Z -= units[switch][unit, feature] * np.maximum(out, 0.0, out=out)
        Phi: FloatArray = np.exp(-np.maximum(Z, 0.0, out=Z), out=Z)
        return Phi

    def vjp(self, X: FloatArray, units: Units, Phi: FloatArray, dPhi: FloatArray) -> Units:
        dZ = Phi * dPhi
        d_lows, d_highs, d_below, d_above = kernels.box_distance_vjp(
            X, *sides(units), units["below"], units["above"], np.negative(dZ, out=dZ), units.on
        )
        return Units(
            {
                "centers": d_highs + d_lows,
                "half_widths": d_highs - d_lows,
                "below": d_below,
                "above": d_above,
            }
        )

    def jacobian(self, X: FloatArray, units: Units, Phi: FloatArray) -> Units:
        lows, highs = sides(units)
        under = np.maximum(lows - X[:, None, :], 0.0)  # (n, m, d)
        over = np.maximum(X[:, None, :] - highs, 0.0)
        slope = Phi[:, :, None]
        by_low, by_high = -slope * units["below"] * (under > 0), slope * units["above"] * (over > 0)
        return Units(
            {
                "centers": by_high + by_low,
                "half_widths": by_high - by_low,
                "below": -slope * under,
                "above": -slope * over,
            }
        )

    def round(self, units: Units, mean: FloatArray, spread: FloatArray, digits: int) -> Units:
        """Sides to digits of the spread, sharpness to significant digits; 0 for what plays no part."""
        lows, highs = (round_places(side, spread, digits) for side in sides(units))
        below, above = (round_to_digits(units[name], digits) for name in ("below", "above"))
        lows = np.where(below > 0, lows, np.where(above > 0, highs, 0.0))
        highs = np.where(above > 0, highs, lows)
        return from_sides(lows, highs, below, above)

    def unscale(self, units: Units, scaling: Scaling) -> Units:
        lengths = Scaling(np.zeros_like(scaling.mean), scaling.factor)
        return Units(
            {
                "centers": scaling.invert(units["centers"]),
                "half_widths": lengths.invert(units["half_widths"]),
                "below": units["below"] * scaling.factor,
                "above": units["above"] * scaling.factor,
            }
        )


def sides(units: Units) -> tuple[FloatArray, FloatArray]:
    """The lower and the upper side of every box and feature, each (m, d)."""
    return units["centers"] - units["half_widths"], units["centers"] + units["half_widths"]


def from_sides(lows: ArrayLike, highs: ArrayLike, below: ArrayLike, above: ArrayLike) -> Units:
    """Boxes by their sides low ≤ high and the sharpness below low and above high, each (m, d).

    >>> from_sides([[1.0]], [[5.0]], [[0.5]], [[0.0]]).arrays
    {'centers': array([[3.]]), 'half_widths': array([[2.]]), 'below': array([[0.5]]), 'above': array([[0.]])}
    """
    low, high, q, p = (np.array(array, dtype=np.float64) for array in (lows, highs, below, above))
    return Units({"centers": 0.5 * (low + high), "half_widths": 0.5 * (high - low), "below": q, "above": p})


def rule(
    units: Units,
    j: int,
    least: ArrayLike,
    most: ArrayLike,
    names: Sequence[str],
    days: Callable[[float], str] | None = None,
) -> str:
    """Unit j in words: where it is on, and after ± the distance in which it falls to half, ln 2 / sharpness.

    A side is worth a word if it takes at least `NEGLIGIBLE` off log φ at the end of the data,
    above·(most - high) or below·(low - least): sides beyond the data and sides of hardly any sharpness are
    not. The features that take off most come first. Numbers are rounded to what ± and the range of the data
    make sense of, and ± is left out where it is less than a hundredth of the range.

    Parameters
    ----------
    units : Units
        Boxes in the units of the data.
    j : int
        Which of them.
    least, most : array-like of shape (d,)
        Where the data of every feature end. Quantiles, such as 5 and 95 %, are not stretched by outliers.
    names : sequence of str
        Of the features.
    days : callable or None
        How numbers are written that are days; ± then counts days.

    Returns
    -------
    str
        Conditions that must all hold, or "everywhere".

    Examples
    --------
    >>> units = from_sides(lows=[[50.2, 0.0, 1.0]], highs=[[60.0, 40123.0, 2.0]],
    ...                    below=[[0.25, 0.0, 9.0]], above=[[0.0, 1.4e-4, 1e-3]])
    >>> rule(units, 0, least=[18, 0, 1], most=[90, 150_000, 3], names=["age", "income", "children"])
    'income below 40,000 ± 5,000 and age above 50 ± 3'
    """
    start, end = (np.asarray(array, dtype=np.float64) for array in (least, most))
    lows, highs = (side[j] for side in sides(units))
    below, above = ((end > start) * units[name][j] for name in ("below", "above"))
    under, over = below * np.maximum(lows - start, 0.0), above * np.maximum(end - highs, 0.0)
    found = []
    for i in np.argsort(-np.maximum(under, over), kind="stable"):
        low = _side(lows[i], below[i], end[i] - start[i], days) if under[i] >= NEGLIGIBLE else ""
        high = _side(highs[i], above[i], end[i] - start[i], days) if over[i] >= NEGLIGIBLE else ""
        if low and high:
            found.append(f"{names[i]} near {low}" if low == high else f"{names[i]} from {low} to {high}")
        elif low or high:
            found.append(f"{names[i]} above {low}" if low else f"{names[i]} below {high}")
    return " and ".join(found) or "everywhere"


def _side(cut: float, sharpness: float, width: float, days: Callable[[float], str] | None) -> str:
    """A side as "cut ± half-distance" in digits that fit both the softness and the width of the data."""
    half = np.log(2.0) / sharpness
    step = 10.0 ** np.floor(np.log10(np.clip(half, 0.01 * width, 0.1 * width)))
    soft = f" ± {_number(half, step)}" if half >= 0.01 * width else ""
    if days is not None:
        return f"{days(cut)}{soft}{' days' if soft else ''}"
    return f"{_number(cut, step)}{soft}"


def _number(value: float, step: float) -> str:
    """The multiple of step, a power of ten, that is nearest."""
    if not 1e-6 <= step <= 1e9:
        return f"{value:.3g}"
    decimals = max(0, -round(np.log10(step)))
    return f"{round(value / step) * step + 0.0:,.{decimals}f}"
