"""Where fits begin: what one pass over the rows tells, the features' scale, the units' first places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sleek._runtime.sums import Sums
from sleek._runtime.threads import Workers
from sleek._runtime.types import FloatArray
from sleek._runtime.warn import warn
from sleek.bases.base import Basis
from sleek.bases.expansion import Expansion
from sleek.fit import policy
from sleek.fit.k_medoids import distinct_rows, k_medoids
from sleek.fit.leaves import leaves
from sleek.fit.plan import Plan, Request, auto_units
from sleek.kernels.columns import ColumnMoments
from sleek.outputs.base import Outputs
from sleek.rows.sample import Draw, Drawn, Sample
from sleek.rows.scaling import Scaling
from sleek.rows.source import Block, Source

LISTED = 5  # names of features in a warning


@dataclass(frozen=True, eq=False)
class Look:
    """What one pass over the rows tells: the features' moments, a first sample, and rows held out of it."""

    columns: ColumnMoments
    sample: Sample
    held: Sample

    @classmethod
    def at(cls, data: Source, plan: Plan, seed: int, workers: Workers) -> Look:
        """Look at all rows once."""
        draw = Draw(data, plan.n_sampled, plan.n_held, seed, policy.LEAST_CLASS_SHARE)

        def task(block: Block) -> _Seen:
            return _Seen(ColumnMoments.of(block.X, block.s), draw.of(block), [block.among(draw.held)])

        seen = data.map_reduce(task)
        held = Sample(seed, workers, data.outputs, draw.held, Block.joined(seen.held))
        return cls(seen.columns, draw.sample(seen.drawn, workers), held)

    def scaled(self, scaling: Scaling) -> Look:
        """The same rows in training units."""
        return replace(self, sample=self.sample.scaled(scaling), held=self.held.scaled(scaling))

    def with_outputs(self, outputs: Outputs) -> Look:
        """The same rows with outputs of another loss."""
        sample, held = (rows.with_outputs(outputs) for rows in (self.sample, self.held))
        return replace(self, sample=sample, held=held)


@dataclass(frozen=True, eq=False)
class _Seen(Sums):
    columns: ColumnMoments
    drawn: Drawn
    held: list[Block]


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
    """Units at their start, of one shape: what a line search over the strength keeps fixed.

    A start that looks at the targets has seen the rows that a fold leaves out: `regrow` makes one of so many
    units from other rows alone; units that learn nothing have seen nothing.
    """

    shape: float
    start: Expansion
    regrow: Callable[[Sample, int], Expansion] | None = None

    def start_for(self, fold: Sample) -> Expansion:
        """The start that these rows alone would have given."""
        if self.regrow is None:
            return self.start
        fixed = tuple(part for part in self.start.parts if not part.basis.learns)
        grown = self.regrow(fold, self.start.n_learnt).parts if self.start.n_learnt else ()
        return Expansion(grown + fixed)

    @property
    def name(self) -> str:
        """The names of the bases."""
        return self.start.name


def families(
    sample: Sample,
    plan: Plan,
    scaling: Scaling,
    request: Request,
    columns: ColumnMoments,
    rng: np.random.Generator,
) -> list[Family]:
    """The units' start for every basis and shape that is to be tried.

    Bumps and steps start at k-medoids of the rows. With a shape of 1 in `Basis.auto_shapes` a row one
    standard deviation off in every feature has distance 1. Bases that declare `leaf_shapes` start at leaves
    of trees, where a shape of 1 is a fall by e within one standard deviation.
    """
    spread = columns.spread() * scaling.factor
    width = float(np.sum(spread))
    unit = 1.0 / width if width > 0 else 1.0
    centers: FloatArray | None = None
    found = []
    wanted = _wanted(sample, request, columns.weight)
    for basis in request.bases:
        if request.at_leaves and basis.leaf_shapes:
            found += _at_leaves(basis, sample.smallest(request.effort.heats[-1]), request, wanted, spread)
            continue
        if basis.per_feature:
            found.append(Family(np.nan, per_feature(basis, sample, rng)))
            continue
        if centers is None:
            centers = _centers(sample, plan, scaling, request, wanted, rng)
        shapes = [a * unit for a in request.tried(basis.auto_shapes)]
        shapes = shapes if request.shape is None else [request.shape]
        found += [Family(shape, Expansion.of(basis, basis.start(centers, shape, rng))) for shape in shapes]
    return found


def per_feature(basis: Basis, sample: Sample, rng: np.random.Generator) -> Expansion:
    """A unit for every feature, or for every one that varies."""
    X = sample.rows.X
    units = basis.start(np.zeros((X.shape[1], X.shape[1])), 1.0, rng)
    varied = np.flatnonzero(np.ptp(X, axis=0) > 0)
    return Expansion.of(basis, basis.take(units, varied) if len(varied) else units)


def _wanted(sample: Sample, request: Request, n_observations: float) -> int:
    """How many units to begin with."""
    if request.n_units is not None:
        return request.n_units
    return min(auto_units(sample.outputs.n_outputs, n_observations), request.most_units)


def _centers(
    sample: Sample,
    plan: Plan,
    scaling: Scaling,
    request: Request,
    wanted: int,
    rng: np.random.Generator,
) -> FloatArray:
    """The user's centres, or as many different rows as units are wanted, or as there are."""
    if request.centers is not None:
        return scaling.apply(request.centers)
    rows, weights = distinct_rows(sample, wanted, int(rng.integers(2**63)), plan.n_medoid)
    if request.n_units is not None:
        _warn_of_fewer(wanted, len(rows), "distinct rows of X")
    return rows[k_medoids(rows, weights, min(wanted, len(rows)), rng)]


def _at_leaves(
    basis: Basis, sample: Sample, request: Request, wanted: int, spread: FloatArray
) -> list[Family]:
    """Units at leaves of trees on the targets."""
    one = np.where(spread > 0, spread, 1.0)
    shapes = request.tried(basis.leaf_shapes) if request.shape is None else (request.shape,)
    grows = [partial(_grown, basis, shape / one) for shape in shapes]
    found = [Family(shape, grow(sample, wanted), grow) for shape, grow in zip(shapes, grows, strict=True)]
    if request.n_units is not None and len(found[0].start) < wanted:
        if len(request.bases) > 1:
            return []  # another basis has as many units as are asked for
        _warn_of_fewer(wanted, len(found[0].start), "leaves that trees found")
    return found


def _grown(basis: Basis, sharpness: FloatArray, rows: Sample, n_units: int) -> Expansion:
    """Units at leaves of trees on the targets of these rows."""
    left = rows.rows.T - np.average(rows.rows.T, axis=0, weights=rows.rows.s)
    middle = np.median(rows.rows.X, axis=0)
    sides = leaves(rows, n_units, left)
    return Expansion.of(basis, basis.start_at_leaves(*sides, sharpness, middle))


def _warn_of_fewer(wanted: int, there: int, what: str) -> None:
    """Fewer units than asked for."""
    if wanted > there:
        warn(
            f"`n_units`={wanted} is more than the {there} {what}: {there} units are fitted.",
        )
