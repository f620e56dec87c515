"""Levels that are kept for certain, by rows that a fit has not seen: split conformal prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.calibration import Calibration, ClassCalibration, NumberCalibration
from sleek.calibration.groups import check_groups
from sleek.outputs.base import Outputs
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.labels import Labels


def conformalized(
    calibration: ClassCalibration | NumberCalibration,
    outputs: Outputs,
    found: FloatArray,
    y: Any,
    weights: FloatArray,
    groups: Any,
) -> Calibration:
    """The same probabilities and spreads, with the quantiles of rows that took no part.

    Parameters
    ----------
    found : array
        Decision values (n, k), or predictions and spreads side by side, (n, 2k).
    y : array-like
        The rows' targets.
    weights : array of shape (n,)
        As how many observations each row counts.
    groups : array-like of shape (n,) or None
    """
    if len(np.shape(y)) == 0 or len(y) != len(found):
        count = "none" if len(np.shape(y)) == 0 else len(y)
        raise ValueError(f"There must be a target for each of {len(found)} rows, got {count}.")
    if not len(found):
        raise ValueError("There must be rows to conformalize with, got none.")
    groups = None if groups is None else check_groups(groups, len(found))
    if isinstance(calibration, ClassCalibration):
        assert isinstance(outputs, ClassOutputs)
        codes = outputs.codes(Labels.of(np.asarray(y)))
        if codes.min() < 0:
            strange = np.asarray(y)[codes < 0].tolist()[0]
            raise ValueError(f"The class {strange!r} is none of the model's {outputs}.")
        return calibration.with_misfits(found, codes, weights, groups)
    Y, spreads = np.split(found, 2, axis=1)
    targets = np.asarray(y, dtype=np.float64).reshape(len(Y), -1)
    if targets.shape != Y.shape or not np.isfinite(targets).all():
        raise ValueError(f"Targets must be finite numbers, {Y.shape[1]} for each row.")
    return calibration.with_residuals(targets - Y, spreads, weights, groups)
