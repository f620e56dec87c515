"""Pictures of how far probabilities and intervals can be relied on. Needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.packages import need
from sleek._runtime.types import AnyArray, FloatArray
from sleek.report.decision_plots import COLORS, classes_of

LEAST_IN_BIN = 10  # rows: fewer tell nothing about a share
HISTOGRAM_BINS = 40


def plot_reliability(
    classifier: Any, X: Any, y: AnyArray, label: Any = None, ax: Any = None, n_bins: int = 10
) -> Any:
    """Draw how often a class occurs where it is said to be so probable, and below how probabilities spread.

    Rows are put into bins of equal size by the probability of the class. On the diagonal it occurs as often
    as promised; bars are two standard errors.

    Parameters
    ----------
    classifier : fitted classifier with `predict_proba` and `classes_`, or KernelModel
    X : array-like of shape (n_samples, n_features)
        Rows that were not used in the fit.
    y : array-like of shape (n_samples,)
        Their classes.
    label : default: the second of two classes
        The class to draw. With more than two classes, None draws the predicted one: how often it is right.
    ax : matplotlib Axes, default: the current one
    n_bins : int, default=10
        At most so many, of at least 10 rows each.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(1250, random_state=0)
    >>> classifier = LowRankLSSVC(4, C=10.0, random_state=0).fit(X[:250], y[:250])
    >>> import matplotlib; matplotlib.use("agg")
    >>> plot_reliability(classifier, X[250:], y[250:]).get_ylabel()
    'how often it is 1'
    """
    ax = _axes(ax)
    classes = classes_of(classifier)
    P, truth = np.asarray(classifier.predict_proba(X)), np.asarray(y)
    if len(truth) != len(P):
        raise ValueError(f"There must be a class for each of {len(P)} rows, got {len(truth)}.")
    if label is None and len(classes) > 2:
        chosen = P.argmax(axis=1)
        said, hit, word = P.max(axis=1), classes[chosen] == truth, "right"
    else:
        label = classes.tolist()[1] if label is None else label
        if label not in classes.tolist():
            raise ValueError(f"`label` must be one of {classes.tolist()}, got {label!r}.")
        said, hit, word = P[:, classes.tolist().index(label)], truth == label, str(label)
    x, share, error = _bin(said, hit, n_bins)
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--", zorder=1)
    ax.errorbar(
        x, share, 2 * error, color=COLORS[0], marker="o", markersize=5, linewidth=1.2, capsize=2, zorder=3
    )
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel(f"how often it is {word}")
    below = _below(ax)
    edges = np.linspace(0, 1, HISTOGRAM_BINS + 1)
    below.hist([said[~hit], said[hit]], edges, stacked=True, color=[COLORS[1], COLORS[0]],
               label=["it is not", "it is"])  # fmt: skip
    below.set_xlabel("probability said" if word == "right" else f"probability said of {word}")
    below.set_ylabel("rows")
    below.legend(fontsize="small", framealpha=0.85)
    return ax


def plot_coverage(
    regressor: Any,
    X: Any,
    y: AnyArray,
    confidence_level: float = 0.9,
    ax: Any = None,
    n_bins: int = 10,
    groups: Any = None,
) -> Any:
    """Draw how many targets intervals hold, by the predicted size of errors, and below how sizes spread.

    Rows are put into bins of equal size by the width of their interval. Where dots are at the dashed level,
    narrow intervals keep their promise as wide ones do; bars are two standard errors.

    Parameters
    ----------
    regressor : fitted `LowRankLSSVR` or `LSSVR`, or KernelModel
    X : array-like of shape (n_samples, n_features)
        Rows that were not used in the fit.
    y : array-like of shape (n_samples,)
        Their targets.
    confidence_level : float, default=0.9
    ax : matplotlib Axes, default: the current one
    n_bins : int, default=10
        At most so many, of at least 10 rows each.
    groups : array-like of shape (n_samples,), default=None
        The group of each row, if `conformalize` was given groups.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sleek import LowRankLSSVR
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=400)
    >>> import matplotlib; matplotlib.use("agg")
    >>> regressor = LowRankLSSVR(4, C=10.0, random_state=0).fit(X[:200], y[:200])
    >>> plot_coverage(regressor, X[200:], y[200:]).get_ylabel()
    'targets within'
    """
    ax = _axes(ax)
    options = {} if groups is None else {"groups": groups}
    ends, truth = regressor.predict_interval(X, confidence_level, **options), np.asarray(y, dtype=np.float64)
    if ends.ndim != 2 or truth.shape != (len(ends),):
        raise ValueError("Coverage is drawn for one target and one level, with a target for each row.")
    widths, inside = ends[:, 1] - ends[:, 0], (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    x, share, error = _bin(widths, inside, n_bins)
    ax.axhline(confidence_level, color="0.6", linewidth=1, linestyle="--", zorder=1)
    ax.errorbar(
        x, share, 2 * error, color=COLORS[0], marker="o", markersize=5, linewidth=1.2, capsize=2, zorder=3
    )
    ax.set_ylim(min(confidence_level - 0.15, float((share - 2 * error).min()) - 0.02), 1.02)
    ax.set_ylabel("targets within")
    ax.set_title(
        f"{100 * confidence_level:g} % intervals: {100 * inside.mean():.1f} % within", fontsize="medium"
    )
    below, low, high = _below(ax), float(widths.min()), float(widths.max())
    if not high - low > 1e-6 * high:  # all of one width
        low, high = 0.99 * low, 1.01 * high
    edges = np.linspace(low, max(high, low + 1e-12), HISTOGRAM_BINS + 1)
    below.hist([widths[~inside], widths[inside]], edges, stacked=True, color=[COLORS[1], COLORS[0]],
               label=["outside", "within"])  # fmt: skip
    below.set_xlabel("width of the interval")
    below.set_ylabel("rows")
    below.legend(fontsize="small", framealpha=0.85)
    return ax


def _axes(ax: Any) -> Any:
    need("matplotlib", "plot", "Drawing a model")
    import matplotlib.pyplot as plt

    return plt.gca() if ax is None else ax


def _below(ax: Any) -> Any:
    """Smaller axes below others, with the same horizontal axis."""
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    below = make_axes_locatable(ax).append_axes("bottom", size="30%", pad=0.1, sharex=ax)
    ax.tick_params(labelbottom=False)
    return below


def _bin(values: FloatArray, hit: AnyArray, n_bins: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows in bins of equal size by a number: its mean, the share of hits, and the standard error of that.

    One hit and one miss are added for the error, so that a bin without misses has one too.

    >>> [found.tolist() for found in _bin(np.arange(40.0), np.arange(40) >= 20, 2)[:2]]
    [[9.5, 29.5], [0.0, 1.0]]
    """
    count = max(1, min(n_bins, len(values) // LEAST_IN_BIN))
    bins = np.array_split(np.argsort(values, kind="stable"), count)
    x = np.array([values[rows].mean() for rows in bins])
    share = np.array([hit[rows].mean() for rows in bins])
    size = np.array([len(rows) for rows in bins])
    smoothed = (share * size + 1.0) / (size + 2.0)
    return x, share, np.sqrt(smoothed * (1.0 - smoothed) / size)
