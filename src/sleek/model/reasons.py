"""Reasons for a decision, the smallest change of it, and how familiar a row is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.model.effect_parts import MISSING, ColumnOfModel
from sleek.model.effect_words import number_in_words, signed_in_words, value_in_words
from sleek.model.rows_to_predict import features_of_rows
from sleek.outputs.base import Outputs
from sleek.tables.columns import DateColumn, NumberColumn, WordColumn

if TYPE_CHECKING:
    from sleek.model.effects import Contributions, Effects
    from sleek.model.kernel_model import KernelModel

STEPS = 256  # values of a number that are tried for a flip
HALVINGS = 40
END = 0.0005  # of the training rows
RARE = 0.01  # of the training rows: a value that fewer have, or go beyond, is unusual


@dataclass(frozen=True)
class Reason:
    """A column that pulls a prediction away from what is usual.

    Attributes
    ----------
    column : str
    value : Any
        What the row has there: a number, a date, a level, or "(missing)".
    effect : float
        What it adds to the output, beside the average: its curve, and half of every pair that it is in.
    words : str
    """

    column: str
    value: Any
    effect: float
    words: str

    def __str__(self) -> str:
        return self.words


def reasons(effects: Effects, rows: FloatArray, found: Contributions, n: int) -> list[list[Reason]]:
    """For each row the columns that pull most towards what is predicted; see `KernelModel.reasons`."""
    if n < 1:
        raise ValueError(f"`n` must be at least 1, got {n!r}.")
    pulls = _pulls(effects, found)  # (n, n_columns, n_outputs)
    listed = []
    for x, pull, outputs in zip(rows, pulls, found.outputs, strict=True):
        side = _side(effects, pull, outputs)
        order = np.argsort(-side, kind="stable")[:n]
        listed.append(
            [
                _reason(effects.columns[c], x, _printed_effect(effects.model.outputs, pull[c], side[c]))
                for c in order
                if side[c] > 0
            ]
        )
    return listed


def _pulls(effects: Effects, found: Contributions) -> FloatArray:
    """Curves, and half of every listed pair for each of its columns."""
    n_columns = len(effects.columns)
    pulls = found.values[:, :n_columns].copy()
    for number, (c, d) in enumerate(effects.listed, start=n_columns):
        pulls[:, c] += 0.5 * found.values[:, number]
        pulls[:, d] += 0.5 * found.values[:, number]
    return pulls


def _side(effects: Effects, pull: FloatArray, outputs: FloatArray) -> FloatArray:
    """What columns add in the direction of the prediction, (n_columns,)."""
    spread = np.sqrt(np.maximum(effects.variances, 1e-300))
    found: FloatArray = pull @ effects.model.outputs.direction(outputs, effects.mean, spread)
    return found


def _printed_effect(outputs: Outputs, pull: FloatArray, side: float) -> float:
    """What is added to one output, to the winner against the runner-up, or most to one of several numbers."""
    if len(pull) == 1:
        return float(pull[0])
    return float(side) if outputs.labels else float(np.abs(pull).max())


def _reason(column: ColumnOfModel, x: FloatArray, effect: float) -> Reason:
    value = column.value(x[column.place])
    return Reason(column.name, value, effect, f"{value_of_column(column, x)}: {signed_in_words(effect)}")


def value_of_column(column: ColumnOfModel, x: FloatArray) -> str:
    """A column's value of a row in words: "carat 0.23", "town Basel", "age is missing"."""
    value = column.value(x[column.place])
    if isinstance(value, str) and value == MISSING:
        return f"{column.name} is missing"
    return f"{column.name} {value_in_words(value)}"


# -- the smallest change that flips a decision --------------------------------------------------------------


