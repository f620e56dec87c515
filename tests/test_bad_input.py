"""Bad input gets a clear sentence, and the estimator is left as it was."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from sleek import Alternating, LowRankLSSVC, LowRankLSSVR

X = np.random.default_rng(0).normal(size=(30, 2))
Y = (X[:, 0] > 0).astype(int)


def with_value(value):
    bad = X.copy()
    bad[3, 1] = value
    return bad


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (with_value(np.inf), Y, "contains infinity"),
        (np.full((30, 2), "red"), Y, "could not convert string to float|dtype='numeric'"),
        (np.empty((0, 2)), np.empty(0), "0 sample"),
        (X[:1], Y[:1], "minimum of 2 is required"),
        (X[:, 0], Y, "Expected 2D array"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X, np.zeros(30), "at least 2 classes, got 1 class: 0.0"),
        (X, X[:, 0], "Unknown label type: continuous"),
        (X + 1j, Y, "Complex data not supported"),
        (np.array([[object(), 1.0]] * 30), Y, "float"),
        (csr_matrix(X), Y, r"Use '\.toarray\(\)' to convert to a dense"),
        (with_value(1e200), Y, "Values of feature number 1 are too large"),
    ],
    ids=[
        *("infinity", "strings", "empty", "one row", "one dimension", "lengths", "one class"),
        *("continuous labels", "complex", "objects", "sparse", "huge"),
    ],
)
def test_bad_rows(rows, labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        LowRankLSSVC().fit(rows, labels)


KNOWN_BASES = (
    "`basis` must be one of 'auto'.*'gaussian_rbf'.*'robust_rbf'.*'simplex'.* or a Basis object, got 'rbf'"
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "`C` must be a positive number or 'loo', got 0"),
        ({"C": -1.0}, r"`C` must be a positive number or 'loo', got -1\.0"),
        ({"C": np.nan}, "`C` must be a positive number or 'loo', got nan"),
        ({"C": "big"}, "`C` must be a positive number or 'loo', got 'big'"),
        ({"n_units": 0}, "`n_units` must be a whole number of at least 1 or 'auto', got 0"),
        ({"n_units": 2.5}, r"`n_units` must be a whole number of at least 1 or 'auto', got 2\.5"),
        ({"n_units": "many"}, "`n_units` must be a whole number of at least 1 or 'auto', got 'many'"),
        ({"max_samples": 0}, "`max_samples` must be a whole number of at least 2 or 'auto', got 0"),
        ({"max_samples": "all"}, "`max_samples` must be a whole number of at least 2 or 'auto', got 'all'"),
        ({"basis": "rbf"}, KNOWN_BASES),
        (
            {"trainer": "adam"},
            "`trainer` must be one of 'alternating', 'varpro' or a Trainer object, got 'adam'",
        ),
        ({"shape": -0.1}, r"`shape` must be a positive number or 'auto', got -0\.1"),
        ({"n_jobs": 0}, "`n_jobs` must be None or a whole number other than 0, got 0"),
        ({"init": "random"}, "`init` must be one of 'auto', 'k-medoids', got 'random'"),
        ({"init": [[1.0, 2.0, 3.0]]}, r"`init` must have one row per unit and one column per feature \(2\)"),
        ({"init": [[1.0, np.nan]]}, "`init` must be finite"),
        ({"init": [[1.0, 2.0]], "n_units": 4}, "`init` has 1 centers but n_units=4"),
        ({"trainer": Alternating("hinge")}, "`objective` must be one of 'absolute', 'squared', 'target'"),
        ({"trainer": Alternating(learning_rate=0.0)}, "`learning_rate` must be a positive number, got 0.0"),
        ({"trainer": Alternating(max_iter=-1)}, "`max_iter` must be a whole number of at least 0, got -1"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        LowRankLSSVC(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(30), r"`sample_weight` must not be negative, got -1\.0"),
        (np.zeros(30), "`sample_weight` is zero for every row"),
        (np.full(30, np.nan), "`sample_weight` must be finite"),
        (np.ones(29), "`sample_weight` must have one weight per row: 30, got 29"),
        (np.ones((30, 2)), "`sample_weight` must be a 1D array, got 2 dimensions"),
        (1.0 * (Y == 1), "at least 2 classes, got 1 class: 1"),
    ],
    ids=["negative", "zero", "nan", "length", "2D", "one class left"],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        LowRankLSSVC().fit(X, Y, sample_weight=weights)


def test_wrong_number_of_features_at_predict():
    model = LowRankLSSVC(3).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but LowRankLSSVC is expecting 2"):
        model.predict(np.ones((2, 3)))


def test_bad_regression_target():
    target = X[:, 0].copy()
    target[0] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        LowRankLSSVR().fit(X, target)


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    model = LowRankLSSVC(3, random_state=0).fit(X, Y)
    before, expected = dict(vars(model)), model.decision_function(X)
    with pytest.raises(ValueError, match="too large for float64"):
        model.set_params(n_units=2).fit(1e200 * X, Y)
    model.set_params(n_units=3)
    assert vars(model) == before
    np.testing.assert_array_equal(model.decision_function(X), expected)


def test_more_units_than_different_rows_are_as_many_as_there_are():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    y = np.tile([0, 0, 0, 1, 1], 4)
    with pytest.warns(
        UserWarning, match="`n_units`=5 is more than the 2 distinct rows of X: 2 units are fitted"
    ):
        assert LowRankLSSVC(5, random_state=0).fit(X, y).n_units_ == 2


@pytest.mark.parametrize("estimator", [LowRankLSSVC, LowRankLSSVR])
def test_one_row_that_counts_is_too_few(estimator):
    with pytest.raises(ValueError, match="at least 2"):
        estimator().fit(X, Y, sample_weight=np.arange(len(X)) == 3)
