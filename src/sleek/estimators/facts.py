"""What is worth keeping of a fit and of its training data."""

from __future__ import annotations

import numpy as np

from sleek.fit.folds import mean_and_error
from sleek.fit.recipe import Fitted
from sleek.model.facts import ExpectedError, Facts, influence
from sleek.outputs.base import Outputs


def expected_error(fitted: Fitted, outputs: Outputs) -> ExpectedError:
    """The mean error of rows that took no part, with its standard error."""
    judged = fitted.judged
    errors = outputs.row_errors(judged.T, judged.outputs)
    return ExpectedError(*mean_and_error(errors, judged.s, judged.copies), fitted.judged_by)


def facts_of(fitted: Fitted, n_rows: int, outputs: Outputs, expected: ExpectedError) -> Facts:
    """What is worth keeping of the training data."""
    columns, d = fitted.columns, len(fitted.columns.mean)
    moments, none = fitted.moments, np.zeros(outputs.n_outputs)
    deviation, _ = outputs.decode(np.sqrt(moments.tt / moments.weight)[None], none)
    theta = fitted.solution.theta
    return Facts(
        n_rows=n_rows,
        low=columns.low,
        high=columns.high,
        deviation=columns.spread(),
        influence=influence(fitted.expansion, theta, fitted.some_rows, [slice(i, i + 1) for i in range(d)]),
        variance=deviation[0] ** 2,
        expected=expected,
    )
