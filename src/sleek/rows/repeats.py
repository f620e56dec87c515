"""How often equal rows occur, and whether that is because the table was pasted several times.

Equal rows are observations like others: four rows of XOR, 50 times each, are 200 observations. But where
*every* row stands there k times, down to the last digit of measured numbers, the table was pasted together
from copies. Its rows tell no more than one copy does, and a row that is held out must take its copies along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek._runtime.warn import warn
from sleek.rows.source import Block, MappedSource

MOST_KEPT = 1024  # distinct rows that are counted: enough to see whether 90 % of all are repeated
# A table was pasted k times if, of its distinct rows, this share has a multiple of k copies: rows may have
# been added since.
REPEATED_SHARE = 0.9
# There must be so many distinct rows, and so many for each copy: 5 levels, 100 times each, were observed.
LEAST_DISTINCT, DISTINCT_PER_COPY = 10, 2
# A feature of more values than this is a measurement.
MOST_LEVELS = 30
# Features of more than two values whose combinations occur to at least this share are a design: each
# combination was observed k times.
DESIGN_SHARE = 0.5


def row_ids(X: FloatArray, T: FloatArray) -> IntArray:
    """A number for each row that is the same for equal rows, and else different but for bad luck (2⁻⁴⁰)."""
    factors = np.random.default_rng(0).integers(2**63, size=X.shape[1] + T.shape[1], dtype=np.uint64)
    factors = 2 * factors + np.uint64(1)
    mixed = np.zeros(len(X), dtype=np.uint64)
    start = 0
    for values in (X, T):
        bits = (values + 0.0).view(np.uint64)  # + 0.0: no minus in front of 0
        bits = bits ^ (bits >> np.uint64(32)) ^ (bits >> np.uint64(51))  # short numbers have high bits only
        mixed = mixed * factors[start] + bits @ factors[start : start + values.shape[1]]
        start += values.shape[1]
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    ids: IntArray = (mixed ^ (mixed >> np.uint64(33))).view(np.int64)
    return ids


@dataclass(frozen=True, eq=False)
class Repeats:
    """The distinct rows with the smallest ids, a random sample of them, and the copies of each; `+` merges.

    >>> X = np.array([[1.0], [2.0], [1.0]])
    >>> found = Repeats.of(Block(0, X, X, np.ones(3), np.ones(3)))
    >>> np.sort((found + found).copies)
    array([2., 4.])
    """

    ids: IntArray
    copies: FloatArray

    @classmethod
    def of(cls, block: Block) -> Repeats:
        """Of some rows."""
        return cls._of(row_ids(block.X, block.T), block.copies)

    @classmethod
    def _of(cls, ids: IntArray, copies: FloatArray) -> Repeats:
        distinct, group = np.unique(ids, return_inverse=True)
        summed = np.bincount(group.ravel(), copies, len(distinct)).astype(np.float64, copy=False)
        return cls(distinct[:MOST_KEPT], summed[:MOST_KEPT])

    def __add__(self, other: Repeats) -> Repeats:
        return self._of(np.concatenate([self.ids, other.ids]), np.concatenate([self.copies, other.copies]))

    @property
    def times(self) -> int:
        """The most common number of copies k, if almost all rows have a multiple of it; else 1.

        >>> Repeats(np.arange(12), np.array([2.0] * 6 + [4.0] * 5 + [1.0])).times
        2
        """
        values, number = np.unique(self.copies, return_counts=True)
        k = max(1.0, float(values[number.argmax()]))
        repeated = number[values % k == 0].sum() >= REPEATED_SHARE * len(self.copies)
        enough = len(self.copies) >= max(LEAST_DISTINCT, DISTINCT_PER_COPY * k)
        return int(k) if repeated and enough else 1


def pasted_times(repeats: Repeats, rows: Block, numbers: bool) -> int:
    """How many times a table was pasted; 1 if it was not.

    Parameters
    ----------
    repeats : Repeats
        Of all rows.
    rows : Block
        All rows or a sample of them, to see what the features are like.
    numbers : bool
        Whether targets are numbers, of which equal ones for the same features are no coincidence.
    """
    times = repeats.times
    if times == 1:
        return 1
    _, distinct = np.unique(row_ids(rows.X, rows.T), return_index=True)
    X = rows.X[distinct[:MOST_KEPT]]
    n_levels = np.array([len(np.unique(column)) for column in X.T])
    if (n_levels > MOST_LEVELS).any():
        return times
    n_different = len(np.unique(X, axis=0))
    if numbers and len(X) > n_different / DESIGN_SHARE:
        return times
    cells = float(np.prod(n_levels[n_levels > 2].astype(np.float64)))
    return times if n_different < DESIGN_SHARE * cells else 1


# An identifier has so many values at least, each in so many rows on average, and in this share of its values
# another column, that has some values of its own, never changes; and does not grow or fall with it, as an age
# group does with age.
LEAST_IDENTIFIERS, ROWS_OF_IDENTIFIER = 20, (2.0, 50.0)
CONSTANT_SHARE, LEAST_OTHERS, MOST_ALIKE = 0.98, 3, 0.8
# Rows that are equal but for the target: this share of them, although features have so many times as many
# combinations as there are rows, and two at least are measurements.
EQUAL_SHARE, COMBINATIONS = 0.5, 20.0


def different_rows(rows: Block) -> FloatArray:
    """Features of the rows, of those that are equal, targets too, of one."""
    _, first = np.unique(row_ids(rows.X, rows.T), return_index=True)
    return rows.X[np.sort(first)]


def warn_of_groups(X: FloatArray, names: Sequence[str] | None, columns: IntArray) -> None:
    """A warning if rows look as if they belonged together, as those of one patient do.

    `columns` (d,) says which column each feature comes from.
    """
    reason = looks_grouped(X, names, columns)
    if reason is not None:
        warn(
            f"{reason}: rows seem to belong together, as those of one patient or one machine do. If you "
            "predict new ones, say which belong together by `groups`, or the error to expect is too small; "
            "cv=5 is for rows that are by themselves."
        )


def looks_grouped(X: FloatArray, names: Sequence[str] | None, columns: IntArray) -> str | None:
    """Why rows X (n, d) look as if they belonged together, or None.

    Either a feature is like an identifier, of many values in a few rows each, within which a feature of
    another column never changes; or many rows are equal although features have far more combinations than
    there are rows.

    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(50, 10, 40)
    >>> X = np.column_stack([np.repeat(np.arange(40), 5), np.repeat(age, 5), rng.normal(size=200)])
    >>> looks_grouped(X, ["patient", "age", "dose"], np.arange(3))
    "Feature 'age' never changes among rows of the same 'patient' (40 values in 200 rows)"
    >>> looks_grouped(X[:, 1:], None, np.arange(2)) is None
    True
    """
    n = len(X)
    if n < 2 * LEAST_IDENTIFIERS:
        return None
    words = [f"number {i}" for i in range(X.shape[1])] if names is None else [repr(name) for name in names]
    found = [np.unique(column, return_inverse=True) for column in X.T]
    sizes = np.array([len(values) for values, _ in found])
    codes = np.array([code.ravel() for _, code in found])
    few, many = ROWS_OF_IDENTIFIER
    for i in np.flatnonzero((sizes >= LEAST_IDENTIFIERS) & (few * sizes <= n) & (n <= many * sizes)).tolist():
        others = (sizes >= LEAST_OTHERS) & (sizes <= sizes[i]) & (columns != columns[i])
        for j in _constant_within(codes, i, np.flatnonzero(others)):
            if abs(np.corrcoef(codes[i], codes[j])[0, 1]) <= MOST_ALIKE:
                return (
                    f"Feature {words[j]} never changes among rows of the same {words[i]} ({sizes[i]} values "
                    f"in {n} rows)"
                )
    if (sizes > MOST_LEVELS).sum() < 2 or float(np.log(sizes).sum()) < np.log(COMBINATIONS * n):
        return None
    _, copies = np.unique(row_ids(np.ascontiguousarray(X), np.zeros((n, 1))), return_counts=True)
    equal = int(copies[copies > 1].sum())
    if equal >= EQUAL_SHARE * n:
        return f"{equal} of {n} rows are equal to another one but for the target"
    return None


def _constant_within(codes: IntArray, i: int, others: IntArray) -> IntArray:
    """Which other features (d, n) hardly ever change among the rows of one value of feature i.

    Of rows sorted by feature i, a value's are a stretch, and a feature's least and largest code there agree.
    """
    order = np.argsort(codes[i], kind="stable")
    starts = np.flatnonzero(np.diff(codes[i][order], prepend=-1))
    repeated = np.diff(starts, append=len(order)) > 1
    if repeated.sum() < LEAST_IDENTIFIERS:
        return others[:0]
    few = starts[repeated][LEAST_IDENTIFIERS - 1] + 2  # most features change within the first values already
    for rows, share in ((order[:few], 0.5), (order, CONSTANT_SHARE)):
        begins = starts[starts < len(rows)]
        own = codes[others[:, None], rows]
        alike = np.minimum.reduceat(own, begins, axis=1) == np.maximum.reduceat(own, begins, axis=1)
        others = others[alike[:, repeated[: len(begins)]].mean(axis=1) >= share]
    return others


@dataclass(frozen=True, eq=False)
class PastedSource(MappedSource):
    """A source of which `times` rows make one observation; equal rows are a group, if there are no others."""

    times: int

    def transform(self) -> Callable[[Block], Block]:
        times = self.times

        def group(block: Block) -> Block:
            s, copies = block.s / times, block.copies / times
            groups = row_ids(block.X, block.T) if block.groups is None else block.groups
            return replace(block, s=s, copies=copies, groups=groups)

        return group
