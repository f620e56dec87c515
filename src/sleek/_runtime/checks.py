"""Every check of user input, and its sentence: the rule, what arrived, what to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar, cast

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray

T = TypeVar("T")


def rows_that_count(X: Any, y: Any, s: FloatArray) -> tuple[Any, Any, FloatArray]:
    """The rows of positive weight, of an array or a table, without a copy if that is all of them."""
    kept = np.flatnonzero(s > 0)
    if len(kept) == len(s):
        return X, y, s
    return X[kept] if isinstance(X, np.ndarray) else X.take(kept), y[kept], s[kept]


def check_choice(name: str, value: Any, known: Collection[str]) -> str:
    """One of the known words."""
    if not isinstance(value, str) or value not in known:
        words = ", ".join(repr(word) for word in sorted(known))
        raise ValueError(f"`{name}` must be one of {words}, got {value!r}.")
    return value


def check_positive(name: str, value: Any, word: str | None = None) -> float:
    """A finite number above zero; `word` names what else the caller would have taken."""
    rule = f"`{name}` must be a positive number" + (f" or {word!r}" if word else "")
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise ValueError(f"{rule}, got {value!r}.")
    return float(value)


def check_number(name: str, value: Any) -> float:
    """A finite number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not np.isfinite(float(value)):
        raise ValueError(f"`{name}` must be a finite number, got {value!r}.")
    return float(value)


def check_truth(name: str, value: Any) -> bool:
    """True or False, and nothing that only counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"`{name}` must be True or False, got {value!r}.")
    return bool(value)


def check_count(name: str, value: Any, least: int, word: str | None = None) -> int:
    """A whole number not below `least`."""
    rule = f"`{name}` must be a whole number of at least {least}" + (f" or {word!r}" if word else "")
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{rule}, got {value!r}.")
    return int(value)


def check_n_jobs(value: Any) -> int:
    """The number of threads: joblib's convention, in which None is 1 and -1 all cores."""
    if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value == 0):
        raise ValueError(f"`n_jobs` must be None or a whole number other than 0, got {value!r}.")
    if value is None or value == 1:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(value))


def check_part(name: str, value: Any, kind: type, known: Mapping[str, type[T]], word: str | None = None) -> T:
    """An object of the given kind, or the known word that stands for one with default settings.

    `word` names what else the caller would have taken.
    """
    if isinstance(value, kind):
        return cast(T, value)
    if isinstance(value, str) and value in known:
        return known[value]()
    words = ", ".join(repr(known_word) for known_word in sorted([*known, *([word] if word else [])]))
    raise ValueError(f"`{name}` must be one of {words} or a {kind.__name__} object, got {value!r}.")


def check_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """One finite weight per row, none negative, not all zero; all ones if none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"`sample_weight` must be a 1D array, got {weights.ndim} dimensions.")
    if len(weights) != n_rows:
        raise ValueError(f"`sample_weight` must have one weight per row: {n_rows}, got {len(weights)}.")
    if not np.isfinite(weights).all():
        raise ValueError("`sample_weight` must be finite, but contains NaN or infinity.")
    if weights.min() < 0:
        raise ValueError(f"`sample_weight` must not be negative, got {weights.min()} among the weights.")
    if not weights.any():
        raise ValueError("`sample_weight` is zero for every row: there is nothing to learn from.")
    return weights


def check_classes(classes: AnyArray) -> None:
    """At least two classes among the rows that count."""
    if len(classes) < 2:
        raise ValueError(
            f"A classifier needs rows of at least 2 classes, got 1 class: {classes.tolist()[0]!r} "
            "(rows of zero weight do not count)."
        )


def check_magnitude(deviation: FloatArray, names: Sequence[str] | None) -> None:
    """Features whose squares are still numbers."""
    bad = np.flatnonzero(~np.isfinite(deviation))
    if len(bad):
        feature = repr(str(names[bad[0]])) if names is not None else f"number {bad[0]}"
        raise ValueError(
            f"Values of feature {feature} are too large for float64 arithmetic (their squares overflow). "
            "Express it in larger units."
        )


def check_centers(init: Any, n_units: int | str, n_features: int) -> FloatArray:
    """Start centres given by the user: (n_units, n_features), finite."""
    try:
        centers = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"`init` must be 'k-medoids' or an array of centers, got {init!r}.") from None
    if centers.ndim != 2 or centers.shape[1] != n_features or len(centers) == 0:
        raise ValueError(
            f"`init` must have one row per unit and one column per feature ({n_features}), "
            f"got shape {centers.shape}."
        )
    if n_units not in ("auto", len(centers)):
        raise ValueError(
            f"`init` has {len(centers)} centers but n_units={n_units!r}; "
            "make them equal or use n_units='auto'."
        )
    if not np.isfinite(centers).all():
        raise ValueError("`init` must be finite, but contains NaN or infinity.")
    return centers


def check_memory(n_rows: int, machine: int | None) -> None:
    """An n×n system that fits into the machine's memory (in bytes; None if that is not known)."""
    needed = 2 * 8 * n_rows**2
    if machine is not None and needed > machine:
        raise MemoryError(
            f"A dense LS-SVM of {n_rows} rows needs 2 matrices of {n_rows} x {n_rows} x 8 bytes = "
            f"{needed / 1e9:,.1f} GB, and this machine has {machine / 1e9:,.1f} GB. "
            "Use LowRankLSSVC or LowRankLSSVR, whose memory does not grow with the square of the rows, "
            "or fewer rows."
        )


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or pandas.NA.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if value is None:
        return True
    equal = value == value
    return not (isinstance(equal, bool | np.bool_) and equal)
