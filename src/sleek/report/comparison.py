"""Two models side by side: what changed in size, error, columns, curves and units, and how often answers do.

Models are compared on rows drawn from the distributions that they carry, one column independently of the
others: no data are needed. A curve has moved by √(mean (f_new - f_old)²) over its column's distribution, as a
share of the deviation of the new model's outputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.counting import how_many, plain
from sleek._runtime.types import FloatArray
from sleek.model.effect_parts import ANOTHER, MISSING, UNKNOWN, ColumnOfModel
from sleek.model.effect_words import number_in_words
from sleek.model.effects import Effects
from sleek.model.kernel_model import KernelModel
from sleek.model.saving import dumps
from sleek.outputs.classes import ClassOutputs
from sleek.report.expected import expected_error, in_words
from sleek.report.shown import inputs_of
from sleek.report.unit_rules import units_in_words
from sleek.report.words import percent
from sleek.tables.columns import DateColumn, NumberColumn, WordColumn

ROWS = 4000  # drawn
LEAST_MOVE = 0.005  # of the deviation of the outputs: a curve that has moved less has not
NEAR = 0.5  # of a unit's correlation distance: further apart two units are no longer the same one
ROUNDING = 1e-9  # relative: weights and answers that differ by less are the same
MOST_LISTED = 8
STRANGE = "\0"  # a word that is no level
NO_TIME = np.datetime64("NaT", "s")


@dataclass(frozen=True, eq=False)
class Comparison:
    """What is different between two models.

    Attributes
    ----------
    identical : bool
        Whether both say the same of every row that was drawn, and read and predict the same.
    sentences : list of str
    moved : dict of str to float
        For columns that both read, how far their curves have moved, the most first.
    changed : float or None
        The share of drawn rows with another decision, or the root mean square of what numbers changed by;
        None if they predict different things.
    """

    identical: bool
    sentences: list[str]
    moved: dict[str, float]
    changed: float | None

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def compare(old: KernelModel, new: KernelModel) -> Comparison:
    """What is different in `new`.

    >>> from sleek import LowRankLSSVR
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> model = LowRankLSSVR(basis="linear", random_state=0).fit(X, X[:, 0]).model_
    >>> print(compare(model, model))
    Both models are the same.
    """
    if _bare(old) == _bare(new):
        return Comparison(True, ["Both models are the same."], {}, 0.0)
    said = [*_facts(old, new)]
    if not old.outputs.same_as(new.outputs):
        said.append("They predict different things: their answers are not compared.")
        return Comparison(False, said, {}, None)
    effects = tuple(_effects(model) for model in (old, new))
    said += _columns(old, new)
    changed, moved = None, dict[str, float]()
    if effects[0] is not None and effects[1] is not None:
        changed, sentence = _answers(old, new, effects[0], effects[1])
        said.append(sentence)
        moved = moves(effects[0], effects[1])
        said += _curves(moved)
    said += _units(old, new, effects[1])
    said += [f"Edited by hand: {one}." for one in new.edits.history[len(old.edits.history) :]]
    return Comparison(False, [plain(sentence) for sentence in said], moved, changed)


def _bare(model: KernelModel) -> bytes:
    """Everything that predicts, as it is saved."""
    return dumps(model, metadata={})


def _effects(model: KernelModel) -> Effects | None:
    return None if model.facts is None or model.facts.distributions is None else Effects(model)


def _facts(old: KernelModel, new: KernelModel) -> Iterable[str]:
    if str(old.expansion) != str(new.expansion) or old.n_numbers != new.n_numbers:
        yield (
            f"It is {new.expansion} ({new.n_numbers} numbers to read), and was {old.expansion} "
            f"({old.n_numbers})."
        )
    if old.facts is not None and new.facts is not None:
        if old.facts.n_rows != new.facts.n_rows:
            yield f"It has learnt from {new.facts.n_rows:,} rows, and had from {old.facts.n_rows:,}."
        before, after = (in_words(expected_error(one.outputs, one.facts)) for one in (old, new) if one.facts)
        if before != after:
            yield f"Its expected error is {after}, and was {before}."


def _columns(old: KernelModel, new: KernelModel) -> Iterable[str]:
    before, after = (inputs_of(model).names for model in (old, new))
    for names, verb in (
        ([name for name in after if name not in before], "It reads {} now"),
        ([name for name in before if name not in after], "It no longer reads {}"),
    ):
        if names:
            more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
            yield verb.format(", ".join(map(plain, names[:MOST_LISTED])) + more) + "."
    kinds = [{c.name: c for c in inputs_of(model).columns} for model in (old, new)]
    for name in before:
        one, other = kinds[0].get(name), kinds[1].get(name)
        if isinstance(one, WordColumn) and isinstance(other, WordColumn) and one.levels != other.levels:
            fresh = [level for level in other.levels if level not in one.levels]
            gone = [level for level in one.levels if level not in other.levels]
            told = [f"knows {', '.join(map(plain, fresh[:MOST_LISTED]))} now"] if fresh else []
            told += [f"no longer knows {', '.join(map(plain, gone[:MOST_LISTED]))}"] if gone else []
            if told:
                yield f"Column {plain(name)} {' and '.join(told)}."


def _answers(old: KernelModel, new: KernelModel, before: Effects, after: Effects) -> tuple[float, str]:
    """How often, or by how much, answers differ on drawn rows."""
    table = draw_table(before, after)
    one, two = (model.predict_unchecked(_for(model, table)) for model in (old, new))
    if isinstance(new.outputs, ClassOutputs):
        other = one != two
        share = float(np.mean(other))
        if not share:
            return 0.0, "No decision changes."
        pairs, counts = np.unique(
            [f"{plain(str(a))} → {plain(str(b))}" for a, b in zip(one[other], two[other], strict=True)],
            return_counts=True,
        )
        order = np.argsort(-counts, kind="stable")[:3]
        listed = ", ".join(f"{pairs[i]} {percent(counts[i] / len(other))}" for i in order)
        return share, f"{percent(share)} of decisions change ({listed})."
    difference = np.asarray(two - one, dtype=np.float64).reshape(len(one), -1)
    spread = np.asarray(one, dtype=np.float64).reshape(len(one), -1).std(axis=0)
    size = np.sqrt(np.mean(difference**2, axis=0))
    share = float(np.mean(size / np.where(spread > 0, spread, 1.0)))
    if share <= ROUNDING:
        return 0.0, "No prediction changes."
    words = " and ".join(number_in_words(float(one)) for one in size)
    mean = " and ".join(f"{float(one):+.3g}" for one in difference.mean(axis=0))
    told = f"Predictions change by {words} (root mean square, {percent(share)} of their deviation), "
    return float(np.mean(size)), f"{told}by {mean} on average."


def moves(before: Effects, after: Effects) -> dict[str, float]:
    """How far the curves of columns that both models read have moved, the most first."""
    scale = float(np.sqrt(after.variances.sum())) or 1.0
    known = {column.name: column for column in before.columns}
    found = {}
    for column in after.columns:
        old = known.get(column.name)
        if old is not None and type(old.kind) is type(column.kind):
            f = curve_of_other(before, old, column, column.points)
            f = f - column.weights @ f
            change = after.curves[column.name].outputs - f
            found[column.name] = float(np.sqrt(np.sum(column.weights @ change**2))) / scale
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def curve_of_other(
    effects: Effects, own: ColumnOfModel, column: ColumnOfModel, points: FloatArray
) -> FloatArray:
    """The curve of one model (whose column is `own`) at values of another one's column."""
    if isinstance(own.kind, WordColumn):
        values = [_raw(column.value(point)) for point in points]
        return effects.curve_at(own.name, own.kind.encode(values))
    assert isinstance(own.kind, NumberColumn | DateColumn)
    settled = points[:, 0].copy()
    if getattr(column.kind, "indicator", False) and own.kind.fill is not None:
        settled[points[:, -1] == 1.0] = np.nan
    return effects.curve_at(own.name, own.kind.features(settled))


