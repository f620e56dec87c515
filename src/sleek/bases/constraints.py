"""What a model must not do: let columns act together, or fall where it should rise.

A unit says of every feature how it depends on it (`Basis.directions`): not at all, rising, falling, or both.
That is all that is needed. A model is a sum of units, so that

- columns act together only if a unit sees both of them;
- y = Σ_j θ_j φ_j + b never falls in a feature if θ_j ≥ 0 for units that rise in it, θ_j ≤ 0 for those that
  fall, and θ_j = 0 for those that do both.

Nothing but the numbers of units and theta is asked: whoever has a model can check what it claims (`certify`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np

from sleek._runtime.json_values import ModelFileError, list_of, object_of, text_of
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.base import BOTH
from sleek.bases.expansion import Expansion
from sleek.tables.columns import Column, DateColumn, LevelColumn, NumberColumn
from sleek.tables.errors import suggestion
from sleek.tables.frames import place_names
from sleek.tables.inputs import Inputs

PAIRWISE, NO_INTERACTIONS = "pairwise", "no_interactions"
MOST_NAMES = 6  # of columns in a sentence


@dataclass(frozen=True)
class Constraints:
    """Which columns may act together, and in which columns outputs only rise or only fall.

    Attributes
    ----------
    interactions : "pairwise", "no_interactions", groups of names of columns, or None
        Columns of one group may act together; None: all may.
    monotone : mapping from names of columns to 1, never falls, or -1, never rises

    Examples
    --------
    >>> print(Constraints("pairwise", {"age": 1, "price": -1}))
    y never falls as age rises; y never rises as price rises; at most two columns act together
    """

    interactions: str | tuple[tuple[str, ...], ...] | None = None
    monotone: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.in_words("y")

    def in_words(self, output: str) -> str:
        """What the constraints say, of an output that is called so."""
        said = []
        for sign, words in ((1, "never falls"), (-1, "never rises")):
            names = [name for name, one in self.monotone.items() if one == sign]
            if names:
                said.append(f"{output} {words} as {_listed(names, 'or')} rises")
        if self.interactions == PAIRWISE:
            said.append("at most two columns act together")
        elif self.interactions == NO_INTERACTIONS:
            said.append("no two columns act together")
        elif self.interactions is not None:
            groups = [group for group in self.interactions if len(group) > 1]
            words = " | ".join(_listed(group, "and") for group in groups)
            said.append(
                f"only these columns act together: {words}" if groups else "no two columns act together"
            )
        return "; ".join(said)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        groups = self.interactions
        return {
            "interactions": groups
            if groups is None or isinstance(groups, str)
            else [list(g) for g in groups],
            "monotone": dict(self.monotone),
        }

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """What `to_json` wrote, checked but for the columns, which `on_features` knows."""
        block = object_of(value, "constraints")
        if set(block) != {"interactions", "monotone"}:
            raise ModelFileError("`constraints` must have the fields interactions and monotone.")
        given, monotone = block["interactions"], object_of(block["monotone"], "constraints.monotone")
        if isinstance(given, str) and given not in (PAIRWISE, NO_INTERACTIONS):
            raise ModelFileError(f"`constraints.interactions` is unknown here: {given!r:.80}.")
        if given is not None and not isinstance(given, str):
            where = "constraints.interactions"
            given = tuple(
                tuple(text_of(name, where) for name in list_of(group, where))
                for group in list_of(given, where)
            )
        for name, sign in monotone.items():
            if type(sign) is not int or sign not in (-1, 1):
                raise ModelFileError(f"`constraints.monotone` must be -1 or 1 for {name!r:.80}.")
        return cls(given, dict(monotone))

    def on_features(self, inputs: Inputs | None, names: Sequence[str] | None, n_features: int) -> OnFeatures:
        """The same for the features that columns become; columns of an array are features.

        Columns that are unknown, or in which nothing can rise, as in a category, are refused.
        """
        columns = list(names or place_names(n_features)) if inputs is None else list(inputs.names)
        places = [slice(i, i + 1) for i in range(n_features)] if inputs is None else inputs.places
        number = {name: i for i, name in enumerate(columns)}
        groups = [] if self.interactions is None or isinstance(self.interactions, str) else self.interactions
        for name in (*self.monotone, *(name for group in groups for name in group)):
            if name not in number:
                raise ValueError(f"There is no column {name!r} to constrain.{suggestion(name, columns)}")
        signs = np.zeros(n_features, dtype=np.int64)
        for name, sign in self.monotone.items():
            place = places[number[name]]
            if inputs is not None:
                _check_has_order(inputs.columns[number[name]])
            signs[place.start] = sign
        column_of = np.repeat(np.arange(len(places)), [place.stop - place.start for place in places])
        allowed: tuple[tuple[int, ...], ...] | None = None
        if self.interactions == NO_INTERACTIONS:
            allowed = tuple((i,) for i in range(len(columns)))
        elif groups:
            allowed = tuple(tuple(sorted({number[name] for name in group})) for group in groups)
        signed = tuple(signs.tolist()) if signs.any() else None
        return OnFeatures(tuple(columns), column_of, signed, allowed, self.interactions == PAIRWISE)


@dataclass(frozen=True, eq=False)
class OnFeatures:
    """Constraints on features.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    columns : array of shape (d,)
        The number of the column that each feature belongs to.
    signs : tuple of d int, or None
        1 for features in which outputs never fall, -1 where they never rise; None: anywhere they may.
    groups : tuple of tuples of int, or None
        Numbers of columns that may act together.
    pairwise : bool
        Whether any two columns may, and no three.
    """

    names: tuple[str, ...]
    columns: IntArray
    signs: tuple[int, ...] | None
    groups: tuple[tuple[int, ...], ...] | None
    pairwise: bool

    @property
    def limits_interactions(self) -> bool:
        """Whether columns are kept apart."""
        return self.pairwise or self.groups is not None

    def features_of(self, columns: Sequence[int]) -> AnyArray:
        """(d,) which features belong to these columns."""
        return np.isin(self.columns, columns)

    def sees(self, on: AnyArray) -> AnyArray:
        """(m, n_columns) which columns units see that look at the features `on` (m, d)."""
        found = np.zeros((len(on), len(self.names)), dtype=bool)
        for feature, column in enumerate(self.columns.tolist()):
            found[:, column] |= on[:, feature]
        return found

    def keeps_apart(self, on: AnyArray) -> AnyArray:
        """(m,) whether units that look at the features `on` (m, d) see columns that may act together."""
        seen = self.sees(on)
        count = seen.sum(axis=1)
        if self.pairwise:
            return np.asarray(count <= 2)
        if self.groups is None:
            return np.ones(len(on), dtype=bool)
        within = [~np.delete(seen, list(group), axis=1).any(axis=1) for group in self.groups]
        return np.asarray((count <= 1) | np.any(within, axis=0))

    def certify(self, expansion: Expansion, theta: FloatArray) -> None:
        """Refuse a model that does not keep the constraints.

        A function of units and weights alone: what it lets pass holds for every row.
        """
        directions = expansion.directions()
        apart = self.keeps_apart(directions != 0)
        if not apart.all():
            j = int(np.argmin(apart))
            seen = self.sees(directions[j : j + 1] != 0)[0]
            names = _listed([self.names[i] for i in np.flatnonzero(seen)], "and")
            raise ValueError(f"Unit {j} lets {names} act together, which the model's constraints forbid.")
        if self.signs is None:
            return
        if theta.shape[1] != 1:
            raise ValueError("Outputs can be monotone only where there is one: two classes, or one number.")
        wanted = unit_signs(expansion, self.signs)
        if wanted is not None and (wrong := breaks(theta[:, 0], wanted)).any():
            j = int(np.argmax(wrong))
            on = np.flatnonzero((directions[j] != 0) & (np.array(self.signs) != 0))
            raise ValueError(
                f"Unit {j} lets the outputs fall and rise in {self.names[self.columns[on[0]]]}, in which the "
                "model claims to be monotone."
            )


def unit_signs(expansion: Expansion, signs: Sequence[int] | None) -> IntArray | None:
    """(m,) the sign that theta of each unit must have, 0 if any, `BOTH` if it must be 0; None: all are free.

    >>> from sleek import Linear
    >>> units = Linear().start(np.zeros((2, 2)), 1.0, np.random.default_rng(0))
    >>> unit_signs(Expansion.of(Linear(), units), (-1, 0))
    array([-1,  0])
    """
    if signs is None:
        return None
    wanted = expansion.directions() * np.asarray(signs)
    both = np.abs(wanted) == BOTH
    rises, falls = ((wanted > 0) | both).any(axis=1), ((wanted < 0) | both).any(axis=1)
    found: IntArray = np.where(rises & falls, BOTH, rises.astype(np.int64) - falls)
    return found if found.any() else None


def breaks(theta: FloatArray, signs: IntArray) -> AnyArray:
    """(m,) whether a weight has not the sign that it must have."""
    return np.where(signs == BOTH, theta != 0, theta * signs < 0)


def certify(
    expansion: Expansion,
    theta: FloatArray,
    inputs: Inputs | None,
    names: Sequence[str] | None,
    constraints: Constraints,
) -> None:
    """Refuse a model that does not keep its constraints; see `OnFeatures.certify`."""
    d = expansion.directions().shape[1]
    constraints.on_features(inputs, names, d).certify(expansion, theta)


def _check_has_order(column: Column) -> None:
    """Refuse columns in which "rises" means nothing."""
    if isinstance(column, NumberColumn):
        return
    if isinstance(column, LevelColumn) and column.ordered:
        ranks = [numbers[0] for numbers in column.numbers]
        if all(a < b for a, b in pairwise(ranks)):
            return
    if isinstance(column, DateColumn):
        raise ValueError(
            f"Column {column.name!r} is a date, whose season, weekday and hour may count too: outputs cannot "
            "be monotone in it. Give it as a number of days."
        )
    raise ValueError(
        f"Column {column.name!r} is a category, and outputs can be monotone only in numbers and ordered "
        "categories."
    )


def _listed(names: Sequence[str], last: str) -> str:
    """Names in a sentence, some of them if they are many."""
    some = [*names] if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} more"]
    return some[0] if len(some) == 1 else f"{', '.join(some[:-1])} {last} {some[-1]}"
