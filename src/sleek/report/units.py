"""What the units of a model say about the columns of a table, in words and in the user's own units.

A column of what is shown has a heading and a cell for each unit. What a basis has to say depends on its type:
one of a user's own is shown by its numbers, or registers something better with `columns_of` and `legend_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.bases.base import Basis
from sleek.bases.box import NEGLIGIBLE, Box, rule, sides
from sleek.bases.distance import DistanceBasis
from sleek.bases.formula import expression
from sleek.bases.units import Units
from sleek.model.facts import Facts
from sleek.model.kernel_model import KernelModel
from sleek.report.shown import Shown, inputs_of, shown_as
from sleek.report.words import plain, short, signed

FLAT = 0.95  # a unit that keeps this much three deviations away from its centre does not look at a column
FAINT = 0.05  # a slope that changes a unit's argument by less than this per deviation is not worth printing
NOTHING = "·"
MOST_LEVELS = 8  # that are listed
WRITTEN = {
    "add": "({} + {})".format,
    "subtract": "({} - {})".format,
    "multiply": "{}·{}".format,
    "negate": "-{}".format,
    "absolute": "|{}|".format,
    "exp": "exp({})".format,
    "tanh": "tanh({})".format,
    "maximum": "max({}, {})".format,
}


@dataclass(frozen=True)
class PrintedColumn:
    """A heading, and one cell for each unit; `wraps` if cells are sentences."""

    heading: str
    cells: list[str]
    wraps: bool = False


@dataclass(frozen=True, eq=False)
class View:
    """The columns that a model reads, those of most influence first, and what is known of the data."""

    columns: tuple[Shown, ...]
    facts: Facts | None

    @classmethod
    def of(cls, model: KernelModel) -> View:
        """The view of a model's own columns."""
        inputs = inputs_of(model)
        pairs = list(zip(inputs.columns, inputs.places, strict=True))
        if model.facts is not None:
            order = np.argsort(-model.facts.influence, kind="stable").tolist()
            pairs = [pairs[i] for i in order]
        shown = (one for column, place in pairs for one in shown_as(column, place))
        return cls(tuple(shown), model.facts)

    def deviation(self, feature: int) -> float:
        """The standard deviation of a feature, 0 if it is not known."""
        return 0.0 if self.facts is None else float(self.facts.deviation[feature])


# -- what a basis says -------------------------------------------------------------------------------------


@singledispatch
def columns_of(basis: Basis, units: Units, view: View) -> list[PrintedColumn]:
    """What each unit says about every column of the data: here its numbers, or a dot if they are small."""
    arrays = _by_feature(basis, units)
    if not arrays:
        return []
    first = next(iter(arrays.values()))
    return [
        PrintedColumn(
            plain(column.name),
            [_extreme_levels(line, column.words) for line in first[:, column.place] @ column.table.T]
            if column.words
            else _numbers(list(arrays.values()), column.place.start, view.deviation(column.place.start)),
        )
        for column in view.columns
    ]


@columns_of.register
def _(basis: DistanceBasis, units: Units, view: View) -> list[PrintedColumn]:
    """The centre and the distance at which a unit is half as strong; the levels at which it is strong."""
    return [
        PrintedColumn(
            plain(column.name),
            [_best_levels(left, column.words) for left in _left_by_distance(basis, units, column)]
            if column.words
            else _centers(basis, units, column, view.deviation(column.place.start)),
        )
        for column in view.columns
    ]


@columns_of.register
def _(basis: Box, units: Units, view: View) -> list[PrintedColumn]:
    """One rule for each unit: the conditions under which it is on, by the most influential column first."""
    conditions: list[list[str]] = [[] for _ in range(len(units))]
    for column in view.columns:
        if column.words:
            cells = [_best_levels(left, column.words) for left in _left_by_formula(basis, units, column)]
            said = [NOTHING if cell == NOTHING else f"{plain(column.name)}: {cell}" for cell in cells]
        else:
            said = _sides(units, column, view.facts)
        for found, condition in zip(conditions, said, strict=True):
            if condition != NOTHING:
                found.append(condition)
    return [PrintedColumn("where", [", ".join(found) or "everywhere" for found in conditions], wraps=True)]


