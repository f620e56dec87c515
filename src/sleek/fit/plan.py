"""One plan for a fit, decided once from sizes, printed, and obeyed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.base import Basis
from sleek.bases.constraints import OnFeatures
from sleek.fit import policy
from sleek.outputs.loss import SQUARED
from sleek.trainers.base import Trainer


@dataclass(frozen=True, eq=False)
class Request:
    """What the user has fixed; None is to be chosen."""

    bases: tuple[Basis, ...]  # more than one: to be chosen from
    trainer: Trainer
    n_units: int | None
    C: float | None
    pull: float | None  # per row; None also where the trainer has none
    shape: float | None
    centers: FloatArray | None  # raw units
    at_leaves: bool  # bases that can start at leaves of trees do
    standardize: bool
    max_samples: int | str | None  # "auto", None for all rows, or at most so many
    max_units: int | None  # the most that n_units="auto" may come to
    max_numbers: int | None = None  # the most that a person wants to read
    loss: str | None = None  # by its name
    effort: policy.Effort = policy.EFFORTS["normal"]
    constraints: OnFeatures | None = None
    cv: Any = None  # folds, "last", a splitter, or pairs of rows

    @property
    def signs(self) -> tuple[int, ...] | None:
        """The features in which outputs must be monotone; see `OnFeatures`."""
        return None if self.constraints is None else self.constraints.signs

    def scaled(self, scale: float) -> Request:
        """The same request for weights that were divided by `scale`: a fixed C stands for C·weight."""
        return self if self.C is None or scale == 1.0 else replace(self, C=self.C * scale)

    def shapes_to_try(self, shapes: tuple[float, ...]) -> tuple[float, ...]:
        """All of the shapes of a basis, or the middle one."""
        return shapes if self.effort.all_shapes else shapes[len(shapes) // 2 :][:1]

    @property
    def fits_units(self) -> bool:
        """Whether units are fitted by least squares under a prior, so that recipes may stop and continue."""
        return self.trainer.pull is not None

    def refines(self, n_observations: float) -> bool:
        """Whether the refining loss is tried: of few rows it has to be asked for."""
        enough = n_observations >= policy.LOG_ODDS_ROWS or self.loss is not None
        return self.fits_units and self.loss != SQUARED.name and enough

    @property
    def most_units(self) -> int:
        """The most units that a size left open may come to."""
        return self.effort.most_units if self.max_units is None else self.max_units

    @property
    def fixes_size(self) -> bool:
        """Whether the user has fixed the number of units."""
        return self.n_units is not None or self.centers is not None

    @property
    def fixes_penalties(self) -> bool:
        """Whether the user has fixed the penalties."""
        return self.C is not None and (self.pull is not None or not self.fits_units)

    @property
    def fixes_shape(self) -> bool:
        """Whether there is one basis and one start shape to try."""
        shapes = self.bases[0].leaf_shapes if self.at_leaves else ()
        only = len(self.shapes_to_try(shapes or self.bases[0].auto_shapes)) == 1
        return len(self.bases) == 1 and (self.shape is not None or only)

    @property
    def is_open(self) -> bool:
        """Whether the kind of the model is left open: then the ladder is climbed from its lowest rung."""
        return len(self.bases) > 1 and not self.fixes_size and self.shape is None and self.fits_units

    @property
    def fixes_everything(self) -> bool:
        """Whether there is nothing to choose."""
        return self.fixes_size and self.fixes_penalties and self.fixes_shape


@dataclass(frozen=True, eq=False)
class Judging:
    """Which rows judge, as far as the user has said so, in numbers of rows of positive weight.

    Attributes
    ----------
    n_folds : int or None
        How many folds rows are dealt to; None: the plan decides.
    splits : tuple of pairs of arrays, or None
        Rows to learn from, and rows to judge by.
    last : bool
        Whether the last rows judge.
    together : int
        How many rows the largest group has; 1: there are no groups.
    n_groups : int
        How many groups there are; 0: none.
    """

    n_folds: int | None = None
    splits: tuple[tuple[IntArray, IntArray], ...] | None = None
    last: bool = False
    together: int = 1
    n_groups: int = 0

    @property
    def by_folds(self) -> bool:
        """Whether folds judge, however many rows there are."""
        return self.n_folds is not None or self.splits is not None

    @property
    def few_groups(self) -> bool:
        """Whether groups are too few for a third of them to choose and to judge."""
        return 0 < self.n_groups < policy.RACE_ROWS

    @property
    def ordered(self) -> bool:
        """Whether the order of the rows says something."""
        return self.last or self.splits is not None

    @property
    def open(self) -> bool:
        """Whether any row may judge any other: leaving out one at a time is enough."""
        return self.n_groups == 0 and not self.by_folds and not self.last


ANY_ROWS = Judging()


@dataclass(frozen=True)
class Plan:
    """How rows are used: on which settings are chosen, by which they are judged, on which units are learnt.

    >>> from sleek import GaussianRBF, VariableProjection
    >>> trainer, free = VariableProjection(), (None,) * 5
    >>> request = Request((GaussianRBF(),), trainer, *free, True, True, "auto", None)
    >>> print(Plan.of(500, 28, request))
    500 rows, all of them used in every step of training
    >>> print(Plan.of(1_000_000, 28, request))
    1000000 rows: at most 6 passes over all of them
    """

    n_rows: int
    canonical: bool  # rows are sorted and repeats merged before anything else
    heats: tuple[int, ...]  # rows of each round of a race; none: folds judge
    n_tried: int  # rows on which settings are chosen in the end
    n_held: int  # rows held out to judge
    n_sampled: int  # rows drawn while the features are looked at
    stages: tuple[int, ...]  # rows that units are learnt on, one after the other; none: on all rows at once
    everything: bool  # in the end units are learnt on all rows, those held out among them

    @classmethod
    def of(
        cls,
        n_rows: int,
        n_features: int,
        request: Request,
        judging: Judging = ANY_ROWS,
    ) -> Plan:
        """The plan for data of this size."""
        unlimited = request.max_samples is None
        many = n_rows >= policy.RACE_ROWS and not (request.fixes_everything and unlimited)
        dealt = judging.by_folds or (judging.few_groups and n_rows <= policy.SELECTION_ROWS)
        races = judging.last or (request.fits_units and many and not dealt)
        sizes = heat_sizes(n_rows, request.effort)
        held = n_held_out(n_rows, request.effort) if races else 0
        heats = tuple(min(size, n_rows - held) for size in sizes) if races else ()
        limit = stage_limit(n_features)
        if isinstance(request.max_samples, int):
            limit = min(limit, request.max_samples)
        if races:
            tried = heats[-1]
            everything = unlimited or (n_rows < policy.EVERY_ROW_COUNTS and limit >= n_rows)
            done = unlimited or (everything and tried == n_rows - held)  # but for the rows held out
            stages = () if done else _stages(tried, min(limit, n_rows - held))
        else:
            tried = min(n_rows, policy.SELECTION_ROWS)
            bounded = request.fits_units and not unlimited and limit < n_rows
            stages, everything = ((limit,) if bounded else ()), not bounded
        return cls(
            n_rows=n_rows,
            canonical=n_rows <= policy.CANONICAL_ROWS,
            heats=heats,
            n_tried=tried,
            n_held=held,
            n_sampled=max([tried, *stages[:1]]) if races else tried,
            stages=stages,
            everything=everything,
        )

    @property
    def races(self) -> bool:
        """Whether settings are judged by rows held out."""
        return self.n_held > 0

    def __str__(self) -> str:
        if not self.stages:
            return f"{self.n_rows} rows, all of them used in every step of training"
        passes = 3 + len(self.stages) + self.everything
        return f"{self.n_rows} rows: at most {passes} passes over all of them"


def heat_sizes(n_rows: int, effort: policy.Effort) -> tuple[int, int]:
    """The rows of both heats of a race. The last heat grows with the rows.

    >>> heat_sizes(1_000_000, policy.EFFORTS["normal"]), heat_sizes(3_000_000, policy.EFFORTS["normal"])
    ((2048, 8192), (2048, 23437))
    """
    first, last = effort.heats
    return first, max(last, min(n_rows // policy.ROWS_PER_TRIED, policy.MOST_TRIED))


def n_held_out(n_rows: int, effort: policy.Effort) -> int:
    """How many rows are held out to judge: a third, and no more than learn in the last heat.

    >>> n_held_out(999, policy.EFFORTS["normal"]), n_held_out(100_000, policy.EFFORTS["normal"])
    (333, 8192)
    """
    return min(max(1, round(n_rows / policy.FOLDS)), heat_sizes(n_rows, effort)[-1])


def stage_limit(n_features: int) -> int:
    """The most rows that units are learnt on.

    >>> stage_limit(28)
    149796
    """
    return max(policy.MOST_BYTES // (8 * n_features), policy.EFFORTS["normal"].heats[-1])


def _stages(first: int, limit: int) -> tuple[int, ...]:
    """The sizes of samples that grow from `first` to `limit`.

    >>> _stages(8192, 149796)
    (32768, 131072, 149796)
    """
    sizes, size = [], first
    while size < limit:
        size = min(int(size * policy.GROWTH), limit)
        sizes.append(size)
    return tuple(sizes) or (limit,)


def auto_units(n_outputs: int, n_rows: float) -> int:
    """The number of units to begin with, if n_units="auto".

    >>> auto_units(1, 1000), auto_units(8, 9000), auto_units(26, 9000), auto_units(1, 100)
    (30, 80, 100, 20)
    """
    enough = max(1, round(n_rows) // policy.ROWS_PER_UNIT)
    most = policy.MOST_AUTO_UNITS
    return min(enough, int(np.clip(policy.UNITS_PER_OUTPUT * n_outputs, policy.AUTO_UNITS, most)))
