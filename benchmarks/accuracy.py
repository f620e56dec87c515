"""Compare sleek's defaults with other methods on the same rows: errors, terms, times.

    python -m benchmarks.accuracy                        everything that is not yet done, then the tables
    python -m benchmarks.accuracy --sets pmlb wine       a group (keel, ida, pmlb, other, small) and a set
    python -m benchmarks.accuracy --methods svm sleek    two methods only
    python -m benchmarks.accuracy --redo sleek           after a change of sleek
    python -m benchmarks.accuracy --quick                the small group, two splits, no slow methods: minutes

Every finished (set, split, method) is one line of ``results/accuracy.jsonl`` and is not run again, so the
program may be stopped at any time. A line carries a fingerprint of its rows: if a set changes, it is run
again. The tables are made from all lines of these splits, so running a part never hides the rest. A run of
everything writes them into the documentation, a run of a part beside the results, unless ``--report`` says
where. Everything runs in one thread.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks.report import write_report
from benchmarks.rivals import RIVALS
from benchmarks.trial import Trial
from studies.catalogue import DATA, ROOT, Catalogue
from studies.errors import told, writable_folder
from studies.problems import KINDS
from studies.progress import Bar
from studies.store import Record, Store

RESULTS = ROOT / "results" / "accuracy.jsonl"
REPORT = ROOT / "docs" / "benchmarks" / "accuracy.md"


def run(trials: Sequence[Trial], store: Store, console: Console) -> None:
    """Run the trials one after another and keep every result at once."""
    with Bar(console, "fits", len(trials)) as bar:
        for trial in trials:
            words = f"{trial.rival.title} on {trial.problem.name}, split {trial.split}"
            bar.show(words)
            record = trial.run()
            if "failed" in record:
                console.print(f"{words}: {record['failed']}", markup=False)
            store.add([record])
            bar.done(words)


def current(store: Store, catalogue: Catalogue) -> list[Record]:
    """The results of rows as they are now."""
    known = set(catalogue.names())
    return [
        record
        for record in store.records.values()
        if record["set"] in known
        and record["split"] < len(catalogue.problem(record["set"]).splits)
        and record["fingerprint"] == catalogue.problem(record["set"]).fingerprint(record["split"])
    ]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare sleek's defaults with other methods.")
    parser.add_argument(
        "--sets",
        nargs="+",
        metavar="SET",
        help="run these sets and groups only: keel, ida, pmlb, other, small",
    )
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=KINDS, help="run these kinds of sets only"
    )
    parser.add_argument("--methods", nargs="+", choices=RIVALS, metavar="METHOD", help=", ".join(RIVALS))
    parser.add_argument("--splits", type=int, metavar="N", help="run the first N splits of every set only")
    parser.add_argument("--quick", action="store_true", help="the small group, two splits, no slow methods")
    parser.add_argument("--fresh", action="store_true", help="forget all results first")
    parser.add_argument(
        "--redo", nargs="+", choices=RIVALS, default=[], metavar="METHOD",
        help="forget the results of these methods first, on the sets that are run",
    )  # fmt: skip
    parser.add_argument(
        "--data", type=Path, default=DATA, metavar="DIR", help="folder with ida_*.npz and pmlb/*.tsv.gz"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE", help="JSON lines")
    parser.add_argument("--report", type=Path, metavar="FILE", help="where the tables go")
    options = parser.parse_args(arguments)
    part = options.quick or options.sets or options.methods or options.splits or options.kinds != KINDS
    options.sets = options.sets or (["small"] if options.quick else None)
    fast = [rival.key for rival in RIVALS.values() if rival.ranked or not options.quick]
    options.methods = options.methods or fast
    options.splits = options.splits or (2 if options.quick else None)
    options.report = options.report or (options.results.with_suffix(".md") if part else REPORT)
    return options


def compare(options: argparse.Namespace, console: Console) -> None:
    """Run what is missing, then write the tables."""
    catalogue = Catalogue(options.data)
    names = catalogue.names(options.sets)
    writable_folder(options.results.parent)
    store = Store(options.results)
    if options.fresh or options.redo:
        store.forget(lambda r: options.fresh or (r["method"] in options.redo and r["set"] in names))

    rivals = [rival for rival in RIVALS.values() if rival.key in options.methods]
    reasons = {rival.key: reason for rival in rivals if (reason := rival.missing())}
    absent = [*catalogue.absent, *(f"Not installed: {reason}." for reason in reasons.values())]
    for sentence in absent:
        console.print(sentence, markup=False, highlight=False)

    problems = [problem for name in names if (problem := catalogue.problem(name)).kind in options.kinds]
    trials = [
        trial
        for rival in rivals
        if rival.key not in reasons
        for problem in problems
        if rival.takes(problem)
        for split in range(len(problem.splits))[: options.splits]
        if (trial := Trial(rival, problem, split)).found(store) is None
    ]
    run(trials, store, console)

    records = current(Store(options.results), catalogue)  # with those of anybody who ran at the same time
    if options.quick:
        records = [record for record in records if record["set"] in names]
    shown = [catalogue.problem(name) for name in catalogue.names({record["set"] for record in records})]
    if options.splits:
        shown = [replace(problem, splits=problem.splits[: options.splits]) for problem in shown]
        records = [record for record in records if record["split"] < options.splits]
    write_report(options.report, shown, records, absent)
    console.print(f"{len(trials)} run, {len(records)} in all; tables in {options.report.name}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, or say what is wrong with the command."""
    options = parse(arguments)
    with told("accuracy"):
        compare(options, Console(file=sys.stdout))


if __name__ == "__main__":
    main()
