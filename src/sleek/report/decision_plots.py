"""Pictures of models with two features. Needs matplotlib: ``pip install 'sleek-svm[plot]'``."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.distance import DistanceBasis
from sleek.model.kernel_model import KernelModel
from sleek.tables.frames import column_names, column_of

# Okabe and Ito's, which people with any kind of colour vision can tell apart; markers differ besides.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#f0e442")
MARKERS = "os^DvPX*"
UNIT_COLOR = "#3d1a5b"
PALE, STRONG = 0.10, 0.45  # how opaque a region is where its class barely wins, and where it surely does
FEW_ROWS = 2000  # up to here a legend looks for the best place, which takes long with more
MOST_INSIDE = 6  # classes in a legend that has room inside the picture


def plot_decision(
    classifier: Any,
    X: Any,
    y: AnyArray,
    ax: Any = None,
    model: KernelModel | None = None,
    resolution: int = 300,
    legend: bool = True,
) -> Any:
    """Draw a classifier of two features: regions as shades, boundaries as lines, rows as marks, units on top.

    A region has the colour of its class, the stronger the more its output is ahead. Two classes have margins
    besides, dashed, where the output is ±1.

    Parameters
    ----------
    classifier : KernelModel, or fitted classifier with `decision_function` and `classes_`
    X : array of shape (n_samples, 2), or a data frame with the two columns
        The axes are called by the names of the columns.
    y : array of shape (n_samples,)
        The class of each row.
    ax : matplotlib Axes, default: the current one
    model : KernelModel, default=None
        The ``model_`` of a `LowRankLSSVC` whose units are to be drawn: the line on which a unit is halfway
        between its highest and lowest value in the picture, as wide as the unit is heavy, and a cross at its
        centre if it falls off with the distance from one.
    resolution : int, default=300
        Points per axis at which the model is evaluated.
    legend : bool, default=True
        Whether to say what is what.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> classifier = LowRankLSSVC(4, C=10.0, random_state=0).fit(X, y)
    >>> import matplotlib; matplotlib.use("agg")
    >>> plot_decision(classifier, X, y, model=classifier.model_).get_xlabel()
    'x0'
    """
    need("matplotlib", "plot", "Drawing a model")
    import matplotlib.pyplot as plt

    ax = plt.gca() if ax is None else ax
    rows, names = _features(classifier, X)
    classes, labels = classes_of(classifier), np.asarray(y)
    grid_x, grid_y = _grid(rows, resolution)
    points = np.column_stack([grid_x.ravel(), grid_y.ravel()])
    Y = _outputs(classifier, X, points, names).reshape(*grid_x.shape, -1)
    two = Y.shape[2] == 1
    _draw_regions(ax, np.concatenate([-Y, Y], axis=2) if two else Y, grid_x, grid_y)
    if two:
        ax.contour(grid_x, grid_y, Y[..., 0], levels=[-1, 1], colors="0.35", linewidths=0.8, linestyles="--")
    for k, label in enumerate(classes.tolist()):
        turn, color = divmod(k, len(COLORS))  # from the ninth class on a colour comes with another marker
        ax.scatter(
            *rows[labels == label].T,
            s=16,
            c=COLORS[color],
            marker=MARKERS[(color + turn) % len(MARKERS)],
            linewidths=0.3,
            edgecolors="0.15",
            label=str(label),
            zorder=3,
        )
    if model is not None:
        _draw_units(model, ax, grid_x, grid_y, points)
    ax.set_xlim(grid_x.min(), grid_x.max())
    ax.set_ylim(grid_y.min(), grid_y.max())
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    if legend:
        place: dict[str, Any] = {"loc": "best" if len(rows) <= FEW_ROWS else "upper right"}
        if len(classes) > MOST_INSIDE:
            place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
        _draw_legend(ax, two, model, place)
    return ax


def _features(classifier: Any, X: Any) -> tuple[FloatArray, tuple[str, ...]]:
    """The two features of every row, and what they are called."""
    known = getattr(classifier, "feature_names_in_", None)
    if known is None:
        known = getattr(classifier, "feature_names", None)
    names = column_names(X)
    if names is None:
        rows = np.asarray(X, dtype=np.float64)
        names = list(known) if known is not None else [f"x{i}" for i in range(rows.shape[-1])]
    else:
        names = list(known) if known is not None and set(known) <= set(names) else names
        rows = np.column_stack([np.asarray(column_of(X, name), dtype=np.float64) for name in names])
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"A picture needs rows of two features, got an array of shape {rows.shape}.")
    return rows, tuple(map(str, names))


def classes_of(classifier: Any) -> AnyArray:
    if isinstance(classifier, KernelModel):
        if not classifier.outputs.labels:
            raise ValueError(f"A picture needs a classifier, got a model of {classifier.outputs.describe()}.")
        return np.array(classifier.outputs.labels)
    return np.asarray(classifier.classes_)


def _outputs(classifier: Any, X: Any, points: FloatArray, names: tuple[str, ...]) -> FloatArray:
    """Decision values at points: (n, 1) for two classes, else (n, n_classes)."""
    if isinstance(classifier, KernelModel):
        return classifier.outputs_unchecked(points)
    given: Any = points
    if hasattr(classifier, "feature_names_in_") and column_names(X) is not None:
        columns = {name: points[:, i] for i, name in enumerate(names)}
        make = getattr(type(X), "from_pydict", type(X))  # an Arrow table, or a data frame
        given = make(columns)
    return np.asarray(classifier.decision_function(given)).reshape(len(points), -1)


def _grid(rows: FloatArray, resolution: int) -> tuple[FloatArray, FloatArray]:
    low, high = rows.min(axis=0), rows.max(axis=0)
    margin = np.where(high > low, 0.08 * (high - low), 1.0)
    axes = [np.linspace(low[i] - margin[i], high[i] + margin[i], resolution) for i in range(2)]
    grid_x, grid_y = np.meshgrid(*axes)
    return grid_x, grid_y


def _draw_regions(ax: Any, Y: FloatArray, grid_x: FloatArray, grid_y: FloatArray) -> None:
    """Every point in the colour of its class, and a line around each region."""
    from matplotlib.colors import to_rgb

    ahead = np.partition(Y, -2, axis=2)
    gap = ahead[..., -1] - ahead[..., -2]  # between the winner and the next
    share = np.clip(gap / max(float(np.quantile(gap, 0.9)), np.finfo(float).tiny), 0.0, 1.0)
    colors = np.array([to_rgb(COLORS[k % len(COLORS)]) for k in range(Y.shape[2])])
    winner = Y.argmax(axis=2)
    picture = np.concatenate([colors[winner], (PALE + (STRONG - PALE) * share)[..., None]], axis=2)
    extent = (grid_x.min(), grid_x.max(), grid_y.min(), grid_y.max())
    ax.imshow(picture, extent=extent, origin="lower", aspect="auto", zorder=0)
    regions = range(1, Y.shape[2]) if Y.shape[2] == 2 else range(Y.shape[2])
    for k in regions:
        if (winner == k).any() and not (winner == k).all():
            others = np.delete(Y, k, axis=2).max(axis=2)
            ax.contour(grid_x, grid_y, Y[..., k] - others, levels=[0], colors="black", linewidths=1.6)


def _draw_units(
    model: KernelModel, ax: Any, grid_x: FloatArray, grid_y: FloatArray, points: FloatArray
) -> None:
    """A line for each unit that changes within the picture, and a cross at each centre."""
    weight = np.abs(model.theta).max(axis=1)
    strength = weight / max(float(weight.max()), np.finfo(float).tiny)
    for j, values in enumerate(model.features(points).T):
        if not values.max() > values.min():
            continue
        ax.contour(
            grid_x,
            grid_y,
            values.reshape(grid_x.shape),
            levels=[(values.max() + values.min()) / 2],
            colors=UNIT_COLOR,
            linewidths=0.5 + 1.3 * strength[j],
            linestyles="dotted",
            zorder=4,
        )
    for part in model.parts:
        if isinstance(part.basis, DistanceBasis):
            ax.scatter(*part.units["centers"].T, marker="X", s=80, c=UNIT_COLOR, edgecolors="white", zorder=5)


def _draw_legend(ax: Any, two: bool, model: KernelModel | None, place: dict[str, Any]) -> None:
    """The classes by their marks, and what the lines are."""
    from matplotlib.lines import Line2D

    marks, words = ax.get_legend_handles_labels()
    marks.append(Line2D([], [], color="black", linewidth=1.6))
    words.append("boundary")
    if two:
        marks.append(Line2D([], [], color="0.35", linewidth=0.8, linestyle="--"))
        words.append("margins, output ±1")
    if model is not None:
        cross = "X" if any(isinstance(part.basis, DistanceBasis) for part in model.parts) else None
        marks.append(
            Line2D(
                [],
                [],
                color=UNIT_COLOR,
                linestyle="dotted",
                marker=cross,
                markersize=7,
                markeredgecolor="white",
            )
        )
        words.append("unit, halfway line")
    ax.legend(marks, words, fontsize="small", framealpha=0.85, **place)
