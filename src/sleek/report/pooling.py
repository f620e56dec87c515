"""Distributions that may be shown to others: no bin of a few rows can be told apart from its neighbour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.model.distribution import LEAST_ROWS, Distribution
from sleek.model.kernel_model import KernelModel
from sleek.report.shown import inputs_of
from sleek.tables.columns import DateColumn, NumberColumn, WordColumn


def pool(model: KernelModel) -> KernelModel:
    """The same model, whose columns' distributions have no bin of fewer than five rows.

    Bins of a number are joined with their neighbours. Levels keep their names, which the model has anyway,
    and rare ones share their weight equally. Predictions are the same; effects are means over slightly other
    distributions.
    """
    facts = model.facts
    if facts is None or facts.distributions is None:
        return model
    columns = inputs_of(model).columns
    found = []
    for column, one in zip(columns, facts.distributions, strict=True):
        if isinstance(column, WordColumn):
            found.append(Distribution(one.points, share_rare(one.weights, facts.n_rows)))
        else:
            indicator = isinstance(column, NumberColumn | DateColumn) and column.indicator
            found.append(join_rare(one, facts.n_rows, indicator))
    return replace(model, facts=replace(facts, distributions=tuple(found)))


def share_rare(weights: FloatArray, n_rows: int) -> FloatArray:
    """Weights in which levels of fewer than five rows are alike, and count as five rows together at least.

    >>> share_rare(np.array([0.90, 0.08, 0.01, 0.01]), 100).round(3)
    array([0.874, 0.078, 0.024, 0.024])
    """
    rare = weights * n_rows < LEAST_ROWS - 0.5
    if not rare.any():
        return weights
    found = weights.copy()
    found[rare] = max(float(weights[rare].sum()), LEAST_ROWS / n_rows) / rare.sum()
    shared: FloatArray = found / found.sum()
    return shared


def join_rare(one: Distribution, n_rows: int, indicator: bool) -> Distribution:
    """Bins of a number, in order, of which those with fewer than five rows are joined with the next.

    A bin of gaps counts as five rows at least.

    >>> few = Distribution(np.array([[1.0], [2.0], [8.0]]), np.array([0.5, 0.48, 0.02]))
    >>> join_rare(few, 100, False).points.ravel().tolist()
    [1.0, 2.2399999999999998]
    """
    gap = one.points[:, -1] == 1.0 if indicator else np.zeros(len(one), dtype=bool)
    order = np.flatnonzero(~gap)[np.argsort(one.points[~gap, 0], kind="stable")]
    groups: list[list[int]] = []
    weight = 0.0
    for i in order.tolist():
        if not groups or weight * n_rows >= LEAST_ROWS - 0.5:
            groups.append([])
            weight = 0.0
        groups[-1].append(i)
        weight += float(one.weights[i])
    if len(groups) > 1 and weight * n_rows < LEAST_ROWS - 0.5:
        last = groups.pop()
        groups[-1] += last
    points, weights = [], []
    for group in groups:
        w = one.weights[group]
        middle = one.points[group[len(group) // 2]].copy()
        if one.points.shape[1] - indicator == 1 and len(group) > 1:
            middle[0] = w @ one.points[group, 0] / w.sum()
        points.append(middle)
        weights.append(float(w.sum()))
    for i in np.flatnonzero(gap).tolist():
        points.append(one.points[i])
        weights.append(float(one.weights[i]))
    found = share_rare(np.array(weights), n_rows)
    return Distribution(np.array(points), found / found.sum())
