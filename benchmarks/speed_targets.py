"""What sleek's speed is meant to be, and whether it is.

>>> turn = {"cold": {"import_s": 1.0, "fit_s": 7.0}, "warm": {"import_s": 1.0, "fit_s": 0.5}}
>>> [(t.measured, t.met) for t in first_fit(Results([{"part": "cold", "basis": "auto", **turn}]))]
[('7 s', False), ('0.5 s', True)]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.speed_kernels import NEEDS, share
from benchmarks.speed_results import BASES, GENERATED, Results, number, ratio


@dataclass(frozen=True)
class Target:
    """A sentence, what was measured, and whether the one holds for the other (None: not measured)."""

    sentence: str
    measured: str
    met: bool | None

    @property
    def verdict(self) -> str:
        return {True: "met", False: "**missed**", None: "not measured"}[self.met]


def at_least(sentence: str, value: float | None, bound: float, unit: str = "×", where: str = "") -> Target:
    return Target(sentence, number(value, unit) + where, None if value is None else value >= bound)


def at_most(sentence: str, value: float | None, bound: float, unit: str = "×", where: str = "") -> Target:
    return Target(sentence, number(value, unit) + where, None if value is None else value <= bound)


def kernels(results: Results) -> Iterator[Target]:
    """Compiled loops against C and compiled matrix products against BLAS, each where it is worst."""
    loops = [kernel for kernel, needs in NEEDS.items() if kernel in needs]
    products = [kernel for kernel in NEEDS if kernel not in loops]
    for words, some in (
        ("loops reach 70 % of C's speed", loops),
        ("products reach 70 % of BLAS's", products),
    ):
        shares = [
            (value, f" (`{kernel}`, {record['m']} × {record['d']}, {record['dtype']})")
            for record in results.find(part="roofline")
            for kernel in some
            if "kernels" in record and (value := share(record, kernel, "compiled")) is not None
        ]
        value, where = min(shares, default=(None, ""))
        yield at_least(f"compiled {words}", value, 70, " %", where)


def fits(results: Results) -> Iterator[Target]:
    """The largest fit against LightGBM: time and error."""
    for problem in GENERATED:
        rows = max(results.sizes("fit", problem), default=None)
        here = {"part": "fit", "problem": problem, "rows": rows}
        sentence = f"fits {problem} rows 5× faster than LightGBM, with no higher error"
        speed = ratio(
            results.least("seconds", **here, method="lightgbm"),
            results.least("seconds", **here, method="sleek"),
        )
        ours, theirs = (results.least("error", **here, method=m) for m in ("sleek", "lightgbm"))
        if speed is None or ours is None or theirs is None:
            yield Target(sentence, "–", None)
        else:
            measured = f"{number(speed, '×')}, error {ours:.2f} against {theirs:.2f} % ({number(rows)} rows)"
            yield Target(sentence, measured, speed >= 5 and ours <= theirs)


def scaling(results: Results) -> Iterator[Target]:
    """Time against rows and threads."""
    for problem in GENERATED:
        small, large = [None, None, *results.sizes("scaling", problem)][-2:]

        def seconds(rows: int | None, n_jobs: int, problem: str = problem) -> float | None:
            return results.least("seconds", part="scaling", problem=problem, rows=rows, n_jobs=n_jobs)

        growth = ratio(large, small) or 10.0
        sentence = f"{growth:g}× the rows take at most {growth:g}× the time ({problem})"
        yield at_most(sentence, ratio(seconds(large, 2), seconds(small, 2)), growth)
        yield at_least(
            f"two threads fit 1.6× faster than one ({problem})",
            ratio(seconds(large, 1), seconds(large, 2)),
            1.6,
        )


def predictions(results: Results) -> Iterator[Target]:
    """Batches and single rows, with the basis that is slowest."""
    for rival, title, factor in (("lightgbm", "LightGBM", 10), ("svc", "SVC", 100)):
        theirs = results.most("rows_per_s", part="predict", method=rival)
        speeds = [
            (value, f" ({basis})")
            for basis in BASES
            if (value := ratio(results.most("rows_per_s", part="predict", method=f"sleek:{basis}"), theirs))
        ]
        value, where = min(speeds, default=(None, ""))
        yield at_least(
            f"20 units predict {factor}× as many rows per second as {title}", value, factor, where=where
        )
    logistic = results.least("row_us", part="predict", method="logistic")
    for field, sentence, bound in (
        ("row_us", "one row through the estimator takes no longer than LogisticRegression's", logistic),
        ("model_row_us", "one row through `model_` takes at most 20 µs", 20.0),
    ):
        times = [
            (value, f" ({basis})")
            for basis in BASES
            if (value := results.least(field, part="predict", method=f"sleek:{basis}"))
        ]
        value, where = max(times, default=(None, ""))
        if field == "row_us":
            where += f" against {number(logistic, ' µs')}"
        yield at_most(sentence, None if bound is None else value, bound or 0.0, " µs", where)


def parquet(results: Results) -> Iterator[Target]:
    """A file larger than what is held of it."""
    rows = results.most("rows", part="parquet", method="parquet")
    peak = results.most("peak_mb", part="parquet", method="parquet")
    speeds = [results.most("rows_per_s", part="parquet", method=m) for m in ("parquet", "memory")]
    where = "" if peak is None else f" ({number(rows)} rows)"
    yield at_most("a Parquet file is fitted in 1.5 GB of memory", ratio(peak, 1000), 1.5, " GB", where)
    yield at_least("per row at least half as fast as in memory", ratio(*speeds), 0.5)


def first_fit(results: Results) -> Iterator[Target]:
    """First fit of a process."""
    for state, bound, words in (("cold", 6.0, "nothing compiled yet"), ("warm", 2.0, "compiled before")):
        times = results.first_fit("auto", state)
        sentence = f"first fit of a process, {words}: at most {bound:g} s"
        yield at_most(sentence, None if times is None else times[1], bound, " s")


def targets(results: Results) -> list[Target]:
    """All of them, in the order of the page."""
    groups = (kernels, fits, scaling, predictions, first_fit, parquet)
    return [target for group in groups for target in group(results)]