def _raw(value: Any) -> Any:
    """A value as users have it in their tables."""
    if isinstance(value, str) and value == MISSING:
        return None
    return STRANGE if isinstance(value, str) and value in (ANOTHER, UNKNOWN) else value


def draw_table(before: Effects, after: Effects) -> dict[str, Any]:
    """Rows whose columns are drawn independently of each other from the new model's distributions."""
    rng, columns = np.random.default_rng(0), {column.name: column for column in before.columns}
    columns |= {column.name: column for column in after.columns}
    table: dict[str, Any] = {}
    for name, column in columns.items():
        values = [_raw(value) for value in column.words()]
        places = rng.choice(len(values), ROWS, p=column.weights / column.weights.sum())
        drawn = [values[i] for i in places]
        if isinstance(column.kind, DateColumn):
            table[name] = np.array([NO_TIME if one is None else one for one in drawn])
        else:
            table[name] = drawn
    return table


def _for(model: KernelModel, table: dict[str, Any]) -> FloatArray:
    """The features of the columns that a model reads."""
    if model.inputs is not None:
        return model.inputs.transform({name: table[name] for name in model.inputs.names})
    return np.column_stack([np.array(table[name], dtype=float) for name in model.names_of_features])


def _curves(moved: dict[str, float]) -> Iterable[str]:
    told = [(name, share) for name, share in moved.items() if share >= LEAST_MOVE]
    if not told:
        yield "No curve has moved."
        return
    listed = ", ".join(f"{plain(name)} {percent(share)}" for name, share in told[:MOST_LISTED])
    more = f" and {len(told) - MOST_LISTED} more" if len(told) > MOST_LISTED else ""
    yield f"Curves that moved, in per cent of the deviation of outputs: {listed}{more}."


