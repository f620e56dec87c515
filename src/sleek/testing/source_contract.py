"""The promises every source of rows makes, as tests that a new one inherits.

Supply a factory and run pytest::

    from sleek.testing import SourceContract

    class TestMyRows(SourceContract):
        def make(self, X, y, sample_weight):
            return MyRows(...)  # that hold these arrays

What is promised is that nobody can tell the rows from the same rows in memory: not a survey, not a sum, not a
fit, not a prediction, to the last bit.
"""

from __future__ import annotations

import threading
import warnings
from contextlib import closing
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sleek._runtime.threads import Workers
from sleek._runtime.types import AnyArray, FloatArray
from sleek.estimators.low_rank import LowRankLSSVC, LowRankLSSVR
from sleek.fit import policy
from sleek.outputs import ClassOutputs, Labels, NumberOutputs, Outputs
from sleek.rows.arrays import ArrayRows
from sleek.rows.cutting import PREDICTED, Cutting
from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.rows.source import Block, Source
from sleek.rows.weights import WeightSurvey
from sleek.testing.source_tools import (
    CutAgain,
    Failing,
    array_of,
    error_of,
    first_column,
    plain,
    refuses,
    same,
    sums,
)
from sleek.trainers.varpro import VariableProjection

N, D = 6155, 3  # a few blocks, the last one not full
KINDS: tuple[type[Outputs], ...] = (ClassOutputs, NumberOutputs)


