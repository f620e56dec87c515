"""By how much the rows that chose a model flatter it.

The model that looks best on some rows owes a part of that to these rows. How large a part is found without
training anything: the rows are drawn again, with replacement, the choice is made anew by the rows drawn, and
what it chose is judged by the rows that were not drawn (Tsamardinos, Greasidou and Borboudakis 2018, who call
it bootstrap bias corrected cross-validation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek.fit import policy
from sleek.fit.judge import Verdict

ROUNDING = 1e-9  # share of a loss that tells no two models apart


def optimism(line: Sequence[Verdict], chosen: int, least_gain: Callable[[int, int], float]) -> float:
    """The error of choices on rows not drawn, as a multiple of the chosen model's on the rows that chose it.

    O(policy.DRAWS·rows·models) time.

    Parameters
    ----------
    line : sequence of Verdict
        What the same rows say of all models, the simplest first.
    chosen : int
        The number of the model that they chose.
    least_gain : callable
        Takes the numbers of a model and of a simpler one: by how much its mean loss must be below the simpler
        one's for it to be preferred.

    Returns
    -------
    float
        At least 1.

    Examples
    --------
    Of twenty models that only guess, one looks good on fifty rows:

    >>> rng = np.random.default_rng(0)
    >>> guesses = (rng.random((20, 50)) < 0.5).astype(float)
    >>> line = [Verdict(e, e, np.ones(50), np.ones(50)) for e in guesses]
    >>> best = int(np.argmin(guesses.mean(axis=1)))
    >>> error = float(guesses[best].mean())
    >>> error, round(error * optimism(line, best, lambda new, old: 0.0), 2)
    (0.38, 0.52)
    """
    first = line[chosen]
    naive = first.error
    if len(line) < 2 or not naive > 0:
        return 1.0
    losses, errors = (np.stack([getattr(one, name) for one in line], axis=1) for name in ("losses", "errors"))
    drawn, left = _draw(first, np.random.default_rng(0))
    weights = first.weights / first.copies
    inside, outside = drawn * weights, left * weights
    enough = (inside.sum(axis=1) > 0) & (outside.sum(axis=1) > 0)
    if not enough.any():
        return 1.0
    inside, outside = inside[enough], outside[enough]
    means = inside @ losses / inside.sum(axis=1, keepdims=True)
    best = np.full(len(means), len(line) - 1)
    open_ = np.arange(len(means))  # draws in which nothing is chosen yet
    for old in range(len(line) - 1):
        gains = means[open_, old, None] - means[open_, old + 1 :]
        least = [
            least_gain(old + 1 + i, old) if gain > 0 else 0.0 for i, gain in enumerate(gains.max(axis=0))
        ]
        sure = gains > np.array(least) + ROUNDING * np.abs(means[open_, old, None])
        best[open_[~sure.any(axis=1)]] = old
        open_ = open_[sure.any(axis=1)]
        if not len(open_):
            break
    left_out = np.sum(outside * errors[:, best].T) / np.sum(outside)
    return max(1.0, float(left_out) / naive)


def _draw(rows: Verdict, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """How many draws of its copies every row has, each time, and how many of its copies were never drawn.

    With as many draws as there are observations one is never drawn with a chance of 1/e, and else drawn about
    1 + Poisson(1/(1 - 1/e) - 1) times. Rows of a group are drawn together.
    """
    place: IntArray | slice = slice(None)
    copies = np.maximum(np.rint(rows.copies), 1.0).astype(np.int64)
    if rows.groups is not None:
        _, first, number = np.unique(rows.groups, return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))[
            number.ravel()
        ]  # in the order of rows, whatever they are called
        copies = np.ones(len(first), dtype=np.int64)
    n_draws = min(policy.DRAWS, max(1, policy.MOST_DRAWN // len(copies)))
    never = rng.binomial(copies, math.exp(-1.0), (n_draws, len(copies)))
    drawn = copies - never
    drawn = drawn + rng.poisson((1.0 / (1.0 - math.exp(-1.0)) - 1.0) * drawn)
    times: FloatArray = np.ones(1) if rows.groups is None else rows.copies
    return drawn[:, place] * times, never[:, place] * times
