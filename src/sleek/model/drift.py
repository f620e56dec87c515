"""An alarm for drift: are the errors of new rows larger than those of held-out rows led to expect?

Each new row's error x is looked at before the row is added. As long as the mean of x, whatever was seen
before, is at most the limit μ, a bettor who stakes a share c of what he has on "the next error is above μ",

    wealth ← wealth·(1 + c·(x/μ - 1)),

wins nothing in the long run: the wealth is a supermartingale of mean at most 1, and by Ville's inequality
the chance that it *ever* reaches 1/rate is at most the rate, however long the stream and however often one
looks. Five bettors of different courage share the wealth. Drift may begin late, when wealth has long been
lost, so part of it is kept back, log 2 / log(n + 2) after n rows: bets begin at every row.

The limit is the upper end of a confidence interval for the mean error of held-out rows (`Drift.of_errors`).
Half of the rate of false alarms is for the mean being above it, half for the bets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import frexp, isfinite, ldexp, log, sqrt
from typing import Any, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.counting import are, how_many
from sleek._runtime.types import FloatArray
from sleek.fit import policy

STAKES = (0.01, 0.03, 0.1, 0.25, 0.5)  # c: small ones find small drift, large ones are quick
MOST_WEALTH = 1e9  # more says nothing more, and is a number however long drift goes on
NUMBERS = ("promised", "limit", "most", "total", "kept", "peak")
FIELDS = {
    "n_rows": fields.count(0),
    "stakes": fields.array(len(STAKES), least=0),
    **{name: fields.number(least=0) for name in NUMBERS},
    "limit": fields.number(above=0),
}
FEW = 32  # rows that are faster one by one
RUN = 128  # rows whose factors, mostly from 0.5 to 25.5, have a product within float64
BLOCK = 64 * RUN  # rows at a time
OUTLIER = 50.0  # times the limit: what a larger squared error counts as, so that no row alone is an alarm


@dataclass(frozen=True)
class Drift:
    """What new rows' errors say: `alarm`, and in words ``str(drift)``.

    Attributes
    ----------
    promised : float
        The mean error of held-out rows at the fit: the share of mistakes, or the mean squared error.
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
    def of_errors(cls, errors: FloatArray, weights: FloatArray, unit: float | None) -> Self | None:
        """From errors of held-out rows, each as many observations as it weighs.

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
        if len(errors) <= FEW:
            return self._after_few(errors.tolist())
        found = self
        for start in range(0, len(errors), BLOCK):
            found = found._after_block(errors[start : start + BLOCK])
        return found

    def _after_few(self, errors: list[float]) -> Self:
        """Row by row."""
        stakes, kept, peak, n = list(self.stakes), self.kept, self.peak, self.n_rows
        bettors = range(len(STAKES))
        total = 0.0
        for x in errors:
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

    def _after_block(self, errors: FloatArray) -> Self:
        """At once, but for runs in which a stake reaches `MOST_WEALTH`: these go row by row.

        With the factor f_i = 1 + c·(x_i/μ - 1) of a row, and P_i the product of those of a run up to it, the
        stake after row i is P_i·(s + Σ_{k ≤ i} share_k/P_{k-1}), s being the stake before the run.
        """
        runs = -(-len(errors) // RUN)
        x = np.full(runs * RUN, self.limit)  # the last run is filled with rows whose factor is 1
        x[: len(errors)] = np.minimum(errors, self.most)
        logs = np.log(np.arange(self.n_rows + 2.0, self.n_rows + len(x) + 3.0))
        kept = self.kept * logs[0] / logs
        gains = (x / self.limit - 1.0).reshape(runs, 1, RUN)
        shares = ((kept[:-1] - kept[1:]) / len(STAKES)).reshape(runs, 1, RUN)
        factors = 1.0 + np.array(STAKES)[:, None] * gains
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            products = np.cumprod(factors, axis=2)
            begun = products * np.cumsum(shares * factors / products, axis=2)
        found = self
        for run, start in enumerate(range(0, len(errors), RUN)):
            own = errors[start : start + RUN]
            with np.errstate(over="ignore", invalid="ignore"):
                stakes = (products[run] * np.array(found.stakes)[:, None] + begun[run])[:, : len(own)]
            if not stakes.max() <= MOST_WEALTH:  # or is no number
                found = found._after_few(own.tolist())
                continue
            left = kept[start + 1 : start + 1 + len(own)]
            found = replace(
                found,
                n_rows=found.n_rows + len(own),
                total=found.total + float(own.sum()),
                stakes=tuple(stakes[:, -1].tolist()),
                kept=float(left[-1]),
                peak=max(found.peak, float((stakes.sum(axis=0) + left).max())),
            )
        return found

    @property
    def alarm(self) -> bool:
        """Whether the mean error is above the limit; the chance that this is ever wrong is at most `rate`."""
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
    def merge(cls, drifts: list[Self]) -> Self:
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
        found = (
            f"{how_many(self.n_rows, 'new row')} {are(self.n_rows, 'has', 'have')} an error of "
            f"{self.error:.3g}, and up to {self.limit:.3g} is"
        )
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
        found = fields.read(block, FIELDS, where)
        return cls(**found | {"stakes": tuple(found["stakes"].tolist())})
