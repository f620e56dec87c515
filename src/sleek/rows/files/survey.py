"""What must be known of the targets before rows can be used: one pass over target and weight alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from sleek._runtime.checks import OUTLIER_SHARE, check_classes, warn_of_outlier
from sleek._runtime.threads import Workers
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.closed_form.moments import ColumnMoments
from sleek.outputs.outputs import ClassTargets, RealTargets
from sleek.rows.files.blocks import Cut, Origin, Progress
from sleek.rows.files.files import ParquetSource
from sleek.rows.files.labels import LabelCoding, check_discrete, read_labels
from sleek.rows.files.source import FileRows, map_reduce

MOST_CLASSES = 10_000
ONE = Workers(1)


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """The different labels of some rows, sorted, and how many rows of what weight have each of them."""

    labels: AnyArray  # (n_labels,)
    counts: FloatArray  # (n_labels,)
    weights: FloatArray  # (n_labels,)
    weight: float  # of all rows

    @classmethod
    def grouped(cls, labels: AnyArray, counts: FloatArray, weights: FloatArray, weight: float) -> ClassCounts:
        """The sums over equal labels."""
        different, group = np.unique(labels, return_inverse=True)
        if len(different) > MOST_CLASSES:
            raise ValueError(
                f"A classifier takes at most {MOST_CLASSES} classes, but the target has more "
                "different values. Is it another column, or a number for LowRankLSSVR?"
            )
        size = len(different)
        return cls(different, _sums(group, counts, size), _sums(group, weights, size), weight)

    @classmethod
    def of(cls, cut: Cut) -> ClassCounts:
        """The labels of a block."""
        labels, codes, s = *cut.labels_and_codes(), cut.s()
        counts, weights = _sums(codes, np.ones(len(s)), len(labels)), _sums(codes, s, len(labels))
        seen = counts > 0  # labels are those of a whole chunk
        return cls.grouped(labels[seen], counts[seen], weights[seen], float(s.sum()))

    def __add__(self, other: ClassCounts) -> ClassCounts:
        def both(name: str) -> AnyArray:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        return ClassCounts.grouped(
            both("labels"), both("counts"), both("weights"), self.weight + other.weight
        )


def _sums(groups: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Σ values over each of `size` groups."""
    return np.bincount(groups, values, size).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class ClassSurvey:
    """The classes among the rows of positive weight.

    Attributes
    ----------
    source : ParquetSource
    classes : array of shape (n_classes,)
        Sorted labels, as ``np.unique`` has them for the column in memory; text is of dtype object.
    counts : array of shape (n_classes,)
        How many rows of positive weight each class has.
    weights : array of shape (n_classes,)
        Their weight.
    weight : float
        The weight of all rows.
    """

    source: ParquetSource
    classes: AnyArray
    counts: AnyArray
    weights: FloatArray
    weight: float

    def class_factor(self, class_weight: dict[Any, float] | str | None) -> FloatArray | None:
        """What scikit-learn's ``class_weight`` multiplies the weights of each class by, (n_classes,)."""
        if class_weight is None:
            return None
        if isinstance(class_weight, str) and class_weight == "balanced":
            return np.asarray(self.counts.sum() / (len(self.classes) * self.counts.astype(np.float64)))
        return np.asarray(compute_sample_weight(class_weight, self.classes), dtype=np.float64)

    def rows(
        self,
        class_factor: FloatArray | None = None,
        workers: Workers = ONE,
        progress: Progress | None = None,
    ) -> FileRows:
        """The rows as a source, the weight of each multiplied by the factor of its class.

        Rows of a class whose factor is 0 are left out.
        """
        if class_factor is not None and not (class_factor > 0).any():
            raise ValueError("`class_weight` is zero for every class: there is nothing to learn from.")
        counts = self.counts if class_factor is None else self.counts[class_factor > 0]
        targets, labels = ClassTargets(len(self.classes)), LabelCoding(self.classes, class_factor)
        return FileRows(self.source, targets, int(counts.sum()), labels, workers, progress)


