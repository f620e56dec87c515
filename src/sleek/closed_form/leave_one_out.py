"""Whole-model leave-one-out: what the errors would be on rows that took no part in the fit.

For fixed units the leave-one-out residual of row n is r_n/(1 - h_n) with the leverage h_n of ridge
regression. That is blind to what the units have learnt, and picks overfitted models. Here *all* learnt
numbers count: the model is linearised in θ, b and the coordinates u of the units, with penalties ½‖θ‖²/C
and ½·prior·‖u‖². This linear problem has its optimum one Gauss-Newton step away, with residuals r⁺, and
there leaving a row out is exact: r⁺_n/(1 - h_n). (Training stops before its optimum, and without the step
the leverage of all that it could still have learnt would be charged to a model that has not learnt it.) A
row whose residual the step shrinks keeps the one it has: a linear model may promise what the real one does
not hold.

Letters: Φ (n, m) and D = ∂φ/∂u (n, p) weighted-centred, S the weights, J = D∘θ with θ spread over the numbers
of each unit, A₁ = ΦᵀSΦ + I/C = LLᵀ. Eliminating θ leaves, for the numbers of the units,

    A = (DᵀSD - DᵀSΦ A₁⁻¹ ΦᵀSD)∘(θθᵀ) + prior·I,    step = -A⁻¹(prior·u - JᵀSr),
    r⁺ = r - Q·step,    h_n = 1/Σs + ‖L⁻¹Φ_n‖² + Q_n A⁻¹ Q_nᵀ,    Q = (D - Φ A₁⁻¹ ΦᵀSD)∘θ.

Everything but r⁺ and h comes from the moments of [Φ, D]: sums over rows, then one more pass. K outputs cost
as much as one: they share D, and their A add up to (…)∘(Σ_k θ_kθ_kᵀ); the leverage is taken in the
direction of the row's residual vector, which is exact for one output.

Where one output has more learnt numbers than rows, the same solution is found in the space of the rows. Where
either would take more than `MAX_COST` operations, five folds are refitted instead: slower to converge on the
truth, but never much slower than training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.base import Basis, Coordinates, Units
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import solve
from sleek.rows.sample import Sample
from sleek.rows.source import Block, Source
from sleek.trainers.base import Penalty, Trainer

MAX_COST = 1e10
FOLDS = 5
MAX_LEVERAGE = 0.999
PIECE = 2**21  # numbers of D held at a time


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Leave-one-out residuals of every row and output, and what is needed to judge them."""

    T: FloatArray  # (n, k)
    residuals: FloatArray  # (n, k)
    s: FloatArray  # (n,)

    @property
    def outputs(self) -> FloatArray:
        """What the model would have said of each row without it."""
        return self.T - self.residuals

    def __add__(self, other: LeaveOneOut) -> LeaveOneOut:
        return LeaveOneOut(
            np.concatenate([self.T, other.T]),
            np.concatenate([self.residuals, other.residuals]),
            np.concatenate([self.s, other.s]),
        )


@dataclass(frozen=True, eq=False)
class TrainedUnits:
    """Units with the coordinates and the penalty they were trained under.

    Without coordinates only theta and b count as learnt.
    """

    basis: Basis
    units: Units
    penalty: Penalty
    coordinates: Coordinates | None

    def features(self, X: FloatArray) -> FloatArray:
        """Phi (n, m)."""
        return self.basis.features(X, self.units)

    def derivatives(self, X: FloatArray, Phi: FloatArray) -> FloatArray:
        """D (n, p): ∂φ_j(x_n)/∂u for every coordinate, each belonging to the unit that `owners` names."""
        if self.coordinates is None:
            return np.empty((len(X), 0))
        scale, jacobian = self.coordinates.scale, self.basis.jacobian(X, self.units, Phi)
        return np.concatenate(
            [(array * scale[name]).reshape(len(X), -1) for name, array in jacobian.arrays.items()], axis=1
        )

    @property
    def owners(self) -> AnyArray:
        """(p,) the number of the unit that each column of `derivatives` belongs to."""
        if self.coordinates is None:
            return np.empty(0, dtype=np.int64)
        return np.concatenate(
            [np.repeat(np.arange(len(array)), array[0].size) for array in self.units.arrays.values()]
        )

    @property
    def u(self) -> FloatArray:
        """(p,) the coordinates."""
        return np.empty(0) if self.coordinates is None else self.coordinates.vector(self.units)


def leave_one_out(
    sample: Sample, trained: TrainedUnits, start: Units, trainer: Trainer, weight: float | None = None
) -> LeaveOneOut:
    """Honest residuals of a model that `trainer` has trained from `start` on `sample`.

    By `whole_model_loo`, or by refitting five folds where that would be slower. If the model was trained on
    more rows than the sample has, `weight` is their total weight, which lowers the leverage of each; folds
    are refitted to the sample alone all the same, and err on the dark side.
    """
    if cost(trained, sample.n_rows, sample.coding.n_outputs) <= MAX_COST:
        return whole_model_loo(sample if weight is None else sample.with_weight(weight), trained)
    folds, rows = refit_folds(sample, trained.basis, start, trained.penalty, trainer)
    residuals = np.zeros_like(sample.rows.T)
    np.add.at(residuals, rows, folds.residuals * folds.s[:, None])
    return LeaveOneOut(sample.rows.T, residuals / sample.rows.s[:, None], sample.rows.s)


