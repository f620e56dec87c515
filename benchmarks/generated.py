"""sleek on generated problems, where a tenth of a per cent of error shows: is a change of the recipe better?

    python -m benchmarks.generated --save before      fit every problem, and keep the results by this name
    python -m benchmarks.generated --against before   fit again, after a change, and compare

Fifteen kinds of tables: smooth, additive, sparse and linear, trees, an exclusive or, mixtures, heavy tails,
codes, counts. Each has several samples of 150 to 3,000 rows, the same in every run, and 20,000 new rows to
test by, so that chance moves an error far less than that of a real table. Real tables decide what problems
matter; these say which of two recipes is better at them. Results are lines of
``results/generated/NAME.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from threadpoolctl import threadpool_limits

from benchmarks.generators import make_smooth, smooth_function
from benchmarks.trial import error_in_percent
from sleek import LowRankLSSVC, LowRankLSSVR
from studies.catalogue import ROOT
from studies.errors import StudyError, told, writable_folder
from studies.problems import REGRESSION, TWO_CLASS

Table = tuple[NDArray[np.float64], NDArray[Any]]
Random = np.random.Generator
RESULTS = ROOT / "results" / "generated"
N_TEST = 20_000
SIZES = (150, 400, 1000, 3000)


def main(arguments: list[str] | None = None) -> None:
    """Fit all of them, keep the results, and compare them with those of another run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.generated", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="N", help="rows to train")
    parser.add_argument("--samples", type=int, default=4, metavar="K", help="samples of each size")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--save", default="last", metavar="NAME", help="the name of these results")
    parser.add_argument("--against", metavar="NAME", help="the name of other results to compare with")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR")
    options = parser.parse_args(arguments)
    with told("benchmarks.generated"):
        folder = writable_folder(options.results)
        other = None if options.against is None else read(folder, options.against)
        jobs = [
            (name, n, sample)
            for n in options.sizes
            for name in options.problems
            for sample in range(options.samples)
        ]
        records = [fit(*job) for job in track(jobs, "fitting")]
        (folder / f"{options.save}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
        print(compared(records, records if other is None else other))


def fit(name: str, n: int, sample: int) -> dict[str, Any]:
    """One sample of a problem: errors on new rows, numbers to read, CPU seconds."""
    kind, draw = PROBLEMS[name]
    X, y = draw(n, np.random.default_rng([n, sample]))
    X_new, y_new = draw(N_TEST, np.random.default_rng([N_TEST, n, sample]))
    model = (LowRankLSSVR if kind == REGRESSION else LowRankLSSVC)(n_jobs=1, random_state=sample)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - begin
    error = error_in_percent(kind, y_new, model.predict(X_new))
    numbers = int(model.n_numbers_)
    return {"problem": name, "n": n, "sample": sample, "error": error, "numbers": numbers, "cpu_s": seconds}


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """The results of another run."""
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        there = ", ".join(sorted(p.stem for p in folder.glob("*.jsonl"))) or "none"
        raise StudyError(f"{path} is not there: run with --save {name} first; results here: {there}.")
    return [json.loads(line) for line in path.read_text().splitlines()]


def compared(new: list[dict[str, Any]], old: list[dict[str, Any]]) -> str:
    """Geometric means of ratios of errors (0.5 added to those of classes), numbers and seconds.

    >>> one = {"problem": "xor", "n": 150, "sample": 0, "error": 19.5, "numbers": 20, "cpu_s": 0.2}
    >>> print(compared([one | {"error": 9.5, "numbers": 10}], [one]))
    all        error 0.500 ± 0.000  numbers 0.50  CPU 1.00  (1 sample: error 9.50, 10 numbers)
    n = 150    error 0.500 ± 0.000  numbers 0.50  CPU 1.00  (1 sample: error 9.50, 10 numbers)
    xor        error 0.500 ± 0.000  numbers 0.50  CPU 1.00  (1 sample: error 9.50, 10 numbers)
    """
    known = {(r["problem"], r["n"], r["sample"]): r for r in old}
    groups: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = defaultdict(list)
    for record in new:
        before = known.get((record["problem"], record["n"], record["sample"]))
        if before is not None:
            for group in ("all", f"n = {record['n']}", record["problem"]):
                groups[group].append((record, before))
    lines = []
    for group, pairs in groups.items():
        add = np.array([0.5 * (PROBLEMS[a["problem"]][0] != REGRESSION) for a, _ in pairs])
        errors, numbers, seconds = (
            np.array([(a[key], b[key]) for a, b in pairs]).T for key in ("error", "numbers", "cpu_s")
        )
        ratios = np.log((errors[0] + add) / (errors[1] + add))
        spread = ratios.std() / len(ratios) ** 0.5
        more, longer = (np.exp(np.mean(np.log(both[0] / both[1]))) for both in (numbers, seconds))
        count = f"{len(pairs)} sample{'s' if len(pairs) > 1 else ''}"
        lines.append(
            f"{group:10} error {np.exp(ratios.mean()):.3f} ± {spread:.3f}  numbers {more:.2f}  "
            f"CPU {longer:.2f}  ({count}: error {errors[0].mean():.2f}, {np.median(numbers[0]):.0f} numbers)"
        )
    return "\n".join(lines)


# -- the problems -------------------------------------------------------------------------------------------


def drawn(odds: NDArray[np.float64], rng: Random) -> NDArray[np.int64]:
    """Classes 0 and 1 with these log-odds."""
    return (rng.random(len(odds)) < 1.0 / (1.0 + np.exp(-odds))).astype(np.int64)


def smooth(n: int, rng: Random) -> Table:
    """Waves, squares and products of 10 of 28 features."""
    return make_smooth(n, int(rng.integers(2**31)))


def smooth_numbers(n: int, rng: Random) -> Table:
    """The same function as a number."""
    X = rng.normal(size=(n, 28))
    return X, smooth_function(X) + 0.9 * rng.normal(size=n)


def friedman(n: int, rng: Random) -> Table:
    """Friedman's first function, with more noise."""
    X = rng.random((n, 10))
    wave = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return X, wave + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4] + 2 * rng.normal(size=n)


