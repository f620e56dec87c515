"""Numbers as outputs: centred and brought to unit variance while a model is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.counting import how_many
from sleek._runtime.sums import Sums
from sleek._runtime.types import AnyArray, FloatArray
from sleek._runtime.warn import warn
from sleek.kernels.column_statistics import MOST_SPREAD, ColumnMoments
from sleek.outputs.base import Outputs
from sleek.outputs.loss import SQUARED, Loss
from sleek.outputs.number_losses import FAR_ERROR, NumberLoss, TargetSurvey, loss_from_json

LEAST = 1e-140  # of a target's standard deviation: its square, and sums of squares, would vanish
FIELDS = {
    "flat": fields.truth(),
    "mean": fields.array("output"),
    "scale": fields.array("output", above=0),
    "loss": fields.optional(fields.anything()),  # squared without it
}


@dataclass(frozen=True, eq=False)
class NumbersBy:
    """Numbers that are fitted by a loss which has to know more of them than mean and variance."""

    loss: NumberLoss

    reads: ClassVar[str] = "numbers"

    def survey(self, y: FloatArray, s: FloatArray, /) -> TargetSurvey:
        """Statistics of some rows' targets, which must be such as the loss is for."""
        return self.loss.survey(y, s)

    def learn(self, survey: TargetSurvey, flat: bool) -> NumberOutputs:
        """The outputs for all rows, for least squares to begin with."""
        NumberOutputs.learn(survey.moments, flat)  # what is too large is refused
        loss = self.loss.learn(survey)
        return NumberOutputs(np.array([loss.mean]), np.array([loss.scale]), flat, wanted=loss)


