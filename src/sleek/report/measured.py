"""How good a model is on rows whose targets are known, in numbers that tell of no single row.

Rows are counted in bins of at least five; smaller counts are said to be fewer than five.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sleek._runtime.sums import Sums
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.calibration.class_calibration import ClassCalibration
from sleek.model.distribution import LEAST_ROWS
from sleek.model.kernel_model import KernelModel
from sleek.model.rows_to_predict import rows_of
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.labels import Labels
from sleek.report.included_rows import IncludedRow, included, included_in_memory
from sleek.report.scores import scores_of_rows
from sleek.rows.cutting import PREDICTED
from sleek.rows.opening import open_rows
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run

BINS = 12


@dataclass(frozen=True, eq=False)
class Bins:
    """Means of predictions and of what was true, over rows with similar predictions.

    >>> found = Bins.of(np.arange(100.0), np.arange(100.0) + 1.0)
    >>> len(found.predicted), bool(found.counts.min() >= 5), bool((found.true - found.predicted == 1.0).all())
    (12, True, True)
    """

    predicted: FloatArray
    true: FloatArray
    spread: FloatArray  # standard deviations of what was true
    counts: IntArray

    @classmethod
    def of(cls, predicted: FloatArray, true: FloatArray) -> Bins:
        """Bins by quantiles of the predictions; equal predictions are in one bin."""
        order = np.argsort(predicted, kind="stable")
        predicted, true = predicted[order], true[order]
        n_bins = max(1, min(BINS, len(predicted) // LEAST_ROWS))
        cuts = [0]
        for b in range(1, n_bins):
            cut = int(np.searchsorted(predicted, predicted[b * len(predicted) // n_bins], side="left"))
            if cut - cuts[-1] >= LEAST_ROWS and len(predicted) - cut >= LEAST_ROWS:
                cuts.append(cut)
        ends = [*cuts[1:], len(predicted)]
        parts = [slice(a, b) for a, b in zip(cuts, ends, strict=True)]
        return cls(
            np.array([predicted[p].mean() for p in parts]),
            np.array([true[p].mean() for p in parts]),
            np.array([true[p].std() for p in parts]),
            np.array([p.stop - p.start for p in parts]),
        )


@dataclass(frozen=True, eq=False)
class Measured:
    """What some rows say of a model.

    Attributes
    ----------
    scores : dict
        As `sleek evaluate` prints them.
    bins : list of (str, Bins)
        For numbers predictions against what was true, of every target; for classes probabilities against how
        often they came true.
    rows : list of (int, list)
        The first rows with their numbers, if they were asked for.
    """

    scores: dict[str, Any]
    bins: list[tuple[str, Bins]]
    rows: list[IncludedRow] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Seen(Sums):
    """Outputs and targets of some rows: codes of classes, or numbers."""

    outputs: list[FloatArray]
    targets: list[AnyArray]


def measure(model: KernelModel, X: Any, y: Any, include_rows: int = 0) -> Measured:
    """What rows in memory say: X as for `predict`, y their targets; with so many of the rows."""
    features = rows_of(model, X)
    targets = model.outputs.read_targets(y, len(features))
    given, X = model.outputs.plain(targets), np.asarray(features[:], dtype=np.float64)
    found = measure_rows(model, open_rows(X, given, None, model.outputs.reads).rows, Run())
    return replace(found, rows=included_in_memory(model, features, include_rows)) if include_rows else found


def measure_rows(model: KernelModel, rows: Rows, run: Run, include_rows: int = 0) -> Measured:
    """The same for rows that are kept somewhere, such as files, with the features that the model reads."""

    def task(block: RawBlock) -> _Seen:
        return _Seen([model.outputs_unchecked(block.X)], [_codes(model, block.y)])

    scores, _ = scores_of_rows(model, rows, run, weighted=False)
    again = replace(run, strangers={})  # gaps and unknown levels were counted in the first pass
    seen = rows.map_reduce(task, again, reads=model.outputs.reads, features=True, cutting=PREDICTED)
    return replace(_measured(model, scores, seen), rows=included(model, rows, include_rows))


def _codes(model: KernelModel, targets: Any) -> AnyArray:
    if isinstance(model.outputs, ClassOutputs) and isinstance(targets, Labels):
        return model.outputs.codes(targets)
    return np.asarray(targets, dtype=np.float64)


def _measured(model: KernelModel, scores: dict[str, Any], seen: _Seen) -> Measured:
    Y, targets = np.concatenate(seen.outputs), np.concatenate(seen.targets)
    outputs, found = model.outputs, list[tuple[str, Bins]]()
    if isinstance(outputs, ClassOutputs):
        if isinstance(model.calibration, ClassCalibration) and len(targets) >= LEAST_ROWS:
            P = model.calibration.probabilities(Y)
            if P.shape[1] == 2:
                told, came_true = P[:, 1], targets == 1
                name = f"probability of {outputs.classes.tolist()[1]}"
            else:
                told, came_true = P.max(axis=1), P.argmax(axis=1) == targets
                name = "probability of the predicted class"
            found.append((name, Bins.of(told, came_true.astype(np.float64))))
    elif len(targets) >= LEAST_ROWS:
        names = [str(model.metadata.get("target", "y"))] if Y.shape[1] == 1 else outputs.words
        told = np.asarray(outputs.answer(Y), dtype=np.float64).reshape(Y.shape)
        found += [(name, Bins.of(told[:, k], targets[:, k])) for k, name in enumerate(names)]
    return Measured(scores, found)


def count_in_words(count: float) -> str:
    """A number of rows; fewer than five are not told.

    >>> count_in_words(0), count_in_words(3), count_in_words(1234)
    ('0', '<5', '1,234')
    """
    return f"<{LEAST_ROWS}" if 0 < count < LEAST_ROWS else f"{count:,.0f}"
