"""Sizes of residuals as exponentials of linear functions: log σ = c + Z·w.

Sizes |r| are taken as exponentially distributed, |r| ~ Exp(1/σ): the loss

    Σ s [|r|/σ + log σ] + ½·pull·‖w‖²

is convex in w and c, and σ estimates the mean of |r|, whatever its distribution.
"""

from __future__ import annotations

import numpy as np

from sleek._runtime.types import FloatArray

MOST_STEPS = 30


def fit_sizes(
    Z: FloatArray,
    sizes: FloatArray,
    s: FloatArray,
    pull: float,
    start: FloatArray | None = None,
    slack: float = 0.0,
) -> FloatArray:
    """The constant and the weights (1 + p,) of log σ = c + Z·w with least loss, by Newton's method.

    It ends when a step has lowered the loss by no more than `slack`, or by a share of 1e-10.

    >>> Z = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> fit_sizes(Z, np.exp(2 + 3 * Z[:, 0]), np.ones(4), 0.0).round(6)
    array([2., 3.])
    """
    B = np.empty((len(Z), 1 + Z.shape[1]))
    B[:, 0], B[:, 1:] = 1.0, Z
    ridge = np.append(0.0, np.full(Z.shape[1], pull))
    if start is None:
        start = np.zeros(B.shape[1])
        start[0] = np.log(np.average(sizes, weights=s))
    x, weighted = start, s * sizes

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        """The loss, and s·|r|/σ, which its derivatives are made of."""
        log_size = B @ x
        with np.errstate(over="ignore"):
            ratio = weighted * np.exp(-log_size)
        return float(ratio.sum() + s @ log_size + 0.5 * ridge @ x**2), ratio

    value, ratio = loss(x)
    for _ in range(MOST_STEPS):
        hessian = B.T @ (ratio[:, None] * B)
        hessian.flat[:: len(x) + 1] += ridge + 1e-12 * np.trace(hessian)
        step = np.linalg.solve(hessian, B.T @ (s - ratio) + ridge * x)
        length, before = 1.0, value
        value, ratio = loss(x - step)
        while not value <= before and length > 1e-9:
            length /= 2.0
            value, ratio = loss(x - length * step)
        if not value <= before:
            break
        x = x - length * step
        if before - value <= max(slack, 1e-10 * abs(value)):
            break
    return x
