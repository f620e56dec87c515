"""``python -m paper.demo``: Table I and Figure 1, then a whole model on one screen."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from paper.reproduce import reproduce
from paper.settings import SETTINGS
from studies.errors import told
from studies.packages import ripley

NEXT = """
Try next, in Python:

  from sleek import LowRankLSSVC
  model = LowRankLSSVC().fit(X, y)       # your own data, two classes or more
  model.expected_error_                  # the error to expect on new rows
  model.model_.parts                     # the units, in your own units of measurement
  LowRankLSSVC(5, basis='simplex')       # a piecewise linear model
"""


def main() -> None:
    """Fit every row of Table I, print the table, draw the figure, spell out one model."""
    console = Console()
    console.print("\n[bold]sleek[/bold]: Ripley's two-class problem, 250 training and 1000 test rows\n")
    with told("demo"):
        for part in ("table1", "figure1"):
            reproduce(part, jobs=1, console=console)
    X, y, _, _ = ripley().split(0)
    console.print("\nThe whole model of the absolute criterion:\n")
    console.print(formula(SETTINGS["ripley"]["absolute"].model().fit(X, y)), highlight=False)
    console.print(NEXT, highlight=False, soft_wrap=True)


def formula(model: Any) -> str:
    """A fitted robust RBF model with two features, written out."""
    lines = [f"  y(x) = {model.intercept_[0]:+.3g}"]
    for theta, c, mu in zip(model.unit_weights_[0], model.centers_, model.shapes_, strict=True):
        distance = f"{mu[0]:.3f}|x₁{-c[0]:+.3f}| - {mu[1]:.3f}|x₂{-c[1]:+.3f}|"
        lines.append(f"         {theta:+.3g}·exp(-{distance})")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
