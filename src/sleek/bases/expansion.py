"""Parts side by side: a model is a sum of parts, y = Σ_p Φ_p θ_p + b, each a basis with its units.

Everything above this room speaks of an `Expansion`, never of one basis: boxes and bumps can stand in one
model, and be trained, pruned, counted and exported together. Units are numbered through all parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds

from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.base import Basis
from sleek.bases.units import Coordinates, Units
from sleek.rows.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Part:
    """A basis and its units.

    >>> from sleek import RobustRBF
    >>> Part(RobustRBF(), Units({"centers": np.zeros((3, 2)), "shapes": np.ones((3, 2))}))
    3 robust_rbf units
    """

    basis: Basis
    units: Units

    def __len__(self) -> int:
        return len(self.units)

    def features(self, X: FloatArray) -> FloatArray:
        """Phi (n, m): the value of every unit at every row."""
        return self.basis.features(X, self.units)

    def __repr__(self) -> str:
        return f"{len(self)} {self.basis.name} {self.basis.noun}{'' if len(self) == 1 else 's'}"


@dataclass(frozen=True, eq=False)
class Gradient:
    """A number for every number of the units of all parts; `+` adds up over blocks of rows."""

    parts: tuple[Units, ...]

    def __add__(self, other: Gradient) -> Gradient:
        return Gradient(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


@dataclass(frozen=True, eq=False)
class Expansion:
    """Φ(x) = [Φ₁(x), Φ₂(x), …]: the units of all parts, side by side.

    >>> from sleek import GaussianRBF, RobustRBF
    >>> units = Units({"centers": np.zeros((2, 1)), "shapes": np.ones((2, 1))})
    >>> both = Expansion((Part(RobustRBF(), units), Part(GaussianRBF(), units)))
    >>> both, both.features(np.array([[2.0]])).round(3), both.take(np.array([0, 3]))
    (2 robust_rbf units + 2 gaussian_rbf units, array([[0.135, 0.135, 0.018, 0.018]]), \
1 robust_rbf unit + 1 gaussian_rbf unit)
    """

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, basis: Basis, units: Units) -> Expansion:
        """One part alone."""
        return cls((Part(basis, units),))

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))

    @property
    def n_learnt(self) -> int:
        """How many units have learnt numbers: the features of a linear part have none."""
        return sum(len(part) for part in self.parts if part.basis.learns)

    @property
    def name(self) -> str:
        """The names of the bases."""
        return "+".join(part.basis.name for part in self.parts)

    @property
    def has_shared(self) -> bool:
        """Whether units of a part share learnt numbers, so that none of these belongs to one unit."""
        return any(part.basis.has_shared for part in self.parts)

    def features(self, X: FloatArray) -> FloatArray:
        """Phi (n, m): the value of every unit at every row; NaN where numbers are too large to tell."""
        with np.errstate(over="ignore", invalid="ignore"):
            if len(self.parts) == 1:
                return self.parts[0].features(X)
            return np.concatenate([part.features(X) for part in self.parts], axis=1)

    def vjp(self, X: FloatArray, Phi: FloatArray, dPhi: FloatArray) -> Gradient:
        """Σ_n dPhi_nj ∂φ_j(x_n)/∂λ for all numbers λ, given ``Phi = features(X)``."""
        if len(self.parts) == 1:
            (part,) = self.parts
            return Gradient((part.basis.vjp(X, part.units, Phi, dPhi),))
        return Gradient(
            tuple(
                part.basis.vjp(X, part.units, _columns(Phi, place), _columns(dPhi, place))
                for part, place in zip(self.parts, self.places(), strict=True)
            )
        )

    def places(self) -> list[slice]:
        """Which units each part has."""
        ends = np.cumsum([len(part) for part in self.parts]).tolist()
        return [slice(end - len(part), end) for part, end in zip(self.parts, ends, strict=True)]

    def with_units(self, units: Sequence[Units]) -> Expansion:
        """The same bases with other units."""
        return Expansion(tuple(Part(p.basis, u) for p, u in zip(self.parts, units, strict=True)))

    def map(self, function: Callable[[Part], Units]) -> Expansion:
        """Every part's units replaced by ``function(part)``."""
        return self.with_units([function(part) for part in self.parts])

    def take(self, kept: IntArray) -> Expansion:
        """Some of the units, by number and in order; a part that has none left is gone."""
        parts = []
        for part, place in zip(self.parts, self.places(), strict=True):
            own = kept[(kept >= place.start) & (kept < place.stop)] - place.start
            if len(own):
                parts.append(Part(part.basis, part.basis.take(part.units, own)))
        return Expansion(tuple(parts))

    def plus(self, other: Expansion) -> Expansion:
        """The units of both; those of one basis stand in one part, where `other`'s come last.

        >>> from sleek import GaussianRBF, RobustRBF
        >>> units = Units({"centers": np.zeros((2, 1)), "shapes": np.ones((2, 1))})
        >>> one = Expansion.of(RobustRBF(), units)
        >>> one.plus(Expansion.of(GaussianRBF(), units)).plus(one)
        4 robust_rbf units + 2 gaussian_rbf units
        """
        parts = {part.basis.name: part for part in self.parts}
        for part in other.parts:
            own = parts.get(part.basis.name)
            parts[part.basis.name] = (
                part if own is None else Part(own.basis, own.basis.join(own.units, part.units))
            )
        return Expansion(tuple(parts.values()))

    def first(self, other: Expansion) -> IntArray:
        """The numbers that the units of `other` have here, if this is ``other.plus(…)``."""
        begins = {p.basis.name: place.start for p, place in zip(self.parts, self.places(), strict=True)}
        return np.concatenate([begins[part.basis.name] + np.arange(len(part)) for part in other.parts])

    def project(self) -> Expansion:
        """The nearest units that satisfy every parameter's constraint."""
        return self.map(lambda part: part.basis.project(part.units))

    def unscale(self, scaling: Scaling) -> Expansion:
        """Units that give at raw rows what these give at scaled rows."""
        return self.map(lambda part: part.basis.unscale(part.units, scaling))

    def coordinates(self) -> ExpansionCoordinates:
        """The numbers that training moves when units start here."""
        return ExpansionCoordinates(self, tuple(part.basis.coordinates(part.units) for part in self.parts))


