"""The compiled loops against the NumPy definition, and the definition against the formula."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleek import kernels
from sleek.kernels import compiled, reference

TOLERANCE = {np.float64: 1e-12, np.float32: 3e-5}
sizes = st.tuples(st.integers(1, 300), st.integers(1, 7), st.integers(1, 70))


def problem(n, m, d, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X, centers = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d))
    X[::3, ::2] = centers[0, ::2]  # rows at a centre, where the sign is 0
    shapes, dZ = rng.uniform(size=(m, d)), rng.normal(size=(n, m)).astype(dtype)
    shapes[:, ::5] = 0.0
    return X, centers.astype(dtype).astype(np.float64), shapes, dZ


def brute_force(X, centers, shapes, dZ, power):
    """Row by row, unit by unit, in float64."""
    X, dZ = X.astype(np.float64), dZ.astype(np.float64)
    Z = np.array(
        [[np.sum(mu * abs(x - c) ** power) for c, mu in zip(centers, shapes, strict=True)] for x in X]
    )
    d_centers, d_shapes = np.zeros_like(centers), np.zeros_like(shapes)
    for n, x in enumerate(X):
        for j, c in enumerate(centers):
            slope = np.sign(x - c) if power == 1 else 2 * (x - c)
            d_centers[j] -= dZ[n, j] * shapes[j] * slope
            d_shapes[j] += dZ[n, j] * abs(x - c) ** power
    return Z, d_centers, d_shapes


def assert_close(values, expected, tolerance):
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("module", "name"), [(reference, "absolute"), (reference, "squared"), (compiled, "absolute")]
)
@settings(max_examples=25, deadline=None)
@given(size=sizes)
def test_distances_and_gradients_are_those_of_the_formula(module, name, dtype, size):
    X, centers, shapes, dZ = problem(*size, dtype)
    Z, d_centers, d_shapes = brute_force(X, centers, shapes, dZ, 1 if name == "absolute" else 2)
    found = getattr(module, f"{name}_distance")(X, centers, shapes)
    assert found.dtype == dtype
    assert_close(found, Z, TOLERANCE[dtype])
    for one, other in zip(
        getattr(module, f"{name}_distance_vjp")(X, centers, shapes, dZ), (d_centers, d_shapes), strict=True
    ):
        assert_close(one, other, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_loops_take_slices_and_other_orders(dtype):
    X, centers, shapes, dZ = problem(600, 5, 9, dtype)
    for rows in (np.asfortranarray(X), X[::2], X[:, ::-1][:, ::-1]):
        weights = np.asfortranarray(dZ[: len(rows)])
        assert_close(
            compiled.absolute_distance(rows, centers, shapes),
            reference.absolute_distance(rows, centers, shapes),
            TOLERANCE[dtype],
        )
        for one, other in zip(
            compiled.absolute_distance_vjp(rows, centers, shapes, weights),
            reference.absolute_distance_vjp(rows, centers, shapes, weights),
            strict=True,
        ):
            assert_close(one, other, TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["absolute", "squared"])
def test_small_and_large_blocks_agree(name):
    X, centers, shapes, _ = problem(4000, 6, 30, np.float64)
    distance = getattr(kernels, f"{name}_distance")
    assert X.size * len(centers) > kernels.COMPILED_FROM
    whole = distance(X, centers, shapes)
    for cut in (1, 20, 900):  # one broadcast, a loop over features, and (for cut = 900) the same again
        assert_close(distance(X[:cut], centers, shapes), whole[:cut], 1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_squared_distances_do_not_cancel_far_from_zero(dtype):
    rng = np.random.default_rng(0)
    offset = 1e6 if dtype is np.float64 else 1e3
    X = (rng.normal(size=(50, 4)) + offset).astype(dtype)
    centers, shapes = X[:3].astype(np.float64), np.ones((3, 4))
    Z, _, _ = brute_force(X, centers, shapes, np.zeros((50, 3)), 2)
    np.testing.assert_allclose(
        reference.squared_distance(X, centers, shapes),
        Z,
        rtol=1e-3,
        atol=1e-8 if dtype is np.float64 else 1e-3,
    )
    assert reference.squared_distance(X, centers, shapes).min() >= 0


def test_a_distance_of_huge_terms_does_not_turn_negative():
    X = np.array([[1e9, 1e9], [1e150, 0.0]])
    Z = reference.squared_distance(X, np.array([[1.0, -1.0]]), np.ones((1, 2)))
    assert Z.min() > 1e17


def test_not_a_number_stays_not_a_number():
    X = np.ones((200, 3))
    X[7, 1] = np.nan
    Z = compiled.absolute_distance(X, np.zeros((2, 3)), np.ones((2, 3)))
    assert np.isnan(Z[7]).all()
    assert np.isfinite(np.delete(Z, 7, axis=0)).all()


def test_a_folder_that_cannot_keep_compiled_code_is_no_obstacle(tmp_path):
    program = (
        "import numba, numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"  # as if no folder could be written to
        "import numpy as np\n"
        "from sleek.kernels.compiled import absolute_distance\n"
        "print(absolute_distance(np.ones((1, 2)), np.zeros((1, 2)), np.ones((1, 2)))[0, 0])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2.0"


ORDERS = pytest.mark.parametrize("order", ["C", "F"])
PRECISIONS = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@ORDERS
@PRECISIONS
@pytest.mark.parametrize("module", [reference, compiled])
@pytest.mark.parametrize(("n", "m", "k"), [(700, 5, 1), (1300, 7, 1), (700, 5, 5), (512, 9, 3), (700, 3, 12)])
def test_sums_of_few_and_of_many_outputs(module, n, m, k, dtype, order):
    """In float64, whatever the precision of the units' values."""
    rng = np.random.default_rng(m + k)
    A, B = np.asarray(rng.normal(size=(n, m)) + 3.0, dtype, order), rng.normal(size=(n, k))
    s = rng.uniform(0.5, 2.0, n)
    weight, mean, products, squares = module.centred_products(A, B, s)
    both = np.hstack([A.astype(np.float64), B])
    oracle = np.cov(both.T, aweights=s, ddof=0) * s.sum()
    np.testing.assert_allclose((weight, *mean), (s.sum(), *np.average(both, axis=0, weights=s)), rtol=1e-13)
    np.testing.assert_allclose(products, oracle[:m], atol=1e-9)
    np.testing.assert_allclose(squares, np.diag(oracle)[m:], atol=1e-9)


