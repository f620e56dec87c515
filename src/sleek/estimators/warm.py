"""`warm_start`: whether a fit can go on from the one before."""

from __future__ import annotations

from typing import Any

from sleek._runtime.counting import how_many
from sleek.fit.standing import Standing
from sleek.outputs.base import Outputs
from sleek.rows.rows import Rows


def standing_of(estimator: Any, rows: Rows) -> Standing | None:
    """The state of the previous fit, for `warm_start`; None if there is none, or it is not asked for.

    The features must be those of the fit before.
    """
    standing: Standing | None = vars(estimator).get("standing_") if estimator.warm_start else None
    if standing is None:
        return None
    model = estimator.model_
    if rows.n_features != model.n_features or rows.feature_names != model.feature_names:
        before, now = (_in_words(one) for one in (model, rows))
        raise ValueError(
            f"warm_start=True goes on from a model of {before}, but the rows have {now}: set it to False to "
            "begin anew."
        )
    return standing


def check_same_outputs(before: Outputs, now: Outputs) -> None:
    """The same classes, or as many targets."""
    if not before.same_as(now):
        raise ValueError(
            f"warm_start=True goes on from a model of {before}, but the rows have {now}: set it to False to "
            "begin anew."
        )


def _in_words(one: Any) -> str:
    """How many features there are, and what some are called."""
    names = one.feature_names
    listed = "" if names is None else f" ({', '.join(names[:5])}{', …' if len(names) > 5 else ''})"
    return f"{how_many(one.n_features, 'feature')}{listed}"
