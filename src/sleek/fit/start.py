"""Where fits begin: what one pass over the rows tells, the features' scale, the units' first places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from sleek._runtime.sums import Sums
from sleek._runtime.threads import Workers
from sleek._runtime.types import FloatArray
from sleek._runtime.warn import warn
from sleek.bases.base import Basis
from sleek.bases.constraints import OnFeatures
from sleek.bases.expansion import Expansion, Part
from sleek.fit import policy
from sleek.fit.constrained import constrain, leaves_within, may_close
from sleek.fit.k_medoids import distinct_rows, k_medoids
from sleek.fit.plan import ANY_ROWS, Judging, Plan, Request, auto_units
from sleek.kernels.column_statistics import ColumnMoments
from sleek.outputs.base import Outputs
from sleek.rows.dealing import Hands
from sleek.rows.keys import keys_of
from sleek.rows.repeats import Repeats
from sleek.rows.sample import Draw, Drawn, Sample, class_boosts
from sleek.rows.scaling import Scaling
from sleek.rows.source import Block, Source

LISTED = 5  # names of features in a warning


@dataclass(frozen=True, eq=False)
class Look:
    """The result of one pass over the rows: the features' moments, a first sample, and rows held out of it.

    `repeats` says how often equal rows occur.
    """

    columns: ColumnMoments
    sample: Sample
    held: Sample
    repeats: Repeats

    @classmethod
    def at(cls, data: Source, plan: Plan, seed: int, workers: Workers, judging: Judging = ANY_ROWS) -> Look:
        """Look at all rows once."""
        size = plan.n_rows if plan.canonical else plan.n_sampled
        held = 0 if plan.canonical else plan.n_held
        share = policy.LEAST_CLASS_SHARE
        draw = Draw(data, size, held, seed, share, judging.together, judging.last)

        def task(block: Block) -> _Seen:
            return _Seen(ColumnMoments.of(block.X, block.s), draw.of(block), Repeats.of(block))

        seen = data.map_reduce(task)
        sample, held_out = draw.samples(seen.drawn, workers)
        if plan.canonical:
            sample, held_out = _split(sample, plan, judging)
        return cls(seen.columns, sample, held_out, seen.repeats)

    def scaled(self, scaling: Scaling) -> Look:
        """The same rows in training units."""
        return replace(self, sample=self.sample.scaled(scaling), held=self.held.scaled(scaling))

    def smallest(self, size: int, plan: Plan) -> Sample:
        """So many rows of the sample, all of it if these are all rows that are not held out.

        Of some rows of many copies a part may be held out: then the sample has more rows than that.
        """
        return self.sample.smallest(size) if size < plan.n_rows - plan.n_held else self.sample

    def with_outputs(self, outputs: Outputs) -> Look:
        """The same rows with outputs of another loss."""
        sample, held = (rows.with_outputs(outputs) for rows in (self.sample, self.held))
        return replace(self, sample=sample, held=held)


@dataclass(frozen=True, eq=False)
class _Seen(Sums):
    columns: ColumnMoments
    drawn: Drawn
    repeats: Repeats


def _split(rows: Sample, plan: Plan, judging: Judging) -> tuple[Sample, Sample]:
    """All rows as a sample and what is held out of it: of a row of many copies, some of them."""
    block = rows.rows
    held = np.zeros(len(block))
    if judging.last:
        held = np.where(rows.numbers >= plan.n_rows - plan.n_held, block.copies, 0.0)
    elif plan.races:
        keys = keys_of(rows.numbers if block.groups is None else block.groups, rows.seed)
        hands = Hands(block.copies, keys, rows.outputs.strata(block.T), block.groups)
        held = hands.hold_out(plan.n_held / plan.n_rows)
    left = block.copies - held
    chosen, rest = np.flatnonzero(held), np.flatnonzero(left > 0)
    sample = rows.take(rest, left[rest]) if plan.races else rows
    counts = rows.outputs.counts
    boosts = None if counts is None else class_boosts(counts, policy.LEAST_CLASS_SHARE)
    if boosts is not None:
        strata = rows.outputs.strata(sample.rows.T)
        sample = replace(sample, boosts=boosts[strata], reach=np.inf)
    if plan.n_sampled < plan.n_rows - plan.n_held:
        sample = sample.smallest(plan.n_sampled)
    return sample, rows.take(chosen, held[chosen])


def warn_of_lost_features(columns: ColumnMoments, names: Sequence[str] | None) -> None:
    """A warning that names features which vary, but by too little for float64 to work with."""
    lost = np.flatnonzero((columns.spread() == 0) & (columns.high > columns.low))
    if len(lost):
        said = [f"number {i}" if names is None else repr(names[i]) for i in lost[:LISTED].tolist()]
        more = f" and {len(lost) - LISTED} more" if len(lost) > LISTED else ""
        warn(
            f"Feature {', '.join(said)}{more} varies by too little for float64, from "
            f"{float(columns.low[lost[0]])!r} to {float(columns.high[lost[0]])!r}, and is ignored: "
            "subtract what is common to all rows, or express it in smaller units.",
        )


def warn_of_pasted_rows(times: int) -> None:
    """A note that copies of rows count once."""
    warn(
        f"Rows stand in the table {times} times each, as if it had been pasted together from copies: {times} "
        "equal rows count as one observation, and are held out together. Remove copies that are a mistake.",
    )


def without_outliers(data: Source, look: Look) -> ColumnMoments:
    """Mean and spread of every feature, absurd values counted as extreme: one more pass if there are."""
    raw, rows = look.columns, look.sample.smallest(policy.SELECTION_ROWS).rows
    q = max(policy.OUTLIER_QUANTILE, 1.5 / float(rows.s.sum()))  # of few rows, all but one on either side
    low, high = (_quantile(rows.X, rows.s, share) for share in (q, 1 - q))
    margin = np.where(high > low, policy.OUTLIER_WIDTHS * (high - low), np.inf)
    low, high = low - margin, high + margin
    if (raw.low >= low).all() and (raw.high <= high).all():
        return raw
    clipped = data.map_reduce(lambda block: ColumnMoments.of(np.clip(block.X, low, high), block.s))
    return replace(clipped, squares=np.where(raw.spread() > 0, clipped.squares, 0.0))


def _quantile(X: FloatArray, s: FloatArray, q: float) -> FloatArray:
    """The least value of each column below or at which a share q of the weight lies."""
    order = np.argsort(X, axis=0, kind="stable")
    below = np.cumsum(s[order], axis=0)
    first = np.argmax(below >= q * below[-1] * (1 - 1e-12), axis=0)
    columns = np.arange(X.shape[1])
    values: FloatArray = X[order[first, columns], columns]
    return values


def scaling_of(columns: ColumnMoments, standardize: bool) -> Scaling:
    """To mean 0 and variance 1 with constant features ignored, or the identity."""
    spread = columns.spread()
    if standardize:
        factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        return Scaling(columns.mean, factor, policy.MOST_SPREADS)
    return Scaling(np.zeros_like(spread), np.ones_like(spread))


@dataclass(frozen=True, eq=False)
class Family:
    """Units of one basis and one start shape: how they are placed on some rows.

    Bumps and steps start at k-medoids of the rows, which know nothing of targets. Bases that declare
    `leaf_shapes` start at leaves of trees on what is left to explain, so that every fold grows its own.
    """

    basis: Basis
    shape: float
    place: Callable[[Sample, FloatArray], Expansion]  # of rows, and of what is left to explain (n, k)


def families(
    sample: Sample,
    plan: Plan,
    scaling: Scaling,
    request: Request,
    columns: ColumnMoments,
    rng: np.random.Generator,
) -> list[Family]:
    """The units' start for every basis and shape that is to be tried.

    With a shape of 1 in `Basis.auto_shapes` a row one standard deviation off in every feature has distance 1.
    At leaves of trees a shape of 1 is a fall by e within one standard deviation.
    """
    spread = columns.spread() * scaling.factor
    width = float(np.sum(spread))
    unit = 1.0 / width if width > 0 else 1.0
    one = np.where(spread > 0, spread, 1.0)
    found: list[Family] = []
    wanted = _n_units(sample, request, columns.weight)
    centers, few = (
        _Centers(sample, plan, scaling, request, n_units, rng) for n_units in (wanted, policy.FEW_UNITS)
    )
    for basis in request.bases:
        if request.at_leaves and basis.leaf_shapes:
            shapes = request.shapes_to_try(basis.leaf_shapes) if request.shape is None else (request.shape,)
            if request.is_open:
                pairs = _Leaves(wanted, 2, request.constraints)
                found.append(Family(basis, shapes[-1], partial(_at_leaves, basis, shapes[-1] / one, pairs)))
            any_features = _Leaves(wanted, None, request.constraints)
            found += [Family(basis, a, partial(_at_leaves, basis, a / one, any_features)) for a in shapes]
        elif basis.per_feature:
            X, copies = sample.rows.X, sample.rows.copies
            start = Expansion.of(basis, basis.start_per_feature(X, copies, policy.MOST_PIECES))
            found.append(Family(basis, np.nan, partial(_fixed, start)))
        else:
            shapes = tuple(a * unit for a in request.shapes_to_try(basis.auto_shapes))
            shapes = shapes if request.shape is None else (request.shape,)
            for shape in shapes:
                start = Expansion.of(basis, basis.start(centers.rows, shape, rng))
                found.append(Family(basis, shape, partial(_fixed, start)))
            if request.is_open and len(centers.rows) > policy.FEW_UNITS:
                shape = shapes[len(shapes) // 2]
                start = Expansion.of(basis, basis.start(few.rows, shape, rng))
                found.append(Family(basis, shape, partial(_fixed, start)))
    kept = [replace(family, place=constrain(request.constraints, family.place)) for family in found]
    return _enough(kept, sample, request, wanted)


def _fixed(start: Expansion, rows: Sample, left: FloatArray) -> Expansion:
    """Units that start at the same places whatever the rows."""
    return start


class _Leaves:
    """Leaves of trees on some rows, grown once for all shapes that units start with there."""

    def __init__(self, n_leaves: int, n_features: int | None, constraints: OnFeatures | None) -> None:
        self.n_leaves, self.n_features, self.constraints = n_leaves, n_features, constraints
        self._found: list[tuple[Sample, FloatArray, tuple[FloatArray, FloatArray]]] = []

    def of(self, rows: Sample, left: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lower and upper sides of leaves, by what is left to explain."""
        for known, targets, sides in self._found:
            if known.rows.X is rows.rows.X and np.array_equal(targets, left):
                return sides
        sides = leaves_within(self.constraints, rows, self.n_leaves, left, self.n_features)
        self._found.append((rows, left, sides))
        return sides


