"""How sure the exact machines are: from exact leave-one-out, or from rows that they have not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.calibration import ClassCalibration, NumberCalibration
from sleek.model.conformal import conformalized
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.numbers import NumberOutputs


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
        made = conformalized(self.calibration_, outputs, Y, y, weights, groups)
        self.calibration_ = cast(ClassCalibration, made)
        return self


class DenseIntervals:
    """Intervals, quantiles and standard deviations of numbers."""

    calibration_: NumberCalibration
    _outputs: Callable[[Any], FloatArray]
    _flat: Callable[[FloatArray], FloatArray]

    def predict_interval(
        self, X: Any, confidence_level: float | list[float] = 0.9, groups: Any = None
    ) -> FloatArray:
        """Ends between which the target is with a wanted probability, as in `LowRankLSSVR`.

        From exact leave-one-out residuals; the width may vary with the prediction.
        """
        Y = self._outputs(X)
        spreads = self.calibration_.spreads(Y)
        return self._flat(self.calibration_.intervals(Y, spreads, confidence_level, groups))

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> FloatArray:
        """Quantiles of the target for each row, which never cross, as in `LowRankLSSVR`."""
        Y = self._outputs(X)
        return self._flat(self.calibration_.quantiles(Y, self.calibration_.spreads(Y), quantiles))

    def predict_std(self, X: Any) -> FloatArray:
        """The standard deviation of the error to expect for each row."""
        spreads = self.calibration_.spreads(self._outputs(X))
        return self._flat(self.calibration_.standard_deviations(spreads))

    def conformalize(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Make levels certain, by rows that the fit has not seen, as in `LowRankLSSVR`."""
        Y = self._outputs(X)
        found, k = np.column_stack([Y, self.calibration_.spreads(Y)]), Y.shape[1]
        outputs = NumberOutputs(np.zeros(k), np.ones(k))
        made = conformalized(self.calibration_, outputs, found, y, np.ones(len(Y)), groups)
        self.calibration_ = cast(NumberCalibration, made)
        return self
