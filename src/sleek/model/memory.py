"""What a model keeps so that it can be updated: sums over its rows, and names of their batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.json_values import ModelFileError
from sleek._runtime.types import FloatArray, IntArray
from sleek.closed_form.moments import Moments
from sleek.closed_form.running_sums import RunningSums
from sleek.closed_form.solve import Solution, solve
from sleek.closed_form.touching import Touching
from sleek.model.drift import Drift

FIELDS = {
    "n_rows": fields.count(0),
    "observation": fields.number(above=0),
    "class_weights": fields.nullable(fields.array("label", above=0)),
    "origins": fields.names(),
    "forgotten": fields.optional(fields.names(), ()),
    "faded": fields.truth(),
    "drift": fields.nullable(fields.result_of(Drift.from_json)),
    "sums": fields.record(
        {
            "origin": fields.array("place"),
            "high": fields.triangle("size", symmetric=True),
            "low": fields.triangle("size", symmetric=True),
        }
    ),
    "touching": fields.optional(
        fields.record(
            {
                "origin": fields.array("unit"),
                **{
                    name: fields.several(fields.triangle("numbers", symmetric=True), "blocks")
                    for name in ("high", "low")
                },
            }
        )
    ),
}


@dataclass(frozen=True, eq=False)
class Memory:
    """Sums over all rows that a model has learnt from, whose targets are encoded as its outputs say.

    Attributes
    ----------
    sums : RunningSums
        Weights are the user's own, times those of classes.
    n_rows : int
        How many rows they are of.
    observation : float
        What one observation weighs: fixed at the fit.
    C : float
        The penalty, that of the model.
    class_weights : array of shape (n_classes,) or None
        What the weights of each class's rows are multiplied by: fixed at the fit.
    drift : Drift or None
        The test for drift; None without errors of held-out rows to compare those of new rows with.
    origins : tuple of str
        Names of batches of rows that are in, the first and those that were named, so that none comes in
        twice. A batch that came in twice on request is named twice.
    faded : bool
        Whether a forgetting factor below 1 was ever used: then it is not known what a row still weighs.
    forgotten : tuple of str
        Names of batches that were taken out and did not come in again, so that none is taken out twice.
    signs : array of shape (n_units,) or None
        What the weights of a monotone model must be; the units of the model say it, so that it is not saved.
    touching : Touching or None
        The rows' loss as quadratics around the solution; None for the squared loss, whose quadratic the sums
        themselves are.
    """

    sums: RunningSums
    n_rows: int
    observation: float
    C: float
    class_weights: FloatArray | None = None
    drift: Drift | None = None
    origins: tuple[str, ...] = ()
    faded: bool = False
    forgotten: tuple[str, ...] = ()
    signs: IntArray | None = None
    touching: Touching | None = None

    @property
    def moments(self) -> Moments:
        """The centred moments."""
        return self.sums.moments

    @cached_property
    def solution(self) -> Solution:
        """theta and b for encoded targets; all 0 without a row."""
        if self.n_rows == 0:
            k = len(self.sums.high) - 1 - self.sums.n_units
            return Solution(np.zeros((self.sums.n_units, k)), np.zeros(k))
        if self.touching is not None:
            return self.touching.solve(self.C, self.signs)
        return solve(self.moments, self.C, self.signs)

    def with_name(self) -> Memory:
        """With a name for its rows, if it has none."""
        if self.origins or self.n_rows == 0:
            return self
        return replace(self, origins=(_name(self.sums),))

    def with_batch(self, name: str) -> Memory:
        """With the name of a batch that was added."""
        forgotten = tuple(one for one in self.forgotten if one != name)
        return replace(self, origins=(*self.origins, name), forgotten=forgotten)

    def without_batch(self, name: str) -> Memory:
        """With the name of a batch that was taken out."""
        origins = list(self.origins)
        if name in origins:
            origins.remove(name)
        forgotten = (*(one for one in self.forgotten if one != name), name)
        return replace(self, origins=tuple(origins), forgotten=forgotten)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values, but for C, which the model has."""
        return {
            "n_rows": self.n_rows,
            "observation": self.observation,
            "class_weights": None if self.class_weights is None else self.class_weights.tolist(),
            "origins": list(self.origins),
            **({"forgotten": list(self.forgotten)} if self.forgotten else {}),
            "faded": self.faded,
            "drift": None if self.drift is None else self.drift.to_json(),
            "sums": self.sums.to_json(),
            **({} if self.touching is None else {"touching": self.touching.to_json()}),
        }

    @classmethod
    def from_json(
        cls,
        block: Mapping[str, Any],
        n_units: int,
        n_outputs: int,
        C: float,
        n_classes: int | None,
        quadratic: bool = True,
    ) -> Self:
        """What `to_json` wrote, checked; a loss that is not `quadratic` needs quadratics that touch it."""
        size = 1 + n_units + n_outputs
        blocks = Touching.zero(np.zeros(n_units), n_outputs).high
        found = fields.read(
            block,
            FIELDS,
            "moments",
            place=size - 1,
            size=size,
            label=n_classes or 0,
            unit=n_units,
            blocks=len(blocks),
            numbers=len(blocks[0]),
        )
        if n_classes is None and found["class_weights"] is not None:
            raise ModelFileError("`moments.class_weights` must be null for a model of numbers.")
        sums = RunningSums(**found.pop("sums"), n_units=n_units)
        if (sums.high.diagonal() < 0).any():
            raise ModelFileError("`moments.sums.high` must not have negative sums of squares.")
        if (found["n_rows"] == 0) != (sums.weight == 0):
            raise ModelFileError("`moments` must have weight if there are rows, and none if not.")
        touching = found.pop("touching")
        if (touching is None) != quadratic:
            must = "must not have" if quadratic else "must have"
            raise ModelFileError(f"`moments` {must} `touching` for a model of this loss.")
        if touching is not None:
            touching = Touching(**touching)
            if any((Z.diagonal() < 0).any() for Z in touching.high):
                raise ModelFileError("`moments.touching.high` must not have negative curvatures.")
            if any((Z[0, 0] == 0) != (sums.weight == 0) for Z in touching.high):
                raise ModelFileError("`moments.touching` must have curvature if there are rows, else none.")
        return cls(sums=sums, C=C, touching=touching, **found)


def _name(sums: RunningSums) -> str:
    """A name for some rows, by their sums: 16 characters.

    >>> _name(RunningSums.of(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(2)))
    '4f29328a006909ad'
    """
    return sha256(np.ascontiguousarray(sums.products).tobytes()).hexdigest()[:16]