@dataclass(frozen=True, eq=False)
class NumberOutputs(Outputs):
    """Numbers, coded as (y - mean)/scale per column, so that no setting depends on their units.

    Those of another loss than the squared one are coded as it says (`NumberLoss`), and `wanted`; a fit begins
    with least squares, and ends with that loss as `loss`.

    Examples
    --------
    >>> y = np.array([[1.0], [3.0]])
    >>> outputs = NumberOutputs.learn(NumberOutputs.survey(y, np.ones(2)), flat=True)
    >>> outputs.encode(y), outputs.answer(np.array([[2.0]]))
    (array([[-1.], [ 1.]]), array([2.]))
    """

    mean: FloatArray  # (k,)
    scale: FloatArray  # (k,)
    one_dimensional: bool = True
    loss: Loss = SQUARED
    wanted: NumberLoss | None = None

    kind: ClassVar[str] = "numbers"
    reads: ClassVar[str] = "numbers"

    @classmethod
    def survey(cls, y: FloatArray, s: FloatArray) -> ColumnMoments:
        return ColumnMoments.of(y, s)

    @classmethod
    def learn(cls, survey: ColumnMoments, flat: bool) -> Self:
        """A constant column keeps scale 1."""
        spread = survey.spread()
        bad = np.flatnonzero(~np.isfinite(spread))
        if len(bad) and survey.high[bad[0]] - survey.low[bad[0]] < MOST_SPREAD:
            raise ValueError(
                f"Weights are too large for float64 arithmetic: times squares of target number {bad[0]} they "
                "overflow. Divide them by their largest."
            )
        if len(bad):
            raise ValueError(
                f"Values of target number {bad[0]} are too large for float64 arithmetic (their squares "
                "overflow). Express it in larger units."
            )
        lost = np.flatnonzero((spread == 0) & (survey.high > survey.low))
        if len(lost):
            low, high = (float(ends[lost[0]]) for ends in (survey.low, survey.high))
            warn(
                f"Target number {lost[0]} varies by too little for float64, from {low!r} to {high!r}, and is "
                "taken for constant: subtract what is common to all rows, or express it in smaller units.",
            )
        return cls(survey.mean, np.where(spread > 0, spread, 1.0), flat)

    @property
    def n_outputs(self) -> int:
        return len(self.mean)

    @property
    def flat(self) -> bool:
        return self.one_dimensional

    def refinement(
        self, residuals: FloatArray | None = None, s: FloatArray | None = None
    ) -> NumberOutputs | None:
        """Outputs of the loss that is wanted."""
        if self.wanted is None:
            return None
        known = residuals is not None and s is not None
        loss = self.wanted.after(residuals, s) if known else self.wanted  # type: ignore[arg-type]
        return replace(self, loss=loss, wanted=loss)

    def with_loss(self, loss: Loss) -> Outputs:
        if self.wanted is None or not isinstance(loss, NumberLoss) or loss.name != self.wanted.name:
            return super().with_loss(loss)
        same = replace(self.wanted, **{name: getattr(loss, name) for name in (*loss.settings, *loss.found)})
        return replace(self, loss=same, wanted=same)

    @property
    def _final(self) -> NumberLoss | None:
        """The loss, if it is not the squared one."""
        return self.wanted if self.loss is self.wanted else None

    @property
    def resists(self) -> bool:
        """Least squares are but a beginning, and some targets may be gross errors."""
        return self.wanted is not None and self.wanted.resists and self.loss.quadratic

    def encode(self, y: FloatArray) -> FloatArray:
        if self.wanted is not None:
            self.wanted.check(y)
            return self.wanted.encode_targets(y)
        T: FloatArray = (y - self.mean) / self.scale
        return np.where(np.abs(T) < LEAST, 0.0, T)

    def decode(self, theta: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.wanted is not None:
            return theta * self.wanted.raw_factor, b * self.wanted.raw_factor + self.wanted.raw_constant
        return theta * self.scale, b * self.scale + self.mean

    def left_out(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        loss = self._final
        if loss is not None:
            return loss.targets_of(T) - loss.predictions(loss.raw(Y))
        decoded: FloatArray = (T - Y) * self.scale
        return decoded

    @property
    def error_measure(self) -> str:
        if self.wanted is not None:
            return "deviance"
        return "rmse" if self.n_outputs == 1 else "share of variance"

    def reported_error(self, error: float, standard_error: float = 0.0) -> tuple[float, float]:
        """The RMSE of one number, where the standard error of √v is that of v, divided by the slope 2√v.

        Several numbers have no unit in common: the share of the variance that is not explained. Another loss
        than the squared one has its deviance as it is.
        """
        if self.n_outputs > 1 or self.wanted is not None:
            return error, standard_error
        rmse = float(np.sqrt(error))
        return rmse, standard_error / (2.0 * rmse) if rmse > 0 else 0.0

    def predictions(self, Y: FloatArray) -> FloatArray:
        return Y if self._final is None else self._final.predictions(Y)

    @property
    def link(self) -> str:
        return "identity" if self._final is None else self._final.link

    @property
    def least(self) -> float:
        return -np.inf if self._final is None else self._final.least

    def null_errors(self, T: FloatArray, s: FloatArray) -> FloatArray | None:
        loss = self._final
        if loss is None:
            return None
        y = loss.targets_of(T)[:, 0]
        errors = loss.deviance(y, np.full(len(y), loss.best_constant(y, s)))
        return np.array([np.average(errors, weights=s)])

    def row_errors(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Squared errors in the target's own units; the mean of several, each relative to its variance.

        Another loss has its deviance instead.
        """
        if T.shape[1] == 1:
            return self.errors_by_output(T, Y)[:, 0]
        return np.asarray(((T - Y) ** 2).mean(axis=1))

    def errors_by_output(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Squared errors in the targets' own units, or deviances."""
        loss = self._final
        if loss is not None:
            return loss.deviance(loss.targets_of(T), loss.predictions(loss.raw(Y)))
        squares: FloatArray = ((T - Y) * self.scale) ** 2
        return squares

    def losses(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Squared errors, summed over the outputs, each relative to its variance; or deviances."""
        loss = self._final
        if loss is not None:
            return loss.judged(loss.targets_of(T), loss.predictions(loss.raw(Y)))[:, 0]
        if self.resists:
            return np.minimum(np.abs(T - Y)[:, 0], FAR_ERROR)
        errors: FloatArray = np.sum((T - Y) ** 2, axis=1)
        return errors

    def judge(self, y: FloatArray, answers: AnyArray, s: FloatArray) -> NumberScores:
        residuals = y - np.asarray(answers, dtype=np.float64).reshape(y.shape)
        found = NumberScores(len(y), ColumnMoments.of(y, s), s @ residuals**2, s @ np.abs(residuals))
        if self._final is None:
            return found
        deviance = self._final.deviance(y, y - residuals)
        return replace(found, deviances=float(s @ deviance[:, 0]))

    def answer(self, Y: FloatArray) -> AnyArray:
        return self.scores(self.predictions(Y))

    @property
    def words(self) -> tuple[str, ...]:
        return ("y",) if self.flat else tuple(f"y{k}" for k in range(self.n_outputs))

    def describe(self) -> str:
        said = "a number" if self.flat else how_many(self.n_outputs, "number")
        return said if self.wanted is None else f"{said} by the {self.wanted.deviance_name}"

    def rule(self, target: str, total: str) -> str:
        if self._final is not None and self._final.link == "log":
            return f"{target} is e to the power of {total}"
        return f"{target} {'is' if self.n_outputs == 1 else 'are'} {total}"

    def to_json(self) -> dict[str, Any]:
        block = {"flat": bool(self.flat), "mean": self.mean.tolist(), "scale": self.scale.tolist()}
        return block if self.wanted is None else {**block, "loss": self.wanted.to_json()}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_outputs: int) -> Self:
        found = fields.read(block, FIELDS, "outputs", output=n_outputs)
        if found["flat"] and n_outputs > 1:
            raise ValueError(f"`outputs.flat` must be false for {n_outputs} outputs, got true.")
        if found["loss"] is None:
            return cls(found["mean"], found["scale"], found["flat"])
        if n_outputs > 1:
            raise ValueError(f"`outputs.loss` is for one output, and there are {n_outputs}.")
        loss = loss_from_json(found["loss"], float(found["mean"][0]), float(found["scale"][0]))
        return cls(found["mean"], found["scale"], found["flat"], loss, loss)

    def __repr__(self) -> str:
        return how_many(self.n_outputs, "output")


@dataclass(frozen=True, eq=False)
class NumberScores(Sums):
    """How many rows there are, the moments of their targets, Σ s(y - ŷ)² and Σ s|y - ŷ| by column, deviances.

    >>> y = np.array([[1.0], [2.0], [3.0]])
    >>> scores = NumberOutputs(np.zeros(1), np.ones(1)).judge(y, y[:, 0] + 1.0, np.ones(3))
    >>> scores.rmse, scores.score
    (1.0, -0.5)
    """

    n_rows: int
    moments: ColumnMoments
    squares: FloatArray
    absolute: FloatArray
    deviances: float = 0.0  # Σ s·deviance, of another loss than the squared one

    @property
    def deviance(self) -> float:
        """The mean deviance."""
        return float(self.deviances / self.moments.weight)

    @property
    def rmse(self) -> float:
        """The root mean squared error, over all columns."""
        return float(np.sqrt(np.mean(self.squares) / self.moments.weight))

    @property
    def mae(self) -> float:
        """The mean absolute error, over all columns."""
        return float(np.mean(self.absolute) / self.moments.weight)

    @property
    def score(self) -> float:
        """R² = 1 - Σ s(y - ŷ)² / Σ s(y - ȳ)², the mean of it over several targets, as scikit-learn has it.

        A constant target counts 1 if it was predicted exactly, else 0.
        """
        if self.n_rows < 2:
            raise ValueError(f"R² needs at least 2 rows of positive weight, got {self.n_rows}.")
        spread = self.moments.squares
        ratios = np.divide(self.squares, spread, out=np.where(self.squares > 0, 1.0, 0.0), where=spread > 0)
        return float(np.mean(1.0 - ratios))