def _at_leaves(
    basis: Basis, sharpness: FloatArray, leaves: _Leaves, rows: Sample, left: FloatArray
) -> Expansion:
    """Units at leaves of trees; those that look at few features at most stay with these.

    So do all where there are more features than rows: a box that could close any of thousands of sides would
    learn thousands of numbers from a few rows.
    """
    few = leaves.n_features is not None
    wide = rows.rows.X.shape[1] > rows.rows.copies.sum()
    closing = not few and not wide and may_close(leaves.constraints)
    middle = np.median(rows.rows.X, axis=0)
    units = basis.start_at_leaves(*leaves.of(rows, left), sharpness, middle, closing)
    return Expansion((Part(basis, units, basis.widths if few else ()),))


def _enough(found: list[Family], sample: Sample, request: Request, wanted: int) -> list[Family]:
    """Families that have as many units as the user has asked for, or a warning."""
    if request.n_units is None:
        return found
    rows = sample.smallest(request.effort.heats[-1])
    left = rows.rows.T - np.average(rows.rows.T, axis=0, weights=rows.rows.s)
    there = {id(f): f.place(rows, left).n_learnt for f in found if f.basis.leaf_shapes and request.at_leaves}
    full = [family for family in found if there.get(id(family), wanted) >= wanted]
    if not full:
        _warn_of_fewer(wanted, max(there.values()), "leaves that trees found")
    return full or found


