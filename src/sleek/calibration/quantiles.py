"""Quantiles of errors of held-out rows that bound the error of a new row with a given probability.

Of n + 1 numbers in random order the last is not above the i-th smallest of the others with a probability of
at least i/(n + 1), whatever their distribution. (Split conformal prediction is this, for any number that says
how badly a row fits.) So the bound for a level is the smallest number with i/(n + 1) ≥ level. Of n numbers
only those are kept that a grid of levels asks for; for a level in between the next larger one is taken,
which errs on the safe side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.json_values import ModelFileError
from sleek._runtime.types import FloatArray

# Levels that are answered exactly: of sizes, where large ones are asked for,
LEVELS = np.array(
    [*np.arange(1, 5) / 10, *np.arange(20, 36) / 40, *np.arange(90, 100) / 100, 0.995, 0.9975, 0.999]
)
# and of numbers of both signs, between which lines are drawn.
BOTH_ENDS = np.array(
    [0.001, 0.0025, 0.005, 0.01, 0.025, *np.arange(1, 20) / 20, 0.975, 0.99, 0.995, 0.9975, 0.999]
)
ROUNDING = 1e-9  # 0.9·(n + 1) must not become i + 1 by rounding


FIELDS = {
    "n": fields.number(above=0),
    "levels": fields.array("level", above=0),
    "values": fields.array("level"),
}


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Numbers, and for each the share of new rows that do not exceed it.

    >>> found = Quantiles.of(np.arange(1.0, 20.0), np.ones(19))
    >>> found.at_least(0.9), found.at_least(0.95), found.n
    (18.0, 19.0, 19.0)
    """

    n: float  # how many observations they come from
    levels: FloatArray  # increasing
    values: FloatArray  # not decreasing

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray, grid: FloatArray = LEVELS) -> Self:
        """The quantiles of some rows' numbers, each as many observations as it weighs."""
        order = np.argsort(values, kind="stable")
        n = float(weights.sum())
        levels = np.cumsum(weights[order]) / (n + 1.0)
        places = np.searchsorted(levels, grid - ROUNDING)
        kept = np.unique(np.append(places[places < len(order)], len(order) - 1)) if len(order) else places[:0]
        return cls(n, levels[kept], np.asarray(values, dtype=np.float64)[order][kept])

    def at_least(self, level: float, of: str = "") -> float:
        """The smallest number kept that is not exceeded in at least this share of new rows."""
        place = int(np.searchsorted(self.levels, level - ROUNDING))
        if place == len(self.levels):
            raise ValueError(too_few(level, self.n, of))
        return float(self.values[place])

    def between(self, level: float) -> float:
        """The number at a level, straight between those kept; beyond all of them the last."""
        return float(np.interp(level, self.levels, self.values))

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {"n": self.n, "levels": self.levels.tolist(), "values": self.values.tolist()}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], where: str) -> Self:
        """What `to_json` wrote, checked."""
        if block.get("n") == 0 and block.get("levels") == block.get("values") == []:
            return cls(0.0, np.empty(0), np.empty(0))
        found = fields.read(block, FIELDS, where)
        levels, values = found["levels"], found["values"]
        increasing = (np.diff(levels) > 0).all() and (np.diff(values) >= 0).all()
        if not (increasing and levels[-1] < 1):
            raise ModelFileError(
                f"`{where}` must have increasing levels between 0 and 1, and a value for each that is not "
                "below the one before."
            )
        return cls(**found)


def too_few(level: float, n: float, of: str = "") -> str:
    """The sentence for a level that rows are too few for: fewer than 1/(1 - level) - 1."""
    least = ceil(1.0 / (1.0 - level) - 1.0 - ROUNDING)
    return (
        f"A confidence level of {level:g} needs at least {least} rows{of} to calibrate on, and there were "
        f"{n:.4g}: ask for at most {n / (n + 1.0):.3g}, or call conformalize with more rows."
    )


def check_level(level: Any) -> float:
    """A confidence level between 0 and 1."""
    number = isinstance(level, int | float | np.integer | np.floating) and not isinstance(level, bool)
    if not number or not 0.0 < level < 1.0:
        raise ValueError(
            f"`confidence_level` must be a number between 0 and 1, such as 0.9, got {level!r:.80}."
        )
    return float(level)
