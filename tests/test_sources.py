"""Blocks, threads and order: the one path to the rows."""

import sys
import threading
import time
import weakref
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_sources import class_source, number_source
from threadpoolctl import threadpool_info

from sleek import (
    ClassOutputs,
    Expansion,
    GaussianRBF,
    KernelModel,
    LowRankLSSVC,
    LowRankLSSVR,
    NumberOutputs,
    RawBlock,
    Rows,
    Units,
)
from sleek._runtime import threads
from sleek._runtime.sums import PartialSum, total
from sleek._runtime.threads import Workers, _blas_guard, read_ahead, single_threaded_blas
from sleek.closed_form.moments import Moments
from sleek.outputs import Labels
from sleek.outputs.classes import decide
from sleek.rows.arrays import ArrayRows, sorted_rows
from sleek.rows.rows import Run
from sleek.rows.sample import Draw, Sample
from sleek.rows.scaling import ScaledSource, Scaling
from sleek.rows.source import OneBlock
from sleek.testing import SourceContract

ONE = Workers(1)


def source(n=1000, n_jobs=1, block_rows=None):
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(n, 3)), rng.integers(0, 2, size=n), rng.uniform(0.5, 2.0, size=n)
    return class_source(X, y, s, n_jobs=n_jobs, block_rows=block_rows)


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
    data = class_source(np.ones((5, 2), np.float32), [0, 0, 1, 1, 1])
    assert data.block(0, 9).X.dtype == np.float64
    double = source(n=5)
    assert np.shares_memory(double.block(0, 9).X, double.X)


def test_sums_do_not_depend_on_the_layout_of_the_data():
    rng = np.random.default_rng(0)
    X, Y, s = rng.normal(size=(5000, 7)), rng.normal(size=(5000, 3)), rng.uniform(0.5, 2.0, size=5000)
    rows, columns = (
        number_source(order(X), order(Y), s).map_reduce(moments)
        for order in (np.ascontiguousarray, np.asfortranarray)
    )
    for name in ("mean_phi", "mean_t", "G", "R", "tt"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(columns, name))


def test_targets_are_measured_block_by_block():
    rng = np.random.default_rng(0)
    Y, s = rng.normal(3.0, 2.0, size=(5000, 2)), rng.uniform(0.5, 2.0, size=5000)
    survey = ArrayRows(np.zeros((5000, 1)), Y, s).survey(NumberOutputs, Run())
    coding = NumberOutputs.learn(survey.targets, flat=False)
    mean = np.average(Y, axis=0, weights=s)
    np.testing.assert_allclose(coding.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(coding.scale**2, np.average((Y - mean) ** 2, axis=0, weights=s), rtol=1e-13)
    assert survey.weights.n_rows == 5000
    assert survey.weights.total == pytest.approx(s.sum())


@pytest.mark.parametrize("block_rows", [None, 300])
def test_few_rows_in_one_block_have_the_same_sums_to_the_last_bit(block_rows):
    rows = ScaledSource(source(block_rows=block_rows), Scaling(np.full(3, 0.5), np.full(3, 2.0)))
    kept = OneBlock.of(rows)
    assert isinstance(kept, OneBlock) == (block_rows is None)
    assert kept.n_rows == rows.n_rows
    one, two = kept.map_reduce(moments), rows.map_reduce(moments)
    np.testing.assert_array_equal(one.G, two.G)
    assert OneBlock.of(many := source(5000)) is many


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
    np.testing.assert_array_equal(small.rows.T, data.outputs.encode(data.y[small.numbers]))
    assert set(small.numbers) <= set(large.numbers)
    assert small.n_rows == 50


def test_a_sample_of_all_rows_is_the_source():
    data = source(n=5000)
    sample = Sample.draw(data, 5000, 0, Workers(2))
    np.testing.assert_array_equal(sample.map_reduce(moments).G, data.map_reduce(moments).G)
    assert sample.numbers.tolist() == list(range(5000))


def test_sample_is_uniform():
    counts = np.zeros(20)
    data = number_source(np.arange(20.0)[:, None], np.zeros((20, 1)))
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
    data = number_source(np.arange(n_rows)[:, None], np.zeros((n_rows, 1)))
    drawn, held = Draw(data, 60, 30, 1, 0.0).known[:2]
    assert (len(drawn), len(held)) == (60, 30)
    assert not set(drawn) & set(held)
    smaller = Draw(data, 20, 0, 1, 0.0).numbers
    assert set(smaller) < set(drawn)
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


def test_libraries_that_are_loaded_later_are_held_to_one_thread_too():
    with single_threaded_blas():  # looks for libraries
        pass
    sys.modules["another_library"] = None
    try:
        looked = _blas_guard.libraries
        with single_threaded_blas():
            assert _blas_guard.libraries is not looked
        looked = _blas_guard.libraries
        with single_threaded_blas():
            assert _blas_guard.libraries is looked
    finally:
        del sys.modules["another_library"]


@pytest.mark.parametrize("n", [100, 3000, 5000, 20_000])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_prediction_holds_blas_to_one_thread(n, n_jobs):
    seen = []

    class Spy(GaussianRBF):
        name = "spy"  # the class may outlive this test

        def features(self, X, units):
            seen.extend(blas_threads())
            return super().features(X, units)

    units = Units({"centers": np.zeros((20, 28)), "shapes": np.ones((20, 28))})
    outputs = NumberOutputs(np.zeros(1), np.ones(1))
    model = KernelModel(Expansion.of(Spy(), units), np.ones((20, 1)), np.zeros(1), 1.0, outputs)
    before = blas_threads()
    model.predict(np.zeros((n, 28)), n_jobs=n_jobs)
    assert set(seen) == {1}
    assert blas_threads() == before


def test_targets():
    classes = ClassOutputs(np.array([5, 6, 7]))
    T = classes.encode(Labels.of(np.array([5, 7, 6])))
    np.testing.assert_array_equal(T, [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]])
    np.testing.assert_array_equal(decide(T), [0, 2, 1])
    np.testing.assert_array_equal(classes.row_errors(T, T[[0, 1, 1]]), [0, 0, 1])
    y = np.array([[1.0, 5.0], [3.0, 5.0]])
    real = NumberOutputs.learn(NumberOutputs.survey(y, np.ones(2)), flat=False)
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
def test_labels_are_those_of_unique(y):
    labels = Labels.of(y)
    expected, inverse = np.unique(y, return_inverse=True)
    assert labels.values.dtype == expected.dtype
    np.testing.assert_array_equal(labels.values, expected)
    np.testing.assert_array_equal(labels.codes, inverse)


