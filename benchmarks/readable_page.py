"""Write the page of sleek and the readable rivals: losses first, then ranks, sizes, times.

Methods are compared with sleek on the splits that both have: a ratio of mean errors for each set. Ranks are
those of the ratios, so that a method with few splits is compared on the same rows as sleek.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.readable_rivals import READABLE
from benchmarks.readable_words import ABILITIES, CONDITIONS, INTRODUCTION, PAPERS
from benchmarks.report import sections
from benchmarks.report_cells import Cells, collect, geometric_mean, number, ratio
from studies.markdown import table
from studies.problems import Problem

OURS, BAR = "sleek", "catboost"
OWN = (OURS, "sleek-30", "sleek-100")
MEASURES = {"terms": "numbers", "cpu_s": "CPU s"}
ENOUGH = 0.5  # of the sets: who has fewer is in the tables, but is not called better or worse than sleek
WORST = 12  # sets in the table of losses


@dataclass(frozen=True)
class Standing:
    """What one method did on the sets of a section.

    Parameters
    ----------
    ratios : dict of set to error over sleek's error
        Of the sets that both have finished.
    rank, rank_error : float
        Average rank over all sets, and its standard error; where it was ended or failed, it is last. NaN for
        a method that was not run on all of them.
    share : float
        On how many of the sets it is compared with sleek, from 0 to 1.
    numbers, seconds : float
        Medians over sets of the means over splits.
    """

    method: str
    ratios: dict[str, float]
    rank: float
    rank_error: float
    share: float
    numbers: float
    seconds: float

    @property
    def error(self) -> float:
        """Geometric mean of the ratios."""
        return geometric_mean(list(self.ratios.values())) if self.ratios else np.nan

    @property
    def spread(self) -> float:
        """Standard error of the geometric mean, as a factor less 1."""
        logs = np.log(list(self.ratios.values()))
        return float(np.expm1(np.std(logs, ddof=1) / np.sqrt(len(logs)))) if len(logs) > 1 else np.nan


def standings(problems: Sequence[Problem], cells: Cells) -> list[Standing]:
    """The methods that can do these problems and were run on any, best average rank first."""
    able = [m for m in READABLE if all(map(READABLE[m].takes, problems))]
    able = [m for m in able if any(m in cells[p.name] for p in problems)]
    compared = [p for p in problems if OURS in cells[p.name] and not cells[p.name][OURS].failed]
    ratios: dict[str, dict[str, float]] = {method: {} for method in able}
    for problem in compared:
        here = cells[problem.name]
        for method in able:
            value = ratio(problem, here[method], here[OURS]) if method in here else None
            if value is not None:
                ratios[method][problem.name] = value
    ranked = [m for m in able if m == OURS or m not in OWN]
    everywhere = [m for m in ranked if all(m in cells[p.name] for p in compared)]
    shown = [[ratios[m].get(p.name, np.inf) for m in everywhere] for p in compared]
    places = dict(zip(everywhere, rankdata(shown, axis=1).T, strict=True)) if shown else {}
    found = []
    for method in able:
        ranks = places.get(method, np.full(1, np.nan))
        error = np.std(ranks, ddof=1) / np.sqrt(len(ranks)) if len(ranks) > 1 else np.nan
        share = len(ratios[method]) / max(1, len(compared))
        own = [cells[p.name][method].means for p in problems if method in cells[p.name]]
        numbers, seconds = (
            float(np.median([means[key] for means in own if key in means] or [np.nan])) for key in MEASURES
        )
        rank = (float(np.mean(ranks)), float(error))
        found.append(Standing(method, ratios[method], *rank, share, numbers, seconds))
    return sorted(found, key=lambda s: (np.isnan(s.rank), s.rank, s.error))


def with_spread(value: float, spread: float, digits: int) -> str:
    """A number ± its standard error, as far as there are any."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.{digits}f}" + (f" ± {spread:.{digits}f}" if np.isfinite(spread) else "")


