"""Pictures of models with two features. Needs matplotlib: ``pip install 'sleek[plot]'``."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.model.kernel_model import KernelModel

COLORS = ("#3b6fb6", "#d1702f")
UNIT_COLOR = "#5b2a86"


def plot_decision(
    classifier: Any,
    X: AnyArray,
    y: AnyArray,
    ax: Any = None,
    model: KernelModel | None = None,
    resolution: int = 300,
) -> Any:
    """Draw a two-class model: its outputs as shades, boundary and margins as lines, units on top.

    Parameters
    ----------
    classifier : fitted classifier with `decision_function` and two `classes_`
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
    ax : matplotlib Axes, default: the current one
    model : KernelModel, default=None
        The ``model_`` of a `LowRankLSSVC` whose units are to be drawn: a cross at the centre (where the basis
        has one), and the line on which the unit is halfway between its highest and lowest value in the
        picture, as wide as the unit is heavy.
    resolution : int, default=300
        Points per axis at which the model is evaluated.

    Returns
    -------
    matplotlib Axes
    """
    import matplotlib.pyplot as plt

    ax = plt.gca() if ax is None else ax
    grid_x, grid_y = _grid(X, resolution)
    points = np.column_stack([grid_x.ravel(), grid_y.ravel()])
    output = classifier.decision_function(points).reshape(grid_x.shape)
    limit = max(1.0, float(np.quantile(np.abs(output), 0.95)))
    ax.contourf(
        grid_x,
        grid_y,
        output,
        levels=np.linspace(-limit, limit, 25),
        cmap="RdYlBu_r",
        alpha=0.35,
        extend="both",
    )
    ax.contour(grid_x, grid_y, output, levels=[-1, 1], colors="0.35", linewidths=0.8, linestyles="dashed")
    ax.contour(grid_x, grid_y, output, levels=[0], colors="black", linewidths=1.8)
    for label, color, marker in zip(classifier.classes_, COLORS, "os", strict=True):
        rows = X[y == label]
        ax.scatter(rows[:, 0], rows[:, 1], s=14, c=color, marker=marker, linewidths=0.3, edgecolors="white")
    if model is not None:
        _draw_units(model, ax, grid_x, grid_y, points)
    ax.set_xlim(grid_x.min(), grid_x.max())
    ax.set_ylim(grid_y.min(), grid_y.max())
    return ax


def _grid(X: AnyArray, resolution: int) -> tuple[FloatArray, FloatArray]:
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.08 * (high - low)
    axes = [np.linspace(low[i] - margin[i], high[i] + margin[i], resolution) for i in range(2)]
    grid_x, grid_y = np.meshgrid(*axes)
    return grid_x, grid_y


def _draw_units(
    model: KernelModel, ax: Any, grid_x: FloatArray, grid_y: FloatArray, points: FloatArray
) -> None:
    Phi = model.features(points)
    strength = np.abs(model.theta[:, 0]) / max(np.abs(model.theta).max(), np.finfo(float).tiny)
    for j, values in enumerate(Phi.T):
        ax.contour(
            grid_x,
            grid_y,
            values.reshape(grid_x.shape),
            levels=[(values.max() + values.min()) / 2],
            colors=UNIT_COLOR,
            linewidths=0.6 + 1.6 * strength[j],
            alpha=0.8,
        )
    if "centers" in model.units.arrays:
        ax.scatter(*model.units["centers"].T, marker="X", s=90, c=UNIT_COLOR, edgecolors="white", zorder=5)
