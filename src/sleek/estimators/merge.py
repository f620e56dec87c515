"""`sleek.merge`: estimators or models that were fitted at several sites as one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from sleek.estimators.base import LowRankLSSVM
from sleek.model.kernel_model import KernelModel
from sleek.model.merging import merge_models


def merge(models: Sequence[Any]) -> Any:
    """The model of the rows of all models, without looking at a row.

    The sums over rows of models that share units and coding are added: the result is, to rounding, the model
    of all rows together, in whatever order models are given. (That is for squared errors; for other losses it
    is close, as rows count by a quadratic that touches their loss.) For places that may not pool their rows:
    one of them fits, the others begin with its model, ``emptied()``, and learn their own rows by
    `partial_fit`.

    Parameters
    ----------
    models : list of fitted LowRankLSSVC or LowRankLSSVR, or list of KernelModel
        Models of different units, classes, penalties or columns are refused. Nothing is averaged.

    Returns
    -------
    Like the first of them
        Calibration, names and facts are those of the first.

    Examples
    --------
    >>> import sleek
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(600, random_state=0)
    >>> here = sleek.LowRankLSSVC(4, C=10.0, random_state=0).fit(X[:300], y[:300]).model_
    >>> there = here.emptied().partial_fit(X[300:], y[300:])  # rows that have never been here
    >>> both = sleek.merge([here, there])
    >>> both.memory.n_rows, bool((both.theta == here.partial_fit(X[300:], y[300:]).theta).all())
    (600, True)
    """
    found = list(models)
    if not found:
        raise ValueError("There must be at least one model to merge, got none.")
    if all(isinstance(model, KernelModel) for model in found):
        return merge_models(found)
    if not all(isinstance(model, LowRankLSSVM) for model in found):
        kinds = ", ".join(sorted({type(model).__name__ for model in found}))
        raise TypeError(f"Models to merge must all be sleek's estimators, or all KernelModel, got {kinds}.")
    result = copy(found[0])
    result.model_ = merge_models([model._model() for model in found])
    return result
