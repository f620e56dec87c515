"""Write the tables of the accuracy comparison.

A section is one kind of problem from one collection: the many small tables, or PMLB's larger ones. Ranks are
averaged over the sets of a section on which every method is complete that takes all of them.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.report_cells import (
    EXTRA_POINTS,
    Cells,
    collect,
    complete,
    geometric_mean,
    number,
    ran_on,
    ratio,
    shared,
)
from benchmarks.rivals import RIVALS
from studies.markdown import table
from studies.problems import KINDS, REGRESSION, TWO_CLASS, Problem

OURS = "sleek"
REFERENCES = {"svm": "SVM", "lightgbm": "LightGBM"}
Section = tuple[str, list[Problem]]

INTRODUCTION = f"""\
# Accuracy of sleek's defaults against other methods

Written by `benchmarks/accuracy.py` (`make accuracy`); do not edit. Every method sees the same rows. Errors
are misclassified test rows in %, and for regression the root mean squared error in % of the standard
deviation of the test target: mean ± standard deviation over splits.

## Summary

Ranks are averaged over the sets on which every ranked method ran (1 is best, ties share); methods that are
not run on all of them have none. The error ratio is the geometric mean over sets of a method's mean error
over that of the grid-searched SVM, or of LightGBM; {EXTRA_POINTS} is added to both errors of a
classification, because some sets are solved without errors. Terms and times are medians over sets of the
means over splits; the fit time includes a method's own grid search. Seconds depend on what else the machine
was doing, which was not the same for all methods; CPU seconds do so less.

Choices were made on these sets, on the same or on other splits of their rows (docs/training.md): there is
none here that had no part in any.
"""
MATRICES = (
    ("Terms", "terms"),
    ("Fit time, s", "fit_s"),
    ("Fit time, CPU s", "cpu_s"),
    ("Predict time, µs per row", "predict_us"),
)
CURVES = (("Area under the ROC curve, %", "auc"), ("Average precision, %", "average_precision"))


def sections(problems: Sequence[Problem]) -> list[Section]:
    """Problems by kind and collection, with a title; empty ones are left out."""
    found = [
        (f"{kind}, {words}", [p for p in problems if p.kind == kind and (p.group == "pmlb") == pmlb])
        for words, pmlb in (("small tables", False), ("PMLB", True))
        for kind in KINDS
    ]
    return [(title, some) for title, some in found if some]


def summary(title: str, problems: Sequence[Problem], cells: Cells) -> list[str]:
    """One line per method, best average rank first."""
    methods = ran_on(problems, cells)
    eager = [m for m in methods if RIVALS[m].ranked and all(map(RIVALS[m].takes, problems))]
    ranked = complete(problems, cells, eager)
    means = [[cells[p.name][m].mean for m in eager] for p in ranked]
    places = rankdata(means, axis=1).mean(axis=0) if eager and ranked else np.full(len(eager), np.nan)
    ranks = dict(zip(eager, places, strict=True))
    rows = []
    for method in sorted(methods, key=lambda m: ranks.get(m, np.inf)):
        rival = RIVALS[method]
        row = [f"**{rival.title}**" if method == OURS else rival.title, number(ranks.get(method, np.nan))]
        for reference in REFERENCES:
            ratios = ratios_to(reference, problems, cells, method)
            better, worse = sum(r < 1 for r in ratios), sum(r > 1 for r in ratios)
            row.append("–" if not ratios else f"{geometric_mean(ratios):.3f} ({better} / {worse})")
        own = [cells[p.name][method].means for p in problems if method in cells[p.name]]
        terms, *times = (
            number(np.median([means[key] for means in own if key in means] or [np.nan]))
            for _, key in MATRICES
        )
        rows.append([*row, f"{terms} {rival.counts}", *times])
    words = [f"error / {words}'s (better / worse)" for words in REFERENCES.values()]
    header = ["method", "average rank", *words, "terms", "fit s", "fit CPU s", "predict µs/row"]
    return [f"### {title}: {len(ranked)} of {len(problems)} sets ranked", "", *table(header, rows)]


def ratios_to(reference: str, problems: Sequence[Problem], cells: Cells, method: str) -> list[float]:
    """The error ratios of a method on all sets on which the two can be compared."""
    here = ((p, cells[p.name]) for p in problems if {method, reference} <= cells[p.name].keys())
    ratios = (ratio(p, both[method], both[reference]) for p, both in here)
    return [value for value in ratios if value is not None]


def duel(title: str, problems: Sequence[Problem], cells: Cells, reference: str) -> list[str]:
    """sleek against a reference, worst ratio first, with the best rival beside it."""
    words = REFERENCES[reference]
    lines, left_out = [], []
    for problem in problems:
        here = cells[problem.name]
        ours = here.get(OURS)
        ratios = {
            m: r for m in here if ours and m != OURS and (r := ratio(problem, ours, here[m])) is not None
        }
        if ours is None or reference not in ratios:
            left_out.append(problem.name)
            continue
        theirs, value = here[reference], ratios[reference]
        gaps = [mine - other for mine, other in shared(ours, theirs)]
        spread = f" ± {np.std(gaps, ddof=1) / np.sqrt(len(gaps)):.2f}" if len(gaps) > 1 else ""
        best = max(ratios, key=lambda m: ratios[m])
        verdict = "**loses**" if value > 1 else "wins" if value < 1 else "equal"
        lines.append((value, [
            problem.name, ours.text(), theirs.text(), f"{value:.3f}", f"{np.mean(gaps):+.2f}{spread}",
            verdict, f"{RIVALS[best].title} {here[best].mean:.2f}", f"{ratios[best]:.3f}",
        ]))  # fmt: skip
    if not lines:
        return [f"### {title}", "", f"sleek or {words} has not been run.", ""]
    lines.sort(key=lambda line: -line[0])
    lost = [row for value, row in lines if value > 1]
    mean = geometric_mean([value for value, _ in lines])
    text = f"Geometric mean of the error ratio over {len(lines)} sets: **{mean:.3f}**. "
    text += f"sleek loses on {len(lost)}."
    if lost:
        text += f" Worst: {', '.join(f'{row[0]} {row[3]}' for row in lost[:5])}."
    if left_out:
        text += f" Not compared, because one of the two was not run or failed: {', '.join(left_out)}."
    header = ["set", "sleek", words, "ratio", "difference ± s.e.", "sleek", "best rival", "ratio to best"]
    return [f"### {title}", "", text, "", *table(header, [row for _, row in lines])]


def matrix(problems: Sequence[Problem], cells: Cells, show: Callable[[str, str], str]) -> list[str]:
    """One row per set, one column per method that ran on this kind of problem."""
    methods = ran_on(problems, cells)
    rows = [[p.name, *(show(p.name, m) if m in cells[p.name] else "–" for m in methods)] for p in problems]
    return table(["set", *(RIVALS[m].title for m in methods)], rows)


def error_text(cells: Cells) -> Callable[[str, str], str]:
    """Text of an error: the best of the set in bold, sleek marked where it loses against a reference."""

    def show(name: str, method: str) -> str:
        here, cell = {m: c for m, c in cells[name].items() if c.complete}, cells[name][method]
        text = cell.text()
        if cell.complete and cell.mean == min(c.mean for c in here.values()):
            text = f"**{text}**"
        if method == OURS and cell.complete:
            text += "".join(
                f" ▼{words}" for m, words in REFERENCES.items() if m in here and cell.mean > here[m].mean
            )
        return text

    return show


def mean_text(cells: Cells, key: str) -> Callable[[str, str], str]:
    """Text of a mean: terms, a time, or the area under a curve."""
    return lambda name, method: number(cells[name][method].means.get(key, np.nan))


def conditions(
    problems: Sequence[Problem], records: Sequence[Mapping[str, Any]], absent: Sequence[str]
) -> list[str]:
    """Versions, machine, sets and settings."""
    versions = [*sorted({record["version"] for record in records}), f"Python {platform.python_version()}"]
    ran = {record["method"] for record in records}
    lines = [
        f"- Versions: {', '.join(versions)}.",
        f"- Machine: {os.cpu_count()} cores, {platform.machine()}, {platform.system()}; one thread.",
        *(f"- {sentence}" for sentence in absent),
        *(f"- Not run: {rival.title}." for method, rival in RIVALS.items() if method not in ran),
        "",
    ]
    settings = [[r.title, r.settings, r.counts, r.limits()] for r in RIVALS.values()]
    lines += table(["method", "how it is run", "terms are", "run on"], settings, "---")
    rows = []
    for p in problems:
        train, test = p.splits[0]
        classes = "–" if p.kind == REGRESSION else str(len(np.unique(p.y)))
        sizes = f"{len(train)} / {len(test)}"
        rows.append([p.name, p.kind, sizes, str(p.X.shape[1]), classes, str(len(p.splits)), p.origin])
    header = ["set", "kind", "train / test rows", "features", "classes", "splits", "origin"]
    return [*lines, *table(header, rows, "---")]


def troubles(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every failure, and how often each method warned."""
    lines = [
        f"- {RIVALS[r['method']].title} on {r['set']}, split {r['split']}: `{r['failed']}`"
        for r in records
        if "failed" in r
    ]
    for method, rival in RIVALS.items():
        warned = [r["warning"] for r in records if r["method"] == method and "warning" in r]
        if warned:
            first = max(set(warned), key=warned.count).splitlines()[0]
            lines.append(f"- {rival.title} warned in {len(warned)} fits, most often: `{first}`")
    return [*(lines or ["None."]), ""]


