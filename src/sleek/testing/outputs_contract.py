"""The promises every kind of outputs makes, as tests that a new one inherits.

Supply the class and some targets, and run pytest::

    from sleek.testing import OutputsContract

    class TestMyOutputs(OutputsContract):
        kind = MyOutputs

        def targets(self):
            return np.random.default_rng(0).normal(size=(50, 1))
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sleek._runtime.types import AnyArray, FloatArray
from sleek.outputs.base import Outputs, known_outputs
from sleek.outputs.labels import Labels


class OutputsContract:
    """Subclass it, name the `kind`, and define `targets`."""

    kind: ClassVar[type[Outputs]]

    def targets(self) -> Any:
        """At least 20 rows of targets as rows hand them out: `Labels`, or floats (n, k)."""
        raise TypeError(f"{type(self).__name__} must define targets(self), which returns some rows' targets.")

    def learnt(self) -> tuple[Outputs, Any, FloatArray]:
        """Outputs, the targets they were learnt from, and their columns T."""
        y = self.targets()
        flat = isinstance(y, Labels) or y.shape[1] == 1
        outputs = self.kind.learn(self.kind.survey(y, np.ones(len(y))), flat)
        return outputs, y, outputs.encode(y)

    def outputs_of(self, outputs: Outputs, T: FloatArray) -> FloatArray:
        """The outputs, in the user's units, of a model that fits the columns T exactly."""
        theta, b = outputs.decode(np.eye(outputs.n_outputs), np.zeros(outputs.n_outputs))
        return T @ theta + b

    def test_it_is_known_by_its_name(self) -> None:
        assert known_outputs()[self.kind.kind] is self.kind
        assert self.kind.reads in ("labels", "numbers")

    def test_a_survey_adds_up_over_blocks_of_rows(self) -> None:
        y = self.targets()
        s, cut = np.ones(len(y)), len(y) // 3
        both = self.kind.survey(y[:cut], s[:cut]) + self.kind.survey(y[cut:], s[cut:])
        _, _, T = self.learnt()
        again = self.kind.learn(both, isinstance(y, Labels) or y.shape[1] == 1)
        np.testing.assert_allclose(again.encode(y), T, rtol=1e-12, atol=1e-12)

    def test_columns_are_one_finite_number_per_row_and_output(self) -> None:
        outputs, y, T = self.learnt()
        assert T.shape == (len(y), outputs.n_outputs)
        assert T.dtype == np.float64
        assert np.isfinite(T).all()
        np.testing.assert_array_equal(outputs.encode(y[3:9]), T[3:9])
        assert outputs.actual(y).shape == (len(y),)

    def test_a_perfect_model_gives_the_targets_back(self) -> None:
        outputs, y, T = self.learnt()
        self.same(outputs.answer(self.outputs_of(outputs, T)), y)

    def same(self, answers: AnyArray, y: Any) -> None:
        """Answers are the targets."""
        if isinstance(y, Labels):
            np.testing.assert_array_equal(answers, y.values[y.codes])
        else:
            np.testing.assert_allclose(np.asarray(answers).reshape(y.shape), y, rtol=1e-9, atol=1e-9)

    def test_perfect_outputs_have_no_error_and_the_least_loss(self) -> None:
        outputs, _, T = self.learnt()
        wrong = np.roll(T, 1, axis=0) + 0.1
        np.testing.assert_allclose(outputs.row_errors(T, T), 0.0, atol=1e-12)
        assert outputs.row_errors(T, wrong).mean() > 0
        assert outputs.losses(T, T).mean() < outputs.losses(T, wrong).mean()
        assert outputs.reported_error(0.0) == (0.0, 0.0)
        assert outputs.reported_error(0.3)[0] > outputs.reported_error(0.2)[0]
        assert outputs.error_measure

    def test_a_perfect_model_has_the_best_score(self) -> None:
        outputs, y, T = self.learnt()
        s, cut = np.ones(len(y)), len(y) // 2
        answers = outputs.answer(self.outputs_of(outputs, T))
        whole = outputs.judge(y, answers, s)
        parts = outputs.judge(y[:cut], answers[:cut], s[:cut]) + outputs.judge(
            y[cut:], answers[cut:], s[cut:]
        )
        np.testing.assert_allclose([whole.score, parts.score], 1.0, rtol=1e-9)

    def test_effects_towards_a_prediction_are_summed_up_with_weights(self) -> None:
        outputs, _, T = self.learnt()
        Y = self.outputs_of(outputs, T)
        mean, spread = Y.mean(axis=0), Y.std(axis=0) + 1.0
        for y in Y[:20]:
            weights = outputs.direction(y, mean, spread)
            assert weights.shape == (outputs.n_outputs,)
            assert np.isfinite(weights).all()
            further = y + 0.1 * weights * spread
            if outputs.labels:
                np.testing.assert_array_equal(outputs.answer(further[None]), outputs.answer(y[None]))
            else:
                assert (np.abs(further - mean) > np.abs(y - mean)).all()

    def test_every_output_has_a_name(self) -> None:
        outputs, _, T = self.learnt()
        assert len(outputs.words) == len(outputs.names) == outputs.n_outputs
        assert outputs.describe()
        assert "income" in outputs.rule("income", "b + Σ")
        assert outputs.scores(T).ndim == (1 if outputs.flat else 2)

    def test_it_survives_a_file(self) -> None:
        outputs, _, T = self.learnt()
        again = self.kind.from_json(outputs.to_json(), outputs.n_outputs)
        Y = self.outputs_of(outputs, T)
        np.testing.assert_array_equal(again.answer(Y), outputs.answer(Y))
        assert again.names == outputs.names
