"""Candidates, each trained briefly and judged by rows that took no part in it.

A candidate is a family (units at their start) and one strength κ, in steps of √10:

    C = 1/κ,    prior = κ/1000·Σs      (what the user has fixed stays fixed)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from sleek._runtime.threads import Workers
from sleek._runtime.types import FloatArray
from sleek.bases.expansion import Expansion
from sleek.closed_form.leave_one_out import LeaveOneOut, Trained
from sleek.closed_form.penalty import Penalty
from sleek.fit import policy
from sleek.fit.folds import Fold, Split, left_out_residuals, mean_and_error, pooled, splits_of
from sleek.fit.plan import Request
from sleek.fit.start import Family
from sleek.outputs.base import Outputs
from sleek.rows.sample import Sample
from sleek.trainers.base import Problem, Reached, Training

Report = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate, trained and judged."""

    family: Family
    step: int  # κ = STRENGTH_STEP**step
    penalty: Penalty
    pull: float
    n_rows: int
    training: Training
    losses: FloatArray  # (n,) of outputs for rows that took no part
    errors: FloatArray  # (n,) of the same outputs
    weights: FloatArray  # (n,)
    copies: FloatArray  # (n,)
    seconds: float
    folds: tuple[Fold, ...] = ()  # that it was judged by, where its start had to be found anew in each

    @property
    def loss(self) -> float:
        """The weighted mean loss."""
        return float(np.average(self.losses, weights=self.weights))

    @property
    def error(self) -> float:
        """The weighted mean error: it can be compared between outputs of different losses."""
        return float(np.average(self.errors, weights=self.weights))

    def gain_over(self, other: Trial) -> tuple[float, float]:
        """By how much its loss is below another's on the same rows, and the standard error of that."""
        return mean_and_error(other.losses - self.losses, self.weights, self.copies)

    def within(self, errors: float, best: Trial) -> bool:
        """Whether the mean difference to the best is below so many of its own standard errors."""
        gain, error = self.gain_over(best)
        return bool(-gain <= errors * error)


class Trials:
    """Runs trials on one sample of the rows and remembers them all.

    Without rows held out of the sample, candidates are judged by leave-one-out.
    """

    def __init__(self, sample: Sample, request: Request, report: Report, held: Sample | None = None) -> None:
        self.sample, self.request, self.report, self.held = sample, request, report, held
        self.weight = float(sample.rows.s.sum())
        self.all: list[Trial] = []

    def with_outputs(self, outputs: Outputs) -> Trials:
        """Trials on the same rows with another loss, none run yet."""
        held = None if self.held is None else self.held.with_outputs(outputs)
        return Trials(self.sample.with_outputs(outputs), self.request, self.report, held)

    def run(
        self, family: Family, step: int, begin: Reached | None = None, folds: Sequence[Fold] = ()
    ) -> Trial:
        """One trial; its folds go on from where others have got to, if these are given."""
        return self._remember(self._run(self.sample, family, step, begin, folds))

    def side_by_side(self, runs: Sequence[tuple[Family, int, Reached | None]]) -> list[Trial]:
        """Trials on a thread each: better than threads over the few blocks of a sample."""
        alone = replace(self.sample, workers=Workers(1))
        spread = self.sample.workers.spread(lambda run: self._run(alone, *run), runs)
        return [self._remember(trial) for trial in spread]

    def slow(self, family: Family) -> bool:
        """Whether judging a family takes more than a formula: rows held out, or folds begun anew."""
        return self.held is not None or family.regrow is not None

    def penalty(self, step: int) -> Penalty:
        """The penalties at a strength."""
        strength, C, pull = policy.STRENGTH_STEP**step, self.request.C, self.request.pull
        if pull is None:
            prior = policy.PULL_PER_STRENGTH * strength * min(self.weight, policy.FULL_PRIOR_WEIGHT)
        else:
            prior = pull * self.weight
        return Penalty(1.0 / strength if C is None else C, prior)

    def draft(
        self, sample: Sample, family: Family, penalty: Penalty, begin: Reached | None = None
    ) -> Training:
        """Training that is long enough to compare settings; shorter still if it goes on in a race."""
        if not sample.outputs.loss.quadratic:
            max_iter: int | None = refining_iterations(self.request, begin)
        else:
            max_iter = draft_iterations(self.request, family.start)
            if max_iter is not None and begin is not None and self.held is not None:
                max_iter = policy.GOING_ON
        return self.request.trainer.train(Problem(sample, family.start, penalty, begin, max_iter))

    @cached_property
    def splits(self) -> list[Split]:
        """The rows of folds."""
        return splits_of(self.sample)

    def folds(self, family: Family) -> list[Fold]:
        """What a family begins with in every fold."""
        return [Fold(family.start_for(split.rest)) for split in self.splits]

    def fold(self, split: Split, fold: Fold, penalty: Penalty) -> Fold:
        """A fold trained under a penalty, as it is if it was."""
        if fold.training is not None and fold.penalty == penalty:
            return fold
        begin = None if fold.training is None else fold.training.reached
        max_iter = fold_iterations(self.request, split.rest, fold.start, begin)
        problem = Problem(split.rest, fold.start, penalty, begin, max_iter)
        return Fold(fold.start, penalty, self.request.trainer.train(problem))

    def _run(
        self,
        sample: Sample,
        family: Family,
        step: int,
        begin: Reached | None = None,
        folds: Sequence[Fold] = (),
    ) -> Trial:
        clock = time.perf_counter()
        penalty = self.penalty(step)
        training = self.draft(sample, family, penalty, begin)
        models: list[Fold] = []
        if self.held is not None:
            judged = held_out(self.held, training)
        elif family.regrow is None:
            trained = Trained(training.expansion, training.solution, penalty, training.coordinates)
            judged = left_out_residuals(sample, trained, partial(refit, self.request, family, penalty))
        else:
            begun = zip(self.splits, folds or self.folds(family), strict=True)
            models = [self.fold(split, fold, penalty) for split, fold in begun]
            judged = pooled(sample, self.splits, [fold.training for fold in models if fold.training])
        return Trial(
            family=family,
            step=step,
            penalty=penalty,
            pull=penalty.prior / self.weight if self.request.fits_units else np.nan,
            n_rows=sample.n_rows,
            training=training,
            losses=sample.outputs.losses(judged.T, judged.outputs),
            errors=sample.outputs.row_errors(judged.T, judged.outputs),
            weights=judged.s,
            copies=judged.copies,
            seconds=time.perf_counter() - clock,
            folds=tuple(models),
        )

    def _remember(self, trial: Trial) -> Trial:
        self.all.append(trial)
        self.report(
            f"tried {trial.family.start} on {trial.n_rows} rows, "
            f"shape {trial.family.shape:.3g}, C {trial.penalty.C:.3g}, pull {trial.pull:.3g}: "
            f"loss {trial.loss:.5f}"
        )
        return trial


