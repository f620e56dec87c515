"""Translation of a model into a program: inputs, features, units, outputs, probabilities, intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sleek import __version__
from sleek._runtime.types import FloatArray
from sleek.bases.expansion import Expansion, Part
from sleek.bases.formula import (
    Expression,
    Formula,
    at,
    equal,
    exp,
    expression,
    floor,
    is_missing,
    layer_values,
    maximum,
    minimum,
    sqrt,
    where,
)
from sleek.calibration.monotone import TAIL, MonotoneCalibrator
from sleek.calibration.noise import Noise
from sleek.calibration.quantiles import check_level
from sleek.export.program import Code, Each, Input, Joined, Largest, Listed, Pick, Program, Step, Total
from sleek.model.kernel_model import KernelModel
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.numbers import NumberOutputs
from sleek.tables.columns import CategoryColumn, DateColumn, NumberColumn, WordColumn
from sleek.tables.dates import YEAR
from sleek.tables.values import TRUTHS


def translate(model: KernelModel, interval: float | None = None) -> Program:
    """The model's program; with the ends of intervals at a level, if one is given.

    >>> from sleek import LowRankLSSVR
    >>> from sleek.datasets import make_ripley
    >>> X, _ = make_ripley(50, random_state=0)
    >>> program = translate(LowRankLSSVR(3, basis="box", C=1.0, random_state=0).fit(X, X[:, 0]).model_)
    >>> [step.name for step in program.steps], program.outputs
    (['z_0', 'u_0', 'y'], {'scores': 'y'})
    """
    return _Translation(model, interval).program()


class _Translation:
    """Steps and constants, as they are written down."""

    def __init__(self, model: KernelModel, interval: float | None) -> None:
        self.model, self.level = model, None if interval is None else check_level(interval)
        self.answers = "y"  # what is predicted, if it is a number
        self.steps: list[Step] = []
        self.constants: dict[str, FloatArray] = {}

    def program(self) -> Program:
        labels, alone = _answer(self.model)
        inputs, features = self.features()
        units = self.units(self.model.expansion, features)
        self.weigh("y", units, self.model.theta, self.model.b)
        self.answers = "y"
        if self.model.outputs.link == "log":
            self.each("mean", len(self.model.b), exp(at("y", "j")))
            self.answers = "mean"
        outputs = {"scores": self.answers}
        if labels:
            outputs["choice"] = "y"
            if len(labels) == 2:
                outputs["choice"] = self.add(Listed("sides", (-at("y", 0), at("y", 0))))
            calibrator = _calibrator(self.model)
            if calibrator is not None:
                outputs["probabilities"] = self.probabilities(calibrator, outputs["choice"], len(labels))
        if self.level is not None:
            outputs["interval"] = self.interval(features, units, self.level)
        return Program(
            title=f"A kernel machine of {self.model.expansion}, written by sleek {__version__}.",
            inputs=inputs,
            table=self.model.inputs is not None,
            constants=self.constants,
            steps=tuple(self.steps),
            outputs=outputs,
            labels=labels,
            alone=alone,
            level=self.level,
            features=features,
        )

    def add(self, step: Step) -> str:
        self.steps.append(step)
        return step.name

    def constant(self, name: str, array: Any) -> str:
        self.constants[name] = np.asarray(array, dtype=np.float64)
        return name

    def each(self, name: str, size: int, value: Expression) -> Expression:
        return at(self.add(Each(name, size, value)), "j")

    def join(self, name: str, parts: list[str]) -> str:
        if len(parts) == 1:
            return parts[0]
        sizes = {step.name: step.size for step in self.steps}
        return self.add(Joined(name, tuple(parts), tuple(sizes[part] for part in parts)))

    def weigh(self, name: str, units: str, weights: FloatArray, start: FloatArray) -> str:
        """name[k] = start[k] + Σ_j weights[j, k]·units[j]."""
        words = {"y": ("theta", "b")}.get(name, (f"{name}_weights", f"{name}_constant"))
        factors, begin = self.constant(words[0], weights.T), self.constant(words[1], start)
        m, k = weights.shape
        return self.add(Total(name, k, m, at(factors, "j", "i") * at(units, "i"), at(begin, "j")))

    # -- what goes in ---------------------------------------------------------------------------------------

    def features(self) -> tuple[tuple[Input, ...], str]:
        """The inputs, and the vector of features."""
        if self.model.inputs is None:
            return tuple(Input(name) for name in self.model.names_of_features), "x"
        columns = self.model.inputs.columns
        dates = [k for k, column in enumerate(columns) if isinstance(column, DateColumn)]
        if dates:
            self.add(Listed("days", tuple(_fill(k, columns[k].fill) for k in dates)))  # type: ignore[attr-defined]
        inputs, parts, numbers = list[Input](), list[str](), list[Expression]()

        def finish() -> None:
            if numbers:
                parts.append(self.add(Listed(f"numbers_{len(parts)}", tuple(numbers))))
                numbers.clear()

        for k, column in enumerate(columns):
            match column:
                case NumberColumn():
                    numbers.append(_fill(k, column.fill))
                    inputs.append(Input(column.name, "number" if column.fill is None else "optional"))
                case DateColumn():
                    day = at("days", dates.index(k))
                    numbers.extend(_calendar_part(part, day) for part in column.parts)
                    inputs.append(Input(column.name, "date", order=column.order))
                case WordColumn():
                    finish()
                    parts.append(self.words(k, column))
                    inputs.append(Input(column.name, "text", column.levels))
                case _:
                    raise ValueError(f"A column of type {type(column).__name__} cannot be exported.")
            if isinstance(column, NumberColumn | DateColumn) and column.indicator:
                numbers.append(is_missing(at("x", k)))
        finish()
        return tuple(inputs), self.join("features", parts)

    def words(self, k: int, column: WordColumn) -> str:
        """The features of a category."""
        levels = {level: line for line, level in enumerate(column.levels)}
        if set(levels) <= {"false", "true"}:  # however they are written
            levels |= {word: levels[word.lower()] for word in TRUTHS if word.lower() in levels}
        other = len(column.levels)
        code = self.add(Code(f"code_{k}", k, tuple(levels.items()), other, other + 1))
        if not isinstance(column, CategoryColumn):
            table = self.constant(f"table_{k}", column.table)
            return self.add(Pick(f"level_{k}", table, code, column.table.shape[1]))
        lines = [*range(other), *([other] if column.other else []), *([other + 1] if column.gap else [])]
        known = self.constant(f"lines_{k}", lines)
        return self.add(Each(f"is_{k}", len(lines), equal(at(code, 0), at(known, "j"))))

    # -- units ----------------------------------------------------------------------------------------------

    def units(self, expansion: Expansion, features: str, prefix: str = "") -> str:
        """The vector of all units' values."""
        parts = [
            self.part(part, features, f"{prefix}{number}") for number, part in enumerate(expansion.parts)
        ]
        return self.join(f"{prefix}u", parts)

    def part(self, part: Part, features: str, number: str) -> str:
        """The values of one part's units."""
        d = self.model.n_features
        layers, values, over = _layers(part, d), features, d
        for k, formula in enumerate(layers, start=1):
            last = k == len(layers)
            arrays = formula.of(part.units)
            own = {
                key: at(self.constant(f"{key}_{number}", array), *("j", "i")[: array.ndim])
                for key, array in arrays.items()
            }
            size = len(next(iter(arrays.values())))
            start = put_in(expression(formula.start), own)
            term = put_in(formula.term, own | {"x": at(values, "i")})
            z = self.add(Total(f"z_{number}" if last else f"z_{number}_{k}", size, over, term, start))
            name = f"u_{number}" if last else f"h_{number}_{k}"
            values, over = self.add(Each(name, size, put_in(formula.profile, {"z": at(z, "j")}))), size
        return values

    # -- how sure -------------------------------------------------------------------------------------------

    def probabilities(self, calibrator: MonotoneCalibrator, scores: str, n: int) -> str:
        """exp g over their sum, as `sleek.calibration.monotone` defines g of the scores."""
        low, before, after, high = calibrator.slopes.tolist()
        v = self.each("share", n, at(scores, "j") / calibrator.scale)
        u = self.each("inner", n, maximum(minimum(v, 1.0), -1.0))
        beyond = self.each("beyond", n, v - u)
        bend = self.each("bend", n, (0.5 * u) * abs(u))  # u²/2 with the sign of u
        far = self.each("far", n, bend + (TAIL * beyond) / (abs(beyond) + 1.0))
        near = u - bend
        g = self.each(
            "log_odds",
            n,
            low * minimum(far, 0.0)
            + before * minimum(near, 0.0)
            + after * maximum(near, 0.0)
            + high * maximum(far, 0.0),
        )
        self.add(Largest("most", "log_odds"))
        odds = self.each("odds", n, exp(g - at("most", 0)))
        self.add(Total("whole", 1, n, at("odds", "i")))
        self.each("probabilities", n, odds / at("whole", 0))
        return "probabilities"

    def sizes(self, noise: Sequence[Noise], features: str, units: str) -> str:
        """The logarithm of how large residuals are: a constant, or a sum over units or parts of their own."""
        m, several = self.model.n_units, list[str]()
        weights = [np.zeros(m) if one.weights is None else one.weights for one in noise]
        constants = np.array([one.constant for one in noise])
        own = [one.parts if one.weights is not None else None for one in noise]
        if own == [None] * len(noise):
            return self.weigh("size", units, np.column_stack(weights), constants)
        for k, parts in enumerate(own):
            values = units if parts is None else self.units(parts, features, f"size_{k}_")
            several.append(self.weigh(f"size_{k}", values, weights[k][:, None], constants[k : k + 1]))
        return self.join("size", several)

    def interval(self, features: str, units: str, level: float) -> str:
        """ŷ ± half·exp(clip(size, low, high))·√(1 + h) of each output."""
        calibration, k = self.model.uncertainty.number_calibration, len(self.model.b)
        if any(sizes.labels is not None for sizes in calibration.sizes):
            raise ValueError(
                "Intervals of a model that was calibrated for groups of rows cannot be exported: rows come "
                "without groups there. Call conformalize without groups, or export without intervals."
            )
        noise, size = calibration.noise, at(self.sizes(calibration.noise, features, units), "j")
        low, high, half = (
            at(self.constant(name, array), "j")
            for name, array in (
                ("size_low", [one.low for one in noise]),
                ("size_high", [one.high for one in noise]),
                ("half_width", [sizes.parts[0].at_least(level) for sizes in calibration.sizes]),
            )
        )
        width = half * exp(maximum(minimum(size, high), low))
        leverage = calibration.leverage
        if leverage is not None:
            m = self.model.n_units
            factor = at(self.constant("leverage", leverage.factor), "j", "i")
            center = at(self.constant("leverage_center", leverage.center), "j")
            self.add(Total("away", m, m, factor * at(units, "i"), -center, triangle=True))
            self.add(
                Total("wider", 1, m, at("away", "i") * at("away", "i"), expression(1.0 + leverage.least))
            )
            width = width * sqrt(at("wider", 0))
        self.each("half", k, width)
        ends, least = list[Expression](), self.model.outputs.least
        for i in range(k):
            middle, half = at(self.answers, i), at("half", i)
            ends += [middle - half, middle + half]
        if np.isfinite(least):
            ends = [maximum(end, least) for end in ends]
        return self.add(Listed("ends", tuple(ends)))


