"""Conventions of scikit-learn that all estimators keep: column names, failed fits, versions of pickles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import BaseEstimator

from sleek import __version__
from sleek._runtime.warn import warn
from sleek.rows.rows import Rows
from sleek.tables.frames import column_names, is_dask

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


@contextmanager
def all_or_nothing(estimator: object) -> Iterator[None]:
    """If the body fails, the estimator's attributes are what they were before."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def feature_names_of(estimator: Any) -> tuple[str, ...] | None:
    """The names of the columns that an estimator has seen."""
    names = vars(estimator).get("feature_names_in_")
    return None if names is None else tuple(names.tolist())


def check_names(estimator: Any, X: Any, fitted: tuple[str, ...] | None) -> None:
    """scikit-learn's rule for data frames: the columns of the fit, in their order; its own words if not.

    A dictionary of columns, and rows that are kept elsewhere, are read by names alone.
    """
    if isinstance(X, dict | Rows) or is_dask(X):
        return
    names = column_names(X)
    if (None if names is None else tuple(names)) == fitted:
        return
    from sklearn.utils.validation import validate_data

    validate_data(estimator, X, reset=False, skip_check_array=True)
