"""What a trainer is: it moves units so that the model, solved in closed form, gets better."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from sklearn.base import BaseEstimator

from sleek.bases.base import Basis, Units
from sleek.moments import Moments
from sleek.solve import Solution, solve
from sleek.sources import Block, Source


@dataclass(frozen=True, eq=False)
class Training:
    """What a trainer hands back: units, their closed-form solution, and how it went."""

    units: Units
    solution: Solution
    n_iter: int
    history: dict[str, list[float]]


class Trainer(BaseEstimator, ABC):
    """A training algorithm with its settings."""

    @abstractmethod
    def train(
        self, source: Source, basis: Basis, units: Units, C: float, report: Callable[[str], None]
    ) -> Training:
        """Train `units` from where they are; `report` takes a line of progress."""


def fit_output(source: Source, basis: Basis, units: Units, C: float) -> Solution:
    """The closed-form theta and b for fixed units: one pass over the rows."""

    def task(block: Block) -> Moments:
        return Moments.of(basis.features(block.X, units), block.T, block.s)

    return solve(source.map_reduce(task), C)
