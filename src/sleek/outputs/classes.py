"""Class labels as outputs: ±1 codes, the largest output wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from sleek._runtime import fields
from sleek._runtime.checks import check_classes
from sleek._runtime.json_values import labels_from_json, labels_to_json
from sleek._runtime.sums import Sums
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.outputs.base import Outputs
from sleek.outputs.class_survey import ClassSurvey, sums_of
from sleek.outputs.labels import Labels, positions, read_labels
from sleek.outputs.loss import LOGISTIC, LOSSES, SQUARED, Loss

OLD_NAME = "logistic"  # of the log loss in the first files
FIELDS = {
    "type": fields.anything(),
    "labels": fields.anything(),
    "loss": fields.optional(fields.text((LOGISTIC.name, OLD_NAME))),  # squared without it
}


@dataclass(frozen=True, eq=False)
class ClassOutputs(Outputs):
    """Class labels coded as ±1: one column for two classes, else one for each class.

    Parameters
    ----------
    classes : array of shape (n_classes,)
        The labels, in order.
    factors : array of shape (n_classes,) or None
        What the weights of each class's rows are multiplied by in training.
    mean_factor : float
        The mean of the factors over all rows' weight.
    class_counts : array of shape (n_classes,) or None
        How many training rows each class has.
    loss : Loss
        Squared: outputs approach ±1; logistic: they are log-odds.

    Examples
    --------
    >>> two = ClassOutputs(np.array(["no", "yes"]))
    >>> two.encode(Labels.of(np.array(["yes", "no"]))), two.answer(np.array([[0.3], [-2.0]]))
    (array([[ 1.], [-1.]]), array(['yes', 'no'], dtype='<U3'))
    >>> ClassOutputs(np.array([5, 6, 7])).encode(Labels.of(np.array([7])))
    array([[-1., -1.,  1.]])
    """

    classes: AnyArray
    factors: FloatArray | None = None
    mean_factor: float = 1.0
    class_counts: IntArray | None = None
    loss: Loss = SQUARED

    kind: ClassVar[str] = "classes"
    reads: ClassVar[str] = "labels"

    @classmethod
    def survey(cls, y: Labels, s: FloatArray) -> ClassSurvey:
        weights, counts = (sums_of(y.codes, values, len(y.values)) for values in (s, np.ones(len(s))))
        seen = counts > 0  # labels may be those of more rows
        return ClassSurvey.of_labels(y.values[seen], weights[seen], counts[seen], y.untyped)

    @classmethod
    def learn(
        cls,
        survey: ClassSurvey,
        flat: bool,
        class_weight: Mapping[Any, float] | str | None = None,
        classes: Any = None,
    ) -> Self:
        """`classes` names all classes, as in scikit-learn's `partial_fit`: some may have no rows yet."""
        if survey.untyped:  # "1" and "01" may be the same number
            survey = ClassSurvey.of_labels(read_labels(survey.labels), survey.weights, survey.counts)
        check_discrete(survey.labels)
        check_classes(survey.labels)
        if classes is not None:
            survey = survey.among(classes)
        factors = class_factors(class_weight, survey.labels, survey.weights)
        mean = (
            1.0
            if factors is None
            else float(np.average(factors, weights=survey.weights / survey.weights.max()))
        )
        return cls(survey.labels, factors, mean, survey.counts.astype(np.int64))

    def refinement(self, residuals: FloatArray | None = None, s: FloatArray | None = None) -> ClassOutputs:
        """Outputs that are log-odds."""
        return replace(self, loss=LOGISTIC)

    @property
    def n_outputs(self) -> int:
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def flat(self) -> bool:
        return len(self.classes) == 2

    @property
    def labels(self) -> tuple[Any, ...]:
        return tuple(self.classes.tolist())

    def read_targets(self, y: Any, n_rows: int) -> Labels:
        array = np.asarray(y)
        if n_rows == array.size == 1 and array.ndim and array.dtype.kind in "biufUO":
            place = self.places.get(array.item())
            if place is not None:  # rows one by one are to be fast
                return Labels(self.classes, np.array([place]))
        found: Labels = super().read_targets(y, n_rows)
        return found

    def known_labels(self, labels: Labels) -> Labels:
        codes = self.codes(labels)
        if len(codes) and codes.min() < 0:
            strange = labels.values[labels.codes[codes < 0]].tolist()[0]
            raise ValueError(
                f"The class {strange!r} is none of the model's {self}, and a model cannot learn new classes: "
                "fit again with rows of all classes, or name them all in `classes` of the first partial_fit."
            )
        return Labels(self.classes, codes)

    def codes(self, y: Labels) -> IntArray:
        """The place of each row's label among the classes, -1 for one that is none."""
        if y.values is self.classes:
            return y.codes
        return positions(y.values, self.classes)[y.codes]

    def direction(self, Y: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
        """Towards the class of two; of more, what speaks for the winner against the runner-up."""
        if len(Y) == 1:
            return np.where(Y > 0, 1.0, -1.0)
        weights, best = np.zeros(len(Y)), np.argsort(-Y, kind="stable")
        weights[best[:2]] = 1.0, -1.0
        return weights

    def actual(self, y: Labels) -> IntArray:
        return self.codes(y)

    def encode(self, y: Labels) -> FloatArray:
        T: FloatArray = self._table[self._known_codes(y)]
        return T

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of every label among the classes."""
        return {label: code for code, label in enumerate(self.classes.tolist())}

    @cached_property
    def _table(self) -> FloatArray:
        """(n_classes, k): the codes of every class."""
        columns = np.arange(len(self.classes)) if len(self.classes) > 2 else np.ones(1)
        return np.where(np.arange(len(self.classes))[:, None] == columns, 1.0, -1.0)

    def importance(self, y: Labels) -> FloatArray | None:
        return None if self.factors is None else self.factors[self._known_codes(y)]

    @property
    def mean_importance(self) -> float:
        return self.mean_factor

    @property
    def counts(self) -> IntArray | None:
        return self.class_counts

    def strata(self, T: FloatArray) -> IntArray:
        return decide(T)

    def strata_of(self, y: Labels) -> IntArray:
        return self._known_codes(y)

    def _known_codes(self, y: Labels) -> IntArray:
        codes = self.codes(y)
        if y.values is not self.classes and len(codes) and codes.min() < 0:
            strange = y.values[y.codes[codes < 0]].tolist()[0]
            raise ValueError(
                f"There is a new class label {strange!r}: the rows have changed since "
                "their labels were counted. Fit again when they are complete."
            )
        return codes

    def decode(self, theta: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        return theta, b

    def left_out(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        return T - Y

    @property
    def error_measure(self) -> str:
        return "share of mistakes"

    def row_errors(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """1 for a mistake, else 0."""
        if T.shape[1] == 1:
            return np.not_equal(T[:, 0] > 0, Y[:, 0] > 0).astype(np.float64)
        return np.where(decide(T) != decide(Y), 1.0, 0.0)

    def losses(self, T: FloatArray, Y: FloatArray) -> FloatArray:
        """Half the squared error, clipped where it is certain to be a mistake, plus 1 for a mistake.

        The squared error alone prefers models that are too smooth at the boundary, mistakes alone are too
        coarse to tell settings apart on a few hundred rows. Log-odds are judged by the ±1 to expect of them.
        """
        squared: FloatArray = np.sum((T - self.loss.expectation(Y)) ** 2, axis=1)
        return 0.5 * np.minimum(squared, 4.0) + self.row_errors(T, Y)

    def judge(self, y: Labels, answers: AnyArray, s: FloatArray) -> ClassScores:
        """The confusion matrix of weights; labels that are none of the classes have the last line."""
        if y.values.dtype.kind in "iufb" and self.classes.dtype.kind in "OU" and len(y):
            raise ValueError(
                f"The labels are numbers, as {y.values.tolist()[0]!r}, but the model's classes are text, "
                f"such as {self.classes.tolist()[0]!r}. Is it the column of labels?"
            )
        order, size = np.argsort(self.classes), len(self.classes)
        actual, predicted = self.codes(y), order[np.searchsorted(self.classes, answers, sorter=order)]
        actual = np.where(actual < 0, size, actual)
        counts = sums_of(actual * size + predicted, s, (size + 1) * size)
        return ClassScores(counts.reshape(size + 1, size))

    def same_as(self, other: Outputs) -> bool:
        return isinstance(other, ClassOutputs) and np.array_equal(self.classes, other.classes)

    @property
    def class_weights(self) -> FloatArray | None:
        return self.factors

    @property
    def largest_error(self) -> float | None:
        return 1.0

    def plain(self, y: Labels) -> AnyArray:
        return y.values[y.codes]

    def answer(self, Y: FloatArray) -> AnyArray:
        labels: AnyArray = self.classes[decide(Y)]
        return labels

    @property
    def words(self) -> tuple[str, ...]:
        labels = [str(label) for label in self.classes.tolist()]
        return (labels[1],) if len(labels) == 2 else tuple(labels)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"for {word}" for word in self.words)

    def describe(self) -> str:
        outputs = " by log-odds" if self.loss.log_odds else ""
        return f"one of {len(self.classes)} classes{outputs}"

    def rule(self, target: str, total: str) -> str:
        if len(self.classes) == 2:
            below, above = (str(label) for label in self.classes.tolist())
            return f"{target} is {above} where {total} > 0, else {below}"
        return f"{target} is the class for which {total} is largest"

    def to_json(self) -> dict[str, Any]:
        block = labels_to_json(self.classes)
        return block if self.loss.name == SQUARED.name else {**block, "loss": self.loss.name}

    @classmethod
    def from_json(cls, block: Mapping[str, Any], n_outputs: int) -> Self:
        found = fields.read(block, FIELDS, "classes")
        name = LOGISTIC.name if found["loss"] == OLD_NAME else found["loss"]
        classes, loss = labels_from_json(found), LOSSES[name or SQUARED.name]
        if len(classes) < 2 or n_outputs != (1 if len(classes) == 2 else len(classes)):
            raise ValueError(f"{n_outputs} outputs do not fit {len(classes)} class labels.")
        return cls(classes, loss=loss)

    def __repr__(self) -> str:
        return f"classes {self.classes.tolist()}"


@dataclass(frozen=True, eq=False)
class ClassScores(Sums):
    """The weight of rows by actual class (lines; the last for labels that are none) and predicted class.

    >>> ClassScores(np.array([[8.0, 1.0], [0.0, 9.0], [2.0, 0.0]])).score
    0.85
    """

    counts: FloatArray  # (n_classes + 1, n_classes)

    @property
    def score(self) -> float:
        """The share of the rows' weight that was predicted right."""
        return float(np.trace(self.counts) / self.counts.sum())


def decide(Y: FloatArray) -> IntArray:
    """The class code that outputs Y (n, k) speak for; of equal outputs the first class wins."""
    codes: IntArray = (Y[:, 0] > 0).astype(np.int64) if Y.shape[1] == 1 else Y.argmax(axis=1)
    return codes


def check_discrete(labels: AnyArray) -> None:
    """Labels that are no measurements, in scikit-learn's sentence."""
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(labels)


def class_factors(
    class_weight: Mapping[Any, float] | str | None, classes: AnyArray, weights: FloatArray
) -> FloatArray | None:
    """What scikit-learn's ``class_weight`` multiplies the weights of each class by.

    "balanced" lets all classes weigh the same: rows of weight 2 count twice, as everywhere.

    >>> class_factors("balanced", np.array([0, 1]), np.array([30.0, 10.0]))
    array([0.66666667, 2.        ])
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        if not weights.all():
            raise ValueError(
                "class_weight='balanced' needs rows of every class in the first call: give weights by class, "
                "or more rows."
            )
        return np.asarray(weights.sum() / (len(classes) * weights))
    wanted = dict(class_weight) if isinstance(class_weight, Mapping) else class_weight
    from sklearn.utils.class_weight import compute_class_weight

    factors = np.asarray(compute_class_weight(wanted, classes=classes, y=classes), dtype=np.float64)
    bad = ~((factors > 0) & (factors < np.inf))
    if bad.any():
        label, value = classes[bad].tolist()[0], factors[bad].tolist()[0]
        raise ValueError(
            f"`class_weight` must be positive and finite for every class, got {value} for {label!r}: "
            "leave out the rows of a class that does not count."
        )
    return factors