def put_in(what: Expression, known: Mapping[str, Expression]) -> Expression:
    """An expression with others in the place of names."""
    return what.replace(lambda leaf: known[leaf] if isinstance(leaf, str) else expression(leaf))


def _fill(k: int, fill: float | None) -> Expression:
    """An input, or the number that a missing one is taken for."""
    value = at("x", k)
    return value if fill is None else where(is_missing(value), fill, value)


def _calendar_part(part: str, day: Expression) -> Expression:
    """As `sleek.tables.dates` defines it."""
    match part:
        case "season":
            return day - YEAR * floor(day / YEAR)
        case "weekday":
            return (floor(day) + 3.0) - 7.0 * floor((floor(day) + 3.0) / 7.0)
        case "hour":
            return 24.0 * (day - floor(day))
    return day


def _answer(model: KernelModel) -> tuple[tuple[Any, ...], bool]:
    """The labels of classes, and whether a number stands alone: the one place where exporters ask.

    A kind of outputs that derives from another may answer differently, and is not taken for it.
    """
    outputs = model.outputs
    if type(outputs) not in (ClassOutputs, NumberOutputs):
        raise ValueError(
            f"A model with outputs of the kind {outputs.kind!r} cannot be exported: exporters know what "
            f"{ClassOutputs.kind!r} and {NumberOutputs.kind!r} mean."
        )
    return outputs.labels, outputs.flat and not outputs.labels


