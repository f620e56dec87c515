"""What the page of a report computes with: the model's program in JavaScript, and its effects as numbers.

The program is a printing of the one that every export is. Besides it has `features`, what units are functions
of, and `parts`, the formula of each basis, by which the page evaluates effects exactly as `Effects` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from sleek._runtime.counting import plain
from sleek._runtime.types import FloatArray
from sleek.bases.expansion import Part
from sleek.bases.formula import at, expression
from sleek.calibration.number_calibration import NumberCalibration
from sleek.export.javascript import FUNCTION, JavaScriptPrinter
from sleek.export.translation import put_in, translate
from sleek.model.effect_parts import (
    AdditiveUnits,
    ColumnOfModel,
    ProductUnits,
    SampleAverages,
    SingleColumnUnits,
    UnitGroup,
)
from sleek.model.effects import Effects
from sleek.model.kernel_model import KernelModel
from sleek.report.included_rows import OTHER, IncludedRow
from sleek.report.model_words import target_of
from sleek.report.unit_rules import units_in_words
from sleek.tables.columns import DateColumn, NumberColumn, WordColumn

LEVELS = (0.9, 0.8)  # of intervals: the first that the calibration has rows enough for
PRODUCT, SUM, SINGLE = 0, 1, 2  # how a unit follows from the terms of its columns
LONGEST = 80
SPECIAL: list[tuple[Any, str]] = [(OTHER, "(another)"), (None, "(missing)")]  # values that are no level
MOST_EDITED = 200  # units whose sums are carried by a page


def program_of(model: KernelModel) -> str:
    """An expression in JavaScript: the model as an object of functions.

    A ValueError says why a model cannot be a program.
    """
    return PagePrinter(translate(model, interval_level(model))).object_of(model)


def interval_level(model: KernelModel) -> float | None:
    """The level of the intervals to show; None if the model has none."""
    calibration = model.calibration
    if not isinstance(calibration, NumberCalibration):
        return None
    if any(sizes.labels is not None for sizes in calibration.sizes):
        return None
    most = min(float(sizes.parts[0].levels[-1]) for sizes in calibration.sizes)
    return next((level for level in LEVELS if level <= most), None)


class PagePrinter(JavaScriptPrinter):
    """A JavaScript object instead of a module."""

    def object_of(self, model: KernelModel) -> str:
        """The program with `features` and `parts`."""
        module, vector = self.text(), self.program.features
        exported = re.findall(r"^export (?:const|function) (\w+)", module, flags=re.MULTILINE)
        lines = [
            "const x = read(row);",
            *self.print_steps(self.program.steps_to(vector)),
            f"return {vector};",
        ]
        features = FUNCTION.format(
            about="What units are functions of.", name="features", lines="\n  ".join(lines)
        )
        body = re.sub(r"^export ", "", f"{module}\n{features}", flags=re.MULTILINE)
        parts = ",\n".join(self.part(number, part) for number, part in enumerate(model.parts))
        names = ", ".join([*exported, "features", "theta", "b"])
        return f"(() => {{\n{body}\nconst parts = [{parts}];\nreturn {{ {names}, parts }};\n}})()"

    def part(self, number: int, part: Part) -> str:
        """φ_j = profile(start(j) + Σ_i term(j, i, x_i)); of a basis with layers, the values of all units."""
        formula = part.basis.formula
        if formula is None:
            lines = self.print_steps(self.program.steps_to(f"u_{number}", given=self.program.features))
            return (
                f"{{ size: {len(part)}, values: ({self.program.features}) => "
                f"{{\n  {' '.join(lines)}\n  return u_{number};\n}} }}"
            )
        own = {
            key: at(f"{key}_{number}", *("j", "i")[: array.ndim]) for key, array in part.units.arrays.items()
        }
        start = self.say(put_in(expression(formula.start), own))
        term = self.say(put_in(formula.term, own | {"x": at("x")}))
        profile = self.say(put_in(formula.profile, {"z": at("z")}))
        return (
            f"{{ size: {len(part)}, start: (j) => {start}, term: (j, i, x) => {term}, "
            f"profile: (z) => {profile} }}"
        )


def data_of(model: KernelModel, effects: Effects, rows: Sequence[IncludedRow] = ()) -> dict[str, Any]:
    """What the page has to know besides the model's file, as plain values; a share of 0.5 is 50 %.

    `rows` are those that it shall carry, with their numbers.
    """
    outputs, facts = model.outputs, model.facts
    assert facts is not None  # which effects need
    order = {pair: number for number, pair in enumerate(effects.listed)}
    return {
        "target": _short(target_of(model)),
        "reads": outputs.reads,
        "words": [_short(word) for word in outputs.words],
        "labels": [_short(str(label)) for label in outputs.labels],
        "mean": effects.mean.tolist(),
        "variances": effects.variances.tolist(),
        "spread": np.sqrt(facts.variance).tolist(),
        "level": interval_level(model),
        "columns": [
            _with_values(_column(effects, c), [values[c] for _, values in rows])
            for c in range(len(effects.columns))
        ],
        "rows": [[number, values] for number, values in rows],
        "pairs": [_pair(effects, *pair) for pair in order],
        "units": units_in_words(model),
        "unit_means": _unit_means(effects),
        "order": [
            [column.name for column in effects.columns].index(name)
            for name in effects.shares
            if isinstance(name, str) and name != "rest"
        ],
    }


def is_editable(model: KernelModel, effects: Effects) -> bool:
    """Whether the page can solve the weights again: it has the sums, and effects follow from the weights."""
    memory = model.memory
    closed = not any(isinstance(group, SampleAverages) for group in effects.groups)
    closed = closed and model.outputs.loss.quadratic
    if model.weight_signs() is not None:  # a monotone model, which Python keeps so
        return False
    return closed and memory is not None and memory.n_rows > 0 and 1 < model.n_units <= MOST_EDITED


def _unit_means(effects: Effects) -> list[float] | None:
    """The mean of every unit under the columns' distributions; None if some have no closed form."""
    model = effects.model
    starts = np.concatenate([[0], np.cumsum([len(part) for part in model.parts])])
    found = np.zeros(model.n_units)
    for group in effects.groups:
        places = starts[group.places[:, 0]] + group.places[:, 1]
        if isinstance(group, ProductUnits):
            found[places] = np.exp(group.log_all)
        elif isinstance(group, AdditiveUnits):
            found[places] = group.starts
            for units, mean in zip(group.terms.units, group.means, strict=True):
                found[places[units]] += mean
        else:
            return None
    return found.tolist()


