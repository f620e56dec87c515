"""The units of a model in one line each, in numbers that are the model's own.

What is printed is what is computed: whoever reads these lines and adds up gets the predictions. A unit is

- a rule, if it is a product over columns: ``where carat above 1.2 ± 0.1 and cut Ideal (Good ×0.5)``. It is 1
  where all conditions hold, and falls to half at the distance after ±; the factors of conditions multiply;
- a formula, if it is another function of a sum: ``tanh(-3 + 0.1·age + (sex: male +2))``. The neurons of
  hidden layers, which units share, are h1, h2, …, and have such lines of their own.

Ramps of curves and linear units are added up by column: ``carat: 0 at 0.3, 1200 at 1, 9000 at 2``,
between which a curve is straight and beyond which it is flat; ``depth: -20 for each``; ``cut: Ideal 120``.

What a basis has to say depends on its type: one of a user's own that has a formula is written by that, or
registers something better with `condition_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np

from sleek._runtime.counting import plain
from sleek._runtime.types import FloatArray
from sleek.bases.base import Basis
from sleek.bases.box import Box, sides
from sleek.bases.curves import Curves
from sleek.bases.distance import DistanceBasis
from sleek.bases.expansion import Part
from sleek.bases.formula import Formula, exp, expression, names
from sleek.bases.linear import Linear
from sleek.bases.units import Units
from sleek.model.kernel_model import KernelModel
from sleek.report.shown import Shown, inputs_of, show_column

MOST_DIGITS = 15  # of a number that is exact: the last one or two of sixteen are rounding
ROUGH_DIGITS = 3
EQUALLY_SOFT = "all rules are equally soft, falling to half within:"
FAINT = 0.1  # of log φ, or of a sum: what changes it by less anywhere in the data is left out of a rough line
SLIGHT = 0.03  # of a unit's largest weight: outputs in which it weighs less are left out of a rough line
ALIKE, NONE = 0.9, 0.1  # in a rough line a level that has more is as the best, and one that has less is none
MOST_LEVELS = 8  # in a rough line
SIGNS = {"add": "({} + {})", "subtract": "({} - {})", "multiply": "{}·{}", "negate": "-{}"}
WRITTEN = {name: text.format for name, text in SIGNS.items()} | {
    "absolute": lambda inner: f"|{inner[1:-1] if inner.startswith('(') else inner}|",
    "exp": "exp({})".format,
    "tanh": "tanh({})".format,
    "maximum": "max({}, {})".format,
}
_x, _z = names("x z")


@dataclass
class Writer:
    """Numbers as text: all digits that count (`rough` is false), or at most four.

    >>> Writer().number(0.1 + 0.2), Writer().number(1 / 3), Writer(rough=True).number(1 / 3)
    ('0.3', '0.333333333333333', '0.333')
    """

    rough: bool = False
    common: frozenset[int] = frozenset()  # features in which all rules are equally soft: it is said once
    longest: int = field(default=0, init=False)  # digits of a number that was written

    def number(self, value: float, rough_digits: int = ROUGH_DIGITS) -> str:
        """The shortest decimal that is the same number, up to the rounding of one operation."""
        value = float(value) + 0.0  # no minus in front of 0
        found = f"{value:.{MOST_DIGITS}g}"
        for digits in range(1, MOST_DIGITS):
            text = f"{value:.{digits}g}"
            if abs(float(text) - value) <= 1e-15 * abs(value):
                found = text
                break
        self.longest = max(self.longest, sum(letter.isdigit() for letter in found.split("e")[0].strip("-0.")))
        return _plain_exponent(f"{value:.{rough_digits}g}" if self.rough else found)

    def signed(self, value: float) -> str:
        """With a plus."""
        text = self.number(value)
        return text if text.startswith("-") else f"+{text}"

    def value(self, column: Shown, value: float) -> str:
        """A value of a column: a number, or a date with as much of its time as is needed."""
        if not column.days:
            return self.number(value, ROUGH_DIGITS + 1)  # years have four
        moment = np.datetime64(round(np.clip(value, -7e5, 2.9e6) * 86_400_000_000), "us")
        text = str(moment)
        self.longest = max(self.longest, 0 if text.endswith("T00:00:00.000000") else MOST_DIGITS)
        return text[:10] if self.rough or text.endswith("T00:00:00.000000") else text


@dataclass(frozen=True, eq=False)
class Lines:
    """A model in lines.

    Attributes
    ----------
    constants : list of str
        What is added for each output.
    curves : list of lists of str
        For each output, a line for each column that has a curve.
    units : list of str
        A line for each unit, the heaviest first.
    places : list of (int, int)
        The part of each of these units, and its number there.
    hidden : list of str
        A line for each neuron of hidden layers, which the lines of units speak of.
    exact : bool
        Whether these numbers are the model's own, and all of them.
    legend : list of str
        How to read the lines.
    """

    constants: list[str]
    curves: list[list[str]]
    units: list[str]
    places: list[tuple[int, int]]
    hidden: list[str]
    exact: bool
    legend: list[str]


def lines_of(model: KernelModel, digits: int) -> Lines:
    """The model in numbers of its own if none has more than so many digits, else in rough ones."""
    writer = Writer()
    found = _lines(model, writer)
    return found if writer.longest <= digits else _lines(model, Writer(rough=True))


def units_in_words(model: KernelModel) -> list[str]:
    """What each unit is, without its weight: a rule, a formula, a ramp of a column, or a column itself.

    >>> from sleek import LowRankLSSVR
    >>> X = np.arange(40.0)[:, None]
    >>> model = LowRankLSSVR(basis="linear", random_state=0).fit(X, X[:, 0]).model_
    >>> units_in_words(model)
    ['x0']
    """
    columns, writer = shown_columns(model), Writer(rough=True)
    found = []
    for part in model.parts:
        for j in range(len(part)):
            one = unit_of(part, j)
            if isinstance(part.basis, Linear | Curves):
                found.append(_single(one, columns, writer))
            else:
                found.append(_unit(one, columns, model, writer)[1])
    return found


def _single(part: Part, columns: Sequence[Shown], writer: Writer) -> str:
    """A ramp, or a feature as it is: of a level what it is, of a number from where to where."""
    slopes = part.units["slopes"][0]
    feature = int(np.argmax(np.abs(slopes)))
    column = next(one for one in columns if one.place.start <= feature < one.place.stop)
    name = plain(column.name)
    if column.words:
        values = column.table[:, feature - column.place.start]
        full = [plain(word) for word, value in zip(column.words, values, strict=True) if value == 1.0]
        return f"{name} {', '.join(full)}" if full else f"level of {name}"
    if isinstance(part.basis, Linear):
        return name
    low, high = (float((end - part.units["offsets"][0]) / slopes[feature]) for end in (0.0, 1.0))
    return f"{name} from {writer.value(column, low)} to {writer.value(column, high)}"


def unit_of(part: Part, j: int) -> Part:
    """A part that has only one of the units."""
    return Part(part.basis, part.basis.take(part.units, np.arange(len(part)) == j))


def shown_columns(model: KernelModel) -> list[Shown]:
    """The columns that the model reads, as they are shown."""
    inputs = inputs_of(model)
    return [
        shown
        for column, place in zip(inputs.columns, inputs.places, strict=True)
        for shown in show_column(column, place)
    ]


def _lines(model: KernelModel, writer: Writer) -> Lines:
    columns = shown_columns(model)
    b, added = model.b.copy(), _Added(model.n_features, len(model.b))
    units: list[tuple[float, str]] = []
    places: list[tuple[int, int]] = []
    legend: dict[str, None] = {}
    neurons: list[str] = []
    hidden = False
    softness = _common_softness(model, columns)
    writer.common = frozenset(column.place.start for column, _ in softness)
    for number, (part, place) in enumerate(zip(model.parts, model.expansion.places(), strict=True)):
        theta = model.theta[place]
        if isinstance(part.basis, Linear):
            b = b + part.units["offsets"] @ theta
            added.slopes += part.units["slopes"].T @ theta
        elif isinstance(part.basis, Curves):
            added.ramps.append((part, theta))
        else:
            for j in range(len(part)):
                one = unit_of(part, j)
                places.append((number, j))
                factor, said, cut = _unit(one, columns, model, writer)
                hidden = hidden or cut
                units.append(
                    (float(np.abs(theta[j]).max()), f"{_weights(model, factor * theta[j], writer)} {said}")
                )
            legend |= dict.fromkeys(_legend(part.basis))
            more, cut = _hidden(part, columns, model, writer)
            neurons, hidden = neurons + more, hidden or cut
    if softness:
        said = ", ".join(
            f"{plain(column.name)} ± {writer.number(half)}{column.unit}" for column, half in softness
        )
        legend[f"{EQUALLY_SOFT} {said}"] = None
    curves = [[*added.lines(columns, k, writer)] for k in range(len(b))]
    order = sorted(range(len(units)), key=lambda j: -units[j][0])
    return Lines(
        [writer.signed(value) for value in b],
        curves,
        [units[j][1] for j in order],
        [places[j] for j in order],
        neurons,
        not writer.rough and not hidden,
        list(legend),
    )


def _common_softness(model: KernelModel, columns: Sequence[Shown]) -> list[tuple[Shown, float]]:
    """The columns of numbers in which all rules fall to half at the same distance, and that distance."""
    rules = [part for part in model.parts if isinstance(part.basis, Box | DistanceBasis)]
    if len(rules) != 1 or rules[0].basis.formula is None or not is_rule(rules[0].basis):
        return []
    (part,), found = rules, []
    power = part.basis.power if isinstance(part.basis, DistanceBasis) else 1
    for column in columns:
        if not column.words:
            sharpness = np.concatenate(
                [part.units[name][:, column.place.start] for name in part.basis.widths]
            )
            sharpness = sharpness[sharpness != 0]
            if len(sharpness) > 1 and np.ptp(sharpness) == 0:
                found.append((column, float((np.log(2.0) / sharpness[0]) ** (1.0 / power))))
    return found


def is_rule(basis: Basis) -> bool:
    """Whether units are products of conditions."""
    formula = basis.formula
    return (
        formula is not None and formula.profile == exp(-_z) and expression(formula.start) == expression(0.0)
    )


def _weights(model: KernelModel, theta: FloatArray, writer: Writer) -> str:
    """What a unit weighs in each output."""
    if len(theta) == 1:
        return writer.signed(theta[0])
    words = [plain(word) for word in model.outputs.words]
    least = SLIGHT * np.abs(theta).max() if writer.rough else 0.0
    said = (f"{word} {writer.signed(w)}" for word, w in zip(words, theta, strict=True) if abs(w) >= least)
    return ", ".join(said) + ":"


# -- curves -------------------------------------------------------------------------------------------------


class _Added:
    """What linear units and ramps add up to, by feature."""

    def __init__(self, n_features: int, n_outputs: int) -> None:
        self.slopes = np.zeros((n_features, n_outputs))
        self.ramps: list[tuple[Part, FloatArray]] = []

    def lines(self, columns: Sequence[Shown], output: int, writer: Writer) -> list[str]:
        """A line for each column that there is something to say of."""
        found = []
        for column in columns:
            name, slope = plain(column.name), self.slopes[column.place, output]
            if column.words:
                values = column.table @ slope + self._ramps(column, column.table, output)
                if values.any():
                    levels = (
                        f"{plain(w)} {writer.signed(v)}"
                        for w, v in zip(column.words, values, strict=True)
                        if v
                    )
                    found.append(f"{name}: {', '.join(levels)}")
                continue
            if slope[0]:
                found.append(f"{name}: {writer.signed(slope[0])} for each{column.unit.rstrip('s')}")
            knots = self._knots(column.place.start)
            if len(knots):
                values = self._ramps(column, knots[:, None], output)
                if values.any():
                    points = zip(knots, values, strict=True)
                    said = ", ".join(f"{writer.number(v)} at {writer.value(column, x)}" for x, v in points)
                    found.append(f"{name}: {said}")
        return found

    def _knots(self, feature: int) -> FloatArray:
        """Where ramps of a feature begin and end."""
        ends = []
        for part, _ in self.ramps:
            slopes, offsets = part.units["slopes"][:, feature], part.units["offsets"]
            there = slopes != 0
            low = -offsets[there] / slopes[there]
            ends += [*low, *(low + 1.0 / slopes[there])]
        knots = np.array(sorted(set(ends)), dtype=np.float64)  # np.unique imports a lot
        if len(knots) < 2:
            return knots
        apart = np.diff(knots, prepend=-np.inf) > 1e-12 * max(1e-300, float(np.abs(knots).max()))
        return knots[apart]

    def _ramps(self, column: Shown, values: FloatArray, output: int) -> FloatArray:
        """What ramps of a column add at its values, beside what they add at no value at all."""
        total = np.zeros(len(values))
        for part, theta in self.ramps:
            there = (part.units["slopes"][:, column.place] != 0).any(axis=1)
            arrays = {
                "slopes": part.units["slopes"][there][:, column.place],
                "offsets": part.units["offsets"][there],
            }
            Z = values @ arrays["slopes"].T + arrays["offsets"]
            total += np.clip(Z, 0.0, 1.0) @ theta[there, output]
        return total


# -- units --------------------------------------------------------------------------------------------------


def _unit(
    part: Part, columns: Sequence[Shown], model: KernelModel, writer: Writer
) -> tuple[float, str, bool]:
    """A factor, one unit in words that are multiplied by it, and whether something was left out."""
    formula, layers = part.basis.formula, part.basis.layers
    if not layers:
        return 1.0, _arrays(part, writer), False
    if is_rule(part.basis):
        return _rule(part, columns, model, writer)
    if formula is None:
        last = _neuron_names(part)[-1]
        return 1.0, *_sum_of_neurons(layers[-1], Units(layers[-1].of(part.units)), last, writer)
    return 1.0, *_sum(formula, part.units, columns, model, writer)


def _hidden(
    part: Part, columns: Sequence[Shown], model: KernelModel, writer: Writer
) -> tuple[list[str], bool]:
    """A line for each neuron of the layers that units share, and whether something was left out."""
    found, hidden, before = [], False, list[str]()
    for formula, names_here in zip(part.basis.layers, _neuron_names(part), strict=False):
        arrays = formula.of(part.units)
        for j, name in enumerate(names_here):
            one = Units({key: array[j : j + 1] for key, array in arrays.items()})
            if before:
                said, cut = _sum_of_neurons(formula, one, before, writer)
            else:
                said, cut = _sum(formula, one, columns, model, writer)
            found.append(f"{name} = {said}")
            hidden = hidden or cut
        before = names_here
    return found, hidden


def _neuron_names(part: Part) -> list[list[str]]:
    """The names of the neurons of each hidden layer, numbered through all of them."""
    found, number = [], 0
    for formula in part.basis.layers[:-1]:
        size = len(next(iter(formula.of(part.units).values())))
        found.append([f"h{number + j + 1}" for j in range(size)])
        number += size
    return found


def _sum_of_neurons(formula: Formula, units: Units, before: list[str], writer: Writer) -> tuple[str, bool]:
    """A function of a sum over the neurons of a layer, whose values are between -1 and 1."""
    ends = np.array([[-1.0], [1.0]]) * np.ones(len(before))
    low, high = formula.terms(ends, units)[:, 0]
    terms, hidden = [], False
    for i, name in enumerate(before):
        if writer.rough and abs(high[i] - low[i]) < FAINT:
            hidden = True
        elif high[i] != low[i]:
            numbers = {key: writer.number(a[0, i]) for key, a in units.arrays.items() if a.ndim == 2}
            terms.append(_term(formula.term, numbers, name))
    return _whole(formula, _start(formula, units), terms, writer), hidden


def _rule(
    part: Part, columns: Sequence[Shown], model: KernelModel, writer: Writer
) -> tuple[float, str, bool]:
    """Conditions that are multiplied; levels are relative to the best one, which is a factor."""
    total, hidden = 1.0, False
    found: list[tuple[float, str]] = []
    for column in columns:
        if column.words:
            strengths = strengths_of(part, column)
            best = float(strengths.max())
            total *= best
            said = _levels(column, strengths / best, writer) if best > 0 else ""
        else:
            said = condition_of(part.basis, part, column, writer, ends_of(column, model))
        change = change_of(part, column, model)
        if said and writer.rough and change < FAINT:
            hidden = True
        elif said:
            found.append((change, said))
    conditions = [said for _, said in sorted(found, key=lambda one: -one[0])]
    return total, f"where {' and '.join(conditions)}" if conditions else "everywhere", hidden


def strengths_of(part: Part, column: Shown) -> FloatArray:
    """What a unit has at each level of a column, all other columns aside."""
    assert part.basis.formula is not None
    terms = part.basis.formula.terms(column.table, part.units, column.place)
    found: FloatArray = np.exp(-terms.sum(axis=2)[:, 0])
    return found


def _levels(column: Shown, strengths: FloatArray, writer: Writer) -> str:
    """The levels of full strength, and in brackets what others have; nothing if all are alike."""
    if (strengths == strengths[0]).all():
        return ""
    order = np.argsort(-strengths, kind="stable")
    alike, none = (ALIKE, NONE) if writer.rough else (1.0, 0.0)
    full = [plain(column.words[i]) for i in order if strengths[i] >= alike]
    weaker = [i for i in order if none < strengths[i] < alike]
    if len(full) == len(strengths):
        return ""
    if writer.rough and 2 * len(full) > len(strengths):
        rest = [i for i in order[::-1] if strengths[i] < alike]
        if not weaker:
            return (
                f"{plain(column.name)} not {', '.join(_cut([plain(column.words[i]) for i in rest], writer))}"
            )
        said = _cut([_share(column, [i], strengths[i], writer) for i in rest], writer)
        return f"{plain(column.name)} ({', '.join(said)}, others ×1)"
    groups: dict[str, list[int]] = {}
    for i in weaker:
        groups.setdefault(writer.number(strengths[i]) if writer.rough else str(i), []).append(i)
    if len(groups) == 1 and 1 < len(weaker) == len(strengths) - len(full):
        said = [f"others ×{next(iter(groups))}"]
    else:
        said = [_share(column, group, strengths[group[0]], writer) for group in groups.values()]
    said = _cut(said, writer)
    return f"{plain(column.name)} {', '.join(full)}{' (' + ', '.join(said) + ')' if said else ''}"


def _share(column: Shown, levels: Sequence[int], strength: float, writer: Writer) -> str:
    """Levels and how much of a rule's weight they have."""
    words = ", ".join(plain(column.words[i]) for i in levels)
    return f"{words} ×{writer.number(0.0 if writer.rough and strength <= NONE else strength)}"


