"""Tables that real life and bad luck bring, each small and the same every time; see `test_nasty_tables`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LABELS = np.array(['it\'s "so"', "new\nline", "Köln, 東京", " 1"], dtype=object)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, what is to be predicted of them, and what a fit must say of it: nothing, unless stated."""

    X: Any
    y: Any
    weights: Any = None
    warns: str | None = None  # a UserWarning that matches, and no other
    refused: str | None = None  # a ValueError that matches

    @property
    def classifies(self) -> bool:
        return self.y.dtype.kind != "f"


MADE: dict[str, Callable[[], Table]] = {}


def table(make: Callable[[np.random.Generator], Table]) -> Callable[[], Table]:
    """Keep a table under its name, its random numbers seeded."""

    def seeded() -> Table:
        return make(np.random.default_rng(7))

    MADE[make.__name__] = seeded
    return seeded


def plain(rng: np.random.Generator, n: int = 60, d: int = 3) -> tuple[Any, Any]:
    """Rows, and a number of which the first two features tell most."""
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + np.abs(X[:, 1 % d]) + 0.2 * rng.normal(size=n)


# ---- sizes


@table
def wide(rng):
    X = rng.normal(size=(30, 300))
    return Table(X, (X[:, 0] > 0).astype(int))


@table
def wide_numbers(rng):
    X = rng.normal(size=(20, 100))
    return Table(X, X[:, 0])


@table
def two_rows(rng):
    return Table(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array(["a", "b"]))


@table
def two_rows_of_numbers(rng):
    return Table(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([1.0, 5.0]))


@table
def three_rows(rng):
    return Table(rng.normal(size=(3, 2)), np.array([0, 1, 2]))


@table
def five_rows(rng):
    return Table(rng.normal(size=(5, 2)), np.array([0, 1, 0, 1, 1]))


@table
def five_rows_of_numbers(rng):
    return Table(rng.normal(size=(5, 2)), rng.normal(size=5))


# ---- features that say little


@table
def constant_features(rng):
    return Table(np.full((40, 3), 2.5), (np.arange(40) % 3 == 0).astype(int))


@table
def constant_features_of_numbers(rng):
    return Table(np.full((40, 3), 2.5), rng.normal(size=40))


@table
def one_useful_feature(rng):
    X, _ = plain(rng)
    X[:, 1], X[:, 2] = 7.0, 0.0
    return Table(X, (X[:, 0] > 0).astype(int))


@table
def equal_rows(rng):
    return Table(np.tile([1.0, -2.0], (30, 1)), rng.normal(size=30))


@table
def duplicated_rows(rng):
    X, y = plain(rng, 12)
    return Table(np.tile(X, (5, 1)), np.tile(y > 1, 5), warns="Rows stand in the table 5 times each")


@table
def duplicated_rows_that_disagree(rng):
    X, _ = plain(rng, 12)
    return Table(np.tile(X, (5, 1)), rng.normal(size=60))


@table
def an_id(rng):
    X, y = plain(rng)
    X[:, 2] = 10_000_000 + rng.permutation(60)
    return Table(X, (y > 1).astype(int))


# ---- magnitudes


@table
def heavy_tails(rng):
    X = rng.standard_cauchy(size=(80, 3)) ** 3
    return Table(X, (np.abs(X[:, 0]) > 1).astype(int))


@table
def heavy_tails_of_targets(rng):
    X, _ = plain(rng, 80)
    return Table(X, rng.standard_cauchy(size=80) ** 3, warns="makes up .* of the target's variance")


@table
def an_absurd_value(rng):
    X, y = plain(rng)
    X[17, 1] = 1e12
    return Table(X, (y > 1).astype(int))


@table
def scales_up_to_1e100(rng):
    X, y = plain(rng, d=9)
    return Table(X * 10.0 ** np.linspace(-100, 100, 9), y)


@table
def scales_up_to_1e300(rng):
    X, y = plain(rng, d=7)
    return Table(X * 10.0 ** np.linspace(-300, 300, 7), y, refused="feature number 5 are too large")


@table
def scales_down_to_1e_300(rng):
    X, y = plain(rng, d=4)
    return Table(X * 10.0 ** np.array([0, 0, -300, -170]), y, warns="varies by too little")


@table
def offsets_of_1e15(rng):
    X, y = plain(rng)
    return Table(np.round(64 * X) + 1e15, y)


@table
def offsets_that_swallow(rng):
    X, y = plain(rng)
    return Table(X + np.array([0.0, 0.0, 1e15]), y, warns="varies by too little")


@table
def squares_that_just_fit(rng):
    X, y = plain(rng)
    return Table(X * np.array([1.0, 9e149, 2e-150]), y)


@table
def squares_that_just_do_not(rng):
    X, y = plain(rng)
    return Table(X * np.array([1.0, 1e154, 1.0]), y, refused="feature number 1 are too large")


@table
def squares_that_vanish(rng):
    X, y = plain(rng)
    return Table(X * np.array([1.0, 1.0, 1e-158]), y, warns="varies by too little")


@table
def targets_of_1e149(rng):
    X, y = plain(rng)
    return Table(X, 1e149 * y)


@table
def targets_of_1e_149(rng):
    X, y = plain(rng)
    return Table(X, 1e-149 * y)


@table
def targets_of_1e154(rng):
    X, y = plain(rng)
    return Table(X, 1e154 * y, refused="target number 0 are too large")


@table
def targets_of_1e_200(rng):
    X, y = plain(rng)
    return Table(X, 1e-200 * y, warns="Target number 0 varies by too little")


@table
def targets_with_offset_1e15(rng):
    X, y = plain(rng)
    return Table(X, 1e15 + np.round(100 * y))


