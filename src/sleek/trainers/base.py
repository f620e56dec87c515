"""`Trainer`, the interface of algorithms that optimise the parameters of units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sleek._runtime.parameters import Parameters
from sleek._runtime.types import IntArray
from sleek.bases.expansion import Expansion, ExpansionCoordinates
from sleek.closed_form.solve import Penalty, Solution
from sleek.rows.source import Source


def silent(line: str) -> None:
    """A report that discards its messages."""


@dataclass(frozen=True, eq=False)
class Reached:
    """Units to continue training from, and their theta and b if these are known."""

    expansion: Expansion
    solution: Solution | None = None

    def plus(self, more: Expansion) -> Reached:
        """With more units, which weigh nothing yet."""
        both = self.expansion.plus(more)
        if self.solution is None:
            return Reached(both)
        theta = np.zeros((len(both), self.solution.theta.shape[1]))
        theta[both.first(self.expansion)] = self.solution.theta
        return Reached(both, Solution(theta, self.solution.b))

    def take(self, kept: IntArray) -> Reached:
        """Some of the units."""
        solution = self.solution
        if solution is not None:
            solution = Solution(solution.theta[kept], solution.b)
        return Reached(self.expansion.take(kept), solution)


class Limit(NamedTuple):
    """Iterations at most; None: as many as the trainer likes.

    Where theta and b have no closed form they move together with the units (`joint`): another kind of
    iteration, of which stopping early is a part of what keeps a model from overfitting.
    """

    closed: int | None = None
    joint: int | None = None


NO_LIMIT = Limit()


@dataclass(frozen=True, eq=False)
class Problem:
    """What a trainer is given.

    Attributes
    ----------
    source : Source
        The rows, scaled, with encoded targets.
    start : Expansion
        The units at their start, which a pull may draw them to.
    penalty : Penalty
    begin : Reached or None
        What training with the same start has reached, to go on from; None: begin at the start.
    limit : Limit
        Iterations after which to stop although the trainer would go on.
    slack : float
        How many times its own tolerance is exact enough.
    report : callable
        Takes a line of progress.
    """

    source: Source
    start: Expansion
    penalty: Penalty
    begin: Reached | None = None
    limit: Limit = NO_LIMIT
    slack: float = 1.0
    report: Callable[[str], None] = silent


NO_UNITS = "A linear model: the features have weights, and there are no units to learn."


@dataclass(frozen=True, eq=False)
class Training:
    """What a trainer hands back: units, their closed-form solution, and how it went.

    `coordinates` are the numbers that were fitted to the targets, which leave-one-out has to count; None if
    the units were not fitted by least squares.
    """

    expansion: Expansion
    solution: Solution
    n_iter: int
    history: dict[str, list[float]]
    status: str
    converged: bool
    coordinates: ExpansionCoordinates | None

    @property
    def reached(self) -> Reached:
        """Where it got to."""
        return Reached(self.expansion, self.solution)

    def take(self, kept: IntArray) -> Training:
        """Some of the units, as they are: training can go on from there."""
        reached = self.reached.take(kept)
        assert reached.solution is not None
        return replace(self, expansion=reached.expansion, solution=reached.solution, coordinates=None)


class Trainer(Parameters, ABC):
    """A training algorithm with its settings.

    Attributes
    ----------
    pull : float, "loo" or None
        How strongly, per row, units are drawn to their start; "loo" leaves it to be chosen. None declares
        that the algorithm does not fit units by least squares under such a prior: then it runs as it is, on
        all rows, and is never stopped early or continued.
    """

    pull: float | str | None = None

    @abstractmethod
    def train(self, problem: Problem) -> Training:
        """Train the units of a problem."""
