"""Compare how far probabilities and intervals can be relied on, with other methods on the same rows.

    python -m benchmarks.uncertainty                       everything that is not yet done, then the page
    python -m benchmarks.uncertainty --sets small          a group (keel, ida, pmlb, other, small) or sets
    python -m benchmarks.uncertainty --methods sleek       one method
    python -m benchmarks.uncertainty --redo sleek          after a change of sleek
    python -m benchmarks.uncertainty --minutes 20          stop after so long

27 problems of two classes, 9 of more, and 18 of numbers, three splits each. Every finished (set, split,
method) is one line of ``results/uncertainty.jsonl`` and is not run again. Everything runs in one thread.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks.trial import silence
from benchmarks.uncertain_methods import METHODS, measured
from benchmarks.uncertainty_page import write_page
from studies.catalogue import DATA, ROOT, Catalogue
from studies.errors import told, writable_folder
from studies.problems import REGRESSION, Problem
from studies.progress import Bar
from studies.store import Record, Store

RESULTS = ROOT / "results" / "uncertainty.jsonl"
PAGE = ROOT / "docs" / "benchmarks" / "uncertainty.md"
SPLITS = 3
GROUPS = ("keel", "other", "ida")  # all of them, and of pmlb those that predict numbers


def problems_of(catalogue: Catalogue, wanted: Sequence[str] | None) -> list[Problem]:
    """The problems to run: those named, or those of the page."""
    if wanted is not None:
        return [catalogue.problem(name) for name in catalogue.names(wanted)]
    found = [catalogue.problem(name) for name in catalogue.names([*GROUPS, "pmlb"])]
    return [problem for problem in found if problem.group != "pmlb" or problem.kind == REGRESSION]


def run_one(key: str, problem: Problem, split: int) -> Record:
    """Fit and measure; a failure is a result too."""
    record: Record = {
        "key": f"{problem.name}/{split}/{key}",
        "fingerprint": problem.fingerprint(split),
        "set": problem.name,
        "kind": problem.kind,
        "split": split,
        "rows": len(problem.splits[split][0]),
        "method": key,
    }
    try:
        with warnings.catch_warnings(), threadpool_limits(1), silence():
            warnings.simplefilter("ignore")
            record |= measured(METHODS[key], problem, split)
    except Exception as error:  # the point is to write down whatever it is, and to go on
        record["failed"] = f"{type(error).__name__}: {error}"[:300]
    return record


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare probabilities and intervals with other methods.")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="run these sets and groups only")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument(
        "--splits", type=int, default=SPLITS, metavar="N", help="the first N splits of every set"
    )
    parser.add_argument(
        "--redo", nargs="+", choices=METHODS, default=[], metavar="METHOD", help="forget these first"
    )
    parser.add_argument("--minutes", type=float, metavar="N", help="begin no further fit after so long")
    parser.add_argument(
        "--data", type=Path, default=DATA, metavar="DIR", help="folder with ida_*.npz and pmlb/*.tsv.gz"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE", help="JSON lines")
    parser.add_argument("--report", type=Path, metavar="FILE", help="where the page goes")
    options = parser.parse_args(arguments)
    part = options.sets or len(options.methods) < len(METHODS)
    options.report = options.report or (options.results.with_suffix(".md") if part else PAGE)
    return options


def compare(options: argparse.Namespace, console: Console) -> None:
    """Run what is missing, split by split, then write the page."""
    catalogue = Catalogue(options.data)
    writable_folder(options.results.parent)
    store, end = Store(options.results), time.monotonic() + 60 * (options.minutes or 1e9)
    if options.redo:
        store.forget(lambda record: record["method"] in options.redo)
    missing = [key for key in options.methods if importlib.util.find_spec(METHODS[key].needs) is None]
    absent = [*catalogue.absent, *(f"Not installed: {METHODS[key].needs}." for key in missing)]
    for sentence in absent:
        console.print(sentence, markup=False, highlight=False)
    problems = problems_of(catalogue, options.sets)
    problems.sort(key=lambda problem: len(problem.splits[0][0]) * problem.X.shape[1])  # quick ones first
    todo = [
        (key, problem, split)
        for split in range(options.splits)
        for problem in problems
        if split < len(problem.splits)
        for key in options.methods
        if key not in missing
        and METHODS[key].takes(problem)
        and store.get(f"{problem.name}/{split}/{key}", problem.fingerprint(split)) is None
    ]
    with Bar(console, "fits", len(todo)) as bar:
        for key, problem, split in todo:
            if time.monotonic() > end:
                break
            words = f"{METHODS[key].title} on {problem.name}, split {split}"
            bar.show(words)
            record = run_one(key, problem, split)
            if "failed" in record:
                console.print(f"{words}: {record['failed']}", markup=False)
            store.add([record])
            bar.done(words)
    records = list(Store(options.results).records.values())
    write_page(options.report, records, absent, importlib.metadata.version("sleek-svm"))
    console.print(f"{len(records)} results; page in {options.report.name}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, or say what is wrong with the command."""
    options = parse(arguments)
    with told("uncertainty"):
        compare(options, Console(file=sys.stdout))


if __name__ == "__main__":
    main()
