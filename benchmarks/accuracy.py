"""Compare sleek's defaults with other methods on the same rows: errors, terms, times.

    python benchmarks/accuracy.py                          everything that is not yet done, then the tables
    python benchmarks/accuracy.py --methods svm sleek      two methods only
    python benchmarks/accuracy.py --redo sleek             after a change of sleek
    python benchmarks/accuracy.py --quick                  a few small sets, two splits, minutes

Every finished (set, split, method) is one line of ``results/accuracy.jsonl`` and is not run again, so the
program may be stopped at any time. A line carries a fingerprint of its rows: if a set changes, it is run
again. The tables are always made from all lines, so running a part never hides the rest; ``--quick`` writes
them beside the results instead of into the documentation. Everything runs in one thread.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import time
import warnings
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from data import KINDS, REGRESSION, Problem, load_problems
from report import write_report
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rivals import RIVALS, Rival
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "accuracy.jsonl"
REPORT = ROOT / "docs" / "benchmarks" / "accuracy.md"
IDA = ROOT / ".." / "shared" / "data"
QUICK_SETS = ("ripley", "heart", "monk-2", "saheart", "sonar", "wdbc", "iris", "wine", "vehicle", "cars",
              "diabetes", "friedman1")  # fmt: skip

Record = dict[str, Any]
Key = tuple[str, int, str]


def fingerprint(problem: Problem, split: int) -> int:
    """Checksum of the rows of a split, their targets and their order."""
    train, test = (rows.astype(np.int64) for rows in problem.splits[split])
    return zlib.crc32(
        b"".join(np.ascontiguousarray(a).tobytes() for a in (problem.X, problem.y, train, test))
    )


def test_error(kind: str, y: np.ndarray, predicted: np.ndarray) -> float:
    """Misclassified rows in %, or the root mean squared error in % of the target's standard deviation."""
    if kind == REGRESSION:
        return float(100 * np.sqrt(np.mean((y - predicted) ** 2)) / np.std(y))
    return float(100 * np.mean(y != predicted))


def run_one(rival: Rival, problem: Problem, split: int) -> Record:
    """Fit and test one method on one split; a failure is a result too."""
    train, test = problem.splits[split]
    X, y, X_test, y_test = problem.X[train], problem.y[train], problem.X[test], problem.y[test]
    record: Record = {
        "set": problem.name,
        "split": split,
        "method": rival.key,
        "rows": fingerprint(problem, split),
        "version": f"{rival.package} {importlib.metadata.version(rival.package)}",
    }
    try:
        with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
            warnings.simplefilter("always")
            model = rival.make(problem.kind, X.shape[0], X.shape[1], split)
            start = time.perf_counter()
            model.fit(X, y)
            record["fit_s"] = time.perf_counter() - start
            seconds = []
            for _ in range(3):  # the best of three: the first call may warm up
                start = time.perf_counter()
                predicted = model.predict(X_test)
                seconds.append(time.perf_counter() - start)
            record["predict_us"] = 1e6 * min(seconds) / len(test)
        record["error"] = test_error(problem.kind, y_test, predicted)
        if not np.isfinite(record["error"]):
            raise ValueError("The predictions are not finite.")
        record["terms"] = rival.terms(model)
        if caught:
            record["warning"] = str(caught[0].message)[:200]
    except Exception as error:  # the point is to write down whatever it is, and to go on
        record["failed"] = f"{type(error).__name__}: {error}"[:300]
    return record


def read_results(path: Path, problems: Sequence[Problem]) -> dict[Key, Record]:
    """Read the finished results of these rows; a later line replaces an earlier one."""
    if not path.is_file():
        return {}
    rows = {(p.name, split): fingerprint(p, split) for p in problems for split in range(len(p.splits))}
    records = (json.loads(line) for line in path.read_text().splitlines() if line.strip())
    return {
        (record["set"], record["split"], record["method"]): record
        for record in records
        if rows.get((record["set"], record["split"])) == record["rows"]
    }


def forget(path: Path, methods: Collection[str]) -> None:
    """Drop the results of these methods."""
    if methods and path.is_file():
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if json.loads(line)["method"] not in methods))


def run(jobs: list[tuple[Rival, Problem, int]], path: Path, console: Console) -> None:
    """Run the jobs one after another and append every result at once."""
    bar = Progress(
        TextColumn("{task.description:42}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )
    with bar, path.open("a") as file:
        task = bar.add_task("", total=len(jobs))
        for rival, problem, split in jobs:
            bar.update(task, description=f"{rival.title} on {problem.name}, split {split}")
            record = run_one(rival, problem, split)
            if "failed" in record:
                console.print(
                    f"{rival.key} on {problem.name}, split {split}: {record['failed']}", markup=False
                )
            file.write(json.dumps(record) + "\n")
            file.flush()
            bar.advance(task)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare sleek's defaults with other methods.")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="run these sets only")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=KINDS, help="run these kinds of sets only"
    )
    parser.add_argument("--methods", nargs="+", choices=RIVALS, metavar="METHOD", help=", ".join(RIVALS))
    parser.add_argument("--splits", type=int, metavar="N", help="run the first N splits of every set only")
    parser.add_argument("--quick", action="store_true", help="a few small sets, two splits")
    parser.add_argument("--fresh", action="store_true", help="forget all results first")
    parser.add_argument("--redo", nargs="+", choices=RIVALS, default=(), metavar="METHOD",
                        help="forget the results of these methods first")  # fmt: skip
    parser.add_argument("--ida", type=Path, default=IDA, metavar="PATH", help="folder with ida_*.npz")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE", help="JSON lines")
    parser.add_argument("--report", type=Path, metavar="FILE", help="where the tables go")
    options = parser.parse_args(arguments)
    options.sets = options.sets or (QUICK_SETS if options.quick else None)
    options.splits = options.splits or (2 if options.quick else None)
    options.report = options.report or (options.results.with_suffix(".md") if options.quick else REPORT)
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, then write the tables."""
    options = parse(arguments)
    console = Console()
    everything = load_problems(options.ida)
    unknown = set(options.sets or ()) - {problem.name for problem in everything}
    if unknown:
        raise SystemExit(f"Unknown or absent set(s): {', '.join(sorted(unknown))}.")

    options.results.parent.mkdir(parents=True, exist_ok=True)
    forget(options.results, RIVALS if options.fresh else options.redo)
    done = read_results(options.results, everything)
    absent = {rival.key: reason for rival in RIVALS.values() if (reason := rival.missing())}
    for reason in absent.values():
        console.print(f"not installed: {reason}", markup=False)
    jobs = [
        (rival, problem, split)
        for rival in RIVALS.values()
        if rival.key not in absent and (not options.methods or rival.key in options.methods)
        for problem in everything
        if problem.kind in rival.kinds
        and problem.kind in options.kinds
        and (not options.sets or problem.name in options.sets)
        for split in range(len(problem.splits))[: options.splits]
        if (problem.name, split, rival.key) not in done
    ]
    run(jobs, options.results, console)

    shown = [problem for problem in everything if not options.quick or problem.name in options.sets]
    done = read_results(options.results, everything)  # with those of anybody who ran at the same time
    write_report(options.report, shown, list(done.values()), absent)
    console.print(f"{len(jobs)} run, {len(done)} in all; tables in {options.report.name}")


if __name__ == "__main__":
    main()