def title_of(method: str) -> str:
    return f"**{READABLE[method].title}**" if method == OURS else READABLE[method].title


def standing_table(found: Sequence[Standing], n_sets: int) -> list[str]:
    """One line per method."""
    rows = []
    for s in found:
        better, worse = (sum(sign * np.log(r) > 0 for r in s.ratios.values()) for sign in (-1, 1))
        rows.append([
            title_of(s.method), with_spread(s.rank, s.rank_error, 2),
            "1" if s.method == OURS else with_spread(s.error, s.spread, 3),
            "" if s.method == OURS else f"{better} / {worse}", f"{len(s.ratios)} of {n_sets}",
            number(s.numbers), number(s.seconds),
        ])  # fmt: skip
    header = [
        "method",
        "average rank",
        "error / sleek's",
        "better / worse",
        "compared",
        "numbers",
        "CPU s",
    ]
    return table(header, rows)


def losses(parts: Sequence[tuple[str, list[Problem]]], cells: Cells) -> list[str]:
    """Sections in which a rival is more accurate or smaller, then the sets on which sleek loses most."""
    lines = []
    for title, problems in parts:
        found = {s.method: s for s in standings(problems, cells)}
        if OURS not in found:
            continue
        rivals = [s for s in found.values() if s.method not in OWN and s.share >= ENOUGH]
        accurate = [f"{READABLE[s.method].title} ({s.error:.3f})" for s in rivals if s.error < 1]
        smaller = [
            f"{READABLE[s.method].title} ({number(s.numbers)})"
            for s in rivals
            if s.numbers < found[OURS].numbers
        ]
        faster = [READABLE[s.method].title for s in rivals if s.seconds < found[OURS].seconds]
        numbers = f"{', '.join(smaller) or 'none'}; sleek {number(found[OURS].numbers)}"
        row = [", ".join(accurate) or "none", numbers, ", ".join(faster) or "none"]
        lines.append([f"{title} ({len(problems)} sets)", *row])
    header = [
        "sets",
        "lower errors than sleek's (geometric mean ratio)",
        "fewer numbers (median)",
        "less CPU time",
    ]
    return [*table(header, lines, "---"), *worst(parts, cells)]


def worst(parts: Sequence[tuple[str, list[Problem]]], cells: Cells) -> list[str]:
    """The sets on which a readable rival is ahead of sleek by most."""
    rows = []
    for problem in (problem for _, problems in parts for problem in problems):
        here = cells[problem.name]
        ours = here.get(OURS)
        others = {
            m: r for m in here if ours and m not in (*OWN, BAR) and (r := ratio(problem, ours, here[m]))
        }
        if others and ours:
            best = max(others, key=lambda m: others[m])
            rows.append((others[best], [
                problem.name, READABLE[best].title, f"{others[best]:.3f}", ours.text(), here[best].text(),
                number(ours.means["terms"]), number(here[best].means["terms"]),
            ]))  # fmt: skip
    lost = sorted((row for row in rows if row[0] > 1), key=lambda row: -row[0])
    text = f"On {len(lost)} of {len(rows)} sets some readable rival has a lower mean error than sleek on the "
    text += "splits that both have: the best of them all, chosen after the fact, CatBoost aside. "
    text += f"The {min(WORST, len(lost))} worst for sleek:"
    header = ["set", "best rival", "sleek's error / its", "sleek", "rival", "sleek's numbers", "its numbers"]
    return [text, "", *table(header, [row for _, row in lost[:WORST]])]


def matrix(problems: Sequence[Problem], cells: Cells, key: str) -> list[str]:
    """One row per set, one column per method: errors as text, or means."""
    methods = [m for m in READABLE if any(m in cells[p.name] for p in problems)]
    rows = []
    for p in problems:
        here = cells[p.name]
        means = {m: cell.mean for m, cell in here.items() if cell.errors}
        row = [p.name]
        for m in methods:
            if m not in here:
                row.append("")
            elif key != "error":
                row.append(number(here[m].means.get(key, np.nan)))
            elif m in means:
                text = f"{means[m]:.2f} ({len(here[m].errors)})"
                row.append(f"**{text}**" if means[m] == min(means.values()) else text)
            else:
                row.append("–")
        rows.append(row)
    return table(["set", *(READABLE[m].title for m in methods)], rows)