def _calibrator(model: KernelModel) -> MonotoneCalibrator | None:
    """How a classifier's outputs become probabilities; None if it has no calibration."""
    if model.calibration is None:
        return None
    calibrator = model.uncertainty.class_calibration.calibrator
    if not isinstance(calibrator, MonotoneCalibrator):
        raise ValueError(
            f"A model whose probabilities are made by {type(calibrator).__name__} cannot be "
            "exported, since it decides by them: fit with calibrator=None."
        )
    return calibrator


def _layers(part: Part, d: int) -> tuple[Formula, ...]:
    """The basis as formulas, once they have been seen to agree with what the basis computes."""
    basis, layers = part.basis, part.basis.layers
    axes = {parameter.name: parameter.axes for parameter in basis.parameters}
    known, before = dict[tuple[str, ...], None](), "feature"
    for formula in layers:
        after = next((axes[name][0] for name in formula.of(part.units)), "unit")
        known |= {(after, before): None, (after,): None}
        before = after
    for name, own in axes.items():
        if layers and own not in known:
            raise ValueError(
                f"The basis {basis.name!r} has numbers {name!r} for each {_listed(own)}, so a model of it "
                "cannot be exported: formulas speak of numbers for each "
                f"{' or '.join(_listed(one) for one in known)}."
            )
    if not layers:
        raise ValueError(
            f"The basis {basis.name!r} has no formula, so a model of it cannot be exported: give "
            f"{type(basis).__name__} a class attribute `formula` (see sleek.bases.formula)."
        )
    points = [array for array in part.units.arrays.values() if array.shape[1:] == (d,)]
    rows = np.concatenate([np.zeros((1, d)), *points])
    with np.errstate(all="ignore"):  # far away units overflow on their way to 0
        stated, computed = layer_values(layers, rows, part.units)[-1], part.features(rows)
    if not np.allclose(stated, computed, rtol=1e-6, atol=1e-9, equal_nan=True):
        raise ValueError(
            f"The formula of the basis {basis.name!r} is not what its features compute, so a model of it "
            f"cannot be exported: correct `formula` of {type(basis).__name__}, or its `layers`."
        )
    return layers


def _listed(axes: tuple[str, ...]) -> str:
    return f"({', '.join(axes)})"
