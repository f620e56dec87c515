"""Scores of a model on rows with known targets: accuracy, ROC AUC, RMSE, R², log loss, coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.sums import Sums
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.model.kernel_model import KernelModel
from sleek.outputs.classes import ClassScores
from sleek.outputs.numbers import NumberScores
from sleek.report.reliability import sureness, sureness_sums
from sleek.rows.cutting import PREDICTED
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run


def scores_of_rows(
    model: KernelModel, rows: Rows, run: Run, weighted: bool
) -> tuple[dict[str, Any], Counter[Any]]:
    """The scores of a model for rows that have targets with them, and how often each unknown label occurs.

    Accuracy and R² are what `model.outputs` judges; recall and precision of each class follow from its table
    of classes, and two classes have the area under the ROC curve and the average precision of the decision
    values besides (None if rows of one class only are known). Probabilities have log loss and Brier score,
    intervals their coverage. Rows of weight 0 do not count. Memory does not grow with the rows, but by 24
    bytes for each row of two classes, whose scores are sorted for the area under the curve.

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> from sleek.rows.opening import open_rows
    >>> X, y = make_ripley(500, random_state=0)
    >>> model = LowRankLSSVC(4, C=10.0, basis="gaussian_rbf", random_state=0).fit(X[:250], y[:250]).model_
    >>> rows = open_rows(X[250:], y[250:], None, "labels").rows
    >>> scores, unknown = scores_of_rows(model, rows, Run(), weighted=False)
    >>> scores["rows"], scores["accuracy"] > 0.85, scores["auc"] > 0.9, len(unknown)
    (250, True, True, 0)
    """

    def task(block: RawBlock) -> Judged:
        return _judge(model, block.X, block.y, block.s)

    found = rows.map_reduce(task, run, reads=model.outputs.reads, features=True, cutting=PREDICTED)
    return _summary(model, found, weighted), found.strangers


@dataclass(frozen=True, eq=False)
class Judged(Sums):
    """Sums over rows that scores are computed from."""

    rows: int
    weight: float
    judged: Any  # what `Outputs.judge` says
    sure: FloatArray  # `sureness_sums`
    curve: list[tuple[IntArray, FloatArray, FloatArray]]  # of two classes: codes, decision values, weights
    strangers: Counter[Any]  # labels that are none of the model's


def _judge(model: KernelModel, X: Any, y: Any, s: FloatArray) -> Judged:
    outputs = model.outputs
    Y = model.outputs_unchecked(X)
    curve: list[tuple[IntArray, FloatArray, FloatArray]] = []
    strangers: Counter[Any] = Counter()
    actual = outputs.actual(y)
    if outputs.labels:
        strangers.update(y.values[y.codes[actual < 0]].tolist())
    if len(outputs.labels) == 2:
        curve = [(actual, Y[:, 0], s)]
    sure = sureness_sums(model, X, actual, s)
    return Judged(len(s), float(s.sum()), outputs.judge(y, outputs.answer(Y), s), sure, curve, strangers)


def _summary(model: KernelModel, found: Judged, weighted: bool) -> dict[str, Any]:
    scores: dict[str, Any] = {"rows": found.rows}
    if weighted:
        scores["weight"] = found.weight
    labels = model.outputs.labels
    match found.judged:
        case ClassScores():
            scores |= _class_scores(labels, found.judged, whole=not weighted)
            if len(labels) == 2:
                codes, decision, s = (np.concatenate(parts) for parts in zip(*found.curve, strict=True))
                scores |= _curves(codes, decision, s)
        case NumberScores():
            r2 = found.judged.score if found.rows > 1 else None
            scores |= {"rmse": found.judged.rmse, "mae": found.judged.mae, "r2": r2}
            if not model.outputs.loss.quadratic:
                scores |= {"loss": model.outputs.loss.name, "deviance": found.judged.deviance}
        case _:
            scores["score"] = found.judged.score
            return scores
    return scores | sureness(model, found.sure)


def _class_scores(labels: Sequence[Any], judged: ClassScores, whole: bool) -> dict[str, Any]:
    """The table of classes: what rows of each class were predicted as, and those of classes that are none."""
    counts = judged.counts
    right = np.diagonal(counts)
    actual, predicted = counts.sum(axis=1), counts.sum(axis=0)

    def count(number: Any) -> int | float:
        return int(number) if whole else float(number)

    found: dict[str, Any] = {
        "accuracy": judged.score,
        "error": 1.0 - judged.score,
        "classes": list(labels),
        "per_class": [
            {
                "class": label,
                "total": count(actual[k]),
                "recall": _share(right[k], actual[k]),
                "precision": _share(right[k], predicted[k]),
                "predicted": list(map(count, counts[k])),
            }
            for k, label in enumerate(labels)
        ],
    }
    if actual[-1] > 0:
        found["never_seen"] = {"total": count(actual[-1]), "predicted": list(map(count, counts[-1]))}
    return found


def _curves(codes: AnyArray, decision: FloatArray, s: FloatArray) -> dict[str, float | None]:
    """Area under the ROC curve and average precision of decision values for the second of two classes."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    known = codes >= 0
    codes, decision, s = codes[known], decision[known], s[known]
    if len(np.unique(codes)) < 2:
        return {"auc": None, "average_precision": None}
    return {
        "auc": float(roc_auc_score(codes, decision, sample_weight=s)),
        "average_precision": float(average_precision_score(codes, decision, sample_weight=s)),
    }


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None
