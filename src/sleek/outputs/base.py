"""The interface of a kind of outputs: targets as columns to fit, the error of predictions, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from inspect import isabstract
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.labels import Labels, of_one_kind
from sleek.outputs.loss import SQUARED, Loss


class Targets(Protocol):
    """Who reads targets off rows: a kind of outputs, or a loss that has to know more of them."""

    @property
    def reads(self) -> str:
        """What targets are read as: "labels" or "numbers"."""

    def survey(self, y: Any, s: FloatArray, /) -> Any:
        """Statistics of some rows' targets with weights s, which add up over blocks of rows."""


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
        """Statistics of some rows' targets with weights s, which add up over blocks of rows."""

    @classmethod
    @abstractmethod
    def learn(cls, survey: Any, flat: bool) -> Self:
        """The coding for all rows; `flat` says whether users gave, and expect, one column as a 1D array."""

    def refinement(self, residuals: FloatArray | None = None, s: FloatArray | None = None) -> Outputs | None:
        """The same columns with another loss, for the end of training; None: there is none.

        `residuals` (n, k) and weights s (n,) are those of least squares, of rows that took no part.
        """
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
        """The class weight of some rows, (n,), by which their weights are multiplied; None: there is none."""
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
        """The stratum of each row, (n,): samples are stratified by it."""
        return np.zeros(len(T), dtype=np.int64)

    def strata_of(self, y: Any) -> IntArray:
        """The same for the targets of some rows as they are given."""
        return self.strata(self.encode(y))

    @abstractmethod
    def decode(self, theta: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights and constants for columns T as those for outputs in the user's units."""

    @abstractmethod
    def left_out(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Targets minus predictions (n, k) in the user's units, for outputs Y of a fit."""

    def predictions(self, Y: FloatArray) -> FloatArray:
        """What targets are compared with where the model's outputs are Y (n, k): the inverse of a link."""
        return Y

    @property
    def link(self) -> str:
        """What `predictions` are: "identity", the outputs themselves, or "log", their exponentials."""
        return "identity"

    @property
    def resists(self) -> bool:
        """Whether least squares must not follow single targets, which may be gross errors."""
        return False

    @property
    def least(self) -> float:
        """The least number that can be predicted."""
        return -np.inf

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes; none if numbers are predicted."""
        return ()

    def read_targets(self, y: Any, n_rows: int) -> Any:
        """Targets as users give them, as `encode` takes them: `Labels` of known classes, or floats (n, k)."""
        if y is None:
            raise ValueError("There must be a target for every row: y is None.")
        if self.reads == "labels":
            found = y if isinstance(y, np.ndarray) else np.asarray(y)
            if found.ndim == 2 and found.shape[1] == 1:
                found = found[:, 0]
            if found.shape != (n_rows,):
                raise ValueError(
                    f"There must be a class label for each of {n_rows} rows, got shape {found.shape}."
                )
            return self.known_labels(Labels.of(of_one_kind(found)))
        try:
            numbers = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"Targets must be numbers, got {y!r:.80}.") from None
        numbers = numbers.reshape(len(numbers), -1) if numbers.ndim else numbers
        if numbers.shape != (n_rows, self.n_outputs) or not np.isfinite(numbers).all():
            raise ValueError(
                f"Targets must be finite numbers, {self.n_outputs} for each of {n_rows} rows, got shape "
                f"{np.shape(y)}{'' if np.isfinite(numbers).all() else ' with NaN or infinity'}."
            )
        return numbers

    def known_labels(self, labels: Labels) -> Labels:
        """The same labels as places among the classes; one that is none of them is refused."""
        return labels

    def same_as(self, other: Outputs) -> bool:
        """Whether columns mean the same as those of other outputs, whatever their scale and loss."""
        return self.kind == other.kind and self.n_outputs == other.n_outputs

    @property
    def class_weights(self) -> FloatArray | None:
        """What rows of each class are multiplied by; None: nothing."""
        return None

    def plain(self, y: Any) -> AnyArray:
        """Targets as rows hand them out, as the array that users would give."""
        return np.asarray(y)

    def with_loss(self, loss: Loss) -> Outputs:
        """The same columns with such a loss, which must be one that they can have."""
        for outputs in (self, self.refinement()):
            if outputs is not None and outputs.loss.name == loss.name:
                return outputs
        raise ValueError(f"{self} cannot be fitted with loss={loss.name!r}.")

    # -- judged

    @abstractmethod
    def row_errors(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """The error of each row, (n,), for outputs Y (n, k), in the unit of the expected error."""

    def null_errors(self, T: FloatArray, s: FloatArray) -> FloatArray | None:
        """The mean error by output (k,) of the best constant for these rows; None: that is the variance."""
        return None

    def errors_by_output(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """The errors of each output, in its own units; or one for all."""
        return self.row_errors(T, Y)[:, None]

    @property
    def largest_error(self) -> float | None:
        """The largest error that a row can have; None: there is no limit."""
        return None

    @property
    def error_measure(self) -> str:
        """What `reported_error` is: the name of an error that people know."""
        return "error"

    def reported_error(self, error: float, standard_error: float = 0.0) -> tuple[float, float]:
        """A mean of `row_errors` and its standard error, in the unit in which people are told of it."""
        return error, standard_error

    def direction(self, Y: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
        """Weights (k,) that sum up effects on the outputs to one effect towards what is predicted.

        Parameters
        ----------
        Y, mean, spread : arrays of shape (k,)
            The outputs of a row, and mean and standard deviation of those of all rows.
        """
        return np.where(mean < Y, 1.0, -1.0) / (spread if len(Y) > 1 else 1.0)

    def actual(self, y: Any) -> AnyArray:
        """Targets (n,) as probabilities and intervals are compared with them.

        Classes: codes, -1 for a label that is none of the classes. Numbers: those of the first column.
        """
        found: AnyArray = y[:, 0]
        return found

    @abstractmethod
    def losses(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """The loss of each row, (n,), by which hyperparameters are chosen."""

    @abstractmethod
    def judge(self, y: Any, answers: AnyArray, s: FloatArray) -> Any:
        """How good predictions are for rows with targets y: a record that adds up and has a `score`."""

    # -- predictions and words

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

    def scaled(self, name: str) -> str:
        """What outputs of this name are: itself, or its logarithm under that link."""
        return f"log {name}" if self.link == "log" else name

    @property
    def names(self) -> tuple[str, ...]:
        """A heading for every output."""
        return tuple(map(self.scaled, self.words))

    @abstractmethod
    def describe(self) -> str:
        """What is predicted, as half a sentence."""

    @abstractmethod
    def rule(self, target: str, total: str) -> str:
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
    """Every final kind of outputs by its name: those of sleek, and those that a user's program defines.

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