def draft_iterations(request: Request, start: Expansion) -> int | None:
    """Iterations that are enough to compare settings; None where a trainer is not to be stopped."""
    if not request.fits_units:
        return None
    most = max(part.basis.draft_iterations for part in start.parts)
    return max(1, round(request.effort.draft * most))


def refining_iterations(request: Request, begin: Reached | None) -> int:
    """Iterations of units, theta and b together: fewer if all of them have been there before."""
    anew = begin is None or begin.solution is None
    return request.effort.refining if anew else request.effort.refining // 2


def fold_iterations(
    request: Request, rows: Sample, start: Expansion, begin: Reached | None = None
) -> int | None:
    """Those of a fold's model, from its start or from where another has got to."""
    if not rows.outputs.loss.quadratic:
        return request.effort.refining * 2 if begin is None else request.effort.refining // 2
    most = draft_iterations(request, start)
    return most if most is None or begin is None else min(most, policy.GOING_ON)


def refit(request: Request, family: Family, penalty: Penalty, fold: Sample) -> Training:
    """A draft on some of the rows, begun without a look at the others."""
    start = family.start_for(fold)
    max_iter = fold_iterations(request, fold, start)
    return request.trainer.train(Problem(fold, start, penalty, max_iter=max_iter))


def held_out(held: Sample, training: Training) -> LeaveOneOut:
    """Residuals of rows that were held out of the training."""
    rows, (theta, b) = held.rows, training.solution
    return LeaveOneOut(rows.T, rows.T - training.expansion.features(rows.X) @ theta - b, rows.s, rows.copies)


def held_out_losses(held: Sample, training: Training) -> FloatArray:
    """The loss of each row that was held out of the training."""
    judged = held_out(held, training)
    return held.outputs.losses(judged.T, judged.outputs)


def best_of_each(trials: Sequence[Trial]) -> list[Trial]:
    """The trial of least loss for every combination of bases."""
    best: dict[str, Trial] = {}
    for trial in trials:
        name = trial.family.name
        if name not in best or trial.loss < best[name].loss:
            best[name] = trial
    return list(best.values())


def table(trials: Sequence[Trial], chosen: Trial) -> dict[str, list[object]]:
    """Trials as columns, in the order in which they were tried."""
    return {
        "basis": [trial.family.name for trial in trials],
        "shape": [trial.family.shape for trial in trials],
        "n_units": [trial.family.start.n_learnt for trial in trials],
        "C": [trial.penalty.C for trial in trials],
        "pull": [trial.pull for trial in trials],
        "n_rows": [trial.n_rows for trial in trials],
        "loss": [trial.loss for trial in trials],
        "seconds": [trial.seconds for trial in trials],
        "chosen": [trial is chosen for trial in trials],
    }


def path(trials: Sequence[Trial], chosen: Trial) -> dict[str, list[object]]:
    """The best trial of every size, as columns, smallest first: what more units bring.

    Trials of one sample and one loss, so that they can be compared. Equal sizes with and without a linear
    part are two.
    """
    best: dict[tuple[int, int], Trial] = {}
    for trial in trials:
        start = trial.family.start
        size = (start.n_learnt, len(start) - start.n_learnt)
        if size not in best or trial is chosen or (trial.loss < best[size].loss and best[size] is not chosen):
            best[size] = trial
    sizes = sorted(best)
    errors = [mean_and_error(best[s].errors, best[s].weights, best[s].copies) for s in sizes]
    return {
        "n_units": [units for units, _ in sizes],
        "n_linear": [features for _, features in sizes],
        "basis": [best[size].family.name for size in sizes],
        "loss": [best[size].loss for size in sizes],
        "error": [mean for mean, _ in errors],
        "error_std": [error for _, error in errors],
        "chosen": [best[size] is chosen for size in sizes],
    }
