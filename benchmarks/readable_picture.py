"""The picture of the readable rivals: error against numbers to read, one panel for each kind of problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from benchmarks.readable_page import BAR, ENOUGH, OURS, Standing, standings
from benchmarks.readable_rivals import READABLE
from benchmarks.report_cells import collect
from studies.problems import KINDS, Problem

KIND_WORDS = {"two-class": "two classes", "multi-class": "several classes", "regression": "numbers"}
FINE, COARSE = (
    (0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 1.7, 2),
    (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10),
)
Place = tuple[float, float, str]
COLORS = {
    OURS: "#c1121f", "sleek-30": "#c1121f", "sleek-100": "#c1121f", BAR: "#777777", "tree": "#2f7d32",
    "figs": "#7a5c00", "lasso": "#1d5a96", "erbf": "#6a3d9a", "rulefit": "#a1490b", "igann": "#00838f",
    "fasterrisk": "#ad1457", "aplr": "#4e6b0f", "pygam": "#123a63", "ebm": "#b07800",
}  # fmt: skip
# Where a label may stand, in points from its marker, nearest first: right, left, above, below, and between.
PLACES: list[Place] = [
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
            points = [s for s in standings(some, cells) if s.share >= ENOUGH and np.isfinite(s.numbers)]
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
        color = COLORS[p.method]
        spread = 0.0 if p.method == OURS or not np.isfinite(p.spread) else p.spread
        reach = [[p.error - p.error / (1 + spread)], [p.error * spread]]
        ax.errorbar(p.numbers, p.error, reach, fmt="o", ms=8 if p.method == OURS else 5, color=color, lw=1)
    ax.margins(x=0.14, y=0.08)
    low, high = ax.get_ylim()
    steps = [t for t in (FINE if high < 2.5 * low else COARSE) if low <= t <= high]
    ax.set_yticks(steps, [f"{t:g}" for t in steps])
    ax.minorticks_off()
    ax.axhline(1, color="#e5b8bb", lw=0.8, zorder=0)
    ax.grid(color="#eeeeee", zorder=-1)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def label(ax: Any, points: Sequence[Standing], canvas: Any) -> None:
    """Names beside markers, each where it covers least: markers and names count more than error bars."""
    renderer = canvas.get_renderer()
    taken = [(2.0, marker_box(ax, p)) for p in points] + [(1.0, bar_box(ax, p)) for p in points]
    frame = ax.get_window_extent(renderer)
    for p in sorted(points, key=lambda p: p.method != OURS):
        text = ax.annotate(
            READABLE[p.method].title.removeprefix("sleek, "), (p.numbers, p.error), (0, 0),
            textcoords="offset points", fontsize=8.5,
            color=COLORS[p.method], weight="bold" if p.method == OURS else "normal",
            va="center", path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip

        def box(place: Place, text: Any = text) -> Bbox:
            text.set(position=place[:2], ha=place[2])
            around: Bbox = text.get_window_extent(renderer).padded(1)
            return around

        def cost(place: Place, box: Callable[[Place], Bbox] = box) -> float:
            where = box(place)
            outside = not (frame.contains(where.x0, where.y0) and frame.contains(where.x1, where.y1))
            far = float(np.hypot(*place[:2])) / 100  # a name far from its marker may be taken for another's
            return far + sum(weight for weight, other in taken if where.overlaps(other)) + 10 * outside

        taken.append((2.0, box(min(PLACES, key=cost))))


def marker_box(ax: Any, p: Standing) -> Bbox:
    """The marker on the screen."""
    x, y = ax.transData.transform((p.numbers, p.error))
    return Bbox([[x - 7, y - 7], [x + 7, y + 7]])


def bar_box(ax: Any, p: Standing) -> Bbox:
    """The error bar on the screen."""
    factor = 1 + (p.spread if np.isfinite(p.spread) else 0.0)
    (x, low), (_, high) = ax.transData.transform(
        [(p.numbers, p.error / factor), (p.numbers, p.error * factor)]
    )
    return Bbox([[x - 2, low], [x + 2, high]])