def write_report(
    path: Path, problems: Sequence[Problem], records: Sequence[Mapping[str, Any]], absent: Sequence[str]
) -> None:
    """Write all tables as one Markdown file.

    Parameters
    ----------
    path : Path
        The file; its folder is made if need be.
    problems : sequence of Problem
        The sets, in the order of the tables.
    records : sequence of dict
        The results.
    absent : sequence of str
        A sentence for every method and every group of sets that is not here.
    """
    names = {problem.name for problem in problems}
    records = [record for record in records if record["set"] in names and record["method"] in RIVALS]
    cells = collect(problems, records)
    parts = sections(problems)
    lines = [INTRODUCTION]
    for title, some in parts:
        lines += summary(title, some, cells)
    for reference, words in REFERENCES.items():
        lines += [f"## sleek against {words}, worst first", ""]
        lines += ["The standard error is that of the paired difference over splits.", ""]
        for title, some in parts:
            lines += duel(title, some, cells, reference)
    lines += ["## Errors", "", "Best of a set in bold; ▼ where sleek loses against the SVM or LightGBM.", ""]
    for title, some in parts:
        lines += [f"### Errors, {title}", "", *matrix(some, cells, error_text(cells))]
    two_class = [(title, some) for title, some in parts if some[0].kind == TWO_CLASS]
    for heading, key, where in (*((*c, two_class) for c in CURVES), *((*m, parts) for m in MATRICES)):
        lines += [f"## {heading}", ""]
        for title, some in where:
            lines += [f"### {heading}, {title}", "", *matrix(some, cells, mean_text(cells, key))]
    lines += ["## Failures and warnings", "", *troubles(records)]
    lines += ["## Conditions", "", *conditions(problems, records, absent)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
