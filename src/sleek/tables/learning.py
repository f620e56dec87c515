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
from sleek.tables.calendar import YEAR, calendar_part
from sleek.tables.columns import (
    TRUTHS,
    CategoryColumn,
    Column,
    DateColumn,
    LevelColumn,
    NumberColumn,
    gaps_in,
)
from sleek.tables.crossfit import Judges, LevelSums
from sleek.tables.errors import TableError, UselessColumnError
from sleek.tables.inputs import Inputs
from sleek.tables.reading import as_days, as_numbers, as_words, date_order, is_number
from sleek.tables.values import Coded, Dates, Numbers, Values

# Groups by which a part of the calendar is judged, and the length of its period.
BINS = {"season": (12, YEAR), "weekday": (7, 7.0), "hour": (24, 24.0)}


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
    wrong, notes = [], []
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
        if T is None or not has_choices(column):
            continue
        if judges is None:
            settled = (other.settle(columns[key]) for key, other in found.items())
            judges = Judges.of(T, np.ones(len(T)) if s is None else s, settled)
        groups = groupings(column, column.settle(columns[name]))
        sums = {key: judges.sums(codes, size) for key, (codes, size) in groups.items()}
        try:
            found[name] = chosen(column, sums, by_fold)
        except UselessColumnError as reason:
            left_out[name] = str(reason)
    found = {name: column for name, column in found.items() if name not in left_out}
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
    return NumberColumn(name, median, gaps=gaps_in(numbers) > 0)


def _date(name: str, days: FloatArray, order: str) -> DateColumn:
    median = median_of(days)
    if np.isnan(median):
        raise UselessColumnError(no_value(name))
    return DateColumn(name, ("days",), median, gaps=gaps_in(days) > 0, order=order)


def median_of(numbers: AnyArray) -> float:
    """The median of the numbers there are, of every 2ᵏth row where there are many; NaN if none is."""
    some = numbers[:: stride(len(numbers))].astype(np.float64)
    some = some[~np.isnan(some)]
    if len(some) == 0 and numbers.dtype.kind == "f":
        some = numbers[~np.isnan(numbers)].astype(np.float64)
    return float(np.median(some)) if len(some) else np.nan


