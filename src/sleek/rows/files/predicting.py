"""Predictions for rows of files: one array, one file, or one number."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray
from sleek.closed_form.moments import ColumnMoments
from sleek.kernels import LARGE_BLOCK
from sleek.rows.files.blocks import Cut, Progress, each_block
from sleek.rows.files.files import ParquetSource
from sleek.rows.files.labels import LabelCoding
from sleek.rows.files.source import map_reduce

# Predicted at a time: a multiple of the model's own blocks, so that outputs are bit for bit those in memory.
PREDICT_ROWS = 4 * LARGE_BLOCK

Predict = Callable[[FloatArray], AnyArray]


def predictions(
    source: ParquetSource,
    predict: Predict,
    *,
    keep: Sequence[str] = (),
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Generator[tuple[AnyArray, Any], None, None]:
    """Pairs of ``predict(X)`` and an Arrow table of the columns `keep`, for all rows, thousands at a time.

    Neither target nor weight is looked at. To be closed (``contextlib.closing``) when it is not used up.
    """
    from sleek.rows.files.batches import Plan, chunks, kept_schema

    source.check_features()

    def run(cut: Cut) -> tuple[AnyArray, Any]:
        return predict(cut.X(source.features)), cut.kept()

    plan = Plan(source, source.features, kept=kept_schema(source, keep), threads=n_jobs > 1)
    blocks = each_block(chunks(plan), PREDICT_ROWS, run, Workers(n_jobs), progress, source.n_rows)
    with single_threaded_blas(), closing(blocks) as results:
        first = next(results, None)
        if first is None:
            raise ValueError(f"There are no rows in {source.named_files}: there is nothing to predict.")
        yield first
        yield from results


def predict_rows(
    source: ParquetSource, predict: Predict, *, n_jobs: int = 1, progress: Progress | None = None
) -> AnyArray:
    """``predict(X)`` for all rows, in one array."""
    with closing(predictions(source, predict, n_jobs=n_jobs, progress=progress)) as pairs:
        return np.concatenate([values for values, _ in pairs])


@dataclass(frozen=True, eq=False)
class _Hits:
    """The weight of all rows, and of those that were predicted right."""

    weight: float
    right: float

    def __add__(self, other: _Hits) -> _Hits:
        return _Hits(self.weight + other.weight, self.right + other.right)


def accuracy(
    source: ParquetSource,
    predict: Predict,
    classes: AnyArray,
    *,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> float:
    """The share of the rows' weight whose label is ``predict(X)``; a label that is no class is a mistake."""
    name = source.check_label()
    source.check_features()
    if classes.dtype.kind in "OU" and source.tables[0].column(name).kind == "number" and not source.is_csv:
        raise ValueError(
            f"Column {name!r} of {source.tables[0].path} holds numbers, but the model's classes are text, "
            f"such as {classes.tolist()[0]!r}. Name the column of labels as `target`."
        )

    def task(cut: Cut) -> _Hits:
        codes, s = cut.codes(), cut.s()
        right = (codes >= 0) & (classes[codes] == predict(cut.X(source.features)))
        return _Hits(float(s.sum()), float(s[right].sum()))

    coding = LabelCoding(classes, strangers=True)
    hits = map_reduce(
        source, task, Workers(n_jobs), progress, features=source.features, label=name, coding=coding
    )
    return hits.right / hits.weight


@dataclass(frozen=True, eq=False)
class _Residuals:
    """How many rows there are, the moments of their targets and the squared residuals, Σ s(y - ŷ)²."""

    n_rows: int
    moments: ColumnMoments
    squares: FloatArray

    def __add__(self, other: _Residuals) -> _Residuals:
        n_rows, moments = self.n_rows + other.n_rows, self.moments + other.moments
        return _Residuals(n_rows, moments, self.squares + other.squares)


def r_squared(
    source: ParquetSource, predict: Predict, *, n_jobs: int = 1, progress: Progress | None = None
) -> float:
    """R² = 1 - Σ s(y - ŷ)² / Σ s(y - ȳ)², the mean of it over several targets, as scikit-learn has it.

    A constant target counts 1 if it was predicted exactly, else 0.
    """
    names = source.check_targets()
    source.check_features()

    def task(cut: Cut) -> _Residuals:
        Y, s = cut.Y(names), cut.s()
        outputs = np.asarray(predict(cut.X(source.features)), dtype=np.float64).reshape(Y.shape)
        return _Residuals(len(cut), ColumnMoments.of(Y, s), s @ (Y - outputs) ** 2)

    found = map_reduce(source, task, Workers(n_jobs), progress, features=source.features, numbers=names)
    if found.n_rows < 2:
        raise ValueError(f"R² needs at least 2 rows of positive weight, got {found.n_rows}.")
    spread = found.moments.squares
    ratios = np.divide(found.squares, spread, out=np.where(found.squares > 0, 1.0, 0.0), where=spread > 0)
    return float(np.mean(1.0 - ratios))
