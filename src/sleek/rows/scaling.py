"""Features brought to one scale for training, without a copy of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.sums import Sum
from sleek._runtime.types import FloatArray
from sleek.outputs.base import Outputs
from sleek.rows.source import Block, Source


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map x ↦ (x - mean)·factor of each feature.

    A constant feature has factor 0: it is ignored in training, and by the fitted model ever after. Values of
    rows beyond `limit` in training units count as the limit there.

    >>> Scaling(np.array([5.0]), np.array([2.0]), limit=1e3).apply(np.array([[6.0], [-1e12]]))
    array([[ 2.], [-1000.]])
    """

    mean: FloatArray
    factor: FloatArray
    limit: float = np.inf

    def apply(self, X: FloatArray) -> FloatArray:
        """Raw rows in training units."""
        scaled: FloatArray = X - self.mean
        scaled *= self.factor
        if self.limit < np.inf:
            np.clip(scaled, -self.limit, self.limit, out=scaled)
        return scaled

    def invert(self, X: FloatArray) -> FloatArray:
        """Points in training units as raw rows; ignored features come back at their mean."""
        used = np.broadcast_to(self.factor > 0, X.shape)
        raw: FloatArray = self.mean + np.divide(X, self.factor, out=np.zeros_like(X), where=used)
        return raw


@dataclass(frozen=True, eq=False)
class ScaledSource(Source):
    """Another source's rows, each block scaled when it is handed out."""

    source: Source
    scaling: Scaling

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def outputs(self) -> Outputs:
        return self.source.outputs

    @property
    def here(self) -> bool:
        return self.source.here

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        scaling = self.scaling  # a task that is sent elsewhere takes along what it names

        def scaled(block: Block) -> Sum:
            return task(replace(block, X=scaling.apply(block.X)))

        return self.source.map_reduce(scaled)