def fresh_rows(sample: Sample, trained: TrainedUnits, moments: Moments) -> LeaveOneOut:
    """Honest residuals of rows on which the units were not learnt, but theta and b were, with these moments.

    Of the formulas above only h_n = 1/Σs + ‖L⁻¹Φ_n‖² is left: exact leave-one-out for fixed units.
    """
    theta, b = solve(moments, trained.penalty.C)
    L = _factor(moments.G, 1.0 / trained.penalty.C)

    def residuals(block: Block) -> LeaveOneOut:
        Phi = trained.features(block.X)
        r = block.T - Phi @ theta - b
        V = solve_triangular(L, (Phi - moments.mean_phi).T, lower=True, check_finite=False)  # (m, n)
        return _finish(block, r, r, np.einsum("mn,mn->n", V, V), moments.weight, sample.n_rows)

    return sample.map_reduce(residuals)


def refit_folds(
    sample: Sample, basis: Basis, start: Units, penalty: Penalty, trainer: Trainer
) -> tuple[LeaveOneOut, IntArray]:
    """Residuals from models that were trained, from `start`, without a fifth of the sample each.

    A row of weight 2 is dealt to the folds as two rows, so it may appear in several of them: the second
    result says which row of the sample each residual belongs to.
    """
    held_out = deal(sample.rows.s)  # (folds, n) weights
    parts, rows = [], []
    for held in held_out:
        rest, out = np.flatnonzero(sample.rows.s - held > 0), np.flatnonzero(held)
        if len(rest) == 0 or len(out) == 0:
            continue
        train = sample.take(rest, sample.rows.s[rest] - held[rest])
        again = trainer.train(train, basis, start, penalty, lambda line: None)
        T, Phi = sample.rows.T[out], basis.features(sample.rows.X[out], again.units)
        parts.append(LeaveOneOut(T, T - Phi @ again.solution.theta - again.solution.b, held[out]))
        rows.append(out)
    return sum(parts[1:], start=parts[0]), np.concatenate(rows)


def deal(s: FloatArray) -> FloatArray:
    """Weights dealt to `FOLDS` hands in random order, a copy of weight about 1 at a time: (folds, n).

    >>> deal(np.array([1.0, 12.0])).sum(axis=0)
    array([ 1., 12.])
    """
    copies = np.maximum(1, np.floor(s)).astype(np.int64)
    order = np.random.default_rng(0).permutation(len(s))
    first = np.empty(len(s), dtype=np.int64)
    first[order] = np.cumsum(copies[order]) - copies[order]
    # how many of the numbers first … first+copies-1 leave the remainder that is the hand's
    hands = np.arange(FOLDS)[:, None]
    count = (first + copies - 1 - hands) // FOLDS - (first - 1 - hands) // FOLDS
    return count * (s / copies)


def cost(trained: TrainedUnits, n_rows: int, n_outputs: int) -> float:
    """Multiplications that `whole_model_loo` takes."""
    p = len(trained.owners)
    by_rows = n_rows**2 * (p + n_rows)
    by_numbers = p**2 * (2 * n_rows + p / 3)
    return by_rows if n_outputs == 1 and p > n_rows else by_numbers


def whole_model_loo(source: Source, trained: TrainedUnits) -> LeaveOneOut:
    """Leave-one-out residuals of a trained model in closed form.

    O(rows·p·min(rows, p)) time and O(min(rows, p)²) memory for p learnt numbers. A row of weight 2 counts
    as two rows, one of which is left out; if weights are below 1 on average, the mean weight counts as one
    row.
    """
    p = len(trained.owners)
    if source.coding.n_outputs == 1 and p > source.n_rows:
        return _in_row_space(source.map_reduce(lambda block: [block]), trained)
    return source.map_reduce(_InNumberSpace(source, trained).residuals)


def _finish(
    block: Block, r: FloatArray, r_plus: FloatArray, h: FloatArray, weight: float, n_rows: int
) -> LeaveOneOut:
    """The larger of r and r⁺, divided by 1 - h, where h still lacks the intercept's share."""
    larger = np.linalg.norm(r, axis=1) > np.linalg.norm(r_plus, axis=1)
    observation = min(1.0, weight / n_rows)
    h = np.minimum(observation * (h + 1.0 / weight), MAX_LEVERAGE)
    return LeaveOneOut(block.T, np.where(larger[:, None], r, r_plus) / (1.0 - h)[:, None], block.s)


