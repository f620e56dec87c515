"""What columns become: decided from their values, and where targets are known by rows left out.

A number is itself; its gaps are filled with the median, and told apart by an indicator if that foretells the
target. A date is days and those parts of the calendar that foretell it. A text of few levels has a feature
for each; of many levels the commonest have one each and the others share one, or every level has a learnt
number, whichever foretells the target better.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.tables import rules
from sleek.tables.columns import CategoryColumn, Column, DateColumn, LevelColumn, NumberColumn, calendar_part
from sleek.tables.crossfit import Judges
from sleek.tables.errors import TableError, UselessColumnError
from sleek.tables.inputs import Inputs
from sleek.tables.reading import as_days, as_numbers, as_words, date_order, is_number
from sleek.tables.values import Coded, Dates, Numbers, Values

BINS = {"season": 12, "weekday": 7, "hour": 24}  # groups by which a part of the calendar is judged


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was learnt of a table's columns.

    Attributes
    ----------
    inputs : Inputs
    left_out : dict
        A sentence for each column that is of no use, by its name.
    notes : list of str
        What was filled and grouped.
    by_fold : dict
        For a column of learnt numbers its table for the rows of each fold, (folds, levels + 2, k).
    folds : array of int or None
        The fold of each row, if there is such a column.
    """

    inputs: Inputs
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    by_fold: dict[str, FloatArray] = field(default_factory=dict)
    folds: IntArray | None = None


def learn_columns(
    columns: Mapping[str, Values],
    categories: Collection[str] = (),
    T: FloatArray | None = None,
    s: FloatArray | None = None,
) -> Learnt:
    """Learn what columns become, from rows with targets T (n, k) of weight s, or from the columns alone."""
    found: dict[str, Column] = {}
    left_out: dict[str, str] = {}
    wrong: list[str] = []
    notes: list[str] = []
    for name, values in columns.items():
        try:
            found[name] = learn_column(name, values, name in categories)
        except UselessColumnError as reason:
            left_out[name] = str(reason)
        except TableError as error:
            wrong.append(str(error))
    if wrong:
        raise TableError("\n".join([*wrong, *left_out.values()]))
    by_fold: dict[str, FloatArray] = {}
    judges = None
    for name, column in found.items():
        if T is None or not _has_choices(column, columns[name]):
            continue
        if judges is None:
            settled = (other.settle(columns[key]) for key, other in found.items())
            judges = Judges.of(T, np.ones(len(T)) if s is None else s, settled)
        found[name] = _chosen(column, columns[name], judges, by_fold)
    for name, column in found.items():
        if T is None and isinstance(column, CategoryColumn) and len(column.levels) > rules.ONE_HOT_LEVELS:
            continue  # nobody can say which are of use
        notes += _notes(column, columns[name])
    folds = judges.folds if judges is not None and by_fold else None
    return Learnt(Inputs(tuple(found.values())), left_out, notes, by_fold, folds)


def learn_column(name: str, values: Values, as_category: bool) -> Column:
    """What one column is, by its values alone."""
    if as_category:
        return _category(name, as_words(values))
    match values:
        case Numbers():
            return _number(name, values)
        case Dates(days):
            return _date(name, days, "ymd")
        case Coded() as coded:
            used = [value for value, is_used in zip(coded.values, coded.used, strict=True) if is_used]
            return _of_coded(name, coded, used)
    raise TableError(f"Column {name!r} cannot be read.")


def _of_coded(name: str, coded: Coded, used: list[Any]) -> Column:
    if not used:
        raise UselessColumnError(no_value(name))
    if all(isinstance(value, str | bool | np.bool_) for value in used):
        words = [value for value in used if isinstance(value, str)]
        order = date_order(words) if len(words) == len(used) else None
        if order is not None:
            return _date(name, as_days(name, coded, order), order)
        return _category(name, as_words(coded))
    strange = [value for value in used if not is_number(value)]
    if not strange:
        return _number(name, coded)
    numbers = [value for value in used if is_number(value)]
    got = f"{strange[0]!r} and {numbers[0]!r}" if numbers else f"{strange[0]!r}"
    raise TableError(f"Column {name!r} must hold either numbers or text, got {got}.")


def _number(name: str, values: Values) -> NumberColumn:
    numbers = as_numbers(name, values)
    median = median_of(numbers)
    if np.isnan(median):
        raise UselessColumnError(no_value(name))
    return NumberColumn(name, median, gaps=_gaps(numbers) > 0)


def _date(name: str, days: FloatArray, order: str) -> DateColumn:
    median = median_of(days)
    if np.isnan(median):
        raise UselessColumnError(no_value(name))
    return DateColumn(name, ("days",), median, gaps=_gaps(days) > 0, order=order)


