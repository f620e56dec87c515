"""The lower rungs of the ladder: models of single features, solved in closed form.

A dictionary has a unit for every feature (`Linear`), or ramps of all features (`Curves`). Of each, forward
selection gives models of a few pieces: with the moments of all pieces, that which lowers the least squares
objective most comes next, O(size²·pieces) in all. What each size loses at every regularisation strength on
the judging rows comes from one eigendecomposition a size and split.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sleek._runtime.memo import ByArray
from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.base import Basis
from sleek.bases.constraints import breaks, unit_signs
from sleek.bases.curves import Curves
from sleek.bases.expansion import Expansion
from sleek.bases.linear import Linear
from sleek.closed_form.leave_one_out import LeaveOneOut
from sleek.closed_form.moments import Moments
from sleek.closed_form.ridge_path import RidgePath
from sleek.closed_form.solve import Penalty, Solution, solve
from sleek.fit import policy
from sleek.fit.judge import Split, Verdict
from sleek.fit.trials import Beginning, Candidate, Draft, Trials
from sleek.outputs.base import Outputs
from sleek.rows.sample import Sample
from sleek.rows.source import Block
from sleek.trainers.base import NO_UNITS, Training


@dataclass(frozen=True, eq=False)
class Pieces:
    """The units of a dictionary for some rows, in the order in which forward selection takes them."""

    expansion: Expansion
    order: IntArray
    moments: Moments  # of the rows that the order comes from, and of their targets

    def take(self, size: int) -> Expansion:
        """The first of them, or all."""
        return self.expansion.take(np.sort(self.order[:size])) if size < len(self.order) else self.expansion


class Dictionary:
    """Pieces of single features, found anew on the rows of every split.

    They come in the order of forward selection on the targets, or on what `whole`, all pieces at a strength
    C, makes of them. That is smooth: what comes closest to it are corners where curves bend, and what comes
    closest to the targets are corners where noise has some. (78 sets, the second beside the first: 1.003 ±
    0.002 of the errors with 0.93 of the numbers.)
    """

    def __init__(
        self,
        basis: Basis,
        strength: float,
        signs: tuple[int, ...] | None,
        whole: tuple[Dictionary, float] | None = None,
    ) -> None:
        self.basis, self.strength, self.signs, self.whole = basis, strength, signs, whole
        self._found: ByArray[Pieces] = ByArray()

    def following(self, C: float) -> Dictionary:
        """The same pieces, those first that say most of what all of them say at a strength."""
        return Dictionary(self.basis, self.strength, self.signs, (self, C))

    def of(self, rows: Sample) -> Pieces:
        """The pieces for these rows, remembered."""
        return self._found.of(rows.rows.X, lambda: self._select(rows))

    def _select(self, rows: Sample) -> Pieces:
        if self.whole is None:
            few = rows.smallest(policy.SELECTION_ROWS).rows
            expansion = self._start(rows, few)
            moments = targets = Moments.of(expansion.features(few.X), few.T, few.s)
        else:
            everything, C = self.whole
            pieces = everything.of(rows)
            expansion, moments = pieces.expansion, pieces.moments
            theta, _ = solve(moments, C, unit_signs(expansion, self.signs))
            targets = replace(moments, R=moments.G @ theta)
        sizes = [size for size in policy.PIECES if size < len(expansion)]
        signs = unit_signs(expansion, self.signs)
        order = forward_selection(targets, 1.0 / self.strength, max(sizes, default=0), signs)
        rest = np.setdiff1d(np.arange(len(expansion)), order)
        return Pieces(expansion, np.concatenate([order, rest]), moments)

    def _start(self, rows: Sample, few: Block) -> Expansion:
        """All pieces; of many features those that say most by themselves have some."""
        block = rows.rows
        linear = self.basis.name == Linear.name
        n_features = policy.MOST_PIECES // (1 if linear else policy.RAMPS_PER_FEATURE)
        X = block.X
        if X.shape[1] > n_features:
            best = np.argsort(-_single_gains(few.X, few.T, few.s), kind="stable")[:n_features]
            X = np.zeros_like(block.X)
            X[:, best] = block.X[:, best]
        return Expansion.of(self.basis, self.basis.start_per_feature(X, block.copies, policy.MOST_PIECES))

    def change(self, size: int) -> Callable[[Sample, Draft | None], Beginning]:
        """A model of so many pieces."""
        return lambda rows, _: Beginning(self.of(rows).take(size))


def simple_models(trials: Trials, outputs: Outputs) -> list[Candidate]:
    """A constant, linear models and curves of every size, each at its best strength.

    A constant is one linear feature whose weight is as good as 0. Pieces of curves are taken by the targets,
    and by what all of them say together.
    """
    linear, curves = (
        Dictionary(basis, policy.STRENGTH_STEP**policy.CURVE_STEP, trials.request.signs)
        for basis in (Linear(), Curves())
    )
    constant = trials.constants[outputs] = Candidate(linear.change(1), policy.CONSTANT_STEP, outputs)
    found = [constant, *_sizes(trials, linear, _paths(trials, linear, outputs))]
    paths = _paths(trials, curves, outputs)
    found += _sizes(trials, curves, paths)
    smooth = curves.following(policy.STRENGTH_STEP ** -found[-1].step)
    again = [replace(path, pieces=smooth.of(path.split.rest)) for path in paths]
    return [*found, *_sizes(trials, smooth, again, whole=False)]


def _paths(trials: Trials, dictionary: Dictionary, outputs: Outputs) -> list[_Paths]:
    """The pieces on the rows of every split that judges."""
    splits = [replace(trials.splits[at], rest=trials.rows(at, outputs)) for at in trials.levels[-1]]
    return [_Paths.of(split, dictionary.of(split.rest), dictionary.signs) for split in splits]


def _sizes(
    trials: Trials, dictionary: Dictionary, paths: Sequence[_Paths], whole: bool = True
) -> list[Candidate]:
    """Models of every size, and of all pieces, if they are wanted `whole`."""
    least = min(len(path.pieces.order) for path in paths)
    outputs = paths[0].split.rest.outputs
    found = []
    for size in [*(size for size in policy.PIECES if size < least), *([least] if whole else [])]:
        sized = [path.take(size if size < least else None) for path in paths]
        judged = [one.residuals() for one in sized]
        verdicts = [Verdict.of(outputs, [paths[i] for paths in judged]) for i in range(len(judged[0]))]
        best = int(np.argmin([verdict.loss for verdict in verdicts]))
        change = dictionary.change(size if size < least else policy.MOST_PIECES)
        candidate = Candidate(change, STEPS[best], outputs)
        for at, one in zip(trials.levels[-1], sized, strict=True):
            trials.keep(candidate, at, one.draft(trials.penalty(STEPS[best], one.split.rest)))
        trials.remember(candidate, verdicts[best])
        found.append(candidate)
    return found


STEPS = tuple(policy.CURVE_STEPS)


@dataclass(frozen=True, eq=False)
class _Paths:
    """What models of pieces come to on the rows of a split: sums over rows are made once for all sizes."""

    split: Split
    pieces: Pieces
    Phi: FloatArray  # (n, m) of all pieces
    out: FloatArray  # (n_out, m)
    moments: Moments | None  # None: there are more pieces than rows
    signs: IntArray | None  # that weights must have

    @classmethod
    def of(cls, split: Split, pieces: Pieces, signs: tuple[int, ...] | None) -> _Paths:
        rows, moments = split.rest.rows, None
        Phi = pieces.expansion.features(np.asfortranarray(rows.X))  # columns, of which some are taken
        if Phi.shape[1] <= len(Phi):
            few = len(rows) <= policy.SELECTION_ROWS
            moments = pieces.moments if few else Moments.of(Phi, rows.T, rows.s)
        out = pieces.expansion.features(np.asfortranarray(split.judging.rows.X))
        own = unit_signs(pieces.expansion, signs)
        return cls(split, pieces, Phi, out, moments, own)

    def take(self, size: int | None) -> _Sized:
        """A model of so many pieces, or of all, at every strength."""
        rows, order = self.split.rest.rows, self.pieces.order
        at = np.arange(len(order)) if size is None else np.sort(order[:size])
        expansion, out = self.pieces.expansion.take(at), self.out.T[at].T
        if self.signs is None and self.moments is None:
            path = RidgePath.of_rows(self.Phi[:, at], rows.T, rows.s)
            return _Sized(self.split, expansion, out, path.solution, path)
        moments = (
            Moments.of(self.Phi[:, at], rows.T, rows.s) if self.moments is None else self.moments.units(at)
        )
        if self.signs is None and size is not None:
            path = RidgePath.of_moments(moments)
            return _Sized(self.split, expansion, out, path.solution, path)
        signs = None if self.signs is None else self.signs[at]  # hundreds of pieces: quicker one by one
        return _Sized(self.split, expansion, out, lambda C: solve(moments, C, signs), None)


@dataclass(frozen=True, eq=False)
class _Sized:
    """A model of some pieces on the rows of a split."""

    split: Split
    expansion: Expansion
    out: FloatArray  # (n_out, m) their values at the judging rows
    solution: Callable[[float], Solution]  # of a strength
    path: RidgePath | None  # None: each strength is solved for by itself

    def residuals(self) -> list[LeaveOneOut]:
        """Residuals of the judging rows at every strength."""
        out = self.split.judging.rows
        strengths = [policy.STRENGTH_STEP**-step for step in STEPS]
        if self.path is not None:
            found = list(self.path.outputs(self.out, strengths))
        else:
            found = [self.out @ theta + b for theta, b in map(self.solution, strengths)]
        return [LeaveOneOut(out.T, out.T - Y, out.s, out.copies, out.groups) for Y in found]

    def draft(self, penalty: Penalty) -> Draft:
        """What training would come to, of which there is nothing left to do."""
        coordinates = self.expansion.coordinates(penalty.signs)
        solution = self.solution(penalty.C)
        training = Training(self.expansion, solution, 0, {"objective": []}, NO_UNITS, True, coordinates)
        return Draft(self.expansion, training, penalty)


def _single_gains(Phi: FloatArray, T: FloatArray, s: FloatArray) -> FloatArray:
    """What each piece alone takes off the squared error."""
    mean, weight = s @ Phi / s.sum(), s.sum()
    R = Phi.T @ (s[:, None] * (T - s @ T / weight))
    squares = s @ Phi**2 - weight * mean**2
    gains: FloatArray = np.sum(R**2, axis=1) / np.maximum(squares, 1e-12)
    return gains


def forward_selection(moments: Moments, C: float, size: int, signs: IntArray | None = None) -> IntArray:
    """The pieces that lower ½‖θ‖²/C + ½ Σ s (t - Φθ - b)² most, one after the other.

    With A = G + I/C and what is left of R and of A's diagonal after elimination of the pieces taken so far,
    piece j lowers the minimum by ½ Σ_k R_jk²/A_jj: the pivots of a Cholesky decomposition, chosen greedily.
    A piece whose weight would not have the sign that it must have (`signs`) is not taken.

    >>> Phi = np.array([[0.0, 1.0, 0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 0.1], [1.0, 1.0, 0.0]])
    >>> forward_selection(Moments.of(Phi, Phi @ np.array([[1.0], [2.0], [0.1]]), np.ones(4)), 1e3, 2)
    array([1, 0])
    """
    G, left, m = moments.G, moments.R.copy(), len(moments.G)
    diagonal = G.diagonal() + 1.0 / C
    least = 1e-12 * float(diagonal.max(initial=0.0))
    rows = np.zeros((min(size, m), m))
    taken: list[int] = []
    free = np.ones(m, dtype=bool)
    for i in range(len(rows)):
        gains = np.sum(left**2, axis=1) / np.maximum(diagonal, least)
        gains[~free | (diagonal <= least)] = -1.0
        if signs is not None:
            gains[breaks(left[:, 0], signs)] = -1.0
        j = int(np.argmax(gains))
        if gains[j] <= 0.0:
            break
        root = np.sqrt(diagonal[j])
        row = (G[j] - rows[:i, j] @ rows[:i]) / root
        row[j] = root
        left -= np.outer(row, left[j] / root)
        diagonal = diagonal - row**2
        rows[i], free[j] = row, False
        taken.append(j)
    return np.array(taken, dtype=np.int64)
