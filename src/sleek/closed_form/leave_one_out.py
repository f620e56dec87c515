"""Leave-one-out residuals of a trained model, in closed form, units included.

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
    r⁺ = r - Q·step,    h_n = o_n·(1/Σs + ‖L⁻¹Φ_n‖² + Q_n A⁻¹ Q_nᵀ),    Q = (D - Φ A₁⁻¹ ΦᵀSD)∘θ,

where o_n is the weight of one observation of row n: all of the row's weight, unless it stands for several
copies. Everything but r⁺ and h comes from the moments of [Φ, D]: sums over rows, then one more pass. K
outputs cost as much as one: they share D, and their A add up to (…)∘(Σ_k θ_kθ_kᵀ); the leverage is taken in
the direction of the row's residual vector, which is exact for one output.

Where one output has more learnt numbers than rows, the same solution is found in the space of the rows. A
loss other than the squared one is replaced by the quadratic that touches it at the fitted outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

from sleek._runtime.sums import total
from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.constraints import unit_signs
from sleek.bases.expansion import Expansion, ExpansionCoordinates
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Penalty, Solution, solve
from sleek.rows.sample import Sample
from sleek.rows.source import Block

MAX_LEVERAGE = 0.999
PIECE = 2**21  # numbers of D held at a time


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Leave-one-out residuals of every row and output, and what is needed to judge them."""

    T: FloatArray  # (n, k)
    residuals: FloatArray  # (n, k)
    s: FloatArray  # (n,)
    copies: FloatArray  # (n,)
    groups: IntArray | None = None  # (n,) of rows that belong together

    @property
    def outputs(self) -> FloatArray:
        """The outputs for each row of a model without it."""
        return self.T - self.residuals

    def __add__(self, other: LeaveOneOut) -> LeaveOneOut:
        return LeaveOneOut(
            np.concatenate([self.T, other.T]),
            np.concatenate([self.residuals, other.residuals]),
            np.concatenate([self.s, other.s]),
            np.concatenate([self.copies, other.copies]),
            None
            if self.groups is None or other.groups is None
            else np.concatenate([self.groups, other.groups]),
        )


@dataclass(frozen=True, eq=False)
class Trained:
    """Units with theta and b, and the coordinates and the penalty they were trained under.

    Without coordinates only theta and b count as learnt.
    """

    expansion: Expansion
    solution: Solution
    penalty: Penalty
    coordinates: ExpansionCoordinates | None

    def derivatives(self, X: FloatArray, Phi: FloatArray) -> FloatArray:
        """D (n, p): ∂φ_j(x_n)/∂u for every coordinate, each belonging to the unit that `owners` names."""
        if self.coordinates is None:
            return np.empty((len(X), 0))
        return self.coordinates.derivatives(X, self.expansion, Phi)

    @property
    def owners(self) -> IntArray:
        """(p,) the number of the unit that each column of `derivatives` belongs to."""
        return np.empty(0, dtype=np.int64) if self.coordinates is None else self.coordinates.owners

    @property
    def u(self) -> FloatArray:
        """(p,) the coordinates."""
        return np.empty(0) if self.coordinates is None else self.coordinates.vector(self.expansion)

    @property
    def unit_signs(self) -> IntArray | None:
        """(m,) the signs that weights must have."""
        return unit_signs(self.expansion, self.penalty.signs)


def solved_rows_loo(sample: Sample, trained: Trained, moments: Moments) -> LeaveOneOut | None:
    """The same as `fixed_units_loo`; None where theta and b were learnt, and not solved from the moments."""
    return fixed_units_loo(sample, trained, moments) if sample.outputs.loss.quadratic else None


def fixed_units_loo(sample: Sample, trained: Trained, moments: Moments) -> LeaveOneOut:
    """Leave-one-out residuals of rows that theta and b were solved on, with these moments, but not the units.

    Of the formulas above only h_n = o_n·(1/Σs + ‖L⁻¹Φ_n‖²) is left: exact leave-one-out for fixed units.
    """
    theta, b = trained.solution
    L = _factor(moments.G, 1.0 / trained.penalty.C)

    def residuals(block: Block) -> LeaveOneOut:
        Phi = trained.expansion.features(block.X)
        r = block.T - Phi @ theta - b
        V = solve_triangular(L, (Phi - moments.mean_phi).T, lower=True, check_finite=False)  # (m, n)
        return _finish(block, r, r, np.einsum("mn,mn->n", V, V), moments.weight)

    return _of_outputs(sample, _touching(sample, trained).map_reduce(residuals))


def whole_model_loo(sample: Sample, trained: Trained) -> LeaveOneOut:
    """Leave-one-out residuals of a trained model in closed form.

    O(rows·p·min(rows, p)) time and O(min(rows, p)²) memory for p learnt numbers.
    """
    squares = _touching(sample, trained)
    if sample.outputs.n_outputs == 1 and len(trained.owners) > sample.n_rows:
        return _of_outputs(sample, _in_row_space(squares.rows, trained))
    return _of_outputs(sample, squares.map_reduce(_InNumberSpace(squares, trained).residuals))


