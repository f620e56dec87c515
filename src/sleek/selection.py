"""Choosing basis, shape, penalties and size by whole-model leave-one-out.

Every candidate is trained briefly on a sample of the rows and judged by the loss of its leave-one-out outputs. For each
basis and start shape a line search runs over one strength κ, from κ = 1 in steps of √10:

    C = 1/κ,    prior = κ/1000 · Σs      (what the user has fixed stays fixed)

since searching C and prior separately found nothing better. The best (basis, shape, κ) is then pruned: units are removed
one by one, each time the one whose loss raises the least squares objective least, the rest is trained on from where it
is, and the smallest size wins whose loss is within one standard error (of the paired difference) of the best.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sleek._typing import FloatArray, IntArray
from sleek.bases.base import Basis, Units
from sleek.leave_one_out import TrainedUnits, leave_one_out
from sleek.moments import Moments
from sleek.sources import Block, Sample
from sleek.trainers.base import Penalty, Trainer, Training

STEP = 10**0.5
STEPS = range(-8, 5)
MIN_GAIN = 1e-4  # of the loss, for a line search to go on
PULL_PER_STRENGTH = 1e-3
SIZES = (40, 20, 15, 10)  # below 10 units errors grew by 2 % on average over 31 data sets
Report = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Family:
    """A basis with the units' start: what a line search over the strength keeps fixed."""

    basis: Basis
    shape: float
    start: Units


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate, trained and judged."""

    family: Family
    penalty: Penalty
    training: Training
    losses: FloatArray  # (n,) of the leave-one-out outputs
    weights: FloatArray  # (n,)
    seconds: float

    @property
    def loss(self) -> float:
        """The weighted mean loss."""
        return float(np.average(self.losses, weights=self.weights))

    def within_one_standard_error_of(self, best: Trial) -> bool:
        """Whether the mean difference to the best is below its own standard error."""
        difference = self.losses - best.losses
        mean = float(np.average(difference, weights=self.weights))
        variance = float(np.average((difference - mean) ** 2, weights=self.weights))
        return bool(mean <= np.sqrt(variance / self.weights.sum()))


class Selection:
    """Runs trials on one sample of the rows and remembers them all."""

    def __init__(
        self, sample: Sample, trainer: Trainer, C: float | None, pull: float | None, report: Report
    ) -> None:
        self.sample, self.trainer, self.C, self.pull, self.report = sample, trainer, C, pull, report
        self.weight = float(sample.map_reduce(lambda block: block.s.sum()))
        self.trials: list[Trial] = []

    def best_of(self, families: Sequence[Family]) -> Trial:
        """The best trial of a line search for every family."""
        return min((self._line_search(family) for family in families), key=lambda trial: trial.loss)

    def smallest(self, best: Trial) -> Trial:
        """The smallest pruned model that is as good as `best` within one standard error."""
        winner = current = best
        for size in SIZES:
            if size >= len(current.family.start):
                continue
            current = self._pruned(current, size)
            if current.loss < best.loss:
                best = current
            if current.within_one_standard_error_of(best):
                winner = current
        return winner

    def table(self, chosen: Trial) -> dict[str, list[object]]:
        """All trials as columns, in the order in which they were tried."""
        return {
            "basis": [trial.family.basis.name for trial in self.trials],
            "shape": [trial.family.shape for trial in self.trials],
            "n_units": [len(trial.family.start) for trial in self.trials],
            "C": [trial.penalty.C for trial in self.trials],
            "pull": [trial.penalty.prior / self.weight for trial in self.trials],
            "loss": [trial.loss for trial in self.trials],
            "seconds": [trial.seconds for trial in self.trials],
            "chosen": [trial is chosen for trial in self.trials],
        }

    def settled(self) -> Penalty | None:
        """The penalty, if there is nothing to choose about it."""
        if self.C is None or (self.trainer.pulls and self.pull is None):
            return None
        return self._penalty(0)

    def _penalty(self, step: int) -> Penalty:
        strength = STEP**step
        pull = PULL_PER_STRENGTH * strength if self.pull is None else self.pull
        return Penalty(1.0 / strength if self.C is None else self.C, pull * self.weight)

    def _line_search(self, family: Family) -> Trial:
        settled = self.settled()
        if settled is not None:
            return self._try(family, settled)
        here, ahead = self._try(family, self._penalty(0)), self._try(family, self._penalty(1))
        step, direction = 0, 1
        if ahead.loss >= here.loss:
            direction, ahead = -1, self._try(family, self._penalty(-1))
        while ahead.loss < here.loss - MIN_GAIN:
            step, here = step + direction, ahead
            if step + direction not in STEPS:
                break
            ahead = self._try(family, self._penalty(step + direction))
        return here

    def _pruned(self, trial: Trial, size: int) -> Trial:
        basis, units = trial.family.basis, trial.training.units

        def task(block: Block) -> Moments:
            return Moments.of(basis.features(block.X, units), block.T, block.s)

        kept = strongest_units(self.sample.map_reduce(task), trial.penalty.C, size)
        start = trial.family.start.map(lambda _, array: array[kept])
        begin = units.map(lambda _, array: array[kept])
        return self._try(Family(basis, trial.family.shape, start), trial.penalty, begin)

    def _try(self, family: Family, penalty: Penalty, begin: Units | None = None) -> Trial:
        clock = time.perf_counter()
        trainer = self.trainer.draft(family.basis)
        training = trainer.train(self.sample, family.basis, family.start, penalty, _quiet, begin)
        trained = TrainedUnits(family.basis, training.units, penalty, training.coordinates)
        loo = leave_one_out(self.sample, trained, family.start, trainer)
        losses = self.sample.coding.losses(loo.T, loo.outputs)
        trial = Trial(family, penalty, training, losses, loo.s, time.perf_counter() - clock)
        self.trials.append(trial)
        self.report(
            f"tried {len(family.start)} {family.basis.name} units, shape {family.shape:.3g}, C {penalty.C:.3g}, "
            f"pull {penalty.prior / self.weight:.3g}: leave-one-out loss {trial.loss:.5f}"
        )
        return trial


def strongest_units(moments: Moments, C: float, size: int) -> IntArray:
    """The units left when the least useful one is removed again and again, theta re-solved each time.

    Removing unit j from the least squares problem raises its minimum by ½ Σ_k θ_jk² / [(G + I/C)⁻¹]_jj.

    >>> Phi = np.array([[0.0, 1.0, 0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 0.1], [1.0, 1.0, 0.0]])
    >>> strongest_units(Moments.of(Phi, Phi @ np.array([[1.0], [2.0], [0.1]]), np.ones(4)), 1e3, 2)
    array([0, 1])
    """
    kept = np.arange(len(moments.G))
    while len(kept) > size:
        inverse = np.linalg.inv(moments.G[np.ix_(kept, kept)] + np.eye(len(kept)) / C)
        theta = inverse @ moments.R[kept]
        kept = np.delete(kept, np.argmin(np.sum(theta**2, axis=1) / np.diag(inverse)))
    return kept


def _quiet(line: str) -> None:
    pass