def _short(text: str) -> str:
    """A user's own word, on one line and not too long; the page shows it as text, never as markup."""
    found = plain(text)
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 1]}…"


def _column(effects: Effects, c: int) -> dict[str, Any]:
    column = effects.columns[c]
    kind, place = column.kind, column.place
    found: dict[str, Any] = {
        "name": kind.name if len(kind.name) <= LONGEST else _short(kind.name),
        "shown": _short(kind.name),
        "kind": "number",
        "place": [place.start, place.stop],
        "share": effects.curves[column.name].share,
        "indicator": bool(getattr(kind, "indicator", False)),
        "gap": False,
        "start": _typical(effects, column),
    }
    match kind:
        case WordColumn(levels=levels):
            found |= {"kind": "words", "levels": _levels(column), "n_levels": len(levels)}
        case DateColumn(parts=parts, gaps=gaps):
            found |= {"kind": "date", "gap": gaps, "clock": "hour" in parts}
        case NumberColumn(fill=fill, gaps=gaps):
            found["gap"] = fill is not None and gaps
    units, tables = [], []
    for group in effects.groups:
        if isinstance(group, SampleAverages):
            tables.append(group.curves[c].tolist())
        else:
            units += units_of(group, c)
    scales = [group.scales[c].tolist() for group in effects.groups if isinstance(group, SampleAverages)]
    return found | {"units": units, "tables": tables, "scales": scales[:1]}


def _with_values(column: dict[str, Any], values: list[Any]) -> dict[str, Any]:
    """A column whose control can show these values: other words and gaps that training had none of."""
    if column["kind"] != "words":
        return column | {"gap": column["gap"] or None in values}
    there = {level["value"] for level in column["levels"]}
    more = [(value, shown) for value, shown in SPECIAL if value in values and value not in there]
    extra = [{"value": value, "shown": shown, "share": 0.0} for value, shown in more]
    return column | {"levels": [*column["levels"], *extra]}


