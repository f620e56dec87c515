"""The paper's first experiment: Table I measured beside published, and its four decision boundaries."""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib
import numpy as np
from paper import load_ripley, table_1
from rich.console import Console
from rich.progress import track
from rich.table import Table

from sleek import LowRankLSSVC
from sleek.plots import plot_decision

matplotlib.use("agg")

PICTURE = Path("results/demo.png")
PANELS = {
    "LSSVM-Gaussian (σ=1.0)": "Dense LS-SVM, Gaussian kernel, σ = 1",
    "LSSVM-SBF": "LSSVM-SBF (simplex units)",
    "Proposed (absolute)": "Robust RBF units, absolute criterion",
    "Proposed (squared)": "Robust RBF units, squared criterion",
}


def main() -> None:
    """Fit every row of Table I, print the table, draw the figure."""
    console = Console()
    X, y, X_test, y_test = load_ripley()
    console.print("\n[bold]sleek[/bold]: Ripley's two-class problem, 250 training and 1000 test rows\n")
    table = Table(title="Table I: test error in per cent")
    for heading in ("model", "measured", "published", "terms", "fit"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    models = {}
    for row in track(table_1(), "fitting", console=console, transient=True):
        begin = time.perf_counter()
        row.model.fit(X, y)
        seconds = time.perf_counter() - begin
        error = 100 * (1 - row.model.score(X_test, y_test))
        models[row.label] = (row.model, error)
        low_rank = isinstance(row.model, LowRankLSSVC)
        terms, style = (row.model.n_units_, "bold") if low_rank else (len(X), None)
        published = "" if row.published is None else f"{row.published:.1f}"
        table.add_row(
            row.label, f"{error:.1f}", published, str(terms), f"{1000 * seconds:.0f} ms", style=style
        )
    console.print(table)
    draw({title: models[label] for label, title in PANELS.items()}, X, y)
    console.print(f"\nDecision boundaries with the units drawn in: [bold]{PICTURE}[/bold]")
    explain(console, *models["Proposed (absolute)"])


def draw(panels: dict, X: np.ndarray, y: np.ndarray) -> None:
    """The paper's figure 1 as one picture."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 9), layout="constrained", sharex=True, sharey=True)
    for ax, (title, (model, error)) in zip(axes.flat, panels.items(), strict=True):
        plot_decision(model, X, y, ax, model.model_ if isinstance(model, LowRankLSSVC) else None)
        ax.set_title(f"{title}: {error:.1f} % test error", fontsize=11)
    figure.suptitle(
        "Boundary (solid), margins ±1 (dashed), units: centre and halfway line (purple)", fontsize=10
    )
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


def explain(console: Console, model, error: float) -> None:
    """Print the whole model, and what to try next."""
    terms = [
        f"{theta:+.3g}·exp(-{mu[0]:.3f}|x₁{-c[0]:+.3f}| - {mu[1]:.3f}|x₂{-c[1]:+.3f}|)"
        for theta, c, mu in zip(model.coef_[0], model.centers_, model.shapes_, strict=True)
    ]
    console.print(f"\nThe whole model of the absolute criterion, {error:.1f} % error:\n")
    console.print(
        f"  y(x) = {model.intercept_[0]:+.3g}", *(f"\n         {term}" for term in terms), highlight=False
    )
    console.print(
        "\nTry next, in Python:\n\n"
        "  from sleek import LowRankLSSVC\n"
        "  model = LowRankLSSVC().fit(X, y)       # your own data, two classes or more\n"
        "  model.loo_error_                       # the error to expect on new rows\n"
        "  model.model_.units                     # the units, in your own units of measurement\n"
        "  LowRankLSSVC(5, basis='simplex')       # a piecewise linear model\n",
        highlight=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
