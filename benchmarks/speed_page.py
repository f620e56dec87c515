"""The page of the speed comparison: a pure function of the measurements.

Tables are ratios, because seconds belong to one machine; seconds stand beside them in small print.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.generators import smooth_best_error
from benchmarks.speed_kernels import roofline_part
from benchmarks.speed_results import (
    BASES,
    CAP,
    COLD_BASES,
    FIT_METHODS,
    GENERATED,
    PREDICT_METHODS,
    Results,
    number,
    ratio,
    rows_given,
    small,
)
from benchmarks.speed_targets import targets
from studies.markdown import table
from studies.store import Record

HEAD = """\
# Speed

Written by `benchmarks/speed.py` (`make bench`); do not edit. Everything was measured in one run on one
machine, each number in a process of its own, methods taking turns; the best of at most {turns} turns counts
(one, if it took over half a minute). Every method may use two threads unless said otherwise.
"""
FIT = """\
## Fit

Time of a fit as a multiple of sleek's (above 1: sleek is faster), test error in %, and in small print the
time and the peak of memory beyond the data and the imported packages. All methods run with their defaults:
sleek `LowRankLSSVC(n_jobs=2)`, LightGBM with 100 trees, SVC, MLP (10 hidden units) and Nystroem (100
components, then `RidgeClassifierCV`) on standardised features. SVC and neo-ls-svm are given {cap:,} rows at
most: on larger problems their time is that of {cap:,} rows. Errors are those of {test:,} fresh rows, or of a
quarter of a data set; SVC and neo-ls-svm, which predict slowly, are tested on the first {slow:,} of them.
neo-ls-svm knows two classes only. The best possible error on the smooth problem is {best:.1f} %.
"""
SCALING = """\
## Scaling

Time of a fit with sleek's defaults as the rows grow, and as the threads are halved.
"""
PREDICT = """\
## Predict

sleek with 20 units; all models trained on the same rows of the smooth problem. Batch: how many times as many
rows per second sleek's slowest basis predicts (two threads), and in small print millions of rows per second;
the SVC's are extrapolated from fewer rows. One row: an array of shape (1, 28) through `predict`, as a
multiple of LogisticRegression's time.
"""
COLD = """\
## First fit of a process

Seconds to import sleek and to fit for the first time, in a new process. Cold: nothing was ever compiled.
"""
PARQUET = """\
## From a Parquet file

