"""Tables of the Penn Machine Learning Benchmarks, read from a folder of ``NAME.tsv.gz``.

Tab-separated, with a column ``target``; categories are already coded as integers. Of each table 70 % of
the rows train, at most 10,000, and the rest test, at most 20,000, in three splits drawn with the seeds 0,
1 and 2. A table whose name begins with a digit is a regression problem.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.errors import StudyError, need
from studies.problems import REGRESSION, Problem, drawn_splits, kind_of_classes

SHARE, MAX_TRAIN, MAX_TEST = 0.7, 10_000, 20_000
SEEDS = range(3)
ENDING = ".tsv.gz"


def pmlb_names(folder: Path) -> list[str]:
    """The names of the tables that a folder holds."""
    return sorted(path.name.removesuffix(ENDING) for path in folder.glob(f"*{ENDING}"))


def pmlb(folder: Path, name: str) -> Problem:
    """One table as a problem."""
    path = folder / f"{name}{ENDING}"
    try:
        table = need("pandas", "Tables").read_csv(path, sep="\t")
        X = table.drop(columns="target").to_numpy(np.float64)
        y = table["target"].to_numpy()
    except (OSError, EOFError, KeyError, ValueError) as error:
        raise StudyError(
            f"{path} must be a gzipped, tab-separated table with a column target: {error}"
        ) from None
    regression = name[0].isdigit()
    if not regression:
        y = np.unique(y, return_inverse=True)[1]
    n_train = min(int(SHARE * len(y)), MAX_TRAIN)
    splits = drawn_splits(len(y), n_train, MAX_TEST, SEEDS)
    kind = REGRESSION if regression else kind_of_classes(y)
    return Problem(name, kind, X, y, splits, "PMLB, seeded splits", "pmlb")
