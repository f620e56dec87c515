"""The loops over rows, features and units, compiled, for large blocks of rows.

Names, arguments and results are those of `reference.py`, for float64 and float32. None of the loops holds
Python's lock: a few calls for each block, long enough for threads to run side by side.

Arrays are turned: the numbers of consecutive rows lie side by side, one feature or one unit after the other,
so that the innermost loop becomes vector instructions. Rows in Fortran order are turned already, and whatever
has a number for each row and unit comes back in that order. Of every unit only the features are visited that
it looks at: with shapes, or sides, of sharpness 0 it does not. Rows are filled up with zeros to a multiple of
`LANES`, in place of remainder loops, and taken in stretches that stay in a core's cache.

The functions are plain loops. What slices, tuples and array expressions save in lines they cost in seconds of
the compiler, for which every new machine waits once.
"""

from collections.abc import Callable
from typing import Any

import numba
import numba.extending
import numpy as np

from sleek._runtime.types import AnyArray
from sleek.kernels import reference

LANES = 64
STRETCH = 2**16  # numbers of all features of a stretch of rows: half of a core's second-level cache
STRETCH_BYTES = 2**12  # of a feature's rows, at most: a few features stay in the first-level cache
TURNED_ROWS = 256  # turned at a time: they stay in the first-level cache, and take 0.7 of the time
PRODUCT_ROWS = 512  # of a stretch of products: with 40 units 160 KB


def _jit(function: Callable[..., Any]) -> Any:
    """Compile on first call, once for all processes if there is a folder to keep the result in.

    Sums may be reordered and multiplications fused with additions; NaN and infinity keep their meaning.
    """
    return _compile(function, {"reassoc", "nsz", "contract"})


def _jit_in_order(function: Callable[..., Any]) -> Any:
    """The same, without reordering of sums."""
    return _compile(function, {"nsz", "contract"})


def _compile(function: Callable[..., Any], liberties: set[str]) -> Any:
    options: Any = {"nogil": True, "error_model": "numpy", "fastmath": liberties}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder can be written to
        return numba.njit(**options)(function)


class ByAddress(numba.types.WrapperAddressProtocol):
    """A compiled function that other compiled functions call by its address; see `by_address`."""

    def __init__(self, function: Any, kinds: tuple[Any, ...]) -> None:
        function.compile(kinds)
        self._compiled = function.overloads[kinds]  # kept, with the code that the address is of
        name = self._compiled.fndesc.llvm_cfunc_wrapper_name
        self._address = self._compiled.library.get_pointer_to_function(name)
        self.kind = numba.types.FunctionType(self.signature())

    def __wrapper_address__(self) -> Any:
        return self._address

    def signature(self) -> Any:
        """The types of arguments and result."""
        return self._compiled.signature


@numba.extending.typeof_impl.register(ByAddress)
def _kind_of_address(function: ByAddress, _: object) -> Any:
    """Its type, which numba would make anew for every call: a tenth of the time of a small fit."""
    return function.kind


_addresses: dict[tuple[Any, ...], ByAddress] = {}


def by_address(function: Any, *arguments: object) -> ByAddress:
    """A compiled function as other compiled functions call it: for arguments of these types, by its address.

    A function that is called by its name is compiled again inside of every caller: within a training, three
    deep, that was half of the seconds which the first fit on a new machine waits for.

    >>> double = _jit(lambda x: 2.0 * x)
    >>> twice = _jit(lambda function, x: function(function(x)))
    >>> twice(by_address(double, 1.0), 3.0)
    12.0
    """
    kinds = tuple(map(numba.typeof, arguments))
    key = (function, kinds)
    if key not in _addresses:
        _addresses[key] = ByAddress(function, kinds)
    return _addresses[key]


def absolute_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji |x_ni - c_ji|, in O(n·m·d) time and O(n·m) memory.

    >>> absolute_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[2.]])
    """
    return _distance(_absolute_distance, X, centers, shapes, n_places=X.shape[1] + 2)


def absolute_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray, on: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d), summed over tiles in float64."""
    signs, distances = _weigh(_absolute_sums, X, dZ, on, centers, n_sums=2)
    return -shapes * signs, distances


