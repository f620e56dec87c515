"""From what a fit says of rows that took no part in it, to what is said of new rows."""

from __future__ import annotations

from typing import Any

from sleek.calibration.classes import ClassCalibration
from sleek.calibration.leverage import Leverage
from sleek.calibration.numbers import NumberCalibration
from sleek.calibration.weights import as_observations
from sleek.fit.recipe import Fitted
from sleek.outputs.base import Outputs
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.numbers import NumberOutputs


def class_calibration(fitted: Fitted, outputs: Outputs, calibrator: Any) -> ClassCalibration | None:
    """Probabilities and sets from the scores of rows that took no part; None for outputs of another kind."""
    if type(outputs) is not ClassOutputs:
        return None
    judged = fitted.judged
    weights = as_observations(judged.s, judged.copies)
    codes, log_odds = outputs.strata(judged.T), not outputs.loss.quadratic
    return ClassCalibration.learn(judged.outputs, codes, weights, calibrator, log_odds)


def number_calibration(fitted: Fitted, outputs: Outputs) -> NumberCalibration | None:
    """Intervals from the residuals of rows that took no part; None for outputs of another kind."""
    if type(outputs) is not NumberOutputs:
        return None
    judged, moments = fitted.judged, fitted.moments
    one = float(judged.s.sum() / judged.copies.sum())
    return NumberCalibration.learn(
        outputs.decode_residuals(judged.residuals),
        fitted.judged_phi,
        fitted.solution.theta,
        as_observations(judged.s, judged.copies),
        Leverage.of(moments.G, moments.mean_phi, moments.weight, fitted.C, one),
    )
