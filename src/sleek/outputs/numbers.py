"""Numbers as outputs: centred and brought to unit variance while a model is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.counting import how_many
from sleek._runtime.sums import Sums
from sleek._runtime.types import AnyArray, FloatArray
from sleek._runtime.warn import warn
from sleek.kernels.column_statistics import MOST_SPREAD, ColumnMoments
from sleek.outputs.base import Outputs

LEAST = 1e-140  # of a target's standard deviation: its square, and sums of squares, would vanish
FIELDS = {
    "flat": fields.truth(),
    "mean": fields.array("output"),
    "scale": fields.array("output", above=0),
}


@dataclass(frozen=True, eq=False)
class NumberOutputs(Outputs):
    """Numbers, coded as (y - mean)/scale per column, so that no setting depends on their units.

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

    def encode(self, y: FloatArray) -> FloatArray:
        T: FloatArray = (y - self.mean) / self.scale
        return np.where(np.abs(T) < LEAST, 0.0, T)

    def decode(self, theta: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        return theta * self.scale, b * self.scale + self.mean

    def decode_residuals(self, residuals: FloatArray) -> FloatArray:
        decoded: FloatArray = residuals * self.scale
        return decoded

    @property
    def error_measure(self) -> str:
        return "rmse" if self.n_outputs == 1 else "share of variance"

    def reported_error(self, error: float, standard_error: float = 0.0) -> tuple[float, float]:
        """The RMSE of one number, where the standard error of √v is that of v, divided by the slope 2√v.

        Several numbers have no unit in common: the share of the variance that is not explained.
        """
        if self.n_outputs > 1:
            return error, standard_error
        rmse = float(np.sqrt(error))
        return rmse, standard_error / (2.0 * rmse) if rmse > 0 else 0.0

    def row_errors(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Squared errors in the target's own units; the mean of several, each relative to its variance."""
        if T.shape[1] == 1:
            return self.errors_by_output(T, Y)[:, 0]
        return np.asarray(((T - Y) ** 2).mean(axis=1))

    def errors_by_output(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Squared errors in the targets' own units."""
        squares: FloatArray = ((T - Y) * self.scale) ** 2
        return squares

    def losses(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Squared errors, summed over the outputs, each relative to its variance."""
        errors: FloatArray = np.sum((T - Y) ** 2, axis=1)
        return errors

    def judge(self, y: FloatArray, answers: AnyArray, s: FloatArray) -> NumberScores:
        residuals = y - np.asarray(answers, dtype=np.float64).reshape(y.shape)
        return NumberScores(len(y), ColumnMoments.of(y, s), s @ residuals**2, s @ np.abs(residuals))

    def answer(self, Y: FloatArray) -> AnyArray:
        return self.scores(Y)

    @property
    def words(self) -> tuple[str, ...]:
        return ("y",) if self.flat else tuple(f"y{k}" for k in range(self.n_outputs))

    def describe(self) -> str:
        return "a number" if self.flat else how_many(self.n_outputs, "number")

    def rule(self, target: str, total: str) -> str:
        return f"{target} {'is' if self.n_outputs == 1 else 'are'} {total}"

    def to_json(self) -> dict[str, Any]:
        return {"flat": bool(self.flat), "mean": self.mean.tolist(), "scale": self.scale.tolist()}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_outputs: int) -> Self:
        found = fields.read(block, FIELDS, "outputs", output=n_outputs)
        if found["flat"] and n_outputs > 1:
            raise ValueError(f"`outputs.flat` must be false for {n_outputs} outputs, got true.")
        return cls(found["mean"], found["scale"], found["flat"])

    def __repr__(self) -> str:
        return how_many(self.n_outputs, "output")


@dataclass(frozen=True, eq=False)
class NumberScores(Sums):
    """How many rows there are, the moments of their targets, Σ s(y - ŷ)² and Σ s|y - ŷ| by column.

    >>> y = np.array([[1.0], [2.0], [3.0]])
    >>> scores = NumberOutputs(np.zeros(1), np.ones(1)).judge(y, y[:, 0] + 1.0, np.ones(3))
    >>> scores.rmse, scores.score
    (1.0, -0.5)
    """

    n_rows: int
    moments: ColumnMoments
    squares: FloatArray
    absolute: FloatArray

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
