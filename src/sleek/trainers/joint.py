"""Joint optimisation of units, theta and b, for losses without a closed form.

    E(u, θ, b) = ½‖θ‖²/C + Σ s ℓ(t, Φ(u)θ + b) + ½·prior·‖u‖²

has, with the slopes g = s·∂ℓ/∂y (n, k), the gradient Φᵀg + θ/C by theta, Σ g by b, and by u one `vjp` with
dΦ = g θᵀ. One pass over the rows for each evaluation, in O(rows·n_units·(features + outputs)) time: the
square of n_units that the closed form costs is saved.

Units overlap, and theta along their differences moves slowly. So what moves is η with θ = Pη, where P makes
the curvature by η the same in all directions at the beginning (P Pᵀ is the inverse of ΦᵀSΦ + I/C, but for
factors), and the outputs at the mean of Φ instead of b. A weight that must have a sign is a multiple of one
η ≥ 0, and P evens out the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from sleek._runtime.sums import Sums
from sleek._runtime.types import FloatArray
from sleek.bases.constraints import unit_signs
from sleek.bases.expansion import Expansion, ExpansionCoordinates
from sleek.closed_form.least_squares import fit_constants, fit_weights, unit_moments
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Penalty, Solution, solve
from sleek.kernels.reference import is_turned, outer
from sleek.rows.source import Block, OneBlock, Source
from sleek.trainers.base import Reached
from sleek.trainers.descent import Minimum, minimise
from sleek.trainers.moving_units import MovingUnits
from sleek.trainers.training_rows import training_rows

# Curvature by η, in multiples of what all rows together have by an output. L-BFGS goes along steep directions
# first. After 100 iterations the objective was 29 with 10, 103 with 1, 179 with 0.1 and 225 without P
# (Nursery, 120 boxes), 5377, 5718, 6599 and 8360 (Krkopt, 150 units).
ETA_CURVATURE = 10.0


class Joint:
    """The objective E and its gradient for one flat vector of u, η and the outputs at the mean of Φ.

    Both are sums over rows, so that a share of the objective is a share of what is left of the loss, however
    little that is.
    """

    def __init__(
        self, source: Source, coordinates: ExpansionCoordinates, penalty: Penalty, begin: Reached
    ) -> None:
        self.source, self.coordinates, self.penalty = source, coordinates, penalty
        self.rows = training_rows(source, len(coordinates.start))
        self.units = MovingUnits(coordinates, source.n_rows)
        self.passes = self.units.passes(self.rows)
        self.n_units, self.n_outputs = len(coordinates.start), source.outputs.n_outputs
        moments = unit_moments(source, begin.expansion)
        self.loss = source.outputs.loss
        self.signs = unit_signs(coordinates.start, penalty.signs)
        self.unit = moments.weight * self.loss.unit(self.n_outputs)
        self.mean, self.P = moments.mean_phi, self._evened(moments)
        solution = begin.solution
        if solution is None:  # that of least squares
            solution = Solution(*self.loss.start(*solve(moments, penalty.C, self.signs)))
            if self.loss.chooses:
                solution = fit_constants(source, begin.expansion, solution)
                solution = fit_weights(source, begin.expansion, solution, penalty)
        eta = np.linalg.solve(self.P, solution.theta)
        u = coordinates.vector(begin.expansion)
        self.first = np.concatenate([u, eta.ravel(), solution.b + self.mean @ solution.theta])

    def _evened(self, moments: Moments) -> FloatArray:
        """P (m, m)."""
        curvature = self.loss.curvature(self.n_outputs)
        A = curvature * moments.G + np.eye(self.n_units) / self.penalty.C
        ridge = np.finfo(float).eps * len(A) * float(np.trace(A))
        A += ridge * np.eye(len(A))
        scale = np.sqrt(ETA_CURVATURE * curvature * moments.weight)
        signs = np.zeros(len(A), dtype=np.int64) if self.signs is None else self.signs
        P = np.diag(scale * np.where(signs < 0, -1.0, 1.0) / np.sqrt(A.diagonal()))
        free = np.flatnonzero(signs == 0)
        if len(free):
            L = cholesky(A[np.ix_(free, free)], lower=True)
            P[np.ix_(free, free)] = scale * solve_triangular(L, np.eye(len(free)), lower=True).T
        return P

    def lower_bounds(self) -> FloatArray:
        """Those of u, and 0 for weights that must have a sign; other weights and b have none."""
        least = np.full((self.n_units, self.n_outputs), -np.inf)
        if self.signs is not None:
            least[self.signs != 0] = 0.0
        free = np.full(self.n_outputs, -np.inf)
        return np.concatenate([self.coordinates.lower_bounds(), least.ravel(), free])

    def end(self, vector: FloatArray) -> tuple[Expansion, Solution]:
        """Units, theta and b at a vector.

        Training that stops early may leave constants that are wrong on average, for the squared loss never.
        """
        u, solution = self._split(vector)
        expansion = self.coordinates.expansion(u)
        if self.loss.chooses:
            solution = fit_constants(self.source, expansion, solution)
        return expansion, solution

    def _split(self, vector: FloatArray) -> tuple[FloatArray, Solution]:
        """u, theta and b."""
        k = self.n_outputs
        end = len(vector) - k
        begin = end - k * self.n_units
        theta = self.P @ vector[begin:end].reshape(self.n_units, k)
        return vector[:begin], Solution(theta, vector[end:] - self.mean @ theta)

    def minimise(
        self, max_iter: int, tol: float, report: Callable[[float], None], first_gain: float
    ) -> Minimum:
        """Descend from the first point."""
        return minimise(self, self.first, self.lower_bounds(), max_iter, tol, report, first_gain)

    def __call__(self, vector: FloatArray) -> tuple[float, FloatArray]:
        u, (theta, b) = self._split(vector)
        found = self._slope(u, theta, b)
        C, prior = self.penalty.C, self.penalty.prior
        value = found.value + 0.5 * float(np.sum(theta**2)) / C + 0.5 * prior * float(u @ u)
        by_u = found.gradient + prior * u
        by_eta = self.P.T @ (found.by_theta + theta / C - np.outer(self.mean, found.by_b))
        slope = np.concatenate([by_u, by_eta.ravel(), found.by_b])
        return value, slope

    def _slope(self, u: FloatArray, theta: FloatArray, b: FloatArray) -> _Slope:
        """The loss of all rows and its gradients."""
        units, loss = self.units.at(u), self.loss
        if self.passes is not None:
            assert isinstance(self.rows, OneBlock)
            block = self.rows.rows
            values, g = loss.values_and_slopes(block.T, self.passes.outputs(units.numbers, theta, b))
            g *= block.s[:, None]
            by_numbers, by_theta = self.passes.gradient(units.numbers, theta, g)
            by_u = self.coordinates.flat.by_u_of_numbers(by_numbers)
            return _Slope(float(block.s @ values), by_u, by_theta, g.sum(axis=0))

        def task(block: Block) -> _Slope:
            Phi = units.features(block.X)
            weights = theta.astype(Phi.dtype, copy=False)
            values, g = loss.values_and_slopes(block.T, Phi @ weights + b)
            g *= block.s[:, None]
            slopes = g.astype(Phi.dtype, copy=False)
            gradient = units.gradient(block.X, Phi, outer(slopes, weights, is_turned(Phi)))
            return _Slope(float(block.s @ values), gradient, (Phi.T @ slopes).astype(float), g.sum(axis=0))

        return self.rows.map_reduce(task)


@dataclass(frozen=True, eq=False)
class _Slope(Sums):
    """The loss of some rows and its gradients."""

    value: float
    gradient: FloatArray  # (p,) by u
    by_theta: FloatArray  # (m, k)
    by_b: FloatArray  # (k,)
