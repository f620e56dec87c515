"""Values and gradients of all units of a model in one compiled call each, whatever their bases.

Training comes back hundreds of times, and on a few hundred rows most of an evaluation was spent between the
calls of NumPy, not in them. Here the numbers of all units are one flat vector, and a part of the model is a
kind, a place among the units and a place among these numbers:

    kind      numbers of m units, array after array        value, with z a sum over features i
    SQUARED   centers (m, d), shapes (m, d)                exp(-z), z = Σ shape_i (x_i - c_i)²
    ABSOLUTE  centers (m, d), shapes (m, d)                exp(-z), z = Σ shape_i |x_i - c_i|
    BOX       centers, half_widths, below, above (m, d)    exp(-z), z = Σ above_i (x_i - high_i)₊ + below_i (low_i - x_i)₊
    STEP      slopes (m, d), offsets (m,)                  tanh(z), z = Σ slope_i x_i + offset

Rows are turned, as in `compiled.py`, and taken in stretches that stay in a core's cache; of a unit only the
features are visited that it looks at.
"""  # noqa: E501

import math

import numpy as np

from sleek._runtime.interrupts import interruptible
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.kernels.compiled import PRODUCT_ROWS, _centred_products, _jit, _jit_in_order, by_address

SQUARED, ABSOLUTE, BOX, STEP = range(4)  # as in `kernels.COMPILED_KINDS`
ROWS = 512  # of a stretch


def unit_values(X: AnyArray, parts: IntArray, numbers: FloatArray, Phi: AnyArray) -> None:
    """Fill the rows of Phi that belong to the units of these parts.

    Parameters
    ----------
    X : array of shape (d, n)
    parts : array of int of shape (n_parts, 4)
        Kind, number of units, the first one's row in Phi, and where its numbers begin.
    numbers : array of shape (p,)
    Phi : array of shape (m, n)
    """
    work, powers = np.empty(ROWS, X.dtype), np.empty(ROWS, np.int64)
    _unit_values(X, parts, numbers, Phi, work, powers)


def unit_gradient(
    X: AnyArray,
    parts: IntArray,
    numbers: FloatArray,
    wanted: AnyArray,
    Phi: AnyArray,
    dPhi: AnyArray,
) -> FloatArray:
    """Σ_n dPhi_jn ∂φ_j(x_n)/∂λ for all numbers λ (p,), 0 for those that are not `wanted` (p,).

    Of boxes the sharpness of a side is wanted or not, and with it the side's place; of other units the first
    array says it. Sums of a stretch of rows have the precision of X, their sum has float64.
    """
    found = np.zeros(len(numbers))
    alike = (np.ascontiguousarray(array, dtype=X.dtype) for array in (Phi, dPhi))
    _unit_gradient(X, parts, numbers, *alike, wanted, np.empty(ROWS, X.dtype), found)
    return found