def _cut(said: list[str], writer: Writer) -> list[str]:
    """No more than a few of them in a rough line."""
    more = len(said) - MOST_LEVELS if writer.rough else 0
    return [*said[:MOST_LEVELS], f"{more} more"] if more > 0 else said


def change_of(part: Part, column: Shown, model: KernelModel) -> float:
    """By how much a column changes log φ between its levels, or takes off it within the data."""
    if column.words:
        strengths = np.maximum(strengths_of(part, column), 1e-300)
        return float(np.log(strengths.max() / strengths.min()))
    ends = ends_of(column, model)
    if ends is None or part.basis.formula is None:
        return np.inf
    return float(part.basis.formula.terms(np.array(ends)[:, None], part.units, column.place).max())


def ends_of(column: Shown, model: KernelModel) -> tuple[float, float] | None:
    """Where the data of a number begin and end."""
    if model.facts is None:
        return None
    return float(model.facts.low[column.place.start]), float(model.facts.high[column.place.start])


@singledispatch
def condition_of(
    basis: Basis, part: Part, column: Shown, writer: Writer, ends: tuple[float, float] | None
) -> str:
    """The condition of a unit, the only one of its part, on a number: here its own numbers; "" if none."""
    arrays = {
        name: float(array[0, column.place.start])
        for name, array in part.units.arrays.items()
        if array.ndim == 2
    }
    said = ", ".join(f"{name} {writer.number(value)}" for name, value in arrays.items())
    return f"{plain(column.name)} [{said}]" if any(arrays.values()) else ""


