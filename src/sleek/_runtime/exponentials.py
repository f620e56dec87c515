"""Sums and shares of exponentials that neither overflow nor lose what is small.

They are SciPy's functions of the same names. Importing these takes longer than a prediction.
"""

import numpy as np

from sleek._runtime.types import FloatArray


def expit(x: FloatArray) -> FloatArray:
    """1/(1 + exp(-x)).

    >>> expit(np.array([-800.0, 0.0, 800.0]))
    array([0. , 0.5, 1. ])
    """
    small = np.exp(-np.abs(x))
    shares: FloatArray = np.where(x >= 0, 1.0, small) / (1.0 + small)
    return shares


def softmax(Y: FloatArray) -> FloatArray:
    """exp(y_k)/Σ exp(y) for every row, (n, k).

    >>> softmax(np.array([[1e300, 1e300], [0.0, -1e300]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    shares: FloatArray = Y - Y.max(axis=1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def logsumexp(Y: FloatArray) -> FloatArray:
    """log Σ exp(y) of every row, (n,).

    >>> logsumexp(np.array([[0.0, 0.0], [1e300, 0.0]])).round(3)
    array([6.93e-001, 1.00e+300])
    """
    most = Y.max(axis=1)
    sums: FloatArray = most + np.log(np.exp(Y - most[:, None]).sum(axis=1))
    return sums
