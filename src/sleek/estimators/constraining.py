"""`interaction_cst` and `monotonic_cst` of an estimator, checked, as constraints on columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sleek.bases.constraints import NO_INTERACTIONS, PAIRWISE, Constraints, OnFeatures
from sleek.fit.plan import Request
from sleek.outputs.base import Outputs
from sleek.rows.rows import Rows
from sleek.tables.errors import suggestion
from sleek.tables.frames import place_names


def constraints_of(estimator: Any, rows: Rows) -> Constraints | None:
    """The constraints on those columns that the rows have; None if there are none.

    Columns that were left out of a table are in no model, and need no constraint.
    """
    n_columns = estimator.n_features_in_
    names = list(vars(estimator).get("feature_names_in_", place_names(n_columns)))
    kept = names if rows.inputs is None else rows.inputs.names
    monotone = {
        name: sign for name, sign in _monotone(estimator.monotonic_cst, names).items() if name in kept
    }
    interactions = _interactions(estimator.interaction_cst, names)
    if interactions is not None and not isinstance(interactions, str):
        there = (tuple(name for name in group if name in kept) for group in interactions)
        interactions = tuple(group for group in there if group)
    if interactions is None and not monotone:
        return None
    return Constraints(interactions, monotone)


def on_features(constraints: Constraints | None, rows: Rows, request: Request) -> OnFeatures | None:
    """The constraints on features, for a fit that can keep them."""
    if constraints is None:
        return None
    if not request.fits_units:
        raise ValueError(
            "interaction_cst and monotonic_cst need a trainer that leaves features alone which units start "
            f"without, which {request.trainer} is not: use trainer='varpro'."
        )
    return constraints.on_features(rows.inputs, rows.feature_names, rows.n_features)


def check_one_output(constraints: Constraints | None, outputs: Outputs) -> None:
    """Refuse monotone outputs where there are several."""
    if constraints is not None and constraints.monotone and outputs.n_outputs > 1:
        raise ValueError(
            f"`monotonic_cst` is for two classes, or for one number, and there are {outputs!r}: fit one "
            "model for each."
        )


def _monotone(given: Any, names: Sequence[str]) -> dict[str, int]:
    """1 or -1 for the columns that have a direction."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        signs = {_column(key, names, "monotonic_cst"): value for key, value in given.items()}
    else:
        values = np.asarray(given)
        if values.shape != (len(names),):
            raise ValueError(
                f"`monotonic_cst` must have one of -1, 0 and 1 for each of {len(names)} columns, or be a "
                f"dictionary by their names, got {given!r:.80}."
            )
        signs = dict(zip(names, values.tolist(), strict=True))
    for name, sign in signs.items():
        if isinstance(sign, bool) or sign not in (-1, 0, 1):
            raise ValueError(
                f"`monotonic_cst` must be 1 (never falls), -1 (never rises) or 0, got {sign!r:.80} for "
                f"{name!r}."
            )
    return {name: int(sign) for name, sign in signs.items() if sign != 0}


def _interactions(given: Any, names: Sequence[str]) -> str | tuple[tuple[str, ...], ...] | None:
    """A word, or groups of all columns: those that are in none make up a group of their own."""
    if given is None or (isinstance(given, str) and given in (PAIRWISE, NO_INTERACTIONS)):
        return given
    if (
        isinstance(given, str | Mapping)
        or not isinstance(given, Iterable)
        or any(isinstance(group, str) or not isinstance(group, Iterable) for group in given)
    ):
        raise ValueError(
            "`interaction_cst` must be 'pairwise', 'no_interactions', or groups of columns that may act "
            f"together, such as [{{'a', 'b'}}, {{'b', 'c'}}], got {given!r:.80}."
        )
    groups = [{_column(one, names, "interaction_cst") for one in group} for group in given]
    rest = set(names).difference(*groups)
    found = [tuple(name for name in names if name in group) for group in [*groups, rest]]
    return tuple(group for group in found if group)


def _column(key: Any, names: Sequence[str], where: str) -> str:
    """The name of a column that is given by its name or its place."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(names):
        return names[int(key)]
    if key in names:
        return str(key)
    hint = suggestion(key, names) if isinstance(key, str) else ""
    raise ValueError(f"`{where}` names {key!r:.80}, and X has no such column.{hint}")