@dataclass(frozen=True)
class Flip:
    """One column of a row with another value, by which the model decides otherwise.

    Attributes
    ----------
    column : str
    value, new_value : Any
    prediction, new_prediction : Any
    distance : float
        How far that is: a number in standard deviations of the training rows, another level 1.
    words : str
    """

    column: str
    value: Any
    new_value: Any
    prediction: Any
    new_prediction: Any
    distance: float
    words: str

    def __str__(self) -> str:
        return self.words


def flip(effects: Effects, X: Any, columns: Sequence[str] | None) -> Flip | None:
    """See `KernelModel.flip`."""
    model = effects.model
    if not model.outputs.labels:
        raise ValueError(f"Only decisions flip: this model predicts {model.outputs.describe()}.")
    rows = features_of_rows(model, X)
    if len(rows) != 1:
        raise ValueError(f"`flip` takes one row, got {len(rows)}.")
    x, now = rows[0], model.predict_unchecked(rows)[0]
    unknown = [name for name in columns or () if name not in effects.curves]
    if unknown:
        raise ValueError(
            f"The model reads no column {unknown[0]!r}, only {', '.join(map(repr, effects.curves))}."
        )
    best: Flip | None = None
    for column in effects.columns:
        if columns is None or column.name in columns:
            found = _flip_of(model, column, x, now)
            if found is not None and (best is None or found.distance < best.distance):
                best = found
    return best


def _flip_of(model: KernelModel, column: ColumnOfModel, x: FloatArray, now: Any) -> Flip | None:
    """The nearest value of one column that changes the decision."""
    if isinstance(column.kind, WordColumn):
        return _flip_of_level(model, column, x, now)
    facts, place = model.facts, column.place.start
    assert facts is not None
    here, low, high = float(x[place]), float(facts.low[place]), float(facts.high[place])
    deviation = float(facts.deviation[place]) or 1.0
    whole = all(float(value).is_integer() for value in (here, low, high))

    def decide(values: FloatArray) -> Any:
        return model.predict_unchecked(_with(column, x, values)) != now

    best: float | None = None
    for end in (low, high):
        tried = np.linspace(here, end, STEPS)[1:]
        if whole:
            tried = np.unique(np.round(tried)) if end >= here else np.unique(np.round(tried))[::-1]
            tried = tried[tried != here]
        flips = decide(tried) if len(tried) else np.zeros(0, dtype=bool)
        if flips.any():
            first = int(np.argmax(flips))
            near, far = (here if first == 0 else float(tried[first - 1])), float(tried[first])
            for _ in range(0 if whole else HALVINGS):
                middle = 0.5 * (near + far)
                if decide(np.array([middle]))[0]:
                    far = middle
                else:
                    near = middle
            far = _round_number(far, near, lambda value: bool(decide(np.array([value]))[0]))
            if best is None or abs(far - here) < abs(best - here):
                best = far
    if best is None:
        return None
    new = _with(column, x, np.array([best]))
    return _make_flip(model, column, x, new[0], now, abs(best - here) / deviation)


def _flip_of_level(model: KernelModel, column: ColumnOfModel, x: FloatArray, now: Any) -> Flip | None:
    kind = column.kind
    assert isinstance(kind, WordColumn)
    tried = np.repeat(x[None], len(kind.levels), axis=0)
    tried[:, column.place] = kind.table[: len(kind.levels)]
    flips = np.flatnonzero(model.predict_unchecked(tried) != now)
    if not len(flips):
        return None
    common = {
        tuple(point): weight for point, weight in zip(column.points.tolist(), column.weights, strict=True)
    }
    best = max(flips.tolist(), key=lambda i: common.get(tuple(kind.table[i].tolist()), 0.0))
    return _make_flip(model, column, x, tried[best], now, 1.0)


def _with(column: ColumnOfModel, x: FloatArray, values: FloatArray) -> FloatArray:
    """The row with other values of a number or a date."""
    rows = np.repeat(x[None], len(values), axis=0)
    if isinstance(column.kind, NumberColumn | DateColumn):
        rows[:, column.place] = column.kind.features(values)
    return rows


