"""Blocks, threads and order: the one path to the rows."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from sleek._runtime.threads import Workers, single_threaded_blas
from sleek.bases.base import Scaling
from sleek.closed_form.moments import Moments
from sleek.outputs.outputs import ClassTargets, RealTargets, classes_and_codes, decide
from sleek.rows.sample import Sample, chosen_rows
from sleek.rows.source import ArraySource, ScaledSource

ONE = Workers(1)


def source(n=1000, n_jobs=1, block_rows=None):
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(n, 3)), rng.integers(0, 2, size=n), rng.uniform(0.5, 2.0, size=n)
    return ArraySource(X, y, s, ClassTargets(2), Workers(n_jobs), block_rows)


def moments(block):
    return Moments.of(np.exp(-np.abs(block.X)), block.T, block.s)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_results_are_bit_for_bit_the_same_for_any_number_of_threads(n_jobs):
    one = source(block_rows=64).map_reduce(moments)
    many = source(block_rows=64, n_jobs=n_jobs).map_reduce(moments)
    for name in ("weight", "mean_phi", "mean_t", "G", "R", "tt"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


@settings(max_examples=20, deadline=None)
@given(block_rows=st.integers(1, 1100))
def test_block_size_does_not_matter(block_rows):
    cut, whole = (
        source(block_rows=block_rows).map_reduce(moments),
        source(block_rows=10**6).map_reduce(moments),
    )
    np.testing.assert_allclose(cut.G, whole.G, rtol=1e-11)
    np.testing.assert_allclose(cut.R, whole.R, rtol=1e-9, atol=1e-11)


def test_blocks_hold_every_row_once_in_order():
    whole = source(n=1000, block_rows=300)
    rows = whole.map_reduce(lambda block: [(block.start + i, *x) for i, x in enumerate(block.X)])
    assert [row[0] for row in rows] == list(range(1000))
    np.testing.assert_array_equal(np.array(rows)[:, 1:], whole.X)


def test_float32_rows_come_as_float64_without_a_copy_of_the_data():
    data = ArraySource(np.ones((5, 2), np.float32), np.zeros(5, int), np.ones(5), ClassTargets(2), ONE)
    assert data.block(0, 9).X.dtype == np.float64
    double = source(n=5)
    assert np.shares_memory(double.block(0, 9).X, double.X)


def test_sums_do_not_depend_on_the_layout_of_the_data():
    rng = np.random.default_rng(0)
    X, Y, s = rng.normal(size=(5000, 7)), rng.normal(size=(5000, 3)), rng.uniform(0.5, 2.0, size=5000)
    rows, columns = (
        ArraySource(order(X), order(Y), s, RealTargets.of(order(Y), s)).map_reduce(moments)
        for order in (np.ascontiguousarray, np.asfortranarray)
    )
    for name in ("mean_phi", "mean_t", "G", "R", "tt"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(columns, name))


def test_targets_are_measured_block_by_block():
    rng = np.random.default_rng(0)
    Y, s = rng.normal(3.0, 2.0, size=(5000, 2)), rng.uniform(0.5, 2.0, size=5000)
    coding = RealTargets.of(Y, s)
    mean = np.average(Y, axis=0, weights=s)
    np.testing.assert_allclose(coding.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(coding.scale**2, np.average((Y - mean) ** 2, axis=0, weights=s), rtol=1e-13)


def test_scaled_source_hands_out_scaled_rows():
    data = source(n=10)
    scaling = Scaling(np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, 0.5]))
    rows = ScaledSource(data, scaling).map_reduce(lambda block: list(block.X))
    np.testing.assert_allclose(rows, (data.X - [1, 2, 3]) * [2, 0, 0.5])
    np.testing.assert_allclose(scaling.invert(np.array(rows))[:, [0, 2]], data.X[:, [0, 2]])


@pytest.mark.parametrize("block_rows", [7, 100, 10**6])
def test_sample_does_not_depend_on_blocks_and_grows_nested(block_rows):
    data = source(n=1000, block_rows=block_rows)
    small, large = Sample.draw(data, 50, 3, ONE), Sample.draw(data, 200, 3, ONE)
    reference = Sample.draw(source(n=1000, block_rows=13), 50, 3, ONE)
    np.testing.assert_array_equal(small.rows.X, reference.rows.X)
    np.testing.assert_array_equal(small.rows.X, data.X[small.numbers])
    np.testing.assert_array_equal(small.rows.T, data.targets.encode(data.y[small.numbers]))
    assert set(small.numbers) <= set(large.numbers)
    assert small.n_rows == 50


def test_a_sample_of_all_rows_is_the_source():
    data = source(n=5000)
    sample = Sample.draw(data, 5000, 0, Workers(2))
    np.testing.assert_array_equal(sample.map_reduce(moments).G, data.map_reduce(moments).G)
    assert sample.numbers.tolist() == list(range(5000))


def test_sample_is_uniform():
    counts = np.zeros(20)
    data = ArraySource(np.arange(20.0)[:, None], np.zeros(20, int), np.ones(20), ClassTargets(2), ONE)
    for seed in range(2000):
        counts[Sample.draw(data, 5, seed, ONE).numbers] += 1
    # each row is expected 500 times with standard deviation 19.4
    assert np.abs(counts - 500).max() < 5 * 19.4


def test_an_error_in_a_task_comes_through_and_leaves_no_thread():
    before = threading.active_count()

    def task(block):
        time.sleep(0.001)
        if block.start == 320:
            raise RuntimeError("row 320 is bad")
        return 0

    with pytest.raises(RuntimeError, match="row 320 is bad"):
        source(block_rows=32, n_jobs=4).map_reduce(task)
    assert threading.active_count() == before


def test_an_interrupt_comes_through_and_leaves_no_thread():
    before = threading.active_count()

    def task(block):
        time.sleep(0.001)
        if block.start == 320:
            raise KeyboardInterrupt
        return 0

    with pytest.raises(KeyboardInterrupt):
        source(block_rows=32, n_jobs=4).map_reduce(task)
    assert threading.active_count() == before


def test_after_an_error_the_same_threads_go_on_working_and_nothing_old_runs():
    finished = []

    def task(i):
        time.sleep(0.002)
        if i == 3:
            raise RuntimeError
        finished.append(i)
        return i

    with Workers(2) as workers:
        with pytest.raises(RuntimeError):
            list(workers.map(task, range(100)))
        seen = len(finished)
        time.sleep(0.02)
        assert len(finished) == seen < 20
        assert list(workers.map(abs, range(-3, 0))) == [3, 2, 1]


@pytest.mark.parametrize("entered", [False, True])
def test_only_a_few_results_are_kept_waiting(entered):
    started = []
    workers = Workers(2)
    if entered:
        workers.__enter__()
    results = workers.map(lambda i: started.append(i) or i, range(1000))
    assert next(results) == 0
    time.sleep(0.05)
    assert len(started) <= 10
    results.close()
    workers.__exit__(None, None, None)


def test_items_may_come_from_an_iterator():
    assert list(Workers(2).map(abs, iter([-1, -2, -3]))) == [1, 2, 3]
    assert list(Workers(2).map(abs, iter([]))) == []


@pytest.mark.parametrize("n_rows", [100, 3_000_000])
def test_rows_drawn_and_rows_held_out_do_not_overlap_and_have_the_size_asked_for(n_rows):
    drawn, held = chosen_rows(n_rows, 60, 30, seed=1)
    assert (len(drawn), len(held)) == (60, 30)
    assert not set(drawn) & set(held)
    smaller, _ = chosen_rows(n_rows, 20, 0, seed=1)
    assert set(smaller) < set(drawn)
    zeros = np.zeros(n_rows, int)
    data = ArraySource(np.arange(n_rows)[:, None], zeros, zeros + 1.0, ClassTargets(2))
    np.testing.assert_array_equal(data.rows_at(drawn).X[:, 0], drawn)
    np.testing.assert_array_equal(
        ScaledSource(data, Scaling(np.zeros(1), np.ones(1))).rows_at(drawn).X[:, 0], drawn
    )
    sample = Sample.draw(data, 60, 1, ONE)
    np.testing.assert_array_equal(sample.smallest(20).numbers, smaller)


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_limit_is_restored_in_whatever_order_fits_end():
    before = blas_threads()
    first, second = single_threaded_blas(), single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_targets():
    T = ClassTargets(3).encode(np.array([0, 2, 1]))
    np.testing.assert_array_equal(T, [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]])
    np.testing.assert_array_equal(decide(T), [0, 2, 1])
    np.testing.assert_array_equal(ClassTargets(3).row_errors(T, T[[0, 1, 1]]), [0, 0, 1])
    y = np.array([[1.0, 5.0], [3.0, 5.0]])
    real = RealTargets.of(y, np.array([1.0, 1.0]))
    np.testing.assert_allclose(real.encode(y), [[-1, 0], [1, 0]])
    np.testing.assert_allclose(real.row_errors(real.encode(y), np.zeros((2, 2))), [0.5, 0.5])


@pytest.mark.parametrize(
    "y",
    [
        np.array([5, -3, 5, 0]),
        np.array([5, -(2**62), 2**62]),
        np.array([200, 3, 3], np.uint8),
        np.array([True, False]),
        np.array([0.5, 0.25, 0.5]),
        np.array(["b", "a", "b"], object),
    ],
    ids=["few", "far apart", "bytes", "bool", "float", "text"],
)
def test_classes_and_codes_are_those_of_unique(y):
    classes, codes = classes_and_codes(y)
    expected, inverse = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)