def _in_row_space(blocks: list[Block], trained: TrainedUnits) -> LeaveOneOut:
    """One output, more learnt numbers than rows: with K = C·ΦΦᵀ + JJᵀ/prior and α = (K + S⁻¹)⁻¹(t - t̄ + Ju),

    r⁺ = S⁻¹α and h = s⁻¹ - s⁻²·diag (K + S⁻¹)⁻¹.
    """
    X, T, s = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("X", "T", "s"))
    weight, penalty = float(s.sum()), trained.penalty
    Phi = trained.features(X)
    theta, b = solve(Moments.of(Phi, T, s), penalty.C)
    r = T - Phi @ theta - b
    J = trained.derivatives(X, Phi)
    J *= theta[trained.owners, 0]
    J -= s @ J / weight
    Phi -= s @ Phi / weight
    K = J @ J.T
    K /= penalty.prior
    K += penalty.C * (Phi @ Phi.T)
    K[np.diag_indices_from(K)] += 1.0 / s
    factor = cho_factor(K, lower=True, overwrite_a=True)
    alpha = cho_solve(factor, T - s @ T / weight + (J @ trained.u)[:, None])
    inverse, _ = dpotri(factor[0], lower=1)
    h = 1.0 / s - np.diag(inverse) / s**2
    return _finish(Block(0, X, T, s), r, alpha / s[:, None], h, weight, len(X))


class _InNumberSpace:
    """The factorised matrices of the module's formulas, and the pass that uses them."""

    def __init__(self, source: Source, trained: TrainedUnits) -> None:
        self.trained, self.n_rows = trained, source.n_rows
        owners, prior, m = trained.owners, trained.penalty.prior, len(trained.units)
        both = source.map_reduce(self._moments)
        phi_only = Moments(both.weight, both.mean_phi[:m], both.mean_t, both.G[:m, :m], both.R[:m], both.tt)
        self.solution = solve(phi_only, trained.penalty.C)
        self.weight, self.mean = both.weight, both.mean_phi
        self.own = owners
        theta = self.solution.theta
        self.L = _factor(phi_only.G, 1.0 / trained.penalty.C)
        self.B = solve_triangular(self.L, both.G[:m, m:], lower=True, check_finite=False)  # (m, p) L⁻¹ΦᵀSD
        A = (both.G[m:, m:] - self.B.T @ self.B) * (theta @ theta.T)[np.ix_(self.own, self.own)]
        self.LA = _factor(A, prior)
        d_r = both.R[m:] - both.G[m:, :m] @ theta  # (p, k) DᵀSr
        gradient = prior * trained.u - np.sum(d_r * theta[self.own], axis=1)
        self.step = -cho_solve((self.LA, True), gradient)

    def _moments(self, block: Block) -> Moments:
        parts = []
        for piece in self._pieces(block):
            Phi = self.trained.features(piece.X)
            D = self.trained.derivatives(piece.X, Phi)
            parts.append(Moments.of(np.hstack([Phi, D]), piece.T, piece.s))
        return sum(parts[1:], start=parts[0])

    def residuals(self, block: Block) -> LeaveOneOut:
        """The leave-one-out residuals of one block."""
        parts = [self._residuals(piece) for piece in self._pieces(block)]
        return sum(parts[1:], start=parts[0])

    def _residuals(self, block: Block) -> LeaveOneOut:
        Phi = self.trained.features(block.X)
        D = self.trained.derivatives(block.X, Phi)
        theta, m = self.solution.theta, len(self.L)
        r = block.T - Phi @ theta - self.solution.b
        V = solve_triangular(self.L, (Phi - self.mean[:m]).T, lower=True, check_finite=False)  # (m, n)
        Q = D - self.mean[m:] - V.T @ self.B  # (n, p), still without θ
        r_plus = r - (Q * self.step) @ theta[self.own]
        norm = np.linalg.norm(r_plus, axis=1, keepdims=True)
        direction = np.divide(r_plus, norm, out=np.full_like(r, r.shape[1] ** -0.5), where=norm > 0)
        weights = direction @ theta.T  # (n, m)
        Q *= weights[:, self.own]
        h = np.einsum("mn,mn->n", V, V) + np.square(
            solve_triangular(self.LA, Q.T, lower=True, check_finite=False)
        ).sum(axis=0)
        return _finish(block, r, r_plus, h, self.weight, self.n_rows)

    def _pieces(self, block: Block) -> list[Block]:
        rows = max(1, PIECE // (len(self.trained.owners) + 1))
        return [block.take(block.start + i, slice(i, i + rows)) for i in range(0, len(block), rows)]


def _factor(A: FloatArray, ridge: float) -> FloatArray:
    """The Cholesky factor of A + ridge·I, A positive semi-definite but for rounding."""
    jitter = 1e-13 * float(np.trace(A))
    return np.asarray(cholesky(A + (ridge + jitter) * np.eye(len(A)), lower=True))
