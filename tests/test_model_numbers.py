"""A model's numbers are its own; single precision keeps five digits; one row takes microseconds."""

import pickle
import timeit
from dataclasses import replace

import numpy as np
import pytest
import zoo

from sleek import Expansion, KernelModel, NumberOutputs, Part, Units
from sleek.kernels import LARGE_BLOCK
from sleek.model.facts import ARRAYS
from sleek.rows.scaling import Scaling


def test_arrays_stay_the_callers_and_the_models_are_read_only():
    model = zoo.model("gaussian_rbf+sigmoidal", "number")
    units = [Units({n: a.copy() for n, a in part.units.arrays.items()}) for part in model.parts]
    theta, b = model.theta.copy(), model.b.copy()
    expansion = Expansion(tuple(Part(p.basis, u) for p, u in zip(model.parts, units, strict=True)))
    mine = KernelModel(expansion, theta, b, 1.0, model.outputs)
    X = zoo.test_rows("number")
    before = mine.predict(X)
    for array in (theta, b, *(a for u in units for a in u.arrays.values())):
        array += 1.0
    np.testing.assert_array_equal(mine.predict(X), before)
    for array in (mine.theta, mine.b, *(a for part in mine.parts for a in part.units.arrays.values())):
        with pytest.raises(ValueError, match="read-only"):
            array += 1.0


def test_a_read_only_view_of_the_callers_array_is_copied():
    theta = np.ones((2, 1))
    view = theta[:]
    view.flags.writeable = False
    model = replace(zoo.handmade(), theta=view)
    theta += 1.0
    assert model.theta.tolist() == [[1.0], [1.0]]


def test_facts_are_read_only_too_and_stay_so_in_a_pickle():
    facts = pickle.loads(pickle.dumps(zoo.model("simplex", "number"))).facts
    assert not any(getattr(facts, name).flags.writeable for name in ARRAYS)


def test_models_that_are_copied_share_their_arrays():
    model = zoo.handmade()
    assert replace(model, C=1.0).theta is model.theta


@pytest.mark.parametrize(
    "change",
    [{"theta": np.ones((3, 1))}, {"theta": np.ones((2, 2))}, {"b": np.ones(2)}, {"theta": np.ones(2)}],
    ids=["units", "outputs", "b", "flat"],
)
def test_shapes_must_fit(change):
    with pytest.raises(
        ValueError, match=r"`theta` must have shape \(2, 1\) and `b` \(1,\) for 2 gaussian_rbf"
    ):
        replace(zoo.handmade(), **change)


# ---- single precision


@pytest.mark.parametrize("n", [10, LARGE_BLOCK, 3 * LARGE_BLOCK])
def test_features_of_float32_rows_are_float32(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    for basis in zoo.BASES + zoo.MIXED:
        model = zoo.handmade(basis)
        assert model.features(X.astype(np.float32)).dtype == np.float32
        assert model.features(X).dtype == np.float64


def far_model(basis, ratio):
    """A model of features whose mean is so many times their spread, and rows for it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * LARGE_BLOCK, 6)) * 10.0 ** np.arange(-3, 3)
    shift = ratio * 10.0 ** np.arange(-3, 3)
    parts = []
    for name in basis.split("+"):
        near = zoo.handmade(name, None, d=6, m=8).parts[0]
        scaling = Scaling(shift, 10.0 ** -np.arange(-3.0, 3.0))
        parts.append(Part(near.basis, near.basis.unscale(near.units, scaling)))
    theta = rng.normal(size=(8 * len(parts), 2))
    outputs = NumberOutputs(np.zeros(2), np.ones(2), False)
    return KernelModel(Expansion(tuple(parts)), theta, np.ones(2), 1.0, outputs), X + shift


@pytest.mark.parametrize("ratio", [0.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("basis", zoo.BASES + zoo.MIXED)
def test_float32_rows_are_predicted_to_five_digits(basis, ratio):
    model, X = far_model(basis, ratio)
    X = X.astype(np.float32)
    exact = X.astype(np.float64)
    for rows in (slice(0, 1), slice(0, 500), slice(None)):
        error = np.abs(model.outputs_unchecked(X[rows]) - model.outputs_unchecked(exact[rows]))
        assert np.max(error / zoo.scale(model, exact[rows])) < 1e-5


@pytest.mark.parametrize("basis", ["robust_rbf", "sigmoidal"])
def test_a_few_rows_far_away_take_no_digits_from_the_others(basis):
    model, X = far_model(basis, 1e4)
    X[::200] *= 1e4
    X = X.astype(np.float32)
    exact = X.astype(np.float64)
    error = np.abs(model.outputs_unchecked(X) - model.outputs_unchecked(exact)) / zoo.scale(model, exact)
    near = np.arange(len(X)) % 200 != 0
    assert error[near].max() < 1e-5


@pytest.mark.parametrize("basis", zoo.BASES)
def test_ordinary_float32_rows_are_computed_in_float32(basis, monkeypatch):
    """The other way round: nothing falls back that need not."""
    model, X = far_model(basis, 3.0)
    X, part = X.astype(np.float32), model.parts[0]
    seen = []
    features = type(part.basis).features
    monkeypatch.setattr(
        type(part.basis), "features", lambda self, X, units: seen.append(X) or features(self, X, units)
    )
    model.outputs_unchecked(X)
    assert sum(len(rows) for rows in seen if rows.dtype == np.float32) == len(X)
    assert sum(len(rows) for rows in seen if rows.dtype == np.float64) < 0.01 * len(X)


# ---- speed


@pytest.mark.parametrize("basis", zoo.BASES)
def test_one_row_takes_microseconds(basis):
    """20 µs on a quiet machine for 20 units and 8 features; here five times as much, on a busy one."""
    model, x = zoo.handmade(basis, d=8, m=20), np.random.default_rng(0).normal(size=(1, 8))
    seconds = min(timeit.repeat(lambda: model.predict_unchecked(x), number=20, repeat=100)) / 20
    assert seconds < 100e-6