@settings(max_examples=50, deadline=None)
@given(
    columns=st.integers(1, 9).flatmap(
        lambda d: st.lists(st.lists(st.integers(0, 2), min_size=d, max_size=d), min_size=1, max_size=30)
    )
)
def test_rows_are_sorted_as_by_lexsort(columns):
    X = np.array(columns, dtype=float)
    order, fresh = sorted_rows(list(X.T))
    np.testing.assert_array_equal(order, np.lexsort(X.T[::-1]))
    np.testing.assert_array_equal(fresh[1:], (X[order][1:] != X[order][:-1]).any(axis=1))
    assert fresh[0]


def test_rows_that_stand_there_twice_are_merged_if_weights_are_counts():
    X, y = np.array([[2.0], [1.0], [2.0], [2.0]]), np.array([[0.0], [1.0], [0.0], [5.0]])
    rows = ArrayRows(X, y, np.array([1.0, 2.0, 3.0, 1.0])).canonical()
    assert (rows.X.ravel().tolist(), rows.y.ravel().tolist()) == ([1.0, 2.0, 2.0], [1.0, 0.0, 5.0])
    assert rows.s.tolist() == [2.0, 4.0, 1.0]
    own, places = rows.originals(np.array([1, 2]), "numbers")
    assert (own.tolist(), places.tolist()) == ([0, 2, 3], [0, 0, 1])
    rows = ArrayRows(X, y, np.array([1.0, 2.0, 0.5, 1.0])).canonical(merge=False)
    assert (rows.X.ravel().tolist(), rows.s.tolist()) == ([1.0, 2.0, 2.0, 2.0], [2.0, 0.5, 1.0, 1.0])


def test_nothing_keeps_rows_alive_that_were_read_and_sorted():
    rows = Toy(np.random.default_rng(0).normal(size=(5000, 3)), np.arange(5000.0))
    chunk = rows.in_memory("numbers", 5000, Run())
    alive = [weakref.ref(array) for array in (chunk.X, rows.X, rows.y)]
    sorted_ = chunk.canonical()
    del chunk, rows
    assert [array() for array in alive] == [None] * 3
    assert sorted_.map_reduce(lambda block: [block.words(0)], Run(), reads="numbers", features=False)[
        0
    ].startswith("row ")