def _levels(column: ColumnOfModel) -> list[dict[str, Any]]:
    """What there is to choose: the levels with their shares, any other word, a gap."""
    kind = column.kind
    assert isinstance(kind, WordColumn)
    shares = {
        tuple(point): weight for point, weight in zip(column.points.tolist(), column.weights, strict=True)
    }
    values: list[tuple[Any, str]] = [(level, _short(level)) for level in kind.levels]
    if kind.knows_others:
        values.append(SPECIAL[0])
    if kind.knows_gaps:
        values.append(SPECIAL[1])
    lines = [*range(len(kind.levels))]
    lines += [len(kind.levels)] * kind.knows_others + [len(kind.levels) + 1] * kind.knows_gaps
    return [
        {"value": value, "shown": shown, "share": float(shares.get(tuple(kind.table[line].tolist()), 0.0))}
        for (value, shown), line in zip(values, lines, strict=True)
    ]


def _typical(effects: Effects, column: ColumnOfModel) -> Any:
    """What a column has in the row that the page begins with: the most common level, the median."""
    match column.kind:
        case WordColumn():
            levels = _levels(column)
            return max(range(len(levels)), key=lambda i: levels[i]["share"])
        case NumberColumn(fill=float(fill)) | DateColumn(fill=float(fill)):
            return float(fill)
    facts = effects.model.facts
    if facts is not None and facts.typical is not None:
        return float(facts.typical[column.place.start])
    return float(column.points[int(np.searchsorted(np.cumsum(column.weights), 0.5)), 0])


@singledispatch
def units_of(group: UnitGroup, c: int) -> list[list[Any]]:
    """The units that look at a column: part, number, kind, mean, and what times θ they weigh in its curve."""
    raise TypeError(f"Units of the kind {type(group).__name__} have no closed form.")


@units_of.register
def _(group: ProductUnits, c: int) -> list[list[Any]]:
    units = group.terms.units[c]
    others = np.exp(group.log_all[units] - group.log_means[c])
    return _entries(group, units, PRODUCT, np.exp(group.log_means[c]), others)


@units_of.register
def _(group: AdditiveUnits, c: int) -> list[list[Any]]:
    units = group.terms.units[c]
    return _entries(group, units, SUM, group.means[c], np.ones(len(units)))


@units_of.register
def _(group: SingleColumnUnits, c: int) -> list[list[Any]]:
    units = group.terms.units[c]
    return _entries(group, units, SINGLE, group.means[c], np.ones(len(units)))


def _entries(
    group: UnitGroup, units: Any, kind: int, means: FloatArray, factors: FloatArray
) -> list[list[Any]]:
    places = group.places[units].tolist()
    return [
        [*place, kind, mean, factor]
        for place, mean, factor in zip(places, means.tolist(), factors.tolist(), strict=True)
    ]


def _pair(effects: Effects, c: int, d: int) -> dict[str, Any]:
    """Units of both columns, by their places among those of each, and what times θ they weigh; or tables."""
    names = effects.columns[c].name, effects.columns[d].name
    found: dict[str, Any] = {
        "columns": [c, d],
        "share": effects.pairs[names].share,
        "units": [],
        "tables": [],
    }
    before = [0, 0]
    for group in effects.groups:
        if isinstance(group, SampleAverages):
            f = group.tabulated(c, d)
            one, two = group.coarse[c][0].tolist(), group.coarse[d][0].tolist()
            found["tables"].append({"one": one, "two": two, "f": f.tolist()})
            continue
        if isinstance(group, ProductUnits):
            one, two = group.terms.units[c], group.terms.units[d]
            units, a, b = np.intersect1d(one, two, return_indices=True)
            others = np.exp(group.log_all[units] - group.log_means[c][a] - group.log_means[d][b])
            found["units"] += [
                [i + before[0], j + before[1], factor]
                for i, j, factor in zip(a.tolist(), b.tolist(), others.tolist(), strict=True)
            ]
        if isinstance(group, ProductUnits | AdditiveUnits):
            before = [before[0] + len(group.terms.units[c]), before[1] + len(group.terms.units[d])]
    return found
