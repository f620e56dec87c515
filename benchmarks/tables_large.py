"""Memory and time of large tables: three million flights, and files of 20 million rows.

    python -m benchmarks.tables_large            # some minutes, and 3 GB on disk for as long

Both are made up: flights have 440 airports, 17 carriers and two numbers with gaps; the file has 24 numbers,
one of them with gaps, and 4 categories of 300, 12, 5 and 2 levels.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

import numpy as np

import sleek

PAGE = Path("docs/benchmarks/tables_large.md")
FLIGHTS, ROWS, STEP = 3_000_000, 20_000_000, 1_000_000
LEVELS = {"origin": 300, "carrier": 12, "group": 5, "half": 2}


def memory() -> float:
    """The most memory that this process has had, in GB."""
    return getrusage(RUSAGE_SELF).ru_maxrss / 1e6


def flights() -> str:
    """A line about a data frame in memory."""
    import pandas as pd

    rng, n = np.random.default_rng(0), FLIGHTS
    origin, carrier = rng.integers(0, 440, n), rng.integers(0, 17, n)
    frame = pd.DataFrame(
        {
            "origin": pd.Categorical.from_codes(origin, [f"A{i}" for i in range(440)]),
            "carrier": pd.Categorical.from_codes(carrier, [f"C{i}" for i in range(17)]),
            "hour": rng.integers(0, 24, n).astype(np.float32),
            "distance": np.where(rng.random(n) < 0.02, np.nan, rng.gamma(2, 400, n)).astype(np.float32),
        }
    )
    delay = rng.normal(size=440)[origin] * 5 + frame["hour"].to_numpy() * 0.5 + rng.normal(size=n) * 10
    before, begin = memory(), perf_counter()
    sleek.LowRankLSSVR(random_state=0).fit(frame, delay)
    return f"| data frame of {n:,} flights | {perf_counter() - begin:.0f} | {memory() - before:.2f} |"


def write(path: str) -> None:
    """The file of 20 million rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, writer = np.random.default_rng(0), None
    effect = rng.normal(size=LEVELS["origin"])
    for _ in range(ROWS // STEP):
        X = rng.standard_normal((24, STEP), dtype=np.float32)
        codes = {name: rng.integers(0, count, STEP).astype(np.int32) for name, count in LEVELS.items()}
        score = (
            X[0] * X[1] + X[2] + effect[codes["origin"]] + (codes["group"] == 2) + 0.5 * codes["half"] * X[3]
        )
        score = score + 0.5 * rng.standard_normal(STEP, dtype=np.float32)
        columns = {
            f"x{i}": pa.array(x, mask=(rng.random(STEP) < 0.05) if i == 5 else None) for i, x in enumerate(X)
        }
        columns |= {
            name: pa.DictionaryArray.from_arrays(places, [f"{name}{i}" for i in range(LEVELS[name])])
            for name, places in codes.items()
        }
        table = pa.table(columns | {"y": pa.array(np.where(score > 0.5, "yes", "no"))})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table, row_group_size=250_000)
    assert writer is not None
    writer.close()


def files(path: str) -> str:
    """A line about the file."""
    before, begin = memory(), perf_counter()
    sleek.LowRankLSSVC(n_jobs=-1, random_state=0).fit(sleek.Files(path, target="y"))
    size = Path(path).stat().st_size / 1e9
    seconds, rows = perf_counter() - begin, f"{ROWS:,} rows × 28, {size:.1f} GB"
    return f"| Parquet file of {rows} | {seconds:.0f} | {memory() - before:.2f} |"


def main() -> None:
    """Each measurement in a process of its own."""
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        task, *rest = sys.argv[1:]
        print({"flights": flights, "write": write, "files": files}[task](*rest) or "")  # type: ignore[operator]
        return
    lines = [
        "# Large tables",
        "",
        "Seconds of a fit with default settings, and memory beside what there is before it. Written by",
        "`python -m benchmarks.tables_large`, on two cores.",
        "",
        "| | seconds | GB |",
        "|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for job in (["flights"], ["write", f"{folder}/rows.parquet"], ["files", f"{folder}/rows.parquet"]):
            command = [sys.executable, "-m", "benchmarks.tables_large", *job]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            lines += [said] if said else []
            print(said, flush=True)
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