def stride(n_rows: int) -> int:
    """The power of two such that every so manieth row is enough for a median.

    >>> stride(1000), stride(20_001), stride(1_000_000)
    (1, 2, 64)
    """
    step = 1
    while -(-n_rows // step) > rules.MEDIAN_ROWS:
        step *= 2
    return step


def _category(name: str, words: Coded) -> CategoryColumn:
    counts: dict[str, int] = {}
    rows = np.bincount(words.array + 1, minlength=len(words.values) + 1)[1:]
    for word, count in zip(words.values, rows.tolist(), strict=True):
        if count:
            counts[word] = counts.get(word, 0) + count
    return category_of(name, counts, len(words))


def category_of(name: str, counts: Mapping[str, int], n_rows: int) -> CategoryColumn:
    """The category whose words have these counts, of so many rows; an id is refused."""
    present = sum(counts.values())
    if not present:
        raise UselessColumnError(no_value(name))
    levels = sorted({word.lower() for word in counts} if set(counts) <= set(TRUTHS) else counts)
    every = len(levels) == present >= rules.LEAST_IDS
    if every or (len(levels) > rules.FREE_LEVELS and len(levels) > rules.LEVEL_SHARE * present):
        raise UselessColumnError(
            f"Column {name!r} has {len(levels)} different texts in {present} rows "
            f"({levels[0]!r}, {levels[1]!r}, …), too many for a category: an id, or free text."
        )
    if len(levels) > rules.MOST_LEVELS:
        levels = sorted(sorted(levels, key=lambda level: -counts[level])[: rules.MOST_LEVELS])
    return CategoryColumn(name, tuple(levels), gap=present < n_rows, other=len(counts) > rules.MOST_LEVELS)


# -- chosen by rows left out -------------------------------------------------------------------------------


def has_choices(column: Column) -> bool:
    """Whether there is something about a column that targets can say."""
    match column:
        case NumberColumn(gaps=gaps):
            return gaps
        case CategoryColumn(levels=levels):
            return len(levels) > rules.ONE_HOT_LEVELS
    return isinstance(column, DateColumn)


def groupings(column: Column, settled: AnyArray) -> dict[str, tuple[IntArray, int]]:
    """Groups of rows whose targets say what to make of a column: a code for each row, and how many."""
    if isinstance(column, CategoryColumn):
        return {"levels": (settled, len(column.levels) + 2)}
    gaps = np.isnan(settled)
    groups = {"gaps": (gaps.astype(np.int64), 2)}
    if isinstance(column, DateColumn):
        filled = np.where(gaps, column.fill, settled)
        for part, (bins, period) in BINS.items():
            codes = (calendar_part(part, filled) * (bins / period)).astype(np.int64)
            groups[part] = np.minimum(codes, bins - 1), bins
        groups["years"] = np.clip(filled // YEAR + 300, 0, 599).astype(np.int64), 600
    return groups


def chosen(column: Column, sums: Mapping[str, LevelSums], by_fold: dict[str, FloatArray]) -> Column:
    """The column as the sums of its groupings want it."""
    match column:
        case NumberColumn():
            return replace(column, indicator=_tells(sums["gaps"]))
        case DateColumn():
            years = int((sums["years"].weight.sum(axis=0) > 0).sum())  # within one the season is the day
            parts = [part for part in BINS if (part != "season" or years > 1) and _tells(sums[part])]
            return replace(column, parts=("days", *parts), indicator=_tells(sums["gaps"]))
        case CategoryColumn():
            return _chosen_levels(column, sums["levels"], by_fold)
    return column


def _tells(sums: LevelSums) -> bool:
    """Whether a grouping foretells the targets of rows left out."""
    return sums.best()[1] > rules.LEAST_GAIN + sums.noise


def _chosen_levels(column: CategoryColumn, sums: LevelSums, by_fold: dict[str, FloatArray]) -> Column:
    """The commonest levels alone, or a number for each level."""
    count = len(column.levels)
    rows = sums.weight.sum(axis=0)[:count]
    common = np.argsort(-rows, kind="stable")[: rules.ONE_HOT_LEVELS]
    common = np.sort(common[rows[common] >= rules.LEAST_LEVEL_ROWS])
    group = np.full(count + 2, len(common), dtype=np.int64)
    group[common], group[count + 1] = np.arange(len(common)), len(common) + 1
    _, grouped = sums.merged(group, len(common) + 2).best()
    strength, rated = sums.best()
    if max(grouped, rated) <= 0.0:
        raise UselessColumnError(
            f"None of the {count} levels of column {column.name!r} foretells the target."
        )
    if rated <= max(grouped, 0.0) + rules.LEAST_GAIN or sums.total.shape[-1] > rules.MOST_LEVEL_OUTPUTS:
        levels = tuple(column.levels[place] for place in common)
        return CategoryColumn(column.name, levels, column.gap, other=True)
    means, table = sums.means(strength)
    by_fold[column.name] = means
    lines = [tuple(line) for line in table.tolist()]
    return LevelColumn(column.name, column.levels, tuple(lines[:count]), lines[count], lines[count + 1])


# -- told --------------------------------------------------------------------------------------------------


def _notes(column: Column, values: Values) -> list[str]:
    name = column.name
    match column:
        case NumberColumn(fill=fill, indicator=indicator) if fill is not None:
            gaps = gaps_in(column.settle(values))
            too = ", and told apart" if indicator else ""
            return [f"column {name!r}: {gaps:,} missing values are taken as {fill:.6g}{too}"] if gaps else []
        case DateColumn(indicator=indicator):
            gaps = gaps_in(column.settle(values))
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


def no_value(name: str) -> str:
    """The sentence for a column that holds nothing."""
    return f"Column {name!r} has no value in any row."
