"""Speed of the working tree against another commit, as ratios: ``make bench-compare BASE=COMMIT``.

    python -m benchmarks.compare COMMIT [--only TEXT]... [--turns N]

The sources of the commit are written to a temporary folder. Each side has a process of its own, with the same
packages, the same data and the same script of operations (`compare_operations`). Both take turns and the best
turn of each counts, so that neither what else the machine does nor its clock favours a side: compare ratios
of one run, never times of two. Beside a ratio stand the least and the largest ratio of a single turn; a
change is real where all of them are on one side of 1.

>>> print(line("fit", [{"seconds": 2.0}, {"seconds": 2.2}], [{"seconds": 1.0}, {"seconds": 1.2}]))
fit                                      2 s        1 s    0.50×    0.50–0.55
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.compare_operations import OPERATIONS

ROOT = Path(__file__).parents[1]
TURNS = 5
LEAST_TURNS, PATIENCE = 3, 30.0  # an operation ends after this many turns once it has taken so many seconds
Measured = list[dict[str, Any]]


class Worker:
    """A process that times operations of the sleek in one source tree."""

    def __init__(self, tree: Path, folder: Path) -> None:
        paths = os.pathsep.join([str(tree / "src"), str(ROOT)])
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.compare_operations", str(folder)],
            env=os.environ | one_thread | {"PYTHONPATH": paths, "PYTHONUTF8": "1"},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def measure(self, name: str) -> dict[str, Any]:
        """One measurement of an operation."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(name, file=self.process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self.process.stdout.readline() or '{"problem": "it ended"}')
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def unpack(commit: str, folder: Path, root: Path = ROOT) -> Path:
    """Write the sources of a commit to a folder; the repository is only read."""
    packed = subprocess.run(
        ["git", "-C", str(root), "archive", commit, "src"], check=True, capture_output=True
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def take_turns(base: Worker, tree: Worker, name: str, turns: int) -> tuple[Measured, Measured]:
    """Measurements of both sides, one after the other; the side that begins changes."""
    found: tuple[Measured, Measured] = ([], [])
    for worker in (base, tree):  # a first turn that does not count: compilation, caches
        worker.measure(name)
    start = time.monotonic()
    for turn in range(turns):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            found[side].append((base, tree)[side].measure(name))
        if turn + 1 >= LEAST_TURNS and time.monotonic() - start > PATIENCE:
            break
    return found


def in_unit(seconds: float) -> str:
    """A time with three digits.

    >>> in_unit(1.234), in_unit(0.0123), in_unit(0.0000456)
    ('1.23 s', '12.3 ms', '45.6 µs')
    """
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def line(name: str, base: Measured, tree: Measured) -> str:
    """An operation in the table: best times, their ratio, and the ratios of single turns."""
    problems = [
        f"{side}: {turn['problem']}"
        for side, turns in (("base", base), ("tree", tree))
        for turn in turns[:1]
        if "problem" in turn
    ]
    if problems:
        return f"{name:<34} {'; '.join(problems)}"
    before, after = [turn["seconds"] for turn in base], [turn["seconds"] for turn in tree]
    ratios = sorted(new / old for old, new in zip(before, after, strict=True))
    said = [turns[0].get("answer", "") for turns in (base, tree)]
    note = said[1] if said[0] == said[1] else f"{said[1]}, were {said[0]}"
    text = f"{name:<34} {in_unit(min(before)):>9} {in_unit(min(after)):>10} {min(after) / min(before):>7.2f}×"
    return f"{text} {ratios[0]:>7.2f}–{ratios[-1]:.2f}  {note}".rstrip()


def main() -> None:
    """Compare, and print a line as soon as an operation is measured."""
    parser = argparse.ArgumentParser(description="Speed of the working tree against another commit.")
    parser.add_argument("base", help="a commit, branch or tag")
    parser.add_argument("--only", action="append", default=[], help="operations whose names contain this")
    parser.add_argument("--turns", type=int, default=TURNS)
    chosen = parser.parse_args()
    names = [name for name in OPERATIONS if not chosen.only or any(part in name for part in chosen.only)]
    if not names:
        parser.error(
            f"no operation has {' or '.join(chosen.only)} in its name; there are: {', '.join(OPERATIONS)}"
        )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base, tree = Worker(unpack(chosen.base, folder / "base"), folder), Worker(ROOT, folder)
        try:
            print(f"{'CPU time, one thread':<34} {'base':>9} {'this tree':>10} {'ratio':>8} {'turns':>12}")
            for name in names:
                print(line(name, *take_turns(base, tree, name, chosen.turns)), flush=True)
        finally:
            for worker in (base, tree):
                worker.close()


if __name__ == "__main__":
    main()
