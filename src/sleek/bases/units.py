"""Parameters of units: their declaration by a basis, their arrays, and the coordinates that are optimised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sleek._runtime.types import FloatArray, IntArray


@dataclass(frozen=True)
class Parameter:
    """One array of numbers of a basis: what its axes run over, its constraint, and whether it is learnt.

    A basis declares its parameters; leave-one-out, pruning, files and exports go by that.

    Parameters
    ----------
    name : str
    lower : float
        The least value of each number.
    axes : tuple of str
        What each axis runs over: "unit", "feature", or any other word for a size that is the basis's own. An
        array whose first axis is not "unit" is shared by all units, as the layers of a network are. The first
        parameter that a basis declares must have the axis "unit".
    learnt : bool
        Whether training moves it.
    switch : bool
        Whether 0 takes a feature out of a unit, or one side of a box. A unit that starts without a feature
        stays without it.
    """

    name: str
    lower: float = -np.inf
    axes: tuple[str, ...] = ("unit", "feature")
    learnt: bool = True
    switch: bool = False

    @property
    def shared(self) -> bool:
        """Whether units share the numbers."""
        return self.axes[:1] != ("unit",)


@dataclass(frozen=True, eq=False)
class Units:
    """The numbers λ of all units of one basis: named arrays, whose first axis runs over units unless shared.

    Gradients have the same form, and `+` adds them up over blocks of rows. Where training moves only some of
    the numbers, `on` (units, features) says by which features gradients are wanted; None: by all.

    >>> units = Units({"centers": np.zeros((3, 2)), "shapes": np.ones((3, 2))})
    >>> len(units), (units + units)["shapes"][0]
    (3, array([2., 2.]))
    """

    arrays: Mapping[str, FloatArray]
    on: NDArray[np.bool_] | None = None

    def __getitem__(self, name: str) -> FloatArray:
        return self.arrays[name]

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def __add__(self, other: Units) -> Units:
        return Units({name: array + other[name] for name, array in self.arrays.items()})

    def map(self, function: Callable[[str, FloatArray], FloatArray]) -> Units:
        """Units with every array replaced by ``function(name, array)``."""
        return Units({name: function(name, array) for name, array in self.arrays.items()})


def round_to_digits(values: FloatArray, digits: int) -> FloatArray:
    """Numbers rounded to so many significant digits.

    >>> round_to_digits(np.array([0.0, 123.456, -0.0012345]), 2)
    array([ 0.0e+00,  1.2e+02, -1.2e-03])
    """
    return _round_each(values, digits - 1 - _magnitude(values))


def round_places(values: FloatArray, spread: FloatArray, digits: int) -> FloatArray:
    """Places rounded to so many digits of the spread of their feature; where that is 0 they stay.

    >>> round_places(np.array([1234.567, 0.4321]), np.array([30.0, 0.0]), 2)
    array([1.235e+03, 4.321e-01])
    """
    return np.where(spread > 0, _round_each(values, digits - 1 - _magnitude(spread)), values)


def _magnitude(values: FloatArray) -> FloatArray:
    """The power of ten of the first digit, 0 for 0."""
    size = np.abs(values)
    return np.floor(np.log10(np.where((size > 0) & np.isfinite(size), size, 1.0)))


def _round_each(values: FloatArray, decimals: FloatArray) -> FloatArray:
    """Each value to so many decimals, as the float that a person would write."""
    values, decimals = np.broadcast_arrays(values, decimals)
    rounded, some = values + 0.0, np.isfinite(values) & (values != 0)  # most are 0
    rounded[some] = [round(v, int(d)) + 0.0 for v, d in zip(values[some], decimals[some], strict=True)]
    return rounded


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The numbers u that training moves, and how units follow: λ = anchor + scale·u. A pull draws u to 0.

    Numbers of scale 0 are fixed: they stay where the anchor is, and u has no entry for them. So do arrays
    that have no scale at all. With a negative scale the bound is that of -λ, so that u is bounded from below
    all the same.

    >>> start = Units({"centers": np.zeros((1, 2)), "shapes": np.full((1, 2), 0.5)})
    >>> scale = Units({"centers": np.array([[1.0, 0.0]]), "shapes": start["shapes"]})
    >>> coordinates = Coordinates(start, scale, lower={"centers": -np.inf, "shapes": 0.0})
    >>> coordinates.units(np.array([3.0, 1.0, 0.0])).arrays
    {'centers': array([[3., 0.]]), 'shapes': array([[1. , 0.5]])}
    >>> coordinates.lower_bounds()
    array([-inf,  -1.,  -1.])
    """

    anchor: Units
    scale: Units
    lower: Mapping[str, float | FloatArray]

    def bounds(self, name: str) -> FloatArray:
        """The bounds of an array's numbers, laid flat."""
        return np.broadcast_to(np.asarray(self.lower[name]), self.scale[name].shape).ravel()

    @cached_property
    def moving(self) -> dict[str, IntArray | slice]:
        """Which numbers of every array, laid flat, u has an entry for."""
        return {
            name: slice(None) if scale.all() else np.flatnonzero(scale)
            for name, scale in self.scale.arrays.items()
        }

    @cached_property
    def size(self) -> int:
        """How many numbers u has."""
        return sum(int(np.count_nonzero(scale)) for scale in self.scale.arrays.values())

    def units(self, u: FloatArray) -> Units:
        """The units at coordinates u, a flat vector."""
        moved, begin = dict(self.anchor.arrays), 0
        for name, scale in self.scale.arrays.items():
            anchor, at = self.anchor[name].ravel(), self.moving[name]
            step = scale.ravel()[at]
            # rounding must not carry a number over its bound
            values = bound(anchor[at] + step * u[begin : begin + len(step)], step, self.bounds(name)[at])
            if not isinstance(at, slice):
                whole = anchor.copy()
                whole[at] = values
                values = whole
            moved[name] = values.reshape(scale.shape)
            begin += len(step)
        return Units(moved)

    def vector(self, units: Units) -> FloatArray:
        """The coordinates of units: the inverse of `units`."""
        return self._flat(lambda name, at, scale: (units[name] - self.anchor[name]).ravel()[at] / scale)

    def lower_bounds(self) -> FloatArray:
        """The least value of every coordinate."""
        return self._flat(
            lambda name, at, scale: (
                (self.bounds(name)[at] - np.sign(scale) * self.anchor[name].ravel()[at]) / np.abs(scale)
            )
        )

    def by_u(self, gradient: Units) -> FloatArray:
        """A gradient by the units' numbers as one by u."""
        return self._flat(lambda name, at, scale: gradient[name].ravel()[at] * scale)

    def owners(self) -> IntArray:
        """The number of the unit that every coordinate belongs to."""
        found = [np.empty(0, dtype=np.int64)]
        for name, scale in self.scale.arrays.items():
            found.append(np.repeat(np.arange(len(scale)), scale[0].size)[self.moving[name]])
        return np.concatenate(found)

    def derivatives(self, jacobian: Units, n_rows: int) -> FloatArray:
        """∂φ/∂u (n, size) from the derivatives by the units' numbers, row by row."""
        columns = [
            jacobian[name].reshape(n_rows, -1)[:, at] * scale.ravel()[at]
            for (name, scale), at in zip(self.scale.arrays.items(), self.moving.values(), strict=True)
        ]
        return np.concatenate([np.empty((n_rows, 0)), *columns], axis=1)

    def _flat(self, function: Callable[[str, IntArray | slice, FloatArray], FloatArray]) -> FloatArray:
        """``function(name, which numbers, their scale)`` of all arrays as one vector."""
        parts = (function(name, at, self.scale[name].ravel()[at]) for name, at in self.moving.items())
        return np.concatenate([np.empty(0), *parts])


def bound(values: FloatArray, step: FloatArray, least: FloatArray) -> FloatArray:
    """Numbers not below their bounds, -λ instead of λ where steps are negative.

    >>> bound(np.array([-1.0, 2.0, -2.0]), np.array([1.0, -1.0, -1.0]), np.zeros(3))
    array([ 0.,  0., -2.])
    """
    sign = np.sign(step)
    return sign * np.maximum(sign * values, least) + 0.0  # no minus in front of 0
