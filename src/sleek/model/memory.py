"""What a model keeps to go on from: the sums over rows that its weights are solved from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Self

import numpy as np

from sleek._runtime.json_values import (
    ModelFileError,
    array_of,
    check_keys,
    count_of,
    list_of,
    number_of,
    object_of,
    text_of,
    truth_of,
)
from sleek._runtime.types import FloatArray
from sleek.closed_form.exact_sums import ExactSums
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Solution, solve
from sleek.model.drift import Drift

KEYS = {"sums", "n_rows", "observation", "class_weights", "drift", "origins", "faded"}


@dataclass(frozen=True, eq=False)
class Memory:
    """Sums over all rows that a model has learnt from, whose targets are encoded as its outputs say.

    Attributes
    ----------
    sums : ExactSums
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
        What the errors of new rows say; None without a promise to compare them with.
    origins : tuple of str
        Names of rows that came in, the first and those that were named, so that no rows come in twice.
    faded : bool
        Whether a forgetting factor below 1 was ever used: then it is not known what a row still weighs.
    """

    sums: ExactSums
    n_rows: int
    observation: float
    C: float
    class_weights: FloatArray | None = None
    drift: Drift | None = None
    origins: tuple[str, ...] = ()
    faded: bool = False

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
        return solve(self.moments, self.C)

    def named(self) -> Memory:
        """With a name for its rows, if it has none."""
        if self.origins or self.n_rows == 0:
            return self
        return replace(self, origins=(name_of(self.sums),))

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values, but for C, which the model has."""
        return {
            "n_rows": self.n_rows,
            "observation": self.observation,
            "class_weights": None if self.class_weights is None else self.class_weights.tolist(),
            "origins": list(self.origins),
            "faded": self.faded,
            "drift": None if self.drift is None else self.drift.to_json(),
            "sums": self.sums.to_json(),
        }

    @classmethod
    def from_json(
        cls, block: Mapping[str, Any], n_units: int, n_outputs: int, C: float, n_classes: int | None
    ) -> Self:
        """What `to_json` wrote, checked."""
        check_keys(block, KEYS, "`moments`")
        weights = block["class_weights"]
        if weights is not None:
            weights = array_of(weights, "moments.class_weights", 1)
            if len(weights) != n_classes or not (weights > 0).all():
                raise ModelFileError(
                    "`moments.class_weights` must be null, or a positive number for each class."
                )
        n_rows = count_of(block["n_rows"], "moments.n_rows", least=0)
        observation = number_of(block["observation"], "moments.observation")
        sums = ExactSums.from_json(
            object_of(block["sums"], "moments.sums"), n_units, n_outputs, "moments.sums"
        )
        if (n_rows == 0) != (sums.weight == 0) or not observation > 0:
            raise ModelFileError(
                "`moments` must have weight if there are rows, none if not, and a positive observation."
            )
        drift = block["drift"]
        return cls(
            sums=sums,
            n_rows=n_rows,
            observation=observation,
            C=C,
            class_weights=weights,
            drift=None
            if drift is None
            else Drift.from_json(object_of(drift, "moments.drift"), "moments.drift"),
            origins=tuple(
                text_of(name, "moments.origins") for name in list_of(block["origins"], "moments.origins")
            ),
            faded=truth_of(block["faded"], "moments.faded"),
        )


def name_of(sums: ExactSums) -> str:
    """A name for some rows, by their sums: 16 characters.

    >>> name_of(ExactSums.of(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(2)))
    '4f29328a006909ad'
    """
    return sha256(np.ascontiguousarray(sums.rounded).tobytes()).hexdigest()[:16]
