"""Candidates: ways from rows to a model, each tried on rows of the judge's splits.

A candidate begins where another one has ended, changes its units, and trains them on: units are added, taken
out, or lose a feature. So what is done to the whole of the rows is done in every fold as well, by the fold's
own rows alone, and a training is never repeated: `Trials` remembers what each candidate came to on the rows
of each split.

The regularisation strength κ of a candidate is a step of √10:

    C = 1/κ,    prior = κ/1000·Σs      (what the user has fixed stays fixed)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sleek._runtime.threads import Workers
from sleek.bases.expansion import Expansion
from sleek.bases.linear import Linear
from sleek.closed_form.leave_one_out import LeaveOneOut
from sleek.closed_form.solve import Penalty
from sleek.fit import policy
from sleek.fit.judge import Split, Verdict, least_gain, mean_and_error, worth
from sleek.fit.optimism import optimism
from sleek.fit.pilot import drawn_in
from sleek.fit.plan import Request
from sleek.outputs.base import Outputs
from sleek.rows.sample import Sample
from sleek.trainers.base import Limit, Problem, Reached, Training, silent

Report = Callable[[str], None]


class Draft(NamedTuple):
    """A candidate on some rows: units at their start, which a prior pulls to, and as they were trained."""

    start: Expansion
    training: Training
    penalty: Penalty


class Beginning(NamedTuple):
    """Units at their start, and where training begins if it goes on from somewhere else."""

    start: Expansion
    begin: Reached | None = None


Change = Callable[[Sample, Draft | None], Beginning]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way from rows to a model.

    Attributes
    ----------
    change : callable
        Makes the beginning of a training from its rows and from what `before` came to on them.
    step : int
        The regularisation strength, κ = STRENGTH_STEP**step.
    outputs : Outputs
        What is learnt: ±1 or log-odds of classes, or numbers.
    before : Candidate or None
    shape : float
        The sharpness that units start with, if they have one.
    to_the_end : bool
        Whether units are trained until that brings nothing more.
    """

    change: Change
    step: int
    outputs: Outputs
    before: Candidate | None = None
    shape: float = float("nan")
    to_the_end: bool = False

    def stronger(self, steps: int) -> Candidate:
        """Trained on under another strength."""
        return replace(self, change=continue_training, step=self.step + steps, before=self)


def train_to_the_end(candidate: Candidate) -> Candidate:
    """The same candidate, trained on until that brings nothing more."""
    return replace(candidate, change=continue_training, before=candidate, to_the_end=True)


def continue_training(rows: Sample, before: Draft | None) -> Beginning:
    """Begin where the candidate before has ended."""
    assert before is not None
    return Beginning(before.start, before.training.reached)


