"""Small problems to try things on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sleek._typing import FloatArray, IntArray


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