@condition_of.register
def _(
    basis: DistanceBasis, part: Part, column: Shown, writer: Writer, ends: tuple[float, float] | None
) -> str:
    center, shape = (float(part.units[name][0, column.place.start]) for name in ("centers", "shapes"))
    if shape == 0.0:
        return ""
    place = f"{plain(column.name)} near {writer.value(column, center)}"
    if column.place.start in writer.common:
        return place
    half = (np.log(2.0) / shape) ** (1.0 / basis.power)
    return f"{place} ± {writer.number(half)}{column.unit}"


@condition_of.register
def _(basis: Box, part: Part, column: Shown, writer: Writer, ends: tuple[float, float] | None) -> str:
    low, high = (float(side[0, column.place.start]) for side in sides(part.units))
    below, above = (float(part.units[name][0, column.place.start]) for name in ("below", "above"))
    name = plain(column.name)
    if writer.rough and ends is not None:  # sides that hardly change a unit anywhere in the data
        below = below if below * (low - ends[0]) >= FAINT else 0.0
        above = above if above * (ends[1] - high) >= FAINT else 0.0

    def side(value: float, sharpness: float) -> str:
        if column.place.start in writer.common:
            return writer.value(column, value)
        half = writer.number(np.log(2.0) / sharpness)
        return f"{writer.value(column, value)} ± {half}{column.unit}"

    if below and above:
        one, other = side(low, below), side(high, above)
        return f"{name} near {one}" if one == other and low == high else f"{name} from {one} to {other}"
    if below:
        return f"{name} above {side(low, below)}"
    return f"{name} below {side(high, above)}" if above else ""