def _n_units(sample: Sample, request: Request, n_observations: float) -> int:
    """How many units to begin with."""
    if request.n_units is not None:
        return request.n_units
    wide = int(policy.FEATURES_PER_ROW * n_observations / sample.rows.X.shape[1])
    most = min(request.most_units, max(policy.FEW_UNITS, wide))
    return min(auto_units(sample.outputs.n_outputs, n_observations), most)


@dataclass(frozen=True, eq=False)
class _Centers:
    """Where units start that know nothing of targets."""

    sample: Sample
    plan: Plan
    scaling: Scaling
    request: Request
    wanted: int
    rng: np.random.Generator

    @cached_property
    def rows(self) -> FloatArray:
        """The user's centres, or as many different rows as units are wanted, or as there are."""
        if self.request.centers is not None:
            return self.scaling.apply(self.request.centers)
        seed = int(self.rng.integers(2**63))
        rows, weights = distinct_rows(self.sample, self.wanted, seed)
        if self.request.n_units is not None:
            _warn_of_fewer(self.wanted, len(rows), "distinct rows of X")
        return rows[k_medoids(rows, weights, min(self.wanted, len(rows)), self.rng)]


def _warn_of_fewer(wanted: int, there: int, what: str) -> None:
    """Fewer units than asked for."""
    if wanted > there:
        warn(
            f"`n_units`={wanted} is more than the {there} {what}: {there} units are fitted.",
        )
