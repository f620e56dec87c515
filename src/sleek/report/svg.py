"""Pictures as SVG text: curves with distributions under them, levels, maps of pairs, points along a line.

Colours and fonts are those of the page, by class names, so that a picture follows light, dark and print.
Coordinates have one digit after the point: a curve takes about a kilobyte.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from sleek._runtime.counting import plain
from sleek._runtime.types import AnyArray, FloatArray
from sleek.model.effect_words import number_in_words, signed_in_words

WIDTH, HEIGHT = 340, 190
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 8, 150  # of the drawing area; tick labels are below
STRIP = 26  # under a curve, for the distribution
BARS = 28  # of a distribution
MAP_HEIGHT = 170
STEPS = 4  # shades of a map on each side of 0
LINE_HEIGHT, MOST_LEVELS, LABEL = 20, 12, 112
ENOUGH = 0.15  # of a pixel: what is as near to a line lies on it
LONGEST = 40  # characters of a name in a picture or a heading


def say(text: object, longest: int = LONGEST) -> str:
    """A user's own word for HTML: on one line, escaped, cut if it is long.

    >>> say("</script>"), say("two\\nlines"), len(say("x" * 10_000))
    ('&lt;/script&gt;', 'two\\\\nlines', 40)
    """
    found = plain(str(text))
    return escape(found if len(found) <= longest else f"{found[: longest - 1]}…")


def ticks(low: float, high: float, n: int = 4) -> list[float]:
    """About n round numbers between two others.

    >>> ticks(0.0, 97.0), ticks(-0.3, 0.4)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [-0.2, 0.0, 0.2, 0.4])
    """
    span = high - low
    if not span > 0 or not np.isfinite(span):
        return [low]
    power = 10.0 ** np.floor(np.log10(span / n))
    step = next(s * power for s in (1, 2, 5, 10) if span / (s * power) <= n + 1)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def day_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Beginnings of years, months or days between two numbers of days since 1970, at most six, in words.

    >>> day_ticks(0.0, 1000.0)
    [(0.0, '1970'), (365.0, '1971'), (730.0, '1972')]
    >>> [word for _, word in day_ticks(0.0, 100.0)]
    ['1970-01', '1970-02', '1970-03', '1970-04']
    """
    low, high = (float(np.clip(value, -7e5, 2.9e6)) for value in (low, high))
    unit = "Y" if high - low >= 730 else "M" if high - low >= 60 else "D"
    days = np.array([np.floor(low), np.ceil(high)]).astype("datetime64[D]")
    first, last = days.astype(f"datetime64[{unit}]").astype(np.int64).tolist()
    starts = np.arange(first, last + 1, max(1, -(-(last - first) // 5))).astype(f"datetime64[{unit}]")
    places = starts.astype("datetime64[D]").astype(np.float64).tolist()
    return [(day, str(start)) for day, start in zip(places, starts, strict=True) if low <= day <= high]


def axis_labels(low: float, high: float, days: bool) -> list[tuple[float, str]]:
    """Values of an axis, and their texts."""
    return day_ticks(low, high) if days else [(value, value_label(value)) for value in ticks(low, high)]


def value_label(value: float) -> str:
    """A number at an axis: years have no comma."""
    return f"{value:.0f}" if 1000 <= abs(value) < 10_000 else number_in_words(value)


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` along pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        share = (value - self.low) / span if span > 0 else 0.5
        return self.start + share * (self.end - self.start)


def picture(inner: Iterable[str], label: str, width: float = WIDTH, height: float = HEIGHT) -> str:
    """An SVG element that screen readers read as one image."""
    return (
        f'<svg class="pic" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(label)}">{"".join(inner)}</svg>'
    )


def path(points: Iterable[tuple[float, float]], name: str) -> str:
    """A line through points."""
    said = "L".join(f"{px(x)} {px(y)}" for x, y in points)
    return f'<path class="{name}" d="M{said}"/>'


def frame(x: Axis, y: Axis, labels: Iterable[tuple[float, str]], below: float = 14) -> list[str]:
    """Lines at the ticks of y, with their values, and labels of x."""
    found = []
    for value in ticks(y.low, y.high, 4):
        at = y(value)
        kind = "zero" if value == 0 else "rule"
        found.append(f'<path class="{kind}" d="M{px(x.start)} {px(at)}H{px(x.end)}"/>')
        found.append(text(x.start - 6, at + 3.5, number_in_words(value), "end"))
    bottom = max(y.start, y.end) + below
    return found + [text(x(at), bottom, words, "mid") for at, words in labels]


def text(x: float, y: float, words: str, name: str = "", longest: int = LONGEST) -> str:
    """A text that begins, ends ("end") or has its middle ("mid") at a place."""
    return f'<text class="{name}" x="{px(x)}" y="{px(y)}">{say(words, longest)}</text>'


def circle(x: float, y: float, name: str, r: float = 3.5) -> str:
    """A dot."""
    return f'<circle class="{name}" cx="{px(x)}" cy="{px(y)}" r="{r:g}"/>'


# -- columns ------------------------------------------------------------------------------------------------


def curve(
    values: FloatArray,
    outputs: FloatArray,
    points: FloatArray,
    weights: FloatArray,
    label: str,
    gap: FloatArray | None = None,
    days: bool = False,
    before: FloatArray | None = None,
) -> str:
    """A column of numbers: lines, the distribution under them, what a gap does at the right.

    Parameters
    ----------
    values : array of shape (n,), in order
    outputs : array of shape (n, n_lines)
    points, weights : arrays of shape (n_points,)
        The distribution, in order.
    gap : array of shape (n_lines,) or None
        What a missing value adds.
    days : bool
        Whether values are days since 1970.
    before : array of shape (n, n_lines) or None
        What the lines were in another model.
    """
    low, high = float(values[0]), float(values[-1])
    more = [line for line in (None if gap is None else gap[None], before) if line is not None]
    everything = np.concatenate([outputs, *more])
    x = Axis(low, high, LEFT, WIDTH - RIGHT - (0 if gap is None else 58))
    y = _vertical(everything, TOP, BOTTOM - STRIP - 4)
    inner = frame(x, y, axis_labels(low, high, days), STRIP + 20)
    inner.append(_bars(x, points, weights))
    for k, line in enumerate(outputs.T):
        drawn = bends([(x(a), y(b)) for a, b in zip(values.tolist(), line.tolist(), strict=True)])
        if outputs.shape[1] == 1:
            said, zero = "L".join(f"{px(a)} {px(b)}" for a, b in drawn), px(y(0.0))
            inner.append(f'<path class="area" d="M{px(x(low))} {zero}L{said}V{zero}Z"/>')
        inner.append(path(drawn, f"line c{k % 8}"))
    for line in () if before is None else before.T:
        drawn = [(x(a), y(b)) for a, b in zip(values.tolist(), line.tolist(), strict=True)]
        inner.append(path(bends(drawn), "line before"))
    if gap is not None:
        at = WIDTH - RIGHT - 20
        inner += [circle(at, y(v), f"dot c{k % 8}") for k, v in enumerate(gap.tolist())]
        inner.append(text(at, BOTTOM + 16, "missing", "mid"))
    if outputs.shape[1] == 1:  # where a row is: the script moves it
        inner.append(
            f'<circle class="now" r="4.5" visibility="hidden" '
            f'data-x="{low!r} {high!r} {px(x.start)} {px(x.end)}" '
            f'data-y="{y.low!r} {y.high!r} {px(y.start)} {px(y.end)}"/>'
        )
    return picture(inner, label, height=BOTTOM + 26)


def bends(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """A line without the points that lie on it anyway.

    >>> bends([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 0.0)])
    [(0.0, 0.0), (2.0, 2.0), (3.0, 0.0)]
    """
    kept, start = points[:1], 0
    for end in range(2, len(points)):
        (a, b), (c, d) = points[start], points[end]
        slope = (d - b) / (c - a) if c > a else 0.0
        if any(abs(b + slope * (u - a) - v) > ENOUGH for u, v in points[start + 1 : end]):
            start = end - 1
            kept.append(points[start])
    return kept + points[max(1, len(points) - 1) :]


def _vertical(outputs: FloatArray, top: float, bottom: float) -> Axis:
    """An axis with 0 on it, and a little air."""
    low, high = min(0.0, float(outputs.min())), max(0.0, float(outputs.max()))
    air = 0.06 * (high - low) or 1.0
    return Axis(low - (air if low < 0 else 0.0), high + (air if high > 0 else 0.0), bottom, top)


def _bars(x: Axis, values: FloatArray, weights: FloatArray) -> str:
    """How common values are: each is spread over what is nearest to it."""
    middle = 0.5 * (values[1:] + values[:-1])
    edges = np.concatenate([[x.low], np.clip(middle, x.low, x.high), [x.high]])
    grid = np.linspace(x.low, x.high, BARS + 1)
    cumulated = np.concatenate([[0.0], np.cumsum(weights)])
    edges, first = np.unique(edges, return_index=True)
    heights = np.diff(np.interp(grid, edges, cumulated[first]))
    most = heights.max() if len(heights) and heights.max() > 0 else 1.0
    bottom, said = BOTTOM, []
    step = (x.end - x.start) / BARS
    for i, height in enumerate(heights):
        if height > 0.004 * most:
            tall = STRIP * height / most
            said.append(f"M{px(x.start + i * step)} {bottom}v{px(-tall)}h{px(step - 1)}v{px(tall)}z")
    return f'<path class="rows" d="{"".join(said)}"/>'


def levels(
    words: Sequence[str],
    outputs: FloatArray,
    weights: FloatArray,
    label: str,
    before: FloatArray | None = None,
    points: Sequence[int] = (),
) -> str:
    """A column of words: a bar, or a dot for each line, and how common each level is.

    `before` is what the bars were in another model; `points` are the levels' places in the column's
    distribution, by which the script draws bars of an edited model.
    """
    shown = [*range(len(words))]
    if len(shown) > MOST_LEVELS:
        matter = np.abs(outputs).max(axis=1) * np.sqrt(weights)
        shown = sorted(np.argsort(-matter, kind="stable")[:MOST_LEVELS].tolist())
    values = outputs[shown] if before is None else np.concatenate([outputs[shown], before[shown]])
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    x = Axis(low, high, LABEL + 6, WIDTH - 50)
    zero, inner = x(0.0), []
    most = float(weights[shown].max()) or 1.0
    for place, i in enumerate(shown):
        top = TOP + place * LINE_HEIGHT
        inner.append(text(LABEL - 4, top + 13, words[i], "end", 18))
        common = px(36 * weights[i] / most)
        inner.append(f'<rect class="rows" x="{WIDTH - 38}" y="{top + 6}" width="{common}" height="7"/>')
        if outputs.shape[1] == 1:
            value = float(outputs[i, 0])
            start, wide = min(zero, x(value)), abs(x(value) - zero)
            side = "up" if value >= 0 else "down"
            known = f' data-point="{points[i]}"' if points else ""
            inner.append(
                f'<rect class="{side}"{known} x="{px(start)}" y="{top + 3}" width="{px(wide)}" '
                f'height="13" rx="1.5">'
                f"<title>{signed_in_words(value)}</title></rect>"
            )
            if before is not None:
                at = px(x(float(before[i, 0])))
                inner.append(f'<path class="was" d="M{at} {top + 1}v17"/>')
        else:
            dots = enumerate(outputs[i].tolist())
            inner += [circle(x(v), top + 9.5, f"dot c{k % 8}", 4) for k, v in dots]
    height = TOP + len(shown) * LINE_HEIGHT
    scale = f' data-x="{low!r} {high!r} {px(x.start)} {px(x.end)}"' if points else ""
    inner.insert(0, f'<path class="zero"{scale} d="M{px(zero)} {TOP}V{height}"/>')
    inner += [text(x(value), height + 14, number_in_words(value), "mid") for value in ticks(low, high, 3)]
    if len(shown) < len(words):
        height += 16
        inner.append(text(LABEL - 4, height + 14, f"and {len(words) - len(shown)} more levels", "end"))
    return picture(inner, label, height=height + 20)


def pair(
    surface: FloatArray,
    labels: tuple[list[tuple[float, str]], list[tuple[float, str]]],
    names: tuple[str, str],
    label: str,
    wordy: bool,
) -> str:
    """A map: what two columns (the second one upwards) add together, in nine shades.

    Parameters
    ----------
    surface : array of shape (n, m)
        A cell for each pair of values.
    labels : for each axis texts and where they stand, in cells
    wordy : bool
        Whether those of the second axis are long.
    """
    most = float(np.abs(surface).max()) or 1.0
    shade = np.sign(surface) * np.ceil(np.clip(np.abs(surface) / most * (STEPS + 0.5) - 0.5, 0, STEPS))
    x = Axis(0, surface.shape[0], LABEL if wordy else LEFT + 8, WIDTH - RIGHT)
    y = Axis(0, surface.shape[1], TOP + MAP_HEIGHT, TOP)
    ground = f'width="{px(x.end - x.start)}" height="{MAP_HEIGHT}"'
    inner = [f'<rect class="ground" x="{px(x.start)}" y="{TOP}" {ground}/>']
    for step in (*range(-STEPS, 0), *range(1, STEPS + 1)):
        runs = "".join(_runs(shade == step, x, y))
        if runs:
            side = "up" if step > 0 else "down"
            inner.append(f'<path class="{side}" opacity="{abs(step) / STEPS * 0.9:.2f}" d="{runs}"/>')
    inner += [text(x(place), TOP + MAP_HEIGHT + 14, words, "mid", 12) for place, words in labels[0]]
    inner += [text(x.start - 6, y(place) + 3.5, words, "end", 18) for place, words in labels[1]]
    below = TOP + MAP_HEIGHT + 32
    inner.append(_axes(x.start, below, *names))
    ends = (signed_in_words(float(end)) for end in (surface.min(), surface.max()))
    inner.append(text(WIDTH - RIGHT, below + 14, f"from {' to '.join(ends)}", "end"))
    return picture(inner, label, height=below + 20)


def _runs(there: AnyArray, x: Axis, y: Axis) -> Iterable[str]:
    """Rectangles that cover the cells of a map where something is so."""
    for j, line in enumerate(there.T):
        ends = np.flatnonzero(np.diff(np.concatenate([[False], line, [False]]).astype(np.int8)))
        for start, end in ends.reshape(-1, 2).tolist():
            wide, tall = x(end) - x(start), y(j) - y(j + 1)
            yield f"M{px(x(start))} {px(y(j + 1))}h{px(wide)}v{px(tall)}h{px(-wide)}z"


def _axes(x: float, y: float, across: str, up: str) -> str:
    """What the axes are, with a wide space between."""
    return f'<text x="{px(x)}" y="{px(y)}">→ {say(across, 28)}&emsp;↑ {say(up, 28)}</text>'


def marks(low: float, high: float, n_cells: int, days: bool) -> list[tuple[float, str]]:
    """Labels of a map's axis of numbers, and where they stand, in cells."""
    axis = Axis(low, high, 0, n_cells)
    return [(axis(value), words) for value, words in axis_labels(low, high, days)]


# -- how good -----------------------------------------------------------------------------------------------


def along(
    x: FloatArray, y: FloatArray, spread: FloatArray | None, label: str, names: tuple[str, str], share: bool
) -> str:
    """Points that should lie on the diagonal: predicted against true, or probabilities against shares.

    `spread` are bars on both sides of a point; `share` says that both axes go from 0 to 1.
    """
    reach = y if spread is None else np.concatenate([y - spread, y + spread])
    low, high = (0.0, 1.0) if share else (float(min(x.min(), reach.min())), float(max(x.max(), reach.max())))
    across, up = Axis(low, high, LEFT + 6, WIDTH - RIGHT), Axis(low, high, BOTTOM, TOP)
    inner = frame(across, up, axis_labels(low, high, False), 16)
    inner.append(path([(across(low), up(low)), (across(high), up(high))], "ideal"))
    for i in range(len(x)):
        at = across(float(x[i]))
        if spread is not None:
            ends = [(at, up(float(y[i] + side * spread[i]))) for side in (-1, 1)]
            inner.append(path(ends, "spread"))
        inner.append(circle(at, up(float(y[i])), "dot c0"))
    inner.append(_axes(LEFT + 6, BOTTOM + 34, *names))
    return picture(inner, label, height=BOTTOM + 42)


def ladder(
    sizes: FloatArray, errors: FloatArray, deviations: FloatArray, chosen: int | None, label: str
) -> str:
    """Errors against the numbers that a person has to read, with standard errors."""
    places = np.log10(np.maximum(sizes, 1.0))
    low, high = float((errors - deviations).min()), float((errors + deviations).max())
    x = Axis(float(places.min()) - 0.05, float(places.max()) + 0.05, LEFT + 6, WIDTH - RIGHT)
    y = Axis(max(0.0, low - 0.08 * (high - low)), high + 0.05 * (high - low), BOTTOM, TOP)
    inner = frame(x, y, ())
    for i, (place, error, deviation) in enumerate(zip(places, errors, deviations, strict=True)):
        at = x(float(place))
        inner.append(path([(at, y(error - deviation)), (at, y(error + deviation))], "spread"))
        kind, r = ("dot chosen", 5.0) if i == chosen else ("dot faint", 3.5)
        inner.append(circle(at, y(error), kind, r))
    written: list[float] = []
    for i in sorted(range(len(places)), key=lambda i: i != chosen):
        at = x(float(places[i]))
        if all(abs(at - other) > 26 for other in written):
            written.append(at)
            inner.append(text(at, BOTTOM + 15, f"{sizes[i]:.0f}", "mid"))
    inner.append(_axes(LEFT + 6, BOTTOM + 33, "numbers to read", "error"))
    return picture(inner, label, height=BOTTOM + 40)


def px(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}".removesuffix(".0")
