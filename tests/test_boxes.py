"""Box units: kernels, basis, a fitted model with its exports, and rules in words."""

import shutil
import subprocess

import numpy as np
import pytest
from engines import query, skip_without
from hypothesis import given, settings
from hypothesis import strategies as st

import sleek
from sleek import LowRankLSSVC, RobustRBF, kernels
from sleek.bases import known_bases
from sleek.bases.box import Box, from_sides, rule, sides
from sleek.datasets import make_ripley
from sleek.export import to_c, to_onnx, to_python, to_sql
from sleek.kernels import compiled, reference
from sleek.rows.scaling import Scaling
from sleek.testing import BasisContract

TOLERANCE = {np.float64: 1e-12, np.float32: 3e-5}
IMPLEMENTATIONS = pytest.mark.parametrize("module", [reference, compiled])
PRECISIONS = pytest.mark.parametrize("dtype", [np.float64, np.float32])
sizes = st.tuples(st.integers(1, 300), st.integers(1, 7), st.integers(1, 70))


# -- kernels ------------------------------------------------------------------------------------------------


def problem(n, m, d, dtype, seed=0):
    """Rows, some of them on a side, and boxes, some without width, many sides without sharpness."""
    rng = np.random.default_rng(seed)
    X, lows = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    highs = lows + rng.uniform(size=(m, d)).astype(dtype)
    highs[:, ::4] = lows[:, ::4]
    X[::3, ::2], X[1::3, ::3] = lows[0, ::2], highs[0, ::3]
    below, above = (rng.uniform(size=(m, d)) * (rng.uniform(size=(m, d)) < 0.4) for _ in range(2))
    boxes = lows.astype(np.float64), highs.astype(np.float64), below, above
    return X, boxes, rng.normal(size=(n, m)).astype(dtype)


def brute_force(X, lows, highs, below, above, dZ):
    """One broadcast in float64."""
    under, over = lows - X[:, None].astype(np.float64), X[:, None].astype(np.float64) - highs
    Z = (above * np.where(over > 0, over, 0) + below * np.where(under > 0, under, 0)).sum(axis=2)
    slopes = below * (under > 0), -above * (over > 0), np.maximum(under, 0), np.maximum(over, 0)
    return Z, [np.einsum("nm,nmd->md", dZ.astype(np.float64), slope) for slope in slopes]


def assert_close(values, expected, tolerance):
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@IMPLEMENTATIONS
@PRECISIONS
@settings(max_examples=25, deadline=None)
@given(size=sizes)
def test_distances_and_gradients_are_those_of_the_formula(module, dtype, size):
    X, boxes, dZ = problem(*size, dtype)
    Z, gradients = brute_force(X, *boxes, dZ)
    found = module.box_distance(X, *boxes)
    assert found.dtype == dtype
    assert_close(found, Z, TOLERANCE[dtype])
    for one, other in zip(module.box_distance_vjp(X, *boxes, dZ), gradients, strict=True):
        assert one.dtype == np.float64
        assert_close(one, other, TOLERANCE[dtype])


@PRECISIONS
def test_compiled_loops_take_slices_and_other_orders(dtype):
    X, boxes, dZ = problem(600, 5, 9, dtype)
    for rows in (np.asfortranarray(X), X[::2], X[:, ::-1][:, ::-1]):
        Z, gradients = brute_force(rows, *boxes, dZ[: len(rows)])
        weights = np.asfortranarray(dZ[: len(rows)])
        assert_close(compiled.box_distance(rows, *boxes), Z, TOLERANCE[dtype])
        for one, other in zip(compiled.box_distance_vjp(rows, *boxes, weights), gradients, strict=True):
            assert_close(one, other, TOLERANCE[dtype])


def test_small_and_large_blocks_agree():
    X, boxes, _ = problem(4000, 6, 30, np.float64)
    assert X.size * 6 > kernels.COMPILED_FROM
    whole = kernels.box_distance(X, *boxes)
    for cut in (1, 20, 900):  # one broadcast, and a loop over features
        assert_close(kernels.box_distance(X[:cut], *boxes), whole[:cut], 1e-12)


@IMPLEMENTATIONS
def test_inside_a_box_the_distance_is_zero_to_the_last_digit(module):
    rng = np.random.default_rng(0)
    X = 1e6 + rng.uniform(-1.0, 1.0, size=(200, 40))
    boxes = (np.full((3, 40), 1e6 + side) for side in (-1.0, 1.0))
    np.testing.assert_array_equal(module.box_distance(X, *boxes, *np.full((2, 3, 40), 1e3)), 0.0)


