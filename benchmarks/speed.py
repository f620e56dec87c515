"""Compare the speed of sleek with other methods, with C and with itself: one run, side by side.

    python benchmarks/speed.py                       everything that is not yet done, then the page
    python benchmarks/speed.py --only fit,roofline   some parts
    python benchmarks/speed.py --methods sleek,lightgbm --only fit
    python benchmarks/speed.py --fresh               forget what was measured (with --only: of these parts)
    python benchmarks/speed.py --quick               small sizes, two minutes

Parts: fit, scaling, predict, cold, roofline, parquet. Every measurement runs in a process of its own
(`speed_measure.py`); methods take turns, and the best of three turns counts (of one, if it took over half a
minute). Each result is one line of ``results/speed.jsonl`` and is not measured again, so the program may be
stopped at any time; what failed is tried again. The page (`speed_page.py`) is always made from all lines;
``--quick`` keeps its own lines and page beside the results.
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
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from speed_jobs import JOBS, QUICK, Job, Scale, key
from speed_page import page
from speed_results import FIT_METHODS, PREDICT_METHODS, Record

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "speed.jsonl"
PAGE = ROOT / "docs" / "benchmarks" / "speed.md"
WORKER = Path(__file__).with_name("speed_measure.py")

PARTS = tuple(JOBS)
SLOW = 30.0  # seconds beyond which one turn is enough
PACKAGES = ("sleek", "numpy", "scipy", "scikit-learn", "lightgbm", "neo-ls-svm", "numba", "pyarrow")
MODULES = {"lightgbm": "lightgbm", "neo": "neo_ls_svm"}
THREADS = {f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "VECLIB")}


# -- what there is to do ------------------------------------------------------------------------------------


def missing(job: Job) -> str | None:
    """Why a job cannot run here, or None."""
    module = MODULES.get(job.get("method", ""))
    if module and importlib.util.find_spec(module) is None:
        return f"{module} is not installed."
    if job["part"] == "parquet":
        import sleek

        if importlib.util.find_spec("pyarrow") is None:
            return "pyarrow is not installed."
        if not hasattr(sleek, "ParquetSource"):
            return "This version of sleek does not read Parquet files."
    return None


def enough(record: Record | None) -> bool:
    """Whether further turns would be a waste: the first was slow, or did not succeed."""
    if record is None:
        return False
    return bool({"failed", "over", "skipped"} & record.keys()) or record.get("seconds", 0.0) > SLOW


# -- doing it -----------------------------------------------------------------------------------------------


def start(job: Job, patience: float = 900.0) -> Record:
    """Run one job in a process of its own; a failure is a result too."""
    command = [sys.executable, str(WORKER), json.dumps(job)]
    try:
        done = subprocess.run(
            command, env=os.environ | THREADS, capture_output=True, text=True, timeout=patience
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
            raise SystemExit(f"Rows of {order.get('problem', 'the Parquet file')}: {record['failed']}")


def title(job: Job) -> str:
    """A job in a few words."""
    words = [
        str(job[name])
        for name in ("part", "method", "problem", "rows", "basis", "dtype", "m", "d")
        if job.get(name)
    ]
    return f"{' '.join(words)}, turn {job['round'] + 1}"


def run(jobs: Sequence[Job], done: dict[str, Record], path: Path, scale: Scale, console: Console) -> None:
    """Run the jobs one after another and append every result at once."""
    bar = Progress(
        TextColumn("{task.description:48}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )
    with tempfile.TemporaryDirectory(dir=path.parent) as name, bar, path.open("a") as file:
        task = bar.add_task("writing rows", total=len(jobs))
        reasons = {key(job): missing(job) for job in jobs}
        prepare([job for job in jobs if not reasons[key(job)]], Path(name), scale)
        for job in jobs:
            bar.update(task, description=title(job))
            if not enough(done.get(key(job, 0))):
                reason = reasons[key(job)]
                begin = time.monotonic()
                record = job | ({"skipped": reason} if reason else start(job | {"folder": name}))
                record["took"] = round(
                    time.monotonic() - begin, 1
                )  # everything, imports and warm-up included
                if "failed" in record:
                    console.print(f"{title(job)}: {record['failed']}", markup=False)
                done[key(job)] = record
                file.write(json.dumps(record) + "\n")
                file.flush()
            bar.advance(task)


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
        "part": "machine",
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the page."""
    options, console = parse(arguments), Console()
    scale = QUICK if options.quick else Scale()
    if options.parquet_rows:
        scale = replace(scale, parquet_rows=options.parquet_rows)
    if os.getloadavg()[0] > 0.5:
        console.print(f"This machine is busy (load {os.getloadavg()[0]:.1f}): times will be too long.")

    jobs = [job for part in options.only for job in JOBS[part](scale) if chosen(job, options.methods)]
    wanted = {key(job): job for job in jobs}
    options.results.parent.mkdir(parents=True, exist_ok=True)
    lines = options.results.read_text().splitlines() if options.results.is_file() else []
    records = [record for line in lines if (record := json.loads(line))["part"] != "machine"]
    if options.fresh:
        records = [r for r in records if r["part"] not in options.only or not chosen(r, options.methods)]
    kept = {key(r): r for r in records if not {"failed", "skipped"} & r.keys()}  # these are tried again
    here = machine()
    if kept and json.loads(lines[0]) != here:
        raise SystemExit(
            "The earlier results are of another machine or other versions: start over with --fresh."
        )
    options.results.write_text("".join(json.dumps(r) + "\n" for r in (here, *kept.values())))
    run([job for k, job in wanted.items() if k not in kept], kept, options.results, scale, console)
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(page([here, *kept.values()]))
    console.print(f"{len(kept)} measurements; page in {options.page.name}")


if __name__ == "__main__":
    main()
