"""What more units bring, as a picture. Needs matplotlib: ``pip install 'sleek-svm[plot]'``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sleek._runtime.packages import need

LINE, CHOSEN = "#0072b2", "#d55e00"  # two of Okabe and Ito's


def plot_path(estimator: Any, ax: Any = None) -> Any:
    """Draw a fitted estimator's error against its number of units, and which size was chosen.

    Bars are standard errors of each error; those of differences, by which sizes are compared, are smaller.

    Parameters
    ----------
    estimator : fitted LowRankLSSVC or LowRankLSSVR
        Whose number of units was left to be chosen.
    ax : matplotlib Axes, default: the current one

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> ax = plot_path(LowRankLSSVC(random_state=0).fit(*make_ripley(100, random_state=0)))
    >>> ax.get_xlabel()
    'units'
    """
    check_is_fitted(estimator, "path_")
    path = estimator.path_
    if not path:
        raise ValueError("There is one size only: it was given by `n_units` or `init`. Leave it at 'auto'.")
    need("matplotlib", "plot", "Drawing")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    ax = plt.gca() if ax is None else ax
    units = np.array(path["n_units"])
    best = [
        np.flatnonzero(units == size)[np.argmin(np.array(path["loss"])[units == size])] for size in set(units)
    ]
    chosen = path["chosen"].index(True)
    shown = sorted({*(int(i) for i in best if units[i] != units[chosen]), chosen}, key=lambda i: units[i])
    x, y, bars = (np.array(path[name])[shown] for name in ("n_units", "error", "error_std"))
    ax.errorbar(x, y, bars, color=LINE, marker="o", capsize=3, label="tried")
    features = path["n_linear"][chosen]
    words = f"chosen: {units[chosen]} units" + (f" and {features} linear features" if features else "")
    ax.plot(units[chosen], path["error"][chosen], "o", color=CHOSEN, markersize=11, zorder=3, label=words)
    ax.set_xscale("symlog", linthresh=10)
    ax.set_xticks(x, [str(size) for size in x])
    ax.minorticks_off()
    ax.set_ylim(bottom=0.0)
    ax.yaxis.set_major_locator(MaxNLocator(6))
    ax.set_xlabel("units")
    ax.set_ylabel("share of mistakes" if hasattr(estimator, "classes_") else "mean squared error")
    ax.legend(frameon=False)
    return ax