@IMPLEMENTATIONS
def test_not_a_number_stays_not_a_number(module):
    X = np.ones((200, 3))
    X[7, 1] = np.nan
    Z = module.box_distance(X, *np.zeros((2, 2, 3)), *np.ones((2, 2, 3)))
    assert np.isnan(Z[7]).all()
    assert np.isfinite(np.delete(Z, 7, axis=0)).all()


# -- the basis ----------------------------------------------------------------------------------------------


class TestBox(BasisContract):
    def make(self):
        return Box()


def test_it_is_known_by_its_name():
    assert known_bases()["box"] is Box


@pytest.mark.parametrize("n", [50, 3000])
def test_a_box_without_width_and_with_equal_sides_is_the_robust_rbf(n):
    rng = np.random.default_rng(0)
    X, centers, dPhi = rng.normal(size=(n, 8)), rng.normal(size=(12, 8)), rng.normal(size=(n, 12))
    X[:5] = centers[:5]
    box, robust = Box().start(centers, 0.3, rng), RobustRBF().start(centers, 0.3, rng)
    Phi = Box().features(X, box)
    np.testing.assert_allclose(Phi, RobustRBF().features(X, robust), rtol=1e-13)
    by_box, by_robust = Box().vjp(X, box, Phi, dPhi), RobustRBF().vjp(X, robust, Phi, dPhi)
    assert_close(by_box["centers"], by_robust["centers"], 1e-12)
    assert_close(by_box["below"] + by_box["above"], by_robust["shapes"], 1e-12)


def test_it_is_one_inside_and_halves_outside_in_the_distance_of_its_sharpness():
    units = from_sides([[0.0]], [[10.0]], [[np.log(2) / 3]], [[np.log(2) / 5]])
    Phi = Box().features(np.array([[0.0], [4.0], [10.0], [-3.0], [15.0], [20.0]]), units)
    np.testing.assert_allclose(Phi[:, 0], [1, 1, 1, 0.5, 0.5, 0.25], rtol=1e-14)


def test_sides_and_units_are_each_others_inverse():
    _, boxes, _ = problem(1, 4, 6, np.float64)
    units = from_sides(*boxes)
    assert (units["half_widths"] >= 0).all()
    for found, given_side in zip(sides(units), boxes[:2], strict=True):
        np.testing.assert_allclose(found, given_side, rtol=1e-14, atol=1e-15)


def test_mirrored_rows_see_mirrored_boxes_alike():
    X, (lows, highs, below, above), dZ = problem(60, 4, 5, np.float64)
    units, mirrored = from_sides(lows, highs, below, above), from_sides(-highs, -lows, above, below)
    Phi = Box().features(X, units)
    np.testing.assert_allclose(Box().features(-X, mirrored), Phi, rtol=1e-13)
    one, other = Box().vjp(X, units, Phi, dZ), Box().vjp(-X, mirrored, Phi, dZ)
    for name, twin, sign in (
        ("centers", "centers", -1),
        ("half_widths", "half_widths", 1),
        ("below", "above", 1),
    ):
        np.testing.assert_allclose(other[name], sign * one[twin], rtol=1e-12, atol=1e-13)


def test_a_side_of_sharpness_zero_can_grow():
    start = from_sides(np.zeros((3, 4)), np.ones((3, 4)), np.zeros((3, 4)), np.full((3, 4), 8.0))
    coordinates = Box().coordinates(start)
    grown = coordinates.units(np.ones(4 * 12))
    np.testing.assert_allclose(grown["below"], 0.5)
    np.testing.assert_allclose(grown["above"], 8.5)


# -- a fitted model -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    X, y = make_ripley(250, random_state=0)
    return LowRankLSSVC(4, basis="box", C=10.0, random_state=0).fit(X, y), *make_ripley(400, random_state=1)


def test_it_learns_and_learns_the_same_again(fitted):
    estimator, X, y = fitted
    assert estimator.score(X, y) > 0.86
    again = LowRankLSSVC(4, basis="box", C=10.0, random_state=0).fit(*make_ripley(250, random_state=0))
    np.testing.assert_array_equal(again.decision_function(X), estimator.decision_function(X))


def test_saved_and_loaded_it_says_the_same(fitted, tmp_path):
    estimator, X, _ = fitted
    estimator.model_.save(tmp_path / "box.json")
    np.testing.assert_array_equal(sleek.load(tmp_path / "box.json").predict(X), estimator.predict(X))


def test_in_python_it_says_the_same(fitted):
    estimator, X, _ = fitted
    module = {}
    exec(to_python(estimator.model_), module)
    assert [module["predict"](row) for row in X.tolist()] == estimator.predict(X).tolist()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler (gcc) on this machine")
