"""Choosing basis, shape, penalties and size by how well rows are predicted that took no part in the fit.

A candidate is a basis with a start shape and one strength κ, in steps of √10:

    C = 1/κ,    prior = κ/1000·Σs      (what the user has fixed stays fixed)

since searching C and pull separately found nothing better.

Few rows: every candidate is trained briefly on a sample and judged by the loss of its leave-one-out outputs.
For each basis and start shape a line search runs over κ, from κ = 1 or from the best κ of the shape before.
Different bases are compared by refitting five folds with the best settings of each.

Many rows: a race, judged by rows held out. Every basis and start shape runs a first heat on a small sample,
the best of each basis goes on from there on a larger one, and the line search over κ on with the winner.

Either way the best (basis, shape, κ) is then pruned: units are removed one by one, each time the one that the
least squares objective misses least, the rest is trained on from where it is, and the smallest size wins
whose loss is within one standard error (of the paired difference) of the best.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.threads import Workers
from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.base import Basis, Units
from sleek.closed_form.leave_one_out import TrainedUnits, leave_one_out, refit_folds
from sleek.closed_form.moments import Moments
from sleek.rows.sample import Sample
from sleek.trainers.base import Penalty, Trainer, Training, unit_moments

STEP = 10**0.5
STEPS = range(-8, 5)
MIN_GAIN = 1e-4  # of the loss, for a line search to go on
PULL_PER_STRENGTH = 1e-3
FULL_PRIOR_WEIGHT = 2000.0  # from here on more rows do not make the prior stronger
RACE_STEP = -1  # with thousands of rows less penalty is needed than with hundreds
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
    step: int  # κ = STEP**step
    penalty: Penalty
    pull: float
    n_rows: int
    training: Training
    losses: FloatArray  # (n,) of outputs for rows that took no part
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
    """Runs trials on one sample of the rows and remembers them all.

    Without rows held out of the sample, candidates are judged by leave-one-out.
    """

    def __init__(
        self,
        sample: Sample,
        trainer: Trainer,
        C: float | None,
        pull: float | None,
        report: Report,
        held: Sample | None = None,
    ) -> None:
        self.sample, self.trainer, self.C, self.pull, self.report = sample, trainer, C, pull, report
        self.held = held
        self.weight = float(sample.rows.s.sum())
        self.trials: list[Trial] = []

    def best_of(self, families: Sequence[Family]) -> Trial:
        """The best trial of a line search for every family.

        Between different bases refitted folds decide: leave-one-out linearises the model, and the more a
        basis bends, the less it sees of what was learnt.
        """
        best: dict[str, Trial] = {}
        for family in families:
            name = family.basis.name
            trial = self._line_search(self._try(family, best[name].step if name in best else 0))
            if name not in best or trial.loss < best[name].loss:
                best[name] = trial
        if len(best) == 1:
            return next(iter(best.values()))
        return min(best.values(), key=self._refitted_loss)

    def _refitted_loss(self, trial: Trial) -> float:
        family, trainer = trial.family, self.trainer.draft(trial.family.basis)
        folds, _ = refit_folds(self.sample, family.basis, family.start, trial.penalty, trainer)
        losses = self.sample.coding.losses(folds.T, folds.outputs)
        return float(np.average(losses, weights=folds.s))

    def heat(self, families: Sequence[Family]) -> list[Trial]:
        """The best trial of each basis, all families with the same strength."""
        best: dict[str, Trial] = {}
        for trial in self._side_by_side([(family, RACE_STEP, None) for family in families]):
            name = trial.family.basis.name
            if name not in best or trial.loss < best[name].loss:
                best[name] = trial
        return list(best.values())

    def final(self, trials: Sequence[Trial]) -> Trial:
        """The best of another selection's trials, trained on here, and then of a line search from there."""
        again = self._side_by_side([(trial.family, trial.step, trial.training.units) for trial in trials])
        here = min(again, key=lambda trial: trial.loss)
        if self.settled() is not None:
            return here
        begin = here.training.units
        weaker, stronger = self._side_by_side([(here.family, here.step + d, begin) for d in (-1, 1)])
        direction, ahead = (1, stronger) if stronger.loss < here.loss else (-1, weaker)
        return self._climb(here, ahead, direction, lambda step: self._try(here.family, step, begin))

    def _side_by_side(self, runs: Sequence[tuple[Family, int, Units | None]]) -> list[Trial]:
        """Trials on a thread each: better than threads over the few blocks of a sample."""
        alone = replace(self.sample, workers=Workers(1))
        return [
            self._remember(trial)
            for trial in self.sample.workers.spread(lambda run: self._run(alone, *run), runs)
        ]

    def smallest(self, best: Trial) -> Trial:
        """The smallest pruned model that is as good as `best` within one standard error.

        With rows held out, the first size that is not ends the search.
        """
        winner = current = best
        for size in SIZES:
            if size >= len(current.family.start):
                continue
            current = self._pruned(current, size)
            if current.loss < best.loss:
                best = current
            if current.within_one_standard_error_of(best):
                winner = current
            elif self.held is not None:
                break
        return winner

    def settled(self) -> Penalty | None:
        """The penalty, if there is nothing to choose about it."""
        if self.C is None or (self.trainer.pulls and self.pull is None):
            return None
        return self._penalty(0, self.weight)

    def _penalty(self, step: int, weight: float) -> Penalty:
        strength = STEP**step
        if self.pull is None:
            prior = PULL_PER_STRENGTH * strength * min(weight, FULL_PRIOR_WEIGHT)
        else:
            prior = self.pull * weight
        return Penalty(1.0 / strength if self.C is None else self.C, prior)

    def _line_search(self, here: Trial) -> Trial:
        """The best trial along the strength, from `here` in the direction in which losses fall."""
        if self.settled() is not None:
            return here
        direction, ahead = 1, self._try(here.family, here.step + 1)
        if ahead.loss >= here.loss:
            direction, ahead = -1, self._try(here.family, here.step - 1)
        return self._climb(here, ahead, direction, lambda step: self._try(here.family, step))

    def _climb(self, here: Trial, ahead: Trial, direction: int, at: Callable[[int], Trial]) -> Trial:
        """The last trial in a direction that was better than the one before."""
        while ahead.loss < here.loss - MIN_GAIN:
            here = ahead
            if here.step + direction not in STEPS:
                break
            ahead = at(here.step + direction)
        return here

    def _pruned(self, trial: Trial, size: int) -> Trial:
        basis, units = trial.family.basis, trial.training.units
        kept = strongest_units(unit_moments(self.sample, basis, units), trial.penalty.C, size)
        start = trial.family.start.map(lambda _, array: array[kept])
        begin = units.map(lambda _, array: array[kept])
        return self._try(Family(basis, trial.family.shape, start), trial.step, begin)

    def _try(self, family: Family, step: int, begin: Units | None = None) -> Trial:
        return self._remember(self._run(self.sample, family, step, begin))

    def _remember(self, trial: Trial) -> Trial:
        self.trials.append(trial)
        self.report(
            f"tried {len(trial.family.start)} {trial.family.basis.name} units on {trial.n_rows} rows, "
            f"shape {trial.family.shape:.3g}, C {trial.penalty.C:.3g}, pull {trial.pull:.3g}: "
            f"loss {trial.loss:.5f}"
        )
        return trial

    def _run(self, sample: Sample, family: Family, step: int, begin: Units | None = None) -> Trial:
        clock = time.perf_counter()
        penalty, basis = self._penalty(step, self.weight), family.basis
        trainer = self.trainer.draft(basis, goes_on=begin is not None and self.held is not None)
        training = trainer.train(sample, basis, family.start, penalty, _quiet, begin)
        if self.held is None:
            trained = TrainedUnits(basis, training.units, penalty, training.coordinates)
            loo = leave_one_out(sample, trained, family.start, trainer)
            losses, weights = sample.coding.losses(loo.T, loo.outputs), loo.s
        else:
            losses, weights = held_out_losses(self.held, basis, training), self.held.rows.s
        pull = penalty.prior / self.weight if trainer.pulls else np.nan
        seconds = time.perf_counter() - clock
        return Trial(family, step, penalty, pull, sample.n_rows, training, losses, weights, seconds)


def held_out_losses(held: Sample, basis: Basis, training: Training) -> FloatArray:
    """The loss of each row that was held out of the training."""
    Phi = basis.features(held.rows.X, training.units)
    return held.coding.losses(held.rows.T, Phi @ training.solution.theta + training.solution.b)


def table(trials: Sequence[Trial], chosen: Trial) -> dict[str, list[object]]:
    """Trials as columns, in the order in which they were tried."""
    return {
        "basis": [trial.family.basis.name for trial in trials],
        "shape": [trial.family.shape for trial in trials],
        "n_units": [len(trial.family.start) for trial in trials],
        "C": [trial.penalty.C for trial in trials],
        "pull": [trial.pull for trial in trials],
        "n_rows": [trial.n_rows for trial in trials],
        "loss": [trial.loss for trial in trials],
        "seconds": [trial.seconds for trial in trials],
        "chosen": [trial is chosen for trial in trials],
    }


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
