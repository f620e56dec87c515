"""Errors to expect of several targets; tiny targets, labels of any integers, several labels for a row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleek import LSSVC, LowRankLSSVC, LowRankLSSVR
from sleek.outputs.labels import Labels, read_labels

FIXED = {"n_units": 4, "basis": "gaussian_rbf", "C": 10.0, "effort": "quick", "random_state": 0}


def rows(n=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, np.column_stack([X[:, 0], np.sin(X[:, 1])]) + 0.1 * rng.normal(size=(n, 2))


def test_each_target_has_an_error_in_its_own_unit():
    X, Y = rows()
    model = LowRankLSSVR(**FIXED).fit(X, Y * [1.0, 1e6])
    squares = model.left_out_residuals_**2
    np.testing.assert_allclose(model.expected_error_, squares.mean(axis=0))
    assert model.expected_error_std_.shape == (2,)
    np.testing.assert_allclose(model.expected_r2_, 1 - model.expected_error_ / (Y * [1.0, 1e6]).var(axis=0))
    other = LowRankLSSVR(**FIXED).fit(X, Y)
    np.testing.assert_allclose(other.expected_r2_, model.expected_r2_, rtol=1e-6)
    one = LowRankLSSVR(**FIXED).fit(X, Y[:, 0])
    assert isinstance(one.expected_error_, float)
    assert isinstance(one.expected_r2_, float)


@settings(max_examples=25, deadline=None)
@given(st.integers(-300, 140))
def test_targets_of_any_scale_are_learnt_or_said_to_be_constant(exponent):
    X, Y = rows(30)
    y = Y[:, 0] * 10.0**exponent
    model = LowRankLSSVR(1, basis="gaussian_rbf", C=1.0, shape=0.3, random_state=0, trainer="varpro")
    if exponent < -149:
        with pytest.warns(UserWarning, match="Target number 0 varies by too little") as caught:
            model.fit(X, y)
        assert len(caught) == 1
    elif exponent <= -147:
        return
    else:
        model.fit(X, y)
        assert model.score(X, y) > 0.2
    assert np.isfinite(model.predict(X)).all()


@given(st.sampled_from([np.uint8, np.int8, np.int16, np.int64, np.uint64]), st.data())
def test_labels_are_those_of_unique(dtype, data):
    ends = np.iinfo(dtype)
    start = data.draw(st.integers(int(ends.min), int(ends.max)))
    y = [min(int(ends.max), start + more) for more in data.draw(st.lists(st.integers(0, 300), min_size=1))]
    y = np.array(y, dtype=dtype)
    labels = Labels.of(y)
    values, codes = np.unique(y, return_inverse=True)
    assert labels.values.dtype == y.dtype
    np.testing.assert_array_equal(labels.values, values)
    np.testing.assert_array_equal(labels.codes, codes)
    read = read_labels(values.astype(str).astype(object))
    assert read.tolist() == values.tolist()


def test_a_model_of_large_unsigned_labels():
    X, Y = rows()
    y = np.array([2**63, 2**64 - 1], dtype=np.uint64)[(Y[:, 0] > 0).astype(int)]
    model = LowRankLSSVC(**FIXED).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.classes_.tolist() == [2**63, 2**64 - 1]


@pytest.mark.parametrize("kind", [LowRankLSSVC, LSSVC])
def test_several_labels_for_a_row_are_refused_with_what_to_do(kind):
    X, Y = rows()
    for y in ((Y > 0).astype(int), (Y > 0).astype(int).tolist(), [["a"], ["b", "c"]] * 40):
        with pytest.raises(ValueError, match=r"y has 2 columns.*MultiOutputClassifier does"):
            kind().fit(X, y)