def test_in_c_it_says_the_same(fitted, tmp_path):
    estimator, X, _ = fitted
    (tmp_path / "model.h").write_text(to_c(estimator.model_), encoding="utf-8")
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "model.h"\nint main(void) {\n    double x[2];\n'
        '    while (fread(x, sizeof x, 1, stdin) == 1) printf("%d\\n", model_predict(x));\n    return 0;\n}\n'
    )
    flags = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2")
    subprocess.run(["gcc", *flags, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], input=X.tobytes(), capture_output=True, check=True)
    codes = np.array(done.stdout.split(), dtype=int)
    np.testing.assert_array_equal(estimator.classes_[codes], estimator.predict(X))


def test_in_sql_it_says_the_same(fitted):
    estimator, X, _ = fitted
    skip_without("sqlite", "box")
    columns = {"x0": X[:, 0].tolist(), "x1": X[:, 1].tolist()}
    found = query("sqlite", to_sql(estimator.model_, "sqlite", keep=["id"]), columns)
    assert [row[1] for row in found] == estimator.predict(X).tolist()


def test_in_onnx_it_says_the_same(fitted):
    runtime = pytest.importorskip("onnxruntime")
    estimator, X, _ = fitted
    proto = to_onnx(estimator.model_, "float64")
    session = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    label = session.run(["label"], {"X": X})[0]
    np.testing.assert_array_equal(label, estimator.predict(X))


# -- rules --------------------------------------------------------------------------------------------------


def said(low, high, below, above, least=0.0, most=100.0, name="age"):
    """The rule of a unit with one feature, softness given as the distance to half."""
    q, p = (np.log(2) / half if half else 0.0 for half in (below, above))
    return rule(from_sides([[low]], [[high]], [[q]], [[p]]), 0, [least], [most], [name])


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ((50.2, 70.0, 3.1, None), "age above 50 ± 3"),
        ((50.2, 70.0, None, 12.0), "age below 70 ± 10"),
        ((30.0, 50.0, 3.0, 5.0), "age from 30 ± 3 to 50 ± 5"),
        ((40.0, 40.0, 3.0, 3.0), "age near 40 ± 3"),
        ((40.0, 40.0, 3.0, 6.0), "age from 40 ± 3 to 40 ± 6"),
        ((49.5, 70.0, 1e-3, None), "age above 50"),  # too sharp for a softness to be worth a word
        ((-5.0, 105.0, 3.0, 3.0), "everywhere"),  # both sides beyond the data
        ((40.0, 60.0, 1e4, 1e4), "everywhere"),  # hardly any sharpness
        ((40.0, 60.0, None, None), "everywhere"),
    ],
)
def test_a_unit_is_said_as_a_rule(box, words):
    assert said(*box) == words


@pytest.mark.parametrize(
    ("box", "ends", "words"),
    [
        ((0.0, 40_123.0, None, 5_432.0), (0.0, 150_000.0), "age below 40,000 ± 5,000"),
        ((0.0123, 1.0, 0.002, None), (0.0, 0.05), "age above 0.012 ± 0.002"),
        ((-0.02, 1.0, 0.3, None), (-3.0, 3.0), "age above 0.0 ± 0.3"),  # never -0.0
        ((5.0, 9.0, 34.0, None), (0.0, 10.0), "age above 5 ± 34"),  # softer than the data are wide
        ((2e-9, 1.0, 3e-10, None), (0.0, 5e-9), "age above 2e-09 ± 3e-10"),
        ((2e12, 1e14, 3e11, None), (0.0, 5e12), "age above 2e+12 ± 3e+11"),
    ],
)
def test_numbers_have_the_digits_that_mean_something(box, ends, words):
    assert said(*box, *ends) == words


def test_conditions_that_matter_most_come_first():
    units = from_sides([[1.0, 1.0, 0.0]], [[9.0, 9.0, 9.0]], [[0.1, 2.0, 0.0]], [[0.0, 0.0, 0.0]])
    words = rule(units, 0, [0.0] * 3, [9.0] * 3, ["weak", "strong", "none"])
    assert words == "strong above 1.0 ± 0.3 and weak above 1.0 ± 6.9"


@pytest.mark.parametrize("place", [1.0, 3.0, 5.0])
def test_a_rule_of_a_feature_that_never_varied_says_nothing(place):
    assert said(place, place, 1.0, 1.0, least=3.0, most=3.0) == "everywhere"


def test_rules_of_units_in_other_units_are_the_same_but_for_them():
    scaled = from_sides([[-1.0]], [[1.0]], [[4.0]], [[4.0]])
    raw = Box().unscale(scaled, Scaling(np.array([50.0]), np.array([0.1])))
    assert rule(raw, 0, [20.0], [80.0], ["age"]) == "age from 40 ± 2 to 60 ± 2"
