"""k-medoids: as good as the reference package, deterministic, blind to how rows are written down."""

import kmedoids
import numpy as np
import pytest
from made_sources import class_source, sample_of
from scipy.spatial.distance import cdist

from sleek.fit.k_medoids import distinct_rows, k_medoids
from sleek.fit.policy import MEDOID_ROWS, MEDOID_ROWS_PER_UNIT


def loss(X, medoids):
    return cdist(X, X[medoids]).min(axis=1).sum()


@pytest.mark.parametrize(
    ("n", "d", "m"), [(50, 2, 3), (250, 2, 3), (250, 2, 10), (500, 8, 5), (500, 8, 20), (300, 5, 50)]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_loss_is_within_one_per_cent_of_the_kmedoids_package(n, d, m, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 4 * rng.integers(0, 3, size=(n, 1))
    medoids = k_medoids(X, np.ones(n), m, np.random.default_rng(0))
    assert len(set(medoids)) == m
    best = min(kmedoids.fasterpam(cdist(X, X), m, random_state=s).loss for s in range(3))
    assert loss(X, medoids) <= 1.01 * best


def test_no_single_swap_helps():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(40, 2)), rng.uniform(0.5, 2.0, size=40)
    D = cdist(X, X)
    medoids = k_medoids(X, w, 4, rng)
    now = w @ D[medoids].min(axis=0)
    for j in range(4):
        for candidate in range(40):
            swapped = medoids.copy()
            swapped[j] = candidate
            assert w @ D[swapped].min(axis=0) >= now * (1 - 1e-9)


def test_one_medoid_is_the_best_row():
    X, w = np.random.default_rng(0).normal(size=(30, 3)), np.ones(30)
    assert k_medoids(X, w, 1, np.random.default_rng(1))[0] == cdist(X, X).sum(axis=1).argmin()


def test_as_many_medoids_as_rows_are_all_rows():
    X = np.random.default_rng(0).normal(size=(6, 2))
    assert k_medoids(X, np.ones(6), 6, np.random.default_rng(0)).tolist() == list(range(6))


def rows_of(X, s=None, n_units=3):
    data = class_source(X, np.arange(len(X)) % 2, s)
    return distinct_rows(sample_of(data), n_units, seed=0)


def test_order_and_repetition_of_rows_do_not_matter():
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(30, 2)), rng.integers(1, 4, size=30)
    shuffled = rng.permutation(np.repeat(X, s, axis=0))
    rows, weights = rows_of(X, s.astype(float))
    rows2, weights2 = rows_of(shuffled)
    np.testing.assert_array_equal(rows, rows2)
    np.testing.assert_array_equal(weights, weights2)


def test_large_data_are_sampled():
    X = np.random.default_rng(0).normal(size=(5 * MEDOID_ROWS, 1))
    assert len(rows_of(X)[0]) == MEDOID_ROWS
    assert len(rows_of(X, n_units=MEDOID_ROWS // 2)[0]) == MEDOID_ROWS_PER_UNIT * MEDOID_ROWS // 2
