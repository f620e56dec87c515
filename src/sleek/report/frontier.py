"""Plot of the error against the size of the model (`path_`). Needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sleek._runtime.counting import how_many
from sleek._runtime.packages import need

LINE, UNITS, CHOSEN = "#0072b2", "#009e73", "#d55e00"  # three of Okabe and Ito's
KINDS = ("single columns", "with units")


def plot_path(estimator: Any, ax: Any = None) -> Any:
    """Draw the ladder of a fitted estimator: error against numbers to read, and what was chosen.

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
    'numbers to read'
    >>> import matplotlib.pyplot as plt; plt.close()
    """
    check_is_fitted(estimator, "path_")
    path = estimator.path_
    if not path:
        raise ValueError("There is one size only: it was given by `n_units` or `init`. Leave it at 'auto'.")
    need("matplotlib", "plot", "Drawing")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    ax = plt.gca() if ax is None else ax
    numbers, errors, bars = (np.array(path[name]) for name in ("n_numbers", "error", "error_std"))
    chosen = path["chosen"].index(True)
    kinds = [KINDS[units > 0] for units in path["n_units"]]
    for kind, color in zip(KINDS, (LINE, UNITS), strict=True):
        own = np.array([one == kind for one in kinds])
        ax.errorbar(numbers[own], errors[own], bars[own], color=color, marker="o", capsize=3, label=kind)
    words = f"chosen: {how_many(int(numbers[chosen]), 'number')}"
    ax.plot(numbers[chosen], errors[chosen], "o", color=CHOSEN, markersize=11, zorder=3, label=words)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0.0)
    ax.yaxis.set_major_locator(MaxNLocator(6))
    ax.set_xlabel("numbers to read")
    ax.set_ylabel("share of mistakes" if hasattr(estimator, "classes_") else "mean squared error")
    ax.legend(frameon=False)
    return ax
