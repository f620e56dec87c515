"""Pickled estimators know which release of sleek wrote them."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from sleek import __version__
from sleek._runtime.warn import warn

KEY = "_sleek_version"


class InconsistentVersionWarning(UserWarning):
    """An estimator was pickled by another release of sleek than the one that reads it."""


class VersionedEstimator(BaseEstimator):
    """A scikit-learn estimator that warns when it was pickled by another release of sleek.

    A pickle holds attributes as they were, which another release may read differently. `KernelModel.save`
    writes a format that all later releases read.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), KEY: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        written_by = state.get(KEY, "an earlier release than 0.1.0")
        if written_by != __version__:
            warn(
                f"{type(self).__name__} was pickled by sleek {written_by} and is read by {__version__}, "
                "where it may fail or answer differently: fit again, or keep models by model_.save and "
                "sleek.load, which all later releases read.",
                InconsistentVersionWarning,
            )
        super().__setstate__({name: value for name, value in state.items() if name != KEY})
