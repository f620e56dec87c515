"""The effective number of observations of weighted rows."""

from __future__ import annotations

import numpy as np

from sleek._runtime.types import FloatArray


def as_observations(s: FloatArray, copies: FloatArray) -> FloatArray:
    """Weights that add up to the number of equal observations that would tell as much.

    A row of weight s that stands for several copies is that many observations of weight s/copies. Kish's
    effective number of observations is (Σs)²/Σs²/copies: as many as there are if all weigh the same.

    >>> as_observations(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    array([1., 2.])
    >>> as_observations(np.array([1.0, 3.0]), np.ones(2))
    array([0.4, 1.2])
    """
    s = s / s.max()  # squares of weights may be beyond float64
    return np.asarray(s * (s.sum() / np.sum(s**2 / copies)), dtype=np.float64)
