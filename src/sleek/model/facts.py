"""Facts about the training data that are saved with a model: ranges and distributions of columns, their
influence on predictions, and the error to expect on new rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.json_values import ModelFileError
from sleek._runtime.types import FloatArray, freeze
from sleek.bases.expansion import Expansion
from sleek.bases.formula import expression
from sleek.model.distribution import Distribution

MOST_TERMS = 2**22  # rows × units × features that are held at a time
TERMS_AT_ONCE = 2**17  # of the columns that are shuffled side by side: what stays in a cache
ARRAYS = ("low", "high", "deviation", "influence", "variance")


@dataclass(frozen=True)
class ExpectedError:
    """The error to expect on new rows, with its standard error and how it was found.

    `value` is the share of mistakes of a classifier, and the mean squared error of a regression; of several
    targets, the mean of their squared errors, each relative to the target's variance.
    """

    value: float
    standard_error: float
    method: str  # "leave-one-out", "refitted folds" or "rows held out"


@dataclass(frozen=True)
class Compared:
    """A model that was tried on the way to the one that was chosen, and its error on held-out rows.

    `error` is in the unit of `ExpectedError`. It took part in choosing: that of the model chosen is on the
    rosy side.
    """

    name: str  # of its bases: "linear", "curves", "box+linear"
    n_units: int  # that are learnt
    n_numbers: int  # that a person has to read; 0 if they were not counted
    error: float
    standard_error: float
    chosen: bool
    loss: float | None = None  # by which it was chosen; None in files that do not say


FIELDS = {
    "n_rows": fields.count(),
    "low": fields.array("feature"),
    "high": fields.array("feature"),
    "deviation": fields.array("feature", least=0),
    "influence": fields.array("column", least=0),
    "variance": fields.array("output", least=0),
    "expected_error": fields.record(
        {
            "value": fields.number(least=0),
            "standard_error": fields.number(least=0),
            "method": fields.text(),
        },
        ExpectedError,
    ),
    "typical": fields.optional(fields.array("feature")),
    "distributions": fields.optional(fields.several(fields.result_of(Distribution.from_json), "column")),
    "compared": fields.optional(
        fields.several(
            fields.record(
                {
                    "name": fields.text(),
                    "n_units": fields.count(0),
                    "n_numbers": fields.count(0),
                    "error": fields.number(least=0),
                    "standard_error": fields.number(least=0),
                    "chosen": fields.truth(),
                    "loss": fields.optional(fields.nullable(fields.number())),
                },
                Compared,
            ),
        ),
        (),
    ),
}


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
        That of the targets, in the target's own units: what a model that knows nothing has as error. Another
        loss than the squared one has the mean deviance of the best constant instead.
    expected : ExpectedError
    typical : array of shape (n_features,) or None
        Medians of the features, which stand for missing values to predict. A model that reads a table has
        them in its `inputs`.
    distributions : tuple of Distribution or None
        How the values of each column were distributed: what `KernelModel.effects` averages over.
    compared : tuple of Compared
        What was tried, for every size the best, smallest first; none if nothing was left to choose.
    """

    n_rows: int
    low: FloatArray
    high: FloatArray
    deviation: FloatArray
    influence: FloatArray
    variance: FloatArray
    expected: ExpectedError
    typical: FloatArray | None = None
    distributions: tuple[Distribution, ...] | None = None
    compared: tuple[Compared, ...] = ()

    def __post_init__(self) -> None:
        for name in ARRAYS:
            object.__setattr__(self, name, freeze(getattr(self, name)))
        if self.typical is not None:
            object.__setattr__(self, "typical", freeze(self.typical))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # NumPy does not keep the read-only flag in a pickle

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        expected, shapes = self.expected, [found.to_json() for found in self.distributions or ()]
        return {
            "n_rows": int(self.n_rows),
            **{name: getattr(self, name).tolist() for name in ARRAYS},
            **({} if self.typical is None else {"typical": self.typical.tolist()}),
            **({} if self.distributions is None else {"distributions": shapes}),
            **({"compared": [asdict(one) for one in self.compared]} if self.compared else {}),
            "expected_error": {
                "value": expected.value,
                "standard_error": expected.standard_error,
                "method": expected.method,
            },
        }

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_features: int, n_columns: int, n_outputs: int) -> Self:
        """What `to_json` has written, checked."""
        found = fields.read(block, FIELDS, "facts", feature=n_features, column=n_columns, output=n_outputs)
        if (found["low"] > found["high"]).any():
            raise ModelFileError("`facts.low` must not be above `facts.high`.")
        return cls(expected=found.pop("expected_error"), **found)


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
    for first, group in _groups(columns, max(1, TERMS_AT_ONCE // (len(rows) * max(theta.shape)))):
        place = slice(group[0].start, group[-1].stop)
        own, other = rows[:, place], np.empty((len(rows), place.stop - place.start))
        begins = [column.start - place.start for column in group]
        for column in group:
            order = rng.permutation(len(rows))
            from_row = np.concatenate([order[-1:], order[:-1]])  # no row keeps its own value
            other[order, column.start - place.start : column.stop - place.start] = rows[from_row, column]
        moved = np.zeros((len(rows), len(group), theta.shape[1]))
        for part, z, units in zip(expansion.parts, sums, expansion.places(), strict=True):
            formula, weights = part.basis.formula, theta[units]
            if formula is None or z is None:
                changed = [part.features(_replace_column(rows, c, other, place)) for c in group]
                Phi = np.stack(changed, axis=2) - part.features(rows)[:, :, None]
            else:
                seen = (part.basis.directions(part.units)[:, place] != 0).any(axis=1)
                some, z, weights = part.units.map(lambda _, a: a[seen]), z[:, seen], weights[seen]  # noqa: B023
                change = formula.terms(other, some, place) - formula.terms(own, some, place)
                change = change if change.shape[2] == len(group) else np.add.reduceat(change, begins, axis=2)
                profile = expression(formula.profile)
                Phi = profile.evaluate({"z": z[:, :, None] + change}) - profile.evaluate({"z": z})[:, :, None]
            moved += np.matmul(Phi.transpose(0, 2, 1), weights)  # (n, columns, k)
        squares = np.einsum("nck,nck->c", moved, moved) / len(rows)
        found[first : first + len(group)] = np.sqrt(squares / spread)
    return found


def _groups(columns: Sequence[slice], most: int) -> Iterator[tuple[int, list[slice]]]:
    """Columns whose features lie side by side, about `most` features at a time, and the first number."""
    group: list[slice] = []
    for number, column in enumerate(columns):
        if group and (column.start != group[-1].stop or column.stop - group[0].start > most):
            yield number - len(group), group
            group = []
        group.append(column)
    if group:
        yield len(columns) - len(group), group


def _replace_column(rows: FloatArray, column: slice, other: FloatArray, place: slice) -> FloatArray:
    """The rows with the features of a column taken from `other`, which has those of `place`."""
    replaced = rows.copy()
    replaced[:, column] = other[:, column.start - place.start : column.stop - place.start]
    return replaced
