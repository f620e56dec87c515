"""The numbers of units: what a basis declares of them, and the coordinates that training moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds

from sleek._runtime.types import FloatArray


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
    """

    name: str
    lower: float = -np.inf
    axes: tuple[str, ...] = ("unit", "feature")
    learnt: bool = True

    @property
    def shared(self) -> bool:
        """Whether units share the numbers."""
        return self.axes[:1] != ("unit",)


@dataclass(frozen=True, eq=False)
class Units:
    """The numbers λ of all units of one basis: named arrays, whose first axis runs over units unless shared.

    Gradients have the same form, and `+` adds them up over blocks of rows.

    >>> units = Units({"centers": np.zeros((3, 2)), "shapes": np.ones((3, 2))})
    >>> len(units), (units + units)["shapes"][0]
    (3, array([2., 2.]))
    """

    arrays: Mapping[str, FloatArray]

    def __getitem__(self, name: str) -> FloatArray:
        return self.arrays[name]

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def __add__(self, other: Units) -> Units:
        return Units({name: array + other[name] for name, array in self.arrays.items()})

    def map(self, function: Callable[[str, FloatArray], FloatArray]) -> Units:
        """Units with every array replaced by ``function(name, array)``."""
        return Units({name: function(name, array) for name, array in self.arrays.items()})


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The numbers u that training moves, and how units follow: λ = anchor + scale·u. A pull draws u to 0.

    Arrays that are not learnt have no scale, and stay where the anchor is.

    >>> start = Units({"centers": np.zeros((1, 2)), "shapes": np.full((1, 2), 0.5)})
    >>> scale = Units({"centers": np.ones((1, 2)), "shapes": start["shapes"]})
    >>> coordinates = Coordinates(start, scale, lower={"centers": -np.inf, "shapes": 0.0})
    >>> coordinates.units(np.array([3.0, 0.0, 1.0, 0.0])).arrays
    {'centers': array([[3., 0.]]), 'shapes': array([[1. , 0.5]])}
    >>> coordinates.bounds().lb
    array([-inf, -inf,  -1.,  -1.])
    """

    anchor: Units
    scale: Units
    lower: Mapping[str, float]

    def units(self, u: FloatArray) -> Units:
        """The units at coordinates u, a flat vector."""
        moved, begin = dict(self.anchor.arrays), 0
        for name, scale in self.scale.arrays.items():
            part = u[begin : begin + scale.size].reshape(scale.shape)
            # rounding must not carry a number over its bound
            moved[name] = np.maximum(self.anchor[name] + scale * part, self.lower[name])
            begin += scale.size
        return Units(moved)

    def vector(self, units: Units) -> FloatArray:
        """The coordinates of units: the inverse of `units`."""
        return flat(self.scale.map(lambda name, scale: (units[name] - self.anchor[name]) / scale))

    def bounds(self) -> Bounds:
        """The lower bounds of all coordinates."""
        lower = self.scale.map(lambda name, scale: (self.lower[name] - self.anchor[name]) / scale)
        return Bounds(flat(lower), np.inf)

    def by_u(self, gradient: Units) -> FloatArray:
        """A gradient by the units' numbers as one by u."""
        return flat(self.scale.map(lambda name, scale: gradient[name] * scale))


def flat(units: Units) -> FloatArray:
    """All numbers of units, or of a gradient, as one vector."""
    return np.concatenate([np.empty(0), *(array.ravel() for array in units.arrays.values())])
