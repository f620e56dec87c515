"""Probabilities of classes as an increasing function of scores, the same for all classes.

With scores f (one for each class; f and -f of two),

    P(class k) = exp g(f_k) / Σ_j exp g(f_j),      v = f/scale,  u = v clipped to [-1, 1],

where g is increasing: its slope is piecewise linear in u, with the values `slopes` at u = -1, just below 0,
just above 0, and 1, none of them negative. So

    u ≥ 0:  g = slopes[2]·(u - u²/2) + slopes[3]·u²/2,
    u < 0:  g = slopes[1]·(u + u²/2) - slopes[0]·u²/2,

and beyond ±1 g goes on towards a limit, TAIL·slope·o/(1 + |o|) further, o = v - u: beyond the
scores seen in training probabilities hardly grow, but larger scores still have larger ones. Since g is
increasing, the class of the largest score is the most probable one: probabilities never contradict a
prediction.

Two classes have the two numbers slopes[1] + slopes[2] and slopes[0] + slopes[3]: a logistic map through 0 and
its quadratic term. More classes have four, whatever their number. The best of them minimise the log loss of
smoothed targets, Σ w [log Σ_j exp g(f_j) - Σ_k t_k g(f_k)] + ½·PULL·Σ (differences of neighbouring slopes)²:
a row of class c, of which there are N_c, has the target (N_c + ½)/(N_c + 1) there, and the other classes
share the rest. (Platt adds 1 and 2; the half of it was better by 0.1 % of the log loss with two classes, and
by 1 % with more. 1/(N_c + K) for each of K classes was worse by 12 %.)

Scores that are log-odds already are probabilities by g(f) = f (f/2 of two classes), and were regularised
while they were learnt. So targets are smoothed by a fifth of that, u is 1 at the largest score seen, and
slopes are drawn towards those, by ½·OWN·Σ (slope/that slope - 1)²: 4 % less log loss on 12 fits, and 1 % on
16 others, of loss="log_loss".

Measured against logistic, beta, isotonic and Venn-Abers calibration and matrix scaling:
docs/how/calibration.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.exponentials import logsumexp
from sleek._runtime.types import AnyArray, FloatArray, IntArray

SCALE_QUANTILE = 0.95  # of the scores' sizes: the largest of all would be one row's accident
PULL = 0.03  # towards one slope
OWN = 3.0  # towards the slopes of log-odds
DOUBT, DOUBT_OF_LOG_ODDS = 0.5, 0.1
TAIL = 0.1
LEAST_SLOPE = 1e-3  # so that larger scores are larger probabilities
MOST_SCORES = 2**22  # that are looked at: with thousands of classes, those of fewer rows
MOST_STEPS = 100
EXACT = 1e-12  # of the loss: what a last step gains


class MonotoneCalibrator:
    """Probabilities as one increasing function of all classes' scores.

    Parameters
    ----------
    log_odds : bool, default=False
        Whether scores are the logarithms of odds.

    Examples
    --------
    >>> scores = np.array([[-1.2], [-0.4], [0.1], [0.3], [0.8], [1.1]])
    >>> calibrator = MonotoneCalibrator().fit(scores, np.array([0, 0, 1, 0, 1, 1]), np.ones(6))
    >>> calibrator.predict_proba(np.array([[-1.0], [0.0], [1.0]])).round(2)
    array([[0.85, 0.15],
           [0.5 , 0.5 ],
           [0.15, 0.85]])
    """

    scale: float
    slopes: FloatArray  # (4,)

    def __init__(self, log_odds: bool = False) -> None:
        self.log_odds = log_odds

    def fit(self, scores: FloatArray, codes: IntArray, sample_weight: FloatArray) -> Self:
        """Learn the slopes.

        Parameters
        ----------
        scores : array of shape (n, 1) for two classes, else (n, n_classes)
            Scores of held-out rows.
        codes : array of shape (n,)
            The class of each row: 0, 1, …
        sample_weight : array of shape (n,)
            As how many observations each row counts.
        """
        F = one_for_each(scores)
        n_classes = F.shape[1]
        every = slice(None, None, -(-F.size // MOST_SCORES))
        F, codes, weights = F[every], codes[every], sample_weight[every]
        self.scale = _size_of(F, weights, 1.0 if self.log_odds else SCALE_QUANTILE) or 1.0
        doubt = (DOUBT_OF_LOG_ODDS if self.log_odds else DOUBT) / (
            np.bincount(codes, weights, n_classes)[codes][:, None] + 1.0
        )
        own = np.arange(n_classes) == codes[:, None]
        T = np.where(own, 1.0 - doubt, doubt / (n_classes - 1))
        slope = self.scale / 2.0 if np.shape(scores)[1] == 1 else self.scale
        self.slopes = _best_slopes(self._pieces(F), T, weights, slope, OWN if self.log_odds else 0.0)
        return self

    def predict_proba(self, scores: FloatArray) -> FloatArray:
        """The probability of every class, (n, n_classes)."""
        return np.asarray(np.exp(self.predict_log_proba(scores)))

    def predict_log_proba(self, scores: FloatArray) -> FloatArray:
        """Its logarithm, which is always finite."""
        G = self.transform(one_for_each(scores))
        return np.asarray(G - logsumexp(G)[:, None])

    def transform(self, F: FloatArray) -> FloatArray:
        """g of every score."""
        v = F / self.scale
        u = np.clip(v, -1.0, 1.0)
        v -= u
        tail = TAIL * v / (1.0 + np.abs(v))
        bend = u * np.abs(u) / 2.0  # u²/2 with the sign of u
        low, before, after, high = self.slopes
        above = after * (u - bend) + high * (bend + tail)
        return np.asarray(np.where(u > 0, above, before * (u - bend) + low * (bend + tail)))

    def _pieces(self, F: FloatArray) -> FloatArray:
        """What each of the slopes adds to g, (n, n_classes, 4)."""
        v = F / self.scale
        u = np.clip(v, -1.0, 1.0)
        beyond = v - u
        tail = TAIL * beyond / (1.0 + np.abs(beyond))
        n, p = np.minimum(u, 0.0), np.maximum(u, 0.0)
        low, high = np.minimum(tail, 0.0), np.maximum(tail, 0.0)
        return np.stack([low - n * n / 2, n + n * n / 2, p - p * p / 2, p * p / 2 + high], axis=-1)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {"scale": self.scale, "slopes": self.slopes.tolist()}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], where: str) -> Self:
        """What `to_json` wrote, checked."""
        found = fields.read(
            block, {"scale": fields.number(above=0), "slopes": fields.array(4, above=0)}, where
        )
        made = cls()
        made.scale, made.slopes = found["scale"], found["slopes"]
        return made


def _best_slopes(
    B: FloatArray, T: FloatArray, weights: FloatArray, start: float, towards: float = 0.0
) -> FloatArray:
    """The slopes of least loss, by Newton's method among those not below `LEAST_SLOPE`.

    B (n, n_classes, 4) is what each slope adds to g, T (n, n_classes) the targets. The loss is convex; a
    slope at its bound that the gradient would push beyond stays there for a step. With `towards` they are
    drawn to where they start.
    """
    differences = np.diff(np.eye(4), axis=0)
    start = max(start, LEAST_SLOPE)
    own, flat = towards / start**2, B.reshape(-1, 4)
    pull = PULL * differences.T @ differences + own * np.eye(4)

    def loss(slopes: FloatArray) -> tuple[float, FloatArray]:
        G = B @ slopes
        total = logsumexp(G)
        value = weights @ (total - np.sum(T * G, axis=1)) + 0.5 * slopes @ pull @ slopes
        value -= own * start * slopes.sum()
        return float(value), np.exp(G - total[:, None])

    slopes = np.full(4, start)
    value, P = loss(slopes)
    for _ in range(MOST_STEPS):
        weighted = weights[:, None] * P
        mean = np.einsum("nk,nkp->np", P, B)
        gradient = flat.T @ (weighted - weights[:, None] * T).ravel() + pull @ slopes - own * start
        hessian = flat.T @ (weighted.reshape(-1, 1) * flat) - mean.T @ (weights[:, None] * mean) + pull
        free = (slopes > LEAST_SLOPE) | (gradient < 0)
        ridge = 1e-12 * np.trace(hessian) * np.eye(4)  # along which nothing changes, if anywhere
        step = np.zeros(4)
        step[free] = np.linalg.solve((hessian + ridge)[np.ix_(free, free)], gradient[free])
        length, before = 1.0, value
        while True:
            tried = np.maximum(slopes - length * step, LEAST_SLOPE)
            value, P = loss(tried)
            if value <= before or length < 1e-9:
                break
            length /= 2.0
        if value > before:
            break
        slopes = tried
        if before - value <= EXACT * abs(value):
            break
    return slopes


def _size_of(F: FloatArray, weights: FloatArray, quantile: float) -> float:
    """The size that a score exceeds in 1 - quantile of the rows' weight."""
    sizes = np.abs(F).ravel()
    order = np.argsort(sizes)
    total = np.cumsum(np.repeat(weights, F.shape[1])[order])
    return float(sizes[order[np.searchsorted(total, quantile * total[-1])]])


def one_for_each(scores: AnyArray) -> FloatArray:
    """A score for each class: f speaks for the second of two classes, -f for the first."""
    F = np.asarray(scores, dtype=np.float64)
    return np.concatenate([-F, F], axis=1) if F.shape[1] == 1 else F
