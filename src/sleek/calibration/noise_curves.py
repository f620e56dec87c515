"""Curves of single columns for the size of residuals, selected one after the other (forward selection).

log σ(x) = c + Σ_t w_t f_t(x), where each f_t is a function of one column or two:

    line    (x_i - at)/scale
    side    exp(-max(0, sharpness·(x_i - at)))    a step if it is sharp, a bend if it is not
    corner  the product of two steps of two columns, of which one was found before

These are units of the bases `linear` and `box`, so that files and exports need nothing new. A column is cut
into bins of about equal numbers of rows; the gradient of the loss, summed by bins, gives the score of every
line and side at once. The best line, step, bend and corner are then fitted, each together with all curves
found before, and the one of least loss is kept. How many curves there are is decided by cross-validation, in
which every fold finds its own. The first curve takes O(rows·columns) time, others O(rows·`MOST_COLUMNS`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.box import Box
from sleek.bases.expansion import Expansion, Part
from sleek.bases.linear import Linear
from sleek.bases.units import Units
from sleek.calibration.sizes import fit_sizes

BINS = 64
MOST_COLUMNS = 20  # are looked at again after the first curve: those with the best steps
MOST_CURVES = 8
MOST_PARENTS = 4  # steps, each with its mirror image, that corners are made of
RIDGE = 3.0  # on weights of curves of unit variance: as three more rows that speak for one size
STEP = 100.0  # sharpness of a step, in units of 1/scale,
BENDS = (0.3, 1.0, 3.0)  # and of bends, falling to either side
BEND_BINS = (0.1, 0.25, 0.5, 0.75, 0.9)  # after which share of the cuts bends begin
LEAST_CUTS = 9  # of a column that has bends
LEAST_SHARE = 0.02  # of the rows on either side of a step
LEAST_VARIANCE = 1e-3  # of a bend
SLACK = 0.1  # of the summed loss, by which fits may be off that only compare curves
SEARCHED = 2.0  # by which the summed loss of a step or a bend must be below that of a line
TINY = 1e-290  # columns that spread less cannot be divided by their scale


@dataclass(frozen=True)
class Line:
    """(x_i - at)/scale."""

    column: int
    at: float
    scale: float

    def values(self, X: FloatArray) -> FloatArray:
        """At rows X (n, d)."""
        return np.asarray((X[:, self.column] - self.at) / self.scale)


@dataclass(frozen=True)
class Side:
    """exp(-max(0, sharpness·(x_i - at))): it falls above `at`, or below if the sharpness is negative."""

    column: int
    at: float
    sharpness: float

    @property
    def sides(self) -> tuple[Side, ...]:
        """Itself alone."""
        return (self,)

    def values(self, X: FloatArray) -> FloatArray:
        """At rows X (n, d)."""
        return np.asarray(np.exp(-np.maximum(0.0, self.sharpness * (X[:, self.column] - self.at))))


@dataclass(frozen=True)
class Corner:
    """The product of two sides of different columns."""

    sides: tuple[Side, Side]

    def values(self, X: FloatArray) -> FloatArray:
        """At rows X (n, d)."""
        return self.sides[0].values(X) * self.sides[1].values(X)


Curve = Line | Side | Corner


def as_parts(curves: list[Curve], weights: FloatArray, n_features: int) -> tuple[Expansion, FloatArray]:
    """Curves as units of known bases, lines first, and the weights in the order of the units."""
    order = sorted(range(len(curves)), key=lambda t: not isinstance(curves[t], Line))
    lines = [curve for curve in curves if isinstance(curve, Line)]
    boxes = [curve.sides for curve in curves if not isinstance(curve, Line)]
    parts = []
    if lines:
        slopes = np.zeros((len(lines), n_features))
        for row, line in zip(slopes, lines, strict=True):
            row[line.column] = 1.0 / line.scale
        offsets = np.array([-line.at / line.scale for line in lines])
        parts.append(Part(Linear(), Units({"slopes": slopes, "offsets": offsets})))
    if boxes:
        centers, below, above = np.zeros((3, len(boxes), n_features))
        for j, sides in enumerate(boxes):
            for side in sides:
                centers[j, side.column] = side.at
                (above if side.sharpness > 0 else below)[j, side.column] = abs(side.sharpness)
        half_widths = np.zeros_like(centers)
        units = {"centers": centers, "half_widths": half_widths, "below": below, "above": above}
        parts.append(Part(Box(), Units(units)))
    return Expansion(tuple(parts)), weights[order]


@dataclass(frozen=True, eq=False)
class Bins:
    """The columns of some rows, each cut into at most `BINS` bins between values that occur."""

    codes: IntArray  # (n, d) the bin of every value
    cuts: FloatArray  # (d, BINS - 1) of which the first n_cuts are
    n_cuts: IntArray  # (d,)
    centers: FloatArray  # (d, BINS) the mean of the values in a bin
    middle: FloatArray  # (d,) the median
    scale: FloatArray  # (d,) a standard deviation, by quantiles; 0 if the column cannot be used

    @classmethod
    def of(cls, X: FloatArray) -> Bins:
        """Cut at quantiles."""
        n, d = X.shape
        codes, cuts, n_cuts = np.zeros((n, d), dtype=np.int64), np.zeros((d, BINS - 1)), np.zeros(d, int)
        centers, middle, scale = np.zeros((d, BINS)), np.zeros(d), np.zeros(d)
        for c in range(d):
            x = np.sort(X[:, c])
            below = np.unique(x[n * np.arange(1, BINS) // BINS])
            above = np.searchsorted(x, below, side="right")
            below, above = below[above < n], x[above[above < n]]
            low, middle[c], high = x[[n // 10, n // 2, 9 * n // 10]]
            with np.errstate(over="ignore", invalid="ignore"):
                spread = (high - low) / 2.56 or float(np.std(x))
            between = below + 0.5 * (above - below)
            if not len(between) or not TINY < spread < np.inf:
                continue
            scale[c], n_cuts[c] = spread, len(between)
            cuts[c, : len(between)] = between
            codes[:, c] = np.searchsorted(between, X[:, c])
            counts = np.maximum(np.bincount(codes[:, c], minlength=BINS), 1)
            centers[c] = np.bincount(codes[:, c], (X[:, c] - middle[c]) / spread, minlength=BINS) / counts
        return cls(codes, cuts, n_cuts, centers, middle, scale)

    def cells(self, rows: AnyArray, columns: IntArray) -> IntArray:
        """The bins of some rows and columns, numbered through, for `sums`."""
        return np.asarray((self.codes[rows][:, columns] + BINS * np.arange(len(columns))).ravel())

    def step(self, column: int, place: int) -> Side:
        """1 up to a cut, 0 beyond."""
        return Side(column, float(self.cuts[column, place]), STEP / float(self.scale[column]))

    def is_step(self, side: Side) -> bool:
        """Whether it is no bend."""
        return abs(side.sharpness) * float(self.scale[side.column]) > max(BENDS)

    def line(self, column: int) -> Line:
        """The column itself."""
        return Line(column, float(self.middle[column]), float(self.scale[column]))

    def bend(self, column: int, number: int) -> Side:
        """A bend by its number: where it begins, how sharp it is, which way it falls."""
        place, kind = divmod(number, 2 * len(BENDS))
        cut = self.cuts[column, int(BEND_BINS[place] * self.n_cuts[column])]
        sharpness = BENDS[kind // 2] * (1.0 if kind % 2 == 0 else -1.0)
        return Side(column, float(cut), sharpness / float(self.scale[column]))

    def bends(self, columns: IntArray) -> FloatArray:
        """(len(columns), BINS, bends): the values of all bends at the centers of the bins."""
        places = (np.array(BEND_BINS) * self.n_cuts[columns, None]).astype(int)
        at = np.take_along_axis(self.cuts[columns], places, axis=1) - self.middle[columns, None]
        scale = np.where(self.scale[columns] > 0, self.scale[columns], 1.0)[:, None]
        away = self.centers[columns][:, :, None] - (at / scale)[:, None, :]
        rates = np.array([sign * bend for bend in BENDS for sign in (1.0, -1.0)])
        values: FloatArray = np.exp(-np.maximum(0.0, away[..., None] * rates))
        return values.reshape(len(columns), BINS, len(BEND_BINS) * len(rates))


@dataclass(eq=False)
class Search:
    """Curves found so far from some of the rows: `extend` finds one more."""

    X: FloatArray
    bins: Bins
    sizes: FloatArray  # (n,) of residuals
    s: FloatArray  # (n,) weights
    rows: AnyArray  # (n,) which rows it may see
    curves: list[Curve] = field(default_factory=list)
    moments: list[tuple[float, float]] = field(default_factory=list)  # mean and deviation of each curve

    def __post_init__(self) -> None:
        self.seen_sizes, self.seen_s = self.sizes[self.rows], self.s[self.rows]
        self.seen_Z = np.empty((len(self.seen_s), 0))  # the curves, each of mean 0 and variance 1
        self.found = np.array([np.log(np.average(self.seen_sizes, weights=self.seen_s))])
        self.seen_X = self.X[self.rows]
        columns = np.flatnonzero(self.bins.scale > 0)
        self.cells = self.bins.cells(self.rows, columns)
        if len(columns) > MOST_COLUMNS:
            best = self._step_scores(self._sums(self._gradient()), self._sums(self.seen_s)).max(axis=1)
            columns = np.sort(columns[np.argsort(-best, kind="stable")[:MOST_COLUMNS]])
            self.cells = self.bins.cells(self.rows, columns)
        self.columns = columns
        self.F = self.bins.bends(columns)
        self.mass = mass = self._sums(self.seen_s)
        self.parents: list[
            tuple[Side, FloatArray, FloatArray]
        ] = []  # steps, their values, their mass in bins
        self.centers = self.bins.centers[columns]
        self.bend_variances = _variances(mass, self.F)
        self.line_variances = _variances(mass, self.centers[:, :, None])[:, 0]

    def log_sizes(self, X: FloatArray) -> FloatArray:
        """log σ at rows X (n, d)."""
        found = np.full(len(X), self.found[0])
        for weight, curve, (mean, deviation) in zip(self.found[1:], self.curves, self.moments, strict=True):
            found += weight * (curve.values(X) - mean) / deviation
        return found

    def extend(self) -> bool:
        """Find one more curve; False if there is none."""
        gradient, best = self._gradient(), None
        for curve in self._candidates(gradient):
            values = curve.values(self.seen_X)
            mean = float(self.seen_s @ values / self.seen_s.sum())
            deviation = float(np.sqrt(self.seen_s @ (values - mean) ** 2 / self.seen_s.sum()))
            if not 0 < deviation < np.inf:
                continue
            seen = np.column_stack([self.seen_Z, (values - mean) / deviation])
            start = np.append(self.found, 0.0)
            found = fit_sizes(seen, self.seen_sizes, self.seen_s, RIDGE, start, SLACK)
            log_sizes = found[0] + seen @ found[1:]
            with np.errstate(over="ignore"):
                loss = self.seen_s @ (self.seen_sizes * np.exp(-log_sizes) + log_sizes)
            loss += 0.5 * RIDGE * found[1:] @ found[1:]
            loss += SEARCHED * (0 if isinstance(curve, Line) else 1 if isinstance(curve, Side) else 2)
            if best is None or loss < best[0]:
                best = (loss, curve, (mean, deviation), seen, found)
        if best is None:
            return False
        _, curve, moments, self.seen_Z, start = best
        self.found = fit_sizes(self.seen_Z, self.seen_sizes, self.seen_s, RIDGE, start)
        self.curves.append(curve)
        self.moments.append(moments)
        if isinstance(curve, Side) and len(self.parents) < MOST_PARENTS and self.bins.is_step(curve):
            for side in (curve, replace(curve, sharpness=-curve.sharpness)):
                values = side.values(self.seen_X)
                self.parents.append((side, values, self._sums(self.seen_s * values)))
        return True

    def parts(self) -> tuple[Expansion, FloatArray, float]:
        """The curves as units, their weights, and the constant."""
        mean, deviation = np.array(self.moments).T
        weights = self.found[1:] / deviation
        expansion, ordered = as_parts(self.curves, weights, self.X.shape[1])
        return expansion, ordered, float(self.found[0] - weights @ mean)

    def _gradient(self) -> FloatArray:
        """How the loss falls as log σ of each row rises; it adds up to 0."""
        log_sizes = self.found[0] + self.seen_Z @ self.found[1:]
        with np.errstate(over="ignore"):
            gradient = self.seen_s * (self.seen_sizes * np.exp(-log_sizes) - 1.0)
        return np.asarray(gradient - self.seen_s * (gradient.sum() / self.seen_s.sum()))

    def _candidates(self, gradient: FloatArray) -> list[Curve]:
        """The line, the step, the bend and the corner of the best scores."""
        if not len(self.columns):
            return []
        sums = self._sums(gradient)
        weight, found = self.seen_s.sum(), list[Curve]()
        least = LEAST_VARIANCE * weight
        lines = _scores(np.einsum("db,db->d", sums, self.centers), self.line_variances, least)
        if lines.max() > 0:
            found.append(self.bins.line(int(self.columns[lines.argmax()])))
        steps = self._step_scores(sums, self.mass)
        column, place = np.unravel_index(steps.argmax(), steps.shape)
        if steps[column, place] > 0:
            found.append(self.bins.step(int(self.columns[column]), int(place)))
        found += self._corner(gradient)
        bends = _scores(np.einsum("db,dbk->dk", sums, self.F), self.bend_variances, least)
        bends[self.bins.n_cuts[self.columns] < LEAST_CUTS] = 0.0
        column, number = np.unravel_index(bends.argmax(), bends.shape)
        if bends[column, number] > 0:
            found.append(self.bins.bend(int(self.columns[column]), int(number)))
        return found

    def _sums(self, weights: FloatArray) -> FloatArray:
        """(columns, BINS): the sum of the rows' weights in every bin."""
        columns = len(self.cells) // len(weights)
        found = np.bincount(self.cells, np.repeat(weights, columns), minlength=columns * BINS)
        return np.asarray(found, dtype=np.float64).reshape(columns, BINS)

    def _corner(self, gradient: FloatArray) -> list[Corner]:
        """The best product of a step that was found with one of another column, if there is any."""
        best, found = 0.0, list[Corner]()
        for side, values, mass in self.parents:
            scores = self._step_scores(self._sums(gradient * values), mass)
            scores[self.columns == side.column] = 0.0
            column, place = np.unravel_index(scores.argmax(), scores.shape)
            if scores[column, place] > best:
                best = float(scores[column, place])
                found = [Corner((side, self.bins.step(int(self.columns[column]), int(place))))]
        return found

    def _step_scores(self, sums: FloatArray, mass: FloatArray) -> FloatArray:
        """(columns, BINS - 1): the score of a step at every cut, 0 where there is none.

        It is made of the sums of the gradient and of the weights in every bin, each (columns, BINS).
        """
        below, within, weight = sums.cumsum(axis=1)[:, :-1], mass.cumsum(axis=1)[:, :-1], self.seen_s.sum()
        variances = within * (1.0 - within / weight)
        return _scores(below, variances, LEAST_SHARE * (1.0 - LEAST_SHARE) * weight)


def _variances(mass: FloatArray, F: FloatArray) -> FloatArray:
    """(d, k): the summed squares of centred functions F (d, bins, k) for rows of a mass (d, bins)."""
    mean = np.einsum("db,dbk->dk", mass, F) / mass.sum(axis=1)[:, None]
    return np.asarray(np.einsum("db,dbk->dk", mass, F**2) - mass.sum(axis=1)[:, None] * mean**2)


def _scores(products: FloatArray, variances: FloatArray, least: float) -> FloatArray:
    """Squared product of gradient and function by the function's variance; 0 if that is too small."""
    usable = variances > least
    return np.where(usable, products**2 / np.where(usable, variances, 1.0), 0.0)
