"""The basis expansion of a model: a sum of parts, y = Σ_p Φ_p θ_p + b, each a basis with its units.

Everything above this room speaks of an `Expansion`, never of one basis: boxes and bumps can stand in one
model, and be trained, pruned, counted and exported together. Units are numbered through all parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sleek._runtime.counting import how_many
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.base import Basis
from sleek.bases.units import Coordinates, Units, bound
from sleek.rows.scaling import Scaling

NOTHING = Units({})  # the gradient by numbers that are not learnt


@dataclass(frozen=True, eq=False)
class Part:
    """A basis and its units; training leaves the parameters of these names as they are (`fixed`).

    >>> from sleek import RobustRBF
    >>> Part(RobustRBF(), Units({"centers": np.zeros((3, 2)), "shapes": np.ones((3, 2))}))
    3 robust_rbf units
    """

    basis: Basis
    units: Units
    fixed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.units)

    def features(self, X: FloatArray) -> FloatArray:
        """Phi (n, m): the value of every unit at every row."""
        return self.basis.features(X, self.units)

    def coordinates(self, signs: Sequence[int] | None = None) -> Coordinates:
        """The numbers that training moves when units start here; see `Expansion.coordinates`."""
        own = self.basis.coordinates(self.units)
        scale = own.scale.map(lambda name, array: 0.0 * array if name in self.fixed else array)
        own = replace(own, scale=self.basis.moving(self.units, scale))
        return own if signs is None else self.basis.bounded(own, self.units, np.asarray(signs))

    def __repr__(self) -> str:
        return how_many(len(self), self.basis.label)


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
                part.basis.vjp(X, part.units, Phi[:, place], dPhi[:, place]) if part.basis.learns else NOTHING
                for part, place in zip(self.parts, self.places(), strict=True)
            )
        )

    def places(self) -> list[slice]:
        """Which units each part has."""
        ends = np.cumsum([len(part) for part in self.parts]).tolist()
        return [slice(end - len(part), end) for part, end in zip(self.parts, ends, strict=True)]

    def with_units(self, units: Sequence[Units]) -> Expansion:
        """The same bases with other units."""
        return Expansion(tuple(replace(p, units=u) for p, u in zip(self.parts, units, strict=True)))

    def map(self, function: Callable[[Part], Units]) -> Expansion:
        """Every part's units replaced by ``function(part)``."""
        return self.with_units([function(part) for part in self.parts])

    def take(self, kept: IntArray) -> Expansion:
        """Some of the units, by number and in order; a part that has none left is gone."""
        parts = []
        for part, place in zip(self.parts, self.places(), strict=True):
            own = kept[(kept >= place.start) & (kept < place.stop)] - place.start
            if len(own):
                parts.append(replace(part, units=part.basis.take(part.units, own)))
        return Expansion(tuple(parts))

    def plus(self, other: Expansion) -> Expansion:
        """The units of both; those of one basis stand in one part, where `other`'s come last.

        What is fixed in one of them only is no longer fixed.

        >>> from sleek import GaussianRBF, RobustRBF
        >>> units = Units({"centers": np.zeros((2, 1)), "shapes": np.ones((2, 1))})
        >>> one = Expansion.of(RobustRBF(), units)
        >>> one.plus(Expansion.of(GaussianRBF(), units)).plus(one)
        4 robust_rbf units + 2 gaussian_rbf units
        """
        parts = {part.basis.name: part for part in self.parts}
        for part in other.parts:
            own = parts.get(part.basis.name)
            if own is not None:
                fixed = tuple(name for name in own.fixed if name in part.fixed)
                part = Part(own.basis, own.basis.join(own.units, part.units), fixed)
            parts[part.basis.name] = part
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

    def round(self, mean: FloatArray, spread: FloatArray, digits: int) -> Expansion:
        """All units in so many digits."""
        return self.map(lambda part: part.basis.round(part.units, mean, spread, digits))

    def coordinates(self, signs: Sequence[int] | None = None) -> ExpansionCoordinates:
        """The numbers that training moves when units start here.

        Units that only rise or only fall in the features of these signs (d,) go on to do so.
        """
        return ExpansionCoordinates(self, tuple(part.coordinates(signs) for part in self.parts))

    def directions(self) -> IntArray:
        """(m, d) how every unit depends on each feature; see `Basis.directions`."""
        return np.concatenate([part.basis.directions(part.units) for part in self.parts])

    def count_numbers(self) -> IntArray:
        """How many numbers a person has to read of every unit, beside its weights."""
        counts = [part.basis.count_numbers(part.units) for part in self.parts]
        return np.concatenate([np.empty(0, dtype=np.int64), *counts])

    def count_shared(self) -> int:
        """How many numbers there are to read that belong to all units of a part."""
        return sum(part.basis.count_shared(part.units) for part in self.parts)


