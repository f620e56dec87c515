"""What scores and residuals of rows that took no part in a fit tell of new rows.

Scores of classes become probabilities and sets of classes, residuals of numbers become intervals: a few
numbers that travel with a model. Nothing here knows of units, estimators or files; who fits hands in scores,
targets and weights.
"""

from sleek.calibration.base import Calibration, calibration_from_json
from sleek.calibration.classes import ClassCalibration
from sleek.calibration.monotone import MonotoneCalibrator
from sleek.calibration.numbers import NumberCalibration

__all__ = [
    "Calibration",
    "ClassCalibration",
    "MonotoneCalibrator",
    "NumberCalibration",
    "calibration_from_json",
]
