"""What is worth keeping of a fit and of its training data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.closed_form.exact_sums import ExactSums
from sleek.fit.folds import mean_and_error
from sleek.fit.recipe import Fitted
from sleek.model.drift import Drift
from sleek.model.facts import ExpectedError, Facts, influence
from sleek.model.kernel_model import KernelModel
from sleek.model.memory import Memory
from sleek.outputs.base import Outputs
from sleek.outputs.classes import ClassOutputs
from sleek.tables.inputs import Inputs


def expected_error(fitted: Fitted, outputs: Outputs) -> ExpectedError:
    """The mean error of rows that took no part, with its standard error."""
    judged = fitted.judged
    errors = outputs.row_errors(judged.T, judged.outputs)
    return ExpectedError(*mean_and_error(errors, judged.s, judged.copies), fitted.judged_by)


def facts_of(
    fitted: Fitted, n_rows: int, outputs: Outputs, expected: ExpectedError, inputs: Inputs | None = None
) -> Facts:
    """What is worth keeping of the training data."""
    columns, d = fitted.columns, len(fitted.columns.mean)
    moments, none = fitted.moments, np.zeros(outputs.n_outputs)
    deviation, _ = outputs.decode(np.sqrt(moments.tt / moments.weight)[None], none)
    theta = fitted.solution.theta
    places = [slice(i, i + 1) for i in range(d)] if inputs is None else inputs.places
    return Facts(
        n_rows=n_rows,
        low=columns.low,
        high=columns.high,
        deviation=columns.spread(),
        influence=influence(fitted.expansion, theta, fitted.some_rows, places),
        variance=deviation[0] ** 2,
        typical=np.median(fitted.some_rows, axis=0) if inputs is None else None,
        expected=expected,
    )


def memory_of(fitted: Fitted, outputs: Outputs, n_rows: int, scale: float) -> Memory | None:
    """The sums that new rows are added to, in weights as users give them; None for log-odds.

    New rows' errors will be compared with those of rows that took no part, each as many observations as it
    stands for. `scale` is what one observation weighs.
    """
    if not outputs.loss.quadratic:
        return None
    judged, moments = fitted.judged, fitted.moments
    sums = ExactSums.from_moments(moments, scale)
    errors = outputs.row_errors(judged.T, judged.outputs)
    return Memory(
        sums=sums,
        n_rows=n_rows,
        observation=scale,
        C=fitted.C / scale,
        class_weights=outputs.factors if isinstance(outputs, ClassOutputs) else None,
        drift=Drift.promised_by(errors, judged.copies, 1.0 if outputs.reads == "labels" else None),
    ).named()


def importances(model: KernelModel, names: Sequence[str]) -> FloatArray:
    """The share of each column of these names in the influence of all; 0 for one that is not read."""
    assert model.facts is not None  # a fit always states them
    found = model.facts.influence
    if model.inputs is not None:
        by_name = dict(zip(model.inputs.names, found.tolist(), strict=True))
        found = np.array([by_name.get(name, 0.0) for name in names])
    total = found.sum()
    return found / total if total > 0 else found
