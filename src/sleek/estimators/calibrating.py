"""From what a fit says of rows that took no part in it, to what is said of new rows."""

from __future__ import annotations

from typing import Any

from sleek.calibration.classes import ClassCalibration
from sleek.calibration.weights import as_observations
from sleek.fit.recipe import Fitted
from sleek.outputs.base import Outputs


def class_calibration(fitted: Fitted, outputs: Outputs, calibrator: Any) -> ClassCalibration:
    """Probabilities and sets from the scores of rows that took no part."""
    judged = fitted.judged
    weights = as_observations(judged.s, judged.copies)
    return ClassCalibration.learn(judged.outputs, outputs.strata(judged.T), weights, calibrator)
