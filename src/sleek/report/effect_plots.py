"""Effects as pictures: what each column does to the predictions, and which pairs act together."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.packages import need
from sleek.model.effect_words import value_in_words
from sleek.model.effects import Curve, Effects, Pair

LINE, BARS, COLORMAP = "#0072b2", "#bbbbbb", "RdBu_r"
MOST_PANELS = 12
PANELS_PER_ROW = 4
MOST_LEVELS = 12
LEAST_SHARE = 0.005


def plot_effects(model: Any, output: int = 0, most: int = MOST_PANELS) -> Any:
    """Draw the curves and pairs of a model, the largest first.

    A curve is what a column alone adds to the output; grey bars below it say how common its values were in
    training. A pair is what two columns add together, beside their curves: red adds, blue takes off.

    Parameters
    ----------
    model : KernelModel, or fitted LowRankLSSVC or LowRankLSSVR
    output : int, default=0
        Which output: one for each class if there are three or more, one for each target.
    most : int, default=12
        How many pictures at most; the title says how much they leave out.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> figure = plot_effects(LowRankLSSVC(4, C=10.0, random_state=0).fit(*make_ripley(250, random_state=0)))
    >>> [ax.get_xlabel() for ax in figure.axes if ax.get_xlabel()][:2]
    ['x1', 'x0']
    """
    need("matplotlib", "plot", "Drawing effects")
    import matplotlib.pyplot as plt

    effects = _effects_of(model)
    shares = effects.shares_of(output)
    shown = [name for name, share in shares.items() if share >= LEAST_SHARE][:most]
    n_columns = min(PANELS_PER_ROW, max(1, len(shown)))
    n_rows = max(1, -(-len(shown) // n_columns))
    figure, grid = plt.subplots(
        n_rows, n_columns, figsize=(3.4 * n_columns, 2.9 * n_rows), squeeze=False, layout="constrained"
    )
    curves = [effects.curves[name].outputs[:, output] for name in shown if not isinstance(name, tuple)]
    low, high = (min(map(np.min, curves)), max(map(np.max, curves))) if curves else (-1.0, 1.0)
    margin = 0.05 * (high - low) or 1.0
    limits = (low - margin, high + margin)
    for ax, name in zip(grid.ravel(), shown, strict=False):
        if isinstance(name, tuple):
            _draw_pair(effects.pairs[name], output, ax, shares[name])
        else:
            _draw_curve(effects.curves[name], output, ax, shares[name], limits)
    for ax in grid.ravel()[len(shown) :]:
        ax.set_axis_off()
    left = 1.0 - sum(shares[name] for name in shown)
    more = f" {100 * left:.0f} % is not in this picture." if left >= LEAST_SHARE else ""
    said = effects.sentence if len(effects.mean) == 1 else "What each column adds, and pairs together."
    figure.suptitle(f"{effects.model.outputs.names[output]}: {said}{more}", fontsize="medium")
    return figure


def plot_effect(model: Any, name: str | tuple[str, str], output: int = 0, ax: Any = None) -> Any:
    """Draw what one column, or a pair of columns, does to an output.

    Parameters
    ----------
    model : KernelModel, or fitted LowRankLSSVC or LowRankLSSVR
    name : str or pair of str
        The name of a column, or of two.
    output : int, default=0
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
    >>> model = LowRankLSSVC(4, C=10.0, random_state=0).fit(*make_ripley(250, random_state=0))
    >>> plot_effect(model, "x1").get_xlabel()
    'x1'
    """
    need("matplotlib", "plot", "Drawing effects")
    import matplotlib.pyplot as plt

    ax = plt.gca() if ax is None else ax
    effects = _effects_of(model)
    if isinstance(name, tuple):
        pair = effects.pairs.get(name)
        if pair is None:
            known = ", ".join(map(repr, effects.pairs)) or "no pair at all"
            raise ValueError(f"The pair {name!r} has less than 0.1 % of the variance; listed are {known}.")
        _draw_pair(pair, output, ax, effects.shares_of(output)[name])
    elif name in effects.curves:
        _draw_curve(effects.curves[name], output, ax, effects.shares_of(output)[name], None)
    else:
        raise ValueError(f"The model reads no column {name!r}, only {', '.join(map(repr, effects.curves))}.")
    return ax


def _effects_of(model: Any) -> Effects:
    return Effects(getattr(model, "model_", model))


def _draw_curve(curve: Curve, output: int, ax: Any, share: float, limits: tuple[float, float] | None) -> None:
    """A line over numbers, or a bar for each level; the distribution below."""
    y = curve.outputs[:, output]
    words = np.array([isinstance(value, str) for value in curve.values])
    if words.all():
        _draw_levels(curve, y, ax, share, limits)
        return
    x = np.array([value for value, word in zip(curve.values, words, strict=True) if not word])
    ax.axhline(0.0, color="black", linewidth=0.6)
    ax.plot(x, y[~words], color=LINE, marker="." if len(x) <= 12 else None)
    for i in np.flatnonzero(words):  # a gap has no place on the axis
        ax.axhline(y[i], color=LINE, linestyle=":", linewidth=1)
        ax.annotate(curve.values[i], (1.0, y[i]), xycoords=("axes fraction", "data"), ha="right", va="bottom",
                    fontsize="x-small", color=LINE)  # fmt: skip
    if limits is not None:
        ax.set_ylim(*limits)
    below = ax.inset_axes((0, 0, 1, 0.14), sharex=ax)
    if len(x) > 1:
        below.bar(*_bars(x, curve.weights[~words]), color=BARS)
    below.set_axis_off()
    below.set_zorder(ax.get_zorder() - 1)
    ax.patch.set_visible(False)
    ax.set_xlabel(curve.column)
    ax.set_title(f"{100 * share:.0f} %", fontsize="small", loc="right")
    if np.issubdtype(x.dtype, np.datetime64):
        ax.tick_params(axis="x", labelrotation=30)


def _bars(x: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Middles, heights and widths of bars whose areas are the weights: bins reach halfway to the next."""
    step = np.diff(x)
    edges = np.concatenate([[x[0] - step[0] / 2], x[:-1] + step / 2, [x[-1] + step[-1] / 2]])
    widths = np.diff(edges)
    return edges[:-1] + widths / 2, weights / widths.astype(np.float64), widths