class SourceContract:
    """Subclass it and define `make`.

    Where rows are predicted as they lie, chunk by chunk and not in blocks cut by row number, predictions are
    those of arrays up to rounding: then set `predicts_as_it_lies`.
    """

    predicts_as_it_lies: ClassVar[bool] = False

    def make(self, X: FloatArray, y: AnyArray, sample_weight: FloatArray | None) -> Rows:
        """Rows to be tested: features (n, 3), targets (n,), whole numbers or real ones, and weights (n,)."""
        raise TypeError(
            f"{type(self).__name__} must define make(self, X, y, sample_weight), which returns the rows to "
            "be tested."
        )

    # -- what is compared

    def arrays(self, kind: type[Outputs], weights: str | None = None) -> tuple[FloatArray, AnyArray, Any]:
        """Features, targets, and weights: None, importances or counts, a third of them 0."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(N, D))
        wave = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.3 * rng.normal(size=N)
        y = np.digitize(wave, [-0.5, 1.0]) if kind.reads == "labels" else wave
        some = {None: None, "importances": [0.0, 0.3, 2.5], "counts": [0.0, 4.0, 6.0]}[weights]
        return X, y, None if some is None else rng.choice(some, size=N)

    def both(self, kind: type[Outputs], weights: str | None = None) -> tuple[Rows, ArrayRows]:
        """The rows to be tested, and the same rows in memory."""
        X, y, s = self.arrays(kind, weights)
        targets = Labels.of(y) if kind.reads == "labels" else y[:, None]
        memory = ArrayRows.that_count(X, targets, np.ones(N) if s is None else s, None, True)
        return self.make(X, y, s), memory

    def source(self, rows: Rows, kind: type[Outputs], n_jobs: int = 1) -> Source:
        """Rows as what a fit works on."""
        run = Run(Workers(n_jobs))
        survey = rows.survey(kind, run)
        outputs = kind.learn(survey.targets, rows.flat_targets)
        return rows.source(outputs, survey.weighting(outputs), run)

    def learnt(self, rows: Rows, kind: type[Outputs], n_jobs: int = 1) -> tuple[WeightSurvey, Outputs]:
        """What a survey tells of weights and targets."""
        survey = rows.survey(kind, Run(Workers(n_jobs)))
        options = {"class_weight": "balanced"} if kind is ClassOutputs else {}
        return survey.weights, kind.learn(survey.targets, rows.flat_targets, **options)

    # -- rows as they are kept

    def test_features_are_counted_and_perhaps_named(self) -> None:
        rows, _ = self.both(NumberOutputs)
        assert rows.n_features == D
        assert rows.flat_targets
        if rows.feature_names is not None:
            assert isinstance(rows.feature_names, tuple)
            assert len(set(rows.feature_names)) == D

    def test_chunks_hold_every_row_once_in_order_and_as_often_as_asked(self) -> None:
        for kind in KINDS:
            X, y, _ = self.arrays(kind)
            rows = self.make(X, y, None)
            for _ in range(2):
                chunks = list(rows.chunks(kind.reads, True))
                np.testing.assert_array_equal(np.concatenate([array_of(chunk.X) for chunk in chunks]), X)
                np.testing.assert_array_equal(np.concatenate([plain(chunk.y) for chunk in chunks]), y)
            without_targets = list(rows.chunks(None, True))
            np.testing.assert_array_equal(np.concatenate([array_of(chunk.X) for chunk in without_targets]), X)
            without_features = list(rows.chunks(kind.reads, False))
            np.testing.assert_array_equal(np.concatenate([plain(chunk.y) for chunk in without_features]), y)

    def test_chunks_that_nobody_wants_any_more_do_no_harm(self) -> None:
        rows, memory = self.both(NumberOutputs)
        for _ in range(3):
            next(iter(rows.chunks("numbers", True)))
        assert same(rows.survey(NumberOutputs, Run()), memory.survey(NumberOutputs, Run()))

    def test_rows_of_weight_zero_are_left_out_but_predicted(self) -> None:
        X, y, s = self.arrays(NumberOutputs, "counts")
        rows = self.make(X, y, s)
        seen = rows.map_reduce(lambda block: [block.X], Run(), reads="numbers", features=True)
        np.testing.assert_array_equal(np.concatenate(seen), X[s > 0])
        np.testing.assert_array_equal(rows.evaluate(first_column, Run()), X[:, 0])

    def test_tasks_get_floats_one_row_after_the_other_and_targets(self) -> None:
        for kind in KINDS:
            rows, memory = self.both(kind)

            def task(block: RawBlock) -> list[tuple[Any, ...]]:
                y = block.y.codes if isinstance(block.y, Labels) else block.y
                return [(block.start, block.X.dtype, block.X.flags["C_CONTIGUOUS"], y.shape, len(block))]

            one, two = (
                each.map_reduce(task, Run(), reads=kind.reads, features=True, cutting=Cutting.of(N))
                for each in (rows, memory)
            )
            assert one == two

    # -- surveys and sums

    def test_surveys_are_those_of_arrays(self) -> None:
        for kind in KINDS:
            for weights in (None, "importances", "counts"):
                rows, memory = self.both(kind, weights)
                expected = self.learnt(memory, kind)
                for n_jobs in (1, 2):
                    for one, two in zip(self.learnt(rows, kind, n_jobs), expected, strict=True):
                        assert same(one, two), (kind, weights, n_jobs)

    def test_sums_are_those_of_arrays_bit_for_bit(self) -> None:
        for kind in KINDS:
            for weights in (None, "importances", "counts"):
                rows, memory = self.both(kind, weights)
                expected = self.source(memory, kind).map_reduce(sums)
                for n_jobs in (1, 2):
                    found = self.source(rows, kind, n_jobs)
                    assert found.n_rows == memory.survey(kind, Run()).weights.n_rows
                    assert same(found.map_reduce(sums), expected), (kind, weights, n_jobs)

    def test_it_does_not_matter_how_rows_are_cut(self) -> None:
        for kind in KINDS:
            rows, memory = self.both(kind, "importances")
            expected = self.source(memory, kind).map_reduce(sums)
            for sizes in ([1], [0, 700], [2048], [10 * N], [0, 1, 5000, 3]):
                again = CutAgain(rows, sizes)
                assert same(self.source(again, kind).map_reduce(sums), expected), (kind, sizes)

    def test_rows_in_memory_are_those_of_arrays(self) -> None:
        for kind in KINDS:
            rows, memory = self.both(kind, "counts")
            kept = rows.in_memory(kind.reads, len(memory.X), Run())
            for name in ("X", "s", "numbers"):
                np.testing.assert_array_equal(getattr(kept, name), getattr(memory, name), err_msg=name)
            np.testing.assert_array_equal(plain(kept.y), plain(memory.y))

    def test_rows_have_the_numbers_that_users_know_them_by(self) -> None:
        rows, memory = self.both(NumberOutputs, "counts")
        numbers = np.array([0, 7, len(memory.X) - 1])
        own, places = rows.originals(numbers, "numbers")
        np.testing.assert_array_equal(own, memory.originals(numbers, "numbers")[0])
        assert places.tolist() == [0, 1, 2]

    # -- errors

    def test_an_error_or_interrupt_in_a_task_comes_through_and_leaves_nothing_running(self) -> None:
        rows, memory = self.both(NumberOutputs)
        self.source(rows, NumberOutputs, 2).map_reduce(lambda block: block.start)  # a pool may start threads
        before = threading.active_count()
        for error in (RuntimeError, KeyboardInterrupt):

            def task(block: Block, error: type[BaseException] = error) -> int:
                if block.start > 0:
                    raise error("in a task")
                return 0

            for n_jobs in (1, 2):
                assert error_of(self.source(rows, NumberOutputs, n_jobs), error, task) == "in a task"
                assert threading.active_count() == before
        assert same(rows.survey(NumberOutputs, Run()), memory.survey(NumberOutputs, Run()))

    def test_an_error_in_a_chunk_comes_through_and_leaves_nothing_running(self) -> None:
        rows, _ = self.both(NumberOutputs)
        error_of(
            self.source(Failing(rows), NumberOutputs), OSError
        )  # libraries start threads of their own once
        before = threading.active_count()
        for n_jobs in (1, 2):
            assert error_of(self.source(Failing(rows), NumberOutputs, n_jobs), OSError) == "in a chunk"
            assert threading.active_count() == before

    def test_predictions_may_be_given_up(self) -> None:
        rows, _ = self.both(NumberOutputs)
        before = threading.active_count()
        with closing(rows.evaluations(first_column, Run(Workers(2)))) as parts:
            next(parts)
        assert threading.active_count() == before

    # -- estimators

    def test_a_fit_to_few_rows_is_that_of_arrays_bit_for_bit(self) -> None:
        for weights in (None, "counts"):
            self._compare_fits(weights)

    def test_a_fit_to_many_rows_is_that_of_arrays_bit_for_bit(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(policy, "CANONICAL_ROWS", 100)  # the others are read in every pass
        for weights in (None, "importances"):
            self._compare_fits(weights)

    def _compare_fits(self, weights: str | None) -> None:
        for kind, estimator in ((ClassOutputs, LowRankLSSVC), (NumberOutputs, LowRankLSSVR)):
            X, y, s = self.arrays(kind, weights)
            rows = self.make(X, y, s)
            trainer = VariableProjection(pull=0.01, max_iter=3)
            found, expected = (
                estimator(3, basis="robust_rbf", trainer=trainer, C=1.0, shape=0.3, random_state=0)
                for _ in range(2)
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                found.fit(rows)
                expected.fit(X, y, s)
            for name in ("centers_", "shapes_", "unit_weights_", "intercept_", "left_out_rows_"):
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
            assert found.expected_error_ == expected.expected_error_
            assert found.n_features_in_ == D
            self._compare_predictions(found.predict(rows), expected.predict(X))
            np.testing.assert_allclose(found.score(rows), expected.score(X, y, s), rtol=1e-12)

    def test_predictions_are_those_of_arrays_bit_for_bit(self) -> None:
        X, y, s = self.arrays(NumberOutputs, "importances")
        X, y, s = (np.concatenate([array] * 4) for array in (X, y, s))  # more than are predicted at a time
        assert len(X) > PREDICTED.block_rows
        model = LowRankLSSVR(4, basis="robust_rbf", C=1.0, shape=0.3, random_state=0).fit(X[:500], y[:500])
        outputs, rows = model.model_.outputs_unchecked, self.make(X, y, s)
        for n_jobs in (1, 2):
            self._compare_predictions(rows.evaluate(outputs, Run(Workers(n_jobs))), outputs(X))

    def _compare_predictions(self, found: Any, expected: AnyArray) -> None:
        if self.predicts_as_it_lies:
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_array_equal(found, expected)

    def test_features_are_found_by_name(self) -> None:
        rows, memory = self.both(NumberOutputs)
        if rows.feature_names is None:
            assert rows.with_features(None, D) is rows
            assert refuses(rows, None, D + 1)
            assert refuses(rows, ("a", "b", "c"), D)
            return
        turned = rows.with_features(rows.feature_names[::-1], D)
        assert turned.feature_names == rows.feature_names[::-1]
        np.testing.assert_array_equal(turned.evaluate(first_column, Run()), memory.X[:, -1])
        one = rows.with_features(rows.feature_names[1:2], 1)
        np.testing.assert_array_equal(one.evaluate(first_column, Run()), memory.X[:, 1])
        assert same(one.survey(NumberOutputs, Run()), memory.survey(NumberOutputs, Run()))
        assert refuses(rows, ("no such feature",), 1)
