"""Units as small pictures beside their sentences.

A rule has a strip for each condition: the range of the column, and how far the rule holds there; of a
category a bar for each level. Another function of a sum over columns, such as tanh, has a list of bars: the
standard deviation of what each column adds to the sum, over the training rows; for a number this is its slope
times its spread. The sentence says it all in words, so that screen readers are spared the pictures.
"""

from __future__ import annotations

import numpy as np

from sleek._runtime.counting import plain
from sleek._runtime.types import FloatArray
from sleek.bases.expansion import Part
from sleek.model.kernel_model import KernelModel
from sleek.report.shown import Shown, inputs_of
from sleek.report.svg import Axis, bends, px, say, text
from sleek.report.unit_rules import FAINT, change_of, ends_of, is_rule, shown_columns, strengths_of, unit_of

WIDTH, HEIGHT = 84, 16  # of a strip
FINE = 128  # values along it
MOST_CONDITIONS, MOST_LEVELS, MOST_BARS = 4, 24, 5
LABEL, HALF, LINE = 112, 46, 14  # of a list of bars: names, the longest bar, a line
LEAST_BAR = 0.05  # of the longest: what is shorter is left out
NAME = 20  # characters of a name


def picture_of(model: KernelModel, part: Part, j: int, side: str = "up") -> str:
    """One unit of a part; "" if there is nothing to draw.

    Rules have the colour of a weight above 0 ("up") or below ("down"). Nothing is drawn without a formula, or
    without the distributions of columns, as in files of older versions.
    """
    if model.facts is None or model.facts.distributions is None or part.basis.formula is None:
        return ""
    one, columns = unit_of(part, j), shown_columns(model)
    inner = _conditions(one, columns, model, side) if is_rule(part.basis) else _bars(one, columns, model)
    return f'<span class="pics" aria-hidden="true">{inner}</span>' if inner else ""


# -- rules --------------------------------------------------------------------------------------------------


def _conditions(part: Part, columns: list[Shown], model: KernelModel, side: str) -> str:
    """The conditions that change most, the most important first."""
    changes = [(change_of(part, column, model), column) for column in columns]
    there = sorted((one for one in changes if one[0] >= FAINT), key=lambda one: -one[0])
    return "".join(
        f"<span>{_levels(part, column, side) if column.words else _strip(part, column, model, side)}"
        f"{say(column.name, NAME)}</span>"
        for _, column in there[:MOST_CONDITIONS]
    )


def strength_along(part: Part, column: Shown, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Values of a number, and what the unit is there if all other conditions hold."""
    assert part.basis.formula is not None
    values = np.linspace(low, high, FINE + 1)
    terms = part.basis.formula.terms(values[:, None], part.units, column.place)
    return values, np.exp(-terms.sum(axis=2)[:, 0])


def _strip(part: Part, column: Shown, model: KernelModel, side: str) -> str:
    ends = ends_of(column, model)
    assert ends is not None  # which facts have
    values, strengths = strength_along(part, column, *ends)
    x, y = Axis(*ends, 0, WIDTH), Axis(0.0, 1.0, HEIGHT, 1)
    drawn = bends([(x(a), y(b)) for a, b in zip(values.tolist(), strengths.tolist(), strict=True)])
    said = "L".join(f"{px(a)} {px(b)}" for a, b in drawn)
    area = f'<path class="{side}" d="M0 {HEIGHT}L{said}V{HEIGHT}z"/>'
    return _small(f"{column.number(ends[0])} to {column.number(ends[1])}", area)


def _levels(part: Part, column: Shown, side: str) -> str:
    strengths = strengths_of(part, column)[:MOST_LEVELS]
    strengths = strengths / max(float(strengths.max()), 1e-300)
    step = WIDTH / len(strengths)
    wide = px(step - 1)
    bars = [
        f"M{px(i * step)} {HEIGHT}v{px(-(HEIGHT - 1) * s)}h{wide}V{HEIGHT}z"
        for i, s in enumerate(strengths.tolist())
        if s > 0.5 / HEIGHT
    ]
    words = " | ".join(plain(word) for word in column.words[:MOST_LEVELS])
    return _small(words, f'<path class="{side}" d="{"".join(bars)}"/>')


def _small(title: str, inner: str) -> str:
    """A strip on its ground."""
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"<title>{say(title, 60)}</title>"
        f'<path class="ground" d="M0 0h{WIDTH}v{HEIGHT}H0z"/>{inner}</svg>'
    )


# -- functions of sums --------------------------------------------------------------------------------------


def spreads_of(part: Part, columns: list[Shown], model: KernelModel) -> FloatArray:
    """Standard deviations, over the training rows, of what columns add to the sum.

    That of a number is negative if the sum falls with it; levels have no direction.
    """
    formula, facts = part.basis.formula, model.facts
    assert formula is not None
    assert facts is not None
    places = inputs_of(model).places
    found = np.zeros(len(columns))
    for c, column in enumerate(columns):
        own = next(n for n, place in enumerate(places) if column.place.stop <= place.stop)
        distribution = (facts.distributions or ())[own]
        first = column.place.start - places[own].start
        points = distribution.points[:, first : first + column.place.stop - column.place.start]
        values = formula.terms(points, part.units, column.place).sum(axis=2)[:, 0]
        weights = distribution.weights / distribution.weights.sum()
        away = values - weights @ values
        found[c] = np.sqrt(weights @ away**2)
        if not column.words and weights @ (away * points[:, 0]) < 0:
            found[c] *= -1.0
    return found


def _bars(part: Part, columns: list[Shown], model: KernelModel) -> str:
    """The columns that move the sum most: to the right if it rises, to both sides if there are levels."""
    spreads = spreads_of(part, columns, model)
    sizes = np.abs(spreads)
    order = np.argsort(-sizes, kind="stable")[:MOST_BARS]
    order = order[sizes[order] > LEAST_BAR * sizes.max(initial=0.0)]
    if len(order) < 2:
        return ""
    x, inner = Axis(0.0, float(sizes.max()), LABEL + HALF, LABEL + 2 * HALF), []
    for line, c in enumerate(order.tolist()):
        top, spread = line * LINE, float(spreads[c])
        ends = (-0.5 * spread, 0.5 * spread) if columns[c].words else (min(spread, 0.0), max(spread, 0.0))
        start, end = px(x(ends[0])), px(x(ends[1]))
        kind = "both" if columns[c].words else "up" if spread > 0 else "down"
        inner.append(text(LABEL - 6, top + 10, columns[c].name, "end", NAME))
        inner.append(f'<path class="{kind}" d="M{start} {top + 3}H{end}v8H{start}z"/>')
    wide, tall = LABEL + 2 * HALF, len(order) * LINE
    inner.append(f'<path class="zero" d="M{LABEL + HALF} 0V{tall}"/>')
    return f'<svg width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}">{"".join(inner)}</svg>'