def _draw_levels(curve: Curve, y: Any, ax: Any, share: float, limits: tuple[float, float] | None) -> None:
    kept = np.argsort(-curve.weights * np.abs(y), kind="stable")[:MOST_LEVELS]
    kept = kept[np.argsort(y[kept], kind="stable")]
    names = [f"{_shorten(curve.values[i])} ({100 * curve.weights[i]:.0f} %)" for i in kept]
    ax.axvline(0.0, color="black", linewidth=0.6)
    ax.barh(np.arange(len(kept)), y[kept], color=LINE)
    ax.set_yticks(np.arange(len(kept)), names, fontsize="x-small")
    more = f", {len(y) - len(kept)} more levels" if len(y) > len(kept) else ""
    ax.set_xlabel(f"{curve.column}{more}")
    ax.set_title(f"{100 * share:.0f} %", fontsize="small", loc="right")
    if limits is not None:
        ax.set_xlim(*limits)


def _draw_pair(pair: Pair, output: int, ax: Any, share: float) -> None:
    """A map: one column across, the other upwards, at equal steps of their points."""
    y = pair.outputs[:, :, output].T
    most = float(np.abs(y).max()) or 1.0
    image = ax.pcolormesh(y, cmap=COLORMAP, vmin=-most, vmax=most)
    ax.figure.colorbar(image, ax=ax, fraction=0.06)
    for axis, values in ((ax.xaxis, pair.values[0]), (ax.yaxis, pair.values[1])):
        most = MOST_LEVELS if isinstance(values[0], str) else 4
        places = np.unique(np.linspace(0, len(values) - 1, min(len(values), most)).round().astype(int))
        axis.set_ticks(places + 0.5, [_shorten(values[i]) for i in places], fontsize="x-small")
    ax.set_xlabel(pair.columns[0])
    ax.set_ylabel(pair.columns[1])
    ax.set_title(f"{100 * share:.0f} %", fontsize="small", loc="right")


def _shorten(value: Any) -> str:
    """A value that fits beside an axis."""
    text = value_in_words(value)
    return text if len(text) <= 14 else text[:13] + "…"