class Toy(Rows):
    """Arrays in chunks of so many rows; counts how many passes were begun and ended."""

    feature_names, n_features = None, 3

    def __init__(self, X, y=None, s=None, size=777, where=None):
        self.X, self.y, self.s, self.size, self.where = X, y, s, size, where
        self.begun = self.ended = 0

    def chunks(self, reads, features):
        self.begun += 1
        try:
            for start in range(0, len(self.X), self.size):
                rows = slice(start, start + self.size)
                y, s = (None if not reads or v is None else v[rows] for v in (self.y, self.s))
                yield RawBlock(self.X[rows] if features else None, y, s, self.where)
        finally:
            self.ended += 1


class TestToy(SourceContract):
    def make(self, X, y, sample_weight):
        return Toy(np.asfortranarray(X), y, sample_weight)


def toy(**options):
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(5000, 3)), np.tile([0.0, 1.0], 2500)
    return Toy(**({"X": X, "y": X[:, 0], "s": s} | options))


def test_a_generator_is_closed_when_a_pass_ends_however_it_ends():
    rows = toy()

    def task(block):
        raise RuntimeError

    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError):
            rows.map_reduce(task, Run(Workers(n_jobs)), reads="numbers", features=True)
        assert rows.begun == rows.ended
    parts = rows.evaluations(lambda X: X[:, 0], Run())
    next(parts)
    parts.close()
    assert rows.begun == rows.ended == 3


def test_progress_is_told_for_any_rows():
    told = []
    run = Run(ONE, lambda done, total: told.append((done, total)))
    toy().map_reduce(len, run, reads="numbers", features=True)
    assert told == [(2048, None), (2500, None)]


def test_rows_of_a_generator_that_is_used_up_are_missed():
    class Once(Toy):
        def chunks(self, reads, features):
            if not hasattr(self, "generator"):
                self.generator = super().chunks(reads, features)
            return self.generator

    rows = Once(np.ones((9, 3)), np.arange(9.0))
    with pytest.raises(ValueError, match="9 of them have had a positive weight, now it is 0"):
        LowRankLSSVR().fit(rows)


def spoilt(array, row, value):
    array = np.array(array)
    array[row] = value
    return array


X, Y = np.random.default_rng(0).normal(size=(5000, 3)), np.arange(5000.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"X": spoilt(X, 4000, [0.0, np.nan, np.inf])},
            r"Input X contains NaN: feature number 1 is nan in row 4000 \(counted from 0\)\. Fill",
        ),
        ({"X": X[:, :2]}, r"Features must have shape \(4096, 3\), got shape \(4096, 2\)"),
        ({"y": spoilt(Y, 4001, -np.inf)}, "Targets must be finite numbers, got -inf in row 4001"),
        (
            {"y": None, "s": None},
            "A block must have an entry in X, y and s for each of its rows, got nothing",
        ),
        (
            {"s": spoilt(np.ones(5000), 3000, -2)},
            "Weights must be finite and not negative, got -2.0 in row 3000",
        ),
        ({"s": spoilt(np.ones(5000), 3000, np.nan)}, "Weights must be finite and not negative, got nan in"),
        ({"s": np.zeros(5000)}, "There are no rows of positive weight: there is nothing to learn from"),
        ({"s": np.ones((5000, 2))}, r"Weights must be a 1D array, got shape \(777, 2\)"),
        ({"y": np.ones(4999)}, "for each of its rows, got 338 in X, 337 in y"),
        (
            {"y": spoilt(Y, 2, np.nan), "where": "line {} of a page".format},
            "Targets must be finite numbers, got nan in line 2 of a page",
        ),
    ],
)
def test_bad_numbers_of_any_rows_get_a_sentence(options, message, monkeypatch):
    monkeypatch.setattr("sleek.fit.policy.CANONICAL_ROWS", 100)
    with pytest.raises(ValueError, match=message):
        LowRankLSSVR().fit(Toy(**({"X": X, "y": Y} | options)))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            spoilt(Y % 2, 4000, np.nan),
            "There must be a class label in every row, but there is nan in row 4000",
        ),
        (
            spoilt(np.full(5000, "a", dtype=object), 7, None),
            "There must be a class label in every row, but there is None in row 7 ",
        ),
        (np.ones((5000, 2)), "Class labels must be a 1D array, got shape"),
        (Y + 0.5, "Unknown label type"),
        (np.ones(5000), "at least 2 classes, got 1 class"),
    ],
)
def test_bad_labels_of_any_rows_get_a_sentence(y, message):
    with pytest.raises(ValueError, match=message):
        LowRankLSSVC().fit(Toy(X, y))


def test_bad_rows_to_predict_get_a_sentence():
    model = LowRankLSSVR(2, C=1.0, random_state=0).fit(toy())
    with pytest.raises(ValueError, match="There are no rows: there is nothing to predict"):
        model.predict(Toy(np.empty((0, 3))))
    with pytest.raises(ValueError, match="feature number 0 is inf in row 3"):
        model.predict(Toy(spoilt(np.ones((5, 3)), 3, np.inf)))
    with pytest.raises(TypeError, match=r"written for rows of files, such as sleek\.Files"):
        model.predict_to(toy(), "out.parquet")


