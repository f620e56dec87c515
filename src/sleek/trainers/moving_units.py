"""Units while they are trained: their values at rows, and gradients by their coordinates u.

Where every learnt part has a `kind` that `kernels.compiled_units` knows, an evaluation is one call for the
values and one for the gradient; other bases answer for themselves. Parts that are not learnt, ramps and
linear features, have the same values in every evaluation and are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sleek._runtime.interrupts import interruptible
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.expansion import Expansion, ExpansionCoordinates, Part
from sleek.bases.units import Coordinates
from sleek.kernels import COMPILED_KINDS, UNITS_COMPILED_FROM, can_compile
from sleek.rows.source import Block, OneBlock, Source

if TYPE_CHECKING:
    from sleek.kernels.compiled_units import OutputPasses, ReducedObjective

KEEP_FIXED = 2**22  # values that do not change, 32 MB, up to which they are kept


@dataclass(frozen=True, eq=False)
class UnitsAt:
    """Units at some coordinates."""

    numbers: FloatArray  # of all learnt parts, laid flat
    moving: MovingUnits

    def features(self, X: AnyArray) -> AnyArray:
        """Phi (n, m): the value of every unit at every row."""
        moving = self.moving
        if moving.layout is None:
            return self._expansion().features(X)
        return _compiled_values(X, moving, self.numbers)

    def gradient(self, X: AnyArray, Phi: AnyArray, dPhi: AnyArray) -> FloatArray:
        """Σ_n dPhi_nj ∂φ_j(x_n)/∂u (p,), given ``Phi = features(X)``."""
        moving, flat = self.moving, self.moving.coordinates.flat
        if moving.layout is None:
            return flat.by_u(self._expansion().vjp(X, Phi, dPhi).parts)
        return flat.by_u_of_numbers(_compiled_gradient(X, moving, self.numbers, Phi, dPhi))

    def _expansion(self) -> Expansion:
        coordinates = self.moving.coordinates
        return coordinates.start.with_units(coordinates.flat.split(self.numbers))


class MovingUnits:
    """The units of a training on so many rows."""

    def __init__(self, coordinates: ExpansionCoordinates, n_rows: int) -> None:
        self.coordinates = coordinates
        parts = coordinates.start.parts
        known = all(part.basis.kind is not None or not part.basis.learns for part in parts)
        size = n_rows * coordinates.flat.anchor.size
        compiled = known and size >= UNITS_COMPILED_FROM and can_compile()
        self.layout = _Layout.of(coordinates) if compiled else None

    def reduced(self, rows: Source, C: float) -> ReducedObjective | None:
        """The objective of variable projection as one compiled call, where rows are in one block."""
        return self.reduced_of(rows.rows, C) if isinstance(rows, OneBlock) else None

    def reduced_of(self, block: Block, C: float) -> ReducedObjective | None:
        """The same of a block; None where its units or outputs are not for compiled loops."""
        layout = self.layout
        if layout is None or block.T.shape[1] > layout.n_units:
            return None
        from sleek.kernels.compiled_units import ReducedObjective

        X, T, s = (np.ascontiguousarray(array) for array in (block.X.T, block.T.T, block.s))
        return ReducedObjective(X, T, s, layout.parts, layout.wanted, layout.fixed_values(block.X), C)

    def passes(self, rows: Source) -> OutputPasses | None:
        """Outputs and their gradients as compiled calls, where rows are in one block."""
        if self.layout is None or not isinstance(rows, OneBlock):
            return None
        from sleek.kernels.compiled_units import OutputPasses

        layout, X = self.layout, rows.rows.X
        return OutputPasses(np.ascontiguousarray(X.T), layout.parts, layout.wanted, layout.fixed_values(X))

    def at(self, u: FloatArray) -> UnitsAt:
        """The units at coordinates u, a flat vector."""
        return UnitsAt(self.coordinates.flat.numbers(u), self)


@dataclass(frozen=True, eq=False)
class _Layout:
    """Where compiled loops find the parts of a model."""

    n_units: int
    parts: IntArray  # (n_parts, 4) see `compiled_units.unit_values`
    wanted: AnyArray  # (p,) by which numbers gradients are
    fixed: Expansion  # the parts that are not learnt,
    fixed_at: IntArray  # and the numbers of their units
    kept: dict[int, tuple[AnyArray, AnyArray]] = field(default_factory=dict)  # rows, values of fixed parts

    @classmethod
    def of(cls, coordinates: ExpansionCoordinates) -> _Layout:
        parts, wanted, fixed, begin = [], [np.empty(0, dtype=bool)], [], 0
        fixed_at = [np.empty(0, dtype=np.int64)]
        start = coordinates.start
        for part, own, place in zip(start.parts, coordinates.parts, start.places(), strict=True):
            if part.basis.kind is None:
                fixed.append(part)
                fixed_at.append(np.arange(place.start, place.stop))
                continue
            parts.append((COMPILED_KINDS.index(part.basis.kind), len(part), place.start, begin))
            wanted.append(_wanted(part, own))
            begin += len(wanted[-1])
        laid = np.array(parts, dtype=np.int64).reshape(-1, 4)
        return cls(
            len(start), laid, np.concatenate(wanted), Expansion(tuple(fixed)), np.concatenate(fixed_at)
        )

    def fixed_values(self, X: AnyArray) -> AnyArray:
        """Phi (m, n) with the values of units that are not learnt, and room for the others."""
        Phi = np.empty((self.n_units, len(X)), X.dtype)
        self.fill_fixed(X, Phi)
        return Phi

    def fill_fixed(self, X: AnyArray, Phi: AnyArray) -> None:
        """Write the values of parts that are not learnt into Phi (m, n), if there are any."""
        if not len(self.fixed_at):
            return
        known = self.kept.get(id(X))
        if known is None:
            known = X, self.fixed.features(X).T
            if known[1].size * (1 + len(self.kept)) <= KEEP_FIXED:
                self.kept[id(X)] = known  # with the rows, so that no others come to have their address
        Phi[self.fixed_at] = known[1]


def _wanted(part: Part, own: Coordinates) -> AnyArray:
    """By which numbers of a part gradients are wanted, laid flat; see `compiled_units.unit_gradient`."""
    moves = {name: scale != 0 for name, scale in own.scale.arrays.items()}
    of_features = [array for array in moves.values() if array.ndim == 2]
    on = np.any(of_features, axis=0)
    for name, array in moves.items():
        if array.ndim == 2:  # the place of a side moves only where there is a side
            moves[name] = on & (array | (own.anchor[name] != 0)) if name in part.basis.switches else on
    return np.concatenate([array.ravel() for array in moves.values()])


@interruptible
def _compiled_values(X: AnyArray, moving: MovingUnits, numbers: FloatArray) -> AnyArray:
    from sleek.kernels.compiled_units import unit_values

    assert moving.layout is not None
    Phi = moving.layout.fixed_values(X)
    unit_values(np.ascontiguousarray(X.T), moving.layout.parts, numbers, Phi)
    return Phi.T


@interruptible
def _compiled_gradient(
    X: AnyArray, moving: MovingUnits, numbers: FloatArray, Phi: AnyArray, dPhi: AnyArray
) -> FloatArray:
    from sleek.kernels.compiled_units import unit_gradient

    assert moving.layout is not None
    layout = moving.layout
    return unit_gradient(np.ascontiguousarray(X.T), layout.parts, numbers, layout.wanted, Phi.T, dPhi.T)
