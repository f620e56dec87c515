"""Updating a fitted model: rows are added or removed, and the weights are solved again for those it then has.

The units stay where they are. theta and b are solved from sums over rows (`sleek.closed_form.running_sums`).
For squared errors the result is, to rounding, that of one pass over all rows that are in, in whatever order
they came. For any other loss rows that are in count by the quadratics that touch their loss
(`sleek.closed_form.touching`), new rows by their loss itself. A pass over rows makes a `Batch`; `add` and
`take_out` make a new model of a model and a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.checks import check_n_jobs, check_weights, rows_that_count
from sleek._runtime.sums import total
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import FloatArray
from sleek.closed_form.moments import Moments
from sleek.closed_form.running_sums import RunningSums
from sleek.closed_form.solve import Solution
from sleek.closed_form.touching import Touching, join
from sleek.model.memory import Memory
from sleek.model.rows_to_predict import rows_of
from sleek.outputs.base import Outputs
from sleek.outputs.labels import Labels
from sleek.outputs.loss import Loss
from sleek.rows.cutting import Cutting
from sleek.rows.keys import keys_of
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.tables.columns import LevelColumn
from sleek.tables.inputs import Inputs

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel

ROWS = 4096  # of a block, whose sums are added in order
SMALL = 32  # rows whose products BLAS does not share out among threads; to hold it to one takes 20 µs
MOST_TARGET = 1e140  # deviations: sums of larger squares may end beyond float64
MOST_JUDGED = 2**20  # rows of a call whose errors are looked at for drift: each is kept until all are there
SLACK = 1e-9  # of all weight: less below 0 is rounding
ROUNDING = 1e-8  # of the variances before rows were taken out: less below 0 is rounding, also of the fit
LEAST_SHARE = 1e-6  # of a unit's squares that its variance counts as at least: what is less has few digits


@dataclass(frozen=True, eq=False)
class Batch:
    """Sums over some rows and their errors; `+` puts later rows behind earlier ones, which fade meanwhile."""

    sums: RunningSums
    n_rows: int
    errors: list[FloatArray]  # of the model that has not seen them
    fading: float
    digest: int | None = None  # of the rows, in whatever order; None: not asked for
    touching: Touching | None = None  # the quadratics of their loss; None if it is the squared one
    loss: float = 0.0  # the loss itself

    def __add__(self, later: Batch) -> Batch:
        faded = self.fading**later.n_rows
        sums = self.sums if self.fading == 1.0 else self.sums.fade(faded)
        touching, loss = None, 0.0
        if self.touching is not None and later.touching is not None:
            touching = (self.touching if self.fading == 1.0 else self.touching.fade(faded)) + later.touching
            loss = faded * self.loss + later.loss
        digest = None
        if self.digest is not None and later.digest is not None:
            digest = (self.digest + later.digest) % 2**64
        n_rows, errors = self.n_rows + later.n_rows, self.errors + later.errors
        return Batch(sums + later.sums, n_rows, errors, self.fading, digest, touching, loss)

    @property
    def touched(self) -> tuple[Touching, float]:
        """The quadratics and the loss that they touch."""
        assert self.touching is not None
        return self.touching, self.loss

    @property
    def name(self) -> str | None:
        """A name for the rows: 16 characters."""
        return None if self.digest is None else f"{self.digest:016x}"


# -- rows come in and leave ---------------------------------------------------------------------------------


def partial_fit(
    model: KernelModel, X: Any, y: Any, sample_weight: Any, forgetting_factor: float, n_jobs: int
) -> KernelModel:
    """See `KernelModel.partial_fit`."""
    fading = check_forgetting_factor(forgetting_factor)
    rows, targets, s = _check(model, X, y, sample_weight)
    go = partial(batch_of, model, rows, targets, s, fading, n_jobs)
    return add(model, go(), go)


def forget(model: KernelModel, X: Any, y: Any, sample_weight: Any, n_jobs: int) -> KernelModel:
    """See `KernelModel.forget`."""
    rows, targets, s = _check(model, X, y, sample_weight)
    return take_out(model, batch_of(model, rows, targets, s, 1.0, n_jobs, named=True))


def empty(model: KernelModel) -> KernelModel:
    """See `KernelModel.emptied`."""
    memory = require_memory(model, needs_rows=False)
    sums = RunningSums.zero(memory.sums.origin, memory.sums.n_units)
    touching = None
    if memory.touching is not None:
        touching = Touching.zero(sums.origin[: sums.n_units], len(model.b))
    fresh = Memory(
        sums,
        0,
        memory.observation,
        memory.C,
        memory.class_weights,
        signs=memory.signs,
        touching=touching,
    )
    return solve_again(model, fresh)


def _check(model: KernelModel, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, FloatArray | None]:
    """Rows, targets and weights as users give them."""
    require_memory(model)
    rows = rows_of(model, X)
    targets = model.outputs.read_targets(y, len(rows))
    if sample_weight is None:
        return rows, targets, None
    return rows_that_count(rows, targets, check_weights(sample_weight, len(rows)))


def require_memory(model: KernelModel, needs_rows: bool = True) -> Memory:
    """The sums, or a sentence that says why there are none."""
    if model.memory is not None:
        return model.memory
    loss = model.outputs.loss
    if not loss.smooth:
        raise ValueError(
            f"The model predicts {model.outputs.describe()}, and no sums over rows say how a quantile moves: "
            "fit again with all rows (warm_start=True begins with the units there are), or with "
            "loss='huber' or 'squared_error' to update, merge or forget later."
        )
    settings = (model.trained_by or {}).get("settings", {})
    if not needs_rows and settings.get("class_weight") is None:  # units and coding are all that is needed
        origin, m = _origin(model), len(model.theta)
        touching = None if loss.quadratic else Touching.zero(origin[:m], len(model.b))
        sums = RunningSums.zero(origin, m)
        return Memory(sums, 0, 1.0, model.C, signs=model.weight_signs(), touching=touching)
    raise ValueError(
        "This model has no sums over rows with it: save it with moments=True (sleek fit --updatable) to "
        "update, merge or forget later."
    )


def update_words(loss: Loss) -> str:
    """Which updates a model of a loss has: rows that come in and leave later, models that are merged.

    >>> from sleek.outputs.loss import LOGISTIC, SQUARED
    >>> update_words(SQUARED)
    'exact: sums over rows determine the weights'
    >>> update_words(LOGISTIC)
    'close: new rows count as they are, others by a quadratic that touches their loss'
    """
    if loss.quadratic:
        return "exact: sums over rows determine the weights"
    if loss.smooth:
        return "close: new rows count as they are, others by a quadratic that touches their loss"
    return "none: no sums over rows say how a quantile moves"


def add(model: KernelModel, batch: Batch, go: Callable[..., Batch]) -> KernelModel:
    """The model with the rows of a batch; `go(at=solution)` goes over them once more, if need be."""
    memory = require_memory(model)
    before, touching = memory.sums, memory.touching
    if batch.fading < 1.0:
        faded = batch.fading**batch.n_rows
        before, touching = before.fade(faded), None if touching is None else touching.fade(faded)
    sums = before + batch.sums
    if touching is not None:

        def rows(at: Solution) -> tuple[Touching, float]:
            return go(at=at).touched

        touching += join(touching, batch.touched, memory.solution, rows, memory.C, memory.signs)
    drift = memory.drift
    if drift is not None:
        for errors in batch.errors:
            drift = drift.after(errors)
    fresh = Memory(
        sums,
        memory.n_rows + batch.n_rows,
        memory.observation,
        memory.C,
        memory.class_weights,
        drift,
        memory.origins,
        memory.faded or batch.fading < 1.0,
        memory.forgotten,
        memory.signs,
        touching,
    )
    return solve_again(model, fresh if batch.name is None else fresh.with_batch(batch.name))


def take_out(model: KernelModel, batch: Batch) -> KernelModel:
    """The model without the rows of a batch; rows that cannot have been added are refused."""
    memory = require_memory(model)
    if memory.faded:
        raise ValueError(
            "Rows of this model have faded by a forgetting factor, and what is left of a row is not "
            "known: none can be taken out exactly. Fit again without the rows."
        )
    check_forgettable(model.inputs)
    sums, touching = sums_without(model.outputs, memory, batch), memory.touching
    if touching is not None:
        gone, _ = batch.touched
        reach = model.outputs.loss.reach
        touching = touching.without(gone, memory.solution, sums, reach, memory.C, memory.signs)
    fresh = replace(memory, sums=sums, n_rows=memory.n_rows - batch.n_rows, touching=touching)
    return solve_again(model, fresh if batch.name is None else fresh.without_batch(batch.name))


def _origin(model: KernelModel) -> FloatArray:
    """Numbers near the means of unit values and targets, for a model that does not know these."""
    middle = np.zeros(model.n_features)
    if model.facts is not None:
        middle = 0.5 * model.facts.low + 0.5 * model.facts.high
    return np.concatenate([model.features(middle[None])[0], np.zeros(len(model.b))])


def solve_again(model: KernelModel, memory: Memory) -> KernelModel:
    """The model of other sums: the same units, weights, constants and leverage solved again.

    Made without the checks of a constructor, which take longer than the rest.
    """
    if model.edits.fixed or model.edits.signs:
        raise ValueError(
            "Weights of this model were fixed or held to a sign by hand, and other rows would solve them "
            "freely again: update the model first, and edit it then."
        )
    theta, b = model.outputs.decode(*memory.solution)
    for array in (theta, b):
        array.flags.writeable = False
    calibration = model.calibration
    if calibration is not None and memory.n_rows:
        G, mean, weight = memory.moments.G, memory.moments.mean_phi, memory.moments.weight
        calibration = calibration.with_moments(G, mean, weight, memory.C, memory.observation)
    fresh = object.__new__(type(model))
    fresh.__dict__.update(model.__dict__)
    fresh.__dict__.update(theta=theta, b=b, memory=memory, calibration=calibration)
    return fresh


# -- a pass over rows ---------------------------------------------------------------------------------------


def batch_of(
    model: KernelModel,
    X: Any,
    y: Any,
    s: FloatArray | None,
    fading: float,
    n_jobs: int | None,
    named: bool = False,
    at: Solution | None = None,
) -> Batch:
    """The batch of a finite float array or a table, block by block; unchecked.

    Their loss is looked at where the model is; or elsewhere, `at` a solution, for that alone.
    """
    if len(X) == 0:
        raise ValueError("There must be at least one row, got none.")
    if len(X) <= SMALL:
        return _block_batch(model, X[:], y, s, fading, named=named, at=at)

    def block(start: int) -> Batch:
        rows = slice(start, start + ROWS)
        weights = None if s is None else s[rows]
        return _block_batch(model, X[rows], y[rows], weights, fading, start, named, at)

    with single_threaded_blas():
        return total(Workers(check_n_jobs(n_jobs)).map_list(block, range(0, len(X), ROWS)))


def batch_of_rows(
    model: KernelModel, rows: Rows, run: Run, fading: float, named: bool = False, at: Solution | None = None
) -> Batch:
    """The batch of rows that have their targets with them, wherever they are kept."""
    outputs = model.outputs
    if at is not None:  # what is strange about rows was counted in the first pass
        run = replace(run, strangers={})

    def task(block: RawBlock) -> Batch:
        y = outputs.known_labels(block.y) if isinstance(block.y, Labels) else block.y
        return _block_batch(model, block.X, y, block.s, fading, block.start, named, at)

    return rows.map_reduce(task, run, reads=outputs.reads, features=True, cutting=Cutting(ROWS))


def _block_batch(
    model: KernelModel,
    X: FloatArray,
    y: Any,
    s: FloatArray | None,
    fading: float,
    start: int = 0,
    named: bool = False,
    at: Solution | None = None,
) -> Batch:
    """The batch of a block of rows, the first of which is number `start`; unchecked.

    `named` rows have a digest, and so have those that come into a model without any.
    """
    memory = require_memory(model)
    outputs = model.outputs
    X = np.ascontiguousarray(X, dtype=np.float64)
    Phi = model.expansion.features(X)
    if not np.isfinite(Phi).all():
        Phi = model.features(X)
    T = outputs.encode(y)
    if not abs(T).max() < MOST_TARGET:
        raise ValueError(
            f"Targets must be within {MOST_TARGET:g} standard deviations of those of the fit, whose "
            "squares are added up: leave out absurd ones."
        )
    weights = s
    if memory.class_weights is not None:
        own = memory.class_weights[outputs.strata_of(y)]
        weights = own if s is None else s * own
    if fading < 1.0 and len(X) > 1:
        ages = fading ** np.arange(len(X) - 1, -1, -1.0)
        weights = ages if weights is None else weights * ages
    sums = RunningSums.of(Phi, T, memory.sums.origin, weights)
    errors: list[FloatArray] = []
    theta, b = memory.solution if at is None else at
    if memory.drift is not None and at is None and start < MOST_JUDGED:
        errors = [outputs.row_errors(T, Phi @ theta + b)]
    digest = digest_of(X, T, s) if at is None and (named or memory.n_rows == 0) else None
    if memory.touching is None:
        return Batch(sums, len(X), errors, fading, digest)
    Y = Phi @ theta + b
    values, slopes = outputs.loss.values_and_slopes(T, Y)
    touching = memory.touching.like(Phi, Y, slopes, outputs.loss.curvatures(T, Y), weights)
    loss = float(values.sum() if weights is None else weights @ values)
    return Batch(sums, len(X), errors, fading, digest, touching, loss)


def digest_of(X: FloatArray, T: FloatArray, s: FloatArray | None) -> int:
    """64 bits that tell rows with their targets and weights from others: the sum of a hash of each row.

    A sum, so that order does not matter, and blocks of rows can be added up.

    >>> X, T = np.arange(6.0).reshape(3, 2), np.ones((3, 1))
    >>> found = digest_of(X, T, None)
    >>> found == digest_of(X[::-1], T, np.ones(3)), found == digest_of(X, -T, None)
    (True, False)
    """
    weights = np.ones(len(X)) if s is None else s
    bits = (np.column_stack([X, T, weights]) + 0.0).view(np.int64)  # + 0: no minus in front of 0
    columns = keys_of(np.arange(bits.shape[1]), 1).view(np.int64)
    rows = keys_of(bits ^ columns, 0).sum(axis=1, dtype=np.uint64)
    return int(keys_of(rows.view(np.int64), 0).sum(dtype=np.uint64))


def check_forgetting_factor(value: Any) -> float:
    """A forgetting factor above 0, at most 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) <= 1:
        raise ValueError(
            "`forgetting_factor` must be above 0 and at most 1, where 1 forgets nothing and 0.999 remembers "
            f"about 1,000 rows, got {value!r}."
        )
    return float(value)


