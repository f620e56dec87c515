"""theta, b, outputs and leave-one-out residuals for all regularisation strengths at once.

Where units have nothing to learn (curves, linear parts, units that stay as they are), only the strength C is
to be chosen. With the eigendecomposition G = V diag(g) Vᵀ of the centred moments, (G + I/C)⁻¹ is
V diag(w) Vᵀ, w = 1/(g + 1/C), for every C, and with Z = (Φ - φ̄)V, a = VᵀR

    θ = V(w∘a),    y = t̄ + Z(w∘a),    h_n = o_n·(1/Σs + Σ_j Z_nj² w_j),    left out: (t - y)/(1 - h),

o_n being the weight of one observation of row n. L strengths cost O(m³) once and two products of rows with
L columns, where solving for each would cost O(L·m³) and L passes over the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.closed_form.leave_one_out import MAX_LEVERAGE
from sleek.closed_form.moments import Moments
from sleek.closed_form.solve import Solution, no_finite_numbers

Strengths = Sequence[float] | FloatArray


@dataclass(frozen=True, eq=False)
class RidgePath:
    """The closed form for every regularisation strength, from one eigendecomposition.

    >>> Phi, t, s = np.array([[0.0], [1.0], [3.0]]), np.array([[-1.0], [1.0], [1.0]]), np.ones(3)
    >>> path = RidgePath.of_moments(Moments.of(Phi, t, s))
    >>> path.solution(C=1e6).theta.round(3), path.outputs(np.array([[8.0]]), [1e-6, 1e6]).round(2).tolist()
    (array([[0.571]]), [[[0.33]], [[4.14]]])
    """

    weight: float  # Σ s
    mean_phi: FloatArray  # (m,)
    mean_t: FloatArray  # (k,)
    values: FloatArray  # (r,) g
    vectors: FloatArray  # (m, r) V
    a: FloatArray  # (r, k) VᵀR

    @classmethod
    def of_moments(cls, moments: Moments) -> RidgePath:
        """From sums over any number of rows, in O(m³) time."""
        if not (np.isfinite(moments.G).all() and np.isfinite(moments.R).all()):
            raise no_finite_numbers()
        values, vectors = np.linalg.eigh(moments.G)
        a = vectors.T @ moments.R
        return cls(moments.weight, moments.mean_phi, moments.mean_t, np.maximum(values, 0.0), vectors, a)

    @classmethod
    def of_rows(cls, Phi: FloatArray, T: FloatArray, s: FloatArray) -> RidgePath:
        """From unit values (n, m), targets (n, k) and weights, in O(n·m·min(n, m)) time.

        With more units than rows the eigendecomposition is that of PPᵀ = U diag(g) Uᵀ, P = √s∘(Φ - φ̄): V is
        PᵀU/√g then, and eigenvalues that are 0 play no part.
        """
        n, m = Phi.shape
        if m <= n:
            return cls.of_moments(Moments.of(Phi, T, s))
        weight, root = float(s.sum()), np.sqrt(s)[:, None]
        mean_phi, mean_t = s @ Phi / weight, s @ T / weight
        P = root * (Phi - mean_phi)
        K = P @ P.T
        if not (np.isfinite(K).all() and np.isfinite(T).all()):
            raise no_finite_numbers()
        values, U = np.linalg.eigh(K)
        kept = values > n * np.finfo(float).eps * max(values[-1], 0.0)
        values, U = values[kept], U[:, kept]
        sigma = np.sqrt(values)
        a = sigma[:, None] * (U.T @ (root * (T - mean_t)))
        return cls(weight, mean_phi, mean_t, values, P.T @ (U / sigma), a)

    def weights(self, strengths: Strengths) -> FloatArray:
        """(r, L) w for every strength; 0 where rounding hides an eigenvalue, as in `solve`."""
        A = self.values[:, None] + 1.0 / np.asarray(strengths, dtype=np.float64)
        hidden = len(self.mean_phi) * np.finfo(float).eps * A.max(axis=0, initial=0.0)
        w: FloatArray = np.divide(1.0, A, out=np.zeros_like(A), where=hidden < A)
        return w

    def solution(self, C: float) -> Solution:
        """theta and b of one strength."""
        theta = self.vectors @ (self.weights([C]) * self.a)
        return Solution(theta, self.mean_t - self.mean_phi @ theta)

    def outputs(self, Phi: FloatArray, strengths: Strengths) -> FloatArray:
        """(L, n, k) what the model of each strength puts out for these unit values, of any rows.

        Through the weights of all strengths, in O(m²·L·k + n·m·L·k) time: rows are many, strengths are few.
        """
        w, k = self.weights(strengths), self.a.shape[1]
        theta = self.vectors @ self._columns(w)
        Y: AnyArray = Phi @ theta - self.mean_phi @ theta
        return Y.reshape(len(Phi), w.shape[1], k).transpose(1, 0, 2) + self.mean_t

    def leave_one_out(
        self,
        Phi: FloatArray,
        T: FloatArray,
        s: FloatArray,
        strengths: Strengths,
        copies: FloatArray | None = None,
    ) -> FloatArray:
        """(L, n, k) leave-one-out residuals, for each strength, of the rows that were fitted.

        `copies` says how many observations each row stands for, 1 if not given: one of them is left out.

        >>> Phi, t, s = np.array([[0.0], [1.0], [3.0]]), np.array([[-1.0], [1.0], [1.0]]), np.ones(3)
        >>> RidgePath.of_rows(Phi, t, s).leave_one_out(Phi, t, s, [1e-6, 1.0, 1e6]).round(2)[:, :, 0]
        array([[-2.  ,  1.  ,  1.  ], [-2.  ,  1.27, -0.67], [-2.  ,  1.33, -4.  ]])
        """
        Z, w = (Phi - self.mean_phi) @ self.vectors, self.weights(strengths)
        residuals: FloatArray = T - self._outputs(Z, w)
        observation = s if copies is None else s / copies
        h = ((Z * Z) @ w).T + 1.0 / self.weight  # (L, n)
        h *= observation
        np.minimum(h, MAX_LEVERAGE, out=h)
        residuals /= (1.0 - h)[:, :, None]
        return residuals

    def _outputs(self, Z: FloatArray, w: FloatArray) -> FloatArray:
        Y: AnyArray = (Z @ self._columns(w)).reshape(len(Z), w.shape[1], -1).transpose(1, 0, 2)
        return Y + self.mean_t

    def _columns(self, w: FloatArray) -> FloatArray:
        """(r, L·k) the weights of the eigenvectors in the outputs of every strength."""
        columns: FloatArray = (w[:, :, None] * self.a[:, None, :]).reshape(len(self.a), -1)
        return columns
