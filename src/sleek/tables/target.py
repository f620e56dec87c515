"""The target column: whether it holds classes or numbers, and whether it can be learnt."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.tables.dates import date_order
from sleek.tables.errors import TableError
from sleek.tables.reading import as_words
from sleek.tables.values import Coded, Dates, Numbers, Values

MOST_CLASSES = 20  # different whole numbers that are taken as class labels
MOST_SEEN = 100_000  # different values that are remembered
CLASSIFICATION, REGRESSION = "classification", "regression"


@dataclass(frozen=True, eq=False)
class TargetLook:
    """What the values of a target are like; `+` adds those of more rows.

    Attributes
    ----------
    n_values : int
        The rows that have one.
    numbers, words : array, dict
        Different values, as many as are remembered.
    whole : bool
        Whether all numbers are whole.
    dates : bool
        Whether there are dates.

    >>> look = TargetLook.of(Numbers(np.array([1.0, 2.0, np.nan]))) + TargetLook.of(Numbers(np.array([2.0])))
    >>> look.n_values, look.task, look.n_different
    (3, 'classification', 2)
    """

    n_values: int = 0
    numbers: FloatArray = field(default_factory=lambda: np.empty(0))
    words: dict[str, int] = field(default_factory=dict)
    whole: bool = True
    dates: bool = False

    @classmethod
    def of(cls, values: Values) -> TargetLook:
        """Of the values of some rows."""
        match values:
            case Numbers(array):
                numbers = array.astype(np.float64)
                numbers = numbers[~np.isnan(numbers)]
                different = np.unique(numbers)
                whole = bool((different == np.round(different)).all())
                return cls(len(numbers), different[:MOST_SEEN], whole=whole)
            case Dates():
                return cls(int((~np.isnan(values.array)).sum()), dates=True)
        coded = as_words(values)
        rows = np.bincount(coded.array[coded.array >= 0], minlength=len(coded.values)).tolist()
        counts = {word: n for word, n in zip(coded.values, rows, strict=True) if n}
        return cls(sum(rows), words=counts)

    def __add__(self, other: TargetLook) -> TargetLook:
        numbers = np.unique(np.concatenate([self.numbers, other.numbers]))[:MOST_SEEN]
        words = dict(self.words)
        for word, count in other.words.items() if len(words) <= MOST_SEEN else ():
            words[word] = words.get(word, 0) + count
        n_values = self.n_values + other.n_values
        return TargetLook(n_values, numbers, words, self.whole and other.whole, self.dates or other.dates)

    @property
    def n_different(self) -> int:
        """How many different values there are."""
        return len(self.numbers) + len(self.words)

    @property
    def task(self) -> str:
        """Text is a class; numbers are classes if they are whole and at most 20 different ones."""
        quantity = not self.words and not (self.whole and len(self.numbers) <= MOST_CLASSES)
        return REGRESSION if quantity else CLASSIFICATION

    def check(self, source: str, name: str, task: str) -> None:
        """Refuse a target of which there is nothing to learn, or far too much."""
        if self.n_values == 0:
            raise TableError(f"{source}: the target {name!r} has no value in any row.")
        if self.dates or (self.words and date_order(list(self.words)) is not None):
            raise TableError(f"{source}: the target {name!r} holds dates: a number or a class is needed.")
        if self.n_different == 1:
            value = next(iter(self.words), None) if self.words else self.numbers[0].item()
            raise TableError(f"{source}: the target {name!r} is {value!r} in every row: nothing to learn.")
        if task == CLASSIFICATION and self.n_different > max(MOST_CLASSES, self.n_values // 2):
            raise TableError(
                f"{source}: the target {name!r} has {self.n_different} values in {self.n_values} rows, "
                "too many to be classes. Is another column meant, or a number to predict (task regression)?"
            )

    @property
    def counts(self) -> bool:
        """Whether numbers look like counts: whole, from 0 or 1 on, more than two of them."""
        few = len(self.numbers) < 3 or bool(self.words)
        return not few and self.whole and 0.0 <= float(self.numbers.min()) <= 1.0


def note_counts(name: str) -> str:
    """A note that counts have a loss of their own."""
    return f"the values of {name!r} look like counts, for which there is --loss poisson"


def target_values(values: Values, task: str) -> tuple[IntArray, AnyArray]:
    """The rows that have a target, and their labels or numbers."""
    if task == REGRESSION and isinstance(values, Numbers):
        numbers = values.array.astype(np.float64)
        rows = np.flatnonzero(~np.isnan(numbers))
        return rows, numbers[rows]
    coded: Coded = as_words(values)
    rows = np.flatnonzero(coded.array >= 0)
    return rows, np.array(coded.values or [""], dtype=str)[coded.array[rows]]


def note_classes(name: str, classes: AnyArray) -> list[str]:
    """A note that whole numbers are taken for classes, or none for two of them.

    >>> note_classes("stars", np.array([1, 2, 3]))
    ["the 3 different numbers of 'stars' are taken for classes; for a number to predict: --task regression"]
    """
    if classes.dtype.kind not in "iuf" or len(classes) <= 2:
        return []
    said = f"the {len(classes)} different numbers of {name!r} are taken for classes"
    return [f"{said}; for a number to predict: --task regression"]
