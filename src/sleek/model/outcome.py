"""The outcome of a fit: the model, with facts, calibration and sums, and the errors of held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.constraints import Constraints
from sleek.calibration import Calibration
from sleek.calibration.class_calibration import ClassCalibration
from sleek.calibration.leverage import Leverage
from sleek.calibration.noise import gains
from sleek.calibration.number_calibration import NumberCalibration
from sleek.closed_form.running_sums import RunningSums
from sleek.fit.judge import mean_and_error
from sleek.fit.recipe import FittedRows
from sleek.model.distribution import MOST_LEVELS, MOST_POINTS, Distribution
from sleek.model.drift import Drift
from sleek.model.facts import Compared, ExpectedError, Facts, influence
from sleek.model.kernel_model import KernelModel
from sleek.model.memory import Memory
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.numbers import NumberOutputs
from sleek.rows.weights import as_observations
from sleek.tables.columns import WordColumn
from sleek.tables.inputs import Inputs


@dataclass(frozen=True, eq=False)
class Outcome:
    """The results of a fit that its estimator publishes.

    Attributes
    ----------
    model : KernelModel
    errors, error_deviations : float, or array of shape (n_outputs,) for several targets
        The errors to expect on new rows, and their standard errors.
    left_out_rows : array of shape (n,)
        The held-out rows that they come from, by their numbers among the rows that were given.
    left_out_residuals : array of shape (n,) or (n, n_outputs)
        Their residuals in a model that has not seen them.
    """

    model: KernelModel
    errors: float | FloatArray
    error_deviations: float | FloatArray
    left_out_rows: IntArray
    left_out_residuals: AnyArray

    @classmethod
    def of(
        cls,
        fit: FittedRows,
        trained_by: Mapping[str, Any],
        calibrator: Any = None,
        constraints: Constraints | None = None,
    ) -> Outcome:
        """Of a fit; `calibrator` makes probabilities of scores instead of sleek's own."""
        fitted, (theta, b) = fit.fitted, fit.fitted.solution
        outputs, judged, reads = fitted.outputs, fitted.judged, fitted.outputs.reads
        by_output = outputs.errors_by_output(judged.T, judged.outputs)
        found = [mean_and_error(e, judged.s, judged.copies, judged.groups) for e in by_output.T]
        errors, deviations = (fitted.optimism * np.array(part) for part in zip(*found, strict=True))
        one = len(errors) == 1
        left_out, places = fit.rows.originals(fitted.judged_rows, reads)
        model = KernelModel(
            expansion=fitted.expansion,
            theta=theta,
            b=b,
            C=fitted.C / fit.scale,
            outputs=outputs,
            feature_names=fit.feature_names,
            inputs=fit.inputs,
            facts=_facts(fit),
            calibration=_calibration(fit, calibrator),
            trained_by=dict(trained_by),
            memory=_memory(fit),
            constraints=constraints,
        )
        return cls(
            model,
            float(errors[0]) if one else errors,
            float(deviations[0]) if one else deviations,
            left_out,
            outputs.scores(outputs.left_out(judged.T, judged.outputs)[places]),
        )


def _facts(fit: FittedRows) -> Facts:
    """Facts about the training data."""
    fitted, inputs = fit.fitted, fit.inputs
    columns, outputs, judged = fitted.columns, fitted.outputs, fitted.judged
    moments, none = fitted.moments, np.zeros(outputs.n_outputs)
    deviation, _ = outputs.decode(np.sqrt(moments.tt / moments.weight)[None], none)
    places = [slice(i, i + 1) for i in range(len(columns.mean))] if inputs is None else inputs.places
    errors, null = outputs.row_errors(judged.T, judged.outputs), outputs.null_errors(judged.T, judged.s)
    error, deviation_of_error = mean_and_error(errors, judged.s, judged.copies, judged.groups)
    return Facts(
        n_rows=fit.n_rows,
        low=columns.low,
        high=columns.high,
        deviation=columns.spread(),
        influence=influence(fitted.expansion, fitted.solution.theta, fitted.some_rows, places),
        variance=deviation[0] ** 2 if null is None else null,
        typical=np.median(fitted.some_rows, axis=0) if inputs is None else None,
        distributions=_distributions(fit.as_new(fitted.some_rows), places, inputs),
        expected=ExpectedError(
            fitted.optimism * error, fitted.optimism * deviation_of_error, fitted.judged_by
        ),
        compared=_compared(fitted.path),
    )


