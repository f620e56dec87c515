"""The effects of a model's units, by what kind of function they are: the formulas behind `Effects`.

Every kind says what its units add to the mean, to the curve of a column and to the surface of a pair of
columns. Units that do not depend on a column are left out of its curve, and cost no time.

**Products** (Gaussian, robust, box units), φ_j(x) = Π_c g_jc(x_c). With E_jc = mean g_jc and P_j = Π_c E_jc

    f_c  = Σ_j θ_j (P_j/E_jc) (g_jc - E_jc)
    f_cd = Σ_j θ_j (P_j/E_jc E_jd) (g_jc - E_jc) (g_jd - E_jd)
    Var f_cd = Σ_jk θ_j θ_k P_j P_k K_c(j, k) K_d(j, k),    K_c(j, k) = mean (g_jc/E_jc - 1)(g_kc/E_kc - 1)
    Var y    = Σ_jk θ_j θ_k P_j P_k (Π_c (1 + K_c(j, k)) - 1)

in closed form. Means E can be as small as e^-700: products of them are sums of logarithms.

**Sums** (linear units), φ_j = v_j + Σ_c t_jc(x_c): f_c = Σ_j θ_j (t_jc - mean t_jc). **Units of one column**
(ramps of curves) are curves as they are.

**Other functions** (tanh and simplex units of several columns, bases of one's own) are averaged over `SAMPLE`
rows drawn from the columns' distributions, with one column, or two, set to each of its points in turn.
Between the points of a number effects are interpolated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.expansion import Expansion, Part
from sleek.bases.formula import Expression, exp, expression, names
from sleek.bases.units import Units as NumbersOfUnits
from sleek.model.distribution import Distribution
from sleek.tables.columns import Column, DateColumn, NumberColumn, WordColumn

PIECE = 2048  # rows that units are evaluated for at a time
SAMPLE = 256  # rows by which units are averaged that have no closed form,
MEAN_SAMPLE, PAIR_SAMPLE = 4096, 64  # and how many for the mean, and for a pair of columns
COARSE = 12  # points of a column, at most, in a pair of columns that is averaged by a sample
MOST_COARSE_LEVELS = 32
MOST_SAMPLED_PAIRS, MOST_PAIRED = 12, 16  # pairs, and columns that they are looked for among
PROBED = 1e100  # where a unit that looks at a column at all has changed
BLOCK = 2**17  # numbers that are held at a time
ANOTHER, MISSING, UNKNOWN = "(another)", "(missing)", "(unknown)"

(_z,) = names("z")


@dataclass(frozen=True, eq=False)
class ColumnOfModel:
    """A column: what it is, which features it becomes, how it is distributed."""

    kind: Column
    place: slice
    distribution: Distribution

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def points(self) -> FloatArray:
        return self.distribution.points

    @property
    def weights(self) -> FloatArray:
        return self.distribution.weights

    def words(self) -> list[Any]:
        """The points of the distribution as people know them: numbers, dates, levels."""
        return [self.value(point) for point in self.points]

    def value(self, features: FloatArray) -> Any:
        """What features say of the column."""
        match self.kind:
            case WordColumn(levels=levels, table=table):
                found = np.flatnonzero((table == features).all(axis=1))
                words = [*levels, ANOTHER, MISSING]
                if len(found) > 1 and found[0] == len(levels):  # no level, and gaps are not told apart
                    return UNKNOWN
                return words[found[0]] if len(found) else float(features[0])
            case NumberColumn(indicator=True) | DateColumn(indicator=True) if features[-1] == 1.0:
                return MISSING
            case DateColumn():
                return np.datetime64(round(float(features[0]) * 86_400), "s")
        return float(features[0])


class UnitGroup(ABC):
    """Units of one kind: parts, what they weigh, and the columns that they look at.

    `places` are the number of each unit's part in the model, and its own number there, (n_units, 2).
    """

    places: IntArray

    def __init__(self, parts: Sequence[Part], theta: FloatArray, columns: Sequence[ColumnOfModel]) -> None:
        self.parts, self.theta, self.columns = tuple(parts), theta, columns

    @abstractmethod
    def mean(self) -> FloatArray:
        """Over all columns, (n_outputs,)."""

    @abstractmethod
    def prepare(self, c: int, values: FloatArray) -> Any:
        """What `curve` and `pair` need to know of values of column c."""

    @abstractmethod
    def curve(self, c: int, prepared: Any) -> FloatArray:
        """f_c (n, n_outputs)."""

    def pair(self, c: int, d: int, one: Any, two: Any) -> FloatArray | float:
        """f_cd (n, n_outputs) at values of both columns, row by row; units of one column have none."""
        return 0.0

    def surface(self, c: int, d: int, one: Any, two: Any) -> FloatArray | float:
        """f_cd (n_one, n_two, n_outputs) at all pairs of values."""
        return 0.0

    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of columns c < d that act together, the strongest first."""
        return []