@ORDERS
@PRECISIONS
@pytest.mark.parametrize(("m", "k"), [(5, 1), (5, 5), (3, 12)])
def test_gradients_by_the_values_of_units_keep_order_and_precision(m, k, dtype, order):
    rng = np.random.default_rng(m + k)
    Phi, T, s = (
        np.asarray(rng.normal(size=(700, m)), dtype, order),
        rng.normal(size=(700, k)),
        rng.random(700),
    )
    theta, b = rng.normal(size=(m, k)), rng.normal(size=k)
    wanted = -(s[:, None] * (T - Phi.astype(np.float64) @ theta - b)) @ theta.T
    found = kernels.output_gradient(Phi, T, s, theta, b)
    assert found.dtype == dtype
    assert_close(found, wanted, 1e-6 if dtype is np.float32 else 1e-12)
    if k <= m:
        assert reference.is_turned(found) == (order == "F")


@PRECISIONS
def test_projections_of_turned_rows_are_turned(dtype):
    rng = np.random.default_rng(0)
    X, slopes, offsets = rng.normal(size=(50, 4)).astype(dtype), rng.normal(size=(3, 4)), rng.normal(size=3)
    wanted = X @ slopes.T + offsets
    assert_close(compiled.projection(X, slopes, offsets), wanted, 1e-6 if dtype is np.float32 else 1e-12)
    for rows in (X, np.asfortranarray(X)):
        found = kernels.projection(rows, slopes, offsets)
        assert found.dtype == dtype
        assert reference.is_turned(found) == reference.is_turned(rows)
        assert_close(found, wanted, 1e-6 if dtype is np.float32 else 1e-12)


@PRECISIONS
@pytest.mark.parametrize("module", [reference, compiled])
def test_derivatives_that_nobody_wants_are_zero_and_the_others_what_they_were(module, dtype):
    rng = np.random.default_rng(0)
    X, centers, shapes, dZ = problem(300, 5, 9, dtype)
    on = rng.random((5, 9)) < 0.3
    highs, above = centers + rng.uniform(size=(5, 9)), rng.uniform(size=(5, 9))
    for vjp, arguments in (
        (module.absolute_distance_vjp, (X, centers, shapes, dZ)),
        (module.squared_distance_vjp, (X, centers, shapes, dZ)),
        (module.box_distance_vjp, (X, centers, highs, shapes, above, dZ)),
    ):
        for wanted, whole in zip(vjp(*arguments, on), vjp(*arguments), strict=True):
            np.testing.assert_array_equal(wanted, np.where(on, whole, 0.0))
