"""Standardisation of features for training, block by block, without a copy of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.rows.source import Block, MappedSource


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
class ScaledSource(MappedSource):
    """Another source's rows, scaled block by block."""

    scaling: Scaling

    def transform(self) -> Callable[[Block], Block]:
        scaling = self.scaling
        return lambda block: replace(block, X=scaling.apply(block.X))