class Terms:
    """The terms t_jc of units, for those units alone that look at column c."""

    def __init__(self, parts: Sequence[Part], columns: Sequence[ColumnOfModel]) -> None:
        seen = np.concatenate([looks_at(part, columns) for part in parts], axis=1)  # (n_columns, n_units)
        self.n_units, self.units = seen.shape[1], [np.flatnonzero(line) for line in seen]
        self._pieces: list[list[tuple[Expression, list[dict[str, FloatArray]]]]] = []
        ends = np.cumsum([len(part) for part in parts])
        for c, column in enumerate(columns):
            pieces = []
            for part, end in zip(parts, ends, strict=True):
                own = np.flatnonzero(seen[c, end - len(part) : end])
                if len(own) and part.basis.formula is not None:
                    features = range(column.place.start, column.place.stop)
                    arrays = [
                        {n: a[own, i] if a.ndim == 2 else a[own] for n, a in part.units.arrays.items()}
                        for i in features
                    ]
                    pieces.append((part.basis.formula.term, arrays))
            self._pieces.append(pieces)

    def of(self, c: int, values: FloatArray) -> FloatArray:
        """(n, n_units that look at c) at values (n, n_features) of column c."""
        found = [np.empty((len(values), 0))]
        for term, arrays in self._pieces[c]:
            total = 0.0
            for i, numbers in enumerate(arrays):
                total = total + term.evaluate({**numbers, "x": values[:, i : i + 1]})
            found.append(np.asarray(total))
        return found[1] if len(found) == 2 else np.concatenate(found, axis=1)