def survey_classes(
    source: ParquetSource, workers: Workers = ONE, progress: Progress | None = None
) -> ClassSurvey:
    """Find the classes of a classifier's target, of which there must be at least two.

    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"x": [1.0, 2.0, 4.0], "y": ["no", "yes", "no"]}), f"{folder}/1.parquet")
    ...     survey = survey_classes(ParquetSource(folder, target="y"))
    ...     mean = survey.rows().map_reduce(lambda block: ColumnMoments.of(block.X, block.s)).mean
    >>> survey.classes, survey.counts, mean
    (array(['no', 'yes'], dtype=object), array([2, 1]), array([2.33333333]))
    """
    name = source.check_label()
    source.check_features()
    found = map_reduce(source, ClassCounts.of, workers, progress, label=name)
    if source.is_csv:
        labels = read_labels(found.labels)
        check_discrete(labels)
        found = ClassCounts.grouped(labels, found.counts, found.weights, found.weight)
    check_classes(found.labels)
    return ClassSurvey(source, found.labels, found.counts.astype(np.int64), found.weights, found.weight)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """How many rows there are, and the moments of their targets."""

    n_rows: int
    moments: ColumnMoments

    def __add__(self, other: _Numbers) -> _Numbers:
        return _Numbers(self.n_rows + other.n_rows, self.moments + other.moments)


@dataclass(frozen=True, eq=False)
class _Extremes:
    """The row of each target column with the largest s(y - mean)²: this square, its value and its place."""

    squares: FloatArray
    values: FloatArray
    places: list[tuple[Origin, int]]

    def __add__(self, other: _Extremes) -> _Extremes:
        larger = other.squares > self.squares
        return _Extremes(
            np.where(larger, other.squares, self.squares),
            np.where(larger, other.values, self.values),
            [b if chosen else a for a, b, chosen in zip(self.places, other.places, larger, strict=True)],
        )


@dataclass(frozen=True, eq=False)
class NumberSurvey:
    """Mean and spread of the targets of regression over the rows of positive weight.

    Attributes
    ----------
    source : ParquetSource
    n_rows : int
        The number of rows of positive weight.
    moments : ColumnMoments
        Of the target columns; ``moments.weight`` is the weight of all rows.
    """

    source: ParquetSource
    n_rows: int
    moments: ColumnMoments

    def warn_of_outliers(self, workers: Workers = ONE) -> None:
        """A warning if a single row makes up most of a target's variation, as for arrays; one more pass."""
        names, mean = self.source.targets, self.moments.mean

        def task(cut: Cut) -> _Extremes:
            Y = cut.Y(names)
            squares = cut.s()[:, None] * (Y - mean) ** 2
            rows, outputs = squares.argmax(axis=0), np.arange(len(names))
            places = [cut.place(int(row)) for row in rows]
            return _Extremes(squares[rows, outputs], Y[rows, outputs], places)

        extremes = map_reduce(self.source, task, workers, None, numbers=names)
        shares = extremes.squares / np.maximum(self.moments.squares, np.finfo(float).tiny)
        worst = int(shares.argmax())
        if self.n_rows > 10 and shares[worst] > OUTLIER_SHARE:
            origin, row = extremes.places[worst]
            where = f"Column {names[worst]!r} in {origin.where([row])}"
            warn_of_outlier(where, float(extremes.values[worst]), float(shares[worst]))

    def rows(self, workers: Workers = ONE, progress: Progress | None = None) -> FileRows:
        """The rows as a source."""
        targets = RealTargets.from_moments(self.moments)
        return FileRows(self.source, targets, self.n_rows, None, workers, progress)


def survey_numbers(
    source: ParquetSource, workers: Workers = ONE, progress: Progress | None = None
) -> NumberSurvey:
    """Find mean and spread of one or several targets of regression."""
    names = source.check_targets()
    source.check_features()

    def task(cut: Cut) -> _Numbers:
        return _Numbers(len(cut), ColumnMoments.of(cut.Y(names), cut.s()))

    found = map_reduce(source, task, workers, progress, numbers=names)
    if found.n_rows < 2:
        raise ValueError(
            f"Regression needs at least 2 rows of positive weight, got 1 in {source.named_files}."
        )
    return NumberSurvey(source, found.n_rows, found.moments)
