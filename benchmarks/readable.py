"""Compare sleek with methods that promise small and readable models: error against numbers to read.

    python -m benchmarks.readable                              everything that is not yet done, then the page
    python -m benchmarks.readable --sets small --methods ebm   a group or a set, a method
    python -m benchmarks.readable --redo sleek                 after a change of sleek

Every finished (set, split, method) is one line of ``benchmarks/measured/readable.jsonl`` and is not run
again: the program may be stopped at any time, and goes on from there, on another machine too. A fit that
takes more CPU seconds than ``--limit`` is ended, and that is its result. Tables of PMLB have one split, small
tables up to ten; slow methods fewer. The page and its picture are made from all lines. Everything runs in
one thread.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks.accuracy import current
from benchmarks.readable_page import write_page
from benchmarks.readable_picture import draw
from benchmarks.readable_rivals import READABLE, SLOW
from benchmarks.trial import Trial, silence
from sleek import LowRankLSSVC, LowRankLSSVR
from studies.catalogue import DATA, ROOT, SMALL, Catalogue
from studies.errors import told, writable_folder
from studies.problems import Problem
from studies.progress import Bar
from studies.store import Record, Store

RESULTS = ROOT / "benchmarks" / "measured" / "readable.jsonl"
REPORT = ROOT / "docs" / "benchmarks" / "readable.md"
PICTURE = ROOT / "docs" / "images" / "readable.png"
LIMIT = 60  # CPU seconds of a fit
CUT = "over the limit"


def limited(trial: Trial, seconds: int) -> Record:
    """Run a trial in a process of its own that is ended after so many CPU seconds.

    A package that is busy in compiled code cannot be interrupted in any other way.
    """
    fork = multiprocessing.get_context("fork")  # what is imported and compiled already need not be again
    ours, theirs = fork.Pipe(duplex=False)
    process = fork.Process(target=_work, args=(trial, seconds, theirs))
    process.start()
    theirs.close()
    try:
        record: Record = ours.recv()
    except EOFError:
        process.join()
        record = trial.labels() | {"failed": f"{CUT} of {seconds} CPU s", "cut": seconds}
        if process.exitcode != -24:  # SIGXCPU
            record = trial.labels() | {"failed": f"the process ended with {process.exitcode}"}
    process.join()
    return record


def _work(trial: Trial, seconds: int, answer: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    answer.send(trial.run())


def planned(rivals: Sequence[str], problems: Sequence[Problem], most: int | None) -> list[Trial]:
    """All trials, so that a run that is stopped early has as much to compare as it can.

    First splits come first, then sets whose fits take moments, then fast methods.
    """
    trials = []
    for key in rivals:
        for problem in problems:
            splits = 1 if problem.group == "pmlb" else min(len(problem.splits), SLOW.get(key, 10))
            if READABLE[key].takes(problem):
                trials += [
                    Trial(READABLE[key], problem, split) for split in range(min(splits, most or splits))
                ]

    def when(trial: Trial) -> tuple[bool, bool, bool, bool, int]:
        name, group = trial.problem.name, trial.problem.group
        return trial.split > 0, name not in SMALL, trial.rival.key in SLOW, group == "pmlb", trial.split

    return sorted(trials, key=when)


def done(trial: Trial, store: Store, limit: int) -> bool:
    """Whether a trial has a result; one that was ended earlier than it would be now has none."""
    record = trial.found(store)
    return record is not None and record.get("cut", limit) >= limit


def warm_up() -> None:
    """Load sleek's compiled loops, which takes two seconds, before processes are forked that inherit them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6))
    score = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
    with silence(), threadpool_limits(1):
        for n in (150, 900):
            LowRankLSSVR(random_state=0, n_jobs=1).fit(X[:n], score[:n])
            LowRankLSSVC(random_state=0, n_jobs=1).fit(X[:n], score[:n] > 0)


def run(trials: Sequence[Trial], store: Store, limit: int, console: Console) -> None:
    """Run the trials one after another; where a method was ended, other splits are not tried."""
    ended = {(r["set"], r["method"]) for r in store.records.values() if r.get("cut", 0) >= limit}
    with Bar(console, "fits", len(trials)) as bar:
        for trial in trials:
            words = f"{trial.rival.title} on {trial.problem.name}, split {trial.split}"
            where = (trial.problem.name, trial.rival.key)
            bar.show(words)
            if where not in ended:
                record = limited(trial, limit)
                if "failed" in record:
                    console.print(f"{words}: {record['failed']}", markup=False)
                if "cut" in record:
                    ended.add(where)
                store.add([record])
            bar.done(words)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare sleek with methods that promise readable models.")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="these sets and groups only")
    parser.add_argument("--methods", nargs="+", choices=READABLE, default=list(READABLE), metavar="METHOD")
    parser.add_argument("--splits", type=int, metavar="N", help="the first N splits of every set only")
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="S", help="CPU seconds of a fit")
    parser.add_argument(
        "--redo", nargs="+", choices=READABLE, default=[], metavar="METHOD",
        help="forget the results of these methods first, on the sets that are run",
    )  # fmt: skip
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--report", type=Path, default=REPORT, metavar="FILE")
    parser.add_argument("--picture", type=Path, default=PICTURE, metavar="FILE")
    return parser.parse_args(arguments)


def compare(options: argparse.Namespace, console: Console) -> None:
    """Run what is missing, then write the page and the picture."""
    catalogue = Catalogue(options.data)
    names = catalogue.names(options.sets)
    writable_folder(options.results.parent)
    store = Store(options.results)
    if options.redo:
        store.forget(lambda r: r["method"] in options.redo and r["set"] in names)
    reasons = {key: reason for key in options.methods if (reason := READABLE[key].missing())}
    absent = [*catalogue.absent, *(f"Not installed: {reason}." for reason in reasons.values())]
    for sentence in absent:
        console.print(sentence, markup=False, highlight=False)
    rivals = [key for key in READABLE if key in options.methods and key not in reasons]
    problems = [catalogue.problem(name) for name in names]
    trials = [t for t in planned(rivals, problems, options.splits) if not done(t, store, options.limit)]
    if any(trial.rival.module == "sleek" for trial in trials):
        warm_up()
    run(trials, store, options.limit, console)

    records = current(Store(options.results), catalogue)
    shown = [catalogue.problem(name) for name in catalogue.names({record["set"] for record in records})]
    if len(shown) < len(catalogue.names()):
        absent.append(f"This is a part of the run: {len(shown)} of {len(catalogue.names())} sets so far.")
    if waiting := [READABLE[key].title for key in READABLE if key not in {r["method"] for r in records}]:
        absent.append(f"Not run yet: {', '.join(waiting)}.")
    draw(options.picture, shown, records)
    write_page(options.report, options.picture, shown, records, absent)
    console.print(f"{len(trials)} run, {len(records)} in all; tables in {options.report.name}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, or say what is wrong with the command."""
    options = parse(arguments)
    with told("readable"):
        compare(options, Console(file=sys.stdout))


if __name__ == "__main__":
    main()
