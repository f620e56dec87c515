"""Partial dependence: the mean prediction as a function of one column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration.class_calibration import ClassCalibration
from sleek.model.kernel_model import KernelModel
from sleek.model.rows_to_predict import rows_of
from sleek.report.decision_plots import COLORS
from sleek.report.shown import ANOTHER, MISSING, inputs_of
from sleek.tables.columns import Column, DateColumn, NumberColumn, WordColumn
from sleek.tables.encoded import EncodedTable
from sleek.tables.errors import suggestion

MOST_ROWS = 1000  # whose predictions are averaged: a mean of more is no other by a thirtieth of their spread
MOST_LEVELS = 30


@dataclass(frozen=True, eq=False)
class Dependence:
    """The mean prediction where a column has each of some values, and rows are as they are otherwise.

    Attributes
    ----------
    column : str
    values : list
        Numbers, dates, or levels; "(missing)" and "(another)" where the model knows of such.
    outputs : array of shape (n_values, n_outputs)
        Mean predictions, or mean probabilities of the classes.
    names : tuple of str
        What the outputs are.
    """

    column: str
    values: list[Any]
    outputs: FloatArray
    names: tuple[str, ...]


def dependence(model: Any, X: Any, column: str | int, n_values: int = 20) -> Dependence:
    """What one column does to the predictions, averaged over the rows of X, at most 1,000 of them.

    A number is asked for at quantiles of X, a category at every level, 30 at most, the commonest of X first.

    Parameters
    ----------
    model : KernelModel, or fitted LowRankLSSVC or LowRankLSSVR
    X : array-like, or a table
    column : str or int
        The name of a column, or its place.
    n_values : int, default=20
        Of a number or a date.

    Examples
    --------
    >>> from sleek import LowRankLSSVR
    >>> table = {"size": [1.0, 2.0, 3.0, None] * 10, "town": ["Ulm", "Bonn"] * 20}
    >>> y = [10.0, 22.0, 30.0, 32.0] * 10
    >>> found = dependence(LowRankLSSVR(4, C=1e3, random_state=0).fit(table, y), table, "size")
    >>> found.values
    [1.0, 2.0, 3.0, '(missing)']
    """
    own: KernelModel = getattr(model, "model_", model)
    place = _place(own, column)
    whole = inputs_of(own).columns[place]
    rows = rows_of(own, X)
    some = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).astype(np.int64))
    rows = rows.take(some) if isinstance(rows, EncodedTable) else np.asarray(rows, dtype=np.float64)[some]
    here = rows.settled[place] if isinstance(rows, EncodedTable) else rows[:, place]
    values, settled = _values_to_ask(whole, here, n_values)
    means = [_answers(own, _with(rows, place, value)).mean(axis=0) for value in settled]
    return Dependence(whole.name, values, np.stack(means), _names(own))


def plot_dependence(model: Any, X: Any, column: str | int, ax: Any = None) -> Any:
    """Draw what one column does to the predictions: `dependence` as a line, or as marks at levels.

    Parameters
    ----------
    model : KernelModel, or fitted LowRankLSSVC or LowRankLSSVR
    X : array-like, or a table
    column : str or int
    ax : matplotlib Axes, default: the current one

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> plot_dependence(LowRankLSSVC(4, C=10.0, random_state=0).fit(X, y), X, 0).get_ylabel()
    'probability of 1'
    """
    need("matplotlib", "plot", "Drawing")
    import matplotlib.pyplot as plt

    ax = plt.gca() if ax is None else ax
    found = dependence(model, X, column)
    words = [isinstance(value, str) for value in found.values]
    shown = slice(1, None) if len(found.names) == 2 else slice(None)  # of two classes the second
    for number, name in enumerate(found.names[shown]):
        y, color = found.outputs[:, shown][:, number], COLORS[number % len(COLORS)]
        if all(words):
            ax.plot(found.values, y, "o", color=color, label=name)
            continue
        there = [i for i, word in enumerate(words) if not word]
        ax.plot([found.values[i] for i in there], y[there], color=color, label=name)
        if words[-1]:  # a gap has no place on the axis
            ax.axhline(y[-1], color=color, linestyle=":", label=f"{name}, {found.values[-1]}")
    ax.set_xlabel(found.column)
    many = len(found.names[shown]) > 1
    classes = bool(getattr(model, "model_", model).outputs.labels)
    said = found.names[-1] if len(found.names) <= 2 else ""
    ax.set_ylabel(f"probability of {said}".removesuffix(" of ") if classes else said or "prediction")
    if all(words) and len(words) > 5:
        ax.tick_params(axis="x", labelrotation=90)
    if many or (words[-1] and not all(words)):
        ax.legend(frameon=False)
    return ax


def _place(model: KernelModel, column: str | int) -> int:
    names = inputs_of(model).names
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column % len(names)
    if isinstance(column, str) and column in names:
        return names.index(column)
    hint = suggestion(column, names) if isinstance(column, str) else ""
    raise ValueError(f"The model reads no column {column!r}, only {', '.join(map(repr, names))}.{hint}")


def _values_to_ask(column: Column, here: AnyArray, n_values: int) -> tuple[list[Any], list[Any]]:
    """The values to ask for, as people know them and as they are settled."""
    if isinstance(column, WordColumn):
        counts = np.bincount(here, minlength=len(column.levels) + 2)
        codes = np.argsort(-counts[:-2], kind="stable")[:MOST_LEVELS].tolist()
        codes += [len(column.levels)] * (column.knows_others and bool(counts[-2]))
        codes += [len(column.levels) + 1] * (column.knows_gaps and bool(counts[-1]))
        words = [*column.levels, ANOTHER, MISSING]
        return [words[code] for code in codes], codes
    numbers = np.asarray(here, dtype=np.float64)
    there = numbers[~np.isnan(numbers)]
    if not len(there):
        raise ValueError(f"Column {column.name!r} has no value in any row.")
    asked: list[Any] = np.unique(np.quantile(there, np.linspace(0, 1, n_values), method="nearest")).tolist()
    gap = isinstance(column, NumberColumn | DateColumn) and len(there) < len(numbers)
    shown = [_day(value) for value in asked] if isinstance(column, DateColumn) else asked
    return [*shown, *([MISSING] * gap)], [*asked, *([np.nan] * gap)]


def _day(days: float) -> np.datetime64:
    return np.datetime64(0, "s") + np.timedelta64(round(days * 86_400), "s")


def _with(rows: Any, place: int, value: Any) -> Any:
    """The rows with one value in a column."""
    if isinstance(rows, EncodedTable):
        settled = list(rows.settled)
        kind = settled[place].dtype if settled[place].dtype.kind == "i" and value == value else np.float64
        settled[place] = np.full(len(rows), value, dtype=kind)
        return replace(rows, settled=tuple(settled))
    changed = rows.copy()
    changed[:, place] = value
    return changed


def _answers(model: KernelModel, rows: Any) -> FloatArray:
    if isinstance(model.calibration, ClassCalibration):
        return model.uncertainty.probabilities(rows)
    return model.outputs_unchecked(rows)


def _names(model: KernelModel) -> tuple[str, ...]:
    if isinstance(model.calibration, ClassCalibration):
        return tuple(map(str, model.outputs.labels))
    target = model.metadata.get("target")
    return (target,) if isinstance(target, str) and len(model.b) == 1 else model.outputs.words
