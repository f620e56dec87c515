"""An alarm for drift: have the errors of new rows left what rows left out have promised?

Each new row's error x is looked at before the row is added. As long as the mean of x, whatever was seen
before, is at most the limit μ, a bettor who stakes a share c of what he has on "the next error is above μ",

    wealth ← wealth·(1 + c·(x/μ - 1)),

wins nothing in the long run: the wealth is a supermartingale of mean at most 1, and by Ville's inequality
the chance that it *ever* reaches 1/rate is at most the rate, however long the stream and however often one
looks. Five bettors of different courage share the wealth. Drift may begin late, when wealth has long been
lost, so part of it is kept back, log 2 / log(n + 2) after n rows: bets begin at every row.

The limit is an upper end of the error that rows left out have promised (`Drift.promised_by`). Half of the
rate is for a promise that was too good, half for the bets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import frexp, isfinite, ldexp, log, sqrt
from typing import Any, Self

import numpy as np

from sleek._runtime.json_values import ModelFileError, array_of, check_keys, count_of, number_of
from sleek._runtime.types import FloatArray
from sleek.fit import policy

STAKES = (0.01, 0.03, 0.1, 0.25, 0.5)  # c: small ones find small drift, large ones are quick
MOST_WEALTH = 1e9  # more says nothing more, and is a number however long drift goes on
NUMBERS = ("promised", "limit", "most", "total", "kept", "peak")
OUTLIER = 50.0  # times the limit: what a larger squared error counts as, so that no row alone is an alarm


@dataclass(frozen=True)
class Drift:
    """What new rows' errors say: `alarm`, and in words ``str(drift)``.

    Attributes
    ----------
    promised : float
        The mean error that rows left out had at the fit: the share of mistakes, or the mean squared error.
    limit : float
        Up to which mean error there is no drift.
    most : float
        What the error of one row counts as at most.
    n_rows : int
        New rows since the fit.
    total : float
        The sum of their errors.

    Examples
    --------
    >>> drift = Drift(promised=0.1, limit=0.15, most=1.0)
    >>> quiet = drift.after(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0] * 10))
    >>> quiet.alarm, quiet.after(np.ones(30)).alarm
    (False, True)
    >>> print(quiet)
    No sign of drift: 100 new rows have an error of 0.1, and up to 0.15 is as promised.
    """

    promised: float
    limit: float
    most: float
    n_rows: int = 0
    total: float = 0.0
    stakes: tuple[float, ...] = (0.0,) * len(STAKES)  # the wealth of each bettor
    kept: float = 1.0  # not yet in the game
    peak: float = 1.0  # the most wealth there ever was

    @classmethod
    def promised_by(cls, errors: FloatArray, weights: FloatArray, unit: float | None) -> Self | None:
        """From errors of rows that took no part, each as many observations as it weighs.

        The limit is the upper end of a confidence interval for their mean, z standard errors and z²/2n times
        the size of an error above it (as for counts), and a share above that: a model chosen by these errors
        looks better in them than it is.

        Parameters
        ----------
        unit : float or None
            The size of every error, 1 for mistakes; None: errors are of any size.
        """
        known = np.isfinite(errors)
        if not known.any():
            return None
        x, w = errors[known], weights[known]
        scale = ldexp(1.0, frexp(float(x.max()))[1])  # squares of squared errors may be beyond float64
        x = x / scale
        n, z = float(w.sum()), policy.DRIFT_ERRORS
        mean, squares = float(np.average(x, weights=w)), float(np.average(x**2, weights=w))
        size = squares / mean if unit is None and mean > 0 else (unit or 0.0) / scale
        spread = sqrt(max(0.0, squares - mean**2) / n)
        limit = scale * (1.0 + policy.DRIFT_SLACK) * (mean + z * spread + z**2 / (2.0 * n) * size)
        most = OUTLIER * limit if unit is None else unit
        if not (limit > 0.0 and isfinite(most)):
            return None
        return cls(scale * mean, limit, most)

    def after(self, errors: FloatArray) -> Self:
        """With the errors of more rows, in order."""
        stakes, kept, peak, n = list(self.stakes), self.kept, self.peak, self.n_rows
        bettors = range(len(STAKES))
        total = 0.0
        for x in errors.tolist():
            total += x
            n += 1
            left = kept * log(n + 1.0) / log(n + 2.0)
            share, kept = (kept - left) / len(STAKES), left
            gain = (x if x < self.most else self.most) / self.limit - 1.0
            wealth = kept
            for j in bettors:
                stake = (stakes[j] + share) * (1.0 + STAKES[j] * gain)
                stakes[j] = stake = stake if stake < MOST_WEALTH else MOST_WEALTH
                wealth += stake
            if wealth > peak:
                peak = wealth
        so_far = n, self.total + total, tuple(stakes), kept, peak
        return type(self)(self.promised, self.limit, self.most, *so_far)

    @property
    def alarm(self) -> bool:
        """Whether errors have left what was promised; a false alarm, ever, has at most the chance `rate`."""
        return self.peak >= 2.0 / policy.DRIFT_RATE

    @property
    def rate(self) -> float:
        """The chance of a false alarm, ever."""
        return policy.DRIFT_RATE

    @property
    def error(self) -> float:
        """The mean error of the new rows, each before it was added; NaN without a row."""
        return self.total / self.n_rows if self.n_rows else float("nan")

    @classmethod
    def merged(cls, drifts: list[Self]) -> Self:
        """Several streams as one: wealth is shared, an alarm stays one."""
        count = len(drifts)
        return replace(
            drifts[0],
            n_rows=sum(drift.n_rows for drift in drifts),
            total=float(sum(sorted(drift.total for drift in drifts))),
            stakes=tuple(
                sum(sorted(values)) / count for values in zip(*(d.stakes for d in drifts), strict=True)
            ),
            kept=sum(sorted(drift.kept for drift in drifts)) / count,
            peak=max(drift.peak for drift in drifts),
        )

    def __str__(self) -> str:
        if self.n_rows == 0:
            return f"No new rows yet; an error of up to {self.limit:.3g} is as promised."
        found = f"{self.n_rows:,} new rows have an error of {self.error:.3g}, and up to {self.limit:.3g} is"
        if not self.alarm:
            return f"No sign of drift: {found} as promised."
        return (
            f"The rows have drifted: {found} what rows left out had promised. Fit again with recent rows; if "
            "they keep drifting, follow them with a forgetting_factor below 1."
        )

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        return {"n_rows": self.n_rows, "stakes": list(self.stakes), **numbers}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], where: str) -> Self:
        """What `to_json` wrote, checked."""
        check_keys(block, {"n_rows", "stakes", *NUMBERS}, f"`{where}`")
        n_rows = count_of(block["n_rows"], f"{where}.n_rows", least=0)
        numbers = {name: number_of(block[name], f"{where}.{name}") for name in NUMBERS}
        stakes = array_of(block["stakes"], f"{where}.stakes", 1).tolist()
        if len(stakes) != len(STAKES) or min(*stakes, *numbers.values()) < 0 or not numbers["limit"]:
            raise ModelFileError(
                f"`{where}` must have {len(STAKES)} stakes, a positive limit and no negative number."
            )
        return cls(n_rows=n_rows, stakes=tuple(stakes), **numbers)