def check_forgettable(inputs: Inputs | None) -> None:
    """Refuse target encoding: in a fit a row's own target is left out of its level's mean."""
    for column in () if inputs is None else inputs.columns:
        if isinstance(column, LevelColumn) and not column.ordered:
            raise ValueError(
                f"Column {column.name!r} has many levels, which stand for numbers learnt from the targets, "
                "in the fit from those of other rows: what a row was then is not kept, so that it cannot "
                "be forgotten exactly. Fit again without the rows, or without the column."
            )


def sums_without(outputs: Outputs, memory: Memory, taken: Batch) -> RunningSums:
    """The sums that are left when rows are removed; rows that cannot all have been added are refused.

    What is left must be sums over rows: of at least one row, of no negative weight in all or in a class, and
    with variances and covariances that numbers can have. That finds rows too many and rows unlike those of
    the model; sums cannot tell a row that never came in from one like it that did.
    """
    before, left = memory.sums, memory.sums - taken.sums
    slack = SLACK * before.weight
    if not left.weight > slack or taken.n_rows >= memory.n_rows:
        raise ValueError(
            f"{taken.n_rows:,} rows of weight {taken.sums.weight:g} cannot be forgotten by a model that has "
            f"learnt {memory.n_rows:,} of weight {before.weight:g}: something must be left. emptied() leaves "
            "the units alone."
        )
    for number, label in enumerate(outputs.labels):
        has, takes, lacks = (
            _class_weight(sums, number, len(outputs.labels)) for sums in (before, taken.sums, left)
        )
        if lacks < -slack:
            raise ValueError(
                f"Rows of class {label!r} of weight {takes:g} cannot be forgotten by a model that has learnt "
                f"such rows of weight {has:g}: these rows were not all learnt, or with other weights."
            )
    if not _are_sums_of_rows(before.moments, left.moments):
        raise ValueError(
            "These rows cannot be forgotten: without them the sums would be of no rows at all (a variance "
            "would be negative), so that some of them were never learnt, or with other weights, or have "
            "been forgotten before."
        )
    return left


