"""Log loss, Brier score and coverage of intervals on rows with known targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration.class_calibration import ClassCalibration
from sleek.calibration.number_calibration import NumberCalibration
from sleek.model.kernel_model import KernelModel

LEVELS = (0.8, 0.9, 0.95)


def sureness_sums(model: KernelModel, X: Any, y: AnyArray, s: FloatArray) -> FloatArray:
    """Sums over rows that `sureness` computes scores from; the first is that of the weights.

    A classifier has those of log loss and Brier score, a regression for each level those of coverage and
    width. Nothing for a model without calibration, or with one for groups of rows, which are not known here.

    Parameters
    ----------
    X : the features of the rows, finite
    y : array of shape (n,)
        Classes as numbers of the model's labels, -1 for one that is none; or numbers.
    s : array of shape (n,)
    """
    if isinstance(model.calibration, ClassCalibration):
        known = y >= 0
        P, codes, s = model.uncertainty.probabilities(X)[known], y[known], s[known]
        with np.errstate(divide="ignore"):
            losses = -np.log(P[np.arange(len(codes)), codes])
        squares = np.sum((P - np.eye(P.shape[1])[codes]) ** 2, axis=1) / (2.0 if P.shape[1] == 2 else 1.0)
        return np.array([s.sum(), s @ losses, s @ squares])
    sums, levels = [s.sum()], known_levels(model)
    if levels:
        found = model.uncertainty.spread(X)
        for level in levels:
            ends = model.uncertainty.intervals(found, level, None)
            inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
            sums += [s @ inside, s @ (ends[:, 1] - ends[:, 0])]
    return np.array(sums)


def sureness(model: KernelModel, sums: FloatArray) -> dict[str, Any]:
    """Log loss and Brier score of a classifier, coverage and width of a regression's intervals.

    The Brier score is the mean squared error of the second class's probability for two classes, and else the
    squared errors of all classes together, as in scikit-learn.
    """
    if not sums[0] > 0:
        return {}
    means = (sums[1:] / sums[0]).tolist()
    if isinstance(model.calibration, ClassCalibration):
        return dict(zip(("log_loss", "brier"), means, strict=True))
    covered = [
        {"level": level, "coverage": coverage, "width": width}
        for level, coverage, width in zip(known_levels(model), means[::2], means[1::2], strict=True)
    ]
    return {"intervals": covered} if covered else {}


def known_levels(model: KernelModel) -> list[float]:
    """The levels of a regression's intervals that rows were enough for; none if groups are needed."""
    calibration = model.calibration
    if not isinstance(calibration, NumberCalibration) or not model.outputs.flat:
        return []
    sizes = calibration.sizes[0]
    return [] if sizes.labels is not None else [q for q in LEVELS if q <= sizes.parts[0].levels[-1]]