@singledispatch
def legend_of(basis: Basis, units: Units, categories: bool) -> list[str]:
    """Sentences that say how to read the cells; `categories` says whether there are levels among them."""
    names = " / ".join(_by_feature(basis, units))
    said = f"{names} in the columns; {NOTHING} too small to matter" if names else ""
    return [f"{_formula(basis)}{said}"] if _formula(basis) or said else []


@legend_of.register
def _(basis: DistanceBasis, units: Units, categories: bool) -> list[str]:
    said = [f"centre ± distance at which the unit is half as strong; {NOTHING} it does not matter"]
    if categories:
        said.append("levels: at least half as strong there; a > b ×0.8: at b 0.8 as strong as at a")
    return said


@legend_of.register
def _(basis: Box, units: Units, categories: bool) -> list[str]:
    said = ["a unit is 1 where all conditions hold; ± distance in which it falls to half"]
    if categories:
        said.append("levels: at least half as strong there; a > b ×0.8: at b 0.8 as strong as at a")
    return said


# -- cells -------------------------------------------------------------------------------------------------


def _by_feature(basis: Basis, units: Units) -> dict[str, FloatArray]:
    """The units' arrays that have a number for every feature."""
    return {p.name: units[p.name] for p in basis.parameters if p.axes == ("unit", "feature")}


def by_unit(basis: Basis, units: Units) -> dict[str, FloatArray]:
    """The units' arrays that are one number for each unit."""
    return {p.name: units[p.name] for p in basis.parameters if p.axes == ("unit",)}


def _centers(basis: DistanceBasis, units: Units, column: Shown, deviation: float) -> list[str]:
    """Centre ± half-width, or a dot if the unit hardly changes within three deviations."""
    centers, shapes = (units[name][:, column.place.start] for name in ("centers", "shapes"))
    away = basis.profile(shapes * (3.0 * deviation) ** basis.power)
    with np.errstate(divide="ignore"):
        widths = (half_distance(basis) / shapes) ** (1.0 / basis.power)
    flat = (shapes == 0) | ((away > FLAT) & (deviation > 0))
    return [
        NOTHING if ignored else f"{column.number(center)} ± {short(width)}{column.unit}"
        for center, width, ignored in zip(centers, widths, flat, strict=True)
    ]


def half_distance(basis: DistanceBasis) -> float:
    """The distance Z at which a unit is half of what it is at its centre, by bisection.

    >>> from sleek import GaussianRBF, Simplex
    >>> round(half_distance(GaussianRBF()), 4), round(half_distance(Simplex()), 4)
    (0.6931, 0.5)
    """
    low, high = 0.0, 64.0
    half = 0.5 * float(basis.profile(np.zeros(1))[0])
    for _ in range(60):
        middle = 0.5 * (low + high)
        if float(basis.profile(np.array([middle]))[0]) > half:
            low = middle
        else:
            high = middle
    return high


def _sides(units: Units, column: Shown, facts: Facts | None) -> list[str]:
    """The sides of every box along one feature in words, or a dot where it has none within the data."""
    place, names = column.place, [plain(column.name)]
    one = units.map(lambda _, array: array[:, place])
    lows, highs = sides(one)
    if facts is not None:
        least, most = facts.low[place], facts.high[place]
    else:  # as far as every side can be told
        fades = [np.divide(1.0, k, out=np.zeros_like(k), where=k > 0) for k in (one["below"], one["above"])]
        least, most = (lows - fades[0]).min(axis=0), (highs + fades[1]).max(axis=0)
    taken_off = np.maximum(
        one["below"] * np.maximum(lows - least, 0.0), one["above"] * np.maximum(most - highs, 0.0)
    )
    speaks = (taken_off[:, 0] >= NEGLIGIBLE) & (most[0] > least[0])
    write = column.number if column.days else None
    return [rule(one, j, least, most, names, write) if speaks[j] else NOTHING for j in range(len(units))]