def phase(n: int, rng: Random) -> Table:
    """Friedman's third function as log-odds."""
    X = rng.random((n, 4)) * [100, 520 * np.pi, 1, 10] + [0, 40 * np.pi, 0, 1]
    angle = np.arctan((X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])) / (X[:, 0] + 1e-9))
    return X, drawn(6 * (angle - 1.3), rng)


def additive(n: int, rng: Random) -> Table:
    """A wave, a corner, a line and a step of 4 of 12 features."""
    X = rng.normal(size=(n, 12))
    odds = 2 * np.sin(2 * X[:, 0]) + 1.5 * np.abs(X[:, 1]) - 1.2 + X[:, 2] + 2 * (X[:, 3] > 0.5) - 0.6
    return X, drawn(odds, rng)


def sparse(n: int, rng: Random) -> Table:
    """A line in 3 of 30 features."""
    X = rng.normal(size=(n, 30))
    return X, drawn(1.5 * X[:, 0] - X[:, 1] + 0.7 * X[:, 2], rng)


def tree(seed: int, depth: int) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """A random tree on 8 features."""
    rng = np.random.default_rng(seed)
    features, cuts = rng.integers(8, size=2**depth), 0.7 * rng.normal(size=2**depth)
    values = rng.normal(size=2**depth)

    def value(X: NDArray[np.float64]) -> NDArray[np.float64]:
        node, rows = np.ones(len(X), dtype=np.int64), np.arange(len(X))
        for _ in range(depth):
            node = 2 * node + (X[rows, features[node]] > cuts[node])
        result: NDArray[np.float64] = values[node - 2**depth]
        return result

    return value


def tree_numbers(n: int, rng: Random) -> Table:
    """A tree of 32 leaves, with noise."""
    X = rng.normal(size=(n, 8))
    return X, tree(1, 5)(X) + 0.5 * rng.normal(size=n)


def tree_classes(n: int, rng: Random) -> Table:
    """A tree of 16 leaves as log-odds."""
    X = rng.normal(size=(n, 8))
    return X, drawn(3 * tree(2, 4)(X), rng)


