"""The page of `benchmarks.dask_scale`: what was measured, and what the model of a pass says of it."""

from __future__ import annotations

from math import ceil
from typing import Any

from benchmarks.dask_scale import (
    LARGE,
    LOOPBACK,
    N_FEATURES,
    NETWORK,
    PART,
    SAMPLED,
    Rates,
    Spread,
    simulated,
)

SAME = "All fits are the same model to the last bit."
DIFFERENT = "**Fits differ in their last bits.**"
PAGE = """# Dask: fits on a cluster

Written by `benchmarks/dask_scale.py` (`make bench-dask`); do not edit.

{n:,} rows × {d} features of the smooth problem, two classes, default settings, `n_jobs=2`; {parts} partitions
of {part:,} rows, persisted, on a `LocalCluster` of a machine with {cores} cores, which client, scheduler and
workers share. Figures are the best of {rounds} process(es) each, in turns; CPU is the processor time of
client, scheduler and workers together. {same}

| | s, first fit | s, next | times memory | CPU s | times memory | client MB | worker MB | wire MB |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{fits}

MB are peaks; for the cluster the first number is what the process had before the fit, its packages and
partitions among it. The target, 1.5 times the fit in memory + 2 s, is {verdict}: {two:.1f} s against
{limit:.1f} s.

## Pass by pass
Bytes are those of the loopback with two workers: what goes from a worker through the scheduler to the client
counts twice.

| pass | seconds | kB over the wire | simulated, 2 workers | measured, 1 worker | simulated, 1 worker |
|---|---:|---:|---:|---:|---:|
{passes}

## The model of a pass
Rates that were measured without a cluster, by one thread, in µs a row: {row_rates}.
A pass of nothing takes {fixed:.0f} ms and {task:.1f} ms more for each task (10 and 110 partitions, two
workers). Tasks leave the scheduler one after the other, each worker takes the next as soon as it is free,
sums are joined by 16. The passes of a fit together:

| | simulated s | measured s | simulated / measured |
|---|---:|---:|---:|
{checks}

The model knows nothing of workers, scheduler and client that share {cores} cores with each other and with
whoever else is there: it says what a pass would take if each of them had a core, at rates that were measured
one at a time.

## {large_rows:,} × {large_d} on {workers} workers
One thread each, partitions of {large_part:,} rows ({part_mb:.0f} MB), 1 Gbit/s, scheduler and threads as fast
as those above, on the machine as busy as it was. The client's own work on samples does not grow with the
rows: {client:.0f} s, that of a whole fit to {sampled:,} × {large_d} in memory, which ended with {units}
units.

| pass | a row, µs | seconds, rows kept | seconds, rows read anew | comes home MB |
|---|---:|---:|---:|---:|
{large}
| **fit** | | **{kept:.0f}** | **{anew:.0f}** | |

Rows are kept if they take at most half of the workers' free memory (then {worker_gb:.0f} GB each); else every
pass reads them again (Parquet, {reading:.2f} µs a row by one thread). The scheduler alone needs
{scheduler:.0f} s of each pass for its {large_parts:,} partitions. If the model is off by as much as above,
divide by that.
"""


def passes_of(
    n_sampled: int, n_held: int, n_features: int, units: int, draws: list[int]
) -> list[dict[str, Any]]:
    """The passes of a fit: which rate is theirs, bytes of sums, bytes that come home."""
    row = 8 * (n_features + 3)
    sample = (n_sampled + n_held) * row
    sums = 8.0 * (units**2 + 3 * units)
    return [
        {"name": "gaps", "tasks": 1, "rate": "gaps", "sums": 0.0, "home": 0.0, "joins": False},
        {"name": "targets", "tasks": 3, "rate": "targets", "sums": 1e3, "home": 1e3, "joins": True},
        {"name": "rows are kept", "tasks": 1, "rate": "keep", "sums": 0.0, "home": 0.0, "joins": False},
        {
            "name": "means, spreads, first sample",
            "tasks": 2,
            "rate": "look",
            "sums": 0.0,
            "home": 2 * sample,
            "joins": True,
        },
        *(
            {
                "name": f"sample of {n:,}",
                "tasks": 1,
                "rate": None,
                "sums": 0.0,
                "home": 2.0 * n * row,
                "joins": False,
            }
            for n in draws
        ),
        {
            "name": "weights of the units",
            "tasks": 1,
            "rate": "solve",
            "sums": 6 * sums,
            "home": sums,
            "joins": True,
        },
    ]


def _simulated(
    step: dict[str, Any], spread: Spread, per_row: dict[str, Any], rates: Rates, more: float = 0.0
) -> float:
    each = (0.0 if step["rate"] is None else per_row[step["rate"]]) + more
    busy = Rates(rates.fixed, step["tasks"] * rates.task)  # to read, to cut at borders, to work
    return simulated(spread, each, busy, step["sums"], step["home"], step["joins"])


