"""The dense LS-SVM against the system written out, and its refusals."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel

from sleek import LSSVC, LSSVR
from sleek._runtime.checks import check_memory

KERNELS = {
    "linear": lambda A, B: linear_kernel(A, B),
    "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.7),
    "poly": lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.7, coef0=1.0),
    "laplacian": lambda A, B: laplacian_kernel(A, B, gamma=0.7),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_classifier_is_the_papers_system(two_classes, kernel):
    X, y = two_classes
    t, n, C = 2.0 * y - 1, len(y), 5.0
    K = KERNELS[kernel](X, X)
    A = np.zeros((n + 1, n + 1))
    A[0, 1:] = A[1:, 0] = t
    A[1:, 1:] = np.outer(t, t) * K + np.eye(n) / C
    solution = np.linalg.solve(A, np.r_[0.0, np.ones(n)])
    model = LSSVC(C, kernel=kernel, gamma=0.7, degree=2, coef0=1.0).fit(X, y)
    expected = K @ (solution[1:] * t) + solution[0]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.dual_coef_[0], solution[1:] * t, rtol=1e-6, atol=1e-9)


def test_ripley_table_of_the_paper(ripley):
    """Published: 11.4, 9.2, 10.4, 10.1, 10.1, 9.8 %. They come from exp(-‖x - x'‖²/σ²)."""
    X, y, X_test, y_test = ripley
    errors = [
        100 * (1 - LSSVC(5000.0, gamma=1 / sigma**2).fit(X, y).score(X_test, y_test))
        for sigma in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    ]
    np.testing.assert_allclose(errors, [11.4, 9.2, 10.4, 10.1, 10.1, 9.8], atol=0.11)


def test_three_classes_are_three_columns(three_classes):
    X, y = three_classes
    model = LSSVC(10.0).fit(X, y)
    north = LSSVC(10.0, gamma=model.gamma_).fit(X, y == "north")
    np.testing.assert_allclose(model.decision_function(X)[:, 0], north.decision_function(X), rtol=1e-9)
    assert model.score(X, y) > 0.9


def test_integer_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(40, 2)), rng.integers(0, 4, size=40)
    y = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    weighted = LSSVR(3.0, gamma=0.5).fit(X, y, sample_weight=s)
    repeated = LSSVR(3.0, gamma=0.5).fit(np.repeat(X, s, 0), np.repeat(y, s, 0))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_too_many_rows_are_refused_with_the_arithmetic_before_any_allocation():
    X = np.zeros((1_000_000, 1))
    X[0] = 1.0
    message = r"1000000 x 1000000 x 8 bytes = 16,000\.0 GB.*LowRankLSSVC"
    with pytest.raises(MemoryError, match=message):
        LSSVC().fit(X, np.arange(1_000_000) % 2)


def test_memory_rule():
    check_memory(1000, 16_000_000)
    check_memory(10**9, None)
    with pytest.raises(MemoryError):
        check_memory(1001, 16_000_000)


def test_a_kernel_that_is_not_positive_definite_gets_a_sentence(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="not positive definite"):
        LSSVC(1e6, kernel="poly", coef0=-5.0).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "`C` must be a positive number, got 0"),
        ({"kernel": "wave"}, "`kernel` must be one of 'laplacian', 'linear', 'poly', 'rbf', got 'wave'"),
        ({"gamma": -1.0}, "`gamma` must be a positive number or 'scale', got -1.0"),
        ({"degree": 0}, "`degree` must be a whole number of at least 1, got 0"),
        ({"coef0": np.nan}, "`coef0` must be a finite number, got nan"),
    ],
)
def test_bad_settings(two_classes, options, message):
    with pytest.raises(ValueError, match=message):
        LSSVC(**options).fit(*two_classes)


def test_levels_of_the_exact_machine_can_be_made_certain():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1260, 2))
    y = X[:, 0] + rng.normal(size=1260) * np.where(X[:, 1] > 0, 1.0, 0.2)
    groups = np.where(X[:, 1] > 0, "loud", "quiet")
    model = LSSVR(C=1e6, gamma=5.0).fit(X[:60], y[:60])  # learnt by heart
    said = model.predict(X)
    assert model.conformalize(X[60:260], y[60:260], groups=groups[60:260]) is model
    ends = model.predict_interval(X[260:], 0.9, groups=groups[260:])
    covered = (ends[:, 0] <= y[260:]) & (y[260:] <= ends[:, 1])
    for group in ("loud", "quiet"):
        assert covered[groups[260:] == group].mean() == pytest.approx(0.9, abs=0.05)
    np.testing.assert_array_equal(model.predict(X), said)
    labels = np.where(y > 0, "yes", "no")
    classes = LSSVC(C=1e6, gamma=5.0).fit(X[:60], labels[:60])
    P = classes.predict_proba(X)
    sets = classes.conformalize(X[60:260], labels[60:260]).predict_set(X[260:], 0.9)
    assert sets[np.arange(1000), (labels[260:] == "yes").astype(int)].mean() > 0.87
    np.testing.assert_array_equal(classes.predict_proba(X), P)
    with pytest.raises(ValueError, match="The class 'maybe' is none of the model's classes"):
        classes.conformalize(X[:1], ["maybe"])
    with pytest.raises(ValueError, match="There must be a target for each of 2 rows, got 1"):
        model.conformalize(X[:2], y[:1])


@pytest.mark.parametrize("method", ["predict_proba", "predict_set", "predict_interval", "predict_std"])
def test_memory_of_a_prediction_is_not_rows_times_rows(method):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(400, 2)), rng.normal(size=(30_000, 2))
    kind = LSSVR if method in ("predict_interval", "predict_std") else LSSVC
    model = kind().fit(X, X[:, 0] if kind is LSSVR else X[:, 0] > 0)
    getattr(model, method)(new[:5000])  # compiled loops are loaded
    tracemalloc.start()
    try:
        getattr(model, method)(new)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(X) * len(new) / 4  # of all kernel values together