def _numbers(arrays: Sequence[FloatArray], feature: int, deviation: float) -> list[str]:
    """The unit's numbers for a feature, or a dot if all of them are small for what the feature does."""
    numbers = np.stack([array[:, feature] for array in arrays], axis=1)
    faint = (np.abs(numbers).max(axis=1) * deviation < FAINT) & (deviation > 0)
    return [
        NOTHING if ignored else " / ".join(map(signed, values))
        for values, ignored in zip(numbers.tolist(), faint, strict=True)
    ]


def _left_by_distance(basis: DistanceBasis, units: Units, column: Shown) -> FloatArray:
    """(units, levels): the share of a unit that is left at a level, relative to its best level."""
    centers, shapes = (units[name][:, column.place] for name in ("centers", "shapes"))
    Z = np.einsum("ml,mkl->mk", shapes, np.abs(column.table - centers[:, None, :]) ** basis.power)
    return basis.profile(Z - Z.min(axis=1, keepdims=True))


def _left_by_formula(basis: Box, units: Units, column: Shown) -> FloatArray:
    """The same for a basis whose terms only take something off."""
    Z = basis.formula.terms(column.table, units, column.place).sum(axis=2).T
    left: FloatArray = expression(basis.formula.profile).evaluate({"z": Z - Z.min(axis=1, keepdims=True)})
    return left


def _best_levels(strengths: FloatArray, names: Sequence[str]) -> str:
    """The levels at which at least half of a unit is left; if that is all of them, the best and the worst.

    >>> _best_levels(np.array([1.0, 0.1, 0.2]), ["red", "blue", "green"])
    'red'
    >>> _best_levels(np.array([1.0, 0.1, 0.6]), ["red", "blue", "green"])
    'not blue'
    >>> _best_levels(np.array([1.0, 0.9, 0.8]), ["red", "blue", "green"])
    'red > green ×0.8'
    """
    levels = [plain(name) for name in names]
    kept = [level for level, strength in zip(levels, strengths, strict=True) if strength >= 0.5]
    lost = [level for level in levels if level not in kept]
    if strengths.min() > FLAT:
        return NOTHING
    if not lost:
        best, worst = levels[int(strengths.argmax())], levels[int(strengths.argmin())]
        return f"{best} > {worst} ×{short(strengths.min())}"
    return f"not {_some(lost)}" if len(lost) < len(kept) else _some(kept)


def _some(levels: list[str]) -> str:
    more = f" and {len(levels) - MOST_LEVELS} more" if len(levels) > MOST_LEVELS + 1 else ""
    return ", ".join(levels[: MOST_LEVELS if more else None]) + more


def _extreme_levels(strengths: FloatArray, names: Sequence[str]) -> str:
    """The levels that raise a unit's argument most and least, and by how much they differ.

    >>> _extreme_levels(np.array([1.0, 0.1, -0.6]), ["red", "blue", "green"])
    'red > green 1.6'
    """
    levels = [plain(name) for name in names]
    best, worst = int(strengths.argmax()), int(strengths.argmin())
    difference = float(strengths[best] - strengths[worst])
    return NOTHING if difference < FAINT else f"{levels[best]} > {levels[worst]} {short(difference)}"


def _formula(basis: Basis) -> str:
    """What a unit computes, if the basis has a formula.

    >>> from sleek import Sigmoidal
    >>> _formula(Sigmoidal())
    'unit = tanh(z), z = offsets + Σ slopes·x; '
    """
    if basis.formula is None:
        return ""
    start, term, profile = (
        expression(part).fold(str, WRITTEN)
        for part in (basis.formula.start, basis.formula.term, basis.formula.profile)
    )
    return f"unit = {profile}, z = {start} + Σ {term}; "