def _units(old: KernelModel, new: KernelModel, effects: Effects | None) -> Iterable[str]:
    """Units that are the same, moved, new and gone, if both models see the same features."""
    names = [inputs_of(model).feature_names for model in (old, new)]
    if names[0] != names[1] or effects is None:
        return
    matched, moved = match_units(old, new, effects)
    same = {j: i for j, i in matched.items() if j not in moved}
    fresh = [j for j in range(new.n_units) if j not in matched]
    gone = [i for i in range(old.n_units) if i not in set(matched.values())]
    heavier = [
        j
        for j, i in same.items()
        if not np.allclose(new.theta[j], old.theta[i], rtol=ROUNDING, atol=ROUNDING * np.abs(new.theta).max())
    ]
    counts = [
        f"{how_many(len(same), 'unit')} as before"
        + (f" ({len(heavier)} with another weight)" if heavier else ""),
        f"{len(moved)} moved",
        f"{len(fresh)} new",
        f"{len(gone)} gone",
    ]
    yield f"Units: {', '.join(counts)}."
    for units, model, word in ((fresh, new, "New"), (gone, old, "Gone")):
        if units and len(units) <= MOST_LISTED:
            words = units_in_words(model)
            yield from (f"{word}: {words[j]}." for j in units)


def match_units(old: KernelModel, new: KernelModel, effects: Effects) -> tuple[dict[int, int], set[int]]:
    """For units of the new model that of the old one which it is, by their values on drawn rows; which moved.

    Two units are the same if all their numbers are. Others are matched greedily by the correlation of their
    values, as long as it is at least one half.
    """
    place = {key: i for i, key in reversed(list(enumerate(_keys(old))))}
    matched: dict[int, int] = {}
    for j, key in enumerate(_keys(new)):
        i = place.get(key)
        if i is not None and i not in matched.values():
            matched[j] = i
    left_new = [j for j in range(new.n_units) if j not in matched]
    left_old = [i for i in range(old.n_units) if i not in set(matched.values())]
    moved: set[int] = set()
    if left_new and left_old:
        rows = _for(new, draw_table(effects, effects))
        A, B = (
            _standard(model.features(rows)[:, units]) for model, units in ((new, left_new), (old, left_old))
        )
        alike = np.abs(A.T @ B) / len(rows)
        while alike.size and alike.max() >= NEAR:
            a, b = np.unravel_index(int(np.argmax(alike)), alike.shape)
            matched[left_new[a]] = left_old[b]
            moved.add(left_new[a])
            alike[a], alike[:, b] = 0.0, 0.0
    return matched, moved


def _keys(model: KernelModel) -> list[tuple[Any, ...]]:
    """All that a unit is, to compare it with others."""
    return [
        (
            part.basis.name,
            *(array.tobytes() for array in part.basis.take(part.units, np.array([j])).arrays.values()),
        )
        for part in model.parts
        for j in range(len(part))
    ]


def _standard(Phi: FloatArray) -> FloatArray:
    centred = Phi - Phi.mean(axis=0)
    deviation = centred.std(axis=0)
    found: FloatArray = centred / np.where(deviation > 0, deviation, 1.0)
    return found