def page(found: dict[str, Any]) -> str:
    """The page, from what was measured."""
    import os

    n, per_row, large = found["rows"], found["rates"], found["large"]
    memory = min(found["memory"], key=lambda one: one["warm"])
    two, one = (min(found[name], key=lambda run: run["warm"]) for name in ("two", "one"))
    rates = Rates(**two["rates"])
    measured = two["passes"]
    draws = [0] * (len(measured) - 5)
    steps = passes_of(32_768, 8192, N_FEATURES, per_row["units"], draws)
    spreads = [Spread(PART, n // PART, workers, LOOPBACK) for workers in (1, 2)]
    said = [[_simulated(step, spread, per_row, rates) for step in steps] for spread in spreads]
    limit = 1.5 * memory["warm"] + 2
    seconds = [[each["seconds"] for each in run["passes"]] for run in (one, two)]
    fits = [
        f"| in memory, 2 threads | {memory['cold']:.1f} | {memory['warm']:.1f} | 1 | "
        f"{memory['cpu']:.1f} | 1 | {memory['peak']:.0f} more | | |"
    ]
    for label, run in (("2 workers × 1 thread", two), ("1 worker × 1 thread", one)):
        workers = ", ".join(f"{before:.0f} → {peak:.0f}" for before, peak in run["workers"])
        before, peak = run["client"]
        fits.append(
            f"| {label} | {run['cold']:.1f} | {run['warm']:.1f} | {run['warm'] / memory['warm']:.2f} | "
            f"{run['cpu']:.1f} | {run['cpu'] / memory['cpu']:.2f} | "
            f"{before:.0f} → {peak:.0f} | {workers} | {run['wire'] / 1e6:.0f} |"
        )
    lines = [
        f"| {step['name']} | {seconds[1][i]:.2f} | {each['bytes'] / 1e3:,.0f} | {said[1][i]:.2f} | "
        f"{seconds[0][i]:.2f} | {said[0][i]:.2f} |"
        for i, (step, each) in enumerate(zip(steps, measured, strict=True))
    ]
    checks = [
        f"| {workers} | {sum(said[i]):.2f} | {sum(seconds[i]):.2f} | {sum(said[i]) / sum(seconds[i]):.2f} |"
        for i, workers in enumerate(("1 worker", "2 workers"))
    ]
    from sleek.fit.plan import _stages, stage_limit

    d, part = LARGE["n_features"], LARGE["part"]
    stages = _stages(8192, stage_limit(d))
    wide = Spread(part, ceil(LARGE["n_rows"] / part), LARGE["n_workers"], NETWORK)
    table, totals = [], [0.0, 0.0]
    reading = found["reading"]["row"]
    for step in passes_of(stages[0], 8192, d, large["units"], list(stages[1:])):
        name = step["name"]
        kept = _simulated(
            step, wide, large, rates, reading if name in ("gaps", "targets", "rows are kept") else 0.0
        )
        anew = 0.0 if name == "rows are kept" else _simulated(step, wide, large, rates, reading)
        totals = [totals[0] + kept, totals[1] + anew]
        rate = "" if step["rate"] is None else f"{1e6 * large[step['rate']]:.2f}"
        table.append(f"| {name} | {rate} | {kept:.0f} | {anew:.0f} | {step['home'] / 2e6:.1f} |")
    kinds = ("gaps", "targets", "keep", "look", "solve")
    models = {model for kind in ("memory", "one", "two") for fit in found[kind] for model in fit["models"]}
    return PAGE.format(
        n=n,
        d=N_FEATURES,
        parts=n // PART,
        part=PART,
        cores=os.cpu_count(),
        rounds=len(found["memory"]),
        same=SAME if len(models) == 1 else DIFFERENT,
        fits="\n".join(fits),
        verdict="met" if two["warm"] <= limit else "missed",
        two=two["warm"],
        limit=limit,
        passes="\n".join(lines),
        row_rates=", ".join(f"{kind} {1e6 * per_row[kind]:.2f}" for kind in kinds),
        fixed=1e3 * rates.fixed,
        task=1e3 * rates.task,
        checks="\n".join(checks),
        large_rows=LARGE["n_rows"],
        large_d=d,
        workers=LARGE["n_workers"],
        large_part=part,
        part_mb=part * d * 8 / 1e6,
        client=large["fit"],
        sampled=SAMPLED,
        units=large["units"],
        large="\n".join(table),
        kept=totals[0] + large["fit"],
        anew=totals[1] + large["fit"],
        worker_gb=2 * LARGE["n_rows"] * d * 8 / LARGE["n_workers"] / 1e9,
        reading=1e6 * reading,
        large_parts=wide.n_parts,
        scheduler=rates.task * wide.n_parts * (1 + 1 / 15),
    )
