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