def median_of(numbers: AnyArray) -> float:
    """The median of the numbers there are, of evenly chosen rows where there are many; NaN if none is."""
    some = numbers[:: max(1, len(numbers) // rules.MEDIAN_ROWS)].astype(np.float64)
    some = some[~np.isnan(some)]
    if len(some) == 0 and len(numbers) > rules.MEDIAN_ROWS:
        some = numbers[~np.isnan(numbers)].astype(np.float64)
    return float(np.median(some)) if len(some) else np.nan


def _category(name: str, words: Coded) -> CategoryColumn:
    counts: dict[str, int] = {}
    for word, count in zip(
        words.values, np.bincount(words.array + 1, minlength=len(words.values) + 1)[1:].tolist(), strict=True
    ):
        if count:
            counts[word] = counts.get(word, 0) + count
    present = sum(counts.values())
    if not present:
        raise UselessColumnError(no_value(name))
    levels = sorted(counts)
    every = len(levels) == present >= rules.LEAST_IDS
    if every or (len(levels) > rules.FREE_LEVELS and len(levels) > rules.LEVEL_SHARE * present):
        raise UselessColumnError(
            f"Column {name!r} has {len(levels)} different texts in {present} rows "
            f"({levels[0]!r}, {levels[1]!r}, …), too many for a category: an id, or free text."
        )
    if len(levels) > rules.MOST_LEVELS:
        levels = sorted(sorted(levels, key=lambda level: -counts[level])[: rules.MOST_LEVELS])
    other = len(levels) < len(counts)
    return CategoryColumn(name, tuple(levels), gap=present < len(words), other=other)


# -- chosen by rows left out -------------------------------------------------------------------------------


def _has_choices(column: Column, values: Values) -> bool:
    match column:
        case NumberColumn(gaps=gaps):
            return gaps
        case CategoryColumn(levels=levels):
            return len(levels) > rules.ONE_HOT_LEVELS
    return isinstance(column, DateColumn)


def _chosen(column: Column, values: Values, judges: Judges, by_fold: dict[str, FloatArray]) -> Column:
    match column:
        case NumberColumn():
            return replace(
                column, indicator=_tells(np.isnan(column.settle(values)).astype(np.int64), 2, judges)
            )
        case DateColumn():
            return _chosen_parts(column, column.settle(values), judges)
        case CategoryColumn():
            return _chosen_levels(column, values, judges, by_fold)
    return column


def _tells(codes: IntArray, n_levels: int, judges: Judges) -> bool:
    """Whether a grouping foretells the targets of rows left out."""
    sums = judges.sums(codes, n_levels)
    return sums.best()[1] > rules.LEAST_GAIN + sums.noise


def _chosen_parts(column: DateColumn, days: FloatArray, judges: Judges) -> DateColumn:
    gaps = np.isnan(days)
    filled = np.where(gaps, column.fill, days)
    parts = ["days"]
    for part, bins in BINS.items():
        value = calendar_part(part, filled)
        high = {"season": 365.2425, "weekday": 7.0, "hour": 24.0}[part]
        codes = np.minimum((value * (bins / high)).astype(np.int64), bins - 1)
        spans = part != "season" or np.ptp(filled) > 365  # within a year the season is the day
        if spans and len(np.unique(codes)) > 1 and _tells(codes, bins, judges):
            parts.append(part)
    indicator = bool(gaps.any()) and _tells(gaps.astype(np.int64), 2, judges)
    return replace(column, parts=tuple(parts), indicator=indicator)


def _chosen_levels(
    column: CategoryColumn, values: Values, judges: Judges, by_fold: dict[str, FloatArray]
) -> Column:
    """The commonest levels alone, or a number for each level."""
    places, count = column.settle(values), len(column.levels)
    sums = judges.sums(places, count + 2)
    rows = np.bincount(places, minlength=count + 2)[:count]
    common = np.argsort(-rows, kind="stable")[: rules.ONE_HOT_LEVELS]
    common = np.sort(common[rows[common] >= rules.LEAST_LEVEL_ROWS])
    lookup = np.full(count + 2, len(common), dtype=np.int64)
    lookup[common], lookup[count + 1] = np.arange(len(common)), len(common) + 1
    _, grouped = judges.sums(lookup[places], len(common) + 2).best()
    strength, rated = sums.best()
    if rated <= max(grouped, 0.0) + rules.LEAST_GAIN or judges.T.shape[1] > rules.MOST_LEVEL_OUTPUTS:
        return CategoryColumn(
            column.name, tuple(column.levels[place] for place in common), column.gap, other=True
        )
    means, table = sums.means(strength)
    by_fold[column.name] = means
    lines = [tuple(line) for line in table.tolist()]
    return LevelColumn(column.name, column.levels, tuple(lines[:count]), lines[count], lines[count + 1])


# -- told --------------------------------------------------------------------------------------------------


def _notes(column: Column, values: Values) -> list[str]:
    name = column.name
    match column:
        case NumberColumn(fill=fill, indicator=indicator) if fill is not None:
            gaps = _gaps(column.settle(values))
            too = ", and told apart" if indicator else ""
            return [f"column {name!r}: {gaps:,} missing values are taken as {fill:.6g}{too}"] if gaps else []
        case DateColumn(indicator=indicator):
            gaps = _gaps(column.settle(values))
            too = ", and told apart" if indicator else ""
            return [f"column {name!r}: {gaps:,} missing dates are taken as the median{too}"] if gaps else []
        case CategoryColumn(levels=levels, other=True):
            grouped = int((column.settle(values) == len(levels)).sum())
            return [
                f"column {name!r}: the {len(levels)} commonest levels are told apart, the others, in "
                f"{grouped:,} rows, are grouped"
            ]
        case LevelColumn(levels=levels):
            return [f"column {name!r}: each of {len(levels):,} levels is a number learnt from the target"]
    return []


def _gaps(settled: AnyArray) -> int:
    return int(np.isnan(settled).sum()) if settled.dtype.kind == "f" else 0


def no_value(name: str) -> str:
    """The sentence for a column that holds nothing."""
    return f"Column {name!r} has no value in any row."