def _sum(
    formula: Formula, units: Units, columns: Sequence[Shown], model: KernelModel, writer: Writer
) -> tuple[str, bool]:
    """A function of a sum over columns, as tanh(…), and whether something was left out."""
    start, slope = _start(formula, units), _slope_of(formula)
    terms, hidden = [], False
    for column in columns:
        if column.words:
            values = formula.terms(column.table, units, column.place).sum(axis=2)[:, 0]
            rough = values.max() - values.min() < FAINT if writer.rough else not values.any()
            there = [(plain(w), v) for w, v in zip(column.words, values, strict=True) if v]
            if writer.rough:
                there = [(w, v) for w, v in there if abs(v) >= FAINT / 2]
            levels = ", ".join(f"{w} {writer.signed(v)}" for w, v in there)
            said = f"+ ({plain(column.name)}: {levels})" if there else ""
        else:
            i = column.place.start
            numbers = {n: writer.number(a[0, i]) for n, a in units.arrays.items() if a.ndim == 2}
            facts = model.facts
            ends = np.array([[0.0], [1.0]] if facts is None else [[facts.low[i]], [facts.high[i]]])
            values = formula.terms(ends, units, column.place)[:, 0, 0]
            none = not any(a[0, i] for a in units.arrays.values() if a.ndim == 2)
            rough = none or (writer.rough and abs(values[1] - values[0]) < FAINT)
            name = plain(column.name)
            if writer.rough and facts is not None and slope:
                middle = float(f"{0.5 * facts.low[i] + 0.5 * facts.high[i]:.{ROUGH_DIGITS}g}")
                start += float(units[slope][0, i]) * middle  # beside years an offset says nothing
                name = f"({name} - {writer.value(column, middle)})"
            said = _term(formula.term, numbers, name)
        if said and not rough:
            terms.append(said)
        else:
            hidden = hidden or bool(writer.rough and said)
    return _whole(formula, start, terms, writer), hidden


