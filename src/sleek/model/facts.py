"""What training knew of the data and a model alone cannot tell: kept with it wherever it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sleek._runtime.json_values import (
    ModelFileError,
    array_of,
    check_keys,
    count_of,
    number_of,
    object_of,
    text_of,
)
from sleek._runtime.types import FloatArray
from sleek.bases.expansion import Expansion
from sleek.bases.formula import expression
from sleek.model.frozen import frozen

MOST_TERMS = 2**22  # rows × units × features that are held at a time
ARRAYS = ("low", "high", "deviation", "influence", "variance")


@dataclass(frozen=True)
class ExpectedError:
    """The error to expect on new rows, with its standard error and how it was found.

    `value` is the share of mistakes of a classifier, and the mean squared error of a regression.
    """

    value: float
    standard_error: float
    method: str  # "leave-one-out", "refitted folds" or "rows held out"


@dataclass(frozen=True, eq=False)
class Facts:
    """Facts about the training data.

    Attributes
    ----------
    n_rows : int
        Rows of positive weight.
    low, high, deviation : arrays of shape (n_features,)
        Range and standard deviation of every feature.
    influence : array of shape (n_columns,)
        How far the outputs move when one column is shuffled: see `influence`. A column is a feature, or a
        column of the table that the model reads.
    variance : array of shape (n_outputs,)
        That of the encoded targets, in the target's own units: what a model that knows nothing has as error.
    expected : ExpectedError
    typical : array of shape (n_features,) or None
        Medians of the features, which stand for missing values to predict. A model that reads a table has
        them in its `inputs`.
    """

    n_rows: int
    low: FloatArray
    high: FloatArray
    deviation: FloatArray
    influence: FloatArray
    variance: FloatArray
    expected: ExpectedError
    typical: FloatArray | None = None

    def __post_init__(self) -> None:
        for name in ARRAYS:
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if self.typical is not None:
            object.__setattr__(self, "typical", frozen(self.typical))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # NumPy does not keep the read-only flag in a pickle

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        expected = self.expected
        return {
            "n_rows": int(self.n_rows),
            **{name: getattr(self, name).tolist() for name in ARRAYS},
            **({} if self.typical is None else {"typical": self.typical.tolist()}),
            "expected_error": {
                "value": expected.value,
                "standard_error": expected.standard_error,
                "method": expected.method,
            },
        }

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_features: int, n_columns: int, n_outputs: int) -> Self:
        """What `to_json` has written, checked."""
        sizes = dict(zip(ARRAYS, (n_features, n_features, n_features, n_columns, n_outputs), strict=True))
        check_keys(block, {"n_rows", *ARRAYS, "expected_error"}, "`facts`", frozenset({"typical"}))
        found = {name: array_of(block[name], f"facts.{name}", 1) for name in ARRAYS}
        for name, size in sizes.items():
            if len(found[name]) != size:
                raise ModelFileError(f"`facts.{name}` must have {size} numbers, got {len(found[name])}.")
            if name not in ("low", "high") and found[name].min() < 0:
                raise ModelFileError(f"`facts.{name}` must not be negative, got {found[name].min()}.")
        if (found["low"] > found["high"]).any():
            raise ModelFileError("`facts.low` must not be above `facts.high`.")
        expected = object_of(block["expected_error"], "facts.expected_error")
        check_keys(expected, {"value", "standard_error", "method"}, "`facts.expected_error`")
        error = ExpectedError(
            value=number_of(expected["value"], "facts.expected_error.value"),
            standard_error=number_of(expected["standard_error"], "facts.expected_error.standard_error"),
            method=text_of(expected["method"], "facts.expected_error.method"),
        )
        if min(error.value, error.standard_error) < 0:
            raise ModelFileError(f"`facts.expected_error` must not be negative, got {error}.")
        typical = array_of(block["typical"], "facts.typical", 1) if "typical" in block else None
        if typical is not None and len(typical) != n_features:
            raise ModelFileError(f"`facts.typical` must have {n_features} numbers, got {len(typical)}.")
        return cls(count_of(block["n_rows"], "facts.n_rows"), expected=error, typical=typical, **found)


def influence(
    expansion: Expansion, theta: FloatArray, rows: FloatArray, columns: Sequence[slice], seed: int = 0
) -> FloatArray:
    """How far the outputs move when one column is shuffled, relative to their own spread: (n_columns,).

    √(Σ mean (y(x) - y(x'))² / 2 Σ Var y), x' a row with the column of another row: 0 for a column that does
    not matter, about 1 for one that alone decides. A column may be several features. Where the basis has a
    formula, z = start + Σ_i term(x_i), only the column's own terms are computed anew:
    O(rows·units·features) for all columns together.

    >>> from sleek import Sigmoidal, Units
    >>> units = Units({"slopes": np.array([[1.0, 0.0]]), "offsets": np.zeros(1)})
    >>> rows = np.random.default_rng(0).normal(size=(500, 2))
    >>> one = Expansion.of(Sigmoidal(), units)
    >>> influence(one, np.ones((1, 1)), rows, [slice(0, 1), slice(1, 2)]).round(1)
    array([1., 0.])
    """
    rng = np.random.default_rng(seed)
    outputs = expansion.features(rows) @ theta
    spread = 2.0 * float(outputs.var(axis=0).sum())
    found = np.zeros(len(columns))
    if not spread > 0:
        return found
    blocks = np.array_split(rows, -(-rows.size * len(expansion) // MOST_TERMS))
    sums = [
        None
        if part.basis.formula is None
        else np.concatenate([part.basis.formula.inner(block, part.units) for block in blocks])
        for part in expansion.parts
    ]
    for number, place in enumerate(columns):
        order = rng.permutation(len(rows))
        other = np.empty_like(rows[:, place])
        other[order] = rows[np.roll(order, 1), place]  # no row keeps its own value
        Phi = []
        for part, z in zip(expansion.parts, sums, strict=True):
            formula = part.basis.formula
            if formula is None or z is None:
                shuffled = rows.copy()
                shuffled[:, place] = other
                Phi.append(part.features(shuffled))
                continue
            change = formula.terms(other, part.units, place) - formula.terms(
                rows[:, place], part.units, place
            )
            Phi.append(expression(formula.profile).evaluate({"z": z + change.sum(axis=2)}))
        moved = np.concatenate(Phi, axis=1) @ theta - outputs
        found[number] = np.sqrt(float(np.mean(moved**2, axis=0).sum()) / spread)
    return found
