"""Learning units on a sample that grows only as long as growing pays.

A stage trains the units, from where the stage before has left them, on `growth` times as many rows, and looks
at rows held out of all stages. There the mean loss has fallen by g, with a standard error e (of the paired
difference). What a model has not yet learnt from n rows of its kind falls like 1/n, so the next stage can be
expected to bring g/growth. Growing stops as soon as even (g + e)/growth is less than `PAYS`, two per cent, of
the loss; or when all rows are in; or at `MOST_BYTES` of rows, so that memory does not grow with the data.

Each stage draws its sample in one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.bases.base import Units
from sleek.fit.selection import Family, Trial, held_out_losses
from sleek.rows.sample import Sample
from sleek.rows.source import Source
from sleek.trainers.base import Penalty, Trainer, Training

PAYS = 0.02
MOST_HELD = 8192  # rows held out, a fifth of all if that is less
MOST_BYTES = 2**27


@dataclass(frozen=True, eq=False)
class Grown:
    """Units learnt on as many rows as it took."""

    training: Training
    penalty: Penalty
    weight: float  # of the rows that they were learnt on
    everything: bool  # whether those are all rows


def stage_limit(n_features: int) -> int:
    """The most rows that a sample has."""
    return max(MOST_BYTES // (8 * n_features), 2**14)


def most_stages(n_rows: int, first: int, growth: float, n_features: int) -> int:
    """How often the sample grows at most.

    >>> most_stages(10**9, 8192, 4.0, 28)
    4
    """
    limit = min(n_rows, stage_limit(n_features))
    return max(0, int(np.ceil(np.log(limit / first) / np.log(growth) - 1e-9)))


def grow(
    source: Source,
    held: Sample,
    trial: Trial,
    trainer: Trainer,
    growth: float,
    draw: Callable[[int], Sample],
    report: Callable[[str], None],
) -> Grown:
    """Train a trial's units on larger and larger samples of `source`, judged by the rows held out.

    As soon as a sample would be almost everything, units are learnt on all rows; those held out take part if
    there are less than a few tens of thousands, when each row counts.
    """
    family, pull = trial.family, trainer.fixed_pull()
    limit, total = stage_limit(held.rows.X.shape[1]), source.n_rows
    few = total < 5 * MOST_HELD
    size, losses, units = trial.n_rows, trial.losses, trial.training.units
    while True:
        wanted = min(int(size * growth), limit)
        if few and wanted >= total - held.n_rows:
            report(f"learning the units on all {total} rows")
            return learn(source, family, trial.penalty, pull, trainer, report, units)
        size = min(wanted, total - held.n_rows)
        grown = learn(draw(size), family, trial.penalty, pull, trainer.stage(), report, units)
        fresh = held_out_losses(held, family.basis, grown.training)
        gain, error = paired_gain(losses, fresh, held.rows.s)
        losses, units = fresh, grown.training.units
        loss = float(np.average(losses, weights=held.rows.s))
        report(f"learnt on {size} rows: held-out loss {loss:.5f}, {gain:.5f} ± {error:.5f} less than before")
        if (gain + error) / growth < PAYS * loss or size in (limit, total - held.n_rows):
            return replace(grown, everything=False)


def learn(
    rows: Source,
    family: Family,
    penalty: Penalty,
    pull: float | None,
    trainer: Trainer,
    report: Callable[[str], None],
    begin: Units | None,
) -> Grown:
    """Train on these rows; a pull that the user has fixed is per row, a chosen prior stays what it is."""
    weight = float(rows.map_reduce(lambda block: block.s.sum()))
    if pull is not None:
        penalty = replace(penalty, prior=pull * weight)
    training = trainer.train(rows, family.basis, family.start, penalty, report, begin)
    return Grown(training, penalty, weight, everything=True)


def paired_gain(before: FloatArray, after: FloatArray, s: FloatArray) -> tuple[float, float]:
    """By how much the mean loss of rows with weights s has fallen, and the standard error of that.

    >>> paired_gain(np.array([3.0, 5.0]), np.array([1.0, 1.0]), np.ones(2))
    (3.0, 0.7071067811865476)
    """
    difference = before - after
    gain = float(np.average(difference, weights=s))
    variance = float(np.average((difference - gain) ** 2, weights=s))
    return gain, float(np.sqrt(variance / s.sum()))