def _start(formula: Formula, units: Units) -> float:
    """Where the sum of the only unit begins."""
    return float(np.asarray(expression(formula.start).evaluate(units.arrays)).reshape(-1)[0])


def _slope_of(formula: Formula) -> str:
    """The name of the array whose numbers are multiplied by x; "" if terms are something else."""
    term = formula.term
    if term.operator != "multiply" or term.operands[1] != _x:
        return ""
    return term.operands[0].leaf if isinstance(term.operands[0].leaf, str) else ""


def _whole(formula: Formula, start: float, terms: list[str], writer: Writer) -> str:
    """The function of the sum."""
    inner = " ".join([*([writer.number(start)] if start or not terms else []), *terms])
    inner = inner.removeprefix("+ ")
    if formula.profile.operator == "leaf" or formula.profile.operands != (_z,):
        inner = f"({inner})"
    return formula.profile.fold(lambda leaf: inner if leaf == "z" else _leaf(leaf), WRITTEN)


def _term(term: Any, numbers: dict[str, str], name: str) -> str:
    """A term with its numbers put in, and a sign in front."""
    text = term.fold(lambda leaf: name if leaf == "x" else numbers.get(leaf, _leaf(leaf)), WRITTEN)
    text = text.replace(" - -", " + ")
    return _space_sign(text if text.startswith("-") else f"+{text}")


