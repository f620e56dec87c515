"""Levels that are kept for certain, by rows that a fit has not seen: split conformal prediction."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.calibration import Calibration
from sleek.calibration.groups import check_groups
from sleek.outputs.base import Outputs

Kind = TypeVar("Kind", bound=Calibration)


def conformalize(
    calibration: Kind, outputs: Outputs, evidence: FloatArray, y: Any, weights: FloatArray, groups: Any
) -> Kind:
    """The same probabilities and noise, with the quantiles of errors of held-out rows.

    Parameters
    ----------
    evidence : array of shape (n, …)
        What `Calibration.evidence` says of the rows.
    y : array-like
        The rows' targets.
    weights : array of shape (n,)
        As how many observations each row counts.
    groups : array-like of shape (n,) or None
    """
    n = len(evidence)
    if len(np.shape(y)) == 0 or len(y) != n:
        count = "none" if len(np.shape(y)) == 0 else len(y)
        raise ValueError(f"There must be a target for each of {n} rows, got {count}.")
    if n == 0:
        raise ValueError("There must be rows to conformalize with, got none.")
    groups = None if groups is None else check_groups(groups, n)
    return calibration.with_targets(evidence, outputs.read_targets(y, n), weights, groups)
