"""Rows as training reads them: the same blocks and, but for rounding, the same objective and gradient."""

from dataclasses import replace

import numpy as np
import pytest
from made_sources import class_source, sample_of

from sleek import LowRankLSSVC
from sleek.bases import known_bases
from sleek.bases.expansion import Expansion
from sleek.closed_form.solve import Penalty
from sleek.kernels import LARGE_BLOCK
from sleek.kernels.reference import is_turned
from sleek.outputs.loss import LOGISTIC
from sleek.trainers import joint, varpro
from sleek.trainers.base import Reached
from sleek.trainers.training_rows import (
    ONE_CALL_ROWS,
    SINGLE_ROWS,
    Turned,
    TurnedAccess,
    training_rows,
    turn,
)


def source_of(n, d=5, shift=0.0, n_jobs=1):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    s = rng.uniform(0.5, 2.0, size=n)
    return sample_of(class_source(X + shift, X[:, 0] * X[:, 1] > 0, s), n_jobs=n_jobs)


def blocks_of(source):
    return source.map_reduce(lambda block: [block])


@pytest.mark.parametrize(
    ("n", "n_units", "turned", "dtype"),
    [
        (100, 3, False, np.float64),  # too few to be worth it
        (SINGLE_ROWS - 1, 50, True, np.float64),
        (SINGLE_ROWS, 5, True, np.float32),
        (LARGE_BLOCK + 700, 5, True, np.float32),
        (ONE_CALL_ROWS + 700, 5, True, np.float32),
    ],
)
def test_rows_are_turned_and_large_data_are_read_in_single_precision(n, n_units, turned, dtype):
    source = source_of(n)
    rows = training_rows(source, n_units)
    assert (rows.n_rows, rows.outputs) == (n, source.outputs)
    blocks = blocks_of(rows)
    assert (len(blocks) == 1) == (n <= ONE_CALL_ROWS)
    assert all(is_turned(own.X) == turned and own.X.dtype == dtype for own in blocks)
    for name, kind in (("X", dtype), ("T", float), ("s", float)):
        given, own = (
            np.concatenate([getattr(b, name) for b in some]) for some in (blocks_of(source), blocks)
        )
        np.testing.assert_array_equal(own, given.astype(kind))


def test_blocks_are_turned_once_or_whenever_they_come_and_are_the_same():
    source = source_of(2 * ONE_CALL_ROWS)
    kept = training_rows(source, 5)
    assert isinstance(kept, TurnedAccess)
    first, again, whenever = blocks_of(kept), blocks_of(kept), blocks_of(Turned(source, single=True))
    for one, two, three in zip(first, again, whenever, strict=True):
        assert one.X is two.X
        np.testing.assert_array_equal(one.X, three.X)


def test_columns_far_from_zero_stay_in_double_precision():
    source = source_of(LARGE_BLOCK, shift=1e5)
    (block,) = blocks_of(training_rows(source, 5))
    assert block.X.dtype == np.float64
    (block,) = blocks_of(source_of(LARGE_BLOCK))
    block.X[0, 0] = 1e20  # whose square single precision cannot hold
    assert turn(block, single=True).X.dtype == np.float64


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
@pytest.mark.parametrize(
    "names", [("gaussian_rbf",), ("box",), ("sigmoidal",), ("robust_rbf", "box", "linear")]
)
def test_objective_and_gradient_are_those_of_double_precision(monkeypatch, loss, names):
    source = source_of(LARGE_BLOCK + 300)
    if loss == "log_loss":
        source = source.with_outputs(source.outputs.with_loss(LOGISTIC))
    X, rng = source.rows.X, np.random.default_rng(0)
    parts = [
        Expansion.of(basis, basis.start(X[:5], 0.5, rng)) for basis in (known_bases()[n]() for n in names)
    ]
    start = parts[0]
    for part in parts[1:]:
        start = start.plus(part)
    objective = varpro._Reduced if loss == "squared_error" else joint.Joint

    def evaluate():
        found = objective(source, start.coordinates(), Penalty(10.0, 0.1), Reached(start))
        return found(found.first + 0.01)

    value, gradient = evaluate()
    for module in (varpro, joint):
        monkeypatch.setattr(module, "training_rows", lambda source, n_units: source)
    exact, slope = evaluate()
    assert value != exact  # single precision it was
    assert value == pytest.approx(exact, rel=1e-6)
    np.testing.assert_allclose(gradient, slope, rtol=1e-4, atol=1e-5 * np.abs(slope).max())


def test_fits_are_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * LARGE_BLOCK, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
    one, two = (
        LowRankLSSVC(6, basis="gaussian_rbf", C=10.0, shape=0.5, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.model_.theta, two.model_.theta)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("name", ["gaussian_rbf", "box", "robust_rbf"])
def test_units_that_move_in_some_features_have_the_gradient_of_those(name):
    source, basis, rng = source_of(LARGE_BLOCK), known_bases()[name](), np.random.default_rng(0)
    start = Expansion.of(basis, basis.start(source.rows.X[:6], 0.5, rng))
    whole = start.coordinates()
    on = rng.random((6, 5)) < 0.4
    scale = whole.parts[0].scale.map(lambda _, array: array * on if array.shape == on.shape else array)
    some = replace(whole, parts=(replace(whole.parts[0], scale=scale),))
    moving = np.concatenate([(array != 0).ravel() for array in scale.arrays.values()])
    few, all_of_them = (
        varpro._Reduced(source, coordinates, Penalty(10.0, 0.1), Reached(start))
        for coordinates in (some, whole)
    )
    assert len(few.first) == moving.sum() < len(moving)
    np.testing.assert_allclose(few(few.first)[1], all_of_them(all_of_them.first)[1][moving], rtol=1e-9)