A fit with sleek's defaults that reads the file, against one of its first rows in memory; the peak of memory
is that of the whole process.
"""


def head(results: Results, machine: Record | None) -> list[str]:
    """What this is, and the machine."""
    turns = 1 + max((record.get("round", 0) for record in results.records), default=0)
    lines = [HEAD.format(turns=turns)]
    if machine is not None:
        what = [machine["cpu"], machine["vectors"], f"{machine['cores']} cores", f"{machine['memory_gb']} GB"]
        versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
        compiler = machine["compiler"] or "no C compiler"
        lines += [f"{', '.join(filter(None, what))}; {versions}; {compiler}.", ""]
    return lines


def target_table(results: Results) -> list[str]:
    """What was aimed at, and whether it was reached."""
    rows = [(target.sentence, target.measured, target.verdict) for target in targets(results)]
    return ["## Targets", "", *table(("target", "measured", ""), rows)]


# -- fit ----------------------------------------------------------------------------------------------------


def fit_cell(results: Results, problem: str, rows: int | None, method: str) -> str:
    """Ratio and error of one method on one problem, and in small print what they are made of."""
    some = rows_given(method, rows)
    here = {"part": "fit", "problem": problem, "method": method, "rows": some}
    found = results.find(**here)
    ours = results.least("seconds", part="fit", problem=problem, method="sleek", rows=rows)
    seconds, error = results.least("seconds", **here), results.least("error", **here)
    if seconds is None:
        over = results.least("over", **here)
        if over is not None:
            return f"> {number(ratio(over, ours), '×')} {small(f'> {over:.0f} s')}"
        return "failed" if any("failed" in record for record in found) else "–"
    share = number(ratio(seconds, ours), "×")
    details = f"{number(seconds, ' s')}, {number(results.most('peak_mb', **here), ' MB')}"
    note = "" if some == rows else f", {some:,} rows"
    accuracy = "–" if error is None else f"{error:.2f} %"
    return f"{share} · {accuracy} {small(details + note)}"


def fit_text(results: Results) -> str:
    """How fits were measured."""
    test, slow = (results.most("test_rows", part="fit", method=method) or 0 for method in ("sleek", "svc"))
    return FIT.format(cap=CAP, test=test, slow=slow, best=smooth_best_error())


def fit_tables(results: Results) -> list[str]:
    """One table for each generator, one for the data sets."""
    known = {record["problem"]: None for record in results.find(part="fit")}
    sets = [problem for problem in known if problem not in GENERATED]
    tables: list[tuple[str, list[tuple[str, int | None]]]] = [
        (f"{g}, 28 features", [(g, rows) for rows in results.sizes("fit", g)]) for g in GENERATED
    ]
    tables.append(("data sets", [(name, None) for name in sets]))
    lines: list[str] = []
    for title, cases in tables:
        if cases:
            header = [title, *(f"{rows:,} rows" if rows else name for name, rows in cases)]
            body = [
                [words, *(fit_cell(results, name, rows, method) for name, rows in cases)]
                for method, words in FIT_METHODS.items()
            ]
            lines += table(header, body)
    chosen = {
        f"{r['problem']} {r['rows'] or ''}".strip(): r["model"]
        for r in results.find(part="fit")
        if "model" in r
    }
    if chosen:
        lines += [
            "What sleek chose: " + ", ".join(f"{model} ({name})" for name, model in chosen.items()) + ".",
            "",
        ]
    return [fit_text(results), *lines] if lines else []


def scaling_table(results: Results) -> list[str]:
    """Rows and threads."""
    rows = []
    for problem in GENERATED:
        sizes = results.sizes("scaling", problem)
        if len(sizes) < 2:
            continue
        times = [
            results.least("seconds", part="scaling", problem=problem, rows=n, n_jobs=jobs)
            for n, jobs in ((sizes[0], 2), (sizes[1], 2), (sizes[1], 1))
        ]
        few, many, alone = times
        rows.append(
            [
                problem,
                f"{number(ratio(many, few), '×')} {small(f'{number(few)} s, {number(many)} s')}",
                f"{number(ratio(alone, many), '×')} {small(f'{number(alone)} s, {number(many)} s')}",
            ]
        )
        header = [
            "",
            f"time of {sizes[1]:,} rows / {sizes[0]:,}",
            f"time of one thread / two, {sizes[1]:,} rows",
        ]
    return [SCALING, *table(header, rows)] if rows else []


# -- predict and first fit ----------------------------------------------------------------------------------


def predict_table(results: Results) -> list[str]:
    """Batches and single rows."""
    if not results.find(part="predict"):
        return []

    def most(field: str, method: str) -> float | None:
        return results.most(field, part="predict", method=method)

    def least(field: str, method: str) -> float | None:
        return results.least(field, part="predict", method=method)

    speeds = [value for basis in BASES if (value := most("rows_per_s", f"sleek:{basis}"))]
    slowest, logistic = min(speeds, default=None), least("row_us", "logistic")
    rows = []
    for method, words in PREDICT_METHODS.items():
        speed, one, frozen = (
            most("rows_per_s", method),
            least("row_us", method),
            least("model_row_us", method),
        )
        alone = most("rows_per_s_1", method)
        details = number(ratio(speed, 1e6), " M/s")
        if alone is not None:
            details += f", one thread {number(ratio(alone, 1e6), ' M/s')}"
        batch = f"{number(ratio(slowest, speed), '×')} {small(details)}"
        single = f"{number(ratio(one, logistic), '×')} {small(number(one, ' µs'))}"
        model = (
            "" if frozen is None else f"{number(ratio(frozen, logistic), '×')} {small(number(frozen, ' µs'))}"
        )
        rows.append([words, batch, single, model])
    return [
        PREDICT,
        *table(["", "batch: sleek's slowest / this", "one row", "one row through `model_`"], rows),
    ]


def cold_table(results: Results) -> list[str]:
    """Cold and warm."""
    rows = [
        [f"{words}, {state}", f"{times[0]:.2f}", f"{times[1]:.2f}", f"{sum(times):.2f}"]
        for basis, words in COLD_BASES.items()
        for state in ("cold", "warm")
        if (times := results.first_fit(basis, state))
    ]
    n = results.most("rows", part="cold")
    return [COLD, *table([f"{number(n)} rows", "import s", "fit s", "sum s"], rows)] if rows else []


def parquet_table(results: Results) -> list[str]:
    """File against memory."""
    records = results.find(part="parquet")
    if not records:
        return []
    reasons = {record["skipped"] for record in records if "skipped" in record}
    if reasons:
        return [PARQUET, f"Not measured: {' '.join(sorted(reasons))}", ""]
    memory = results.most("rows_per_s", part="parquet", method="memory")
    rows = []
    for method, words in (("memory", "in memory"), ("parquet", "from the file")):
        speed = results.most("rows_per_s", part="parquet", method=method)
        seconds = results.least("seconds", part="parquet", method=method)
        rows.append(
            [
                f"{words}, {number(results.most('rows', part='parquet', method=method))} rows",
                f"{number(ratio(speed, memory), '×')} {small(number(seconds, ' s'))}",
                number(results.most("peak_mb", part="parquet", method=method), " MB"),
            ]
        )
    return [PARQUET, *table(["", "rows per second / in memory", "peak memory"], rows)]


def failures(results: Results) -> list[str]:
    """What went wrong."""
    names = ("part", "method", "problem", "rows", "basis", "dtype", "m", "d")
    lines = [
        f"- {' '.join(str(r[name]) for name in names if r.get(name))}: {r['failed']}"
        for r in results.records
        if "failed" in r
    ]
    return ["## Failures", "", *lines, ""] if lines else []


def page(records: Sequence[Record], machine: Record | None = None) -> str:
    """The whole page: what was measured, and on which machine."""
    results = Results(records)
    parts = (
        target_table,
        fit_tables,
        scaling_table,
        predict_table,
        cold_table,
        roofline_part,
        parquet_table,
        failures,
    )
    lines = [*head(results, machine), *(line for part in parts for line in part(results))]
    return "\n".join(lines).rstrip() + "\n"
