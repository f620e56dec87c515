"""Fewer digits: the numbers of units are rounded as far as that changes next to nothing.

θ is solved once more afterwards, so that what is printed is what is computed.
"""

from __future__ import annotations

import numpy as np

from sleek.bases.expansion import Expansion
from sleek.closed_form.solve import Solution
from sleek.fit import policy
from sleek.kernels.column_statistics import ColumnMoments
from sleek.rows.source import Block


def round_units(expansion: Expansion, solution: Solution, rows: Block, columns: ColumnMoments) -> Expansion:
    """The units in the fewest digits that leave the outputs of these rows as they are.

    All is in the user's units but targets and outputs. Outputs may change by a small share of the residuals'
    variance. Where no number of digits is enough, as where there are no residuals, units stay as they are.
    """
    theta, b = solution
    Y = expansion.features(rows.X) @ theta + b
    most = policy.ROUNDING_SHARE * float(rows.s @ np.sum((rows.T - Y) ** 2, axis=1))
    for digits in policy.DIGITS:
        rounded = expansion.round(columns.mean, columns.spread(), digits)
        change = rounded.features(rows.X) @ theta + b - Y
        change -= np.average(change, axis=0, weights=rows.s)
        if float(rows.s @ np.sum(change**2, axis=1)) <= most:
            return rounded
    return expansion