class ReducedObjective:
    """min over θ, b of ½‖θ‖²/C + ½ Σ s (t - Φθ - b)², and its gradient by the numbers of units, in one call.

    Parameters
    ----------
    X : array of shape (d, n)
    T : array of shape (k, n), k ≤ m, float64
    s : array of shape (n,), float64
    parts, wanted
        As above.
    Phi : array of shape (m, n)
        The values of units of no part; those of all others are written into it.
    C : float
    """

    def __init__(
        self,
        X: AnyArray,
        T: AnyArray,
        s: AnyArray,
        parts: IntArray,
        wanted: AnyArray,
        Phi: AnyArray,
        C: float,
    ) -> None:
        m, k = len(Phi), len(T)
        size = -(-(m + k) // 4) * 4
        roots, dPhi = np.sqrt(s), np.empty_like(Phi)
        V, products, mean = np.zeros((size, PRODUCT_ROWS)), np.zeros((size, size)), np.empty(m + k)
        some, powers, numbers = np.empty(ROWS, X.dtype), np.empty(ROWS, np.int64), np.empty(0)
        L, theta, left = np.empty((m, m)), np.empty((k, m)), np.empty((k, X.shape[1]))
        self.calls = (
            by_address(_unit_values, X, parts, numbers, Phi, some, powers),
            by_address(_centred_products, Phi, T, s, roots, mean, V, products),
            by_address(_add_weighted, theta, Phi, left),
            by_address(_spread_back, left, theta, dPhi),
            by_address(_unit_gradient, X, parts, numbers, Phi, dPhi, wanted, some, numbers),
        )
        self.rows = X, T, s, roots, parts, wanted, Phi, dPhi, 1.0 / C
        self.work = V, products, mean, L, theta, left, some, powers

    @interruptible
    def __call__(self, numbers: FloatArray) -> tuple[float, float, FloatArray] | None:
        """Σ s (t - t̄)², by how much more than the objective twice that is, and the gradient.

        None where rounding hides that the moments are positive definite, or values are not finite.
        """
        found = np.zeros(len(numbers))
        total, gain = _reduced(*self.calls, *self.rows, numbers, *self.work, found)
        return (total, gain, found) if math.isfinite(gain) else None


class OutputPasses:
    """Outputs Φθ + b of all rows, and gradients by what they are made of: a call each, for any loss between.

    Parameters are those of `ReducedObjective`.
    """

    def __init__(self, X: AnyArray, parts: IntArray, wanted: AnyArray, Phi: AnyArray) -> None:
        self.X, self.parts, self.wanted, self.Phi = X, parts, wanted, Phi
        self.dPhi = np.empty_like(Phi)
        self.work, self.powers = np.empty(ROWS, X.dtype), np.empty(ROWS, np.int64)

    @interruptible
    def outputs(self, numbers: FloatArray, theta: FloatArray, b: FloatArray) -> FloatArray:
        """(n, k) of weights (m, k) and constants (k,)."""
        Y = np.empty((len(b), self.X.shape[1]))
        weights = np.ascontiguousarray(theta.T)
        _unit_values(self.X, self.parts, numbers, self.Phi, self.work, self.powers)
        _outputs(self.Phi, weights, b, Y)
        return Y.T

    @interruptible
    def gradient(
        self, numbers: FloatArray, theta: FloatArray, slopes: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """By numbers of units (p,) and by theta (m, k), given slopes (n, k), after `outputs` of the same."""
        found, by_theta = np.zeros(len(numbers)), np.empty(theta.T.shape)
        weights, turned = np.ascontiguousarray(theta.T), np.ascontiguousarray(slopes.T)
        _pull_back(self.Phi, weights, turned, self.dPhi, by_theta)
        _unit_gradient(self.X, self.parts, numbers, self.Phi, self.dPhi, self.wanted, self.work, found)
        return found, by_theta.T


@_jit_in_order
def _exp_single(z, n, powers):  # type: ignore[no-untyped-def]
    single = np.float32
    as_floats = powers.view(np.float32)
    low, per_log, shift = single(-87.0), single(1.442695040888963), single(12582912.0)
    log_high, log_low = single(0.693359375), single(-2.12194440e-4)
    c6, c5, c4 = single(1.9875691500e-4), single(1.3981999507e-3), single(8.3334519073e-3)
    c3, c2, c1, one = single(4.1665795894e-2), single(0.16666665459), single(0.5), single(1.0)
    for r in range(n):
        x = max(z[r], low)
        rounded = x * per_log + shift
        as_floats[r] = rounded
        k = rounded - shift
        t = (x - k * log_high) - k * log_low
        p = c6 * t
        p = (p + c5) * t
        p = (p + c4) * t
        p = (p + c3) * t
        p = (p + c2) * t
        p = (p + c1) * t
        z[r] = (p + one) * t + one
    for r in range(n):
        powers[r] = (powers[r] + 127) << 23
    for r in range(n):
        z[r] *= as_floats[r]


@_jit_in_order
def _exp(z, n, powers):  # type: ignore[no-untyped-def]
    """z = exp(z) of n numbers below 700, to the last bit: 2^k·exp(t), z = k·log 2 + t, |t| ≤ ½ log 2.

    exp(t) is a polynomial, and 2^k is written as the bits of a float: both become vector instructions, as a
    call of the C library does not. Added to 1.5·2⁵², a number is rounded, and its last bits are k. Below -700
    it is exp(-700). In single precision exp(t) has half as many terms, 2²³ stands for 2⁵², and -87 for -700.
    """
    if z.itemsize == 4:
        _exp_single(z, n, powers.view(np.int32))
        return
    as_floats = powers.view(np.float64)
    for r in range(n):
        x = max(np.float64(z[r]), -700.0)
        rounded = x * 1.4426950408889634 + 6755399441055744.0
        as_floats[r] = rounded
        k = rounded - 6755399441055744.0
        t = (x - k * 0.693145751953125) - k * 1.42860682030941723212e-6  # log 2 in two pieces
        p = 2.08767569878681e-9 * t
        p = (p + 2.505210838544172e-8) * t
        p = (p + 2.755731922398589e-7) * t
        p = (p + 2.7557319223985893e-6) * t
        p = (p + 2.48015873015873e-5) * t
        p = (p + 1.984126984126984e-4) * t
        p = (p + 1.3888888888888889e-3) * t
        p = (p + 8.333333333333333e-3) * t
        p = (p + 4.1666666666666664e-2) * t
        p = (p + 0.16666666666666666) * t
        p = (p + 0.5) * t
        z[r] = (p + 1.0) * t + 1.0
    for r in range(n):
        powers[r] = (powers[r] + 1023) << 52
    for r in range(n):
        z[r] *= as_floats[r]


@_jit
def _tanh(z, n, work, powers):  # type: ignore[no-untyped-def]
    """z = tanh(z) of n numbers: (1 - e)/(1 + e) with e = exp(-2|z|), and the sign of z."""
    for r in range(n):
        work[r] = -2 * abs(z[r])
    _exp(work, n, powers)
    for r in range(n):
        size = (1 - work[r]) / (1 + work[r])
        z[r] = size if z[r] >= 0 else -size


@_jit
def _unit_values(X, parts, numbers, Phi, work, powers):  # type: ignore[no-untyped-def]
    d, total = X.shape
    real = X.dtype.type  # sides are computed in double precision, and rounded once
    zero = real(0)
    for start in range(0, total, ROWS):
        stop = min(start + ROWS, total)
        n = stop - start
        for part in range(len(parts)):
            kind, m, first, begin = parts[part, 0], parts[part, 1], parts[part, 2], parts[part, 3]
            size = m * d
            for j in range(m):
                z, at = Phi[first + j, start:stop], begin + j * d
                if kind == STEP:
                    offset = real(numbers[begin + size + j])
                    for r in range(n):
                        z[r] = offset
                    for i in range(d):
                        x, a = X[i, start:stop], real(numbers[at + i])
                        if a != 0:
                            for r in range(n):
                                z[r] += a * x[r]
                    _tanh(z, n, work, powers)
                    continue
                for r in range(n):
                    z[r] = 0
                for i in range(d):
                    x, a, b = X[i, start:stop], numbers[at + i], numbers[at + size + i]
                    if kind == BOX:
                        low, high = real(a - b), real(a + b)
                        below, above = real(numbers[at + 2 * size + i]), real(numbers[at + 3 * size + i])
                        if below != 0:
                            for r in range(n):
                                u = low - x[r]
                                z[r] -= below * (u if u > zero else zero)
                        if above != 0:
                            for r in range(n):
                                u = x[r] - high
                                z[r] -= above * (u if u > zero else zero)
                        continue
                    center, shape = real(a), real(b)
                    if shape != 0 and kind == SQUARED:
                        for r in range(n):
                            z[r] -= shape * (x[r] - center) * (x[r] - center)
                    elif shape != 0:
                        for r in range(n):
                            z[r] -= shape * abs(x[r] - center)
                _exp(z, n, powers)


@_jit
def _unit_gradient(X, parts, numbers, Phi, dPhi, wanted, dz, found):  # type: ignore[no-untyped-def]
    d, total = X.shape
    real = X.dtype.type  # sides are computed in double precision, and rounded once
    zero = real(0)
    for start in range(0, total, ROWS):
        stop = min(start + ROWS, total)
        n = stop - start
        for part in range(len(parts)):
            kind, m, first, begin = parts[part, 0], parts[part, 1], parts[part, 2], parts[part, 3]
            size = m * d
            for j in range(m):
                phi, dphi, at = Phi[first + j, start:stop], dPhi[first + j, start:stop], begin + j * d
                if kind == STEP:
                    whole = zero
                    for r in range(n):
                        dz[r] = dphi[r] * (1 - phi[r] * phi[r])
                        whole += dz[r]
                    found[begin + size + j] += whole
                    for i in range(d):
                        if wanted[at + i]:
                            x, first_sum = X[i, start:stop], zero
                            for r in range(n):
                                first_sum += dz[r] * x[r]
                            found[at + i] += first_sum
                    continue
                for r in range(n):
                    dz[r] = -dphi[r] * phi[r]
                for i in range(d):
                    x, a, b = X[i, start:stop], numbers[at + i], numbers[at + size + i]
                    first_sum = second_sum = zero
                    if kind == BOX:
                        below_at, above_at = at + 2 * size + i, at + 3 * size + i
                        by_low = by_high = 0.0
                        if wanted[below_at]:
                            low = real(a - b)
                            for r in range(n):
                                u = low - x[r]
                                h = dz[r] if u > zero else zero
                                first_sum += h
                                second_sum += h * u
                            found[below_at] += second_sum
                            by_low = numbers[below_at] * first_sum
                        first_sum = second_sum = zero
                        if wanted[above_at]:
                            high = real(a + b)
                            for r in range(n):
                                u = x[r] - high
                                h = dz[r] if u > zero else zero
                                first_sum += h
                                second_sum += h * u
                            found[above_at] += second_sum
                            by_high = -numbers[above_at] * first_sum
                        found[at + i] += by_low + by_high
                        found[at + size + i] += by_high - by_low
                        continue
                    center = real(a)
                    if wanted[at + i] and kind == SQUARED:
                        for r in range(n):
                            u = x[r] - center
                            first_sum += dz[r] * u
                            second_sum += dz[r] * u * u
                        found[at + i] -= 2 * b * first_sum
                        found[at + size + i] += second_sum
                    elif wanted[at + i]:
                        for r in range(n):
                            u = x[r] - center
                            h = dz[r] if u > 0 else (-dz[r] if u < 0 else zero)
                            first_sum += h
                            second_sum += h * u
                        found[at + i] -= b * first_sum
                        found[at + size + i] += second_sum


@_jit
def _reduced(values, products_of, add_weighted, spread_back, gradient, X, T, s, roots, parts, wanted, Phi, dPhi, ridge, numbers, V, products, mean, L, theta, left, work, powers, found):  # type: ignore[no-untyped-def]  # fmt: skip  # noqa: E501
    """Fill `found`; returns Σ s (t - t̄)² and θ∘R, NaN if there is no Cholesky decomposition."""
    m, n = Phi.shape
    k = len(T)
    values(X, parts, numbers, Phi, work, powers)
    for i in range(len(products)):
        for j in range(len(products)):
            products[i, j] = 0.0
    products_of(Phi, T, s, roots, mean, V, products)
    total = gain = 0.0
    for i in range(m):  # A = L Lᵀ, row by row
        for j in range(i + 1):
            a = products[i, j] + (ridge if i == j else 0.0)
            for c in range(j):
                a -= L[i, c] * L[j, c]
            if i > j:
                L[i, j] = a / L[j, j]
            else:
                if not a > 1e-14 * (products[i, i] + ridge):
                    return total, math.nan
                L[i, i] = math.sqrt(a)
    for c in range(k):
        total += products[m + c, m + c]
        x = theta[c]
        for i in range(m):
            a = products[i, m + c]
            for j in range(i):
                a -= L[i, j] * x[j]
            x[i] = a / L[i, i]
            gain += x[i] * x[i]
        for i in range(m - 1, -1, -1):
            a = x[i] / L[i, i]
            x[i] = a
            for j in range(i):
                x[j] -= L[i, j] * a
        b = mean[m + c]
        for i in range(m):
            b -= mean[i] * x[i]
        r = left[c]
        for at in range(n):
            r[at] = b - T[c, at]
    add_weighted(theta, Phi, left)
    for c in range(k):
        r = left[c]
        for at in range(n):
            r[at] *= s[at]
    spread_back(left, theta, dPhi)
    gradient(X, parts, numbers, Phi, dPhi, wanted, work, found)
    return total, gain


@_jit
def _add_weighted(weights, rows, sums):  # type: ignore[no-untyped-def]
    """sums_c += Σ_j weights_cj rows_j, of (k, m), (m, n) and (k, n).

    Stretch by stretch, so that they stay in the cache, and four rows at a time for every sum that is read and
    written: with 18 outputs and 150 units an evaluation takes 0.85 of the time.
    """
    k, m = weights.shape
    total = rows.shape[1]
    fours = m // 4 * 4
    for start in range(0, total, ROWS):
        stop = min(start + ROWS, total)
        n = stop - start
        for c in range(k):
            y, w = sums[c, start:stop], weights[c]
            for j in range(0, fours, 4):
                a0, a1, a2, a3 = w[j], w[j + 1], w[j + 2], w[j + 3]
                x0, x1 = rows[j, start:stop], rows[j + 1, start:stop]
                x2, x3 = rows[j + 2, start:stop], rows[j + 3, start:stop]
                for r in range(n):
                    y[r] += a0 * x0[r] + a1 * x1[r] + a2 * x2[r] + a3 * x3[r]
            for j in range(fours, m):
                a, x = w[j], rows[j, start:stop]
                for r in range(n):
                    y[r] += a * x[r]


@_jit
def _spread_back(slopes, theta, dPhi):  # type: ignore[no-untyped-def]
    """dφ_j = Σ_k θ_kj slopes_k at every row."""
    for i in range(len(dPhi)):
        row, r, a = dPhi[i], slopes[0], theta[0, i]
        for at in range(len(row)):
            row[at] = a * r[at]
    if len(slopes) > 1:
        _add_weighted(theta[1:].T, slopes[1:], dPhi)


@_jit
def _outputs(Phi, theta, b, Y):  # type: ignore[no-untyped-def]
    """Y_k = Σ_j θ_kj φ_j + b_k at every row."""
    for c in range(len(Y)):
        for at in range(Y.shape[1]):
            Y[c, at] = b[c]
    _add_weighted(theta, Phi, Y)


@_jit
def _pull_back(Phi, theta, slopes, dPhi, by_theta):  # type: ignore[no-untyped-def]
    """The gradient by theta (k, m) and by the values of units, given that by the outputs (k, n)."""
    for c in range(len(slopes)):
        for i in range(len(Phi)):
            total, phi, r = 0.0, Phi[i], slopes[c]
            for at in range(len(r)):
                total += phi[at] * r[at]
            by_theta[c, i] = total
    _spread_back(slopes, theta, dPhi)