def _space_sign(text: str) -> str:
    """A sign, a space, and the number."""
    return f"{text[0]} {text[1:]}"


def _leaf(leaf: Any) -> str:
    return leaf if isinstance(leaf, str) else f"{leaf:g}"


def _arrays(part: Part, writer: Writer) -> str:
    """A unit of a basis that has no formula: its numbers by name."""
    said = [
        f"{parameter.name} {' '.join(writer.number(v) for v in np.ravel(part.units[parameter.name]))}"
        for parameter in part.basis.parameters
        if not parameter.shared
    ]
    return f"{part.basis.name}({'; '.join(said)})"


def _legend(basis: Basis) -> list[str]:
    if basis.formula is None or basis.formula.profile != exp(-_z):
        return []
    bump = isinstance(basis, DistanceBasis) and basis.power == 2
    falls = "at the distance after ± it is half, at twice that 1/16"
    if not bump:
        falls = "outside an edge it halves with every ± of distance"
    return [
        f"a rule counts fully where all conditions hold; {falls}; factors multiply, levels not named have ×0"
    ]


def _plain_exponent(text: str) -> str:
    """1e+06 as 1000000 and 1.5e-05 as 0.000015, as long as people can count the zeros."""
    mantissa, mark, power = text.partition("e")
    if not mark or not -7 <= int(power) <= 9:
        return text
    digits = len(mantissa.strip("-").replace(".", ""))
    return f"{float(text):.{max(0, digits - 1 - int(power))}f}"