def xor(n: int, rng: Random) -> Table:
    """A soft exclusive or of two features, and a line in a third one, of ten."""
    X = rng.normal(size=(n, 10))
    return X, drawn(4 * np.tanh(2 * X[:, 0] * X[:, 1]) + X[:, 2], rng)


def mixture(n: int, rng: Random) -> Table:
    """Four classes of three clouds each."""
    clouds = 1.6 * np.random.default_rng(5).normal(size=(12, 8))
    cloud = rng.integers(12, size=n)
    return clouds[cloud] + rng.normal(size=(n, 8)), cloud % 4


def heavy(n: int, rng: Random) -> Table:
    """Logarithms, roots and a product of features with long tails."""
    X = np.exp(1.2 * rng.normal(size=(n, 9)))
    log = np.log(X)
    values = np.log1p(X[:, 0]) + 0.8 * np.sqrt(X[:, 1]) - 0.6 * log[:, 2] + (X[:, 3] > 2) * log[:, 4]
    return X, values + 0.6 * rng.normal(size=n)


def zeros(n: int, rng: Random) -> Table:
    """Features with long tails that are 0 in most rows."""
    X = np.where(rng.random((n, 15)) < 0.6, 0.0, np.exp(1.3 * rng.normal(size=(n, 15))))
    log = np.log1p(X)
    odds = 1.5 * log[:, 0] - 2.0 * (X[:, 1] > 0) + log[:, 2] * (X[:, 3] > 0) + 1.2 * log[:, 4] - 0.8
    return X, drawn(1.3 * odds, rng)


def network(n: int, rng: Random) -> Table:
    """A random network of twelve hidden units."""
    inner, outer = (np.random.default_rng(7 + i).normal(size=s) for i, s in enumerate(((10, 12), (12,))))
    X = rng.normal(size=(n, 10))
    return X, drawn(2 * np.tanh(X @ inner / 2) @ outer, rng)


def codes(n: int, rng: Random) -> Table:
    """Four categories, one-hot, and numbers, of which one matters in one level only."""
    sizes = (3, 5, 4, 6)
    levels = [rng.integers(size, size=n) for size in sizes]
    effects = [np.random.default_rng(20 + i).normal(size=size) for i, size in enumerate(sizes)]
    Z = rng.normal(size=(n, 4))
    odds = sum(1.2 * effect[level] for effect, level in zip(effects, levels, strict=True))
    hot = [np.eye(size)[level] for size, level in zip(sizes, levels, strict=True)]
    return np.column_stack([*hot, Z]), drawn(odds + 2 * Z[:, 0] * (levels[0] == 1) + Z[:, 1], rng)


def counts(n: int, rng: Random) -> Table:
    """Counts, an hour of the day and an amount."""
    week, hour, switch = rng.integers(1, 8, n), rng.integers(0, 24, n), rng.integers(0, 2, n)
    events, amount = rng.poisson(3, n), np.round(rng.gamma(2, 20, n))
    values = 3 * np.cos((hour - 8) / 12 * np.pi) + 0.5 * events * (2 * switch - 1) + 2 * (week > 5)
    X = np.column_stack([events, week, switch, hour, amount, rng.normal(size=n)]).astype(np.float64)
    return X, values + np.minimum(amount, 60) / 15 + 1.5 * rng.normal(size=n)


PROBLEMS: dict[str, tuple[str, Callable[[int, Random], Table]]] = {
    "smooth": (TWO_CLASS, smooth),
    "smooth-n": (REGRESSION, smooth_numbers),
    "friedman": (REGRESSION, friedman),
    "phase": (TWO_CLASS, phase),
    "additive": (TWO_CLASS, additive),
    "sparse": (TWO_CLASS, sparse),
    "tree-n": (REGRESSION, tree_numbers),
    "tree": (TWO_CLASS, tree_classes),
    "xor": (TWO_CLASS, xor),
    "mixture": ("multi-class", mixture),
    "heavy": (REGRESSION, heavy),
    "zeros": (TWO_CLASS, zeros),
    "network": (TWO_CLASS, network),
    "codes": (TWO_CLASS, codes),
    "counts": (REGRESSION, counts),
}


if __name__ == "__main__":
    main()
