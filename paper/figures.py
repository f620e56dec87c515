"""The paper's Figure 1, and the error against the number of units."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paper.methods import TABLE_1_METHODS, Method
from paper.settings import TITLES
from sleek import LSSVC, LowRankLSSVC
from sleek.report.decision_plots import plot_decision
from studies.problems import Problem
from studies.store import Record

PANELS = {
    "dense 1.0": "(a) LS-SVM, Gaussian kernel, σ = 1",
    "sbf": "(b) LSSVM-SBF",
    "absolute": "(c) Robust RBF, absolute criterion",
    "squared": "(d) Robust RBF, squared criterion",
}
STYLES = {
    "absolute": ("#3b6fb6", "o"),
    "squared": ("#d1702f", "s"),
    "target": ("#3a8f5d", "^"),
    "sleek": ("#5b2a86", "D"),
}


def _canvas() -> Any:
    """matplotlib's figures without any window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    def make(**options: Any) -> Any:
        figure = Figure(layout="constrained", **options)
        FigureCanvasAgg(figure)
        return figure

    return make


def decision_boundaries(problem: Problem, path: Path) -> dict[str, Any]:
    """Draw Figure 1 for Ripley's data; the fitted models by their key in Table I."""
    X, y, X_test, y_test = problem.split(0)
    figure = _canvas()(figsize=(11, 9))
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    methods = {method.key: method for method in TABLE_1_METHODS}
    models: dict[str, Any] = {}
    for ax, (key, title) in zip(axes.flat, PANELS.items(), strict=True):
        model: LSSVC | LowRankLSSVC = methods[key].make(problem.name, 0, {}).fit(X, y)
        error = 100.0 * float(np.mean(model.predict(X_test) != y_test))
        units = model.model_ if isinstance(model, LowRankLSSVC) else None
        plot_decision(model, X, y, ax, units)
        size = methods[key].size(model)
        ax.set_title(f"{title}: {error:.1f} % test error, {size} terms", fontsize=10.5)
        models[key] = model
    figure.suptitle(
        "Boundary y = 0 (solid), margins y = ±1 (dashed), units: centre and halfway line (purple)",
        fontsize=10,
    )
    figure.savefig(path, dpi=130)
    return models


def error_by_size(curves: Sequence[tuple[Problem, Sequence[tuple[Method, int, Record]]]], path: Path) -> None:
    """Draw test error against number of units, one panel for each problem, one line for each method."""
    figure = _canvas()(figsize=(5.5 * len(curves), 4.2))
    axes = np.atleast_1d(figure.subplots(1, len(curves)))
    for ax, (problem, points) in zip(axes, curves, strict=True):
        for method in dict.fromkeys(method for method, _, _ in points):
            sizes = sorted({size for other, size, _ in points if other == method})
            errors = [
                [record["error"] for other, n, record in points if (other, n) == (method, size)]
                for size in sizes
            ]
            color, marker = STYLES[method.key]
            means = [np.mean(values) for values in errors]
            ax.plot(sizes, means, color=color, marker=marker, markersize=5, label=method.label)
            if len(errors[0]) > 1:
                spread = [np.std(values, ddof=1) / np.sqrt(len(values)) for values in errors]
                low, high = np.subtract(means, spread), np.add(means, spread)
                ax.fill_between(sizes, low, high, color=color, alpha=0.12, linewidth=0)
        count = len({record["number"] for _, _, record in points})
        extent = f" ({count})" if count > 1 else ""
        ax.set_title(f"{TITLES[problem.name]}: {problem.origin}{extent}", fontsize=10)
        ax.set_xlabel("number of units")
        ax.set_ylabel("test error (%)")
        ax.set_xticks(sizes)
        ax.grid(alpha=0.25)
        ax.legend(fontsize=9)
    figure.savefig(path, dpi=130)
