"""What `Outputs` are: the meaning of a model's columns, from rows' targets to what is said of a new row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from inspect import isabstract
from typing import Any, ClassVar, Self

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.loss import SQUARED, Loss


class Outputs(ABC):
    """A coding of the user's targets as k real columns T, and back.

    ```
    targets y of some rows → survey → + over all rows → learn → Outputs
    y → encode → T → (a fit) → theta, b → decode → model
    Y = Φ·theta + b → scores, answer
    ```

    A new kind is a final subclass with a `kind` of its own, learnt by an estimator whose `outputs_kind` it
    is::

        class LogNumbers(NumberOutputs): ...
        class LogRegressor(RegressorMixin, LowRankLSSVM):
            outputs_kind = LogNumbers

    Targets come as rows hand them out: `Labels` where `reads` is "labels", floats (n, k) where it is
    "numbers".
    """

    kind: ClassVar[str]  # its name in model files
    reads: ClassVar[str]  # "labels" or "numbers"
    loss: Loss = SQUARED  # what a fit minimises

    # -- learnt from rows

    @classmethod
    @abstractmethod
    def survey(cls, y: Any, s: FloatArray) -> Any:
        """What some rows' targets, with weights s, tell: something that adds up over blocks of rows."""

    @classmethod
    @abstractmethod
    def learn(cls, survey: Any, flat: bool) -> Self:
        """The coding for all rows; `flat` says whether users gave, and expect, one column as a 1D array."""

    def refined(self) -> Outputs | None:
        """The same columns with the loss that a model is refined by in the end; None: there is none."""
        return None

    # -- the columns T

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """The number of columns k."""

    @property
    @abstractmethod
    def flat(self) -> bool:
        """Whether outputs are one column that users expect as a 1D array."""

    @abstractmethod
    def encode(self, y: Any) -> FloatArray:
        """T (n, k) for the targets of some rows."""

    def importance(self, y: Any) -> FloatArray | None:
        """What the weights of some rows are multiplied by, (n,); None: nothing."""
        return None

    @property
    def mean_importance(self) -> float:
        """The mean of it over all rows' weight."""
        return 1.0

    @property
    def counts(self) -> IntArray | None:
        """How many rows of each stratum there are; None if all rows are of one kind."""
        return None

    def strata(self, T: FloatArray) -> IntArray:
        """The stratum of each row, (n,): samples see to it that none is missed."""
        return np.zeros(len(T), dtype=np.int64)

    @abstractmethod
    def decode(self, theta: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights and constants for columns T as those for outputs in the user's units."""

    @abstractmethod
    def decode_residuals(self, residuals: FloatArray) -> FloatArray:
        """Residuals (n, k) of the columns T in the user's units."""

    # -- judged

    @abstractmethod
    def row_errors(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """The error of each row, (n,), for outputs Y (n, k): its mean is what users are told to expect."""

    @abstractmethod
    def losses(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """The loss of each row, (n,), by which settings are chosen."""

    @abstractmethod
    def judge(self, y: Any, answers: AnyArray, s: FloatArray) -> Any:
        """How good answers are for rows with targets y: something that adds up and has a `score`."""

    # -- said

    @abstractmethod
    def answer(self, Y: FloatArray) -> AnyArray:
        """What is predicted where the model's outputs are Y (n, k)."""

    def scores(self, Y: FloatArray) -> FloatArray:
        """Outputs in the shape that users expect."""
        return Y[:, 0] if self.flat else Y

    @property
    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """A word for every output: the class it speaks for, or a name of the number."""

    @property
    def names(self) -> tuple[str, ...]:
        """A heading for every output."""
        return self.words

    @abstractmethod
    def describe(self) -> str:
        """What is predicted, as half a sentence."""

    @abstractmethod
    def rule(self, target: str, total: str, b: FloatArray) -> str:
        """How the target follows from sums of units, as a line for people; `total` is the sum in words."""

    # -- saved

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs, as plain values."""

    @classmethod
    @abstractmethod
    def from_json(cls, block: Mapping[str, Any], n_outputs: int) -> Self:
        """What `to_json` wrote, for a model of so many columns; a ValueError says what is wrong."""


def known_outputs() -> dict[str, type[Outputs]]:
    """Every final kind of outputs by its name: those of this room, and those that a user's program defines.

    >>> known_outputs()["classes"]
    <class 'sleek.outputs.classes.ClassOutputs'>
    """
    pending: list[type[Outputs]] = list(Outputs.__subclasses__())
    found: dict[str, type[Outputs]] = {}
    while pending:
        cls = pending.pop(0)
        pending += cls.__subclasses__()
        if isabstract(cls):
            continue
        other = found.get(cls.kind)
        if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(
                f"Two kinds of outputs are called {cls.kind!r}: {other} and {cls}. Give one of them another "
                "`kind`: a saved model says by it what its outputs mean."
            )
        found[cls.kind] = cls
    return found
