"""Probabilities, sets of classes and intervals, from the scores and residuals of held-out rows.

Scores of classes become probabilities and sets of classes, residuals of numbers become intervals: a few
numbers that travel with a model. Nothing here knows of fits, estimators or files; who fits hands in scores,
targets, features and weights.
"""

from sleek.calibration.base import Calibration, calibration_from_json
from sleek.calibration.class_calibration import ClassCalibration
from sleek.calibration.monotone import MonotoneCalibrator
from sleek.calibration.number_calibration import NumberCalibration, Spread

__all__ = [
    "Calibration",
    "ClassCalibration",
    "MonotoneCalibrator",
    "NumberCalibration",
    "Spread",
    "calibration_from_json",
]
