"""Choice of each column's encoding, from its values and, by cross-fitting, from the targets.

A number is itself; its gaps are filled with the median, with an indicator beside it if that helps to predict
the target. A date is days and those parts of the calendar that help. A text of few levels has a feature for
each; of many levels the commonest have one each and the others share one, or every level has a learnt
number, whichever predicts the target better.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sleek._runtime.counting import are, how_many
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.tables import rules
from sleek.tables.columns import CategoryColumn, Column, DateColumn, LevelColumn, NumberColumn
from sleek.tables.crossfit import Judges, LevelSums
from sleek.tables.dates import YEAR, calendar_part, note_dates
from sleek.tables.errors import TableError, UselessColumnError
from sleek.tables.inputs import Inputs
from sleek.tables.summary import Summary
from sleek.tables.values import Values

# Groups by which a part of the calendar is judged, and the length of its period.
BINS = {"season": (12, YEAR), "weekday": (7, 7.0), "hour": (24, 24.0)}


@dataclass(frozen=True, eq=False)
class LearntColumns:
    """What was learnt of a table's columns.

    Attributes
    ----------
    inputs : Inputs
    left_out : dict
        A sentence for each column that is useless, by its name.
    notes : list of str
        What was filled and grouped.
    by_fold : dict
        For a column of learnt numbers its table for the rows of each fold, (folds, levels + 2, k).
    folds : array of int or None
        The fold of each row, if there is such a column.
    doubts : list of str
        What could be read in two ways.
    """

    inputs: Inputs
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    by_fold: dict[str, FloatArray] = field(default_factory=dict)
    folds: IntArray | None = None
    doubts: list[str] = field(default_factory=list)


def learn_columns(
    columns: Mapping[str, Values],
    categories: Collection[str] = (),
    T: FloatArray | None = None,
    s: FloatArray | None = None,
    dates: str | None = None,
    groups: IntArray | None = None,
) -> LearntColumns:
    """Learn what columns in memory become, from rows with targets T (n, k) of weight s, or from them alone.

    `dates` is the order of dates as text that could be read in two: "dmy" or "mdy". Rows of the same of the
    `groups` are in one fold.
    """
    summaries = {name: Summary.of(name, values, words=name in categories) for name, values in columns.items()}
    found, left_out = kinds_of(summaries, dates)
    by_fold: dict[str, FloatArray] = {}
    judges = None
    for name, column in list(found.items()):
        if T is None or not has_choices(column):
            continue
        if judges is None:
            settled = (other.settle(columns[key]) for key, other in found.items())
            judges = Judges.of(T, np.ones(len(T)) if s is None else s, settled, groups)
        codings = groupings(column, column.settle(columns[name]))
        sums = {key: judges.sums(codes, size) for key, (codes, size) in codings.items()}
        choose(found, left_out, name, sums, by_fold)
    folds = judges.folds if judges is not None and by_fold else None
    notes = notes_of(found, summaries, learnt=T is not None)
    doubts = [] if dates is not None else doubts_of(found, summaries)
    return LearntColumns(Inputs(tuple(found.values())), left_out, notes, by_fold, folds, doubts)


def kinds_of(
    summaries: Mapping[str, Summary], dates: str | None = None
) -> tuple[dict[str, Column], dict[str, str]]:
    """The kinds of columns by their values alone, and a sentence for each column that is useless."""
    found: dict[str, Column] = {}
    left_out: dict[str, str] = {}
    wrong = []
    for name, summary in summaries.items():
        try:
            found[name] = summary.column(name, dates)
        except UselessColumnError as reason:
            left_out[name] = str(reason)
        except TableError as error:
            wrong.append(str(error))
    if wrong:
        raise TableError("\n".join([*wrong, *left_out.values()]))
    return found, left_out


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


def choose(
    columns: dict[str, Column],
    left_out: dict[str, str],
    name: str,
    sums: Mapping[str, LevelSums],
    by_fold: dict[str, FloatArray],
) -> None:
    """Make of a column what the sums of its groupings want, or leave it out."""
    try:
        columns[name] = _choice(columns[name], sums, by_fold)
    except UselessColumnError as reason:
        left_out[name] = str(reason)
        del columns[name]


def _choice(column: Column, sums: Mapping[str, LevelSums], by_fold: dict[str, FloatArray]) -> Column:
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
    """Whether a grouping predicts the targets of held-out folds."""
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


def notes_of(columns: Mapping[str, Column], summaries: Mapping[str, Summary], learnt: bool) -> list[str]:
    """Notes on what was filled and grouped; without targets it is not known which levels are useful."""
    notes = []
    for name, column in columns.items():
        many = isinstance(column, CategoryColumn) and len(column.levels) > rules.ONE_HOT_LEVELS
        notes += [] if many and not learnt else _notes(column, summaries[name])
    return notes


def _notes(column: Column, summary: Summary) -> list[str]:
    name, gaps = column.name, summary.gaps
    match column:
        case NumberColumn() if summary.counts_rows:
            return [note_counting(name)]
        case NumberColumn(fill=fill, indicator=indicator) if fill is not None:
            too = ", and told apart" if indicator else ""
            said = f"column {name!r}: {how_many(gaps, 'missing value')} {are(gaps)} taken as {fill:.6g}{too}"
            return [said] if gaps else []
        case DateColumn(indicator=indicator):
            too = ", and told apart" if indicator else ""
            said = f"column {name!r}: {how_many(gaps, 'missing date')} {are(gaps)} taken as the median{too}"
            return [said] if gaps else []
        case CategoryColumn(levels=levels, other=True):
            known = sum(summary.counts.get(level, 0) for level in levels)
            grouped = summary.n_rows - gaps - known
            return [
                f"column {name!r}: the {how_many(len(levels), 'commonest level')} {are(len(levels))} told "
                f"apart, the others, in {how_many(grouped, 'row')}, are grouped"
            ]
        case LevelColumn(levels=levels, ordered=True):
            return [f"column {name!r}: the {len(levels):,} levels are numbers, by their order"]
        case LevelColumn(levels=levels):
            return [f"column {name!r}: each of {len(levels):,} levels is a number learnt from the target"]
    return []


def doubts_of(columns: Mapping[str, Column], summaries: Mapping[str, Summary]) -> list[str]:
    """Notes about dates as text that can be read in two ways."""
    return [
        note
        for name, column in columns.items()
        if isinstance(column, DateColumn) and summaries[name].counts
        for note in note_dates(name, list(summaries[name].counts), column.order)
    ]


def note_counting(name: str) -> str:
    """The note about a column that only counts the rows."""
    return f"column {name!r} only counts the rows: leave it out unless new rows have it in the same sense"
