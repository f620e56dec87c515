"""How far probabilities and intervals can be relied on, for rows whose targets are known: as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.calibration.classes import ClassCalibration
from sleek.calibration.numbers import NumberCalibration
from sleek.model.kernel_model import KernelModel

LEVELS = (0.8, 0.9, 0.95)


def probability_scores(P: FloatArray, codes: IntArray, s: FloatArray) -> dict[str, float]:
    """Log loss and Brier score of probabilities P (n, n_classes) for classes `codes` of rows of weights s.

    The Brier score is the mean squared error of the second class's probability for two classes, and else the
    squared errors of all classes together, as in scikit-learn.

    >>> probability_scores(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([0, 1]), np.ones(2))
    {'log_loss': 0.458..., 'brier': 0.145}
    """
    with np.errstate(divide="ignore"):
        losses = -np.log(P[np.arange(len(codes)), codes])
    squares = np.sum((P - np.eye(P.shape[1])[codes]) ** 2, axis=1) / (2.0 if P.shape[1] == 2 else 1.0)
    return {
        "log_loss": float(np.average(losses, weights=s)),
        "brier": float(np.average(squares, weights=s)),
    }


def sureness(model: KernelModel, X: Any, y: AnyArray, s: FloatArray) -> dict[str, Any]:
    """Log loss and Brier score of a classifier, coverage and width of a regression's intervals.

    Nothing for a model without calibration, or with one for groups of rows, which are not known here.

    Parameters
    ----------
    X : the features of the rows, finite
    y : array of shape (n,)
        Classes as numbers of the model's labels, -1 for one that is none; or numbers.
    s : array of shape (n,)
    """
    calibration = model.calibration
    if isinstance(calibration, ClassCalibration):
        known = y >= 0
        if not known.any():
            return {}
        P = model.probabilities_unchecked(X)
        return probability_scores(P[known], y[known], s[known])
    if not isinstance(calibration, NumberCalibration) or not model.outputs.flat:
        return {}
    sizes = calibration.sizes[0]
    if sizes.labels is not None:
        return {}
    found, covered = model.spreads_unchecked(X), []
    for level in LEVELS:
        if level > sizes.parts[0].levels[-1]:
            continue  # too few rows to say
        ends = model.intervals_of(found, level, None)
        inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
        covered.append(
            {
                "level": level,
                "coverage": float(np.average(inside, weights=s)),
                "width": float(np.average(ends[:, 1] - ends[:, 0], weights=s)),
            }
        )
    return {"intervals": covered} if covered else {}
