"""What a trainer is: it moves units so that the model, solved in closed form, gets better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from sklearn.base import BaseEstimator

from sleek.bases.base import Basis, Coordinates, Units
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Solution, solve
from sleek.rows.source import Block, Source


@dataclass(frozen=True)
class Penalty:
    """How strongly the learnt numbers are held: 1/C for theta, `prior` for the units' coordinates.

    The objective is ½‖θ‖²/C + ½ Σ s r² + ½·prior·‖u‖². A prior that suits 1,000 rows suits 100,000 of the
    same kind; a `pull` is the same thing per row, prior = pull·Σs.
    """

    C: float
    prior: float


@dataclass(frozen=True, eq=False)
class Training:
    """What a trainer hands back: units, their closed-form solution, and how it went.

    `coordinates` are the numbers that were fitted to the targets, which leave-one-out has to count; None if
    the units were not fitted by least squares.
    """

    units: Units
    solution: Solution
    n_iter: int
    history: dict[str, list[float]]
    status: str
    converged: bool
    coordinates: Coordinates | None


class Trainer(BaseEstimator, ABC):
    """A training algorithm with its settings."""

    pulls: ClassVar[bool]  # whether units are held by a prior, which then has to be chosen

    @abstractmethod
    def train(
        self,
        source: Source,
        basis: Basis,
        start: Units,
        penalty: Penalty,
        report: Callable[[str], None],
        begin: Units | None = None,
    ) -> Training:
        """Train units that start at `start`; `report` takes a line of progress.

        `begin` are units that a draft with the same start has reached, for algorithms that can go on from
        there.
        """

    @abstractmethod
    def draft(self, basis: Basis, goes_on: bool = False) -> Trainer:
        """The trainer with which settings are tried out: the same, or a shorter one.

        Shorter still, if it goes on from units that a draft with similar settings has reached.
        """

    @abstractmethod
    def stage(self) -> Trainer:
        """The trainer for samples that may still grow: the same, or a less exact one."""

    @abstractmethod
    def fixed_pull(self) -> float | None:
        """The pull that the user has set; None if it is to be chosen or the trainer has none."""

    @abstractmethod
    def growth_factor(self) -> float | None:
        """How much the sample on which units are learnt grows at a time; None to learn them on all rows."""


def unit_moments(source: Source, basis: Basis, units: Units) -> Moments:
    """The moments of the unit values and the targets: one pass over the rows."""

    def task(block: Block) -> Moments:
        return Moments.of(basis.features(block.X, units), block.T, block.s)

    return source.map_reduce(task)


def fit_output(source: Source, basis: Basis, units: Units, C: float) -> Solution:
    """The closed-form theta and b for fixed units."""
    return solve(unit_moments(source, basis, units), C)
