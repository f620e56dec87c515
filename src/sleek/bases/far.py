"""Values of units at rows so far away that squares overflow, so that every finite row has finite outputs."""

from __future__ import annotations

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.expansion import Expansion, Part
from sleek.bases.formula import expression
from sleek.bases.linear import FAR

HUGE = 1e300  # a sum of terms beyond says no more than this: exp(-z) is 0, tanh(z) is ±1
PIECE = 2**20  # terms held at a time


def far_features(expansion: Expansion, X: AnyArray) -> FloatArray:
    """Phi (n, m), term by term, for rows at which the fast way has met ∞ - ∞ or 0·∞.

    In z = start + Σ_i term(x_i), a term of 0·∞ belongs to a feature that plays no part, and is 0.
    O(n·m·d) time: for the few rows that need it.

    >>> from sleek import GaussianRBF, Units
    >>> units = Units({"centers": np.zeros((2, 2)), "shapes": np.array([[1.0, 0.0], [0.0, 0.0]])})
    >>> far_features(Expansion.of(GaussianRBF(), units), np.array([[1.0, 1e200], [1e200, 1e200]])).round(3)
    array([[0.368, 1. ], [0. , 1. ]])
    """
    rows = max(1, PIECE // (X.shape[1] * len(expansion)))
    pieces = (X[start : start + rows].astype(np.float64) for start in range(0, len(X), rows))
    with np.errstate(over="ignore", invalid="ignore"):
        found = [np.concatenate([_of(part, piece) for part in expansion.parts], axis=1) for piece in pieces]
    return np.concatenate(found)


def _of(part: Part, X: FloatArray) -> FloatArray:
    formula, units = part.basis.formula, part.units
    if formula is None:
        return part.features(np.clip(X, -FAR, FAR))
    terms = np.nan_to_num(formula.terms(X, units), nan=0.0)  # infinity as the largest number
    largest = np.maximum(np.abs(terms).max(axis=2), 1.0)  # in shares of it no sum of terms overflows
    z = np.clip(largest * np.sum(terms / largest[:, :, None], axis=2), -HUGE, HUGE)
    z += expression(formula.start).evaluate(units.arrays)
    Phi: FloatArray = np.clip(formula.profile.evaluate({"z": z}), -FAR, FAR)
    return Phi
