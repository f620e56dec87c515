"""Units that keep constraints: which columns each of them sees, and which sides a box may have.

A unit that starts without a feature stays without it, whatever training does. So constraints are a matter of
where units start, and of the signs of weights (`sleek.bases.constraints`).

Which columns a unit sees is what trees say that are grown on what is left to explain: a tree of at most two
columns for "pairwise", or one that sees the columns of one group. Units that start at leaves are such leaves;
others start elsewhere, and see the columns of one leaf each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.constraints import OnFeatures
from sleek.bases.curves import Curves
from sleek.bases.expansion import Expansion, Part
from sleek.bases.units import Units
from sleek.closed_form.moments import Moments
from sleek.fit import policy
from sleek.fit.leaves import leaves
from sleek.rows.sample import Sample

Place = Callable[[Sample, FloatArray], Expansion]
PAIR = 2  # the most columns of a leaf for "pairwise"


def leaves_within(
    constraints: OnFeatures | None,
    rows: Sample,
    n_leaves: int,
    left: FloatArray,
    depth: int | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Leaves of trees, as `leaves` says, whose columns may act together."""
    if constraints is None or may_close(constraints):
        return leaves(rows, n_leaves, left, depth)
    if constraints.groups is None:
        return leaves(rows, n_leaves, left, PAIR if depth is None else min(depth, PAIR))
    groups = [np.flatnonzero(constraints.features_of(group)) for group in constraints.groups]
    return leaves(rows, n_leaves, left, depth, groups)


def may_close(constraints: OnFeatures | None) -> bool:
    """Whether training may close sides of boxes that are open at the start, whatever their columns."""
    return constraints is None or not constraints.limits_interactions


def constrain(constraints: OnFeatures | None, place: Place) -> Place:
    """A way to place units that keeps the constraints."""
    return place if constraints is None else partial(_placed, constraints, place)


def _placed(constraints: OnFeatures, place: Place, rows: Sample, left: FloatArray) -> Expansion:
    found = place(rows, left)
    if constraints.limits_interactions and found.n_learnt:
        apart = [keep_apart(constraints, part, rows, left) for part in found.parts]
        found = found.with_units([part.units for part in apart])
    return _ramps_beside(constraints, keep_monotone(constraints, found, rows, left), rows)


def keep_apart(constraints: OnFeatures, part: Part, rows: Sample, left: FloatArray) -> Part:
    """Units that see columns which may act together: those of a leaf of a tree."""
    if not part.basis.learns:
        return part
    on = part.basis.directions(part.units) != 0
    wrong = ~constraints.keeps_apart(on)
    if not wrong.any():  # leaves whose open sides stay open
        return part
    lows, highs = leaves_within(constraints, rows, len(part), left)
    cut = np.isfinite(lows) | np.isfinite(highs)
    seen = constraints.sees(cut)[np.arange(len(part)) % len(cut)]
    on[wrong] &= _allowed(constraints, seen)[wrong]
    return replace(part, units=part.basis.restrict(part.units, on))


def _allowed(constraints: OnFeatures, seen: AnyArray) -> AnyArray:
    """(m, d) the features of these columns, or of the whole group that has them (m, n_columns)."""
    if constraints.groups is not None:
        members = np.zeros((len(constraints.groups), seen.shape[1]), dtype=bool)
        for number, group in enumerate(constraints.groups):
            members[number, list(group)] = True
        for j, own in enumerate(seen):
            fitting = members[(members | ~own).all(axis=1)]
            seen[j] = fitting[j % len(fitting)] if len(fitting) else own
    return seen[:, constraints.columns]


def keep_monotone(constraints: OnFeatures, expansion: Expansion, rows: Sample, left: FloatArray) -> Expansion:
    """Units that only rise or only fall in monotone features.

    Each goes with the sign or against it: the way by which it explains more of what is left, by itself and
    with a weight of the sign that it must have.
    """
    if constraints.signs is None:
        return expansion
    signs = np.array(constraints.signs)

    def one_way(part: Part) -> Units:
        if not part.basis.learns:
            return part.units
        ways = [
            part.basis.restrict_monotone(part.units, signs, np.full(len(part), way)) for way in (True, False)
        ]
        up, down = (_covariances(part.basis.features(rows.rows.X, way), rows, left) for way in ways)
        return part.basis.restrict_monotone(part.units, signs, up >= -down)

    return expansion.map(one_way)


def _covariances(Phi: FloatArray, rows: Sample, left: FloatArray) -> FloatArray:
    """(m,) of what is left with units of variance 1."""
    moments = Moments.of(Phi, left, rows.rows.s)
    squares = np.maximum(moments.G.diagonal(), np.finfo(float).tiny)
    return np.asarray(moments.R[:, 0] / np.sqrt(squares))


def _ramps_beside(constraints: OnFeatures, expansion: Expansion, rows: Sample) -> Expansion:
    """The units, and ramps of monotone features that none of them sees, as bumps cannot."""
    if constraints.signs is None:
        return expansion
    unseen = (np.array(constraints.signs) != 0) & (expansion.directions() == 0).all(axis=0)
    X, copies = np.where(unseen, rows.rows.X, 0.0), rows.rows.copies
    if not np.ptp(X, axis=0).any():
        return expansion
    ramps = Curves().start_per_feature(X, copies, policy.RAMPS_BESIDE)
    return expansion.plus(Expansion.of(Curves(), ramps))
