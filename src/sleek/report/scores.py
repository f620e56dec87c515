"""How good a model's answers are for rows whose targets are known, as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.model.kernel_model import KernelModel
from sleek.outputs.classes import ClassOutputs, ClassScores
from sleek.outputs.labels import Labels
from sleek.outputs.numbers import NumberScores
from sleek.report.reliability import sureness
from sleek.tables.encoded import EncodedTable


def scores_of(
    model: KernelModel, X: FloatArray | EncodedTable, y: AnyArray, sample_weight: FloatArray | None = None
) -> dict[str, Any]:
    """The model's errors for rows with features X and targets y, labels or numbers, as plain values.

    Rows of weight 0 do not count. Accuracy and R² are what `model.outputs` judges; recall and precision of
    each class follow from its table of classes, and two classes have the area under the ROC curve and the
    average precision of the decision values besides (None if rows of one class only are known). Probabilities
    have log loss and Brier score, intervals their coverage.

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(500, random_state=0)
    >>> model = LowRankLSSVC(4, C=10.0, basis="gaussian_rbf", random_state=0).fit(X[:250], y[:250]).model_
    >>> scores = scores_of(model, X[250:], y[250:])
    >>> scores["rows"], scores["accuracy"] > 0.85, scores["auc"] > 0.9
    (250, True, True)
    """
    s = np.ones(len(y)) if sample_weight is None else sample_weight
    if not (s > 0).all():
        X, y, s = X[np.flatnonzero(s > 0)], y[s > 0], s[s > 0]
    outputs = model.outputs
    targets = Labels.of(y) if outputs.reads == "labels" else np.asarray(y, np.float64).reshape(len(y), -1)
    Y = model.outputs_unchecked(X)
    judged = outputs.judge(targets, outputs.answer(Y), s)
    scores: dict[str, Any] = {"rows": len(y)}
    if sample_weight is not None:
        scores["weight"] = float(s.sum())
    match judged:
        case ClassScores() if isinstance(outputs, ClassOutputs):
            scores |= _class_scores(outputs, judged, whole=sample_weight is None)
            if len(outputs.classes) == 2:
                scores |= _curves(outputs.codes(Labels.of(y)), Y[:, 0], s)
            scores |= sureness(model, X, outputs.codes(Labels.of(y)), s)
        case NumberScores():
            r2 = judged.score if len(y) > 1 else None
            scores |= {"rmse": judged.rmse, "mae": judged.mae, "r2": r2}
            scores |= sureness(model, X, np.asarray(y, np.float64).reshape(len(y), -1)[:, 0], s)
        case _:
            scores["score"] = judged.score
    return scores


def _class_scores(outputs: ClassOutputs, judged: ClassScores, whole: bool) -> dict[str, Any]:
    """The table of classes: what rows of each class were predicted as, and those of classes that are none."""
    counts = judged.counts
    right = np.diagonal(counts)
    actual, said = counts.sum(axis=1), counts.sum(axis=0)

    def count(number: Any) -> int | float:
        return int(number) if whole else float(number)

    found: dict[str, Any] = {
        "accuracy": judged.score,
        "error": 1.0 - judged.score,
        "classes": outputs.classes.tolist(),
        "per_class": [
            {
                "class": label,
                "total": count(actual[k]),
                "recall": _share(right[k], actual[k]),
                "precision": _share(right[k], said[k]),
                "predicted": list(map(count, counts[k])),
            }
            for k, label in enumerate(outputs.classes.tolist())
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