@dataclass(frozen=True, eq=False)
class ExpansionCoordinates:
    """The numbers u that training moves, of all parts one after the other: see `Coordinates`."""

    start: Expansion
    parts: tuple[Coordinates, ...]

    @cached_property
    def flat(self) -> FlatCoordinates:
        """Those of all parts in a row."""
        return FlatCoordinates.of(self.parts)

    def expansion(self, u: FloatArray) -> Expansion:
        """The units at coordinates u, a flat vector."""
        return self.start.with_units(self.flat.split(self.flat.numbers(u)))

    def vector(self, expansion: Expansion) -> FloatArray:
        """The coordinates of units: the inverse of `expansion`."""
        return np.concatenate(
            [own.vector(part.units) for own, part in zip(self.parts, expansion.parts, strict=True)]
        )

    def lower_bounds(self) -> FloatArray:
        """The least value of every coordinate."""
        return np.concatenate([part.lower_bounds() for part in self.parts])

    def by_u(self, gradient: Gradient) -> FloatArray:
        """A gradient by the units' numbers as one by u."""
        return self.flat.by_u(gradient.parts)

    def derivatives(self, X: FloatArray, expansion: Expansion, Phi: FloatArray) -> FloatArray:
        """D (n, p): ∂φ_j(x_n)/∂u for every coordinate of the unit j that `owners` names."""
        columns = [np.empty((len(X), 0))]
        for own, part, place in zip(self.parts, expansion.parts, expansion.places(), strict=True):
            jacobian = part.basis.jacobian(X, part.units, Phi[:, place])
            columns.append(own.derivatives(jacobian, len(X)))
        return np.concatenate(columns, axis=1)

    @property
    def owners(self) -> IntArray:
        """(p,) the number of the unit that each coordinate belongs to."""
        found = [np.empty(0, dtype=np.int64)]
        for own, place in zip(self.parts, self.start.places(), strict=True):
            found.append(place.start + own.owners())
        return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class FlatCoordinates:
    """What `Coordinates` of several parts say, as vectors: training asks for it hundreds of times."""

    parts: tuple[Coordinates, ...]
    anchor: FloatArray  # of all learnt arrays, laid flat one after the other
    moving: IntArray | slice  # which of these numbers u has an entry for
    step: FloatArray  # by which they move
    least: FloatArray  # their bounds
    on: tuple[AnyArray | None, ...]  # of each part, the features of its units in which any number moves
    turned: bool  # whether any step is negative

    @classmethod
    def of(cls, parts: tuple[Coordinates, ...]) -> FlatCoordinates:
        arrays = [(part, name, scale) for part in parts for name, scale in part.scale.arrays.items()]
        nothing = np.empty(0)
        anchor = np.concatenate([nothing, *(part.anchor[name].ravel() for part, name, _ in arrays)])
        scale = np.concatenate([nothing, *(scale.ravel() for _, _, scale in arrays)])
        least = np.concatenate([nothing, *(part.bounds(name) for part, name, _ in arrays)])
        moving = slice(None) if scale.all() else np.flatnonzero(scale)
        on, step = tuple(map(_features_on, parts)), scale[moving]
        return cls(parts, anchor, moving, step, least[moving], on, bool((step < 0).any()))

    def numbers(self, u: FloatArray) -> FloatArray:
        """All learnt arrays at coordinates u, laid flat one after the other."""
        values = self.step * u
        values += self.anchor[self.moving]
        if self.turned:
            values = bound(values, self.step, self.least)
        else:
            np.maximum(values, self.least, out=values)  # rounding must not carry a number over its bound
        if isinstance(self.moving, slice):
            return values
        whole = self.anchor.copy()
        whole[self.moving] = values
        return whole

    def split(self, numbers: FloatArray) -> list[Units]:
        """The units of every part that have these numbers."""
        found, begin = [], 0
        for part, on in zip(self.parts, self.on, strict=True):
            arrays = dict(part.anchor.arrays)
            for name, scale in part.scale.arrays.items():
                arrays[name] = numbers[begin : begin + scale.size].reshape(scale.shape)
                begin += scale.size
            found.append(Units(arrays, on))
        return found

    def by_u(self, gradients: Sequence[Units]) -> FloatArray:
        """Gradients by the units' numbers as one by u."""
        arrays = [
            g[name].ravel()
            for part, g in zip(self.parts, gradients, strict=True)
            for name in part.scale.arrays
        ]
        return self.by_u_of_numbers(np.concatenate(arrays)) if arrays else np.empty(0)

    def by_u_of_numbers(self, gradient: FloatArray) -> FloatArray:
        """A gradient by all learnt arrays, laid flat, as one by u."""
        return self.step * gradient[self.moving]


def _features_on(part: Coordinates) -> AnyArray | None:
    """(m, d) whether any number of a unit that belongs to a feature moves; None: it does everywhere."""
    moving = [scale != 0 for scale in part.scale.arrays.values() if scale.ndim == 2]
    if not moving or any(one.shape != moving[0].shape for one in moving):
        return None
    on: AnyArray = np.any(moving, axis=0)
    return None if on.all() else on