def _touching(sample: Sample, trained: Trained) -> Sample:
    """The sample as the least squares problem that touches the loss at the fitted outputs."""
    loss, rows = sample.outputs.loss, sample.rows
    if loss.quadratic:
        return sample
    theta, b = trained.solution
    T, w = loss.working(rows.T, trained.expansion.features(rows.X) @ theta + b)
    return replace(sample, rows=replace(rows, T=T, s=rows.s * w))


def _of_outputs(sample: Sample, found: LeaveOneOut) -> LeaveOneOut:
    """The same left-out outputs as residuals of the sample's own targets."""
    if sample.outputs.loss.quadratic:
        return found
    rows = sample.rows
    return LeaveOneOut(rows.T, rows.T - found.outputs, rows.s, rows.copies, rows.groups)


def _finish(block: Block, r: FloatArray, r_plus: FloatArray, h: FloatArray, weight: float) -> LeaveOneOut:
    """The larger of r and r⁺, divided by 1 - h, where h still is that of weight 1 without the intercept."""
    larger = np.linalg.norm(r, axis=1) > np.linalg.norm(r_plus, axis=1)
    h = np.minimum(block.s / block.copies * (h + 1.0 / weight), MAX_LEVERAGE)
    left_out = np.where(larger[:, None], r, r_plus) / (1.0 - h)[:, None]
    return LeaveOneOut(block.T, left_out, block.s, block.copies, block.groups)


def _in_row_space(block: Block, trained: Trained) -> LeaveOneOut:
    """One output, more learnt numbers than rows: with K = C·ΦΦᵀ + JJᵀ/prior and α = (K + S⁻¹)⁻¹(t - t̄ + Ju),

    r⁺ = S⁻¹α and h = s⁻¹·(1 - s⁻¹·diag (K + S⁻¹)⁻¹).
    """
    X, T, s = block.X, block.T, block.s
    weight, penalty = float(s.sum()), trained.penalty
    Phi = trained.expansion.features(X)
    theta, b = solve(Moments.of(Phi, T, s), penalty.C, trained.unit_signs)
    r = T - Phi @ theta - b
    J = trained.derivatives(X, Phi)
    J *= theta[trained.owners, 0]
    J -= s @ J / weight
    Phi -= s @ Phi / weight
    K = J @ J.T
    K /= penalty.prior
    K += penalty.C * (Phi @ Phi.T)
    K[np.diag_indices_from(K)] += 1.0 / s
    if not np.isfinite(K).all():
        raise LinAlgError("The matrix is beyond float64.")
    factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    alpha = cho_solve(factor, T - s @ T / weight + (J @ trained.u)[:, None])
    inverse, _ = dpotri(factor[0], lower=1)
    h = (1.0 - np.diag(inverse) / s) / s
    return _finish(block, r, alpha / s[:, None], h, weight)


class _InNumberSpace:
    """The factorised matrices of the module's formulas, and the pass that uses them."""

    def __init__(self, sample: Sample, trained: Trained) -> None:
        self.trained = trained
        owners, prior, m = trained.owners, trained.penalty.prior, len(trained.expansion)
        both = sample.map_reduce(self._moments)
        phi_only = both.units(np.arange(m))
        self.solution = solve(phi_only, trained.penalty.C, trained.unit_signs)
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
            Phi = self.trained.expansion.features(piece.X)
            D = self.trained.derivatives(piece.X, Phi)
            parts.append(Moments.of(np.hstack([Phi, D]), piece.T, piece.s))
        return total(parts)

    def residuals(self, block: Block) -> LeaveOneOut:
        """The leave-one-out residuals of one block."""
        return total(self._residuals(piece) for piece in self._pieces(block))

    def _residuals(self, block: Block) -> LeaveOneOut:
        Phi = self.trained.expansion.features(block.X)
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
        return _finish(block, r, r_plus, h, self.weight)

    def _pieces(self, block: Block) -> list[Block]:
        rows = max(1, PIECE // (len(self.trained.owners) + 1))
        return [block.take(block.start + i, slice(i, i + rows)) for i in range(0, len(block), rows)]


def _factor(A: FloatArray, ridge: float) -> FloatArray:
    """The Cholesky factor of A + ridge·I, A positive semi-definite but for rounding."""
    jitter = 1e-13 * float(np.trace(A))
    if not (np.isfinite(jitter) and np.isfinite(A).all()):
        raise LinAlgError("The matrix is beyond float64.")
    return np.asarray(cholesky(A + (ridge + jitter) * np.eye(len(A)), lower=True, check_finite=False))