class ProductUnits(UnitGroup):
    """Units that are products over columns."""

    def __init__(self, parts: Sequence[Part], theta: FloatArray, columns: Sequence[ColumnOfModel]) -> None:
        super().__init__(parts, theta, columns)
        self.terms = Terms(parts, columns)
        self.at_points = [-self.terms.of(c, column.points) for c, column in enumerate(columns)]  # log g
        self.log_means = [
            _log_mean(L, column.weights) for L, column in zip(self.at_points, columns, strict=True)
        ]
        self.factors = [
            _factors(self.parts, column, looking)
            for column, looking in zip(columns, self.terms.units, strict=True)
        ]
        self.common: dict[tuple[int, int], tuple[Any, Any, FloatArray]] = {}
        self.log_all = np.zeros(len(theta))
        for units, log_mean in zip(self.terms.units, self.log_means, strict=True):
            self.log_all[units] += log_mean

    def mean(self) -> FloatArray:
        found: FloatArray = np.exp(self.log_all) @ self.theta
        return found

    def prepare(self, c: int, values: FloatArray) -> FloatArray:
        """g_jc - E_jc (n, units of c): units that know of no other column are faster than their formula."""
        rows = np.ascontiguousarray(values)
        found = [part.features(rows) for part in self.factors[c]] or [np.empty((len(rows), 0))]
        g: FloatArray = found[0] if len(found) == 1 else np.concatenate(found, axis=1)
        g -= np.exp(self.log_means[c])
        return g

    def curve(self, c: int, prepared: FloatArray) -> FloatArray:
        units = self.terms.units[c]
        others = np.exp(self.log_all[units] - self.log_means[c])
        found: FloatArray = prepared @ (others[:, None] * self.theta[units])
        return found

    def pair(self, c: int, d: int, one: FloatArray, two: FloatArray) -> FloatArray:
        a, b, weights = self.common_units(c, d)
        both: FloatArray = one[:, a] * two[:, b]
        return both @ weights

    def surface(self, c: int, d: int, one: FloatArray, two: FloatArray) -> FloatArray:
        a, b, weights = self.common_units(c, d)
        layers = [(one[:, a] * w) @ two[:, b].T for w in weights.T]
        return np.stack(layers, axis=-1)

    def common_units(self, c: int, d: int) -> tuple[Any, Any, FloatArray]:
        """The units that look at both: their places among those of c and of d, and θ_j P_j/(E_jc E_jd)."""
        if (c, d) not in self.common:
            one, two = self.terms.units[c], self.terms.units[d]
            units, a, b = np.intersect1d(one, two, assume_unique=True, return_indices=True)
            others = np.exp(self.log_all[units] - self.log_means[c][a] - self.log_means[d][b])
            weights, everything = others[:, None] * self.theta[units], slice(None)  # which makes no copy
            self.common[c, d] = (
                everything if len(a) == len(one) else a,
                everything if len(b) == len(two) else b,
                weights,
            )
        return self.common[c, d]

    @cached_property
    def relative(self) -> list[FloatArray]:
        """K_c(j, k) = mean r_jc r_kc with r = g/E - 1, which no point of weight w has above 1/w."""
        found = []
        for L, mean, column in zip(self.at_points, self.log_means, self.columns, strict=True):
            r = np.expm1(L - mean)
            found.append(r.T @ (column.weights[:, None] * r))
        return found

    @cached_property
    def products(self) -> FloatArray:
        """P_j P_k Σ_o θ_jo θ_ko (n_units, n_units)."""
        theta = np.exp(self.log_all)[:, None] * self.theta
        found: FloatArray = theta @ theta.T
        return found

    def pairs(self) -> list[tuple[int, int]]:
        """By Var f_cd, summed over outputs: of all pairs of columns in O(C²·M²) time."""
        n_columns, n_units = len(self.columns), self.terms.n_units
        variances = np.zeros((n_columns, n_columns))
        size = max(1, BLOCK // max(1, n_columns * n_units))
        for begin in range(0, n_units, size):  # K of some units j with all others
            rows = slice(begin, begin + size)
            K = np.zeros((n_columns, len(range(n_units)[rows]), n_units))
            for c, (units, block) in enumerate(zip(self.terms.units, self.relative, strict=True)):
                there = (units >= begin) & (units < begin + size)
                K[c][np.ix_(units[there] - begin, units)] = block[there]
            flat = K.reshape(n_columns, -1)
            variances += (flat * self.products[rows].ravel()) @ flat.T
        return _strongest(variances)

    def variance(self) -> FloatArray:
        """Of what all these units say in each output, (n_outputs,)."""
        everything = np.ones((self.terms.n_units,) * 2)
        for units, K in zip(self.terms.units, self.relative, strict=True):
            everything[np.ix_(units, units)] *= 1.0 + K
        theta = np.exp(self.log_all)[:, None] * self.theta
        found: FloatArray = np.sum(theta * ((everything - 1.0) @ theta), axis=0)
        return found


class AdditiveUnits(UnitGroup):
    """Units that are sums over columns: they have curves and nothing else."""

    def __init__(self, parts: Sequence[Part], theta: FloatArray, columns: Sequence[ColumnOfModel]) -> None:
        super().__init__(parts, theta, columns)
        self.terms, self.starts = Terms(parts, columns), np.concatenate([_starts(part) for part in parts])
        self.means = [
            column.distribution.mean(self.values(c, column.points)) for c, column in enumerate(columns)
        ]

    def values(self, c: int, values: FloatArray) -> FloatArray:
        """What units that look at column c take from it (n, units of c)."""
        return self.terms.of(c, values)

    def mean(self) -> FloatArray:
        found: FloatArray = self.starts @ self.theta
        for units, mean in zip(self.terms.units, self.means, strict=True):
            found = found + mean @ self.theta[units]
        return found

    def prepare(self, c: int, values: FloatArray) -> FloatArray:
        return self.values(c, values) - self.means[c]

    def curve(self, c: int, prepared: FloatArray) -> FloatArray:
        found: FloatArray = prepared @ self.theta[self.terms.units[c]]
        return found


class SingleColumnUnits(AdditiveUnits):
    """Units that look at one column, whatever their function, as its difference from that of no column."""

    def __init__(self, parts: Sequence[Part], theta: FloatArray, columns: Sequence[ColumnOfModel]) -> None:
        self.inner = np.concatenate([_starts(part) for part in parts])
        super().__init__(parts, theta, columns)
        self.starts = _profile(self.parts, self.inner, np.arange(len(theta)))

    def values(self, c: int, values: FloatArray) -> FloatArray:
        """h(v_j + t_jc) - h(v_j)."""
        units = self.terms.units[c]
        start = self.inner[units]
        return _profile(self.parts, start + self.terms.of(c, values), units) - _profile(
            self.parts, start, units
        )


class SampleAverages(UnitGroup):
    """Units of any function: averaged over drawn rows, with columns set to their points in turn."""

    def __init__(self, parts: Sequence[Part], theta: FloatArray, columns: Sequence[ColumnOfModel]) -> None:
        super().__init__(parts, theta, columns)
        self.expansion = Expansion(self.parts)
        rng = np.random.default_rng(0)
        self.rows, self.few = (draw_rows(columns, rng, n) for n in (SAMPLE, PAIR_SAMPLE))
        self.scales = [np.sqrt(column.distribution.mean(column.points**2)) for column in columns]
        self.center: FloatArray = self._outputs(draw_rows(columns, rng, MEAN_SAMPLE)).mean(axis=0)
        self.curves = [self._tabulate(c) for c in range(len(columns))]
        self.coarse = [_coarse(column) for column in columns]
        self.surfaces: dict[tuple[int, int], FloatArray] = {}

    def _outputs(self, rows: FloatArray) -> FloatArray:
        """In pieces so small that nothing is compiled for them: models are shown in half a second."""
        pieces = (rows[start : start + PIECE] for start in range(0, len(rows), PIECE))
        return np.concatenate([self.expansion.features(piece) @ self.theta for piece in pieces])

    def _tabulate(self, c: int) -> FloatArray:
        """f_c at the points of column c, (n_points, n_outputs)."""
        column = self.columns[c]
        if not any(looks_at(part, [column]).any() for part in self.parts):
            return np.zeros((len(column.points), self.theta.shape[1]))
        rows = np.tile(self.rows, (len(column.points), 1))
        rows[:, column.place] = np.repeat(column.points, SAMPLE, axis=0)
        means = self._outputs(rows).reshape(len(column.points), SAMPLE, -1).mean(axis=1)
        centered: FloatArray = means - column.distribution.mean(means)
        return centered

    def _tabulate_pair(self, c: int, d: int) -> FloatArray:
        """f_cd at some points of both columns, (n_one, n_two, n_outputs)."""
        (one, w_one), (two, w_two), n = self.coarse[c], self.coarse[d], PAIR_SAMPLE
        rows = np.tile(self.few, (len(one) * len(two), 1))
        rows[:, self.columns[c].place] = np.repeat(self.columns[c].points[one], n * len(two), axis=0)
        again = np.repeat(self.columns[d].points[two], n, axis=0)
        rows[:, self.columns[d].place] = np.tile(again, (len(one), 1))
        f = self._outputs(rows).reshape(len(one), len(two), n, -1).mean(axis=2)
        f = f - np.tensordot(w_one, f, 1)[None]
        centered: FloatArray = f - np.einsum("b,abk->ak", w_two, f)[:, None]
        return centered

    def mean(self) -> FloatArray:
        return self.center

    def prepare(self, c: int, values: FloatArray) -> FloatArray:
        return values

    def curve(self, c: int, prepared: FloatArray) -> FloatArray:
        low, high, share = self._between(c, prepared, np.arange(len(self.columns[c].points)))
        table = self.curves[c]
        return (1.0 - share)[:, None] * table[low] + share[:, None] * table[high]

    def pair(self, c: int, d: int, one: FloatArray, two: FloatArray) -> FloatArray:
        f = self.tabulated(c, d)
        a, b, p = self._between(c, one, self.coarse[c][0])
        u, v, q = self._between(d, two, self.coarse[d][0])
        p, q = p[:, None], q[:, None]
        found: FloatArray = (1 - p) * ((1 - q) * f[a, u] + q * f[a, v]) + p * (
            (1 - q) * f[b, u] + q * f[b, v]
        )
        return found

    def surface(self, c: int, d: int, one: FloatArray, two: FloatArray) -> FloatArray:
        a, b = np.divmod(np.arange(len(one) * len(two)), len(two))
        return self.pair(c, d, one[a], two[b]).reshape(len(one), len(two), -1)

    def tabulated(self, c: int, d: int) -> FloatArray:
        """f_cd at the coarse points of both columns, (n_one, n_two, n_outputs)."""
        if (c, d) not in self.surfaces:
            self.surfaces[c, d] = self._tabulate_pair(c, d)
        return self.surfaces[c, d]

    def _between(self, c: int, values: FloatArray, points: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """The points between which values lie, by their places among these, and how far on the way.

        A number, or a day, lies between two; its gap, and a level, is the nearest point.
        """
        column, there = self.columns[c], self.columns[c].points[points]
        if isinstance(column.kind, WordColumn):
            distance = (((values[:, None] - there) / (self.scales[c] + 1e-300)) ** 2).sum(axis=2)
            nearest = distance.argmin(axis=1)
            return nearest, nearest, np.zeros(len(values))
        gaps = there.shape[1] > 1 and getattr(column.kind, "indicator", False)
        known = np.flatnonzero(there[:, -1] == 0.0) if gaps else np.arange(len(there))
        if not len(known):
            none = np.zeros(len(values), dtype=np.int64)
            return none, none, np.zeros(len(values))
        order = known[np.argsort(there[known, 0], kind="stable")]
        x, place = there[order, 0], np.zeros(len(values))
        high = np.clip(np.searchsorted(x, values[:, 0]), 1, max(1, len(x) - 1))
        low = high - 1
        high = np.minimum(high, len(x) - 1)
        width = x[high] - x[low]
        np.divide(values[:, 0] - x[low], width, out=place, where=width > 0)
        low, high, place = order[low], order[high], np.clip(place, 0.0, 1.0)
        if gaps and (there[:, -1] == 1.0).any():
            gap = int(np.argmax(there[:, -1] == 1.0))
            missing = values[:, -1] == 1.0
            low, high = np.where(missing, gap, low), np.where(missing, gap, high)
        return low, high, place

    def pairs(self) -> list[tuple[int, int]]:
        """By how far setting both columns of drawn rows differs from the sum of setting each."""
        strong = sorted(
            (c for c, f in enumerate(self.curves) if f.any()),
            key=lambda c: -float(np.sum(self.columns[c].weights @ self.curves[c] ** 2)),
        )[:MOST_PAIRED]
        scores = np.zeros((len(self.columns),) * 2)
        interaction = self._interactions()
        for i, c in enumerate(strong):
            for d in strong[:i]:
                scores[c, d] = scores[d, c] = float((interaction(c, d) ** 2).sum())
        return _strongest(scores)[:MOST_SAMPLED_PAIRS]

    def _interactions(self) -> Callable[[int, int], FloatArray]:
        """Of two columns: y with both from other rows, minus y with either, plus y, at drawn rows."""
        few, other = self.few, draw_rows(self.columns, np.random.default_rng(2), PAIR_SAMPLE)
        base = self._outputs(few)

        @cache
        def change(*columns: int) -> FloatArray:
            rows = few.copy()
            for c in columns:
                rows[:, self.columns[c].place] = other[:, self.columns[c].place]
            return self._outputs(rows) - base

        return lambda c, d: change(c, d) - change(c) - change(d)


class FormulaAverages(SampleAverages):
    """Functions of a sum over columns, h(v_j + Σ_c t_jc): other columns are a number for each drawn row."""

    def __init__(self, parts: Sequence[Part], theta: FloatArray, columns: Sequence[ColumnOfModel]) -> None:
        self.terms = Terms(parts, columns)
        self.inner = np.concatenate([_starts(part) for part in parts])
        super().__init__(parts, theta, columns)

    def _sums(self, rows: FloatArray, without: Sequence[int], units: IntArray) -> FloatArray:
        """v_j + Σ_c t_jc (n, n_units) of some units, over all columns but some."""
        total = np.tile(self.inner, (len(rows), 1))
        for c, column in enumerate(self.columns):
            if c not in without and len(self.terms.units[c]):
                total[:, self.terms.units[c]] += self.terms.of(c, rows[:, column.place])
        found: FloatArray = total[:, units]
        return found

    @cached_property
    def _of_rows(self) -> FloatArray:
        return self._sums(self.rows, (), np.arange(self.terms.n_units))

    def _tabulate(self, c: int) -> FloatArray:
        units, column = self.terms.units[c], self.columns[c]
        if not len(units):
            return np.zeros((len(column.points), self.theta.shape[1]))
        others = self._of_rows[:, units] - self.terms.of(c, self.rows[:, column.place])
        points = self.terms.of(c, column.points)
        means = np.stack([_profile(self.parts, others + t, units).mean(axis=0) for t in points])
        centered: FloatArray = (means - column.distribution.mean(means)) @ self.theta[units]
        return centered

    def _tabulate_pair(self, c: int, d: int) -> FloatArray:
        (one, w_one), (two, w_two) = self.coarse[c], self.coarse[d]
        units, t_one, t_two = self._common(c, d, self.columns[c].points[one], self.columns[d].points[two])
        others = self._sums(self.few, (c, d), units)
        both = others + t_two[:, None]  # (n_two, rows, n_units)
        f = np.stack([_profile(self.parts, both + t, units).mean(axis=1) for t in t_one])
        f = f - np.tensordot(w_one, f, 1)[None]
        f -= np.einsum("b,abj->aj", w_two, f)[:, None]
        found: FloatArray = f @ self.theta[units]
        return found

    def _common(
        self, c: int, d: int, one: FloatArray, two: FloatArray
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """The units that look at both columns, and their terms at values of each."""
        units, a, b = np.intersect1d(
            self.terms.units[c], self.terms.units[d], assume_unique=True, return_indices=True
        )
        return units, self.terms.of(c, one)[:, a], self.terms.of(d, two)[:, b]

    def _interactions(self) -> Callable[[int, int], FloatArray]:
        few, other = self.few, draw_rows(self.columns, np.random.default_rng(2), PAIR_SAMPLE)
        whole = self._sums(few, (), np.arange(self.terms.n_units))
        terms = [
            [self.terms.of(c, rows[:, column.place]) for rows in (few, other)]
            for c, column in enumerate(self.columns)
        ]

        def interaction(c: int, d: int) -> FloatArray:
            units, a, b = np.intersect1d(
                self.terms.units[c], self.terms.units[d], assume_unique=True, return_indices=True
            )
            z = whole[:, units]
            by_c, by_d = terms[c][1][:, a] - terms[c][0][:, a], terms[d][1][:, b] - terms[d][0][:, b]
            h = [_profile(self.parts, total, units) for total in (z + by_c + by_d, z + by_c, z + by_d, z)]
            found: FloatArray = (h[0] - h[1] - h[2] + h[3]) @ self.theta[units]
            return found

        return interaction


def units_by_kind(
    expansion: Expansion, theta: FloatArray, columns: Sequence[ColumnOfModel]
) -> list[UnitGroup]:
    """The units of a model in groups of one kind."""
    groups: dict[type[UnitGroup], list[tuple[Part, FloatArray, IntArray]]] = {}
    for number, (part, place) in enumerate(zip(expansion.parts, expansion.places(), strict=True)):
        if len(part):
            for kind, kept in _kinds(part, columns):
                own = part if kept.all() else Part(part.basis, part.basis.take(part.units, kept))
                units = np.flatnonzero(kept)
                places = np.column_stack([np.full(len(units), number), units])
                groups.setdefault(kind, []).append((own, theta[place][kept], places))
    made = []
    for kind, found in groups.items():
        parts, weights, numbers = zip(*found, strict=True)
        group = kind(parts, np.concatenate(weights), columns)
        group.places = np.concatenate(numbers)
        made.append(group)
    return made


def _kinds(part: Part, columns: Sequence[ColumnOfModel]) -> list[tuple[type[UnitGroup], Any]]:
    """Which units of a part are of which kind."""
    formula, everything = part.basis.formula, np.ones(len(part), dtype=bool)
    if formula is None:
        return [(SampleAverages, everything)]
    if formula.profile == _z:
        return [(AdditiveUnits, everything)]
    if formula.profile == exp(-_z) and expression(formula.start) == expression(0.0):
        return [(ProductUnits, everything)]
    single = looks_at(part, columns).sum(axis=0) <= 1
    found: list[tuple[type[UnitGroup], Any]] = [(SingleColumnUnits, single), (FormulaAverages, ~single)]
    return [(kind, kept) for kind, kept in found if kept.any()]


def looks_at(part: Part, columns: Sequence[ColumnOfModel]) -> Any:
    """(n_columns, n_units): whether a unit depends on a column at all, at its points or beyond."""
    formula = part.basis.formula
    if formula is None:
        return np.ones((len(columns), len(part)), dtype=bool)
    found = np.zeros((len(columns), len(part)), dtype=bool)
    for c, column in enumerate(columns):
        beyond = np.full((2, column.points.shape[1]), PROBED) * [[-1.0], [1.0]]
        values = np.concatenate([column.points, beyond])
        with np.errstate(over="ignore"):
            found[c] = formula.terms(values, part.units, column.place).any(axis=(0, 2))
    return found


def draw_rows(columns: Sequence[ColumnOfModel], rng: np.random.Generator, n: int) -> FloatArray:
    """n rows, whose columns are drawn independently of each other."""
    return np.concatenate([_draw(column.distribution, rng, n) for column in columns], axis=1)


def _draw(distribution: Distribution, rng: np.random.Generator, n: int) -> FloatArray:
    """n points drawn independently of other columns, each as often as its weight says, to one."""
    places = (rng.permutation(n) + rng.random()) / n
    chosen = np.searchsorted(np.cumsum(distribution.weights), places).clip(0, len(distribution) - 1)
    drawn: FloatArray = distribution.points[chosen]
    return drawn


def _coarse(column: ColumnOfModel) -> tuple[IntArray, FloatArray]:
    """Places of at most `COARSE` points, with the weights of those that are nearest in order.

    Levels are the most common ones, up to `MOST_COARSE_LEVELS`, with their own weights.
    """
    n = len(column.points)
    if isinstance(column.kind, WordColumn):
        common = np.sort(np.argsort(-column.weights, kind="stable")[:MOST_COARSE_LEVELS])
        return common, column.weights[common] / column.weights[common].sum()
    chosen = np.linspace(0, n - 1, min(n, COARSE)).round().astype(np.int64)  # steps of 1 or more: all differ
    nearest = np.abs(np.arange(n)[:, None] - chosen).argmin(axis=1)
    return chosen, np.bincount(nearest, column.weights, len(chosen)).astype(np.float64)


def _strongest(scores: FloatArray) -> list[tuple[int, int]]:
    """Places c < d of a symmetric matrix by what stands there, the largest first; those above 0."""
    upper = np.triu(scores, 1)
    places = np.argsort(-upper, axis=None, kind="stable")[: int((upper > 0).sum())]
    return [(int(c), int(d)) for c, d in zip(*np.divmod(places, len(scores)), strict=True)]


def _factors(parts: Sequence[Part], column: ColumnOfModel, units: IntArray) -> list[Part]:
    """These units, numbered through all parts, as functions of one column."""
    found, begin = [], 0
    for part in parts:
        own = units[(units >= begin) & (units < begin + len(part))] - begin
        axes = {parameter.name: parameter.axes for parameter in part.basis.parameters}
        arrays = {
            name: array[own][:, column.place] if "feature" in axes[name] else array[own]
            for name, array in part.units.arrays.items()
        }
        if len(own):
            found.append(Part(part.basis, NumbersOfUnits(arrays)))
        begin += len(part)
    return found


def _formula(part: Part) -> Any:
    assert part.basis.formula is not None  # parts without one are averaged by a sample
    return part.basis.formula


def _profile(parts: Sequence[Part], z: FloatArray, units: IntArray) -> FloatArray:
    """h (…, n) of some units, numbered through all parts."""
    found, end = [], 0
    for part in parts:
        here = z[..., (units >= end) & (units < end + len(part))] if len(parts) > 1 else z
        found.append(np.broadcast_to(_formula(part).profile.evaluate({"z": here}), here.shape))
        end += len(part)
    return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)


def _starts(part: Part) -> FloatArray:
    """v_j (m,)"""
    found = np.asarray(expression(_formula(part).start).evaluate(part.units.arrays), dtype=np.float64)
    return np.broadcast_to(found, (len(part),))


def _log_mean(L: FloatArray, weights: FloatArray) -> FloatArray:
    """log Σ_p w_p exp(L_p), (m,)."""
    most = L.max(axis=0, initial=-np.inf)
    found: FloatArray = most + np.log(weights @ np.exp(L - most))
    return found
