"""A warning when a single row makes up most of a target's variation: squared errors will follow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray
from sleek._runtime.warn import warn
from sleek.kernels.column_statistics import ColumnMoments
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.rows.weights import WeightSurvey, in_units

OUTLIER_SHARE = 0.9  # of a target's variance, made up by one row
FEW_ROWS = 10  # in which one may well do so


@dataclass(frozen=True, eq=False)
class _Extremes:
    """The row of each target with the largest s(y - mean)²: this square, its value, its place."""

    squares: FloatArray
    values: FloatArray
    places: list[Any]

    def __add__(self, other: _Extremes) -> _Extremes:
        larger = other.squares > self.squares
        return _Extremes(
            np.where(larger, other.squares, self.squares),
            np.where(larger, other.values, self.values),
            [b if chosen else a for a, b, chosen in zip(self.places, other.places, larger, strict=True)],
        )


def warn_of_outlier_targets(
    rows: Rows, moments: ColumnMoments, weights: WeightSurvey, unit: float, run: Run
) -> None:
    """Look for such a row, in one pass over the targets, if range and largest weight leave room for one.

    Moments and survey are those of weights in units of `unit`.
    """
    furthest = np.maximum(moments.high - moments.mean, moments.mean - moments.low)
    with np.errstate(over="ignore"):
        possible = weights.heaviest * furthest**2 > OUTLIER_SHARE * moments.squares
    if weights.n_rows <= FEW_ROWS or not (possible & (moments.squares > 0)).any():
        return

    def task(block: RawBlock) -> _Extremes:
        with np.errstate(over="ignore"):  # of another target, which will be refused
            squares = in_units(block.s, unit)[:, None] * (block.y - moments.mean) ** 2
        most, outputs = squares.argmax(axis=0), np.arange(squares.shape[1])
        places = [block.words(int(row)) for row in most]
        return _Extremes(squares[most, outputs], block.y[most, outputs], places)

    extremes = rows.map_reduce(task, run, reads="numbers", features=False)
    shares = np.zeros_like(moments.squares)
    told = (moments.squares > 0) & np.isfinite(moments.squares)
    np.divide(extremes.squares, moments.squares, out=shares, where=told)
    worst = int(shares.argmax())
    if shares[worst] > OUTLIER_SHARE:
        place = str(extremes.places[worst])
        place = place[0].upper() + place[1:]
        warn(
            f"{place}, {extremes.values[worst]:.6g}, makes up {100 * shares[worst]:.0f} % of the target's "
            "variance, and squared errors will follow it. Check it, clip it, or give it a small weight.",
        )
