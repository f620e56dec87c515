"""Probabilities of `LSSVC` and intervals of `LSSVR`, from leave-one-out or from held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils import gen_batches

from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration import ClassCalibration, NumberCalibration, Spread
from sleek.model.uncertain import conformalize
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.numbers import NumberOutputs

BATCH_ROWS = 4096  # for which units of the noise are held at a time


class DenseProbabilities:
    """Probabilities and sets of classes."""

    calibration_: ClassCalibration
    classes_: AnyArray
    _outputs: Callable[[Any], FloatArray]

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of every class for each row, (n_samples, n_classes), in the order of `classes_`.

        They come from exact leave-one-out scores; the most probable class is the one that `predict` names.
        """
        Y = self._outputs(X)
        return self.calibration_.probabilities(Y)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of the probabilities, (n_samples, n_classes)."""
        Y = self._outputs(X)
        return self.calibration_.log_probabilities(Y)

    def predict_set(
        self, X: Any, confidence_level: float = 0.9, class_conditional: bool = False, groups: Any = None
    ) -> AnyArray:
        """Classes among which the true one is with a wanted probability, as in `LowRankLSSVC`."""
        return self.calibration_.sets(self.predict_proba(X), confidence_level, class_conditional, groups)

    def conformalize(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Make levels certain, by rows that the fit has not seen, as in `LowRankLSSVC`."""
        Y = self._outputs(X)
        outputs, weights = ClassOutputs(self.classes_), np.ones(len(Y))
        self.calibration_ = conformalize(self.calibration_, outputs, Y, y, weights, groups)
        return self


class DenseIntervals:
    """Intervals, quantiles and standard deviations of numbers."""

    calibration_: NumberCalibration
    _features: Callable[[Any], FloatArray]
    _outputs_at: Callable[[FloatArray], FloatArray]
    _flat: Callable[[FloatArray], FloatArray]

    def predict_interval(
        self, X: Any, confidence_level: float | list[float] = 0.9, groups: Any = None
    ) -> FloatArray:
        """Ends between which the target is with a wanted probability, as in `LowRankLSSVR`.

        From exact leave-one-out residuals; the width may vary with the prediction, or with the features.
        """
        return self._flat(self.calibration_.intervals(self._spread(X), confidence_level, groups))

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> FloatArray:
        """Quantiles of the target for each row, which never cross, as in `LowRankLSSVR`."""
        return self._flat(self.calibration_.quantiles(self._spread(X), quantiles))

    def predict_std(self, X: Any) -> FloatArray:
        """The standard deviation of the error to expect for each row."""
        return self._flat(self.calibration_.standard_deviations(self._spread(X)))

    def conformalize(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Make levels certain, by rows that the fit has not seen, as in `LowRankLSSVR`."""
        evidence = self._spread(X).values
        n, k, _ = evidence.shape
        outputs = NumberOutputs(np.zeros(k), np.ones(k))
        self.calibration_ = conformalize(self.calibration_, outputs, evidence, y, np.ones(n), groups)
        return self

    def _spread(self, X: Any) -> Spread:
        """Predictions and sizes of residuals; the predictions stand for the units of a model."""
        X = self._features(X)
        parts = []
        for rows in gen_batches(len(X), BATCH_ROWS):
            Y = self._outputs_at(X[rows])
            parts.append(self.calibration_.evidence(Y, Y, X[rows]))
        return Spread(np.concatenate(parts))
