"""Small problems to try things on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sleek._runtime.types import FloatArray, IntArray


def make_ripley(n_rows: int = 250, random_state: Any = None) -> tuple[FloatArray, IntArray]:
    """Draw from Ripley's synthetic problem: two classes, each an even mixture of two round Gaussians.

    The means are (-0.7, 0.3), (0.3, 0.3) for class 0 and (-0.3, 0.7), (0.4, 0.7) for class 1, each coordinate
    has variance 0.03, and the best possible error is about 8 %.

    Examples
    --------
    >>> X, y = make_ripley(250, random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((250, 2), [125, 125])
    """
    rng = check_random_state(random_state)
    means = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
    y = rng.permutation(np.arange(n_rows) % 2)
    X = means[y, rng.randint(2, size=n_rows)] + rng.normal(scale=np.sqrt(0.03), size=(n_rows, 2))
    return X, y


def make_rotated(
    n_rows: int = 10_000, n_features: int = 28, random_state: Any = None
) -> tuple[FloatArray, IntArray]:
    """Draw two classes that are separated along six hidden directions, none of them an axis.

    With z the projections of standard normal rows on fixed orthogonal directions, the class is the sign of
    1.5·tanh(2z₁)z₂ + |z₃| - 0.8 + z₄z₅ + ½ sin(2z₆) plus noise of standard deviation 0.3. Every feature alone
    says next to nothing, as in collider data: hard for trees and for units along the axes.

    Examples
    --------
    >>> X, y = make_rotated(1000, random_state=0)
    >>> X.shape, bool(0.4 < y.mean() < 0.6)
    ((1000, 28), True)
    """
    if n_features < 6:
        raise ValueError(f"`n_features` must be at least 6, got {n_features}.")
    directions = np.linalg.qr(np.random.default_rng(7).normal(size=(n_features, n_features)))[0]
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_rows, n_features))
    z = (X @ directions[:, :6]).T
    f = 1.5 * np.tanh(2 * z[0]) * z[1] + np.abs(z[2]) - 0.8 + z[3] * z[4] + 0.5 * np.sin(2 * z[5])
    return X, (f + 0.3 * rng.normal(size=n_rows) > 0).astype(np.int64)