def unfinished(problems: Sequence[Problem], records: Sequence[Mapping[str, Any]]) -> list[str]:
    """What was ended, what failed, and what was not run."""
    lines = []
    for method, rival in READABLE.items():
        mine = [r for r in records if r["method"] == method and "failed" in r]
        cut = sorted({r["set"] for r in mine if "cut" in r})
        if cut:
            limits = " or ".join(str(limit) for limit in sorted({r["cut"] for r in mine if "cut" in r}))
            lines.append(f"- {rival.title}: over {limits} CPU s on {', '.join(cut)}.")
        for reason in sorted({r["failed"] for r in mine if "cut" not in r}):
            sets = sorted({r["set"] for r in mine if r["failed"] == reason})
            lines.append(f"- {rival.title} on {', '.join(sets)}: `{reason}`")
        run = [r for r in records if r["method"] == method]
        left = sorted({p.name for p in problems if rival.takes(p)} - {r["set"] for r in run})
        if run and left:
            minutes = sum(r.get("cpu_s", r.get("cut", 0)) for r in run) / 60
            lines.append(f"- {rival.title}: not run on {', '.join(left)}; {minutes:.0f} CPU minutes so far.")
    return [*(lines or ["Nothing."]), ""]


def splits_run(problems: Sequence[Problem], cells: Cells) -> list[str]:
    """How many splits each method has: median and range over small tables, PMLB."""
    rows = []
    for method, rival in READABLE.items():
        row = [rival.title]
        for pmlb in (False, True):
            counts = [
                len(cells[p.name][method].errors)
                for p in problems
                if (p.group == "pmlb") == pmlb and method in cells[p.name] and cells[p.name][method].errors
            ]
            row.append(f"{min(counts)} to {max(counts)}, on {len(counts)} sets" if counts else "not run")
        rows.append([*row, rival.settings, rival.counts, rival.limits()])
    return table(
        ["method", "splits, small", "splits, PMLB", "how it is run", "numbers are", "can do"], rows, "---"
    )


def write_page(
    path: Path,
    picture: Path,
    problems: Sequence[Problem],
    records: Sequence[Mapping[str, Any]],
    absent: Sequence[str],
) -> None:
    """Write the page as one Markdown file, with a link to the picture."""
    names = {problem.name for problem in problems}
    records = [r for r in records if r["set"] in names and r["method"] in READABLE]
    cells = collect(problems, records, READABLE)
    parts = sections(problems)
    image = Path(os.path.relpath(picture, path.parent)).as_posix()
    lines = [
        INTRODUCTION,
        *(f"**{sentence}**\n" for sentence in absent),
        "## Where sleek loses",
        "",
        *losses(parts, cells),
    ]
    lines += ["## Error against numbers to read", "", f"![error against numbers]({image})", ""]
    for title, some in parts:
        lines += [f"### {title}", "", *standing_table(standings(some, cells), len(some))]
    header = ["method", "can do, and sleek cannot", "cannot, and sleek can"]
    lines += ["## What each can do that sleek cannot", "", *table(header, ABILITIES, "---"), PAPERS]
    lines += ["## Not finished, and failed", "", *unfinished(problems, records)]
    versions = [*sorted({record["version"] for record in records}), f"Python {platform.python_version()}"]
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    lines += ["## How it was run", "", CONDITIONS, *splits_run(problems, cells)]
    lines += [
        f"- Versions: {', '.join(versions)}.",
        f"- Machine: {machine}; one thread, other work beside it.",
        "",
    ]
    for key, words in (("error", "Errors (splits)"), ("terms", "Numbers"), ("cpu_s", "CPU seconds of a fit")):
        for title, some in parts:
            lines += [f"## {words}, {title}", "", *matrix(some, cells, key)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