class Trials:
    """Trains candidates on the rows of splits, judges them, and remembers both.

    Parameters
    ----------
    splits : sequence of Split
        Folds and, last, all rows; or samples that grow, all judged by the same held-out rows.
    levels : sequence of sequences of int
        Which splits judge in each round of a race: more folds, or a larger sample.
    growing : bool
        Whether splits are samples that contain each other: a training goes on from the smaller one.
    """

    def __init__(
        self,
        splits: Sequence[Split],
        levels: Sequence[Sequence[int]],
        growing: bool,
        request: Request,
        report: Report,
    ) -> None:
        self.splits, self.levels, self.growing = splits, levels, growing
        self.request, self.report = request, report
        self._drafts: dict[tuple[Candidate, int], Draft] = {}
        self._wholes: dict[Candidate, Draft] = {}
        self._verdicts: dict[tuple[Candidate, int], Verdict] = {}
        self._drawn_in: dict[int, Sample] = {}
        self._seconds: dict[Candidate, float] = {}
        self._numbers: dict[Candidate, int] = {}
        self._rungs: dict[Candidate, int] = {}
        self._least_gains: dict[tuple[Candidate, Candidate], float] = {}
        self.constants: dict[Outputs, Candidate] = {}  # the model that knows nothing, by what is learnt

    # -- rows

    @property
    def last(self) -> int:
        """The last round."""
        return len(self.levels) - 1

    @property
    def main(self) -> int:
        """The split whose training is the model: all rows, or the largest sample."""
        return len(self.splits) - 1

    def rows(self, at: int, outputs: Outputs) -> Sample:
        """The rows of a split to learn from."""
        rest = self.splits[at].rest
        if outputs.resists:
            if at not in self._drawn_in:
                self._drawn_in[at] = drawn_in(rest)
            rest = self._drawn_in[at]
        return rest.with_outputs(outputs)

    def penalty(self, step: int, rows: Sample) -> Penalty:
        """The penalties at a strength."""
        strength, C, pull = policy.STRENGTH_STEP**step, self.request.C, self.request.pull
        weight = float(rows.rows.s.sum())
        if pull is None:
            prior = policy.PULL_PER_STRENGTH * strength * min(weight, policy.FULL_PRIOR_WEIGHT)
        else:
            prior = pull * weight
        return Penalty(1.0 / strength if C is None else C, prior, self.request.signs)

    # -- training

    def draft(self, candidate: Candidate, at: int) -> Draft:
        """What a candidate comes to on the rows of a split."""
        if (candidate, at) not in self._drafts:
            self._drafts[candidate, at] = self._train(candidate, at)
        return self._drafts[candidate, at]

    def keep(self, candidate: Candidate, at: int, draft: Draft) -> None:
        """Take what a candidate comes to on the rows of a split from where it is known."""
        self._drafts[candidate, at] = draft

    def whole(self, candidate: Candidate) -> Draft:
        """The model itself: what a candidate comes to on all rows, or on the largest sample.

        Where folds judge, nobody has judged the model itself, and now and then its way ends in a poor minimum
        that no fold has met: one of eight samples of 600 rows of an exclusive or had 42 % of mistakes, where
        folds had 20. So training also goes on from where each fold has got to, and what fits all rows best is
        taken. (57 sets below 1,200 rows: 0.991 ± 0.006 of the errors; 15 generators: 0.989 ± 0.003.)
        """
        if candidate not in self._wholes:
            own = self.draft(candidate, self.main)
            found, chooses = [own], self.request.fits_units and not self.request.fixes_everything
            if chooses and not self.growing and own.start.n_learnt:
                folds = [self.draft(candidate, at) for at in self.levels[-1]]
                workers = self.splits[self.main].rest.workers
                found += workers.map_list(lambda fold: self._train_on(candidate, fold), folds)
            self._wholes[candidate] = min(found, key=lambda draft: self._own_loss(candidate, draft))
        return self._wholes[candidate]

    def _train_on(self, candidate: Candidate, draft: Draft) -> Draft:
        """Train on from where a fold has got to, on all rows."""
        begin = Beginning(draft.start, draft.training.reached)
        return self._train(candidate, self.main, begin, Workers(1))

    def _own_loss(self, candidate: Candidate, draft: Draft) -> float:
        """The mean loss of a model on all rows, which it has learnt from."""
        rows, (theta, b) = self.splits[self.main].rest.rows, draft.training.solution
        Y = draft.training.expansion.features(rows.X) @ theta + b
        return float(np.average(candidate.outputs.losses(rows.T, Y), weights=rows.s))

    def _train(
        self,
        candidate: Candidate,
        at: int,
        beginning: Beginning | None = None,
        workers: Workers | None = None,
    ) -> Draft:
        """Train a candidate on the rows of a split, from its own beginning unless another one is given."""
        smaller = self._drafts.get((candidate, at - 1)) if self.growing else None
        if smaller is not None:
            beginning = Beginning(smaller.start, smaller.training.reached)
        before = None
        if beginning is None and candidate.before is not None:
            before = self.draft(candidate.before, at)
        clock = time.perf_counter()
        rows = self.rows(at, candidate.outputs)
        if workers is not None:
            rows = replace(rows, workers=workers)
        start, begin = candidate.change(rows, before) if beginning is None else beginning
        request, penalty = self.request, self.penalty(candidate.step, rows)
        limit = Limit(draft_iterations(request, start, begin), joint_iterations(request, start, begin))
        slack = 1.0
        if candidate.to_the_end:
            most = refining(request, start)
            limit = Limit(None, most if at == self.main else 2 * most)
            slack = 1.0 if at == self.main and request.fixes_everything else policy.STAGE_SLACK
        report = silent if self.splits[at].out is not None else self.report  # of the model itself
        training = request.trainer.train(Problem(rows, start, penalty, begin, limit, slack, report))
        self._seconds[candidate] = self._seconds.get(candidate, 0.0) + time.perf_counter() - clock
        return Draft(start, training, penalty)

    def prepare(self, candidates: Sequence[Candidate], level: int) -> None:
        """Train candidates for a round, on a thread each: better than threads over the blocks of a sample."""
        pairs = [(candidate, at) for candidate in candidates for at in self.levels[level]]
        todo = [pair for pair in pairs if pair not in self._drafts]
        if len(todo) > 1:
            workers = self.splits[self.main].rest.workers
            drafts = workers.map_list(lambda pair: self._train(*pair, workers=Workers(1)), todo)
            self._drafts.update(zip(todo, drafts, strict=True))

    # -- judging

    @cached_property
    def sure_errors(self) -> float:
        """How many standard errors another rung must gain: more where few rows, or few of a class, speak."""
        rows = self.splits[self.main].rest
        counts = np.bincount(rows.outputs.strata(rows.rows.T), rows.rows.copies)
        rare = counts.sum() - counts.max() if len(counts) > 1 else counts.sum()
        return policy.SURE_ERRORS * (1.0 + policy.FEW_OBSERVATIONS / max(1.0, float(rare)))

    def prefers(self, new: Candidate, simpler: Candidate) -> bool:
        """Whether a candidate is worth more than a simpler one."""
        gain, _ = self.judge(new).gain_over(self.judge(simpler))
        return gain > self.least_gain(new, simpler)

    def least_gain(self, new: Candidate, simpler: Candidate) -> float:
        """How much a candidate must gain to be worth more than a simpler one: the rule of every choice.

        Another rung must be surer of it than more of the same. More numbers must take a share off the loss
        (`worth`); or off what the simpler one takes off that of a constant, if that is less: of a rare class
        no model explains much. What the share then loses, sureness gains, or chance would buy any number of
        numbers. A further linear feature is one number more, and any gain is worth it.
        """
        if (new, simpler) not in self._least_gains:
            self._least_gains[new, simpler] = self._least_gain(new, simpler)
        return self._least_gains[new, simpler]

    def prefers_grown(self, new: Candidate, simpler: Candidate, better: Verdict, old: Verdict) -> bool:
        """The same rule, by the verdicts on what both came to with more rows."""
        gain, _ = better.gain_over(old)
        return gain > self._least_gain(new, simpler, (better, old))

    def _least_gain(
        self, new: Candidate, simpler: Candidate, verdicts: tuple[Verdict, Verdict] | None = None
    ) -> float:
        if self._rung(new) == self._rung(simpler) == 0 and simpler not in self.constants.values():
            return 0.0
        errors = self.sure_errors if self._rung(new) > self._rung(simpler) else policy.SURE_ERRORS
        better, old = (self.judge(new), self.judge(simpler)) if verdicts is None else verdicts
        explained = 1.0
        if new.outputs in self.constants and old.loss > 0:
            explained = min(max(self.judge(self.constants[new.outputs]).loss / old.loss - 1.0, 0.0), 1.0)
        share = worth(self.numbers(new), self.numbers(simpler))
        surer = policy.SURE_ERRORS * (1.0 + (1.0 - explained) * share / policy.MOST_SHARE)
        return least_gain(better, old, max(errors, surer), explained * share)

    def optimism(self, line: Sequence[Candidate], chosen: Candidate) -> float:
        """By how much the judging rows flatter the candidate that they chose from a line; see `optimism`."""
        verdicts = [self.judge(candidate) for candidate in line]
        return optimism(verdicts, line.index(chosen), lambda new, old: self.least_gain(line[new], line[old]))

    def judge(self, candidate: Candidate, level: int = -1) -> Verdict:
        """The verdict of a round on a candidate."""
        level %= len(self.levels)
        if (candidate, level) not in self._verdicts:
            self.prepare([candidate], level)
            self.remember(candidate, Verdict.of(candidate.outputs, self.residuals(candidate, level)), level)
        return self._verdicts[candidate, level]

    def residuals(self, candidate: Candidate, level: int = -1) -> list[LeaveOneOut]:
        """Residuals of the judging rows of a round, split by split."""
        return [self.splits[at].residuals(self.draft(candidate, at).training) for at in self.levels[level]]

    def remember(self, candidate: Candidate, verdict: Verdict, level: int = -1) -> None:
        """Keep a verdict, and report it."""
        self._verdicts[candidate, level % len(self.levels)] = verdict
        draft = self.draft(candidate, self.levels[level][0])
        self.report(
            f"tried {draft.training.expansion} on {self.n_rows(level)} rows, C {draft.penalty.C:.3g}: "
            f"loss {verdict.loss:.5f}"
        )

    def n_rows(self, level: int = -1) -> int:
        """How many rows learn in a round."""
        return self.splits[self.levels[level][-1]].rest.n_rows

    def _rung(self, candidate: Candidate) -> int:
        """0 for a linear model, 1 for curves, 2 with units."""
        if candidate not in self._rungs:
            start = self.draft(candidate, self.levels[-1][0]).start
            curves = any(part.basis.name != Linear.name for part in start.parts)
            self._rungs[candidate] = 2 if start.n_learnt else int(curves)
        return self._rungs[candidate]

    def basis(self, candidate: Candidate) -> str:
        """The name of the basis of its units that are learnt, "" if there are none."""
        start = self.draft(candidate, self.levels[-1][0]).start
        return next((part.basis.name for part in start.parts if part.basis.learns), "")

    def has_widths(self, candidate: Candidate) -> bool:
        """Whether it has units that could share their widths."""
        parts = self.draft(candidate, self.levels[-1][0]).start.parts
        return any(len(part) > 1 and set(part.basis.widths) - set(part.fixed) for part in parts)

    def numbers(self, candidate: Candidate) -> int:
        """How many numbers a person has to read of the model of the first split that judges."""
        if candidate not in self._numbers:
            self._numbers[candidate] = count_numbers(self.draft(candidate, self.levels[-1][0]).training)
        return self._numbers[candidate]

    # -- for users

    def table(self, chosen: Candidate) -> dict[str, list[object]]:
        """Every trial as columns, in the order in which they were judged."""
        trials = list(self._verdicts)
        drafts = [self._shown(c, level) for c, level in trials]
        return {
            "basis": [draft.start.name for draft in drafts],
            "shape": [c.shape for c, _ in trials],
            "n_units": [draft.start.n_learnt for draft in drafts],
            "n_numbers": [count_numbers(draft.training) for draft in drafts],
            "C": [draft.penalty.C for draft in drafts],
            "pull": [self._pull(c, level) for c, level in trials],
            "n_rows": [self.n_rows(level) for _, level in trials],
            "loss": [verdict.loss for verdict in self._verdicts.values()],
            "seconds": [self._seconds.get(c, 0.0) for c, _ in trials],
            "chosen": [c is chosen and level == self.last for c, level in trials],
        }

    def _shown(self, candidate: Candidate, level: int = -1) -> Draft:
        """The model itself, if it was trained, or that of the first split that judges."""
        known = self._wholes.get(candidate, self._drafts.get((candidate, self.main)))
        return self.draft(candidate, self.levels[level][0]) if known is None else known

    def _pull(self, candidate: Candidate, level: int) -> float:
        """The prior for each row."""
        at = self.levels[level][0]
        prior = self.draft(candidate, at).penalty.prior
        return prior / float(self.splits[at].rest.rows.s.sum()) if self.request.fits_units else float("nan")

    def path(self, candidates: Sequence[Candidate], chosen: Candidate) -> dict[str, list[object]]:
        """Candidates as columns, fewest numbers first: what more numbers bring."""
        drafts = [self._shown(c) for c in candidates]
        verdicts = [self.judge(c) for c in candidates]
        errors = [mean_and_error(v.errors, v.weights, v.copies, v.groups) for v in verdicts]
        return {
            "n_numbers": [count_numbers(draft.training) for draft in drafts],
            "n_units": [draft.start.n_learnt for draft in drafts],
            "n_linear": [len(draft.start) - draft.start.n_learnt for draft in drafts],
            "basis": [draft.start.name for draft in drafts],
            "loss": [verdict.loss for verdict in verdicts],
            "error": [mean for mean, _ in errors],
            "error_std": [error for _, error in errors],
            "chosen": [c is chosen for c in candidates],
        }


def count_numbers(training: Training) -> int:
    """How many numbers a person has to read: those of the units, their weights, and constants."""
    theta, b = training.solution
    units = int(training.expansion.count_numbers().sum()) + training.expansion.count_shared()
    return units + theta.size + b.size


def draft_iterations(request: Request, start: Expansion, begin: Reached | None) -> int | None:
    """Iterations that are enough to compare settings; None where a trainer is not to be stopped."""
    if not request.fits_units:
        return None
    if begin is not None:
        return policy.GOING_ON
    most = max(part.basis.draft_iterations for part in start.parts)
    return max(1, round(request.effort.draft * most))


def joint_iterations(request: Request, start: Expansion, begin: Reached | None) -> int:
    """Iterations of units, theta and b together: fewer if all of them have been there before."""
    anew = begin is None or begin.solution is None
    return refining(request, start) if anew else refining(request, start) // 2


def refining(request: Request, start: Expansion) -> int:
    """The most iterations of units, theta and b together."""
    return round(request.effort.refining * max(part.basis.patience for part in start.parts))
