"""A model that goes on: rows come in, rows leave, and its weights are those of the rows it then has.

The units stay where they are. theta and b are solved from sums over rows (`sleek.closed_form.exact_sums`), so
that the result is, to rounding, that of one pass over all rows that are in, in whatever order they came.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.linalg import eigvalsh

from sleek._runtime.checks import check_n_jobs, check_weights
from sleek._runtime.sums import total
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import FloatArray
from sleek._runtime.warn import warn
from sleek.calibration.numbers import NumberCalibration
from sleek.closed_form.exact_sums import MOST_ROWS, ExactSums
from sleek.model.given import rows_of
from sleek.model.memory import Memory
from sleek.model.new_rows import (
    Added,
    check_fading,
    check_forgettable,
    check_left,
    in_classes,
    known_targets,
    that_count,
)
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.labels import Labels
from sleek.rows.cutting import Cutting
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel

SMALL = 32  # rows whose products BLAS does not share out among threads; to hold it to one takes 20 µs
MOST_JUDGED = 2**20  # rows of a call whose errors are looked at for drift: each is kept until all are there
ROUNDING = 1e-12  # of sums before rows were taken out: less below 0 is rounding


class Living:
    """The part of `KernelModel` that learns and forgets rows; each method gives a new model."""

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, forgetting_factor: float = 1.0, n_jobs: int = 1
    ) -> KernelModel:
        """The model with more rows: units as they are, weights and constants solved again from all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
        forgetting_factor : float, default=1.0
            What the weight of every earlier row is multiplied by whenever a row comes in.
        n_jobs : int, default=1

        Returns
        -------
        KernelModel
        """
        fading = check_fading(forgetting_factor)
        rows, targets, s = self._given(X, y, sample_weight)
        return self.with_rows(self.brought(rows, targets, s, fading, n_jobs))

    def forget(self, X: Any, y: Any, sample_weight: Any = None, *, n_jobs: int = 1) -> KernelModel:
        """The model without these rows: weights and constants as if they had never come in.

        They must be rows that did come in, with the same weights; docs/living.md says what still remembers
        them.

        Parameters
        ----------
        X, y, sample_weight : as when they came in
        n_jobs : int, default=1

        Returns
        -------
        KernelModel
        """
        rows, targets, s = self._given(X, y, sample_weight)
        return self.without_rows(self.brought(rows, targets, s, 1.0, n_jobs))

    def emptied(self) -> KernelModel:
        """The model without any rows: its units, ready to learn the rows of another place.

        It predicts nothing of use until rows come in.
        """
        memory = self.remembered(needs_rows=False)
        sums = ExactSums.zero(memory.sums.origin, memory.sums.n_units)
        return renewed(self._own(), Memory(sums, 0, memory.observation, memory.C, memory.class_weights))

    # -- from what a pass over rows brings

    def remembered(self, needs_rows: bool = True) -> Memory:
        """The sums, or a sentence that says why there are none."""
        model = self._own()
        if model.memory is not None:
            return model.memory
        if not model.outputs.loss.quadratic:
            raise ValueError(
                "The outputs of this model are log-odds, which sums over rows do not determine: fit with "
                "loss='squared' (sleek fit --updatable) to update, merge or forget later."
            )
        settings = (model.trained_by or {}).get("settings", {})
        if not needs_rows and settings.get("class_weight") is None:  # units and coding are all that is needed
            origin = np.zeros(len(model.theta) + len(model.b))
            return Memory(ExactSums.zero(origin, len(model.theta)), 0, 1.0, model.C)
        raise ValueError(
            "This model has no sums over rows with it: save it with moments=True (sleek fit --updatable) to "
            "update, merge or forget later."
        )

    def added(self, X: FloatArray, y: Any, s: FloatArray | None, fading: float, start: int = 0) -> Added:
        """What a block of rows, the first of which is number `start`, brings; unchecked."""
        model, memory = self._own(), self.remembered()
        outputs = model.outputs
        X = np.ascontiguousarray(X, dtype=np.float64)
        Phi = model.expansion.features(X)
        if not np.isfinite(Phi).all():
            Phi = model.features(X)
        T = outputs.encode(y)
        errors: list[FloatArray] = []
        if memory.drift is not None and start < MOST_JUDGED:
            theta, b = memory.solution
            errors = [outputs.row_errors(T, Phi @ theta + b)]
        weights = s
        if memory.class_weights is not None:
            own = memory.class_weights[cast(ClassOutputs, outputs).codes(y)]
            weights = own if s is None else s * own
        if fading < 1.0 and len(X) > 1:
            ages = fading ** np.arange(len(X) - 1, -1, -1.0)
            weights = ages if weights is None else weights * ages
        sums = ExactSums.of(Phi, T, memory.sums.origin, weights)
        return Added(sums, len(X), errors, fading)

    def with_rows(self, added: Added) -> KernelModel:
        """The model with the rows of a pass."""
        memory = self.remembered()
        before = memory.sums if added.fading == 1.0 else memory.sums.faded(added.fading**added.n_rows)
        sums = before + added.sums
        drift = memory.drift
        if drift is not None:
            for errors in added.errors:
                drift = drift.after(errors)
        fresh = Memory(
            sums,
            memory.n_rows + added.n_rows,
            memory.observation,
            memory.C,
            memory.class_weights,
            drift,
            memory.origins,
            memory.faded or added.fading < 1.0,
        )
        return renewed(self._own(), fresh if memory.origins else fresh.named())

    def without_rows(self, taken: Added) -> KernelModel:
        """The model without the rows of a pass."""
        model, memory = self._own(), self.remembered()
        if memory.faded:
            raise ValueError(
                "Rows of this model have faded by a forgetting factor, and what is left of a row is not "
                "known: none can be taken out exactly. Fit again without the rows."
            )
        check_forgettable(model.inputs)
        sums = memory.sums - taken.sums
        check_left(model.outputs, memory.sums, taken.sums, sums)
        least = -ROUNDING * float(np.trace(memory.moments.G))
        if (
            float(eigvalsh(sums.moments.G, subset_by_index=[0, 0])[0]) < least
            or (sums.moments.tt < least).any()
        ):
            warn(
                "What is left is no sum over rows: some of the rows to forget were never learnt, or with "
                "other weights. Weights are solved from what is left as far as it can be; fit again to be "
                "sure."
            )
            sums = sums.mended()
        left = max(1, memory.n_rows - taken.n_rows)
        return renewed(model, replace(memory, sums=sums, n_rows=left))

    # -- rows as users give them

    def _given(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, FloatArray | None]:
        self.remembered()
        rows = rows_of(self._own(), X)
        targets = known_targets(self._own().outputs, y, len(rows))
        if sample_weight is None:
            return rows, targets, None
        return that_count(rows, targets, check_weights(sample_weight, len(rows)))

    def brought(self, X: Any, y: Any, s: FloatArray | None, fading: float, n_jobs: int | None) -> Added:
        """What rows bring, block by block: a finite float array or a table, unchecked."""
        if len(X) == 0:
            raise ValueError("There must be at least one row, got none.")
        if len(X) <= SMALL:
            return self.added(X[:], y, s, fading)

        def block(start: int) -> Added:
            rows = slice(start, start + MOST_ROWS)
            return self.added(X[rows], y[rows], None if s is None else s[rows], fading, start)

        with single_threaded_blas():
            return total(Workers(check_n_jobs(n_jobs)).spread(block, range(0, len(X), MOST_ROWS)))

    def brought_by(self, rows: Rows, run: Run, fading: float) -> Added:
        """What rows bring that have their targets with them, wherever they are kept."""
        outputs = self._own().outputs

        def task(block: RawBlock) -> Added:
            y = in_classes(outputs, block.y) if isinstance(block.y, Labels) else block.y
            return self.added(block.X, y, block.s, fading, block.start)

        return rows.map_reduce(task, run, reads=outputs.reads, features=True, cutting=Cutting(MOST_ROWS))

    def _own(self) -> KernelModel:
        return cast("KernelModel", self)


def renewed(model: KernelModel, memory: Memory) -> KernelModel:
    """The model of other sums: the same units, weights, constants and leverage solved again.

    Made without the checks of a constructor, which take longer than the rest.
    """
    theta, b = model.outputs.decode(*memory.solution)
    for array in (theta, b):
        array.flags.writeable = False
    calibration = model.calibration
    if isinstance(calibration, NumberCalibration) and memory.n_rows:
        G, mean, weight = memory.moments.G, memory.moments.mean_phi, memory.moments.weight
        calibration = calibration.with_moments(G, mean, weight, memory.C, memory.observation)
    fresh = object.__new__(type(model))
    fresh.__dict__.update(model.__dict__)
    fresh.__dict__.update(theta=theta, b=b, memory=memory, calibration=calibration)
    return fresh