def squared_distance(X: AnyArray, centers: AnyArray, shapes: AnyArray) -> AnyArray:
    """Z_nj = Σ_i shapes_ji (x_ni - c_ji)², in O(n·m·d) time and O(n·m) memory.

    As it stands: expanded squares, with which it would be a matrix product, take twice as long and cancel.

    >>> squared_distance(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]]))
    array([[3.]])
    """
    return _distance(_squared_distance, X, centers, shapes, n_places=X.shape[1] + 2)


def squared_distance_vjp(
    X: AnyArray, centers: AnyArray, shapes: AnyArray, dZ: AnyArray, on: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂c_j and Σ_n dZ_nj ∂Z_nj/∂shapes_j, each (m, d), summed over tiles in float64."""
    differences, squares = _weigh(_squared_sums, X, dZ, on, centers, n_sums=2)
    return -2.0 * shapes * differences, squares


def box_distance(X: AnyArray, lows: AnyArray, highs: AnyArray, below: AnyArray, above: AnyArray) -> AnyArray:
    """Z_nj = Σ_i above_ji (x_ni - high_ji)₊ + below_ji (low_ji - x_ni)₊, in O(n·m·d) time and O(n·m) memory.

    >>> lows, highs, below, above = np.array([[[0.0, 5.0]], [[0.5, 5.0]], [[9.0, 1.0]], [[4.0, 9.0]]])
    >>> box_distance(np.array([[1.0, 2.0]]), lows, highs, below, above)
    array([[5.]])
    """
    sides, sharpness = (
        np.stack(pair, axis=2).reshape(len(lows), -1) for pair in ((lows, highs), (below, above))
    )
    return _distance(_box_distance, X, sides, sharpness, n_places=2 * X.shape[1] + 4)


def box_distance_vjp(
    X: AnyArray,
    lows: AnyArray,
    highs: AnyArray,
    below: AnyArray,
    above: AnyArray,
    dZ: AnyArray,
    on: AnyArray | None = None,
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σ_n dZ_nj ∂Z_nj/∂λ_j for λ = lows, highs, below and above, each (m, d), summed over tiles in float64.

    Sides of sharpness 0 are visited too: they have a derivative by their sharpness.
    """
    w_under, w_over, d_below, d_above = _weigh(_box_sums, X, dZ, on, lows, highs, n_sums=4)
    return below * w_under, -above * w_over, d_below, d_above


def projection(X: AnyArray, slopes: AnyArray, offsets: AnyArray) -> AnyArray:
    """Z_nj = Σ_i slopes_ji x_ni + offsets_j, of rows that are not turned, in C order.

    A stretch of rows at a time, whose offsets are added while it is in the cache.

    >>> projection(np.array([[1.0, 2.0]]), np.array([[1.0, 0.5]]), np.array([3.0]))
    array([[5.]])
    """
    Z = np.empty((len(X), len(offsets)), X.dtype)
    _projection(*(np.ascontiguousarray(array, dtype=X.dtype) for array in (X, slopes.T, offsets)), Z)
    return Z


def centred_products(A: AnyArray, B: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray, AnyArray]:
    """Σs, the weighted mean of the rows [a, b], Σ s·(a - mean)([a, b] - mean)ᵀ and Σ s·(b - mean)².

    In float64, whatever the precision of a. Sixteen products at a time, of which vector registers hold the
    sums: half the time of BLAS, which is made for larger matrices.
    """
    m, k = A.shape[1], B.shape[1]
    if k > m:  # products of b with b, which nobody needs, would take most of the time
        return reference.centred_products(A, B, s)
    size, mean, weights = _up(m + k, 4), np.empty(m + k), np.ascontiguousarray(s)
    products, V = np.zeros((size, size)), np.zeros((size, PRODUCT_ROWS))
    rows = turned(A, np.float64), turned(B, np.float64)
    weight = _centred_products(*rows, weights, np.sqrt(weights), mean, V, products)
    both = products[: m + k, : m + k]
    return weight, mean, both[:m], both.diagonal()[m:].copy()


def column_moments(X: AnyArray, s: AnyArray) -> tuple[float, AnyArray, AnyArray, AnyArray, AnyArray]:
    """Σs, and the weighted mean, Σ s·(x - mean)², least and largest value of every column."""
    rows = np.ascontiguousarray(X)
    weight, mean, squares, low, high = _column_moments(rows, np.ascontiguousarray(s, dtype=rows.dtype))
    return weight, mean, squares, low, high


def turned(array: AnyArray, dtype: Any = None) -> AnyArray:
    """The transpose in C order: no copy of what is in Fortran order."""
    return np.ascontiguousarray(array.T, dtype=dtype)


def _up(size: int, step: int) -> int:
    """The next multiple."""
    return -(-size // step) * step


def _pad(array: AnyArray, dtype: Any) -> AnyArray:
    """The transpose in C order, its rows filled up with zeros."""
    n, m = array.shape
    if n % LANES == 0 and reference.is_turned(array):
        return turned(array, dtype)
    whole = np.empty((m, _up(n, LANES)), dtype)
    for start in range(0, n, TURNED_ROWS):
        whole[:, start : min(start + TURNED_ROWS, n)] = array[start : start + TURNED_ROWS].T
    whole[:, n:] = 0
    return whole


def _stretch(X: AnyArray) -> int:
    """How many rows to take at a time."""
    rows = max(1, STRETCH // (X.shape[1] * LANES)) * LANES
    return int(min(STRETCH_BYTES // X.itemsize, rows))


def _distance(loop: Any, X: AnyArray, *units: AnyArray, n_places: int) -> AnyArray:
    """Z (n, m), in Fortran order; `n_places` for each unit are to work in."""
    rows, m = _pad(X, X.dtype), len(units[0])
    Z, places = np.empty((m, rows.shape[1]), X.dtype), np.zeros((m, n_places), np.int64)
    loop(rows, *(np.ascontiguousarray(array, dtype=X.dtype) for array in units), _stretch(X), places, Z)
    return Z[:, : len(X)].T


def _weigh(
    loop: Any, X: AnyArray, dZ: AnyArray, on: AnyArray | None, *units: AnyArray, n_sums: int
) -> AnyArray:
    """Sums over rows (n_sums, m, d) with weights dZ, 0 for the features of units that are not on."""
    sums = np.zeros((n_sums, *units[0].shape))
    visited = np.ones(units[0].shape, bool) if on is None else np.ascontiguousarray(on)
    alike = (np.ascontiguousarray(array, dtype=X.dtype) for array in units)
    loop(_pad(X, X.dtype), _pad(dZ, X.dtype), visited, *alike, _stretch(X), sums)
    return sums


@_jit
def _find_places(sharpness, places):  # type: ignore[no-untyped-def]
    """Where each unit has a sharpness, and in the last column their number."""
    m, d = sharpness.shape
    for j in range(m):
        count = 0
        for i in range(d):
            if sharpness[j, i] != 0:
                places[j, count] = i
                count += 1
        places[j, -1] = count


@_jit
def _absolute_distance(X, centers, shapes, step, places, Z):  # type: ignore[no-untyped-def]
    n = X.shape[1]
    zero = X.dtype.type(0)
    _find_places(shapes, places)
    for start in range(0, n, step):
        stop = min(start + step, n)
        for j in range(len(Z)):
            z = Z[j, start:stop]
            for r in range(stop - start):
                z[r] = 0
            for k in range(0, places[j, -1], 2):
                i0, i1 = places[j, k], places[j, k + 1]
                x, y = X[i0, start:stop], X[i1, start:stop]
                a, b, p, q = centers[j, i0], centers[j, i1], shapes[j, i0], shapes[j, i1]
                if k + 1 == places[j, -1]:
                    q = zero
                for r in range(stop - start):
                    z[r] += p * abs(x[r] - a) + q * abs(y[r] - b)


@_jit
def _squared_distance(X, centers, shapes, step, places, Z):  # type: ignore[no-untyped-def]
    n = X.shape[1]
    zero = X.dtype.type(0)
    _find_places(shapes, places)
    for start in range(0, n, step):
        stop = min(start + step, n)
        for j in range(len(Z)):
            z = Z[j, start:stop]
            for r in range(stop - start):
                z[r] = 0
            for k in range(0, places[j, -1], 2):
                i0, i1 = places[j, k], places[j, k + 1]
                x, y = X[i0, start:stop], X[i1, start:stop]
                a, b, p, q = centers[j, i0], centers[j, i1], shapes[j, i0], shapes[j, i1]
                if k + 1 == places[j, -1]:
                    q = zero
                for r in range(stop - start):
                    u, v = x[r] - a, y[r] - b
                    z[r] += p * u * u + q * v * v


@_jit
def _box_distance(X, sides, sharpness, step, places, Z):  # type: ignore[no-untyped-def]
    """Sides, the lower and the upper one of each feature in turn, in fours, as w·(a·x - a·side)₊ with a = ±1.

    Beyond the last one w is 0.
    """
    n = X.shape[1]
    zero, one = X.dtype.type(0), X.dtype.type(1)
    _find_places(sharpness, places)
    for start in range(0, n, step):
        stop = min(start + step, n)
        for j in range(len(Z)):
            z, count = Z[j, start:stop], places[j, -1]
            for r in range(stop - start):
                z[r] = 0
            for k in range(0, count, 4):
                i0, i1, i2, i3 = places[j, k], places[j, k + 1], places[j, k + 2], places[j, k + 3]
                x0, x1 = X[i0 // 2, start:stop], X[i1 // 2, start:stop]
                x2, x3 = X[i2 // 2, start:stop], X[i3 // 2, start:stop]
                a0, a1 = (one if i0 % 2 else -one), (one if i1 % 2 else -one)
                a2, a3 = (one if i2 % 2 else -one), (one if i3 % 2 else -one)
                c0, c1, c2, c3 = (
                    -a0 * sides[j, i0],
                    -a1 * sides[j, i1],
                    -a2 * sides[j, i2],
                    -a3 * sides[j, i3],
                )
                w0, w1 = sharpness[j, i0], (sharpness[j, i1] if k + 1 < count else zero)
                w2 = sharpness[j, i2] if k + 2 < count else zero
                w3 = sharpness[j, i3] if k + 3 < count else zero
                for r in range(stop - start):
                    u0, u1 = a0 * x0[r] + c0, a1 * x1[r] + c1
                    u2, u3 = a2 * x2[r] + c2, a3 * x3[r] + c3
                    first = w0 * (zero if zero > u0 else u0) + w1 * (zero if zero > u1 else u1)
                    second = w2 * (zero if zero > u2 else u2) + w3 * (zero if zero > u3 else u3)
                    z[r] += first + second


@_jit
def _absolute_sums(X, dZ, on, centers, step, sums):  # type: ignore[no-untyped-def]
    """Σ_n dZ_nj times sign(x_ni - c_ji) and |x_ni - c_ji|."""
    d, n = X.shape
    zero = X.dtype.type(0)
    for start in range(0, n, step):
        stop = min(start + step, n)
        for j in range(len(dZ)):
            g = dZ[j, start:stop]
            for i in range(d):
                if not on[j, i]:
                    continue
                x, c = X[i, start:stop], centers[j, i]
                signs = distances = zero
                for r in range(stop - start):
                    u = x[r] - c
                    h = g[r] if u > 0 else (-g[r] if u < 0 else zero)
                    signs += h
                    distances += h * u
                sums[0, j, i] += signs
                sums[1, j, i] += distances


@_jit
def _squared_sums(X, dZ, on, centers, step, sums):  # type: ignore[no-untyped-def]
    """Σ_n dZ_nj times x_ni - c_ji and (x_ni - c_ji)²."""
    d, n = X.shape
    zero = X.dtype.type(0)
    for start in range(0, n, step):
        stop = min(start + step, n)
        for j in range(len(dZ)):
            g = dZ[j, start:stop]
            for i in range(d):
                if not on[j, i]:
                    continue
                x, c = X[i, start:stop], centers[j, i]
                differences = squares = zero
                for r in range(stop - start):
                    u = x[r] - c
                    h = g[r] * u
                    differences += h
                    squares += h * u
                sums[0, j, i] += differences
                sums[1, j, i] += squares


@_jit
def _box_sums(X, dZ, on, lows, highs, step, sums):  # type: ignore[no-untyped-def]
    """Σ_n dZ_nj times [x < low], [x > high], (low - x)₊ and (x - high)₊."""
    d, n = X.shape
    zero = X.dtype.type(0)
    for start in range(0, n, step):
        stop = min(start + step, n)
        for j in range(len(dZ)):
            g = dZ[j, start:stop]
            for i in range(d):
                if not on[j, i]:
                    continue
                x, low, high = X[i, start:stop], lows[j, i], highs[j, i]
                w_under = w_over = under = over = zero
                for r in range(stop - start):
                    u = low - x[r]
                    w = g[r] if u > 0 else zero
                    w_under += w
                    under += w * u
                    u = x[r] - high
                    w = g[r] if u > 0 else zero
                    w_over += w
                    over += w * u
                sums[0, j, i] += w_under
                sums[1, j, i] += w_over
                sums[2, j, i] += under
                sums[3, j, i] += over


@_jit
def _projection(X, slopes, offsets, Z):  # type: ignore[no-untyped-def]
    for start in range(0, len(X), PRODUCT_ROWS):
        z = Z[start : start + PRODUCT_ROWS]
        np.dot(X[start : start + PRODUCT_ROWS], slopes, z)
        for r in range(len(z)):
            for j in range(len(offsets)):
                z[r, j] += offsets[j]


@_jit
def _centred_products(A, B, s, roots, mean, V, products):  # type: ignore[no-untyped-def]
    """Sums of products of all rows, up to a multiple of 4 of them; V is to work in. Returns Σs."""
    m, n = A.shape
    weight = 0.0
    for r in range(n):
        weight += s[r]
    for j in range(len(mean)):
        total = 0.0
        if j < m:
            a = A[j]
            for r in range(n):
                total += s[r] * a[r]
        else:
            b = B[j - m]
            for r in range(n):
                total += s[r] * b[r]
        mean[j] = total / weight
    for start in range(0, n, PRODUCT_ROWS):
        height = min(PRODUCT_ROWS, n - start)
        width = (height + LANES - 1) // LANES * LANES
        root = roots[start : start + height]
        for j in range(len(mean)):
            v, middle = V[j], mean[j]
            if j < m:
                a = A[j, start : start + height]
                for r in range(height):
                    v[r] = root[r] * (a[r] - middle)
            else:
                b = B[j - m, start : start + height]
                for r in range(height):
                    v[r] = root[r] * (b[r] - middle)
            for r in range(height, width):
                v[r] = 0
        for i in range(0, len(V), 4):
            a0, a1, a2, a3 = V[i], V[i + 1], V[i + 2], V[i + 3]
            for j in range(0, i + 1, 4):
                b0, b1, b2, b3 = V[j], V[j + 1], V[j + 2], V[j + 3]
                s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
                s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
                for r in range(width):
                    x0, x1, x2, x3 = a0[r], a1[r], a2[r], a3[r]
                    y0, y1, y2, y3 = b0[r], b1[r], b2[r], b3[r]
                    s00 += x0 * y0
                    s01 += x0 * y1
                    s02 += x0 * y2
                    s03 += x0 * y3
                    s10 += x1 * y0
                    s11 += x1 * y1
                    s12 += x1 * y2
                    s13 += x1 * y3
                    s20 += x2 * y0
                    s21 += x2 * y1
                    s22 += x2 * y2
                    s23 += x2 * y3
                    s30 += x3 * y0
                    s31 += x3 * y1
                    s32 += x3 * y2
                    s33 += x3 * y3
                products[i, j] += s00
                products[i, j + 1] += s01
                products[i, j + 2] += s02
                products[i, j + 3] += s03
                products[i + 1, j] += s10
                products[i + 1, j + 1] += s11
                products[i + 1, j + 2] += s12
                products[i + 1, j + 3] += s13
                products[i + 2, j] += s20
                products[i + 2, j + 1] += s21
                products[i + 2, j + 2] += s22
                products[i + 2, j + 3] += s23
                products[i + 3, j] += s30
                products[i + 3, j + 1] += s31
                products[i + 3, j + 2] += s32
                products[i + 3, j + 3] += s33
    for i in range(len(products)):
        for j in range(i):
            products[j, i] = products[i, j]
    return weight


@_jit
def _column_moments(X, s):  # type: ignore[no-untyped-def]
    n, d = X.shape
    weight, mean, squares = 0.0, np.zeros(d), np.zeros(d)
    low, high = X[0].copy(), X[0].copy()
    for r in range(n):
        weight += s[r]
        for i in range(d):
            x = X[r, i]
            mean[i] += s[r] * x
            low[i] = min(low[i], x)
            high[i] = max(high[i], x)
    for i in range(d):
        mean[i] /= weight
    for r in range(n):
        for i in range(d):
            difference = X[r, i] - mean[i]
            squares[i] += s[r] * difference * difference
    return weight, mean, squares, low, high
