"""What a program can say beside its answer: probabilities of classes, intervals of numbers at one level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.calibration.classes import ClassCalibration
from sleek.calibration.leverage import Leverage
from sleek.calibration.monotone import TAIL, MonotoneCalibrator
from sleek.calibration.quantiles import check_level
from sleek.model.kernel_model import KernelModel


@dataclass(frozen=True)
class Probabilities:
    """exp g(y) over their sum, as `sleek.calibration.monotone` defines g.

    With v = y/scale:

        v > 1       slopes[2]/2 + slopes[3]·(1/2 + tail·(v - 1)/v)
        v > 0       slopes[2]·(v - v²/2) + slopes[3]·v²/2
        v < -1      -slopes[1]/2 - slopes[0]·(1/2 + tail·(v + 1)/v)
        else        slopes[1]·(v + v²/2) - slopes[0]·v²/2
    """

    scale: float
    slopes: tuple[float, float, float, float]
    tail: float = TAIL


@dataclass(frozen=True, eq=False)
class Intervals:
    """ŷ ± half·exp(clip(φ·weights + constant, low, high))·√(1 + h), for each of k outputs.

    Attributes
    ----------
    level : float
    half : array of shape (k,)
    weights : array of shape (m, k), or None if no size depends on the row
    constant, low, high : arrays of shape (k,)
    leverage : Leverage or None
        h = least + ‖factor·φ - center‖².
    """

    level: float
    half: FloatArray
    weights: FloatArray | None
    constant: FloatArray
    low: FloatArray
    high: FloatArray
    leverage: Leverage | None


def probabilities_of(model: KernelModel) -> Probabilities | None:
    """How a classifier's outputs become probabilities; None if it has no calibration."""
    calibration = model.calibration
    if not isinstance(calibration, ClassCalibration):
        return None
    if not isinstance(calibration.calibrator, MonotoneCalibrator):
        raise ValueError(
            f"A model whose probabilities are made by {type(calibration.calibrator).__name__} cannot be "
            "exported, since it decides by them: fit with calibrator=None."
        )
    low, before, after, high = calibration.calibrator.slopes.tolist()
    return Probabilities(calibration.calibrator.scale, (low, before, after, high))


def needed_probabilities(model: KernelModel) -> Probabilities:
    """The same, or a sentence."""
    model.class_calibration  # noqa: B018  (whose sentence it is)
    found = probabilities_of(model)
    assert found is not None
    return found


def intervals_of(model: KernelModel, level: float | None) -> Intervals | None:
    """Intervals at a level; None if none is asked for."""
    if level is None:
        return None
    calibration, level = model.number_calibration, check_level(level)
    if any(sizes.labels is not None for sizes in calibration.sizes):
        raise ValueError(
            "Intervals of a model that was calibrated for groups of rows cannot be exported: rows come "
            "without groups there. Call conformalize without groups, or export without intervals."
        )
    noise = calibration.noise
    weights = [np.zeros(model.n_units) if one.weights is None else one.weights for one in noise]
    return Intervals(
        level=level,
        half=np.array([sizes.parts[0].at_least(level) for sizes in calibration.sizes]),
        weights=np.column_stack(weights) if any(one.weights is not None for one in noise) else None,
        constant=np.array([one.constant for one in noise]),
        low=np.array([one.low for one in noise]),
        high=np.array([one.high for one in noise]),
        leverage=calibration.leverage,
    )