@dataclass(frozen=True, eq=False)
class ExpansionCoordinates:
    """The numbers u that training moves, of all parts one after the other: see `Coordinates`."""

    start: Expansion
    parts: tuple[Coordinates, ...]

    def expansion(self, u: FloatArray) -> Expansion:
        """The units at coordinates u, a flat vector."""
        units, begin = [], 0
        for part in self.parts:
            size = sum(scale.size for scale in part.scale.arrays.values())
            units.append(part.units(u[begin : begin + size]))
            begin += size
        return self.start.with_units(units)

    def vector(self, expansion: Expansion) -> FloatArray:
        """The coordinates of units: the inverse of `expansion`."""
        return np.concatenate(
            [own.vector(part.units) for own, part in zip(self.parts, expansion.parts, strict=True)]
        )

    def bounds(self) -> Bounds:
        """The lower bounds of all coordinates."""
        return Bounds(np.concatenate([part.bounds().lb for part in self.parts]), np.inf)

    def by_u(self, gradient: Gradient) -> FloatArray:
        """A gradient by the units' numbers as one by u."""
        return np.concatenate([own.by_u(g) for own, g in zip(self.parts, gradient.parts, strict=True)])

    def derivatives(self, X: FloatArray, expansion: Expansion, Phi: FloatArray) -> FloatArray:
        """D (n, p): ∂φ_j(x_n)/∂u for every coordinate of the unit j that `owners` names."""
        columns = [np.empty((len(X), 0))]
        for own, part, place in zip(self.parts, expansion.parts, expansion.places(), strict=True):
            jacobian = part.basis.jacobian(X, part.units, _columns(Phi, place))
            for name, scale in own.scale.arrays.items():
                columns.append((jacobian[name] * scale).reshape(len(X), -1))
        return np.concatenate(columns, axis=1)

    @property
    def owners(self) -> IntArray:
        """(p,) the number of the unit that each coordinate belongs to."""
        found = [np.empty(0, dtype=np.int64)]
        for own, place in zip(self.parts, self.start.places(), strict=True):
            for scale in own.scale.arrays.values():
                found.append(np.repeat(np.arange(place.start, place.stop), scale[0].size))
        return np.concatenate(found)


def _columns(array: FloatArray, place: slice) -> FloatArray:
    """Some columns, one after the other in memory, as compiled loops want them."""
    whole = place.start == 0 and place.stop == array.shape[1]
    return array if whole else np.ascontiguousarray(array[:, place])