@table
def targets_on_many_scales(rng):
    X, y = plain(rng)
    return Table(X, np.column_stack([y, 1e100 * X[:, 0], 1e-100 * y**2, np.full(60, 3.0)]))


@table
def one_target_that_differs(rng):
    X, _ = plain(rng)
    return Table(X, np.where(np.arange(60) == 13, 1.0, 0.0), warns="(Row 13|Line 15) of .*, 1, makes up")


@table
def a_constant_target(rng):
    X, _ = plain(rng)
    return Table(X, np.full(60, -4.25))


# ---- types and layouts


@table
def integers(rng):
    X, y = plain(rng)
    return Table(np.round(10 * X).astype(np.int16), (y > 1).astype(np.uint8))


@table
def truth_values(rng):
    X, _ = plain(rng)
    return Table(X > 0, (X[:, 0] > 0) ^ (X[:, 1] > 0))


@table
def single_precision(rng):
    X, y = plain(rng)
    return Table(X.astype(np.float32), (y > 1).astype(int))


@table
def single_precision_of_numbers(rng):
    X, y = plain(rng)
    return Table(X.astype(np.float32), y.astype(np.float32))


@table
def negative_zeros(rng):
    X, y = plain(rng)
    X = np.where(np.abs(X) < 0.5, np.where(rng.random(X.shape) < 0.5, 0.0, -0.0), X)
    return Table(X, y)


@table
def not_contiguous(rng):
    X, y = plain(rng, 120, 6)
    return Table(X[::-2, ::2], y[::-2])


@table
def fortran_order(rng):
    X, y = plain(rng)
    return Table(np.asfortranarray(X), (y > 1).astype(int))


@table
def read_only(rng):
    X, y = plain(rng)
    weights = np.ones(60)
    for array in (X, y, weights):
        array.setflags(write=False)
    return Table(X, y, weights)


@table
def another_byte_order(rng):
    X, y = plain(rng)
    return Table(X.astype(">f8"), y.astype(">f8"))


@table
def half_precision(rng):
    X, y = plain(rng)
    return Table(X.astype(np.float16), (y > 1).astype(int))


# ---- classes


@table
def imbalanced(rng):
    X, _ = plain(rng, 300)
    y = (np.arange(300) < 3).astype(int)
    return Table(X + 2.0 * y[:, None], y)


@table
def a_class_of_one_row(rng):
    X, y = plain(rng)
    return Table(X, np.where(np.arange(60) == 5, 2, (y > 1).astype(int)))


@table
def many_classes_of_two_rows(rng):
    X = np.repeat(rng.normal(size=(20, 3)), 2, axis=0) + 0.01 * rng.normal(size=(40, 3))
    return Table(X, np.repeat(np.arange(20), 2) * 1000 - 7)


@table
def strange_labels(rng):
    X, y = plain(rng)
    return Table(X, LABELS[np.digitize(y, [0.0, 1.0, 2.0])])


@table
def labels_that_look_like_numbers(rng):
    X, y = plain(rng)
    return Table(X, np.where(y > 1, "1.0", "01"))


@table
def labels_of_large_integers(rng):
    X, y = plain(rng)
    return Table(X, np.where(y > 1, 2**62, -(2**62)))


# ---- weights


@table
def weights_with_zeros(rng):
    X, y = plain(rng)
    return Table(X, (y > 1).astype(int), (np.arange(60) % 3 > 0).astype(float))


@table
def weights_that_are_counts(rng):
    X, y = plain(rng)
    return Table(X, y, rng.integers(0, 5, size=60))


@table
def weights_of_1e_300(rng):
    X, y = plain(rng)
    return Table(X, (y > 1).astype(int), np.where(np.arange(60) < 6, 1e-300, 1.0))


@table
def tiny_weights(rng):
    X, y = plain(rng)
    return Table(X, y, 1e-300 * rng.random(60))


@table
def weights_of_1e300(rng):
    X, y = plain(rng)
    return Table(X, (y > 1).astype(int), np.where(np.arange(60) < 30, 1e300, 1e299))


@table
def one_weight_of_1e300(rng):
    X, y = plain(rng)
    return Table(X, y, np.where(np.arange(60) == 4, 1e300, 1.0), refused="One row has a weight of 1e\\+300")


@table
def weights_whose_sum_overflows(rng):
    X, y = plain(rng)
    return Table(X, y, np.full(60, 1e308), refused="Weights must add up to a finite number")


# ---- whatever comes


def any_column(rng, n):
    """A column of n numbers of some kind."""
    x = rng.normal(size=n)
    kinds = (
        x,
        np.full(n, x[0]),
        np.round(x),
        (x > 0).astype(float),
        rng.standard_cauchy(n) ** 3,
        x * 10.0 ** rng.integers(-140, 140),
        x + 10.0 ** rng.integers(0, 16),
        np.where(np.arange(n) == n // 2, 1e12, x),
        np.exp(5 * x),
        (np.arange(n) == 0).astype(float),
    )
    return kinds[rng.integers(len(kinds))]


def any_table(seed):
    """A small table of columns of some kinds, with targets or labels, and weights of some kind."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 60)), int(rng.integers(1, 6))
    X = np.column_stack([any_column(rng, n) for _ in range(d)])
    f = np.argsort(np.argsort(X[:, 0])) / n + 0.3 * rng.normal(size=n)
    y = (f, np.column_stack([f, 1e6 * rng.normal(size=n)]), np.exp(3 * f), np.digitize(f, [0.3, 0.7]))[
        seed % 4
    ]
    weights = (None, None, rng.random(n), rng.integers(1, 4, size=n), 10.0 ** rng.integers(-200, 200, size=n))
    return Table(X, y, weights[rng.integers(len(weights))])
