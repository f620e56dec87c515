"""The picture of the readable rivals: error against numbers to read, one panel for each kind of problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from benchmarks.readable_page import BAR, OURS, Standing, standings
from benchmarks.readable_rivals import READABLE
from benchmarks.report_cells import collect
from studies.problems import KINDS, Problem

KIND_WORDS = {"two-class": "two classes", "multi-class": "several classes", "regression": "numbers"}
COLORS = {OURS: "#c1121f", BAR: "#777777"}
# Where a label may stand, in points from its marker, nearest first: right, left, above, below, and between.
PLACES = [
    (r * x, r * y, side)
    for r in (7, 13, 20, 28, 38)
    for x, y, side in (
        (1, 0, "left"), (-1, 0, "right"), (0, 1, "center"), (0, -1, "center"),
        (0.8, 0.8, "left"), (-0.8, 0.8, "right"), (0.8, -0.8, "left"), (-0.8, -0.8, "right"),
    )
]  # fmt: skip


def frontier(points: Sequence[Standing]) -> list[Standing]:
    """Those than which no other has both fewer numbers and a lower error, smallest first."""
    best, kept = np.inf, []
    for point in sorted(points, key=lambda p: (p.numbers, p.error)):
        if point.error < best:
            kept.append(point)
            best = point.error
    return kept


def draw(path: Path, problems: Sequence[Problem], records: Sequence[Mapping[str, Any]]) -> None:
    """Draw and save the picture."""
    cells = collect(problems, [r for r in records if r["method"] in READABLE], READABLE)
    kinds = [kind for kind in KINDS if any(p.kind == kind for p in problems)]
    with matplotlib.rc_context({"font.size": 9}):
        figure = Figure(figsize=(4.3 * len(kinds), 4.4), dpi=150, layout="constrained")
        canvas: Any = FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(kinds), squeeze=False)[0]
        panels = []
        for ax, kind in zip(axes, kinds, strict=True):
            some = [p for p in problems if p.kind == kind]
            points = [s for s in standings(some, cells) if s.ratios and np.isfinite(s.numbers)]
            panel(ax, f"{KIND_WORDS[kind]}: {len(some)} tables", points)
            panels.append((ax, points))
        axes[0].set_ylabel("error / sleek's error (geometric mean)")
        canvas.draw()
        for ax, points in panels:
            label(ax, points, canvas)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)


def panel(ax: Any, title: str, points: Sequence[Standing]) -> None:
    """Markers with standard errors, and the frontier of readable methods and the bar."""
    ax.set(xscale="log", yscale="log", title=title, xlabel="numbers to read (median)")
    edge = frontier(points)
    ax.step(
        [p.numbers for p in edge], [p.error for p in edge], where="post", color="#c9c9c9", lw=1.5, zorder=0
    )
    for p in points:
        color = COLORS.get(p.method, "#1d5a96")
        spread = 0.0 if p.method == OURS or not np.isfinite(p.spread) else p.spread
        reach = [[p.error - p.error / (1 + spread)], [p.error * spread]]
        ax.errorbar(p.numbers, p.error, reach, fmt="o", ms=8 if p.method == OURS else 5, color=color, lw=1)
    ax.margins(x=0.14, y=0.08)
    low, high = ax.get_ylim()
    steps = [t for t in (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 7, 10) if low <= t <= high]
    ax.set_yticks(steps, [f"{t:g}" for t in steps])
    ax.minorticks_off()
    ax.axhline(1, color="#e5b8bb", lw=0.8, zorder=0)
    ax.grid(color="#eeeeee", zorder=-1)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def label(ax: Any, points: Sequence[Standing], canvas: Any) -> None:
    """Names beside markers, each at the first place where it covers nothing."""
    renderer = canvas.get_renderer()
    taken = [_around(ax, p) for p in points]
    frame = ax.get_window_extent(renderer)
    for p in sorted(points, key=lambda p: p.method != OURS):
        bold = "bold" if p.method == OURS else "normal"
        text = ax.annotate(
            READABLE[p.method].title, (p.numbers, p.error), (0, 0), textcoords="offset points", fontsize=8.5,
            color=COLORS.get(p.method, "#123a63"), weight=bold,
        )  # fmt: skip
        costs = []
        for x, y, side in PLACES:
            text.set(position=(x, y), ha=side, va="center")
            box = text.get_window_extent(renderer)
            outside = not (frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1))
            costs.append(sum(box.overlaps(other) for other in taken) + 10 * outside)
            if not costs[-1]:
                break
        x, y, side = PLACES[int(np.argmin(costs))]
        text.set(position=(x, y), ha=side)
        taken.append(text.get_window_extent(renderer))


def _around(ax: Any, p: Standing) -> Bbox:
    """The marker's box on the screen."""
    x, y = ax.transData.transform((p.numbers, p.error))
    return Bbox([[x - 7, y - 7], [x + 7, y + 7]])
