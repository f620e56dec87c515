"""Effects in words: curves as what they do from one value to the next, pairs by where they are strongest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.counting import plain
from sleek._runtime.types import FloatArray

if TYPE_CHECKING:
    from sleek.model.effects import Curve, Effects, Pair

LEAST_SHARE = 0.005  # of the variance: what has less is not worth a line
LEAST_OF_SEVERAL = 0.02  # if there are several outputs, each with lines of its own
MOST_LINES, MOST_OF_SEVERAL = 12, 6
MOST_LEVELS = 4
TURN = 0.1  # of a curve's range: a smaller turn is not worth a word,
MOST_TURNS = 4  # and if there are more than so many, nor are the smallest of them
FLAT = 0.05  # of a curve's range: an end that changes by less is flat,
LONG = 0.15  # if it has so many of the points


def words_of(effects: Effects) -> str:
    """The sentence, and for every output a line for each curve and pair, largest first."""
    lines = [effects.sentence]
    for k in range(len(effects.mean)):
        table = lines_of(effects, k)
        width = max((len(name) for _, name, _ in table), default=0)
        lines += ["", heading_of(effects, k), *(f"{a:>5}  {b:<{width}}  {c}" for a, b, c in table)]
    return "\n".join([*lines, *omission_lines(effects)])


def heading_of(effects: Effects, output: int) -> str:
    """What an output is without any effect."""
    model = effects.model
    name, target = model.outputs.names[output], model.metadata.get("target")
    if isinstance(target, str) and len(effects.mean) == 1 and model.outputs.reads == "numbers":
        name = model.outputs.scaled(target)
    return f"{plain(name)}: {number_in_words(effects.mean[output])} on average, and"


def lines_of(effects: Effects, output: int) -> list[tuple[str, str, str]]:
    """Share, name and words of the curves and pairs that are worth a line."""
    found, shares = [], effects.shares_of(output)
    for name in _largest_effects(effects, output):
        if isinstance(name, tuple):
            said = pair_in_words(effects.pairs[name], output)
        else:
            said = curve_in_words(effects.curves[name], output)
        title = plain(" × ".join(name) if isinstance(name, tuple) else name)
        found.append((f"{100 * shares[name]:.0f} %", title, said))
    return found


def omission_lines(effects: Effects) -> list[str]:
    """What no line says."""
    rest, said = (
        effects.shares["rest"],
        {name for k in range(len(effects.mean)) for name in _largest_effects(effects, k)},
    )
    unsaid = [share for name, share in effects.shares.items() if name != "rest" and name not in said]
    unsaid = [share for share in unsaid if share > 0]
    found = []
    if sum(unsaid) >= LEAST_SHARE:
        found.append(f"{100 * sum(unsaid):.0f} % are in {len(unsaid)} smaller curves and pairs")
    if rest >= LEAST_SHARE:
        found.append(f"{100 * rest:.0f} % are effects of three columns and more, and of smaller pairs")
    return found


def _largest_effects(effects: Effects, output: int) -> list[Any]:
    """The curves and pairs that are worth a line, the largest first."""
    one = len(effects.mean) == 1
    least, most = (LEAST_SHARE, MOST_LINES) if one else (LEAST_OF_SEVERAL, MOST_OF_SEVERAL)
    return [name for name, share in effects.shares_of(output).items() if share >= least][:most]


def curve_in_words(curve: Curve, output: int = 0) -> str:
    """What a column does to an output.

    >>> from sleek.model.effects import Curve
    >>> y = np.array([[-1.0], [-1.0], [0.0], [2.0], [0.5]])
    >>> print(curve_in_words(Curve("age", [18.0, 30.0, 40.0, 60.0, "(missing)"], y, np.ones(5), 1.0)))
    -1 up to 30, then rises to +2 at 60; missing +0.5
    """
    y = curve.outputs[:, output]
    words = [i for i, value in enumerate(curve.values) if isinstance(value, str)]
    numbers = [i for i in range(len(y)) if i not in set(words)]
    if not numbers:
        return _levels(curve.values, y)
    said = _line([curve.values[i] for i in numbers], y[numbers])
    return "; ".join([said, *(f"{curve.values[i].strip('()')} {signed_in_words(y[i])}" for i in words)])


def pair_in_words(pair: Pair, output: int = 0) -> str:
    """Where two columns together add most and take off most."""
    y = pair.outputs[:, :, output]
    common = y * np.sqrt(np.outer(*pair.weights))  # of two that are as far off, the one that more rows have
    said = []
    for word, place in (("most", np.argmax(common)), ("least", np.argmin(common))):
        a, b = np.unravel_index(place, y.shape)
        places = zip(pair.columns, (pair.values[0][a], pair.values[1][b]), strict=True)
        where = " and ".join(plain(f"{name} {value_in_words(value)}") for name, value in places)
        said.append(f"{word} {signed_in_words(y[a, b])} at {where}")
    return "; ".join(said)


def _levels(values: Sequence[Any], y: FloatArray) -> str:
    """The levels that matter most, from the highest to the lowest."""
    kept = np.argsort(-np.abs(y), kind="stable")[:MOST_LEVELS]
    order = kept[np.argsort(-y[kept], kind="stable")]
    more = [f"{len(y) - MOST_LEVELS} more between"] if len(y) > MOST_LEVELS else []
    return ", ".join([*(f"{plain(value_in_words(values[i]))} {signed_in_words(y[i])}" for i in order), *more])


def _line(values: Sequence[Any], y: FloatArray) -> str:
    """Where a curve is at its first value, and where it has got to at every turn."""
    whole = float(np.ptp(y))
    if whole == 0.0:
        return signed_in_words(y[0])
    moved = np.abs(y - y[0]) > FLAT * whole
    rest = np.abs(y - y[-1]) > FLAT * whole
    first = int(np.argmax(moved)) - 1  # the last place that is still as at the beginning
    last = len(y) - int(np.argmax(rest[::-1]))  # the first that is as at the end
    long = max(1.0, LONG * len(y))
    waits, stays = first >= long, len(y) - 1 - last >= long
    begin = f"up to {value_in_words(values[first])}" if waits else f"at {value_in_words(values[0])}"
    said = f"{signed_in_words(y[0])} {begin}"
    least = TURN
    turns = _turns(y, least * whole)
    while len(turns) > MOST_TURNS + 1:
        least *= 1.25
        turns = _turns(y, least * whole)
    for start, end in pairwise(turns):
        rises, ends = "rises" if y[end] > y[start] else "falls", end == turns[-1] and stays
        said += f", {'then ' if waits and start == 0 else ''}{rises} to {signed_in_words(y[end])} at "
        said += f"{value_in_words(values[last])}, then flat" if ends else value_in_words(values[end])
    return said


def _turns(y: FloatArray, least: float) -> list[int]:
    """The first place, the places where y turns round by more than `least`, and the last."""
    turns, extreme, direction = [0], 0, 0.0
    for i in range(1, len(y)):
        step = y[i] - y[extreme]
        if direction == 0.0:
            if abs(step) > least:
                direction, extreme = np.sign(step), i
        elif step * direction >= 0:
            extreme = i
        elif abs(step) > least:
            turns.append(extreme)
            direction, extreme = -direction, i
    end = len(y) - 1
    if extreme != end and abs(y[end] - y[extreme]) > least:
        turns.append(extreme)
    return [*turns, end if abs(y[end] - y[extreme]) > 0 else extreme] if turns[-1] != end else turns


def value_in_words(value: Any) -> str:
    """A number, a date or a level."""
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if 1000 <= abs(value) < 10_000 else number_in_words(value)  # years have no comma


def number_in_words(value: float) -> str:
    """Three digits, thousands with commas."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.3g}"


def signed_in_words(value: float) -> str:
    """The same, with a plus."""
    return f"{'+' if value >= 0 else ''}{number_in_words(value)}"