def _are_sums_of_rows(before: Moments, left: Moments) -> bool:
    """Whether the covariances of units and of each target are positive semidefinite, but for rounding.

    With all variables in units of their deviation before, [[G, r], [rᵀ, tt]] + ε·I has a Cholesky factor for
    each target: G + ε·I = LLᵀ, and tt + ε ≥ ‖L⁻¹r‖².
    """
    from scipy.linalg import cholesky, solve_triangular

    unit, target = (
        np.sqrt(np.maximum(squares, LEAST_SHARE * (squares + before.weight * mean**2)))
        for squares, mean in ((before.G.diagonal(), before.mean_phi), (before.tt, before.mean_t))
    )
    unit, target = np.where(unit > 0, unit, 1.0), np.where(target > 0, target, 1.0)
    G = left.G / np.outer(unit, unit)
    try:
        L = cholesky(G + ROUNDING * np.eye(len(G)), lower=True)
    except np.linalg.LinAlgError:
        return False
    explained = solve_triangular(L, left.R / np.outer(unit, target), lower=True)
    return bool((left.tt / target**2 + ROUNDING >= (explained**2).sum(axis=0)).all())


def _class_weight(sums: RunningSums, number: int, n_classes: int) -> float:
    """The weight of a class's rows: of codes t = ±1, (Σs + Σst)/2."""
    column = 0 if n_classes == 2 else number
    place = sums.n_units + column
    coded = float(sums.products[0, 1 + place] + sums.weight * sums.origin[place])
    return 0.5 * (sums.weight + (-coded if n_classes == 2 and number == 0 else coded))