def _compared(path: Mapping[str, list[Any]]) -> tuple[Compared, ...]:
    """The rows of `path_`."""
    counts = path.get("n_numbers", [0] * len(path.get("basis", ())))
    names = ("basis", "n_units", "error", "error_std", "chosen", "loss")
    lines = zip(counts, *(path[name] for name in names), strict=True) if path else ()
    return tuple(
        Compared(
            str(name), int(units), int(numbers), float(error), float(deviation), bool(chosen), float(loss)
        )
        for numbers, name, units, error, deviation, chosen, loss in lines
    )


def _distributions(
    rows: FloatArray, places: Sequence[slice], inputs: Inputs | None
) -> tuple[Distribution, ...]:
    """How each column is distributed, by the features of rows as they are when a model reads them."""
    words = [False] * len(places) if inputs is None else [isinstance(c, WordColumn) for c in inputs.columns]
    return tuple(
        Distribution.of(rows[:, place], most=MOST_LEVELS if word else MOST_POINTS)
        for place, word in zip(places, words, strict=True)
    )


def _memory(fit: FittedRows) -> Memory | None:
    """The sums that new rows are added to, in weights as users give them; None for a loss that has a kink.

    Errors of new rows will be compared with those of held-out rows, each as many observations as it stands
    for.
    """
    fitted, outputs, judged = fit.fitted, fit.fitted.outputs, fit.fitted.judged
    if not outputs.loss.smooth:
        return None
    errors = outputs.row_errors(judged.T, judged.outputs)
    return Memory(
        sums=RunningSums.from_moments(fitted.moments, fit.scale),
        n_rows=fit.n_rows,
        observation=fit.scale,
        C=fitted.C / fit.scale,
        class_weights=outputs.class_weights,
        drift=Drift.of_errors(errors, judged.copies, outputs.largest_error),
        touching=None if fitted.touching is None else fitted.touching.fade(fit.scale),
    ).with_name()


def _calibration(fit: FittedRows, calibrator: Any) -> Calibration | None:
    """How sure the model is, from scores or residuals of held-out rows; None for outputs of a user's own."""
    learn = CALIBRATIONS.get(fit.fitted.outputs.kind)
    return None if learn is None else learn(fit, calibrator)


def _of_classes(fit: FittedRows, calibrator: Any) -> ClassCalibration:
    """Probabilities and sets from the scores of held-out rows."""
    judged, outputs = fit.fitted.judged, fit.fitted.outputs
    weights, codes = as_observations(judged.s, judged.copies), outputs.strata(judged.T)
    return ClassCalibration.learn(judged.outputs, codes, weights, calibrator, outputs.loss.log_odds)


def _of_numbers(fit: FittedRows, _: Any) -> NumberCalibration:
    """Intervals from the residuals of held-out rows.

    Where levels are rated by targets, new rows have other ratings than rows to learn from, which a fit of an
    exact rule can tell apart. The residuals that held-out rows have as new rows count if they are larger.
    (They know a little of the rows' own targets, so that they are no better than the others if smaller.)
    """
    fitted = fit.fitted
    judged, moments, theta = fitted.judged, fitted.moments, fitted.solution.theta
    weights = as_observations(judged.s, judged.copies)
    outputs = fitted.outputs
    residuals = outputs.left_out(judged.T, judged.outputs)
    Phi, X = fitted.judged_phi, fitted.judged_x
    X_new = fit.as_new(X)
    if X_new is not X:
        Phi_new = fitted.expansion.features(X_new)
        raw = Phi @ theta + fitted.solution.b
        moved = residuals + outputs.predictions(raw) - outputs.predictions(raw + (Phi_new - Phi) @ theta)
        if any(gains(a, b, weights) for a, b in zip(np.abs(moved.T), np.abs(residuals.T), strict=True)):
            residuals, Phi, X = moved, Phi_new, X_new
    one = float(judged.s.sum() / judged.copies.sum())
    leverage = Leverage.of(moments.G, moments.mean_phi, moments.weight, fitted.C, one)
    return NumberCalibration.learn(residuals, Phi, theta, weights, X, leverage)


CALIBRATIONS: dict[str, Callable[[FittedRows, Any], Calibration]] = {
    ClassOutputs.kind: _of_classes,
    NumberOutputs.kind: _of_numbers,
}


def importances(model: KernelModel, names: Sequence[str]) -> FloatArray:
    """The share of each column of these names in the influence of all; 0 for one that is not read."""
    assert model.facts is not None  # a fit always states them
    found = model.facts.influence
    if model.inputs is not None:
        by_name = dict(zip(model.inputs.names, found.tolist(), strict=True))
        found = np.array([by_name.get(name, 0.0) for name in names])
    total = found.sum()
    return found / total if total > 0 else found
