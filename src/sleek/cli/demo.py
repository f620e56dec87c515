"""`sleek demo`: fits a small problem in a few seconds and draws the classes in the terminal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.text import Text

from sleek import LowRankLSSVC
from sleek._runtime.counting import how_many
from sleek._runtime.types import AnyArray, FloatArray
from sleek.cli.show import show_model
from sleek.datasets import make_ripley
from sleek.model.kernel_model import KernelModel
from sleek.report.expected import expected_error, in_words

ACROSS, UP = (-1.3, 1.0), (-0.25, 1.15)  # what the picture shows of the plane
HEIGHT, WIDEST = 20, 100  # lines and characters of the picture
MARKS = "o+"  # of the rows of the two classes
GROUNDS = ("on #1f3b66", "on #66401f")  # of the two regions
DOTS = ("bright_cyan", "bright_yellow")


def run(console: Console) -> None:
    """Fit Ripley's two classes, and show errors, regions and units."""
    X, y = make_ripley(1250, random_state=0)
    estimator = LowRankLSSVC(6, basis="gaussian_rbf", random_state=0).fit(X[:250], y[:250])
    model = replace(estimator.model_, feature_names=("across", "up"))
    mistakes = float(np.mean(model.predict(X[250:]) != y[250:]))
    console.print("Two classes, each made of two clouds: 250 rows to learn from, 1000 to test.\n")
    console.print(f"model           {how_many(estimator.n_units_, 'unit')}")
    if model.facts is not None:
        console.print(f"expected error  {in_words(expected_error(model.outputs, model.facts))}")
    console.print(f"test error      {100 * mistakes:.1f} % (no model can do better than about 8 %)\n")
    for line in picture(
        model, X[:250], y[:250], min(console.width, WIDEST), console.color_system is not None
    ):
        console.print(line)
    console.print("\nThe whole model, a sum of bumps:\n")
    show_model(model, console)
    console.print("\nNow your own table:  sleek fit data.csv --target COLUMN -o model.json")


def picture(model: KernelModel, X: FloatArray, y: AnyArray, width: int, colours: bool) -> list[Text]:
    """The regions of the two classes as lines of text, in colour or with dots, and the rows as marks."""
    grid = np.stack(np.meshgrid(np.linspace(*ACROSS, width), np.linspace(*UP[::-1], HEIGHT)), axis=-1)
    region = (model.decision_function(grid.reshape(-1, 2)) > 0).reshape(HEIGHT, width).astype(int)
    marks = dict(zip(_cells(X, width), y.tolist(), strict=True))
    lines = []
    for i in range(HEIGHT):
        line = Text()
        for j in range(width):
            label, ground = marks.get((i, j)), GROUNDS[region[i, j]]
            blank = " " if colours else " ."[region[i, j]]
            text, style = (blank, ground) if label is None else (MARKS[label], f"{DOTS[label]} {ground}")
            line.append(text, style=style if colours else None)
        lines.append(line)
    return lines


def _cells(points: FloatArray, width: int) -> list[tuple[int, int]]:
    """The line and character of each point."""
    across = (points[:, 0] - ACROSS[0]) / (ACROSS[1] - ACROSS[0]) * (width - 1)
    down = (UP[1] - points[:, 1]) / (UP[1] - UP[0]) * (HEIGHT - 1)
    return [(round(i), round(j)) for i, j in zip(down.tolist(), across.tolist(), strict=True)]