def _make_flip(
    model: KernelModel, column: ColumnOfModel, x: FloatArray, new: FloatArray, now: Any, distance: float
) -> Flip:
    value, new_value = (column.value(row[column.place]) for row in (x, new))
    old, other = (np.asarray(label).item() for label in (now, model.predict_unchecked(new[None])[0]))
    said = [
        f"{one:.15g}" if isinstance(one, float) else value_in_words(one).strip("()")
        for one in (value, new_value)
    ]
    words = f"{other} instead of {old} if {column.name} were {said[1]} instead of {said[0]}"
    return Flip(column.name, value, new_value, old, other, distance, words)


def _round_number(far: float, near: float, flips: Any) -> float:
    """A number of few digits beyond `far`, seen from `near`, if it flips the decision too."""
    for digits in range(1, 17):
        value = float(f"{far:.{digits}g}")
        if (
            (value - near) * (far - near) > 0
            and abs(value - far) <= 0.02 * abs(far - near) + 0.02 * abs(far)
            and flips(value)
        ):
            return value
    return far


# -- how familiar a row is ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Familiarity:
    """How common the values of a row were in training, column by column.

    Attributes
    ----------
    shares : dict of str to float
        For a number the share of the training rows that are at least as far out, on whichever side is nearer,
        times 2; for a level or a gap the share that has it. 0 is what no row had.
    unusual : tuple of str
        Columns of a share below 1 %, the most unusual first.
    words : str
    """

    shares: dict[str, float]
    unusual: tuple[str, ...]
    words: str

    def __str__(self) -> str:
        return self.words


def familiar(effects: Effects, rows: FloatArray) -> list[Familiarity]:
    """See `KernelModel.familiar`."""
    found = []
    for x in rows:
        told = {column.name: _share(effects.model, column, x) for column in effects.columns}
        shares = {name: share for name, (share, _) in told.items()}
        unusual = sorted((name for name in shares if shares[name] < RARE), key=lambda name: shares[name])
        words = (
            "; ".join(told[name][1] for name in unusual)
            or "every column has a value that is common in training"
        )
        found.append(Familiarity(shares, tuple(unusual), words))
    return found


def _share(model: KernelModel, column: ColumnOfModel, x: FloatArray) -> tuple[float, str]:
    """How common a value was, and in words how unusual it is."""
    own, said = x[column.place], value_of_column(column, x)
    same = (column.points == own).all(axis=1)
    if isinstance(column.kind, WordColumn) or column.value(own) == MISSING:
        share = float(column.weights[same].sum())
        return (
            share,
            f"{said}: {'in no training row' if share == 0 else f'in {100 * share:.1f} % of training rows'}",
        )
    facts, place = model.facts, column.place.start
    assert facts is not None
    value, low, high = float(own[0]), float(facts.low[place]), float(facts.high[place])
    if not low <= value <= high:
        side, end = ("below", low) if value < low else ("above", high)
        limit = column.value(np.concatenate([[end], own[1:]]))
        return 0.0, f"{said}: {side} all training rows ({value_in_words(limit)})"
    known = [i for i in range(len(column.points)) if column.value(column.points[i]) != MISSING]
    points, weights = column.points[known, 0], column.weights[known]
    order = np.argsort(points, kind="stable")
    points, weights = points[order], weights[order] / weights.sum()
    at_least = 1.0 - np.cumsum(weights) + weights  # the share of rows in this bin or beyond
    up = float(np.interp(value, points, at_least))
    down = float(np.interp(value, points, np.cumsum(weights)))
    if value < points[0]:
        down *= (value - low) / (points[0] - low) if points[0] > low else 1.0
    if value > points[-1]:
        up *= (high - value) / (high - points[-1]) if high > points[-1] else 1.0
    share = min(1.0, 2.0 * min(up, down))
    if share < 2 * END:
        return share, f"{said}: at the very end of the training rows"
    return share, f"{said}: {number_in_words(100 * share / 2)} % of training rows are as far out"