def test_features_without_names_are_known_by_their_number():
    rows = toy()
    assert rows.with_features(None, 3) is rows
    with pytest.raises(
        ValueError, match="have 3 features without names, but the model was fitted to 2 features"
    ):
        rows.with_features(None, 2)
    with pytest.raises(
        ValueError, match="without names, but the model was fitted to the features 'a', 'b', 'c'"
    ):
        rows.with_features(("a", "b", "c"), 3)


def test_left_out_rows_are_those_of_the_user_whatever_their_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y, w = X[:, 0] + 0.1 * rng.normal(size=6000), rng.integers(0, 3, size=6000)
    for rows in ((X, y, w), (Toy(X, y, w),)):
        model = LowRankLSSVR(3, basis="gaussian_rbf", C=1.0, random_state=0).fit(*rows)
        assert w[model.left_out_rows_].min() > 0
        residuals = y[model.left_out_rows_] - model.predict(X[model.left_out_rows_])
        assert np.corrcoef(residuals, model.left_out_residuals_)[0, 1] > 0.99


def test_items_are_made_ahead_and_their_maker_closed():
    made, closed = [], []

    def items():
        try:
            for i in range(100):
                made.append(i)
                yield i
        finally:
            closed.append(threading.current_thread().name)

    before = threading.active_count()
    assert list(read_ahead(items(), 2)) == list(range(100))
    ahead = read_ahead(items(), 2)
    made.clear()
    assert next(ahead) == 0
    while len(made) < 3:
        time.sleep(0.001)
    time.sleep(0.05)
    assert made == [0, 1, 2]
    ahead.close()
    assert threading.active_count() == before
    assert closed == ["sleek-reader"] * 2


def test_an_error_of_the_maker_comes_through():
    def items():
        yield 1
        raise OSError("the disk is gone")

    ahead = read_ahead(items(), 2)
    assert next(ahead) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(ahead)
    assert not any(thread.name == "sleek-reader" for thread in threading.enumerate())


def test_a_reader_ends_whose_start_was_interrupted(monkeypatch):
    """Ctrl-C while it is being started: it runs, though nobody was told that it does."""

    class Slow(threading.Thread):
        def _bootstrap(self):
            time.sleep(0.05)
            super()._bootstrap()

        def start(self):
            self._started.wait, wait = interrupted, self._started.wait
            try:
                super().start()
            finally:
                self._started.wait = wait

    def interrupted(timeout=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(threads, "Thread", Slow)
    with pytest.raises(KeyboardInterrupt):
        next(read_ahead((i for i in range(3)), 2))
    assert not any(thread.name == "sleek-reader" for thread in threading.enumerate())


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 5, 8, 13, 64, 77])
def test_blocks_may_be_added_up_beforehand_wherever_they_are_cut(n_blocks):
    """The same bracketing to the last pair, as a definition by recursion has it."""

    def whole(first, size):
        parts = [f"{i}" for i in range(first, min(first + size, n_blocks))]
        if len(parts) < 2:
            return "".join(parts)
        left, right = whole(first, size // 2), whole(first + size // 2, size // 2)
        return f"({left}{right})" if right else left

    class Bracketed(str):
        def __add__(self, other):
            return Bracketed(f"({self!s}{other!s})")

    blocks = [Bracketed(i) for i in range(n_blocks)]
    size = 1 << (n_blocks - 1).bit_length()
    assert total(blocks) == whole(0, size)
    rng = np.random.default_rng(n_blocks)
    for _ in range(20):
        cuts = [0, *np.sort(rng.integers(0, n_blocks + 1, size=rng.integers(0, 6))).tolist(), n_blocks]
        parts = [PartialSum.of(a, blocks[a:b]) for a, b in pairwise(cuts)]
        while len(parts) > 1:  # neighbours in any order
            i = int(rng.integers(len(parts) - 1))
            parts[i : i + 2] = [PartialSum.join(parts[i : i + 2])]
        assert parts[0].total == whole(0, size)
        sizes = [size for _, size, _ in PartialSum.of(cuts[1], blocks[cuts[1] :]).nodes]
        assert max(map(sizes.count, sizes), default=0) <= 2
    for length in (1, 2, 4, 16):
        groups = [total(blocks[i : i + length]) for i in range(0, n_blocks, length)]
        assert total(groups) == whole(0, size)
